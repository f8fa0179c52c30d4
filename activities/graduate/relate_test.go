package graduate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/graduate/pair"
	"axiommind/schema"
)

// Two entries with the same title need not say the same: their contents count, too.
func TestRelateReadsContents(t *testing.T) {
	t.Parallel()
	say := func(title, content string) schema.Entry { return schema.Entry{Title: title, Content: content} }
	refer := func(title string) schema.Entry { return schema.Entry{Type: schema.EntryReference, Title: title} }
	const title = "The retry policy of the mailer"
	for name, tt := range map[string]struct {
		a, b   schema.Entry
		kind   pair.Kind
		strict bool
	}{
		"titles alone":         {say(title, ""), say(title+".", ""), pair.Restatement, true},
		"contents are titles":  {say(title, title), say(title, ""), pair.Restatement, true},
		"the same contents":    {say(title, "Five tries, then a letter."), say(title, "five tries, then a letter"), pair.Restatement, true},
		"one says more":        {say(title, "Five tries, then a letter."), say(title, ""), pair.Restatement, false},
		"each says its own":    {say(title, "Five tries, then a letter."), say(title, "It gives up at once."), pair.Unrelated, false},
		"titles contradict":    {say("The limit is 5.", "The limit is 5."), say("The limit is 8.", ""), pair.Conflict, false},
		"references differ":    {refer("issue #183"), refer("issue #266"), pair.Unrelated, false},
		"references agree":     {refer("issue #183"), refer("Issue #183"), pair.Restatement, true},
		"titles say different": {say("The limit is 5.", ""), say("The pool is ready.", ""), pair.Unrelated, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range []pair.Relation{relate(pair.Parse, tt.a, tt.b), relate(pair.Parse, tt.b, tt.a)} {
				require.Equal(t, tt.kind, r.Kind)
				require.Equal(t, tt.strict, r.Strict)
			}
		})
	}
}
