package llm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/session"
	"axiommind/schema"
)

// outcome makes the extraction of a window that was asked about.
type outcome func(*rapid.T, *extraction)

func answeredWhole(*rapid.T, *extraction) {}

func brokeOff(t *rapid.T, x *extraction) {
	x.Truncated = true
	x.Entries = make([]schema.ExtractedEntry, rapid.IntRange(0, 1).Draw(t, "entries"))
}

func failedWith(failureType string) outcome {
	return func(_ *rapid.T, x *extraction) { x.Quarantined, x.QuarantinedType = "no answer", failureType }
}

var outcomes = []outcome{
	answeredWhole, answeredWhole, answeredWhole, brokeOff, failedWith(schema.ErrorModelUnreadable), failedWith(schema.ErrorModelBlocked),
	failedWith(schema.ErrorModelTooLong), failedWith(schema.ErrorModelRejected), failedWith(schema.ErrorModelMalformed),
}

// world is a session, the log of its extractions, and the tests' record of them.
type world struct {
	*rapid.T
	messages []schema.Message
	limit    int
	log      []extraction
	// asked holds the questions that were asked: of a place, and for the rest of it or not.
	asked map[string]bool
	calls int
}

func (w *world) ledger(buildID string) *ledger {
	seen := newLedger(buildID)
	for _, x := range w.log {
		seen.add(x)
	}
	return seen
}

func (w *world) plan(buildID string) ([]schema.Window, bool, RecordResult) {
	seen := w.ledger(buildID)
	cut := session.Cut{Size: windowSize, Limit: w.limit, Small: tooSmall, Hash: WindowHash}
	open, err := seen.open(func(v schema.Window) (left, right schema.Window, ok bool, err error) {
		left, right, ok = cut.Halve(w.messages[v.First:v.Last+1], v)
		return left, right, ok, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	windows, more, err := seen.next(open, streamOf(w.messages), cut)
	if err != nil {
		w.Fatal(err)
	}
	if len(windows) > w.limit {
		w.Fatalf("a plan of %d windows of %d", len(windows), w.limit)
	}
	return windows, more, seen.recorded
}

// ask asks about the window, which must not have been asked about in the same way.
func (w *world) ask(buildID string, v schema.Window, become outcome) extraction {
	question := fmt.Sprint(windowKeyOf(v), v.Asked > 0 && v.Kept)
	for _, x := range w.log {
		if windowKeyOf(x.Window) == windowKeyOf(v) && x.Answered() {
			w.Fatalf("asks about %+v, which has its answer", v)
		}
		if windowKeyOf(x.Window) == windowKeyOf(v) && x.FailureType() == schema.ErrorModelMalformed && x.Window.Small {
			delete(w.asked, question) // A server's failure says nothing of the window.
		}
	}
	if w.asked[question] {
		w.Fatalf("asks about %+v as before", v)
	}
	w.asked[question] = true
	w.calls++
	x := extraction{buildID: buildID}
	x.Window = v
	become(w.T, &x)
	return x
}

// build runs a build as the workflow does. It may break off wherever the log may, and begin again. It returns its
// counts.
func (w *world) build(buildID string, become func() outcome) RecordResult {
	for range 10_000 {
		windows, more, total := w.plan(buildID)
		var now RecordResult
		for _, v := range windows {
			if rapid.IntRange(0, 40).Draw(w.T, "crash") == 40 {
				more = true // The events after this one are not stored: the plan is made again.
				break
			}
			x := w.ask(buildID, v, become())
			now.count(x.MemoryExtractedPayload)
			now.add(x.MemoryExtractedPayload)
			w.log = append(w.log, x)
		}
		total.Add(now)
		if !more && !now.Open() {
			return total
		}
	}
	w.Fatal("the build never ends")
	return RecordResult{}
}

// leaves returns the latest extractions of the windows that were not halved.
func (w *world) leaves() []extraction {
	last := map[windowKey]extraction{}
	for _, x := range w.log {
		last[windowKeyOf(x.Window)] = x
	}
	var out []extraction
	for at, x := range last {
		halved := false
		for other, y := range last {
			halved = halved || at != other && x.Window.Contains(y.Window)
		}
		if !halved {
			out = append(out, x)
		}
	}
	return out
}

func (w *world) requireCounts(buildID string, got RecordResult) {
	var want RecordResult
	for _, x := range w.leaves() {
		if x.buildID == buildID {
			want.count(x.MemoryExtractedPayload)
		}
	}
	for _, x := range w.log {
		if x.buildID == buildID {
			want.add(x.MemoryExtractedPayload)
		}
	}
	if got != want {
		w.Fatalf("build %s counted %+v, want %+v", buildID, got, want)
	}
}

// requireCovered checks that every text to extract from is shown by exactly one window that is answered or given up.
func (w *world) requireCovered() {
	got := map[int]string{}
	leaves := w.leaves()
	for len(leaves) > 0 {
		first := 0
		for i, x := range leaves {
			a, b := x.Window, leaves[first].Window
			if a.First < b.First || a.First == b.First && a.ByteStart < b.ByteStart {
				first = i
			}
		}
		x := leaves[first]
		leaves = append(leaves[:first], leaves[first+1:]...)
		if !x.Answered() && !x.GivenUp() {
			w.Fatalf("%+v has no answer and is not given up", x)
		}
		for _, m := range session.Shown(w.messages, x.Window, false) {
			got[m.Index] += m.Text
		}
	}
	for _, m := range w.messages {
		if want := squeeze(m.Text); session.Extracted(m, false) && squeeze(got[m.Index]) != want {
			w.Fatalf("message %d is shown as %q, want %q", m.Index, got[m.Index], m.Text)
		}
	}
}

// squeeze drops white space: pieces that hold nothing else are not shown.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// With any outcomes of windows, any breaks of builds and any growth of the session, no question is asked twice
// unchanged. Each build ends and counts each window once, in its final state. In the end exactly one window has shown
// every text, and it has an answer, or failed and is too small to be halved.
func TestLedgerCoversTheSession(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{T: t, limit: rapid.IntRange(1, 5).Draw(t, "limit"), asked: map[string]bool{}}
		for build := range rapid.IntRange(1, 4).Draw(t, "builds") {
			for range rapid.IntRange(0, 8).Draw(t, "more") {
				w.messages = append(w.messages, drawMessage(t, len(w.messages)))
			}
			id := fmt.Sprint("build ", build)
			w.requireCounts(id, w.build(id, func() outcome { return rapid.SampledFrom(outcomes).Draw(t, "outcome") }))
		}
		for _, id := range []string{"the last but one", "the last"} { // Servers that were away are back.
			total := w.build(id, func() outcome { return answeredWhole })
			w.requireCounts(id, total)
			if total.Unfinished() > 0 {
				t.Fatalf("%s, whose every answer is whole, counts %+v", id, total)
			}
		}
		w.requireCovered()
		asked := w.calls
		w.build("nothing is left", func() outcome { return answeredWhole })
		if w.calls != asked {
			t.Fatal("a build asks although nothing is left")
		}
	})
}

