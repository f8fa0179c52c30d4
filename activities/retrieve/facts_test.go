package retrieve

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
)

// The facts that answer a query go first, in any language; confidence decides between equally good answers.
func TestRankFacts(t *testing.T) {
	t.Parallel()
	facts := []fact.Fact{
		{ID: "tabs", Content: "Prefers tabs over spaces", Confidence: 1},
		{ID: "db", Content: "Keeps the events of the shop in ClickHouse", Confidence: 0.6, EntryID: "e-db"},
		{ID: "old", Content: "Kept the events of the shop in Postgres", Confidence: 0.9},
		{ID: "cat", Content: "고양이를 키운다", Confidence: 0.5},
		{ID: "work", Content: "用户喜欢在早上工作", Confidence: 0.7},
		{ID: "tea", Content: "Trinkt lieber Tee als Kaffee", Confidence: 0.8},
	}
	for query, want := range map[string][]string{
		"where are the events?":     {"old", "db", "tabs", "tea", "work", "cat"},
		"ClickHouse events":         {"db", "old", "tabs", "tea", "work", "cat"},
		"고양이":                       {"cat", "tabs", "old", "tea", "work", "db"},
		"早上工作":                      {"work", "tabs", "old", "tea", "db", "cat"},
		"Kaffee oder Tee?":          {"tea", "tabs", "old", "work", "db", "cat"},
		"nothing of this, anywhere": {"tabs", "old", "tea", "work", "db", "cat"},
		"?":                         {"tabs", "old", "tea", "work", "db", "cat"},
	} {
		var got []string
		for _, f := range RankFactsByWords(query, facts) {
			got = append(got, f.ID)
		}
		require.Equal(t, want, got, query)
	}
	ranked := rankFacts("column store", facts, map[string]float64{"e-db": 0.8})
	require.Equal(t, "db", ranked[0].ID, "the search knows what it means")
}
