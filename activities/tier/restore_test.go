package tier

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

func (b *tierBench) activities() *Activities {
	return &Activities{log: b.log, conn: b.conn, tables: b.tables, projector: NewProjector(b.conn)}
}

func (b *tierBench) restore(t *testing.T, c RestoreCommand) (RestoreResult, error) {
	t.Helper()
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	a := b.activities()
	env.RegisterActivity(a)
	value, err := env.ExecuteActivity(a.RestoreCore, c)
	var result RestoreResult
	if err == nil {
		require.NoError(t, value.Get(&result))
	}
	return result, err
}

func refusedAs(t *testing.T, err error) string {
	t.Helper()
	var application *temporal.ApplicationError
	require.ErrorAs(t, err, &application)
	require.True(t, application.NonRetryable())
	return application.Type()
}

// A restored version is a new one with the text and the items of the old, sources included, and records the dropped
// items. The same request again does nothing, and neither does restoring the current version.
func TestRestoreCore(t *testing.T) {
	t.Parallel()
	b := newTierBench(t)
	m := benchMemory{"José/я", "代理 \"🤖\""}
	first := benchVersion(1, "one", "two")
	first.Items[0].Sources, first.Items[1].Heading = []string{"e1", "e2"}, "Goals"
	second := benchVersion(2, "two", "세 번째")
	second.Items[1].Sources = []string{"e3"}
	b.add(t, m, first, second)
	c := RestoreCommand{
		User: m.user, Agent: m.agent, RequestID: "r/1", Actor: "ann", At: dusk.Add(7*time.Hour + 999), Reason: "it was \x1b[31mbetter", Version: 1,
	}
	want := RestoreResult{Version: 3, Parent: 2, Items: 2, Added: 1, Dropped: 1}
	for range 2 {
		got, err := b.restore(t, c)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	restored, err := b.tables.Current(t.Context(), m.user, m.agent)
	require.NoError(t, err)
	first.Items[0].Written, first.Items[1].Written = true, true // A person brought them back, one to another heading.
	require.Equal(t, Core{
		Seq: 3, At: dusk.Add(7 * time.Hour), Actor: "ann", EventID: schema.EventID(schema.CoreOfCommandKey(m.user, m.agent, "r/1")),
		CoreCommittedPayload: schema.CoreCommittedPayload{
			Act: schema.Act{RequestID: "r/1", Reason: c.Reason}, Version: 3, Parent: 2, Origin: schema.OriginRestore, Restored: 1,
			Text: first.Text, Items: first.Items, Diff: Diff(second.Text, first.Text, "MEMORY.md, version 2", "MEMORY.md, version 3"),
			Dropped: []schema.DroppedItem{{
				Text: "세 번째", From: schema.FromMemory, Reason: schema.DroppedEdited, Detail: "version 1, which was restored, does not hold it",
				Sources: []string{"e3"},
			}},
		},
	}, restored)
	require.NotEmpty(t, restored.Diff)

	for i, version := range []int{3, 1} {
		same := c
		same.RequestID, same.Version = fmt.Sprint("same ", i), version
		got, err := b.restore(t, same)
		require.NoError(t, err)
		require.Equal(t, RestoreResult{Version: 3, Parent: 2, Items: 2, Unchanged: true}, got)
	}
	// After later changes of the memory, the earlier request still has its result.
	b.add(t, m, benchVersion(4, "four"))
	got, err := b.restore(t, c)
	require.NoError(t, err)
	require.Equal(t, want, got)
	last, err := b.tables.Current(t.Context(), m.user, m.agent)
	require.NoError(t, err)
	require.Equal(t, 4, last.Version)

	// The same text under other sources is not the same.
	other := benchVersion(5, "four")
	other.Items[0].Sources = []string{"e9"}
	b.add(t, m, other)
	c.RequestID, c.Version = "r2", 4
	got, err = b.restore(t, c)
	require.NoError(t, err)
	require.Equal(t, RestoreResult{Version: 6, Parent: 5, Items: 1}, got)

	rows := b.rows(t)
	_, err = stacktest.Rebuild(t.Context(), b.conn, NewProjector(b.conn))
	require.NoError(t, err)
	require.Equal(t, rows, b.rows(t))
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	b := newTierBench(t)
	b.add(t, benchMemory{"ann", ""}, benchVersion(1, "one"), benchVersion(2, "two"))
	good := RestoreCommand{User: "ann", RequestID: "r", Actor: "ann", At: dusk, Version: 1}
	for says, change := range map[string]func(*RestoreCommand){
		"invalid request_id: is missing":         func(c *RestoreCommand) { c.RequestID = "" },
		"invalid actor: is missing":              func(c *RestoreCommand) { c.Actor = "" },
		"invalid at: is missing":                 func(c *RestoreCommand) { c.At = time.Time{} },
		"invalid version: is 0, want 1 or more":  func(c *RestoreCommand) { c.Version = 0 },
		"invalid version: is -1, want 1 or more": func(c *RestoreCommand) { c.Version = -1 },
		`version 7 of the memory of user "ann"`:  func(c *RestoreCommand) { c.Version = 7 },
		"core memory: there are versions 1 to 2": func(c *RestoreCommand) { c.Version = 3 },
		"core memory: there is none yet":         func(c *RestoreCommand) { c.Agent = "other" },
	} {
		c := good
		change(&c)
		_, err := b.restore(t, c)
		require.ErrorContains(t, err, says)
		want := schema.ErrorVersionNotFound
		if c.Validate() != nil {
			want = schema.ErrorInvalidInput
		}
		require.Equal(t, want, refusedAs(t, err))
	}
	for _, err := range b.log.Stream(t.Context(), schema.MemoryStream("ann", "other"), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		t.Fatal("a refused command appends nothing")
	}
}
