package task

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	language "axiommind/activities/text"
	"axiommind/schema"
)

var (
	titles = []string{"Fix login bug", " fix login bug!", "Fix the login-bug", "Ship 1.5", "Ship 15", "Port to C++", "Port to C#",
		"PROJ-7: Add index", "कि", "की", "修复登录错误", "🚀"}
	blockerTexts = append([]string{"PROJ-7", "review of PROJ-7", "https://github.com/o/r/pull/5", "o/r#5", "API keys", "waiting for API keys",
		"legal sign-off", "task:alpha:ship 1.5", " ", "utf-8"}, titles...)
	statuses = []schema.TaskStatus{"", schema.TaskPending, schema.TaskInProgress, schema.TaskBlocked, schema.TaskDone, schema.TaskCancelled, "paused"}
	times    = []time.Time{day, day, day, day.Add(-72 * time.Hour), day.Add(time.Hour), day.Truncate(24 * time.Hour)}
)

func (p *project) drawEntry(t *rapid.T) schema.Entry {
	e := p.note(schema.ExtractedTask{
		Title:     rapid.SampledFrom(titles).Draw(t, "title"),
		Status:    rapid.SampledFrom(statuses).Draw(t, "status"),
		Priority:  rapid.SampledFrom([]schema.TaskPriority{"", "", schema.PriorityHigh, schema.PriorityLow, "urgent"}).Draw(t, "priority"),
		BlockedBy: rapid.SliceOfN(rapid.SampledFrom(blockerTexts), 0, 3).Draw(t, "blockers"),
	})
	e.EvidenceAligned = rapid.IntRange(0, 3).Draw(t, "aligned") > 0
	e.OccurredAt = rapid.SampledFrom(times).Draw(t, "at")
	return e
}

func (p *project) drawCommand(t *rapid.T) Command {
	c := Command{
		TaskID: rapid.SampledFrom(titles).Draw(t, "task"),
		Status: rapid.SampledFrom(statuses[:6]).Draw(t, "to"),
	}
	switch rapid.IntRange(0, 4).Draw(t, "command") {
	case 0:
		c.Block = rapid.SliceOfN(rapid.SampledFrom(blockerTexts), 1, 2).Draw(t, "block")
		c.Status = ""
	case 1:
		c.MergeInto = rapid.SampledFrom(titles).Draw(t, "into")
	case 2:
		c.Unblock = []string{rapid.SampledFrom(blockerTexts).Draw(t, "unblock")}
	case 3:
		c.Title = rapid.SampledFrom(blockerTexts).Draw(t, "retitle")
	default:
		c = Command{ConditionID: rapid.SampledFrom(blockerTexts).Draw(t, "condition"), ResolveTo: rapid.SampledFrom(blockerTexts).Draw(t, "resolve")}
	}
	return c
}

