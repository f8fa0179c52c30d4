package task

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// resolveEntry does the seven steps: find the task or create it, then priority, status and
// blockers, and last the event that says the entry is done with.
func (p *planner) resolveEntry(ctx context.Context, e schema.Entry) error {
	title := titleOf(e)
	key, err := KeyOfTask(p.overlay.project, title)
	if err != nil {
		return err
	}
	matches, err := p.overlay.match(ctx, title, p.at)
	if err != nil {
		return err
	}
	observed := schema.TaskObservedPayload{
		Act: p.act, CanonicalKey: key.String(), Title: clipTitle(title),
		Method: MethodCreated, Score: 1, EvidenceAligned: e.EvidenceAligned, Status: e.Task.Status,
	}
	created := false
	top, certain := Strict(matches)
	// A cancelled task under the very key is the task all the same: an entity has one key.
	if certain || len(matches) > 0 && top.Method == MethodExact {
		observed.TaskID, observed.Method, observed.Score = top.Entity.ID, top.Method, top.Score
	} else {
		created, observed.TaskID = true, key.ID()
		if err := p.create(e, key, matches); err != nil {
			return err
		}
	}
	if err := p.resolveCondition(ctx, p.task(observed.TaskID), title); err != nil {
		return err
	}
	if err := p.priority(e, p.task(observed.TaskID), created); err != nil {
		return err
	}
	if err := p.report(ctx, e, observed.TaskID, created); err != nil {
		return err
	}
	if e.EvidenceAligned && e.Task.Status == schema.TaskDone {
		if err := p.closeNamed(ctx, title); err != nil {
			return err
		}
	}
	if err := p.lift(ctx); err != nil {
		return err
	}
	return p.emit(p.changeKey("observed"), observed)
}

func (p *planner) task(id string) Entity { return p.overlay.entities[id] }

// initialStatus is how a task begins that is reported in the status. Blocked and cancelled are
// reached by a transition; done is not to be had at once.
func initialStatus(status schema.TaskStatus) schema.TaskStatus {
	if status == schema.TaskInProgress || status == schema.TaskDone {
		return schema.TaskInProgress
	}
	return schema.TaskPending
}

func (p *planner) create(e schema.Entry, key Key, matches []Match) error {
	payload := schema.TaskCreatedPayload{
		Act: p.act, TaskID: key.ID(), CanonicalKey: key.String(), Title: clipTitle(titleOf(e)),
		Status: initialStatus(e.Task.Status), Priority: schema.PriorityMedium,
	}
	if e.Task.Status == schema.TaskDone {
		payload.ReportedStatus = schema.TaskDone
	}
	if knownPriority(e.Task.Priority) {
		payload.Priority = e.Task.Priority
	}
	for _, m := range matches {
		payload.Candidates = append(payload.Candidates, m.candidate())
	}
	return p.emit(p.entityKey(schema.EntityTask, payload.TaskID), payload)
}

func (p *planner) priority(e schema.Entry, task Entity, created bool) error {
	to := e.Task.Priority
	switch {
	case to == "" || to == task.Priority:
		return nil
	case !knownPriority(to):
		return p.reject(task, "", schema.RejectedPriority, nil)
	case created:
		return nil
	}
	return p.emit(p.changeKey("priority"), schema.TaskPriorityChangedPayload{
		Act: p.act, TaskID: task.ID, From: task.Priority, To: to,
	})
}

