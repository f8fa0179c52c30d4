package evidence_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// caseFile is a file of quotes of one message each. The items of the alignment form have the places where a
// reader finds the quote. Those of the proof form have whether it proves.
type caseFile struct {
	Classes []string          `json:"classes"`
	Form    string            `json:"form"`
	Items   []json.RawMessage `json:"items"`
}

type alignmentCase struct {
	ID        int         `json:"i"`
	Class     string      `json:"cls"`
	Message   string      `json:"message"`
	Quote     string      `json:"quote"`
	Ambiguous bool        `json:"ambiguous"`
	Truth     []caseTruth `json:"truth"`
}

type caseTruth struct {
	UTF16 [2]int `json:"u16"`
	Rune  [2]int `json:"rune"`
	Byte  [2]int `json:"byte"`
}

type proofCase struct {
	ID       string `json:"id"`
	Language string `json:"lang"`
	Message  string `json:"message"`
	Quote    string `json:"quote"`
	Proves   bool   `json:"proves"`
	Why      string `json:"why"`
}

// Minimums for every class of an alignment file. Besides, every ambiguous quote must be flagged as such,
// and no absent quote found.
const (
	leastFound      = 1.0
	leastBoundaries = 0.995
)

// hold reports whether the file holds quotes.
func hold(file caseFile) bool {
	return len(file.Items) > 0 && (len(file.Classes) > 0 || file.Form == "proof")
}

// alignmentCases reads the items of all the alignment files.
func alignmentCases(tb testing.TB) map[string][]alignmentCase {
	tb.Helper()
	found := map[string][]alignmentCase{}
	for name, file := range sharedtest.CaseFiles(tb, hold) {
		if file.Form != "proof" {
			found[name] = items[alignmentCase](tb, file)
		}
	}
	return found
}

func items[T any](tb testing.TB, file caseFile) []T {
	tb.Helper()
	found := make([]T, len(file.Items))
	for i, raw := range file.Items {
		require.NoError(tb, json.Unmarshal(raw, &found[i]), "item %d", i)
	}
	return found
}

// TestCases judges the case files. Those decided against are listed in testdata by file and id, each with a
// reason.
func TestCases(t *testing.T) {
	sharedtest.RunCases(t, hold, func(t *testing.T, v *sharedtest.Verdicts, file caseFile) {
		if file.Form == "proof" {
			judgeProofs(t, v, items[proofCase](t, file))
			return
		}
		// The classes have targets of their own.
		v.Lenient = true
		classes := judgeAlignment(t, v, items[alignmentCase](t, file))
		for _, class := range slices.Sorted(maps.Keys(classes)) {
			classes[class].check(t, class)
		}
	})
}

func judgeProofs(t *testing.T, v *sharedtest.Verdicts, cases []proofCase) {
	t.Helper()
	for _, c := range cases {
		e := align(c.Message, c.Quote)
		if e.Found {
			require.NoError(t, evidence.Verify(c.Message, e, evidence.Rule), c.ID)
		}
		wrong := ""
		if e.Proven != c.Proves {
			wrong = c.Language + ", " + c.Why + ": should prove is " + map[bool]string{true: "true", false: "false"}[c.Proves] +
				"\n  quote   " + c.Quote + "\n  message " + c.Message
		}
		v.Count("proof", c.ID, wrong)
	}
}

// class counts the outcomes of the items of one class of an alignment file.
type class struct {
	outcome
	present, located, boundaries, falsely, ambiguous, flagged int
}

func (c *class) check(t *testing.T, name string) {
	t.Helper()
	t.Logf("%-12s %4d items: found %d/%d, exact boundaries %d/%d, falsely found %d, ambiguous flagged %d/%d, %s",
		name, c.quotes, c.located, c.present, c.boundaries, c.present, c.falsely, c.flagged, c.ambiguous, &c.outcome)
	if float64(c.located) < leastFound*float64(c.present) || float64(c.boundaries) < leastBoundaries*float64(c.present) ||
		c.falsely > 0 || c.flagged < c.ambiguous {
		t.Errorf("class %q misses its targets", name)
	}
}

func judgeAlignment(t *testing.T, v *sharedtest.Verdicts, cases []alignmentCase) map[string]*class {
	classes := map[string]*class{}
	for _, c := range cases {
		if classes[c.Class] == nil {
			classes[c.Class] = &class{}
		}
		v.Count("alignment", jsonID(c.ID), judge(t, c, classes[c.Class]))
	}
	return classes
}

func jsonID(id int) string { raw, _ := json.Marshal(id); return string(raw) }

// judge aligns one item, counts it, and returns the defect of the result.
func judge(t *testing.T, item alignmentCase, c *class) string {
	t.Helper()
	e := align(item.Message, item.Quote)
	c.add(e)
	if e.Found {
		require.NoError(t, evidence.Verify(item.Message, e, evidence.Rule), "item %d", item.ID)
	}
	if len(item.Truth) == 0 {
		if e.Found {
			c.falsely++
			return item.Class + ": found by method " + string(e.Method) + ": " + e.Text + "\n  quote  " + item.Quote
		}
		return ""
	}
	c.present++
	if item.Ambiguous {
		c.ambiguous++
	}
	if !e.Found {
		return item.Class + ": not found: " + e.Reason + "\n  quote  " + item.Quote +
			"\n  source " + item.Message[item.Truth[0].Byte[0]:item.Truth[0].Byte[1]]
	}
	c.located++
	if item.Ambiguous && e.Reason == schema.ReasonAmbiguous {
		c.flagged++
	}
	if !slices.Contains(item.Truth, truthOf(item.Message, e.Span)) {
		return item.Class + ": other boundaries: " + e.Text + "\n  quote  " + item.Quote
	}
	c.boundaries++
	if item.Ambiguous != (e.Reason == schema.ReasonAmbiguous) {
		return item.Class + ": wrong about ambiguity"
	}
	return ""
}

// truthOf returns a span in all the units of a case, with the UTF-16 ones counted here.
func truthOf(text string, s schema.Span) caseTruth {
	start := len(utf16.Encode([]rune(text[:s.ByteStart])))
	return caseTruth{
		UTF16: [2]int{start, start + len(utf16.Encode([]rune(text[s.ByteStart:s.ByteEnd])))},
		Rune:  [2]int{s.RuneStart, s.RuneEnd},
		Byte:  [2]int{s.ByteStart, s.ByteEnd},
	}
}
