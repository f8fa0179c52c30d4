package hook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"axiommind/activities/queue/door"
	"axiommind/activities/spans"
	"axiommind/activities/transcript/grant"
	"axiommind/schema"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
	"axiommind/worker/tracing"
)

const (
	// DefaultSendWithin is how long a hook tries to reach Temporal. After that the context is spooled.
	DefaultSendWithin = 60 * time.Millisecond
	// DefaultAnswerWithin is how long an agent waits for memories. A later answer is dropped.
	DefaultAnswerWithin = 100 * time.Millisecond
)

// Options are the settings of a hook.
type Options struct {
	// Kind is the agent that calls, one of [Agents].
	Kind string
	schema.Scope
	// Within bounds the time to send, or to answer. 0 means the default.
	Within time.Duration
	// MaxTokens is the budget of an answer.
	MaxTokens int
	// Config is the file with the addresses of the servers. Default: the local stack's.
	Config string
	// NoQueue disables enqueueing.
	NoQueue bool
}

// Flags adds the flags of a hook.
func (o *Options) Flags(f *pflag.FlagSet) {
	f.StringVar(&o.Project, "project", "default", "project the memories belong to")
	f.StringVar(&o.User, "user", "default", "user the memories belong to")
	f.StringVar(&o.Agent, "agent", "", "agent the memories belong to")
	f.DurationVar(&o.Within, "within", 0, "how long the agent may wait\n(default: 60ms to enqueue, else it is done later; 100ms for an answer, else there is none)")
	f.IntVar(&o.MaxTokens, "max-tokens", schema.DefaultMaxTokens, "most tokens of an answer, estimated")
}

// ServerFlags adds flags that starter defines for all its commands.
func (o *Options) ServerFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Config, "config", "", "YAML file with the addresses of the servers")
	f.BoolVar(&o.NoQueue, "no-queue", false, "enqueue nothing")
}

// Answer returns the memories relevant to the event as text, or "".
type Answer func(ctx context.Context, o Options, e Event, servers settings.Servers) (string, error)

// Program is a hook program that an agent calls.
type Program struct {
	In          io.Reader
	Out, ErrOut io.Writer
	Getenv      func(string) string
	// Answer answers [Answered] events. Without it there is no answer.
	Answer Answer
	// State contains contexts, the key of grants and the log. Default: the directory that Getenv selects.
	State statedir.Dir
	// Local is the file with the addresses of a local stack. Default [settings.LocalFile].
	Local string
}

// Main runs a hook with the arguments of its command line: the agent, flags, and optionally the event. Without that argument
// it reads the event from the input. It returns the exit code: 1 for a wrong command line, else 0, so that no failure
// disturbs the agent. It never returns 2, which agents treat as an instruction. Errors go to the log.
func (p *Program) Main(ctx context.Context, name string, args []string) int {
	o := Options{}
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	o.Flags(f)
	o.ServerFlags(f)
	err := f.Parse(args)
	usage := "usage: " + name + " " + strings.Join(Agents(), "|") + " [flags] < EVENT\n" + f.FlagUsages()
	switch {
	case errors.Is(err, pflag.ErrHelp):
		_, _ = fmt.Fprint(p.Out, usage)
		return 0
	case err != nil:
	case f.NArg() == 0 || f.NArg() > 2 || !slices.Contains(Agents(), f.Arg(0)):
		err = fmt.Errorf("name the agent: %s", strings.Join(Agents(), " or "))
	default:
		err = o.Check()
	}
	if err != nil {
		_, _ = fmt.Fprintf(p.ErrOut, "%s: %v\n%s", name, err, usage)
		return 1
	}
	o.Kind = f.Arg(0)
	if f.NArg() == 2 {
		p.In = strings.NewReader(f.Arg(1))
	}
	p.Run(ctx, o)
	return 0
}

// Check returns an error if an option is invalid.
func (o *Options) Check() error {
	key := schema.SessionKey{Scope: o.Scope, SessionID: "session"}
	switch {
	case o.Within < 0:
		return fmt.Errorf("--within %v: want 0 or more", o.Within)
	case o.MaxTokens < 1:
		return fmt.Errorf("--max-tokens %d: want at least 1", o.MaxTokens)
	}
	return key.Validate()
}

// Run handles one event. It prints only an answer, and writes errors to the log.
func (p *Program) Run(ctx context.Context, o Options) {
	p.State, p.Local = cmp.Or(p.State, statedir.Of(p.Getenv)), cmp.Or(p.Local, settings.LocalFile())
	if err := p.run(ctx, o); err != nil {
		note(p.State.Path(statedir.HookLog), o.Kind+": "+err.Error())
	}
}

// tracePatience is how long a hook that ends waits for the collector of traces.
const tracePatience = 500 * time.Millisecond