// TestI3I4I6 draws sessions and commands. After each, done tasks have no blockers, blocked ones have at least one, and
// none waits for itself (I6). In the end the rows are those of a rebuild (I3) in pages of any size (I4), and the same
// sessions again change nothing (I1).
func TestI3I4I6(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newProject(t, "alpha")
		var sessions [][]schema.Entry
		for range rapid.IntRange(1, 8).Draw(t, "sessions") {
			var entries []schema.Entry
			for range rapid.IntRange(1, 6).Draw(t, "entries") {
				entries = append(entries, p.drawEntry(t))
			}
			sessions = append(sessions, entries)
			require.Empty(t, p.say(entries...).Skipped[0])
			p.requireI6()
			if rapid.IntRange(0, 2).Draw(t, "person") == 0 {
				// The command may be refused. In any case the rules hold.
				_ = p.do(p.drawCommand(t))
				p.requireI6()
			}
		}
		p.requireNoLeap()
		before, length := p.memory.view(), len(p.log)
		for _, entries := range sessions {
			p.say(entries...)
		}
		require.Len(t, p.log, length, "the same sessions again add no event")
		require.Equal(t, before, p.memory.view())

		rebuilt := newMemory("alpha")
		for at := 0; at < length; {
			// After a crash the offset may be behind rows that are already written.
			from := max(0, at-rapid.SampledFrom([]int{0, 0, 0, 1, 4, 30}).Draw(t, "back"))
			at = min(length, at+rapid.IntRange(1, 9).Draw(t, "page"))
			rebuilt.apply(t, p.log[from:at])
		}
		require.Equal(t, before, rebuilt.view())
		whole := newMemory("alpha")
		whole.apply(t, p.log)
		require.Equal(t, before, whole.view())

		// Two concurrent runs, or one that crashed and its retry: both read the same rows and end at different events.
		beside := newMemory("alpha")
		begin := rapid.IntRange(0, length).Draw(t, "begin")
		if begin > 0 {
			beside.apply(t, p.log[:begin])
		}
		var pages []page
		for range 2 {
			pages = append(pages, beside.fold(t, p.log[begin:rapid.IntRange(begin, length).Draw(t, "end")]))
		}
		for _, g := range pages {
			beside.write(t, g)
		}
		beside.apply(t, p.log[begin:])
		require.Equal(t, before, beside.view())
	})
}

// requireNoLeap checks that every change of status is legal, and that none is pending -> done.
func (p *project) requireNoLeap() {
	status := map[string]schema.TaskStatus{}
	for _, e := range p.log {
		o, err := readEvent(e)
		require.NoError(p.t, err)
		switch c := o.payload.(type) {
		case schema.TaskCreatedPayload:
			require.NotContains(p.t, []schema.TaskStatus{schema.TaskDone, schema.TaskCancelled, schema.TaskBlocked}, c.Status)
			require.NotContains(p.t, status, c.TaskID, "created once")
			status[c.TaskID] = c.Status
		case schema.TaskStatusChangedPayload:
			require.Equal(p.t, status[c.TaskID], c.From)
			require.True(p.t, Legal(c.From, c.To, c.Reopened), "%s -> %s", c.From, c.To)
			require.False(p.t, c.From == schema.TaskPending && c.To == schema.TaskDone)
			status[c.TaskID] = c.To
		case schema.TaskMergedPayload:
			if !Closed(status[c.TaskID]) {
				status[c.TaskID] = schema.TaskCancelled
			}
		}
	}
	for id, s := range status {
		require.Equal(p.t, s, p.memory.entities[id].TaskStatus)
	}
}

// TestAnyText gives the resolver any text that a model may write: an entry is resolved as a whole, or, without a title,
// skipped as a whole.
func TestAnyText(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("waiting for PROJ-12 https://o/r#5 is done.\u200b\u200d\x00")), 0, 40, -1),
		rapid.SampledFrom([]string{"waiting for \u200b", "\u200b is done", "blocked by !", "pr \u00ad", "task:alpha:", "http://[", "\xff\xfe"}))
	rapid.Check(t, func(t *rapid.T) {
		p := newProject(t, "alpha")
		for range rapid.IntRange(1, 4).Draw(t, "entries") {
			e := p.note(schema.ExtractedTask{
				Title: text.Draw(t, "title"), Status: rapid.SampledFrom(statuses).Draw(t, "status"),
				BlockedBy: rapid.SliceOfN(text, 0, 4).Draw(t, "blockers"),
			})
			planned := p.say(e)
			require.Equal(t, language.Title(e.Task.Title) == "", len(planned.Skipped[0]) == 1)
			require.Equal(t, len(planned.Skipped[0]) == 0, len(planned.Events) > 0)
			p.requireI6()
			require.Empty(t, p.say(e).Events)
		}
	})
}

