package recall

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/starter/client"
	"axiommind/starter/command"
)

// The notice about an empty context gives the reason why it is empty.
func TestEmptyContext(t *testing.T) {
	t.Parallel()
	for want, known := range map[string]client.ContextResult{
		"nothing is remembered of user u\n":                                     {},
		"none of 2 facts of user u is believed any longer; facts lists them\n":  {Remembered: 2},
		"none of 1 fact of user u fits in 3 tokens; raise --max-tokens\n":       {Remembered: 2, Believed: 1},
		"not even the profile of user u fits in 3 tokens; raise --max-tokens\n": {Remembered: 2, Believed: 1, Sections: 1},
	} {
		var out strings.Builder
		emptyContext((&command.App{ErrOut: &out}), &contextOptions{Owner: command.Owner{User: "u"}, budget: 3}, known)
		require.Equal(t, want, out.String())
	}
}
