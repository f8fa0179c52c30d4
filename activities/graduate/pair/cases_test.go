package pair_test

import (
	"fmt"
	"testing"

	"axiommind/activities/graduate/pair"
	"axiommind/deploy/local/sharedtest"
)

// pairFile is the form of the files of pairs of titles.
type pairFile struct {
	Form  string     `json:"form"`
	Items []pairCase `json:"items"`
}

type pairCase struct {
	ID    string `json:"id"`
	Area  string `json:"area"`
	A     string `json:"a"`
	B     string `json:"b"`
	Label string `json:"label"`
}

const conflictArea = "conflict"

func TestCases(t *testing.T) {
	t.Parallel()
	sharedtest.RunCases(t, func(file pairFile) bool { return file.Form == "pairs" },
		func(t *testing.T, v *sharedtest.Verdicts, file pairFile) {
			restated, restatements := 0, 0
			for _, item := range file.Items {
				if item.Area != conflictArea {
					continue
				}
				found := pair.Compare(item.A, item.B)
				if item.Label == string(pair.Restatement) {
					restatements++
					if found.Kind == pair.Restatement {
						restated++
					}
				}
				v.Count(conflictArea, item.ID, judge(item, found))
			}
			t.Logf("%d of %d restatements found", restated, restatements)
		})
}

// judge returns the difference between the found relation and the label, or "". A missed restatement is accepted.
func judge(item pairCase, found pair.Relation) string {
	switch want := pair.Kind(item.Label); {
	case want != pair.Conflict && want != pair.Restatement && item.Label != "unrelated":
		return fmt.Sprintf("unknown label %q", item.Label)
	case (want == pair.Conflict) != (found.Kind == pair.Conflict), item.Label == "unrelated" && found.Kind != pair.Unrelated:
		return fmt.Sprintf("%q, %q: %q (%s), want %q", item.A, item.B, found.Kind, found.Reason, want)
	}
	return ""
}
