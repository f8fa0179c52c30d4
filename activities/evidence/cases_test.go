package evidence

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// caseFile is the form of an alignment file: quotes of one message each with the spans that a
// reader finds them at, none when the message does not say it.
type caseFile struct {
	Classes []string   `json:"classes"`
	Items   []caseItem `json:"items"`
}

type caseItem struct {
	ID        int         `json:"i"`
	Class     string      `json:"cls"`
	Message   string      `json:"message"`
	Quote     string      `json:"quote"`
	Ambiguous bool        `json:"ambiguous"`
	Truth     []caseTruth `json:"truth"`

	// variant says how a generated item came about.
	variant string
}

type caseTruth struct {
	UTF16 [2]int `json:"u16"`
	Rune  [2]int `json:"rune"`
	Byte  [2]int `json:"byte"`
}

// What every class of a case file has to reach, besides every ambiguous item flagged as such.
const (
	leastAligned      = 1.0
	leastBorders      = 0.995
	mostFalsePositive = 0
)

// tally counts what became of the items of one class.
type tally struct {
	items, pass, listed                                            int
	findable, aligned, borders, falsePositives, ambiguous, flagged int
	// proved counts the aligned ones that prove their quote: nothing about them is in doubt.
	proved int
}

// tallies are the tallies of a file, by class.
type tallies map[string]*tally

func (ts tallies) of(class string) *tally {
	if ts[class] == nil {
		ts[class] = &tally{}
	}
	return ts[class]
}

func (ts tallies) add(more tallies) {
	for class, m := range more {
		c := ts.of(class)
		c.items, c.pass, c.listed = c.items+m.items, c.pass+m.pass, c.listed+m.listed
		c.findable, c.aligned, c.borders = c.findable+m.findable, c.aligned+m.aligned, c.borders+m.borders
		c.falsePositives += m.falsePositives
		c.proved += m.proved
		c.ambiguous, c.flagged = c.ambiguous+m.ambiguous, c.flagged+m.flagged
	}
}

// log prints a line for each class.
func (ts tallies) log(t *testing.T) {
	t.Helper()
	for _, class := range slices.Sorted(maps.Keys(ts)) {
		c := ts[class]
		t.Logf("%-12s %4d items: aligned %d/%d, exact borders %d/%d, false positives %d, ambiguous flagged %d/%d, proved %d",
			class, c.items, c.aligned, c.findable, c.borders, c.findable, c.falsePositives, c.flagged, c.ambiguous, c.proved)
	}
}

// check holds every class to its targets.
func (ts tallies) check(t *testing.T, name string) {
	t.Helper()
	for _, class := range slices.Sorted(maps.Keys(ts)) {
		c := ts[class]
		findable := float64(c.findable)
		if float64(c.aligned+c.listed) < leastAligned*findable || float64(c.borders) < leastBorders*findable ||
			c.falsePositives > mostFalsePositive || c.flagged < c.ambiguous {
			t.Errorf("%s: class %q misses its targets", name, class)
		}
	}
}

// sum says how many items there are of each outcome.
func (ts tallies) sum() string {
	var all tally
	for _, c := range ts {
		all.items, all.pass, all.listed = all.items+c.items, all.pass+c.pass, all.listed+c.listed
	}
	return fmt.Sprintf("%d pass, %d listed, %d fail", all.pass, all.listed, all.items-all.pass-all.listed)
}

// sharedDir finds a directory named by an environment variable, or by a path looked for upwards
// from the package; the test is skipped where there is none.
func sharedDir(tb testing.TB, variable, path string) string {
	tb.Helper()
	if dir := os.Getenv(variable); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	require.NoError(tb, err)
	for {
		found := filepath.Join(dir, path)
		if info, err := os.Stat(found); err == nil && info.IsDir() {
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Skipf("no case files: set %s, or put them at %s above the package", variable, path)
		}
		dir = parent
	}
}

