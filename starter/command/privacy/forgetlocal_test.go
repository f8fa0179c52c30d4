package privacy_test

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
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/feed"
	"axiommind/starter/command/privacy"
	"axiommind/starter/watchstate"
	"axiommind/worker/statedir"
)

// machine writes an item of a session to each place of a state directory, as the programs do.
func machine(t *testing.T, a *command.App, key schema.SessionKey, text string) {
	t.Helper()
	spool := door.Spool{Dir: a.Cfg.State.Path(statedir.Outbox)}
	q := schema.QueuedContext{
		ID: "ctx-" + key.SessionID + key.User, Scope: key.Scope, Thread: key.SessionID, At: time.Now().UTC(),
		Messages: []schema.InlineMessage{{Role: "user", Content: text}},
	}
	require.NoError(t, spool.Put(q))

	o := &feed.WatchOptions{}
	o.Input.Project, o.Input.User, o.Input.Agent, o.Input.SessionID = key.Project, key.User, key.Agent, key.SessionID
	a.In = strings.NewReader(commandtest.Said(1, "user", text))
	_, err := feed.Spool(t.Context(), a, &o.ProcessOptions)
	require.NoError(t, err)

	path := filepath.Join("/sessions", key.SessionID+".jsonl")
	s, err := watchstate.Open(a.Cfg.State, []string{"/sessions"}, o.Input)
	require.NoError(t, err)
	s.Set(path, watchstate.File{Mark: watchstate.Mark{Size: 1, Modified: 2}, Sessions: map[string]string{watchstate.Hashed(key.SessionID): "f"}})
	require.NoError(t, s.Save())
	known, err := os.ReadFile(s.Path)
	require.NoError(t, err)
	require.NotContains(t, string(known), "/sessions", "the state names no file")
	require.NotContains(t, string(known), key.SessionID)

	log, err := os.OpenFile(a.Cfg.State.Path(statedir.HookLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
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
		a, o := &command.App{}, &privacy.ForgetOptions{}
		a.Cfg.State, o.ErasureScope = statedir.Dir(t.TempDir()), tt.scope
		machine(t, a, mine, "The code of the door is 4711.")
		machine(t, a, others, "The code of the door is 4711.")
		places := func(o *privacy.ForgetOptions, drop bool) (out []string) {
			found, err := privacy.Local(a, o, drop)
			require.NoError(t, err)
			for _, p := range found {
				require.Equal(t, privacy.LocalStore, p.Store)
				place, _, _ := strings.Cut(p.Place, " in ")
				out = append(out, place)
			}
			return out
		}
		require.Equal(t, tt.want, places(o, false), name)
		require.Equal(t, tt.want, places(o, false), "%s: looking drops nothing", name)
		require.Equal(t, tt.want, places(o, true), name)
		require.Empty(t, places(o, false), name)
		kept := &privacy.ForgetOptions{}
		kept.ErasureScope = schema.ErasureScope{SessionID: others.SessionID, Project: others.Project, User: others.User}
		require.Equal(t, all, places(kept, false), "%s: those of others stay", name)
	}
	found, err := privacy.Local((&command.App{}), &privacy.ForgetOptions{}, true)
	require.NoError(t, err)
	require.Empty(t, found)
}
