package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/schema"
)

// A list marks the facts that are no longer believed or that are contested, and no others.
func TestFactsTellTheirStanding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		standing *fact.Standing
		mark     string
	}{
		{&fact.Standing{Status: schema.StatusSuperseded, EndedBy: "ann", SupersededBy: "abcdefghi"}, ", superseded by abcdefgh"},
		{&fact.Standing{Status: schema.StatusDeprecated, EndedBy: "ann", EndedBecause: "it\nmoved"}, ", retired: it moved"},
		{&fact.Standing{Status: schema.StatusContested}, ", contested"},
		{&fact.Standing{Status: schema.StatusSuperseded}, ""}, // by a newer extractor
		{nil, ""},
	} {
		require.Equal(t, tt.mark, factText(tt.standing))
		var out strings.Builder
		require.NoError(t, printFacts(&out, []fact.Fact{{ID: "f", EntryID: "123456789", Entry: tt.standing}}, 7))
		require.Contains(t, out.String(), "12345678"+tt.mark)
		require.True(t, strings.HasSuffix(out.String(), "\nthe memory has version 7\n"), out.String())
	}
}