// alignmentFiles reads every file of the directory that has the alignment form.
func alignmentFiles(tb testing.TB) map[string]caseFile {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(sharedDir(tb, "AXIOMMIND_CASES", "../shared/cases"), "*.json"))
	require.NoError(tb, err)
	files := make(map[string]caseFile)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(tb, err)
		var file caseFile
		if json.Unmarshal(raw, &file) == nil && len(file.Classes) > 0 && len(file.Items) > 0 {
			files[filepath.Base(path)] = file
		}
	}
	if len(files) == 0 {
		tb.Skip("no case files of the alignment form")
	}
	return files
}

// listedCases reads the ids of the cases decided against, by file, each with its reason.
func listedCases(t *testing.T) map[string]map[int]string {
	t.Helper()
	raw, err := os.ReadFile("testdata/listed.json")
	require.NoError(t, err)
	var listed map[string]map[int]string
	require.NoError(t, json.Unmarshal(raw, &listed))
	return listed
}

func TestCases(t *testing.T) {
	listed := listedCases(t)
	for name, file := range alignmentFiles(t) {
		t.Run(name, func(t *testing.T) {
			ts := judgeFile(t, name, file, listed[name])
			ts.log(t)
			ts.check(t, name)
			t.Logf("cases %s alignment: %s", name, ts.sum())
		})
	}
}

// judgeFile judges the items of a file and logs those with a problem.
func judgeFile(t *testing.T, name string, file caseFile, listed map[int]string) tallies {
	t.Helper()
	ts := make(tallies)
	for _, item := range file.Items {
		c := ts.of(item.Class)
		problem := judge(t, item, c)
		_, isListed := listed[item.ID]
		switch {
		case problem == "":
			c.pass++
		case isListed:
			c.listed++
		default:
			class := item.Class
			if item.variant != "" {
				class += ", " + item.variant
			}
			t.Logf("%s %d (%s): %s", name, item.ID, class, problem)
		}
	}
	return ts
}

// judge aligns one item, counts it, and says what is wrong with the result.
func judge(t *testing.T, item caseItem, c *tally) string {
	t.Helper()
	a := NewAligner([]schema.Message{{Text: item.Message}}, nil)
	e := a.Align(schema.Quote{Quote: item.Quote})
	c.items++
	if e.Aligned {
		require.NoError(t, Verify(item.Message, e), "item %d", item.ID)
	}
	if len(item.Truth) == 0 {
		if e.Aligned {
			c.falsePositives++
			return "false positive by method " + string(e.Method) + ": " + e.Text + "\n  quote  " + item.Quote
		}
		return ""
	}
	c.findable++
	if item.Ambiguous {
		c.ambiguous++
	}
	if !e.Aligned {
		return "not aligned: " + e.Reason + "\n  quote  " + item.Quote +
			"\n  source " + item.Message[item.Truth[0].Byte[0]:item.Truth[0].Byte[1]]
	}
	c.aligned++
	if e.Proves() {
		c.proved++
	}
	if item.Ambiguous && e.Reason == schema.ReasonAmbiguous {
		c.flagged++
	}
	for _, truth := range item.Truth {
		if borders(item.Message, e.Span) == truth {
			c.borders++
			if item.Ambiguous != (e.Reason == schema.ReasonAmbiguous) {
				return "wrong about ambiguity"
			}
			return ""
		}
	}
	return "other borders: " + e.Text + "\n  quote  " + item.Quote
}

// borders gives a span in all the units of a case, the UTF-16 ones counted here.
func borders(text string, s schema.Span) caseTruth {
	start := len(utf16.Encode([]rune(text[:s.ByteStart])))
	return caseTruth{
		UTF16: [2]int{start, start + len(utf16.Encode([]rune(text[s.ByteStart:s.ByteEnd])))},
		Rune:  [2]int{s.RuneStart, s.RuneEnd},
		Byte:  [2]int{s.ByteStart, s.ByteEnd},
	}
}
