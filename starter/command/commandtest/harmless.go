package commandtest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text"
)

// Spoken is like [Said], for any text.
func Spoken(t *testing.T, n int, role, text string) string {
	t.Helper()
	content, err := json.Marshal(text)
	require.NoError(t, err)
	return fmt.Sprintf(`{"type":%q,"uuid":"h%d","sessionId":"","timestamp":"2026-03-01T09:00:%02dZ","message":{"role":%q,"content":%s}}`+"\n",
		role, n, n, role, content)
}

// RequireHarmless fails if a terminal would interpret a part of the text, or show less than all of it.
func RequireHarmless(t *testing.T, o Output) {
	t.Helper()
	require.Equal(t, text.Visible(o.Out), o.Out)
	require.Equal(t, text.Visible(o.Err), o.Err)
	for _, r := range o.Out + o.Err {
		require.False(t, r != '\n' && text.Hidden(r) && r != '\u200d' && r != '\ufe0f', "%U in %q", r, o.Out+o.Err)
	}
}

// Texts that harm a terminal or a reader, if they are printed as they are.
const (
	Red   = "\x1b[31mred\x1b[0m"
	Link  = "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\"
	Turn  = "\u202egnp.exe\u202c"
	Ghost = "un\u200bseen\U000e0068"
)
