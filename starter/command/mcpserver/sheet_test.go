package mcpserver

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"axiommind/activities/fact"
	"axiommind/activities/retrieve"
	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/recall"
	"axiommind/worker/service"
)

func TokensOf(t *testing.T, said string) int {
	t.Helper()
	counter, err := fact.CL100K()
	require.NoError(t, err)
	return counter.Count(said)
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
	shown, weak := addHits(p, "", hits)
	require.Equal(t, 3, shown)
	require.False(t, weak)
	require.Contains(t, p.b.String(), "The cat is fed at noon. [weak]\n")
	require.Contains(t, p.b.String(), "Feed the cat ["+string(schema.TaskPending)+"] [weak]\n")
	require.Contains(t, p.b.String(), "The dog is fed at one.\n")
	said := retrieve.Hit{Kind: retrieve.KindMessage, Message: &retrieve.MessageHit{Role: schema.RoleUser},
		Entry: schema.Entry{Content: strings.Repeat("All is calm here. ", 50) + "Feed the parrot on Sundays."}}
	addHits(p, "parrot Sundays", []retrieve.Hit{said})
	require.Regexp(t, ` user: ….* Feed the parrot on Sundays\.\n`, p.b.String(), "a message is cut around the words of the query")
	_, weak = addHits(p, "", hits[:2])
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

// No more hits are printed than the tokens allow, and the number of omitted ones is reported.
func TestSearchTokens(t *testing.T) {
	t.Parallel()
	var hits []retrieve.Hit
	for i := range 20 {
		hits = append(hits, retrieve.Hit{Kind: retrieve.KindEntry, Entry: schema.Entry{ID: fmt.Sprintf("%08d", i), Title: strings.Repeat("한국어 ", 20)}})
	}
	for _, budget := range []int{1, 100, 500, 100_000} {
		var b strings.Builder
		left, err := recall.PrintHits(&b, &recall.SearchOptions{MaxTokens: budget}, retrieve.Result{Hits: hits})
		require.NoError(t, err)
		require.LessOrEqual(t, TokensOf(t, b.String()), budget)
		require.Equal(t, len(hits)-left, strings.Count(b.String(), " · entry "))
		require.Equal(t, budget == 100_000, left == 0)
	}
}

// newServer returns a server that is connected to nothing.
func newServer(t *testing.T, o Options) *mcpServer {
	t.Helper()
	s, err := newMCPServer(t.Context(), &command.App{Cfg: service.Config{LogLevel: "error"}}, &o, slog.New(slog.DiscardHandler), hourly())
	require.NoError(t, err)
	return s
}

// A server accepts a limited number of facts per hour and reports the limit.
func TestMCPRememberIsBounded(t *testing.T) {
	t.Parallel()
	s := newServer(t, Options{Scope: schema.Scope{Project: "p", User: "u"}})
	require.Equal(t, mostStatements, s.statements.Burst())
	s.statements = rate.NewLimiter(0, 0)
	_, err := s.remember(t.Context(), call{By: "mcp:x"}, rememberArguments{Fact: "It rains."})
	require.ErrorContains(t, err, "this server takes 100 facts an hour")
	require.True(t, command.IsUsage(err))
}

// However long and strange the titles are, a search stays below a thousand tokens, and each line contains its handle.
func TestMCPSearchBudget(t *testing.T) {
	t.Parallel()
	s := newServer(t, Options{limit: mostToolLimit})
	for _, title := range []string{
		strings.Repeat("ድንቅ ማስታወሻ ", 90), strings.Repeat("메모리", 90), strings.Repeat("हिन्दी में याद ", 90), strings.Repeat("👩\u200d🚀", 300),
		"e" + strings.Repeat("\u0301", 5000), strings.Repeat("<", 500), strings.Repeat("\x1b\u202e", 300), strings.Repeat("word ", 500), "",
	} {
		p, err := s.sheet(searchTokens)
		require.NoError(t, err)
		lines := 0
		for range mostToolLimit {
			if !p.add("%s %s %s", "0a1b2c3d", "2026-03-01", p.short(title, titleTokens)) {
				break
			}
			lines++
		}
		said := p.end("20 hits did not fit: ask more narrowly.")
		require.Less(t, TokensOf(t, said), 1000, "%q", title)
		require.GreaterOrEqual(t, lines, defaultToolLimit, "%q", title)
		require.Equal(t, lines, strings.Count(said, "0a1b2c3d"))
		require.Equal(t, 1, strings.Count(said, "</"))
		require.Equal(t, text.Visible(said), said)
	}
}
