package sharedtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// ListedFile is the file next to a test that lists the cases decided against: by file and id, with the reason.
const ListedFile = "testdata/listed.json"

// Verdicts counts the cases of one file by area and outcome.
type Verdicts struct {
	// Lenient logs a case that fails and does not fail the test: the caller judges the areas by their numbers.
	Lenient bool

	t      testing.TB
	file   string
	listed map[string]string
	areas  map[string]*tally
}

type tally struct{ pass, listed, fail int }

// Count counts a case. problem describes the defect in its outcome, and is empty if there is none.
func (v *Verdicts) Count(area, id, problem string) {
	v.t.Helper()
	if v.areas[area] == nil {
		v.areas[area] = &tally{}
	}
	n := v.areas[area]
	switch reason := v.listed[id]; {
	case problem == "":
		n.pass++
	case reason != "":
		n.listed++
		v.t.Logf("listed %s: %s", id, reason)
	default:
		n.fail++
		if v.Lenient {
			v.t.Logf("%s: %s", id, problem)
			return
		}
		v.t.Errorf("%s: %s", id, problem)
	}
}

// close prints the closing line of each area.
func (v *Verdicts) close() {
	for _, area := range slices.Sorted(maps.Keys(v.areas)) {
		n := v.areas[area]
		v.t.Logf("cases %s %s: %d pass, %d listed, %d fail", v.file, area, n.pass, n.listed, n.fail)
	}
}

// RunCases runs judge in a test of its own for each case file of the form File that has cases of the package. It
// skips the test if there is none.
func RunCases[File any](t *testing.T, holds func(File) bool, judge func(t *testing.T, v *Verdicts, file File)) {
	t.Helper()
	RunCasesIn(t, Cases.Path(t), holds, judge)
}

// RunCasesIn is [RunCases] on the case files of a directory.
func RunCasesIn[File any](t *testing.T, dir string, holds func(File) bool, judge func(t *testing.T, v *Verdicts, file File)) {
	t.Helper()
	var listed map[string]map[string]string
	raw, err := os.ReadFile(ListedFile)
	if err == nil {
		err = json.Unmarshal(raw, &listed)
	}
	if err != nil {
		t.Fatalf("read the listed cases: %v", err)
	}
	for name, file := range readCaseFiles(t, dir, holds) {
		t.Run(name, func(t *testing.T) {
			v := &Verdicts{t: t, file: name, listed: listed[name], areas: map[string]*tally{}}
			judge(t, v, file)
			v.close()
		})
	}
}

// CaseFiles returns, by name, the case files of the form File that have cases of the package. It skips the test if
// there is none.
func CaseFiles[File any](tb testing.TB, holds func(File) bool) map[string]File {
	tb.Helper()
	return readCaseFiles(tb, Cases.Path(tb), holds)
}

func readCaseFiles[File any](tb testing.TB, dir string, holds func(File) bool) map[string]File {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		tb.Fatalf("list case files: %v", err)
	}
	files := map[string]File{}
	for _, path := range paths {
		raw, err := os.ReadFile(path) //nolint:gosec // a name that Glob found
		if err != nil {
			tb.Fatalf("read case file: %v", err)
		}
		var file File
		if json.Unmarshal(raw, &file) == nil && holds(file) {
			files[filepath.Base(path)] = file
		}
	}
	if len(files) == 0 {
		tb.Skipf("no case file in %s holds cases of this package", dir)
	}
	return files
}

// Play returns the defect that judge reports for the outcome of a case, or that it can't be played.
func Play(judge func() string) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			problem = fmt.Sprint("cannot play it: ", r)
		}
	}()
	return judge()
}

// Decode reads JSON into a value. It returns a problem if the JSON does not have the form of the value, or contains a
// key that the value has no field for: unread input must not pass.
func Decode(raw json.RawMessage, into any) string {
	if len(raw) == 0 {
		return "nothing is given"
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Sprintf("cannot read %s: %v", raw, err)
	}
	var keys, known map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		return fmt.Sprintf("cannot read %s: want an object", raw)
	}
	encoded, err := json.Marshal(into)
	if err != nil || json.Unmarshal(encoded, &known) != nil {
		return fmt.Sprintf("cannot read %s: %v", raw, err)
	}
	for key := range keys {
		if _, ok := known[key]; !ok {
			return fmt.Sprintf("unknown key %q", key)
		}
	}
	return ""
}
