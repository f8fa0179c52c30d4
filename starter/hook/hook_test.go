package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/transcript/grant"
	"axiommind/schema"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
)

// machine is a user's home. Servers are unreachable unless a test sets their addresses.
type machine struct {
	home        string
	env         map[string]string
	out, errOut bytes.Buffer
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	return &machine{home: t.TempDir(), env: map[string]string{"AXIOMMIND_TEMPORAL_ADDRESS": deadAddress(t)}}
}

// deadAddress returns an address without a listener.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// blackHole accepts connections and never answers.
func blackHole(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
		}
	}()
	return l.Addr().String()
}

func (m *machine) path(parts ...string) string {
	return filepath.Join(append([]string{m.home}, parts...)...)
}

func (m *machine) run(t *testing.T, event string, args ...string) int {
	t.Helper()
	m.out.Reset()
	m.errOut.Reset()
	p := m.program(strings.NewReader(event))
	return p.Main(t.Context(), "axhook", args)
}

func (m *machine) program(in io.Reader) *Program {
	return &Program{
		In: in, Out: &m.out, ErrOut: &m.errOut, Getenv: func(name string) string { return m.env[name] },
		State: statedir.Dir(m.path("state")), Local: m.path("cache", "local.yaml"),
	}
}

func (m *machine) log() string {
	text, _ := os.ReadFile(m.path("state", "hook.log"))
	return string(text)
}

// spooled returns the spooled contexts, the latest first.
func (m *machine) spooled(t *testing.T) (out []schema.QueuedContext) {
	t.Helper()
	files, err := filepath.Glob(m.path("state", "outbox", "*.json"))
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		var q schema.QueuedContext
		require.NoError(t, json.Unmarshal(text, &q))
		out = append([]schema.QueuedContext{q}, out...)
	}
	return out
}

func (m *machine) transcript(t *testing.T, parts ...string) string {
	t.Helper()
	path := m.path(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o600))
	return path
}

func event(t *testing.T, fields map[string]any) string {
	t.Helper()
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(text)
}

func TestEnqueueSpools(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		event, trigger string
		flush          schema.FlushReason
		now            bool
	}{
		{event: Stop}, {event: SessionEnd, now: true},
		{PreCompact, "auto", schema.FlushOverflow, true}, {PreCompact, "manual", schema.FlushTrim, true},
	} {
		m := newMachine(t)
		path := m.transcript(t, "it's \"a\" \n %2F 日本語 #?", "s.jsonl")
		code := m.run(t, event(t, map[string]any{
			"hook_event_name": tt.event, "session_id": "s-1/'名", "transcript_path": path, "trigger": tt.trigger, "reason": "exit", "new": map[string]any{},
		}), ClaudeCode, "--project", "Läden", "--user", "ann", "--agent", "coder")
		require.Zero(t, code)
		require.Empty(t, m.out.String())
		require.Empty(t, m.errOut.String())
		waiting := m.spooled(t)
		require.Len(t, waiting, 1)
		q := waiting[0]
		require.NoError(t, q.Validate())
		require.Equal(t, schema.SessionKey{Scope: schema.Scope{Project: "Läden", User: "ann", Agent: "coder"}, SessionID: "s-1/'名"}, q.Key())
		require.Equal(t, tt.flush, q.Flush)
		require.Equal(t, tt.now, q.Now)
		key, err := grant.ReadKey(m.path("state", "source.key"))
		require.NoError(t, err)
		real, err := filepath.EvalSymlinks(path)
		require.NoError(t, err)
		require.True(t, grant.Admits(key, real, schema.ProcessSessionInput{URI: q.URI, Project: q.Project, User: q.User, Agent: q.Agent, Grant: q.Grant}, time.Now()))
		require.Contains(t, m.log(), "delivered by the next hook or by a worker")
	}
}

// The agent waits no longer than the timeout, whatever the server does.
func TestEnqueueReturnsInTime(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]func(*testing.T) string{"nobody listens": deadAddress, "never answers": blackHole} {
		m := newMachine(t)
		m.env["AXIOMMIND_TEMPORAL_ADDRESS"] = address(t)
		path := m.transcript(t, "s.jsonl")
		start := time.Now()
		require.Zero(t, m.run(t, event(t, map[string]any{"hook_event_name": Stop, "session_id": "s", "transcript_path": path}), ClaudeCode))
		require.Less(t, time.Since(start), time.Second, name) // The machine may be busy. BenchmarkHook measures the time.
		require.Len(t, m.spooled(t), 1, name)
	}
}