// worldOf is a session of one message after another.
func worldOf(t *rapid.T, texts ...string) *world {
	w := &world{T: t, limit: maxPlanned, asked: map[string]bool{}}
	for i, text := range texts {
		w.messages = append(w.messages, schema.Message{Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: text})
	}
	return w
}

// A build finds the one passage that a model refuses by itself. A model that can't read so much is asked about as little
// as it can read, however often that needs halving. A model that answers nothing is not asked about much more than
// there is.
func TestHalvedAtOnce(t *testing.T) {
	t.Parallel()
	long := func(n int) (texts []string) {
		for range n {
			texts = append(texts, strings.Repeat("abcdefg\n", windowSize/8))
		}
		return texts
	}
	rapid.Check(t, func(t *rapid.T) {
		bad := rapid.IntRange(0, 9).Draw(t, "bad")
		texts := long(10)
		texts[bad] = strings.Replace(texts[bad], "cde", "BAD", 1)
		w := worldOf(t, texts...)
		seen := &extraction{}
		total := w.build("b", func() outcome {
			return func(t *rapid.T, x *extraction) {
				if shown := session.Shown(w.messages, x.Window, false); strings.Contains(shown[0].Text, "BAD") {
					failedWith(schema.ErrorModelBlocked)(t, x)
					seen = x
				}
			}
		})
		if total.Unfinished() != 1 || total.GivenUp != 1 || !seen.GivenUp() {
			t.Fatalf("one passage is refused, counted is %+v", total)
		}
		w.requireCovered()

		w = worldOf(t, long(10)...)
		total = w.build("b", func() outcome {
			return func(t *rapid.T, x *extraction) {
				if len(session.Shown(w.messages, x.Window, false)[0].Text) > windowSize/4 {
					failedWith(schema.ErrorModelTooLong)(t, x)
				}
			}
		})
		if total.Unfinished() != 0 {
			t.Fatalf("the model reads a quarter of a window, counted is %+v", total)
		}

		for _, failure := range []string{schema.ErrorModelUnreadable, schema.ErrorModelMalformed} {
			w = worldOf(t, long(10)...)
			total = w.build("b", func() outcome { return failedWith(failure) })
			most := 10
			if failure == schema.ErrorModelUnreadable {
				most += 2 * halvedAtOnce
			}
			if w.calls != most || !total.Open() {
				t.Fatalf("a model that fails with %s was asked %d times, not %d; counted is %+v", failure, w.calls, most, total)
			}
		}
	})
}

