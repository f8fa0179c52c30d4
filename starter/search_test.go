package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// Sessions of a hit that are not listed are counted.
func TestPrintCountsMoreSessions(t *testing.T) {
	t.Parallel()
	h := retrieve.Hit{Entry: schema.Entry{Title: "Use tabs."}}
	for i := range 5 {
		h.Sessions = append(h.Sessions, retrieve.Statement{SessionID: fmt.Sprint("s", i)})
	}
	for more, want := range map[int]string{0: "", 1: "   and 1 more session\n", 1995: "   and 1995 more sessions\n"} {
		var b strings.Builder
		h.MoreSessions = more
		_, err := printHits(&b, &searchOptions{}, retrieve.Result{Hits: []retrieve.Hit{h}})
		require.NoError(t, err)
		require.Equal(t, 4, strings.Count(b.String(), "also in session"))
		require.Contains(t, b.String(), fmt.Sprintf(" · said in %d sessions\n", more+5))
		require.Equal(t, want != "", strings.Contains(b.String(), " more session"))
		require.True(t, strings.HasSuffix(b.String(), want), b.String())
	}
}

// A hit shows until when it was believed, its successor, and the entries that contest it.
func TestPrintTellsBelief(t *testing.T) {
	t.Parallel()
	ended := time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	limit := 0.5
	for want, h := range map[string]retrieve.Hit{
		"   believed until 2026-03-04, superseded by entry 12345678 “The queue is NATS.”: we moved\n": {
			SupersededBy: "123456789", SupersededByTitle: "The queue\nis NATS.", EndedAt: ended, EndedBecause: "we moved", EndedBy: "ann",
		},
		"   believed until 2026-03-04, superseded by entry 12345678\n": {SupersededBy: "123456789", EndedAt: ended, EndedBy: "ann"},
		" · score 0.000, weak · ":                                      {Weak: true},
		"   believed until 2026-03-04, retired: it was a joke\n":       {EndedAt: ended, EndedBecause: "it was a joke", EndedBy: "ann"},
		"   believed until 2026-03-04, a newer extractor does not state it\n": {
			Entry: schema.Entry{Status: schema.StatusSuperseded}, EndedAt: ended,
		},
		"   contested by entry 12345678 “It is Redis.”\n   contested by entry abc\n": {
			ContestedBy: []retrieve.Mention{{EntryID: "123456789", Title: "It is Redis."}, {EntryID: "abc"}},
		},
		" × sessions 0.97; similarity 0.000, 0.0 deviations above chance; at most the score of its successor\n": {
			Explain: retrieve.Explain{Corroboration: 0.97, Limit: &limit},
		},
	} {
		var b strings.Builder
		_, err := printHits(&b, &searchOptions{explain: true}, retrieve.Result{Hits: []retrieve.Hit{h}})
		require.NoError(t, err)
		require.Contains(t, b.String(), want)
		require.NotContains(t, b.String(), "said in")
	}
}

// The tool search marks weak hits for an agent.
func TestAgentsReadWeakHits(t *testing.T) {
	t.Parallel()
	counter, err := fact.CL100K()
	require.NoError(t, err)
	hits := []retrieve.Hit{
		{Kind: retrieve.KindEntry, Entry: schema.Entry{ID: "12345678", Title: "The cat is fed at noon."}, Weak: true},
		{Kind: retrieve.KindTask, Entry: schema.Entry{Title: "Feed the cat"}, Tracked: &retrieve.TaskHit{ID: "t1", Status: schema.TaskPending}, Weak: true},
		{Kind: retrieve.KindEntry, Entry: schema.Entry{ID: "12345679", Title: "The dog is fed at one."}},
	}
	p := &sheet{counter: counter, left: 1000}
	shown, weak := addHits(p, hits)
	require.Equal(t, 3, shown)
	require.False(t, weak)
	require.Contains(t, p.b.String(), "The cat is fed at noon. [weak]\n")
	require.Contains(t, p.b.String(), "Feed the cat ["+string(schema.TaskPending)+"] [weak]\n")
	require.Contains(t, p.b.String(), "The dog is fed at one.\n")
	_, weak = addHits(p, hits[:2])
	require.True(t, weak)
}

// The preview of an erasure for an agent includes weak hits, because they are remembered, too.
func TestForgetPreviewsWeakHits(t *testing.T) {
	t.Parallel()
	counter, err := fact.CL100K()
	require.NoError(t, err)
	p := &sheet{counter: counter, left: 1000}
	preview(p, 5, []retrieve.Hit{
		{Kind: retrieve.KindEntry, Entry: schema.Entry{ID: "12345678", SessionID: "s", Title: "The cat is fed at noon."}, Weak: true},
		{Kind: retrieve.KindEntry, Entry: schema.Entry{ID: "12345679", SessionID: "s", Title: "The dog is fed at one."}},
	}, nil, nil)
	require.Contains(t, p.b.String(), "2 memories\n  12345678 [weak] The cat is fed at noon.\n  12345679 The dog is fed at one.\n1 session\n")
}

func TestSearchAsOf(t *testing.T) {
	t.Parallel()
	o := &searchOptions{asOf: "2026-03-01", page: page{limit: 1, most: 10}, alphaGivenFlag: &pflag.Flag{}}
	require.NoError(t, o.finish("x"))
	require.Equal(t, time.Date(2026, 3, 1, 23, 59, 59, 999999000, time.UTC), o.query.AsOf)
	require.Contains(t, o.nothing(), ", as of 2026-03-01")
	o.from = "2026-03-02"
	require.ErrorContains(t, o.finish("x"), "--from 2026-03-02: want a time that is not after --as-of 2026-03-01")
	o.asOf = "tomorrow"
	require.ErrorContains(t, o.finish("x"), "--as-of \"tomorrow\": want a day like")
}

// No more hits are printed than the tokens allow, and the number of omitted ones is reported.
func TestSearchTokens(t *testing.T) {
	t.Parallel()
	var hits []retrieve.Hit
	for i := range 20 {
		hits = append(hits, retrieve.Hit{Kind: retrieve.KindEntry, Entry: schema.Entry{ID: fmt.Sprintf("%08d", i), Title: strings.Repeat("한국어 ", 20)}})
	}
	for _, budget := range []int{1, 100, 500, 100_000} {
		var b strings.Builder
		left, err := printHits(&b, &searchOptions{maxTokens: budget}, retrieve.Result{Hits: hits})
		require.NoError(t, err)
		require.LessOrEqual(t, tokensOf(t, b.String()), budget)
		require.Equal(t, len(hits)-left, strings.Count(b.String(), " · entry "))
		require.Equal(t, budget == 100_000, left == 0)
	}
}

func TestEmptyText(t *testing.T) {
	t.Parallel()
	of := func(names ...string) (scopes []schema.Scope) {
		for _, name := range names {
			scopes = append(scopes, schema.Scope{Project: name})
		}
		return scopes
	}
	require.Empty(t, emptyText("default", nil))
	require.Empty(t, emptyText("default", of("default", "shop")))
	require.Equal(t, "nothing found: project default is empty; there are: demo, shop (--project, or AXIOMMIND_PROJECT)",
		emptyText("default", of("shop", "demo", "demo")))
}