func TestFoldIsPure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newProject(t, "alpha")
		for range rapid.IntRange(1, 10).Draw(t, "entries") {
			p.say(p.drawEntry(t))
		}
		// Two folds with a common beginning do not affect each other.
		for id := range p.memory.entities {
			var trunk, again Entity
			for i, e := range p.log {
				o, err := readEvent(e)
				require.NoError(t, err)
				if !slices.Contains(o.ids(), id) {
					continue
				}
				branch := trunk
				trunk, err = Fold(trunk, id, e)
				require.NoError(t, err)
				other, err := Fold(branch, id, e)
				require.NoError(t, err)
				require.Equal(t, trunk, other)
				again, err = Fold(again, id, e)
				require.NoError(t, err)
				for _, past := range p.log[:i+1] {
					unchanged, err := Fold(trunk, id, past)
					require.NoError(t, err)
					require.Equal(t, trunk, unchanged, "an event folded before changes nothing")
				}
			}
			require.Equal(t, trunk, again)
			require.Equal(t, p.memory.entities[id].Version, trunk.Version)
		}
	})
}

// drawEvent draws a task event of a small project, for any entity and in any order, including events that no planner
// would write.
func drawEvent(t *rapid.T, n int) schema.Event {
	id := func(name string) string { return rapid.SampledFrom([]string{"t1", "t2", "t3"}).Draw(t, name) }
	status := func(name string) schema.TaskStatus { return rapid.SampledFrom(statuses).Draw(t, name) }
	blockers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) schema.Blocker {
		return schema.Blocker{EntityRef: schema.EntityRef{Type: schema.EntityTask, ID: id("blocker")}, Text: "b"}
	}), 0, 2)
	var payload any
	eventType := rapid.SampledFrom([]string{
		schema.TaskCreated, schema.TaskObserved, schema.TaskStatusChanged, schema.TaskStatusChanged, schema.TaskBlockersSet,
		schema.TaskBlockersSet, schema.TaskDoneReported, schema.TaskTransitionRejected, schema.TaskMerged, schema.TaskPriorityChanged,
		schema.ConditionDeclared, schema.ConditionResolvedTo, schema.ArtifactClosed,
	}).Draw(t, "type")
	switch eventType {
	case schema.TaskCreated:
		payload = schema.TaskCreatedPayload{TaskID: id("id"), CanonicalKey: "task:p:x", Title: "x", Status: status("status")}
	case schema.TaskObserved:
		payload = schema.TaskObservedPayload{TaskID: id("id"), CanonicalKey: "task:p:y", EvidenceAligned: rapid.Bool().Draw(t, "aligned"), Status: status("status")}
	case schema.TaskStatusChanged:
		payload = schema.TaskStatusChangedPayload{TaskID: id("id"), From: status("from"), To: status("to"), Reopened: rapid.Bool().Draw(t, "reopened")}
	case schema.TaskBlockersSet:
		mode := rapid.SampledFrom([]schema.BlockersMode{schema.BlockersReplace, schema.BlockersSuggest}).Draw(t, "mode")
		payload = schema.TaskBlockersSetPayload{TaskID: id("id"), Mode: mode, Blockers: blockers.Draw(t, "blockers")}
	case schema.TaskDoneReported:
		payload = schema.TaskDoneReportedPayload{TaskID: id("id"), EvidenceProven: true}
	case schema.TaskTransitionRejected:
		payload = schema.TaskTransitionRejectedPayload{TaskID: id("id"), To: status("to")}
	case schema.TaskMerged:
		payload = schema.TaskMergedPayload{TaskID: id("id"), Into: id("into")}
	case schema.TaskPriorityChanged:
		payload = schema.TaskPriorityChangedPayload{TaskID: id("id"), To: schema.PriorityHigh}
	case schema.ConditionDeclared:
		payload = schema.ConditionDeclaredPayload{ConditionID: id("id")}
	case schema.ConditionResolvedTo:
		payload = schema.ConditionResolvedToPayload{ConditionID: id("id"), Target: schema.EntityRef{ID: id("target")}}
	case schema.ArtifactClosed:
		payload = schema.ArtifactClosedPayload{ArtifactID: id("id")}
	}
	e := eventOf(t, n, eventType, payload)
	e.TS = rapid.SampledFrom(times).Draw(t, "ts")
	return e
}

