package recall

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/retrieve"
	"axiommind/schema"
	"axiommind/starter/command"
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
		_, err := PrintHits(&b, &SearchOptions{}, retrieve.Result{Hits: []retrieve.Hit{h}})
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
		_, err := PrintHits(&b, &SearchOptions{explain: true}, retrieve.Result{Hits: []retrieve.Hit{h}})
		require.NoError(t, err)
		require.Contains(t, b.String(), want)
		require.NotContains(t, b.String(), "said in")
	}
}

func TestSearchAsOf(t *testing.T) {
	t.Parallel()
	o := &SearchOptions{asOf: "2026-03-01", page: command.Page{Limit: 1, Most: 10}, alphaGivenFlag: &pflag.Flag{}}
	require.NoError(t, o.finish("x"))
	require.Equal(t, time.Date(2026, 3, 1, 23, 59, 59, 999999000, time.UTC), o.query.AsOf)
	require.Contains(t, o.nothing(), ", as of 2026-03-01")
	o.from = "2026-03-02"
	require.ErrorContains(t, o.finish("x"), "--from 2026-03-02: want a time that is not after --as-of 2026-03-01")
	o.asOf = "tomorrow"
	require.ErrorContains(t, o.finish("x"), "--as-of \"tomorrow\": want a day like")
}
