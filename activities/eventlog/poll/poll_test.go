package poll

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestUntil(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks []int64 // milliseconds
		began := time.Now()
		require.NoError(t, Until(t.Context(), 160*time.Millisecond, func() (bool, error) {
			looks = append(looks, time.Since(began).Milliseconds())
			return len(looks) == 8, nil
		}))
		require.Equal(t, []int64{0, 10, 30, 70, 150, 310, 470, 630}, looks)

		broken := errors.New("broken")
		require.ErrorIs(t, Until(t.Context(), time.Second, func() (bool, error) { return true, broken }), broken)

		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, Until(ctx, time.Minute, func() (bool, error) { return false, nil }), context.DeadlineExceeded)
		require.Equal(t, time.Hour, time.Since(began)-630*time.Millisecond)
	})
}
