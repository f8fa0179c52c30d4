package recall_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/show"
)

// An inexact quote of a model is found, shown in its sentences, and confirmed by the source. A quote that is not in the
// source is stored as not found.
func TestUnprovenIsShown(t *testing.T) {
	t.Parallel()
	quotes := map[string]string{
		"Ship on holidays.":       "ship on the day before a holiday",
		"Ship late.":              "Never ship on the day after a holiday.",
		"Review before shipping.": "nobody has ever said this",
		"Tuesdays it is.":         "We ship on Tuesdays.",
	}
	var entries []map[string]any
	for title, quote := range quotes {
		entries = append(entries, map[string]any{
			"entryId": "e", "type": "decision", "title": title, "evidence": []map[string]any{{"messageIndex": 0, "quote": quote}},
		})
	}
	content, err := json.Marshal(map[string]any{"entries": entries})
	require.NoError(t, err)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{
			map[string]any{"message": map[string]any{"content": string(content)}, "finish_reason": "stop"},
		}})
	}))
	defer model.Close()
	c := commandtest.NewCLI(t)
	c.Work(t, "--model-provider", "openai", "--model-url", model.URL, "--model", "m")
	message := "We ship on Tuesdays. Never ship on the day before a holiday."
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", message)), "--session", "releases")
	require.Zero(t, o.Code, o)
	require.Regexp(t, `(?m)^SESSION +STATUS +MESSAGES +NEW +ENTRIES +NEW +ALIGNED +PROVEN +VECTORS +FILE\nreleases +success +1 +1 +4 +4 +2 +1 +4 +s.jsonl$`, o.Out)

	const place = "session releases, message 0, bytes "
	for title, want := range map[string]struct {
		mark, line, shown string
		holds, aligned    bool
		differences       int
	}{
		"Ship on holidays.": {"aligned, not proven", "“Never ⟦ship on the day before a holiday⟧.” — " + place + "27–59, exact, aligned, not proven: the quote is a piece of a sentence",
			"\nevidence  aligned, not proven\n", true, true, 0},
		"Ship late.": {"not aligned", "“⟦Never ship on the day before a holiday.⟧” — " + place + "21–60, approximate, found at 86 %, not aligned: “after” for “before”",
			"  quoted as “Never ship on the day after a holiday.”\n  │ ⟦Never ship on the day before a holiday.⟧\n", true, false, 1},
		"Review before shipping.": {"not aligned", "“nobody has ever said this” — not found", "\nevidence 1 of 1: not found\n  │ “nobody has ever said this”\n", false, false, 0},
		"Tuesdays it is.": {"proven", "“We ship on Tuesdays.” — " + place + "0–20, exact, proven",
			"checked against the source\n  │ ⟦We ship on Tuesdays.⟧ Never ship on the day before a holiday.\n", true, true, 0},
	} {
		found := c.Run("search", title, "--project", c.Project, "--limit", "1")
		require.Contains(t, found.Out, "1. "+title+"\n   decision · ", title)
		require.Contains(t, found.Out, " · "+want.mark+" · score ", title)
		require.Contains(t, found.Out, "\n   "+want.line+"\n", title)
		id := commandtest.Decode[struct {
			Hits []struct {
				ID string `json:"entry_id"`
			} `json:"hits"`
		}](t, c.Run("search", title, "--project", c.Project, "--limit", "1", "-o", "json")).Hits[0].ID
		require.Contains(t, c.Run("entry", "show", id[:8], "--project", c.Project).Out, want.shown, title)
		entry := commandtest.Decode[struct {
			schema.Entry
			Proofs []show.Proof `json:"proofs"`
		}](t, c.Run("entry", "show", id, "--project", c.Project, "-o", "json"))
		require.Len(t, entry.Proofs, 1)
		p := entry.Proofs[0]
		require.Equal(t, quotes[title], p.Quote)
		require.Equal(t, want.holds, p.Holds, p.Problem)
		require.Equal(t, want.aligned, entry.EvidenceAligned)
		require.Equal(t, want.mark == "proven", entry.EvidenceProven)
		require.Len(t, p.Differences, want.differences)
		require.Equal(t, want.holds && want.mark != "proven", p.Within != nil)
	}
	verified := c.Run("verify", "--project", c.Project)
	require.Zero(t, verified.Code, verified)
}
