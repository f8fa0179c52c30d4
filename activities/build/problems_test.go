package build_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// scene appends events of one session, project and user whose names need escaping.
type scene struct {
	t   *testing.T
	log *projection.Store
	schema.SessionKey
	events int
	kept   map[string][]schema.Event
}

func (s *scene) append(stream, eventType, buildID string, payload any) schema.Event {
	s.t.Helper()
	appended, err := s.log.Append(s.t.Context(), stream, []schema.Event{s.event(eventType, buildID, payload)})
	require.NoError(s.t, err)
	return appended.Events[0]
}

// add keeps the event for flush, which appends the events of each stream at once.
func (s *scene) add(stream, eventType, buildID string, payload any) {
	s.t.Helper()
	if s.kept == nil {
		s.kept = map[string][]schema.Event{}
	}
	s.kept[stream] = append(s.kept[stream], s.event(eventType, buildID, payload))
}

func (s *scene) flush() {
	s.t.Helper()
	for stream, events := range s.kept {
		_, err := s.log.Append(s.t.Context(), stream, events)
		require.NoError(s.t, err)
	}
	s.kept = nil
}

func (s *scene) event(eventType, buildID string, payload any) schema.Event {
	s.t.Helper()
	data, err := json.Marshal(payload)
	require.NoError(s.t, err)
	s.events++
	return schema.Event{
		Type: eventType, TS: at.Add(time.Duration(s.events) * time.Second), Actor: "test", SessionID: s.SessionID,
		Project: s.Project, BuildID: buildID, DedupeKey: fmt.Sprintf("%s/%d", s.Stream(), s.events), Payload: data,
	}
}