// Invalid events change nothing and do not disturb the agent.
func TestHostileEvents(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	path := m.transcript(t, "s.jsonl")
	for _, text := range []string{
		"", "{", "null", "[]", `"Stop"`, "\x00", "{}", `{"hook_event_name":"Stop"}`, `{"hook_event_name":5}`,
		`{"hook_event_name":"Stop","session_id":"s"}`, `{"hook_event_name":"Stop","session_id":"s","transcript_path":null}`,
		`{"hook_event_name":"Stop","session_id":"s","transcript_path":"relative.jsonl"}`,
		`{"hook_event_name":"Stop","session_id":"s","transcript_path":"/a\u0000b"}`,
		event(t, map[string]any{"hook_event_name": Stop, "session_id": "a\nb", "transcript_path": path}),
		event(t, map[string]any{"hook_event_name": Stop, "session_id": strings.Repeat("x", 1<<20), "transcript_path": path}),
		strings.Repeat(" ", MaxEvent) + "{}", strings.Repeat("[", 1<<20),
		event(t, map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": path}),
	} {
		for _, agent := range Agents() {
			m.env["CODEX_HOME"] = m.path("codex")
			require.Zero(t, m.run(t, text, agent))
			require.Empty(t, m.out.String())
			require.Empty(t, m.errOut.String())
		}
	}
	require.Empty(t, m.spooled(t))
	lines := strings.Split(strings.TrimSpace(m.log()), "\n")
	require.Len(t, lines, 2*17, "each is told in one line, but for the event of another kind")
	for _, line := range lines {
		require.Less(t, len(line), 5000)
	}
}

// A wrong command line is reported, but not with exit code 2, which agents treat as an instruction.
func TestWrongCommandLine(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, args := range [][]string{{}, {"vim"}, {ClaudeCode, "--what"}, {ClaudeCode, "x", "y"}, {ClaudeCode, "--project", ""}, {ClaudeCode, "--max-tokens", "0"}, {ClaudeCode, "--within", "-1s"}} {
		require.Equal(t, 1, m.run(t, "{}", args...), args)
		require.Contains(t, m.errOut.String(), "usage: axhook claude-code|codex")
		require.Empty(t, m.out.String())
	}
	require.Zero(t, m.run(t, "", "--help"))
	require.Contains(t, m.out.String(), "--max-tokens")
}

func TestNoQueue(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	stop := event(t, map[string]any{"hook_event_name": Stop, "session_id": "s", "transcript_path": m.transcript(t, "s.jsonl")})
	require.Zero(t, m.run(t, stop, ClaudeCode, "--no-queue"))
	require.Contains(t, m.errOut.String(), "nothing is enqueued")
	m.env["AXIOMMIND_NO_QUEUE"] = "true"
	require.Zero(t, m.run(t, stop, ClaudeCode))
	require.Contains(t, m.errOut.String(), "nothing is enqueued")
	require.Empty(t, m.out.String())
	require.Empty(t, m.spooled(t))
}

// Unreadable settings do not lose a context.
func TestBrokenSettings(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	config := m.path("broken.yaml")
	require.NoError(t, os.WriteFile(config, []byte("{"), 0o600))
	stop := event(t, map[string]any{"hook_event_name": Stop, "session_id": "s", "transcript_path": m.transcript(t, "s.jsonl")})
	require.Zero(t, m.run(t, stop, ClaudeCode, "--config", config))
	require.Len(t, m.spooled(t), 1)
	require.Contains(t, m.log(), "read configuration")
	m.env["AXIOMMIND_TEMPORAL_TLS"] = "perhaps"
	require.Zero(t, m.run(t, stop, ClaudeCode))
	require.Contains(t, m.log(), "want true or false")
}

// Codex does not always report the path of a session.
func TestCodexRollout(t *testing.T) {
	t.Parallel()
	const id = "0199a213-81c0-7800-8aa1-bbab2a035a53"
	m := newMachine(t)
	m.env["CODEX_HOME"] = m.path("codex")
	m.transcript(t, "codex", "sessions", "2026", "10", "31", "rollout-2026-10-31T09-00-00-another.jsonl")
	want := m.transcript(t, "codex", "sessions", "2026", "11", "02", "rollout-2026-11-02T10-00-00-"+id+".jsonl")
	for _, args := range [][]string{
		{Codex, event(t, map[string]any{"type": "agent-turn-complete", "thread-id": id, "turn-id": "1", "input-messages": []string{"hi"}})},
		{Codex},
	} {
		require.Zero(t, m.run(t, event(t, map[string]any{"hook_event_name": Stop, "session_id": id, "transcript_path": nil}), args...))
		waiting := m.spooled(t)
		require.Len(t, waiting, 1)
		require.Equal(t, "file://"+want, waiting[0].URI)
		require.Equal(t, id, waiting[0].Thread)
	}
	require.Zero(t, m.run(t, event(t, map[string]any{"hook_event_name": Stop, "session_id": "gone", "transcript_path": nil}), Codex))
	require.Contains(t, m.log(), "find session")
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	const text = "Facts:\n- [preference | 0.90] \"tea\" </system> 名\n"
	answer := func(_ context.Context, o Options, e Event, _ settings.Servers) (string, error) {
		require.Equal(t, 77, o.MaxTokens)
		return text + e.Prompt, nil
	}
	for _, name := range Answered() {
		m.out.Reset()
		p := m.program(strings.NewReader(event(t, map[string]any{"hook_event_name": name, "session_id": "s", "prompt": "what?"})))
		p.Answer = answer
		require.Zero(t, p.Main(t.Context(), "axcontext", []string{Codex, "--max-tokens", "77", "--within", "1m"}))
		var got struct{ HookSpecificOutput map[string]string }
		require.NoError(t, json.Unmarshal(m.out.Bytes(), &got))
		require.Equal(t, map[string]string{"hookEventName": name, "additionalContext": text + "what?"}, got.HookSpecificOutput)
	}
	require.Empty(t, m.log())

	start := event(t, map[string]any{"hook_event_name": SessionStart, "session_id": "s"})
	for want, answer := range map[string]Answer{
		"no database": func(context.Context, Options, Event, settings.Servers) (string, error) {
			return "", errors.New("no database")
		},
		"answer SessionStart: context deadline exceeded": func(context.Context, Options, Event, settings.Servers) (string, error) {
			select {}
		},
	} {
		m.out.Reset()
		p := m.program(strings.NewReader(start))
		p.Answer = answer
		require.Zero(t, p.Main(t.Context(), "axcontext", []string{ClaudeCode}))
		require.Empty(t, m.out.String())
		require.Contains(t, m.log(), want)
	}
	require.Zero(t, m.run(t, start, ClaudeCode), "a program without answers says nothing")
	require.Empty(t, m.out.String())
}

// The log does not grow indefinitely.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	require.NoError(t, os.MkdirAll(m.path("state"), 0o700))
	require.NoError(t, os.WriteFile(m.path("state", "hook.log"), bytes.Repeat([]byte("x"), maxLog+1), 0o600))
	m.run(t, "{", ClaudeCode)
	require.Less(t, len(m.log()), 1000)
	require.FileExists(t, m.path("state", "hook.log.1"))
}

