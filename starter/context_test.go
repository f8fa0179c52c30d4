package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
)

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
		(&app{errOut: &out}).emptyContext(&contextOptions{owner: owner{user: "u"}, budget: 3}, nil, facts)
		require.Equal(t, want, out.String())
	}
}
