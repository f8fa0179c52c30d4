package fact

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// A statement of a tool, the harness or an earlier memory is no fact, and one of the assistant alone is never the user's.
func TestTrust(t *testing.T) {
	t.Parallel()
	user, assistant, tool := schema.TrustUser, schema.TrustAssistant, schema.TrustTool
	for name, tc := range map[string]struct {
		category, section string
		evidence          []schema.Trust
		skipped           string
		saidBy            schema.Trust
	}{
		"user":                    {"preference", "", []schema.Trust{user}, "", user},
		"user twice":              {"preference", "", []schema.Trust{user, user}, "", user},
		"a Yes to the assistant":  {"preference", "", []schema.Trust{assistant, user}, schema.SkippedNotUser, ""},
		"a Yes first":             {"preference", "", []schema.Trust{user, assistant}, schema.SkippedNotUser, ""},
		"a Yes on the world":      {"knowledge", "", []schema.Trust{user, assistant}, "", assistant},
		"assistant on the user":   {" Preference", "", []schema.Trust{assistant}, schema.SkippedNotUser, ""},
		"assistant sums up":       {"", schema.SectionWork, []schema.Trust{assistant}, schema.SkippedNotUser, ""},
		"assistant on the world":  {"knowledge", "", []schema.Trust{assistant}, "", assistant},
		"tool":                    {"knowledge", "", []schema.Trust{tool}, schema.SkippedUntrusted, ""},
		"tool beside the user":    {"knowledge", "", []schema.Trust{user, tool}, schema.SkippedUntrusted, ""},
		"memory":                  {"knowledge", "", []schema.Trust{schema.TrustMemory}, schema.SkippedUntrusted, ""},
		"agent":                   {"knowledge", "", []schema.Trust{schema.TrustAgent}, schema.SkippedUntrusted, ""},
		"system sums up":          {"", schema.SectionWork, []schema.Trust{schema.TrustSystem}, schema.SkippedUntrusted, ""},
		"judged by an older rule": {"preference", "", []schema.Trust{""}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := schema.Entry{
				ID: "e", Type: schema.EntryFact, Title: "Likes green tea", Category: tc.category, Section: tc.section, EvidenceAligned: true, Confidence: ptr(0.9),
				OccurredAt: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
			}
			for _, trust := range tc.evidence {
				e.Evidence = append(e.Evidence, schema.Evidence{Quote: "I like green tea.", Found: true, Aligned: true, Trust: trust})
			}
			options, err := Options{}.withDefaults()
			require.NoError(t, err)
			planned, err := planAll(Memory{}, []Batch{{Entries: []schema.Entry{e}}}, options)
			require.NoError(t, err)
			require.Len(t, planned[0], 1)
			payload, err := schema.DecodePayload(planned[0][0])
			require.NoError(t, err)
			switch p := payload.(type) {
			case schema.FactSkippedPayload:
				require.Equal(t, tc.skipped, p.Skipped)
				require.NotEmpty(t, p.Detail)
			case schema.FactCreatedPayload:
				require.Empty(t, tc.skipped)
				require.Equal(t, tc.saidBy, p.SaidBy)
			default:
				t.Fatalf("planned %T", payload)
			}
		})
	}
	line := Statement{Content: "it rains", Category: "knowledge", Confidence: 0.5, SaidBy: assistant}.line()
	require.Equal(t, "- [knowledge | 0.50] it rains (said by the assistant)", line)
}