// report applies what the entry says of the task's status and blockers.
func (p *planner) report(ctx context.Context, e schema.Entry, id string, created bool) error {
	task := p.task(id)
	to := e.Task.Status
	texts := slices.DeleteFunc(slices.Clone(e.Task.BlockedBy), func(t string) bool { return language.Title(t) == "" })
	if to != "" && !knownStatus(to) {
		if err := p.reject(task, to, schema.RejectedStatus, nil); err != nil {
			return err
		}
		to = ""
	}
	if to == "" && len(texts) > 0 && e.EvidenceAligned && !Closed(task.TaskStatus) {
		to = schema.TaskBlocked // What waits is blocked, whether or not the entry says the word.
	}
	if to == "" {
		to = task.TaskStatus
	}
	if to == schema.TaskDone && !Closed(task.TaskStatus) {
		if err := p.reportDone(e, id, created); err != nil {
			return err
		}
		return p.reportBlockers(ctx, e, id, texts)
	}
	steps, ok := reported(task.TaskStatus, to, p.mayReopen(e, task))
	// What is not in the source closes nothing.
	if !ok || to == schema.TaskCancelled && len(steps) > 0 && !e.EvidenceAligned {
		return p.reject(task, to, p.whyNot(e, task, to), nil)
	}
	if to == schema.TaskBlocked {
		return p.block(ctx, e, id, steps, texts)
	}
	if err := p.advance(id, steps); err != nil {
		return err
	}
	return p.reportBlockers(ctx, e, id, texts)
}

// reportDone closes the task where that is legal and the evidence aligned; the seed lets a report
// without evidence close it too, but a quote that the source does not hold says nothing of what is
// done. Any other report is kept for a person to confirm, and takes a pending task the legal first
// step. That step is no word that the task was begun, so while a report stands another is kept beside
// it: saying it twice confirms nothing. D6: with [CloseProven] and proven evidence a report takes both
// legal steps at once.
func (p *planner) reportDone(e schema.Entry, id string, created bool) error {
	task := p.task(id)
	legal := !created && task.TaskStatus != schema.TaskPending && task.DoneReport == nil
	proven := e.EvidenceProven
	if e.EvidenceAligned && (legal || proven && p.rules.DoneReports == CloseProven) {
		return p.advance(id, commanded(task.TaskStatus, schema.TaskDone))
	}
	if task.TaskStatus == schema.TaskPending {
		if err := p.reject(task, schema.TaskDone, schema.RejectedTransition, nil); err != nil {
			return err
		}
		if err := p.advance(id, []schema.TaskStatus{schema.TaskInProgress}); err != nil {
			return err
		}
	}
	return p.emit(p.changeKey("done"), schema.TaskDoneReportedPayload{
		Act: p.act, TaskID: id, EvidenceAligned: e.EvidenceAligned, EvidenceProven: proven, Evidence: e.Evidence,
	})
}

// reportBlockers sets what a task that is not blocked waits for, which only aligned evidence does:
// the task is worked on all the same.
func (p *planner) reportBlockers(ctx context.Context, e schema.Entry, id string, texts []string) error {
	task := p.task(id)
	switch {
	case len(texts) == 0:
		return nil
	case Closed(task.TaskStatus):
		return p.reject(task, "", schema.RejectedBlockersOnClose, p.unresolved(texts))
	}
	blockers, err := p.resolveBlockers(ctx, task, texts)
	if err != nil {
		return err
	}
	if e.EvidenceAligned && len(blockers) > 0 {
		return p.replace(id, blockers)
	}
	return p.suggest(id, blockers)
}

// block makes the task blocked, or says anew by what it is. A blocker without aligned evidence is a
// suggestion, and while nothing better is known a placeholder stands in.
func (p *planner) block(ctx context.Context, e schema.Entry, id string, steps []schema.TaskStatus, texts []string) error {
	if len(steps) > 1 { // Open it first.
		if err := p.advance(id, steps[:1]); err != nil {
			return err
		}
		steps = steps[1:]
	}
	blockers, err := p.resolveBlockers(ctx, p.task(id), texts)
	if err != nil {
		return err
	}
	var suggestions []schema.Blocker
	if !e.EvidenceAligned {
		blockers, suggestions = nil, blockers
	}
	if len(blockers) == 0 && len(p.task(id).Blockers) == 0 {
		stand, err := p.placeholder(ctx, p.task(id))
		if err != nil {
			return err
		}
		blockers = []schema.Blocker{stand}
	}
	if len(blockers) > 0 {
		if err := p.replace(id, blockers); err != nil {
			return err
		}
	}
	if err := p.advance(id, steps); err != nil {
		return err
	}
	return p.suggest(id, suggestions)
}

