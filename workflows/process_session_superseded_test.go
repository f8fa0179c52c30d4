package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// The step that makes entries gets the build's extractor, and superseded entries are counted.
func TestProcessSessionSupersedes(t *testing.T) {
	t.Parallel()
	r := newRooms()
	r.materialized.Superseded, r.materialized.Restored = 3, 2
	result, err := process(t, r, sessionInput())
	require.NoError(t, err)
	require.Equal(t, 3, result.Counts.SupersededEntries)
	require.Equal(t, 2, result.Counts.RestoredEntries)
	builder := inputsOf[entry.MaterializeInput](r, "MaterializeEntries")[0].Builder
	require.NotEqual(t, schema.Extractor{}, builder.Extractor)
	require.Equal(t, inputsOf[llm.PlanInput](r, "PlanWindows")[0].Extractor, builder.Extractor)
	require.False(t, builder.At.IsZero())
}