func (p *Program) run(ctx context.Context, o Options) (failed error) {
	e, err := ReadEvent(p.In)
	if err != nil {
		return err
	}
	servers, err := settings.Load(o.Config, p.Getenv, p.Local)
	if slices.Contains(Enqueued(), e.Name) || slices.Contains(Answered(), e.Name) {
		// Variables that are wrong, or for other programs, must not stop a hook.
		traces, _ := tracing.Start(ctx, tracing.Program{Name: "axiommind-hook", Getenv: p.Getenv, Patience: tracePatience})
		defer traces.Close()
		servers.TemporalTraces = traces.Interceptor()
		var s trace.Span
		ctx, s = traces.Begin(ctx, "hook "+e.Name, trace.SpanKindInternal)
		defer func() {
			spans.End(s, failed)
			if id := spans.TraceID(ctx); failed != nil && id != "" {
				failed = fmt.Errorf("%w (trace %s)", failed, id)
			}
		}()
	}
	switch {
	case slices.Contains(Enqueued(), e.Name):
		return p.enqueue(ctx, o, e, servers, err)
	case slices.Contains(Answered(), e.Name) && err == nil:
		return p.answer(ctx, o, e, servers)
	case err != nil:
		return err
	}
	return nil // Other events of agents are ignored.
}

// enqueue spools the context and then tries to send everything that is spooled. So nothing is lost when the agent kills the
// hook, as agents do when they exit. If the settings can't be read, it only spools.
func (p *Program) enqueue(ctx context.Context, o Options, e Event, servers settings.Servers, unset error) error {
	ctx, stop := context.WithTimeout(ctx, cmp.Or(o.Within, DefaultSendWithin))
	defer stop()
	if o.NoQueue || servers.NoQueue {
		_, _ = fmt.Fprintln(p.ErrOut, "nothing is enqueued: no-queue is set")
		return nil
	}
	q, err := p.contextOf(o, e)
	if err != nil {
		return err
	}
	spool := door.Spool{Dir: p.State.Path(statedir.Outbox)}
	if spool.Dir == "" {
		return errors.New("spool a context: the user has no home; set HOME or XDG_STATE_HOME")
	}
	unspooled := spool.Put(q)
	servers.TemporalAPIKey, _, err = settings.Secret(p.Getenv, settings.TemporalAPIKey)
	if err = errors.Join(unset, err); err != nil {
		return errors.Join(unspooled, err)
	}
	options, err := servers.TemporalOptions()
	if err != nil {
		return errors.Join(unspooled, err)
	}
	options.Logger = sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
	c, err := client.NewLazyClient(options)
	if err != nil {
		return errors.Join(unspooled, fmt.Errorf("deliver spooled contexts: %w", err))
	}
	// The client is not closed: closing may block, and the program exits.
	send := func(ctx context.Context, q schema.QueuedContext) error { return door.Signal(ctx, c, q) }
	if unspooled != nil {
		if err := send(ctx, q); err != nil {
			return errors.Join(unspooled, err)
		}
	}
	if _, err = spool.Deliver(ctx, send); err != nil {
		return fmt.Errorf("%w; it is delivered by the next hook or by a worker", servers.ExplainTemporal(err))
	}
	return nil
}

// contextOf returns the context to enqueue for the event.
func (p *Program) contextOf(o Options, e Event) (schema.QueuedContext, error) {
	if o.Kind == Codex && e.Transcript == "" {
		home, err := codexHome(p.Getenv)
		if err != nil {
			return schema.QueuedContext{}, err
		}
		if e.Transcript, err = findRollout(home, e.SessionID); err != nil {
			return schema.QueuedContext{}, err
		}
	}
	path, err := e.transcript()
	if err != nil {
		return schema.QueuedContext{}, err
	}
	now := time.Now().UTC()
	q := schema.QueuedContext{
		ID: "hook-" + rand.Text(), Scope: o.Scope, Thread: e.SessionID, At: now,
		URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(),
	}
	q.Flush, q.Now = e.flush()
	q.Grant, err = grantOf(p.State.Path(statedir.SourceKey), path, q)
	if err != nil {
		// A worker may read the directories of agents without a grant.
		note(p.State.Path(statedir.HookLog), fmt.Sprintf("%s: grant access to %q: %v", o.Kind, path, err))
	}
	return q, nil
}

// grantOf permits the worker to read the transcript at any path. The agent names the file, not a session.
func grantOf(keyFile, path string, q schema.QueuedContext) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a file")
	}
	key, err := grant.Key(keyFile)
	if err != nil {
		return "", err
	}
	return grant.Of(key, real, schema.ProcessSessionInput{URI: q.URI, Project: q.Project, User: q.User, Agent: q.Agent}, time.Now()), nil
}

// answer prints the memories in the form that both agents accept as context for their model. If they arrive too late, it
// prints nothing.
func (p *Program) answer(ctx context.Context, o Options, e Event, servers settings.Servers) error {
	if p.Answer == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, cmp.Or(o.Within, DefaultAnswerWithin))
	defer stop()
	type answered struct {
		text string
		err  error
	}
	done := make(chan answered, 1)
	go func() {
		text, err := p.Answer(ctx, o, e, servers)
		done <- answered{text, err}
	}()
	var a answered
	select {
	case a = <-done:
	case <-ctx.Done():
		a.err = fmt.Errorf("answer %s: %w", e.Name, ctx.Err())
	}
	if a.err != nil || a.text == "" {
		return a.err
	}
	text, err := answerJSON(e.Name, a.text)
	if err != nil {
		return err
	}
	_, err = p.Out.Write(text)
	return err
}

// answerJSON returns the hook output that adds text to the context of the agent's model.
func answerJSON(event, text string) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(map[string]any{"hookSpecificOutput": map[string]string{"hookEventName": event, "additionalContext": text}})
	if err != nil {
		return nil, fmt.Errorf("answer %s: %w", event, err)
	}
	return out.Bytes(), nil
}
