package answer

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

const goodUpdate = `{"user":{"workContext":{"summary":"간호사","shouldUpdate":true}},"history":{},"newFacts":[{"content":"likes Go","category":"preference","confidence":0.9}],"factsToRemove":[]}`

func wantUpdate() Update {
	return Update{
		Sections: []UpdatedSection{{schema.SectionWork, "간호사", true}},
		NewFacts: []NewFact{{"likes Go", "preference", 0.9, ""}},
	}
}

func TestReadUpdateFindsTheUpdate(t *testing.T) {
	t.Parallel()
	blocks := func(b ...any) string {
		raw, err := json.Marshal(b)
		require.NoError(t, err)
		return string(raw)
	}
	type block map[string]string
	tests := map[string]string{
		"as asked":                 goodUpdate,
		"fence":                    "```json\n" + goodUpdate + "\n```",
		"prose around":             "Here {so far} is \"the {update\": " + goodUpdate + " Let me know {if} you need more.",
		"decoy":                    `{"note":"not it"} {"newFacts":[]}` + goodUpdate,
		"wrapped":                  `{"result":[` + goodUpdate + `]}`,
		"within what breaks off":   `{"result":` + goodUpdate + `, "note": {`,
		"after an open string":     `{"note": "it is {` + goodUpdate[1:],
		"the first of two":         goodUpdate + `{"user":{},"history":{},"newFacts":[],"factsToRemove":["f1"]}`,
		"thoughts before":          `<think>{"user":{},"history":{},"newFacts":[]}</think>` + goodUpdate,
		"thoughts never opened":    `{"user":{},"history":{},"newFacts":[]} no.</think>` + goodUpdate,
		"thoughts after":           goodUpdate + "<think>good</think>",
		"pieces of text":           blocks(goodUpdate[:20], goodUpdate[20:]),
		"blocks":                   blocks(block{"type": "thinking", "thinking": "{"}, block{"type": "text", "text": "Here:"}, block{"type": "text", "text": goodUpdate}),
		"no removals":              strings.Replace(goodUpdate, `,"factsToRemove":[]`, "", 1),
		"snake case":               strings.NewReplacer("newFacts", "new_facts", "workContext", "work_context", "shouldUpdate", "should_update").Replace(goodUpdate),
		"a number that JSON lacks": strings.Replace(goodUpdate, `"history":{}`, `"history":{},"score":[NaN,-Infinity]`, 1),
		"brackets in a text":       strings.Replace(goodUpdate, `"history":{}`, `"history":{},"note":"}]{\"\u00e9\\"`, 1),
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadUpdate(text)
			require.NoError(t, err)
			require.Equal(t, wantUpdate(), got)
		})
	}
}

func TestReadUpdateUnreadable(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing":           "",
		"prose":             "Nothing to remember.",
		"cut off":           strings.TrimSuffix(goodUpdate, ":[]}"),
		"single quotes":     `{'user':{},'history':{},'newFacts':[],'factsToRemove':[]}`,
		"trailing comma":    strings.Replace(goodUpdate, `"factsToRemove":[]`, `"factsToRemove":[],`, 1),
		"no new facts":      `{"user":{},"history":{},"factsToRemove":["f1"]}`,
		"no user":           `{"history":{},"newFacts":[]}`,
		"a thought alone":   "<think>" + goodUpdate + "</think>",
		"a broken escape":   strings.Replace(goodUpdate, "likes", `\likes`, 1),
		"a raw line end":    strings.Replace(goodUpdate, "likes ", "likes\n", 1),
		"no JSON number":    strings.Replace(goodUpdate, "0.9", "0.9.1", 1),
		"deeper than known": strings.Repeat(`{"a":`, 2*maxDepth) + "1" + strings.Repeat("}", 2*maxDepth),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadUpdate(text)
			require.ErrorIs(t, err, ErrUnreadable)
			require.NotErrorIs(t, err, ErrUnsafeUpdate)
			require.Equal(t, Update{}, got)
		})
	}
}

func TestReadUpdateParts(t *testing.T) {
	t.Parallel()
	got, err := ReadUpdate(`{
		"user": {"workContext": {"summary": " a ", "shouldUpdate": 1}, "topOfMind": "bare", "personalContext": {"shouldUpdate": true},
			"recentMonths": {"summary": "x", "shouldUpdate": true}},
		"history": {"earlierContext": {"summary": "b", "shouldUpdate": "false"}, "long_term_background": {"summary": 5, "shouldUpdate": true}},
		"newFacts": [
			{"content": " x ", "category": " Goal ", "confidence": " 0.8 ", "sourceError": " it was y "},
			{"content": "no confidence", "category": 7}, {"content": "a percentage", "confidence": 95},
			{"content": "null", "confidence": null}, {"content": "word", "confidence": "high"}, {"content": "bool", "confidence": true},
			{"content": "not a number", "confidence": NaN}, {"content": "hex", "confidence": "0x1p-2"}, {"content": "huge", "confidence": 1e999},
			{"content": "\u0000 "}, {"content": ["x"]}, "just text", {"confidence": 0.9}]
	}`)
	require.NoError(t, err)
	require.Equal(t, []UpdatedSection{
		{schema.SectionWork, "a", true}, {schema.SectionPersonal, "", false}, {schema.SectionEarlier, "b", false},
	}, got.Sections)
	require.Equal(t, []NewFact{
		{"x", "goal", 0.8, "it was y"}, {"no confidence", "context", 0.5, ""}, {"a percentage", "context", 95, ""},
	}, got.NewFacts)
	var rejected []string
	for _, r := range got.Rejected {
		require.NotEmpty(t, r.Reason)
		rejected = append(rejected, fmt.Sprintf("%s %d", r.Part, r.Index))
	}
	want := []string{"user.recentMonths 0", "user.topOfMind 0", "history.long_term_background 0"}
	for i := 3; i < 13; i++ {
		want = append(want, fmt.Sprintf("newFacts %d", i))
	}
	require.Equal(t, want, rejected)
}

