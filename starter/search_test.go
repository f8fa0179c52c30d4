package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/retrieve"
	"axiommind/schema"
)

// What is not listed of a hit's sessions is counted.
func TestPrintCountsMoreSessions(t *testing.T) {
	t.Parallel()
	h := retrieve.Hit{Entry: schema.Entry{Title: "Use tabs."}}
	for i := range 5 {
		h.Sessions = append(h.Sessions, retrieve.Saying{SessionID: fmt.Sprint("s", i)})
	}
	for more, want := range map[int]string{0: "", 1: "   and 1 more session\n", 1995: "   and 1995 more sessions\n"} {
		var b strings.Builder
		h.MoreSessions = more
		require.NoError(t, printHits(&b, &searchOptions{}, retrieve.Result{Hits: []retrieve.Hit{h}}))
		require.Equal(t, 4, strings.Count(b.String(), "also in session"))
		require.Equal(t, want != "", strings.Contains(b.String(), " more session"))
		require.True(t, strings.HasSuffix(b.String(), want), b.String())
	}
}
