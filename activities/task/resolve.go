package task

import (
	"context"
	"regexp"
	"slices"
	"strings"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// resolveEntry resolves one entry: it finds or creates the task, applies priority, status and blockers, and last adds
// the event that marks the entry as done.
//
// Text from neither the user nor the assistant, such as that of a tool or a document, may contain injected
// instructions. It can only create a raw task, and changes no existing one.
func (p *planner) resolveEntry(ctx context.Context, e schema.Entry) error {
	hearsay := schema.Untrusted(e.Evidence) != ""
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
		Method: MethodCreated, Score: 1, EvidenceAligned: e.EvidenceAligned && !hearsay, Status: e.Task.Status,
	}
	created := false
	top, certain := Strict(matches)
	// A cancelled task with the same key is also a match, because a key has only one entity.
	if certain || len(matches) > 0 && top.Method == MethodExact {
		observed.TaskID, observed.Method, observed.Score = top.Entity.ID, top.Method, top.Score
	} else {
		created, observed.TaskID = true, key.ID()
		if err := p.create(e, key, matches); err != nil {
			return err
		}
	}
	if !hearsay {
		if err := p.apply(ctx, e, observed.TaskID, title, created); err != nil {
			return err
		}
	}
	return p.emit(p.changeKey("observed"), observed)
}

// apply applies the entry's priority, status and blockers to the task, and then the consequences for other entities.
func (p *planner) apply(ctx context.Context, e schema.Entry, id, title string, created bool) error {
	if err := p.resolveCondition(ctx, p.task(id), title); err != nil {
		return err
	}
	if err := p.priority(e, p.task(id), created); err != nil {
		return err
	}
	if err := p.report(ctx, e, id, created); err != nil {
		return err
	}
	if e.EvidenceAligned && e.Task.Status == schema.TaskDone {
		if err := p.closeNamed(ctx, title); err != nil {
			return err
		}
	}
	return p.unblockWaiting(ctx)
}

func (p *planner) create(e schema.Entry, key Key, matches []Match) error {
	payload := schema.TaskCreatedPayload{
		Act: p.act, TaskID: key.ID(), CanonicalKey: key.String(), Title: clipTitle(titleOf(e)),
		Status: initialStatus(e.Task.Status), Priority: schema.PriorityMedium, Listed: e.Task.Listed,
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

// report applies the status and blockers that the entry reports.
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
		to = schema.TaskBlocked // A task that waits is blocked, even if the entry reports no status.
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
	// A report without aligned evidence neither cancels nor unblocks a task.
	if ends := to == schema.TaskCancelled || task.TaskStatus == schema.TaskBlocked; !ok || ends && len(steps) > 0 && !e.EvidenceAligned {
		return p.reject(task, to, p.rejectionReason(e, task, to), nil)
	}
	if to == schema.TaskBlocked {
		return p.block(ctx, e, id, steps, texts)
	}
	if err := p.advance(id, steps); err != nil {
		return err
	}
	return p.reportBlockers(ctx, e, id, texts)
}

// reportDone closes the task if the transition is legal and the evidence is aligned. The seed also lets a report
// without evidence close it, but a quote that is not in the source proves nothing. Any other report is recorded for a
// person to confirm, and moves a pending task to in progress as the first legal step. That step does not mean that the
// task was started: a second report while one is unconfirmed is recorded too, so a repetition confirms nothing. A
// report that an agent made with a command does not count as unconfirmed. D6: with [CloseProven], a report with proven
// evidence takes both steps at once. So does a proven report in the agent's own list about a task that began in one.
func (p *planner) reportDone(e schema.Entry, id string, created bool) error {
	task := p.task(id)
	legal := !created && task.TaskStatus != schema.TaskPending && (task.DoneReport == nil || task.DoneReport.By != "")
	proven := e.EvidenceProven
	if e.EvidenceAligned && (legal || proven && (p.rules.DoneReports == CloseProven || e.Task.Listed && task.Listed)) {
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

// reportBlockers sets the blockers of an open task if their evidence is aligned, and suggests them otherwise. It does
// not change the status.
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

// block makes the task blocked, or updates its blockers if it already is. Blockers without aligned evidence are
// suggestions. A blocked task without known blockers gets a placeholder.
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

// replace sets the blockers, unless the task already has the same ones or a blocked task would have none left. A
// blocker that the task already has keeps its Since.
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

// unresolved returns blockers with only their text.
func (p *planner) unresolved(texts []string) []schema.Blocker {
	out := make([]schema.Blocker, len(texts))
	for i, text := range texts {
		out[i] = schema.Blocker{Text: clipTitle(text), EntryID: p.act.EntryID, Since: p.at}
	}
	return out
}

// mayReopen reports whether the entry proves that a closed task is open again.
func (p *planner) mayReopen(e schema.Entry, task Entity) bool {
	return e.EvidenceAligned && !olderThan(e.OccurredAt, task.ClosedAt)
}

func (p *planner) rejectionReason(e schema.Entry, task Entity, to schema.TaskStatus) string {
	switch {
	case to == schema.TaskCancelled && !Closed(task.TaskStatus):
		return schema.RejectedUnalignedCancel
	case task.TaskStatus == schema.TaskBlocked && !e.EvidenceAligned:
		return schema.RejectedUnaligned
	case !Closed(task.TaskStatus) || Closed(to):
		return schema.RejectedTransition
	case !e.EvidenceAligned:
		return schema.RejectedUnaligned
	default:
		return schema.RejectedStale
	}
}

// titleArtifact matches an identifier at the beginning or end of a title, as issue trackers write it: "PROJ-12: Fix
// login", "Fix login (o/r#5)".
var titleArtifact = regexp.MustCompile(`^(?:\[([^\]\s]+)\]|(\S+?):)\s|\s\(([^()\s]+)\)$`)

// closeNamed closes the artifact that the title of a finished task names, if the artifact is known. The title names it
// as a whole or at its beginning or end.
func (p *planner) closeNamed(ctx context.Context, title string) error {
	for _, key := range artifactsNamed(title) {
		artifact, known, err := p.overlay.byKey(ctx, key)
		if err != nil {
			return err
		}
		if known {
			return p.closeArtifact(ctx, artifact)
		}
	}
	return nil
}

// artifactsNamed returns the keys of the artifacts that the title names, as a whole or at its beginning or end.
func artifactsNamed(title string) []Key {
	title = strings.TrimSpace(title)
	names := []string{title}
	for _, m := range titleArtifact.FindAllStringSubmatch(title, -1) {
		names = append(names, m[1:]...)
	}
	var out []Key
	for _, name := range names {
		keys, _ := StrongArtifact(name)
		out = append(out, keys...)
	}
	return out
}
