package evidence

import (
	"encoding/json"
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
}

type caseTruth struct {
	UTF16 [2]int `json:"u16"`
	Rune  [2]int `json:"rune"`
	Byte  [2]int `json:"byte"`
}

// tally counts what became of the items of one class.
type tally struct{ items, findable, aligned, borders, falsePositives, ambiguous, flagged, listed int }

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
		t.Run(name, func(t *testing.T) { judgeFile(t, name, file, listed[name]) })
	}
}

func judgeFile(t *testing.T, name string, file caseFile, listed map[int]string) {
	tallies := make(map[string]*tally)
	var pass, passedOver, fail int
	for _, item := range file.Items {
		c := tallies[item.Class]
		if c == nil {
			c = &tally{}
			tallies[item.Class] = c
		}
		problem := judge(t, item, c)
		_, isListed := listed[item.ID]
		switch {
		case problem == "":
			pass++
		case isListed:
			passedOver++
			c.listed++
		default:
			fail++
			t.Logf("%s %d (%s): %s", name, item.ID, item.Class, problem)
		}
	}
	classes := make([]string, 0, len(tallies))
	for class := range tallies {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	for _, class := range classes {
		c := tallies[class]
		t.Logf("%-12s %4d items: aligned %d/%d, exact borders %d/%d, false positives %d, ambiguous flagged %d/%d",
			class, c.items, c.aligned, c.findable, c.borders, c.findable, c.falsePositives, c.flagged, c.ambiguous)
		if c.aligned+c.listed < c.findable || float64(c.borders) < 0.995*float64(c.findable) ||
			c.falsePositives > 0 || c.flagged < c.ambiguous {
			t.Errorf("class %q misses its targets", class)
		}
	}
	t.Logf("cases %s alignment: %d pass, %d listed, %d fail", name, pass, passedOver, fail)
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
			return "false positive by method " + string(e.Method) + ": " + e.Text
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
