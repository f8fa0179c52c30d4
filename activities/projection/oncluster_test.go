package projection_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
)

// Projections through Distributed tables are rebuilt and swapped in.
func TestOneShard(t *testing.T) {
	t.Parallel()
	conn := stacktest.OneShardDatabases(t)(t)
	s := projection.New(conn, eventlog.Options{Lease: shortLease, PageRows: 5})
	p := newChain(t, conn)
	for _, stream := range []string{"p/a", "p/b"} {
		_, err := s.Append(t.Context(), stream, said(stream, 7))
		require.NoError(t, err)
	}
	_, err := s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	before := digests(t, s, p)
	sh, made, inUse := filledShadow(t, s, conn, "r1", p)
	done, err := sh.Switch(t.Context(), projection.SwitchOptions{Compare: true}, made, inUse)
	require.NoError(t, err)
	for _, table := range p.Tables() {
		compared, err := sh.Compare(t.Context(), table, done.Generation)
		require.NoError(t, err)
		require.Equal(t, compared.Before, compared.After)
		require.NotZero(t, compared.Rows)
	}
	require.NoError(t, sh.Finish(t.Context(), made))
	require.Equal(t, before, digests(t, s, p))
	_, err = s.Append(t.Context(), "p/a", said("p/a", 9))
	require.NoError(t, err)
	_, err = s.ProjectAll(t.Context(), p)
	require.NoError(t, err)
	require.NotEqual(t, before, digests(t, s, p))
}