func (p *planner) advance(id string, steps []schema.TaskStatus) error {
	for _, to := range steps {
		from := p.task(id).TaskStatus
		err := p.emit(p.changeKey("status", string(to)), schema.TaskStatusChangedPayload{
			Act: p.act, TaskID: id, From: from, To: to, Reopened: Closed(from),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// replace sets the blockers, unless they are those the task has, or none are left of a blocked one.
// One it has keeps its age.
func (p *planner) replace(id string, blockers []schema.Blocker) error {
	task := p.task(id)
	same := len(blockers) == len(task.Blockers)
	for i, b := range blockers {
		at := slices.IndexFunc(task.Blockers, func(old schema.Blocker) bool { return old.ID == b.ID })
		if at < 0 {
			same = false
			continue
		}
		blockers[i].Since = task.Blockers[at].Since
	}
	if same || len(blockers) == 0 && task.TaskStatus == schema.TaskBlocked {
		return nil
	}
	return p.emit(p.changeKey("blockers", "replace"), schema.TaskBlockersSetPayload{
		Act: p.act, TaskID: id, Mode: schema.BlockersReplace, Blockers: blockers,
	})
}

func (p *planner) suggest(id string, blockers []schema.Blocker) error {
	task := p.task(id)
	blockers = slices.DeleteFunc(blockers, func(b schema.Blocker) bool {
		return task.blockedBy(b.ID) || hasBlocker(task.Suggestions, b.ID)
	})
	if len(blockers) == 0 {
		return nil
	}
	return p.emit(p.changeKey("blockers", "suggest"), schema.TaskBlockersSetPayload{
		Act: p.act, TaskID: id, Mode: schema.BlockersSuggest, Blockers: blockers,
	})
}

// unresolved are blockers that are recorded by their text alone.
func (p *planner) unresolved(texts []string) []schema.Blocker {
	out := make([]schema.Blocker, len(texts))
	for i, text := range texts {
		out[i] = schema.Blocker{Text: clipTitle(text), EntryID: p.act.EntryID, Since: p.at}
	}
	return out
}

// mayReopen reports whether the entry is proof that a closed task is open again.
func (p *planner) mayReopen(e schema.Entry, task Entity) bool {
	return e.EvidenceAligned && !olderThan(e.OccurredAt, task.ClosedAt)
}

// olderThan compares to the day where only the day is known: a session's date is its midnight.
func olderThan(occurred, closed time.Time) bool {
	if day := closed.Truncate(24 * time.Hour); occurred.Equal(occurred.Truncate(24 * time.Hour)) {
		closed = day
	}
	return occurred.Before(closed)
}

func (p *planner) whyNot(e schema.Entry, task Entity, to schema.TaskStatus) string {
	switch {
	case to == schema.TaskCancelled && !Closed(task.TaskStatus):
		return schema.RejectedUnalignedCancel
	case !Closed(task.TaskStatus) || Closed(to):
		return schema.RejectedTransition
	case !e.EvidenceAligned:
		return schema.RejectedUnaligned
	default:
		return schema.RejectedStale
	}
}

// titleArtifact finds the identifier that a title begins or ends with, as trackers write them:
// "PROJ-12: Fix login", "Fix login (o/r#5)".
var titleArtifact = regexp.MustCompile(`^(?:\[([^\]\s]+)\]|(\S+?):)\s|\s\(([^()\s]+)\)$`)

// closeNamed closes the artifact that the title of a finished task is, begins or ends with, when
// somebody has named it before.
func (p *planner) closeNamed(ctx context.Context, title string) error {
	title = strings.TrimSpace(title)
	names := []string{title}
	for _, m := range titleArtifact.FindAllStringSubmatch(title, -1) {
		names = append(names, m[1:]...)
	}
	for _, name := range names {
		keys, ok := StrongArtifact(name)
		if !ok {
			continue
		}
		for _, key := range keys {
			artifact, known, err := p.overlay.byKey(ctx, key)
			if err != nil {
				return err
			}
			if known {
				return p.closeArtifact(ctx, artifact)
			}
		}
	}
	return nil
}
