package task

import (
	"cmp"
	"context"
	"fmt"
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
	sharedtest.RunCases(t, func(file pairFile) bool { return file.Form == "pairs" },
		func(t *testing.T, v *sharedtest.Verdicts, file pairFile) {
			for _, item := range file.Items {
				if item.Area != identityArea {
					continue
				}
				problem := judgePair(t, item)
				if problem != "" {
					problem = fmt.Sprintf("%q, %q: %s", item.A, item.B, problem)
				}
				v.Count(identityArea, item.ID, problem)
			}
		})
}

func judgePair(t *testing.T, item pair) string {
	if item.Label != "same" && item.Label != "different" {
		return fmt.Sprintf("unknown label %q", item.Label)
	}
	same := item.Label == "same"
	return cmp.Or(judgeOrder(t, item.A, item.B, same), judgeOrder(t, item.B, item.A, same))
}

// certainVectors find every title equal in meaning to every task.
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

// judgeOrder gives the resolver the first title, then the second in each of its roles: in a task's report of done, as
// the blocker of another task, and as a condition that waits for its task. Vectors find any two titles alike.
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
