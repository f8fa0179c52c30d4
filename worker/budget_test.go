package main_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// The budget of a session of 10 messages on a warm worker. It shows a step that asks the servers once more for each
// session. BenchmarkJourney shows where the time goes.
const (
	// budgetRequests is for the cheapest of some sessions: the first ones of a worker learn its tables.
	budgetRequests = 18
	budgetEvents   = 31
)

// Work that sessions share waits until the test has ended, and so does the query for the embedder in use. The number of
// requests then does not depend on the load of the machine.
func TestJourneyBudget(t *testing.T) {
	t.Parallel()
	timing := schema.Timing{Graduation: time.Hour, Messages: time.Hour, Files: time.Hour, Offsets: time.Hour, Lease: time.Hour, Embedder: time.Hour}
	requireBudget(t, countJourneys(t, 4, timing))
}

func requireBudget(t *testing.T, s shape) {
	t.Helper()
	t.Logf("a session: %.1f requests to ClickHouse, %.1f to Weaviate, %.1f history events, %.0f B of history", s.clickHouse, s.weaviate, s.events, s.bytes)
	require.Positive(t, s.clickHouse)
	require.LessOrEqual(t, s.clickHouse, float64(budgetRequests), "requests to ClickHouse of a session")
	require.Positive(t, s.events)
	require.LessOrEqual(t, s.events, float64(budgetEvents), "history events of a session")
}