func eventOf(t require.TestingT, n int, eventType string, payload any) schema.Event {
	encoded, err := json.Marshal(payload)
	require.NoError(t, err)
	return schema.Event{Type: eventType, ID: fmt.Sprint("e", n), Seq: uint64(n), TS: day, Payload: encoded}
}

// drawStep draws an event that the fold accepts: a legal change of the task's status or of its blockers. A task gets a
// blocker before it becomes blocked.
func drawStep(t *rapid.T, n int, task Entity) schema.Event {
	reopened := Closed(task.TaskStatus)
	steps := transitions[task.TaskStatus]
	if reopened {
		steps = []schema.TaskStatus{reopenings[task.TaskStatus]}
	}
	to := rapid.SampledFrom(steps).Draw(t, "step")
	unready := to == schema.TaskBlocked && len(task.Blockers) == 0
	if unready || !reopened && rapid.IntRange(0, 2).Draw(t, "waits") == 0 {
		names, least := []string{"x", "y"}, 0
		if unready {
			least = 1
		}
		names = names[:rapid.IntRange(least, len(names)).Draw(t, "blockers")]
		return eventOf(t, n, schema.TaskBlockersSet, blockersSet(task.ID, names...))
	}
	return eventOf(t, n, schema.TaskStatusChanged, changed(task.ID, task.TaskStatus, to))
}

func blockersSet(id string, blockers ...string) schema.TaskBlockersSetPayload {
	p := schema.TaskBlockersSetPayload{TaskID: id, Mode: schema.BlockersReplace}
	for _, b := range blockers {
		p.Blockers = append(p.Blockers, schema.Blocker{EntityRef: schema.EntityRef{Type: schema.EntityCondition, ID: b}, Text: b})
	}
	return p
}

func changed(id string, from, to schema.TaskStatus) schema.TaskStatusChangedPayload {
	return schema.TaskStatusChangedPayload{TaskID: id, From: from, To: to, Reopened: Closed(from)}
}

// folding folds events one by one and checks the rules for every task after each.
type folding struct {
	memory *memory
	status map[string]schema.TaskStatus
	n      int
}

func newFolding() *folding {
	return &folding{memory: newMemory("p"), status: map[string]schema.TaskStatus{}}
}

func (f *folding) apply(t require.TestingT, e schema.Event) {
	f.n++
	f.memory.apply(t, []schema.Event{e})
	for id, e := range f.memory.entities {
		switch e.TaskStatus {
		case schema.TaskDone, schema.TaskCancelled:
			require.Empty(t, e.Blockers)
		case schema.TaskBlocked:
			require.NotEmpty(t, e.Blockers)
		}
		leap := f.status[id] == schema.TaskPending && e.TaskStatus == schema.TaskDone
		require.False(t, leap || f.status[id] == "" && Closed(e.TaskStatus), "%s -> %s", f.status[id], e.TaskStatus)
		f.status[id] = e.TaskStatus
	}
}

