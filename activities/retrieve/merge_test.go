package retrieve

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// One text is one hit, however many sessions say it: the newest are listed with their evidence and the
// others counted, also those that the vector store did not return, and the limit counts texts.
func TestSameTextIsOneHit(t *testing.T) {
	t.Parallel()
	b := newHashBench(t)
	const copies = 80
	var entries []schema.Entry
	for i := range copies {
		e := schema.Entry{Title: "Always use tabs.", SessionID: fmt.Sprintf("s%02d", i), OccurredAt: start.AddDate(0, 0, -i)}
		switch {
		case i == 3:
			e.Stage = schema.StageCertified
		case i == 4:
			e.Title = "ALWAYS  use\ttabs" // another spelling of the same
		case i == 5:
			e.Type = schema.EntryDecision
		case i%7 == 0:
			e.Type = schema.EntryTaskNote // its canonical key holds its place
		}
		entries = append(entries, e)
		if i == 1 { // One session is listed once.
			e.Type = schema.EntryInsight
			entries = append(entries, e)
		}
	}
	entries = append(entries,
		schema.Entry{Title: "Always use tabs.", SessionID: "bob's", Scope: schema.Scope{User: "bob"}},
		schema.Entry{Title: "Always use tabs.", SessionID: "other", Scope: schema.Scope{Project: "blue"}},
		schema.Entry{Title: "Always use tabs.", SessionID: "more", Content: "But in YAML files."},
		schema.Entry{Title: "Tabs are always wide.", SessionID: "wide"},
		schema.Entry{Title: "일반 规则 it's \"x\" \\ ? $1 {p:String} \x1b @1.2", SessionID: "세션-1/'\"", Type: schema.EntryTaskNote},
		schema.Entry{Title: "일반 规则 it's \"x\" \\ ? $1 {p:String} \x1b @1.2", SessionID: "세션-2/'\"", Type: schema.EntryTaskNote},
	)
	b.add(t, entries...)

	r := b.search(t, Query{Text: "always use tabs", Limit: 3})
	require.ElementsMatch(t, []string{"Always use tabs.", "Always use tabs.", "Tabs are always wide."}, titles(r.Hits))
	h := r.Hits[0]
	require.Equal(t, "s03", h.SessionID, "the best of them stands for all")
	require.Len(t, h.Sessions, 5)
	require.Equal(t, copies-5, h.MoreSessions)
	seen := map[string]bool{}
	for i, s := range h.Sessions {
		require.False(t, seen[s.SessionID])
		seen[s.SessionID] = true
		require.Len(t, s.Evidence, 1)
		require.Equal(t, 3, s.Evidence[0].MessageIndex)
		require.NotEqual(t, "bob's", s.SessionID)
		require.NotEqual(t, "other", s.SessionID)
		if i > 1 {
			require.False(t, s.OccurredAt.After(h.Sessions[i-1].OccurredAt))
		}
	}
	require.Equal(t, []string{"s00", "s01", "s02", "s04"}, []string{
		h.Sessions[1].SessionID, h.Sessions[2].SessionID, h.Sessions[3].SessionID, h.Sessions[4].SessionID})
	require.Equal(t, h.ID, h.Sessions[0].EntryID)
	require.Equal(t, h.Evidence, h.Sessions[0].Evidence)

	encoded, err := json.Marshal(r)
	require.NoError(t, err)
	var decoded struct {
		Hits []struct {
			Sessions []struct {
				SessionID string            `json:"session_id"`
				EntryID   string            `json:"entry_id"`
				Evidence  []schema.Evidence `json:"evidence"`
			} `json:"sessions"`
			More int `json:"more_sessions"`
		} `json:"hits"`
	}
	require.NoError(t, json.Unmarshal(encoded, &decoded))
	require.Len(t, decoded.Hits[0].Sessions, 5)
	require.Equal(t, copies-5, decoded.Hits[0].More)
	require.Equal(t, "Always use tabs.", decoded.Hits[0].Sessions[1].Evidence[0].Text)

	r = b.search(t, Query{Text: "always use tabs", Limit: 1, SessionID: "s10"})
	require.Len(t, r.Hits, 1)
	require.Zero(t, r.Hits[0].MoreSessions)
	require.Len(t, r.Hits[0].Sessions, 1, "what the query leaves out is not listed")
	require.Len(t, b.search(t, Query{Text: "always use tabs", Limit: 1, From: start.AddDate(0, 0, -2)}).Hits[0].Sessions, 3)
	r = b.search(t, Query{Text: "规则"})
	require.Len(t, r.Hits, 1)
	require.Len(t, r.Hits[0].Sessions, 2)
}

// Punctuation at the end of a title is ignored, but titles of punctuation alone stay different.
func TestMarksAloneStayApart(t *testing.T) {
	t.Parallel()
	var hits []Hit
	for i, title := range []string{"!!!", "???", "!!!", "Yes", "yes!"} {
		hits = append(hits, Hit{Entry: schema.Entry{ID: fmt.Sprint(i), Title: title}})
	}
	var got []string
	for _, c := range DefaultWeights().fold(hits) {
		got = append(got, c.Title)
	}
	require.Equal(t, []string{"!!!", "???", "Yes"}, got)
}
