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
		require.NoError(t, printFacts(&out, []fact.Fact{{ID: "f", EntryID: "123456789", Entry: tt.standing}}))
		require.Contains(t, out.String(), "12345678"+tt.mark)
	}
}

// What there is to say of an empty context depends on why it is empty.
func TestEmptyContext(t *testing.T) {
	t.Parallel()
	gone := fact.Fact{Status: fact.Active, Entry: &fact.Standing{EndedBy: "ann"}}
	for want, facts := range map[string][]fact.Fact{
		"nothing is remembered of user u\n":                                    nil,
		"none of 2 facts of user u is believed any longer; facts lists them\n": {gone, gone},
		"none of 1 fact of user u fits in 3 tokens; raise --max-tokens\n":      {gone, {Status: fact.Active}},
	} {
		var out strings.Builder
		(&app{errOut: &out}).emptyContext(&owner{user: "u"}, facts, 3)
		require.Equal(t, want, out.String())
	}
}
