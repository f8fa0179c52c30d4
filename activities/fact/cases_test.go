package fact

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
)

// caseFile is the form of the files of observed behaviour.
type caseFile struct {
	Cases []memoryCase `json:"cases"`
}

type memoryCase struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
	// Ours is what to do instead where the observed behaviour is a flaw.
	Ours json.RawMessage `json:"ours"`
}

// judges returns, by area, a function that says what is wrong with the outcome. It returns "" if nothing is.
func judges() map[string]func(input, expect json.RawMessage) string {
	return map[string]func(input, expect json.RawMessage) string{
		"format_for_injection": judgeFormat,
		"token_count":          judgeTokens,
		"dedup":                judgeDedup,
		"apply_updates":        judgeUpdate,
		"crud":                 judgeCommand,
		"eviction_hybrid":      judgeEviction,
	}
}

func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(sharedtest.Cases.Path(t), "*.json"))
	require.NoError(t, err)
	var listed map[string]map[string]string
	raw, err := os.ReadFile("testdata/listed.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &listed))
	files := 0
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var file caseFile
		if json.Unmarshal(raw, &file) != nil || !slices.ContainsFunc(file.Cases, ours) {
			continue
		}
		files++
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) { judgeFile(t, name, file, listed[name]) })
	}
	if files == 0 {
		t.Skip("no case files that hold cases of facts")
	}
}

func ours(c memoryCase) bool { return judges()[c.Area] != nil }

func judgeFile(t *testing.T, name string, file caseFile, listed map[string]string) {
	type tally struct{ pass, listed, fail, elsewhere int }
	areas := map[string]*tally{}
	for _, c := range file.Cases {
		if areas[c.Area] == nil {
			areas[c.Area] = &tally{}
		}
		area := areas[c.Area]
		if !ours(c) {
			area.elsewhere++
			continue
		}
		problem := judge(c, c.Expect)
		if problem != "" && len(c.Ours) > 0 && judge(c, c.Ours) == "" {
			problem = ""
		}
		reason := listed[c.ID]
		switch {
		case problem == "":
			area.pass++
		case reason != "":
			area.listed++
			t.Logf("listed %s: %s", c.ID, reason)
		default:
			area.fail++
			t.Errorf("%s: %s", c.ID, problem)
		}
	}
	for _, area := range slices.Sorted(maps.Keys(areas)) {
		n := areas[area]
		if n.elsewhere > 0 {
			t.Logf("cases %s %s: %d of another room", name, area, n.elsewhere)
			continue
		}
		t.Logf("cases %s %s: %d pass, %d listed, %d fail", name, area, n.pass, n.listed, n.fail)
	}
}

// judge says what is wrong with the outcome of the case. It returns "" if nothing is.
func judge(c memoryCase, expect json.RawMessage) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			problem = fmt.Sprint("cannot play it: ", r)
		}
	}()
	return judges()[c.Area](c.Input, expect)
}

// decode reads JSON into a value and says when it has not the form, or holds a key that the value
// has no field for: what cannot be read must not pass.
func decode(raw json.RawMessage, into any) string {
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
			return fmt.Sprintf("do not know what %q means", key)
		}
	}
	return ""
}
