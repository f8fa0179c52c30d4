package session

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	readMessages(t, fewDraws)
}

// Messages are those of the session, whatever events hold them. Those that are not in it are left out.
func readMessages(t *testing.T, draws int) {
	t.Helper()
	log, _ := newLog(t)
	wanted := rapid.SliceOfN(rapid.IntRange(-1, 20), 0, 9)
	for seed := range draws {
		cut := rapid.Custom(func(t *rapid.T) *cut { return draw(t, log, fmt.Sprint("messages ", seed)) }).Example(seed)
		s, err := Open(t.Context(), log.Store, cut.SessionKey)
		require.NoError(t, err)
		indexes := wanted.Example(seed)
		want := map[int]schema.Message{}
		for _, i := range indexes {
			if i >= 0 && i < len(cut.messages) {
				want[i] = cut.messages[i]
			}
		}
		given := slices.Clone(indexes)
		got, err := s.Messages(t.Context(), indexes)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, given, indexes, "the argument stays as it is")
	}
}
