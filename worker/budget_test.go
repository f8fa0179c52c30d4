package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a session of 10 messages may cost on a worker that has processed others before, the index of its messages included:
// some five requests to ClickHouse for those that were said in three seconds. A step that asks the servers once
// more for each session is seen here; BenchmarkJourney tells what the time goes to.
const (
	budgetRequests = 37
	budgetEvents   = 60
)

// The budget is that of an average session, with all that the worker asks in the background meanwhile. The slower a session
// is, the more that is: so no other test runs beside it, and a machine that other packages keep busy gets three tries. A
// request too many is in each of them.
func TestJourneyBudget(t *testing.T) {
	s := countJourneys(t, 20)
	for try := 1; try < 3 && s.clickHouse > budgetRequests; try++ {
		t.Logf("%.1f requests to ClickHouse: once more", s.clickHouse)
		s = countJourneys(t, 20)
	}
	t.Logf("a session: %.1f requests to ClickHouse, %.1f to Weaviate, %.1f history events, %.0f B of history", s.clickHouse, s.weaviate, s.events, s.bytes)
	require.Positive(t, s.clickHouse)
	require.LessOrEqual(t, s.clickHouse, float64(budgetRequests), "requests to ClickHouse of a session")
	require.Positive(t, s.events)
	require.LessOrEqual(t, s.events, float64(budgetEvents), "history events of a session")
}
