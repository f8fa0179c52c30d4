package tier

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

// tierCase is a case of observed behaviour.
type tierCase struct {
	ID     string          `json:"id"`
	Area   string          `json:"area"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
	// Ours is what to do instead where the observed behaviour is a flaw. If it is a text, it only explains Expect, except
	// in the areas of readsText.
	Ours json.RawMessage `json:"ours"`
}

// judge says what is wrong with the outcome of a case. It returns "" if nothing is.
type judge func(t *testing.T, input, expect json.RawMessage) string

// judges holds the judge of each area of this room. The files of the judges add them.
var judges = map[string]judge{}

// readsText are the areas whose judges are given the text of Ours in place of Expect.
var readsText = map[string]bool{"dream_flow": true}

// judgeArea makes the judge that of the area.
func judgeArea(area string, j judge) struct{} {
	judges[area] = j
	return struct{}{}
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
		var file struct {
			Cases []tierCase `json:"cases"`
		}
		ofThisRoom := func(c tierCase) bool { return judges[c.Area] != nil }
		if json.Unmarshal(raw, &file) != nil || !slices.ContainsFunc(file.Cases, ofThisRoom) {
			continue
		}
		files++
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) { judgeFile(t, name, file.Cases, listed[name]) })
	}
	if files == 0 {
		t.Skip("no case files that hold cases of tiers")
	}
}

func judgeFile(t *testing.T, name string, cases []tierCase, listed map[string]string) {
	type tally struct{ pass, listed, fail int }
	areas := map[string]*tally{}
	for _, c := range cases {
		if judges[c.Area] == nil {
			continue
		}
		if areas[c.Area] == nil {
			areas[c.Area] = &tally{}
		}
		area := areas[c.Area]
		problem := judgeOne(t, c)
		switch reason := listed[c.ID]; {
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
		t.Logf("cases %s %s: %d pass, %d listed, %d fail", name, area, n.pass, n.listed, n.fail)
	}
}

// judgeOne judges by what is to be done instead, where a case says so.
func judgeOne(t *testing.T, c tierCase) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			problem = fmt.Sprint("cannot play it: ", r)
		}
	}()
	expect := c.Expect
	if len(c.Ours) > 0 && (c.Ours[0] == '{' || readsText[c.Area]) {
		expect = c.Ours
	}
	return judges[c.Area](t, c.Input, expect)
}

// decode reads JSON into a value and says when it has not the form, or holds a key that the value has no field for:
// what cannot be read must not pass.
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