// The first answer that breaks off is asked for its rest; the second one, or one of which nothing was kept, is not.
func TestRestIsAskedForOnce(t *testing.T) {
	t.Parallel()
	x := schema.MemoryExtractedPayload{Truncated: true, Entries: make([]schema.ExtractedEntry, 1)}
	require.False(t, x.Failed())
	x.Window.Asked = 1
	require.True(t, x.Failed())
	x.Window.Asked, x.Entries = 0, nil
	require.True(t, x.Failed())
	require.False(t, x.GivenUp())
	x.Window.Small = true
	require.True(t, x.GivenUp())
	require.Equal(t, schema.FailureInput, schema.ClassOf(x.FailureType()))
	require.False(t, schema.MemoryExtractedPayload{Window: x.Window}.Failed())
	away := schema.MemoryExtractedPayload{Window: x.Window, Quarantined: "<html>", QuarantinedType: schema.ErrorModelMalformed}
	require.True(t, away.Failed())
	require.False(t, away.GivenUp())
}

// A build that is forced to asks once more about the windows that earlier builds gave up, and about no others.
func TestGivenUpIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := worldOf(t, "We like it.")
		unreadable := failedWith(schema.ErrorModelUnreadable)
		w.build("first", func() outcome { return unreadable })
		if windows, more, _ := w.plan("second"); len(windows) > 0 || more {
			t.Fatalf("asks about %+v although it was not forced", windows)
		}
		ask := func(buildID string) []schema.Window {
			seen := w.ledger(buildID)
			seen.askGivenUp = true
			open, err := seen.open(nil)
			require.NoError(t, err)
			return open
		}
		for i, become := range []outcome{unreadable, answeredWhole} {
			buildID := fmt.Sprint("forced ", i)
			open := ask(buildID)
			require.Len(t, open, len(w.leaves()))
			for _, v := range open {
				require.Equal(t, i+1, v.Asked)
				x := extraction{buildID: buildID}
				x.Window = v
				become(t, &x)
				w.log = append(w.log, x)
			}
			require.Empty(t, ask(buildID), "once in a build")
		}
		require.Empty(t, ask("another"), "it has its answer")
	})
}

// A window has its answers when it, or all its parts, have theirs, by the same extractor.
func TestAnswersTo(t *testing.T) {
	t.Parallel()
	whole := schema.Window{Hash: "w", Last: 9}
	left, right := schema.Window{Hash: "l", Last: 4}, schema.Window{Hash: "r", First: 5, Last: 9}
	a, b := schema.Window{Hash: "a", First: 5, Last: 5, ByteEnd: 7}, schema.Window{Hash: "b", First: 5, ByteStart: 7, Last: 9}
	by := schema.Extractor{Model: "m"}
	var answers Answers
	for i, step := range []struct {
		window schema.Window
		failed string
		by     schema.Extractor
		want   string
	}{
		{schema.Window{Hash: "before", First: 10, Last: 19}, "", by, ""},
		{whole, "no", by, ""},
		{whole, "", schema.Extractor{Model: "another"}, ""},
		{left, "", by, ""},
		{right, "no", by, ""},
		{a, "", by, ""},
		{b, "no", by, ""},
		{b, "", by, "build 7"},
	} {
		answers.Add(schema.MemoryExtractedPayload{Window: step.window, Extractor: step.by, Quarantined: step.failed}, fmt.Sprint("build ", i))
		got, ok := answers.To(by, whole)
		require.Equal(t, step.want, got, i)
		require.Equal(t, step.want != "", ok, i)
	}
	got, _ := answers.To(by, left)
	require.Equal(t, "build 3", got)
	got, _ = answers.Again(by, right)
	require.Equal(t, "build 7", got)
	_, again := answers.Again(by, left)
	require.False(t, again)
	left.Asked = -1
	got, _ = answers.Again(by, left)
	require.Equal(t, "build 3", got)
}