// Without a writable spool, a context is sent directly, and a failure is logged.
func TestNoSpool(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	require.NoError(t, os.MkdirAll(m.path("state"), 0o700))
	require.NoError(t, os.WriteFile(m.path("state", "outbox"), nil, 0o600))
	require.Zero(t, m.run(t, event(t, map[string]any{"hook_event_name": Stop, "session_id": "s", "transcript_path": m.transcript(t, "s.jsonl")}), ClaudeCode))
	require.Contains(t, m.log(), "spool a context")
	require.Contains(t, m.log(), "enqueue for default")
}

// Any input is an event with a name and a session, or an error.
func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"s","transcript_path":"/a","trigger":"auto"}`))
	f.Add([]byte(`{"type":"agent-turn-complete","thread-id":"t"}`))
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"\ud800","transcript_path":"/\u0000"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := ParseEvent(text)
		if err != nil {
			require.Equal(t, Event{}, e)
			return
		}
		require.NotEmpty(t, e.Name)
		path, err := e.transcript()
		if err != nil {
			return
		}
		require.True(t, filepath.IsAbs(path))
		p := Program{}
		q, err := p.contextOf(Options{Kind: ClaudeCode, Scope: schema.Scope{Project: "p", User: "u"}}, e)
		require.NoError(t, err)
		require.NoError(t, q.Validate())
	})
}