// TestSeed12_2TransitionProperty folds random event sequences. After each event, done tasks have no blockers, blocked
// tasks have at least one, and none has gone from pending to done at once. Most events are legal steps, so that tasks
// reach every status. The rest are of any kind. TestI3I4I6 checks the same for the resolver's events of random
// sessions.
func TestSeed12_2TransitionProperty(t *testing.T) {
	t.Parallel()
	reached := map[schema.TaskStatus]int{}
	emptied, doneWaiting := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		f := newFolding()
		ids := []string{"t1", "t2", "t3"}
		for _, id := range ids {
			status := rapid.SampledFrom([]schema.TaskStatus{schema.TaskPending, schema.TaskInProgress}).Draw(t, "created")
			f.apply(t, eventOf(t, f.n+1, schema.TaskCreated, schema.TaskCreatedPayload{TaskID: id, CanonicalKey: "task:p:" + id, Title: id, Status: status}))
		}
		for range rapid.IntRange(10, 60).Draw(t, "events") {
			if rapid.IntRange(0, 4).Draw(t, "any") == 4 {
				f.apply(t, drawEvent(t, f.n+1))
				continue
			}
			before := f.memory.entities[rapid.SampledFrom(ids).Draw(t, "task")]
			e := drawStep(t, f.n+1, before)
			f.apply(t, e)
			after := f.memory.entities[before.ID]
			if after.TaskStatus != before.TaskStatus {
				reached[after.TaskStatus]++
			}
			fact, err := readEvent(e)
			require.NoError(t, err)
			if set, ok := fact.payload.(schema.TaskBlockersSetPayload); ok && before.TaskStatus == schema.TaskBlocked && len(set.Blockers) == 0 {
				emptied++
			}
			if before.TaskStatus == schema.TaskInProgress && len(before.Blockers) > 0 && after.TaskStatus == schema.TaskDone {
				doneWaiting++
			}
		}
	})
	for _, status := range statuses[1:6] {
		require.NotZero(t, reached[status], "no task was ever %s", status)
	}
	require.NotZero(t, emptied, "no blocked task was told to wait for nothing")
	require.NotZero(t, doneWaiting, "no task in progress was done while it waited")
}

// TestTransitionsByHand folds handwritten sequences, so that these cases do not depend on random ones.
func TestTransitionsByHand(t *testing.T) {
	t.Parallel()
	const pending, begun, blocked, done = schema.TaskPending, schema.TaskInProgress, schema.TaskBlocked, schema.TaskDone
	for name, tt := range map[string]struct {
		events   []any
		status   schema.TaskStatus
		blockers int
	}{
		"blocked and told to wait for nothing": {[]any{blockersSet("t", "x"), changed("t", pending, blocked), blockersSet("t")}, blocked, 1},
		"blocked by nothing":                   {[]any{changed("t", pending, blocked)}, pending, 0},
		"in progress, told to wait for nothing": {
			[]any{changed("t", pending, begun), blockersSet("t", "x"), blockersSet("t")}, begun, 0,
		},
		"done while it waited": {[]any{changed("t", pending, begun), blockersSet("t", "x"), changed("t", begun, done)}, done, 0},
		"done while blocked": {
			[]any{changed("t", pending, begun), blockersSet("t", "x", "y"), changed("t", begun, blocked), changed("t", blocked, done)}, done, 0,
		},
		"done at once":                 {[]any{blockersSet("t", "x"), changed("t", pending, done)}, pending, 1},
		"done and told what it awaits": {[]any{changed("t", pending, begun), changed("t", begun, done), blockersSet("t", "x")}, done, 0},
		"blocked and taken up again":   {[]any{blockersSet("t", "x"), changed("t", pending, blocked), changed("t", blocked, begun)}, begun, 0},
		"cancelled while it waited":    {[]any{blockersSet("t", "x"), changed("t", pending, schema.TaskCancelled)}, schema.TaskCancelled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolding()
			f.apply(t, eventOf(t, 1, schema.TaskCreated, schema.TaskCreatedPayload{TaskID: "t", CanonicalKey: "task:p:t", Title: "t", Status: pending}))
			for _, payload := range tt.events {
				eventType := schema.TaskStatusChanged
				if _, ok := payload.(schema.TaskBlockersSetPayload); ok {
					eventType = schema.TaskBlockersSet
				}
				f.apply(t, eventOf(t, f.n+1, eventType, payload))
			}
			require.Equal(t, tt.status, f.memory.entities["t"].TaskStatus)
			require.Len(t, f.memory.entities["t"].Blockers, tt.blockers)
		})
	}
}