// Everything of a build that did not become memory is listed with its reason and remedy, wherever it is recorded.
// Nothing of other builds and sessions is.
func TestI8Problems(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	conn := stacktest.Migrated(t)
	log := projection.New(conn, eventlog.Options{})
	scope := schema.Scope{Project: "프로젝트", User: "u/ü", Agent: "a"}
	mine := &scene{t: t, log: log, SessionKey: schema.SessionKey{Scope: scope, SessionID: "세션 'a'"}}
	other := &scene{t: t, log: log, SessionKey: schema.SessionKey{Scope: scope, SessionID: "another"}}
	theirs := &scene{t: t, log: log, SessionKey: mine.SessionKey}
	theirs.User = "v"
	first, ids := mine.lose(build.ID(mine.SessionKey, 1))
	other.lose(build.ID(other.SessionKey, 1))
	theirs.lose(build.ID(theirs.SessionKey, 1))
	second := build.ID(mine.SessionKey, 2)
	tools := spec.Extractor
	tools.Tools = true
	for _, answer := range []struct {
		buildID string
		by      schema.Extractor
		window  schema.Window
	}{
		{second, tools, schema.Window{Hash: "h1", First: 0, Last: 3, Asked: 2}},
		{build.ID(mine.SessionKey, 3), spec.Extractor, schema.Window{Hash: "h1", First: 0, Last: 3, Asked: 2}},
		{build.ID(mine.SessionKey, 3), spec.Extractor, schema.Window{Hash: "h2", First: 4, Last: 5, Asked: 1}},
	} {
		mine.append(mine.Stream(), schema.MemoryExtracted, answer.buildID, schema.MemoryExtractedPayload{
			SessionID: mine.SessionID, Window: answer.window, Extractor: answer.by, ResponseKeys: []string{"k"},
		})
	}
	for _, p := range build.Projections(conn, spec.EmbeddingVersion) {
		_, err := log.ProjectAll(ctx, p)
		require.NoError(t, err)
	}

	shown, err := build.Show(ctx, conn, first)
	require.NoError(t, err)
	again := "ask again: starter builds retry " + first
	require.Equal(t, []build.Problem{
		{Kind: build.ProblemLine, Where: "line 7", Reason: "not JSON", Retry: "mend the source where it matters, and process it again"},
		{
			Kind: build.ProblemWindow, Where: "messages 0 to 3", Reason: "quarantined (asked 2 times): no JSON in it",
			Retry: "done: build " + second[:8] + " has the answer", Asked: 2, Type: schema.ErrorModelUnreadable,
		},
		{
			Kind: build.ProblemWindow, Where: "messages 4 to 5", Reason: "the answer broke off after 1 entries (asked once)",
			Retry: again, Asked: 1, Type: schema.ErrorModelCut,
		},
		{
			Kind: build.ProblemItem, Where: "messages 4 to 5, item 1", Reason: "rejected: no title",
			Retry: "only another model or prompt is asked for it again; the item is in the log as it was given",
		},
		{
			Kind: build.ProblemFact, Where: `fact "I prefer tabs"`, Reason: "evidence not aligned: it does not stand there",
			Retry: "the entry is kept: starter entry show 0123abcd --project 프로젝트; if another session states the fact, it is judged again",
		},
		{Kind: build.ProblemFact, Where: `fact "I prefer tabs"`, Reason: "duplicate: fact_1 says the same"},
		{
			Kind: build.ProblemFact, Where: `removal of fact fact_1 "I prefer tabs"`, Reason: "removal not proven: message 3 does not say so",
			Retry: "the fact is kept: if it no longer holds, delete it with starter facts delete",
		},
		{Kind: build.ProblemFact, Where: `removal of fact fact_2 "I like Go"`, Reason: "removal of gone fact: it was gone"},
		{
			Kind: build.ProblemFact, Where: "review of facts", Reason: "review not answered: m: blocked",
			Retry: "the facts in question are kept; facts are reviewed again with the next messages",
		},
		{
			Kind: build.ProblemTask, Where: fmt.Sprintf("task %s %q", ids.task[:8], "Write the report"),
			Reason: "pending to done: illegal transition",
			Retry:  "see it with starter task show " + ids.task[:8] + " --project 프로젝트, and correct it with starter task set",
		},
		{
			Kind: build.ProblemTask, Where: fmt.Sprintf("task %s %q", ids.task[:8], "Write the report"),
			Reason: `self block: waits for "the report"`,
			Retry:  "see it with starter task show " + ids.task[:8] + " --project 프로젝트, and correct it with starter task set",
		},
		{
			Kind: build.ProblemTask, Where: fmt.Sprintf("task note %s %q", ids.note[:8], "!!!"),
			Reason: "no task was made from it: it names none, or its title is only punctuation",
			Retry:  "the entry is kept: starter entry show " + ids.note[:8] + " --project 프로젝트",
		},
		{
			Kind: build.ProblemVector, Where: fmt.Sprintf("vector of entry %s %q", ids.entry[:8], "I prefer tabs"),
			Reason: "too large", Retry: "mend the cause, then starter reconcile",
		},
		{
			Kind: build.ProblemVector, Where: "vector of the title of task " + ids.task[:8],
			Reason: "weaviate is away (tried 3 times)", Retry: "it is tried again by itself; at once with starter reconcile",
		},
	}, shown.Problems)
}

type lostIDs struct{ task, entry, note string }

