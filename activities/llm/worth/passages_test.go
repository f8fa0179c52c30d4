package worth

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestPassages(t *testing.T) {
	t.Parallel()
	window := conversation(
		"u: The import is slow. We must not use a bigger pool, because the database is shared with billing.",
		"a: Let me look at the file.",
		"a: I see.\nLet me read `archive.go`.\nOK.\n## Root cause\n\nThe pool is exhausted: `openFile` takes a connection for each file and never gives it back.\n\nLet me fix that.\nRunning.\nDone?\nHm.",
	)
	acts := schema.Message{Index: 3, Role: schema.RoleAssistant, Kind: schema.KindTodo, Text: "- [ ] Write it"}
	got := Passages(append(window, acts), true)
	require.Len(t, got, 3, "narration is left out")
	require.Equal(t, window[0], got[0])
	require.Equal(t, 2, got[1].Index)
	require.Contains(t, got[1].Text, "## Root cause\n\nThe pool is exhausted")
	require.NotContains(t, got[1].Text, "I see.")
	require.True(t, strings.HasPrefix(got[1].Text, gap+"\n"))
	require.True(t, strings.HasSuffix(got[1].Text, gap))
	require.Equal(t, acts, got[2])

	logged := Passages(conversation("u: Look at this log:\nERROR a/b.go gives up\nx\nx", "a: OK."), true)
	require.True(t, strings.HasPrefix(logged[0].Text, "Look at this log:\n"), logged[0].Text)
	for _, own := range []string{"| env | port |\n|---|---|\n| prod | 8443 |", "ok", "\tx := 1\nWe use this."} {
		require.Equal(t, own, Passages(conversation("u: "+own), true)[0].Text, "all that the user says")
	}
}

// The rest of a message are lines of it, in their order.
func TestPassagesAreLines(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{"The pool is exhausted: `a/b.go` never gives it back.", "Let me look.", "- Fixed the race in `x`.", "```", "OK. Fine.", "", "  ", "# Head", "表は共有です。", "\t> quoted"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "break"))
		role := rapid.SampledFrom([]schema.Role{schema.RoleUser, schema.RoleAssistant}).Draw(t, "role")
		for _, m := range Passages([]schema.Message{{Role: role, Kind: schema.KindText, Text: text}}, true) {
			rest := text
			for line := range strings.Lines(m.Text) {
				if line = strings.TrimSpace(line); line == gap {
					continue
				}
				_, after, found := strings.Cut(rest, line)
				require.True(t, found, "%q in %q", line, rest)
				rest = after
			}
		}
	})
}

// Nearly all that readers found worth remembering is in the passages, which are a part of the text.
func TestPassagesHoldGold(t *testing.T) {
	var bytes, kept, items, held, musts, heldMusts int
	for _, s := range gold(t) {
		texts := map[int]string{}
		for _, m := range s.window {
			bytes += len(m.Text)
		}
		for _, m := range Passages(s.window, true) {
			texts[m.Index] = m.Text
			kept += len(m.Text)
		}
		for _, it := range s.Items {
			items++
			in := false
			for _, span := range it.Spans {
				in = in || strings.Contains(texts[span[0]], s.window[span[0]].Text[span[1]:span[2]])
			}
			if in {
				held++
			}
			if it.Importance == 3 {
				musts++
				if in {
					heldMusts++
				}
			}
		}
	}
	t.Logf("%.1f %% of the text holds %.1f %% of the items and %.1f %% of the musts", percent(kept, bytes), percent(held, items), percent(heldMusts, musts))
	require.Less(t, percent(kept, bytes), 70.0)
	require.Greater(t, percent(held, items), 85.0)
	require.Greater(t, percent(heldMusts, musts), 92.0)
}
