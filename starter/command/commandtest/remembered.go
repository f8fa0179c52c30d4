package commandtest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/hook"
	"axiommind/starter/hook/answer"
	"axiommind/worker/statedir"
)

// Ask runs an answering hook and returns the text for the agent's model.
func (r *Remembered) Ask(t *testing.T, o command.Owner, project string, event map[string]string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	text, err := json.Marshal(event)
	require.NoError(t, err)
	var out bytes.Buffer
	env := map[string]string{"AXIOMMIND_CLICKHOUSE_DSN": r.Config(t).ClickHouseDSN}
	p := hook.Program{
		In: bytes.NewReader(text), Out: &out, ErrOut: &out, Getenv: func(name string) string { return env[name] }, Answer: answer.Remembered,
		State: statedir.Dir(dir), Local: dir + "/local.yaml",
	}
	args = append([]string{hook.ClaudeCode, "--project", project, "--user", o.User, "--agent", o.Agent, "--within", "20s"}, args...)
	require.Zero(t, p.Main(t.Context(), "axcontext", args))
	if out.Len() == 0 {
		return ""
	}
	var answered struct {
		HookSpecificOutput struct{ HookEventName, AdditionalContext string }
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &answered), out.String())
	require.Equal(t, event["hook_event_name"], answered.HookSpecificOutput.HookEventName)
	return answered.HookSpecificOutput.AdditionalContext
}

// Remembered is the command line with only a database, whose log the test writes itself.
type Remembered struct {
	*CLI
	Conn driver.Conn
	Log  *projection.Store
}

// NewRemembered returns a database without a worker.
func NewRemembered(t *testing.T) *Remembered {
	t.Helper()
	dsn := stacktest.MigratedDatabase(t)
	conn := stacktest.Connect(t, dsn)
	c := Down()
	c.Completion = 20 * time.Second
	for i, word := range c.Servers {
		switch word {
		case "--clickhouse-dsn":
			c.Servers[i+1] = dsn
		case "--connect-timeout":
			c.Servers[i+1] = "5s" // ClickHouse is up, and may be busy.
		}
	}
	return &Remembered{CLI: c, Conn: conn, Log: projection.New(conn, eventlog.Options{})}
}

// Night is the time of the dreams.
var Night = time.Date(2026, 6, 8, 3, 0, 0, 0, time.UTC)

// Store appends an event to the stream and updates every projection. It returns the event's id.
func (r *Remembered) Store(t *testing.T, stream, key string, e schema.Event, payload any) string {
	t.Helper()
	e.DedupeKey = key
	if e.TS.IsZero() {
		e.TS = Night
	}
	e, err := schema.NewEvent(payload, e)
	require.NoError(t, err)
	appended, err := r.Log.Append(t.Context(), stream, []schema.Event{e})
	require.NoError(t, err)
	for _, p := range build.Projections(r.Conn) {
		if strings.HasPrefix(stream, p.StreamPrefix()) {
			_, err := r.Log.Project(t.Context(), p, stream)
			require.NoError(t, err)
		}
	}
	return appended.Events[0].ID
}

// Someone has names of other alphabets that a shell, a path or a query could misinterpret.
var Someone = command.Owner{User: "José/я\"'", Agent: "代理 %2F 🤖"}

func flags(o command.Owner) []string { return []string{"--user", o.User, "--agent", o.Agent} }

// Of runs a command for the user and agent.
func (r *Remembered) Of(o command.Owner, args ...string) Output {
	return r.Run(append(args, flags(o)...)...)
}