// lose makes a build in which one thing of each kind is lost.
func (s *scene) lose(buildID string) (string, lostIDs) {
	s.t.Helper()
	stream := s.Stream()
	tools := spec
	tools.Extractor.Tools = true
	s.add(stream, schema.BuildStarted, buildID, schema.BuildStartedPayload{
		BuildID: buildID, SessionKey: s.SessionKey, Ordinal: 1, Spec: tools,
		Source: schema.Source{URI: "file:///tmp/it%27s%20%ED%95%9C.jsonl", Format: "messages", SHA256: "x", Bytes: 1},
	})
	s.add(stream, schema.SessionIngested, buildID, schema.SessionIngestedPayload{Skipped: []schema.Skipped{{Line: 7, Reason: "not JSON"}}})
	s.add(stream, schema.MemoryExtracted, buildID, schema.MemoryExtractedPayload{
		Window: schema.Window{Hash: "h1", First: 0, Last: 3, Asked: 1}, Extractor: tools.Extractor, Quarantined: "no JSON in it", QuarantinedType: schema.ErrorModelUnreadable,
	})
	s.add(stream, schema.MemoryExtracted, buildID, schema.MemoryExtractedPayload{
		Window: schema.Window{Hash: "h2", First: 4, Last: 5}, Extractor: tools.Extractor, Truncated: true, Entries: []schema.ExtractedEntry{{}},
		Rejected: []schema.RejectedItem{{Index: 1, Reason: "no title"}},
	})
	memory := schema.MemoryStream(s.User, s.Agent)
	act := schema.Act{EntryID: "0123abcd-and-more"}
	s.add(memory, schema.FactSkipped, buildID, schema.FactSkippedPayload{
		Act: act, Skipped: schema.SkippedUnaligned, Detail: "it does not stand there", Content: "I prefer tabs",
	})
	s.add(memory, schema.FactSkipped, buildID, schema.FactSkippedPayload{
		Act: act, Skipped: schema.SkippedDuplicate, Detail: "fact_1 says the same", Content: "I prefer tabs",
	})
	for _, p := range []schema.FactSkippedPayload{
		{Skipped: schema.SkippedRemovalUnproven, Detail: "message 3 does not say so", FactID: "fact_1", Content: "I prefer tabs", Answer: "k"},
		{Skipped: schema.SkippedRemovalGone, Detail: "it was gone", FactID: "fact_2", Content: "I like Go", Answer: "k"},
		{Skipped: schema.SkippedReview, Detail: "m: blocked", Answer: "k"},
	} {
		s.add(memory, schema.FactSkipped, buildID, p)
	}
	ids := lostIDs{task: schema.EntityID("task:" + s.Stream()), entry: schema.DerivedID(s.Stream()), note: schema.DerivedID("note", s.Stream())}
	project := schema.ProjectStream(s.Project)
	created := s.append(project, schema.TaskCreated, buildID, schema.TaskCreatedPayload{
		Act: act, TaskID: ids.task, CanonicalKey: "task:" + s.Stream(), Title: "Write the report",
		Status: schema.TaskPending, Priority: schema.PriorityMedium,
	})
	s.add(project, schema.TaskTransitionRejected, buildID, schema.TaskTransitionRejectedPayload{
		Act: act, TaskID: ids.task, From: schema.TaskPending, To: schema.TaskDone, Rejection: schema.RejectedTransition,
	})
	s.add(project, schema.TaskTransitionRejected, buildID, schema.TaskTransitionRejectedPayload{
		Act: act, TaskID: ids.task, From: schema.TaskPending, Rejection: schema.RejectedSelfBlock, Blockers: []schema.Blocker{{Text: "the report"}},
	})
	for _, id := range []string{ids.entry, schema.DerivedID("fine", s.Stream())} {
		s.add(stream, schema.EntryMaterialized, buildID, schema.EntryMaterializedPayload{Entry: schema.Entry{
			ID: id, Type: schema.EntryFact, SessionID: s.SessionID, Scope: s.Scope, Title: "I prefer tabs", OccurredAt: at,
		}})
	}
	for id, title := range map[string]string{ids.note: "!!!", act.EntryID: "Write the report"} {
		s.add(stream, schema.EntryMaterialized, buildID, schema.EntryMaterializedPayload{Entry: schema.Entry{
			ID: id, Type: schema.EntryTaskNote, SessionID: s.SessionID, Scope: s.Scope, Title: title, OccurredAt: at,
		}})
	}
	s.add(project, schema.TaskObserved, buildID, schema.TaskObservedPayload{
		Act: act, TaskID: ids.task, CanonicalKey: "task:" + s.Stream(), Title: "Write the report", Method: "created",
	})
	failed := func(kind, id, reason string, attempt int, permanent bool) schema.FailedVector {
		return schema.FailedVector{
			VectorItem: schema.VectorItem{Kind: kind, ID: id, EmbeddingVersion: spec.EmbeddingVersion},
			Project:    s.Project, EnqueuedAt: at, Attempt: attempt, Error: reason, Permanent: permanent,
		}
	}
	s.add(schema.VectorStream("c"), schema.VectorFailed, "", schema.VectorFailedPayload{Items: []schema.FailedVector{
		failed(schema.ItemEntry, ids.entry, "too large", 1, true),
		failed(schema.ItemTaskTitle, fmt.Sprintf("%s/%d", ids.task, created.Seq), "weaviate is away", 3, false),
	}})
	s.add(stream, schema.BuildFinished, buildID, schema.BuildFinishedPayload{
		BuildID: buildID, SessionID: s.SessionID, Status: schema.BuildPartial, ExtractorID: "x",
	})
	s.flush()
	return buildID, ids
}

