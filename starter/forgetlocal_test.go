package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/queue/door"
	"axiommind/schema"
	"axiommind/worker/statedir"
)

// machine writes an item of a session to each place of a state directory, as the programs do.
func machine(t *testing.T, a *app, key schema.SessionKey, text string) {
	t.Helper()
	spool := door.Spool{Dir: a.cfg.State.Path(statedir.Outbox)}
	q := schema.QueuedContext{
		ID: "ctx-" + key.SessionID + key.User, Scope: key.Scope, Thread: key.SessionID, At: time.Now().UTC(),
		Messages: []schema.InlineMessage{{Role: "user", Content: text}},
	}
	require.NoError(t, spool.Put(q))

	o := &watchOptions{}
	o.input.Project, o.input.User, o.input.Agent, o.input.SessionID = key.Project, key.User, key.Agent, key.SessionID
	a.in = strings.NewReader(said(1, "user", text))
	_, err := a.spool(t.Context(), &o.processOptions)
	require.NoError(t, err)

	path := filepath.Join("/sessions", key.SessionID+".jsonl")
	s, err := openWatchState(a.cfg.State, []string{"/sessions"}, o.input)
	require.NoError(t, err)
	s.set(path, watchedFile{Mark: fileMark{1, 2}, Sessions: map[string]string{hashed(key.SessionID): "f"}})
	require.NoError(t, s.save())
	known, err := os.ReadFile(s.path)
	require.NoError(t, err)
	require.NotContains(t, string(known), "/sessions", "the state names no file")
	require.NotContains(t, string(known), key.SessionID)

	log, err := os.OpenFile(a.cfg.State.Path(statedir.HookLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = fmt.Fprintf(log, "2026-11-24T00:00:00Z %q\n", fmt.Sprintf("claude-code: grant access to %q for %q in %s", path, key.User, key.Project))
	require.NoError(t, err)
	require.NoError(t, log.Close())
}

// Forget finds the traces of a session, a user, a project or a text in the state directory, and removes no others.
func TestForgetInStateDirectory(t *testing.T) {
	t.Parallel()
	mine := schema.SessionKey{Scope: schema.Scope{Project: "проект", User: "안나 \"/'"}, SessionID: "gone-세션"}
	others := schema.SessionKey{Scope: schema.Scope{Project: "elsewhere", User: "bob"}, SessionID: "kept"}
	all := []string{"1 undelivered context", "1 copy of standard input", "1 state of watch", "1 line of the hooks' log"}
	for name, tt := range map[string]struct {
		scope schema.ErasureScope
		want  []string
	}{
		"session": {schema.ErasureScope{SessionID: mine.SessionID, Project: mine.Project, User: mine.User}, all},
		"user":    {schema.ErasureScope{User: mine.User}, all},
		"project": {schema.ErasureScope{Project: mine.Project}, all},
		"text":    {schema.ErasureScope{Query: "the  CODE of the door", User: mine.User}, all[:2]},
	} {
		a, o := &app{}, &forgetOptions{}
		a.cfg.State, o.ErasureScope = statedir.Dir(t.TempDir()), tt.scope
		machine(t, a, mine, "The code of the door is 4711.")
		machine(t, a, others, "The code of the door is 4711.")
		places := func(o *forgetOptions, drop bool) (out []string) {
			found, err := a.local(o, drop)
			require.NoError(t, err)
			for _, p := range found {
				require.Equal(t, localStore, p.Store)
				place, _, _ := strings.Cut(p.Place, " in ")
				out = append(out, place)
			}
			return out
		}
		require.Equal(t, tt.want, places(o, false), name)
		require.Equal(t, tt.want, places(o, false), "%s: looking drops nothing", name)
		require.Equal(t, tt.want, places(o, true), name)
		require.Empty(t, places(o, false), name)
		kept := &forgetOptions{}
		kept.ErasureScope = schema.ErasureScope{SessionID: others.SessionID, Project: others.Project, User: others.User}
		require.Equal(t, all, places(kept, false), "%s: those of others stay", name)
	}
	found, err := (&app{}).local(&forgetOptions{}, true)
	require.NoError(t, err)
	require.Empty(t, found)
}