func TestReadUpdateRemovals(t *testing.T) {
	t.Parallel()
	got, err := ReadUpdate(`{"user":"n/a","history":[],"newFacts":[],"factsToRemove":[" f1 ", 7, {"id":"f2","reason":"moved","quote":"I moved.","messageIndex":"3"},
		{"fact_id":"f\"/3","message_index":-1}, {"reason":"x"}, null]}`)
	require.NoError(t, err)
	three := 3
	require.Equal(t, []Removal{{ID: "f1"}, {ID: "f2", Reason: "moved", Quote: "I moved.", MessageIndex: &three}, {ID: `f"/3`}}, got.Removals)
	require.Len(t, got.Rejected, 5)
	require.Empty(t, got.Sections)
}

// A fact is never removed if its replacement may be lost.
func TestReadUpdateFailsClosed(t *testing.T) {
	t.Parallel()
	update := func(facts, removals string) string {
		return `{"user":{},"history":{},"newFacts":` + facts + `,"factsToRemove":` + removals + `}`
	}
	for _, facts := range []string{`[{"content":123}]`, `[{"content":"x"},"y"]`, `null`, `{}`, `[{"content":"x","confidence":NaN}]`} {
		_, err := ReadUpdate(update(facts, `["f1"]`))
		require.ErrorIs(t, err, ErrUnsafeUpdate, facts)
		require.ErrorIs(t, err, ErrUnreadable, facts)
		_, err = ReadUpdate(update(facts, `[7]`))
		require.NoError(t, err, "nothing is removed")
	}
	_, err := ReadUpdate(update(`[{"content":"x"}]`, `["f1"]`))
	require.NoError(t, err)
}

// naiveUpdate tries each opening bracket on its own.
func naiveUpdate(text string) (string, bool) {
	for i := range len(text) {
		if text[i] != '{' {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(text[i:]))
		var doc map[string]json.RawMessage
		if dec.Decode(&doc) != nil {
			continue
		}
		names := 0
		for name := range doc {
			names |= updateNames[foldKey(name)]
		}
		if names == allUpdateNames {
			return text[i : i+int(dec.InputOffset())], true
		}
	}
	return "", false
}

func TestFindUpdateFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"{", "}", "[", "]", ",", ":", `"`, `\"`, `"a"`, `"a":`, "1", "null", " ", "\n", `{"user":{},`, `"history":1,`, `"newFacts":[]`, `"newFacts":[]}`,
		`{"user":1,"history":2,"newFacts":3}`, `{}`, "x",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 24).Draw(t, "pieces"), "")
		want, ok := naiveUpdate(text)
		got, found := findUpdate(text)
		require.Equal(t, ok, found, "%q", text)
		require.Equal(t, want, string(got), "%q", text)
	})
}

func FuzzReadUpdate(f *testing.F) {
	for _, seed := range []string{
		"", goodUpdate, "[" + goodUpdate + "]", `["{\"user\":", {"text":"x"}]`, `{"user":NaN,"history":{},"newFacts":[{"content":"\u0000"}],"factsToRemove":[{"id":1}]}`,
		"</think>" + goodUpdate + "<think>", `{"{"{"{`, `{"a":"\u12`, strings.Repeat(`{"a":`, 70), "{\"\xff\":\xfe}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ReadUpdate(text)
		if err != nil {
			require.ErrorIs(t, err, ErrUnreadable)
			require.Equal(t, Update{}, u)
			return
		}
		for _, fact := range u.NewFacts {
			require.NotEmpty(t, strings.TrimSpace(fact.Content))
			require.NotEmpty(t, fact.Category)
			require.False(t, math.IsNaN(fact.Confidence) || math.IsInf(fact.Confidence, 0))
		}
		for _, r := range u.Removals {
			require.NotEmpty(t, strings.TrimSpace(r.ID))
		}
		for _, s := range u.Sections {
			require.Contains(t, schema.ProfileSections(), s.Section)
			require.True(t, s.Summary != "" || !s.ShouldUpdate)
		}
		for _, r := range u.Rejected {
			require.NotEmpty(t, r.Reason)
			require.False(t, r.Part == "newFacts" && len(u.Removals) > 0, "it fails closed")
		}
	})
}

// The time is in proportion to the text, with any brackets.
func BenchmarkReadUpdateOfGarbage(b *testing.B) {
	for name, piece := range map[string]string{
		"opened": "{", "nested": `{"a":`, "lists": "[{", "strings": `{"`, "hidden": `{"x":"y {`, "whole": `{"a":[1,{}],"b":"c"} `, "thoughts": `</think>{"user":{},"history":{},"newFacts":[]}`,
		"open thoughts": "<think></thin",
	} {
		for _, size := range []int{64 << 10, 1 << 20} {
			text := strings.Repeat(piece, size/len(piece))
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_, _ = ReadUpdate(text)
				}
			})
		}
	}
}