// A printed command reaches the program unchanged when it is pasted, whatever is in a name.
func TestRetryCommandsSurviveTheShell(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	rapid.Check(t, func(t *rapid.T) {
		arg := rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune("ab '\"$`\\*?;&|<>(){}[]#~!%한é/-=")), 1, 12, -1),
			rapid.SampledFrom([]string{"프로젝트", "-x", "a b", "$(id)", "''"}),
		).Draw(t, "arg")
		line := strings.Replace(build.Command("task", "show", arg), "starter", "printf '%s\\n'", 1)
		out, err := exec.Command(shell, "-c", line).CombinedOutput()
		if err != nil || string(out) != "task\nshow\n"+arg+"\n" {
			t.Fatalf("%s gives %q (%v)", line, out, err)
		}
	})
}

// A build that asked about the halves of a window, or for a repair of its answer, says so of itself.
func TestProblemsThatTheBuildSawTo(t *testing.T) {
	t.Parallel()
	conn := stacktest.Migrated(t)
	s := &scene{t: t, log: projection.New(conn, eventlog.Options{}), SessionKey: session}
	id := build.ID(session, 1)
	s.append(session.Stream(), schema.BuildStarted, id, schema.BuildStartedPayload{BuildID: id, SessionKey: session, Ordinal: 1, Spec: spec})
	asked := func(reason string, w schema.Window, keys ...string) {
		s.append(session.Stream(), schema.MemoryExtracted, id, schema.MemoryExtractedPayload{
			SessionID: session.SessionID, Window: w, Extractor: spec.Extractor, ResponseKeys: keys, Quarantined: reason,
		})
	}
	asked("no JSON", schema.Window{Hash: "a", Last: 3}, "k1", "k2")
	asked("", schema.Window{Hash: "b", Last: 1}, "k3")
	asked("", schema.Window{Hash: "c", First: 2, Last: 3}, "k4")
	asked("no JSON", schema.Window{Hash: "d", First: 4, Last: 7}, "k5", "k6")
	asked("no answer", schema.Window{Hash: "e", First: 4, Last: 5, Small: true})
	for _, p := range build.Projections(conn, spec.EmbeddingVersion) {
		_, err := s.log.ProjectAll(t.Context(), p)
		require.NoError(t, err)
	}
	d, err := build.Show(t.Context(), conn, id)
	require.NoError(t, err)
	var got []string
	for _, p := range d.Problems {
		got = append(got, p.Reason+" -> "+p.Retry)
	}
	require.Equal(t, []string{
		"quarantined (asked once, and to repair the answer): no JSON -> done: this build has the answer",
		"quarantined (asked once, and to repair the answer): no JSON -> " +
			"this build asked again, for the rest or in halves: see its other problems",
		"quarantined (asked once): no answer -> too small to be asked about in parts; once more as it is: starter builds retry " + id + " --force",
	}, got)
}
