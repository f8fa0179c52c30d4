package erase

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/erase/erasetest"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// BenchmarkPlan plans the erasure of one session of 244 events, of a user, and of a text, in logs of sessions of one
// user and project.
func BenchmarkPlan(b *testing.B) {
	for _, sessions := range []int{4, 410} {
		conn := stacktest.Migrated(b)
		log := projection.New(conn, eventlog.Options{})
		events := erasetest.Fill(b, log.Store, sessions)
		for name, scope := range map[string]schema.ErasureScope{
			"session": {Project: "p", User: "u", SessionID: "session-3"}, "user": {User: "u"}, "query": {User: "u", Query: "topic 3 of"},
		} {
			b.Run(fmt.Sprintf("events=%d/%s", events, name), func(b *testing.B) {
				for b.Loop() {
					plan, err := Make(b.Context(), log.Store, conn, "bench", scope, nil)
					require.NoError(b, err)
					require.False(b, plan.Empty())
				}
			})
		}
	}
}
