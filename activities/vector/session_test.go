package vector

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// A session waits for the vectors of all its entries, though a rebuild has emptied the tables that tell of them.
func TestSessionDuringRebuild(t *testing.T) {
	t.Parallel()
	for name, emptied := range map[string]func(*bench) eventlog.Projector{
		"entries": func(b *bench) eventlog.Projector { return b.entries },
		"outbox":  func(b *bench) eventlog.Projector { return b.projector },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.add(t, "p", "one", "two", "three")
			session := schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: "s-p"}
			a := &Activities{writer: b.writer, entries: entry.NewReader(b.conn), projector: b.entries}
			require.Equal(t, Result{Indexed: 2, Remaining: 1}, b.index(t, 2))
			require.NoError(t, b.log.RenewNow(t.Context(), emptied(b)))

			ids, err := a.ids(t.Context(), session)
			require.NoError(t, err)
			require.Len(t, ids, 3)
			_, err = b.log.Project(t.Context(), b.projector, schema.VectorStream(b.writer.Collection()))
			require.NoError(t, err)
			pending, result, err := a.session(t.Context(), session, ids)
			require.NoError(t, err)
			require.Equal(t, 1, pending)
			require.Equal(t, SessionResult{Indexed: 2}, result)
		})
	}
}
