package llm

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/session"
	"axiommind/schema"
)

// fates of a window that is asked about.
const (
	whole = iota
	unreadable
	brokeOff
)

const windowSize = 64

// drawMessage draws a message of any length, a blank one at times, which need not be one to extract from.
func drawMessage(t *rapid.T, index int) schema.Message {
	return schema.Message{
		Index: index, Role: schema.RoleUser,
		Kind: rapid.SampledFrom([]schema.Kind{schema.KindText, schema.KindText, schema.KindThinking}).Draw(t, "kind"),
		Text: rapid.StringOfN(rapid.RuneFrom([]rune("ab é한국👩‍👩‍👧\n\t　")), 0, 200, -1).Draw(t, "text"),
	}
}

func streamOf(messages []schema.Message) iter.Seq2[schema.Message, error] {
	return func(yield func(schema.Message, error) bool) {
		for _, m := range messages {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// squeeze drops white space: pieces that hold nothing else are not shown.
func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// Whatever becomes of windows, wherever builds break off and however the session grows: a build asks once
// about each window without a whole answer and never about one with it, each asking has a number of its
// own, and in the end everything was shown.
func TestLedgerAsksAgain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var log []extraction
		var messages []schema.Message
		settled, asked, kept := map[place]bool{}, map[place]int{}, map[place]bool{}
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		// run is an attempt of a build; it breaks off after so many plans.
		run := func(buildID string, plans int, fate func() int) (ended bool) {
			for range plans {
				var seen ledger
				for _, x := range log {
					seen.add(x, buildID)
				}
				windows, more, err := seen.next(streamOf(messages), buildID, session.Cut{Size: windowSize, Limit: limit, Hash: WindowHash})
				if err != nil {
					t.Fatal(err)
				}
				if len(windows) > limit {
					t.Fatalf("a plan of %d windows of %d", len(windows), limit)
				}
				for _, w := range windows {
					at := placeOf(w)
					if settled[at] {
						t.Fatalf("asks about %+v, which has its answer", w)
					}
					if w.Asked != asked[at] {
						t.Fatalf("asks about %+v, which was asked about %d times", w, asked[at])
					}
					if w.Kept != kept[at] {
						t.Fatalf("plans %+v, of which entries are kept: %t", w, kept[at])
					}
					asked[at]++
					x := extraction{buildID: buildID}
					x.Window = w
					switch fate() {
					case whole:
						settled[at] = true
					case unreadable:
						x.Quarantined = "no JSON"
					case brokeOff:
						x.Truncated = true
						x.Entries = make([]schema.ExtractedEntry, rapid.IntRange(0, 1).Draw(t, "entries"))
						kept[at] = kept[at] || len(x.Entries) > 0
					}
					log = append(log, x)
				}
				if !more {
					return true
				}
			}
			return false
		}
		for build := range rapid.IntRange(1, 4).Draw(t, "builds") {
			for range rapid.IntRange(0, 12).Draw(t, "more") {
				messages = append(messages, drawMessage(t, len(messages)))
			}
			id, before := fmt.Sprint("build ", build), len(log)
			for !run(id, rapid.IntRange(1, 3).Draw(t, "plans"), func() int { return rapid.IntRange(whole, brokeOff).Draw(t, "fate") }) {
			}
			once := map[place]bool{}
			for _, x := range log[before:] {
				if once[placeOf(x.Window)] {
					t.Fatalf("one build asks twice about %+v", x.Window)
				}
				once[placeOf(x.Window)] = true
			}
			var seen ledger
			for _, x := range log {
				seen.add(x, id)
			}
			if seen.recorded.Windows != len(log)-before {
				t.Fatalf("the build recorded %d windows, not %d", len(log)-before, seen.recorded.Windows)
			}
		}
		for !run("the last", 1000, func() int { return whole }) {
		}
		if len(settled) != len(asked) {
			t.Fatalf("%d of %d windows have their answer", len(settled), len(asked))
		}
		var windows []schema.Window
		for _, x := range log {
			if x.Answered() {
				windows = append(windows, x.Window)
			}
		}
		got := map[int]string{}
		for _, w := range windows {
			for _, m := range session.Shown(messages, w, false) {
				got[m.Index] += m.Text
			}
		}
		for _, m := range messages {
			if session.Extracted(m, false) && len(squeeze(got[m.Index])) != len(squeeze(m.Text)) {
				t.Fatalf("message %d is shown as %q, want %q", m.Index, got[m.Index], m.Text)
			}
		}
	})
}

// Of a window that nothing is kept of, the log is not read: there is none here.
func TestKeptReadsNoLogInVain(t *testing.T) {
	t.Parallel()
	a := &Activities{}
	for _, windows := range [][]schema.Window{nil, {{Hash: "h"}}, {{Hash: "h", Asked: 3}, {Hash: "i"}}} {
		kept, err := a.kept(t.Context(), schema.SessionKey{}, schema.Extractor{}, windows...)
		require.NoError(t, err)
		require.Empty(t, kept)
	}
	require.Panics(t, func() {
		_, _ = a.kept(t.Context(), schema.SessionKey{}, schema.Extractor{}, schema.Window{Hash: "h", Asked: 1, Kept: true})
	})
}

func entryOf(title string, quotes ...string) schema.ExtractedEntry {
	e := schema.ExtractedEntry{Type: schema.EntryDecision, Title: title}
	for i, q := range quotes {
		e.Evidence = append(e.Evidence, schema.Quote{MessageIndex: i, Quote: q})
	}
	return e
}

// The answer after one that broke off adds what is new. What it repeats is not kept twice, and what it
// says in other words of the same quotes is listed.
func TestAddRest(t *testing.T) {
	t.Parallel()
	kept := []schema.ExtractedEntry{entryOf("Use Go", "we use Go"), entryOf("Two", "a", "b")}
	fact := entryOf("Use Go", "we use Go")
	fact.Type = schema.EntryFact
	turned := schema.ExtractedEntry{Type: schema.EntryDecision, Title: "Both", Evidence: []schema.Quote{
		{MessageIndex: 1, Quote: "b"}, {MessageIndex: 0, Quote: "a"},
	}}
	added := []schema.ExtractedEntry{
		entryOf("Use tabs", "we use tabs"), fact, entryOf("Use Go", "we use Go", "and tabs"), entryOf("Unproven"),
	}
	p := schema.MemoryExtractedPayload{}
	require.NoError(t, addRest(&p, kept, append([]schema.ExtractedEntry{kept[0], entryOf("Go it is", "we use Go"), turned}, added...)))
	require.Equal(t, added, p.Entries)
	require.Len(t, p.Rejected, 2)
	require.Equal(t, 1, p.Rejected[0].Index)
	require.Equal(t, `an earlier answer gave "Use Go" with the same quotes`, p.Rejected[0].Reason)
	require.Contains(t, string(p.Rejected[0].Raw), "Go it is")
	require.Equal(t, 2, p.Rejected[1].Index)
}

func TestRestRequest(t *testing.T) {
	t.Parallel()
	req := ExtractionRequest(testWindow(), Params{})
	rest := RestRequest(req, []schema.ExtractedEntry{entryOf("Use \"Go\"\n{\"entries\":[]}"), entryOf("Use tabs")})
	require.Contains(t, rest.Prompt, req.Prompt+"\n"+restPrompt)
	require.Contains(t, rest.Prompt, `{"type":"decision","title":"Use \"Go\"\n{\"entries\":[]}"}`+"\n"+`{"type":"decision","title":"Use tabs"}`)
	require.Equal(t, req.System, rest.System)
	require.Equal(t, req.Schema, rest.Schema)
}
