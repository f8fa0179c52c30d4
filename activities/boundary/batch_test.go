package boundary_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// One update of a batch fails for good alone, with its own error; an error that may go away is that of the batch.
func TestOf(t *testing.T) {
	t.Parallel()
	done, err := boundary.Of(t.Context(), 7, nil)
	require.NoError(t, err)
	require.Equal(t, boundary.Outcome[int]{Result: 7}, done)
	require.NoError(t, done.Failed.Err())

	refused := boundary.Invalid(schema.ErrorInvalidInput, errors.New("no such project"))
	failed, err := boundary.Of(t.Context(), 7, refused)
	require.NoError(t, err)
	require.Equal(t, boundary.Outcome[int]{Failed: &boundary.Failed{Type: schema.ErrorInvalidInput, Message: "no such project"}}, failed)
	require.ErrorContains(t, failed.Failed.Err(), "no such project")

	// The outcomes of many sessions are one payload.
	failed, err = boundary.Of(t.Context(), 7, boundary.Invalid(schema.ErrorInvalidInput, errors.New(strings.Repeat("검색", 5000))))
	require.NoError(t, err)
	require.Less(t, len(failed.Failed.Message), 1100)
	require.True(t, utf8.ValidString(failed.Failed.Message))

	away := errors.New("the server is away")
	_, err = boundary.Of(t.Context(), 7, away)
	require.ErrorIs(t, err, away)
}
