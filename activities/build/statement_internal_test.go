package build

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A session holds a statement or a conversation, from its first build on, and who builds it later changes nothing of that.
func TestSessionHoldsStatementOrConversation(t *testing.T) {
	t.Parallel()
	said, other := &schema.Statement{Type: schema.EntryFact}, &schema.Statement{Type: schema.EntryFact, Corrects: "e"}
	again := *said
	started := func(s *schema.Statement) Last {
		return Last{Started: schema.BuildStartedPayload{Ordinal: 2, Statement: s}}
	}
	for name, tt := range map[string]struct {
		last   Last
		in     OpenInput
		want   *schema.Statement
		reason string
	}{
		"first":                       {Last{}, OpenInput{Statement: said}, said, ""},
		"first conversation":          {Last{}, OpenInput{}, nil, ""},
		"again":                       {started(said), OpenInput{Statement: &again}, said, ""},
		"conversation again":          {started(nil), OpenInput{}, nil, ""},
		"retry":                       {started(said), OpenInput{Retry: "b"}, said, ""},
		"from the log":                {started(said), OpenInput{FromLog: true}, said, ""},
		"conversation from the log":   {started(nil), OpenInput{FromLog: true}, nil, ""},
		"another one":                 {started(said), OpenInput{Statement: other}, nil, "holds another statement"},
		"statement in a conversation": {started(nil), OpenInput{Statement: said}, nil, "holds a conversation"},
		"conversation in a statement": {started(said), OpenInput{}, nil, "holds a person's statement"},
	} {
		got, err := tt.last.statement(tt.in)
		require.Equal(t, tt.want, got, name)
		if tt.reason == "" {
			require.NoError(t, err, name)
		} else {
			require.ErrorContains(t, err, tt.reason, name)
		}
	}
}
