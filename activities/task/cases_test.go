package task

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// pairFile is the form of the files of pairs of titles.
type pairFile struct {
	Form  string `json:"form"`
	Items []pair `json:"items"`
}

type pair struct {
	ID    string `json:"id"`
	Area  string `json:"area"`
	A     string `json:"a"`
	B     string `json:"b"`
	Label string `json:"label"`
}

const identityArea = "task_identity"

func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(sharedtest.Cases.Path(t), "*.json"))
	require.NoError(t, err)
	raw, err := os.ReadFile("testdata/listed.json")
	require.NoError(t, err)
	var listed map[string]map[string]string
	require.NoError(t, json.Unmarshal(raw, &listed))
	files := 0
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var file pairFile
		if json.Unmarshal(raw, &file) != nil || file.Form != "pairs" {
			continue
		}
		files++
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) { judgePairs(t, name, file, listed[name]) })
	}
	if files == 0 {
		t.Skip("no case files of the form of pairs")
	}
}

func judgePairs(t *testing.T, name string, file pairFile, listed map[string]string) {
	pass, passedOver, fail := 0, 0, 0
	for _, item := range file.Items {
		if item.Area != identityArea {
			continue
		}
		problem, reason := judgePair(t, item), listed[item.ID]
		switch {
		case problem == "":
			pass++
		case reason != "":
			passedOver++
			t.Logf("listed %s: %s", item.ID, reason)
		default:
			fail++
			t.Errorf("%s %q, %q: %s", item.ID, item.A, item.B, problem)
		}
	}
	t.Logf("cases %s %s: %d pass, %d listed, %d fail", name, identityArea, pass, passedOver, fail)
}

func judgePair(t *testing.T, item pair) string {
	if item.Label != "same" && item.Label != "different" {
		return fmt.Sprintf("unknown label %q", item.Label)
	}
	same := item.Label == "same"
	return cmp.Or(judgeOrder(t, item.A, item.B, same), judgeOrder(t, item.B, item.A, same))
}

// certainVectors say of every title that it means the same as every task.
type certainVectors struct{ memory *memory }

func (v certainVectors) SimilarTitles(context.Context, string, string, int) ([]TitleHit, error) {
	var hits []TitleHit
	for id, e := range v.memory.entities {
		if e.Type == schema.EntityTask {
			hits = append(hits, TitleHit{id, 1})
		}
	}
	return hits, nil
}

// judgeOrder lets the resolver meet the first title, then the second in each part a title can have:
// as a task's report of done, as what another task waits for, and as a condition that waits for its
// task. Vectors find any two titles alike.
func judgeOrder(t *testing.T, first, second string, same bool) string {
	p := newTestProject(t)
	p.rules.Vectors = certainVectors{p.memory}
	p.say(p.report(first, schema.TaskInProgress))
	p.say(p.report("zz other work", schema.TaskBlocked, second))
	p.say(p.report(second, schema.TaskDone))
	switch one, two := p.task(first), p.task(second); {
	case !one.Exists() || !two.Exists():
		return "a title leads nowhere"
	case same != (one.ID == two.ID):
		return fmt.Sprintf("one task: %t", one.ID == two.ID)
	case same != (one.TaskStatus == schema.TaskDone):
		return fmt.Sprintf("the report of the second leaves the first %s", one.TaskStatus)
	}

	p = newTestProject(t)
	p.rules.Vectors = certainVectors{p.memory}
	p.say(p.report(first, schema.TaskInProgress))
	p.say(p.report("zz other work", schema.TaskBlocked, second))
	if waits := p.task("zz other work").blockedBy(p.task(first).ID); waits != same {
		return fmt.Sprintf("what waits for the second waits for the first: %t", waits)
	}

	p = newTestProject(t)
	p.rules.Vectors = certainVectors{p.memory}
	p.say(p.report("zz other work", schema.TaskBlocked, first))
	p.say(p.report(second, schema.TaskInProgress))
	waits, err := newOverlay(p.name, p.memory, nil).reaches(context.Background(), p.task("zz other work").ID, p.task(second).ID)
	require.NoError(t, err)
	if waits != same {
		return fmt.Sprintf("what waited for the first now waits for the second: %t", waits)
	}
	return ""
}
