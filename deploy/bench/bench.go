package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/pflag"
	temporal "go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/transcript"
	"axiommind/schema"
	"axiommind/starter/client"
	"axiommind/starter/command/progress"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

// bench is a run. Its sessions have ids that begin with its prefix.
type bench struct {
	*options
	protocol
	says io.Writer

	cfg      service.Config
	memory   *client.Client
	temporal temporal.Client
	log      driver.Conn
	talks    *talks
	// files has the transcripts, and hook is the program of the hook, or "".
	files, hook string
	prefix      string
	started     time.Time

	next    atomic.Int64
	answers [kinds]answers
	mu      sync.Mutex
	// given are the sessions that were given without an error, and known those that can be searched for.
	given []string
	known []remembered
	kills []string
}

// remembered is a session whose question the memory can answer.
type remembered struct {
	n        int
	session  string
	question string
	at       time.Time
}

// indexed is how long after its end a session is searched for.
const indexed = 30 * time.Second

func open(ctx context.Context, o *options, says io.Writer) (b *bench, err error) {
	b = &bench{options: o, protocol: usual(), says: says, prefix: "bench-" + strings.ToLower(rand.Text()[:8]) + "-"}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	if b.talks, err = newTalks(o.from, o.seed); err != nil {
		return nil, err
	}
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	b.cfg.Flags(f)
	if err := b.cfg.Load(f, os.Getenv, service.LocalConfigFile()); err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	if b.temporal, err = service.ConnectTemporal(ctx, b.cfg, quiet); err != nil {
		return nil, fmt.Errorf("%w\nStart a local stack with: go run ./deploy/local up", err)
	}
	if b.log, err = service.ConnectClickHouse(ctx, b.cfg, quiet); err != nil {
		return nil, err
	}
	if b.memory, err = client.Open(ctx, client.ConfigOf(b.cfg)); err != nil {
		return nil, err
	}
	if err := b.checkStack(); err != nil {
		return nil, err
	}
	if b.files, err = os.MkdirTemp("", "axiommind-bench-"); err != nil {
		return nil, fmt.Errorf("make a directory for the transcripts: %w", err)
	}
	if o.rates[kindHook] > 0 || o.costs {
		b.hook = filepath.Join(b.files, "axhook")
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", b.hook, "axiommind/starter/axhook").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build the hook (run this inside a checkout of axiommind): %w\n%s", err, text)
		}
	}
	return b, nil
}

// checkStack refuses to kill or to measure the processes of another stack than the one whose servers are used.
func (b *bench) checkStack() error {
	if len(b.kill) == 0 && !b.costs {
		return nil
	}
	s := readStack(b.dir)
	switch {
	case s == nil:
		return fmt.Errorf("--dir %q: no local stack is up there, and its processes are needed", b.dir)
	case s.Addresses.Temporal != b.cfg.TemporalAddress:
		return fmt.Errorf("--dir %q: that stack's Temporal is at %s, and the settings name %s", b.dir, s.Addresses.Temporal, b.cfg.TemporalAddress)
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return fmt.Errorf("this system has no /proc, from which the processes are read: %w", err)
	}
	return nil
}

func (b *bench) close() {
	if b.memory != nil {
		_ = b.memory.Close()
	}
	if b.temporal != nil {
		b.temporal.Close()
	}
	if b.log != nil {
		_ = b.log.Close()
	}
	if b.files != "" {
		_ = os.RemoveAll(b.files)
	}
}

// run fills the store, sends the requests, waits for the queue, and returns the result.
func (b *bench) run(ctx context.Context) (*result, error) {
	r := &result{Project: b.project, Prefix: b.prefix}
	w := &watch{bench: b, stack: readStack(b.dir)}
	if b.fill > 0 {
		b.say("filling with %d sessions, %d at a time", b.fill, b.atOnce)
		before, start := w.sample(ctx), time.Now()
		if err := b.fillUp(ctx); err != nil {
			return nil, err
		}
		r.Fill = fillOf(b.fill, time.Since(start), before, w.sample(ctx))
	}
	b.started = time.Now()
	if slices.Max(b.rates[:]) > 0 {
		b.say("sending requests for %v", b.length)
		r.Samples = b.load(ctx, w)
	}
	r.Length = time.Since(b.started).Seconds()
	for kind := range kinds {
		if b.rates[kind] > 0 {
			r.Requests = append(r.Requests, b.answers[kind].summary(kindNames[kind], b.rates[kind]))
		}
	}
	r.Kills = b.kills
	b.say("waiting for the queue, for %v at most", b.settle)
	r.Given, r.Kept = b.settled(context.WithoutCancel(ctx))
	if w.stack != nil || len(r.Samples) > 0 {
		r.Samples = append(r.Samples, w.sample(context.WithoutCancel(ctx)))
	}
	return r, nil
}

func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.says, "[%s] %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}

// load sends the requests of all kinds, and returns the sizes meanwhile.
func (b *bench) load(ctx context.Context, w *watch) (samples []sample) {
	ctx, stop := context.WithCancel(ctx)
	var watching, sending sync.WaitGroup
	watching.Go(func() { samples = w.until(ctx, b.every) })
	if len(b.kill) > 0 {
		watching.Go(func() { b.killing(ctx) })
	}
	for kind := range kinds {
		sending.Go(func() { b.arrivals(ctx, kind, b.length) })
	}
	sending.Wait()
	stop()
	watching.Wait()
	return samples
}

// fillUp processes sessions, some at a time.
func (b *bench) fillUp(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(b.atOnce)
	for range b.fill {
		group.Go(func() error { return b.process(ctx) })
	}
	return group.Wait()
}

func (b *bench) request(ctx context.Context, kind int) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	switch kind {
	case kindProcess:
		return b.process(ctx)
	case kindEnqueue:
		return b.enqueue(ctx)
	case kindHook:
		return b.callHook(ctx)
	case kindSearch:
		return b.search(ctx)
	default:
		_, err := b.memory.Context(ctx, client.ContextRequest{User: b.user(int(b.next.Load())), Project: b.project, Query: "which tests and commits do I prefer?"})
		return err
	}
}

func (b *bench) user(n int) string { return fmt.Sprintf("bench-%d", n%b.users) }

// session writes the next conversation to a file.
func (b *bench) session() (n int, id, path, question string, err error) {
	n = int(b.next.Add(1)) - 1
	id = fmt.Sprintf("%s%d", b.prefix, n)
	path = filepath.Join(b.files, id+".jsonl")
	question, err = b.talks.file(path, id, n)
	return n, id, path, question, err
}

// process runs the workflow of a session, as `starter process` does.
func (b *bench) process(ctx context.Context) error {
	n, id, path, question, err := b.session()
	if err != nil {
		return err
	}
	in := schema.ProcessSessionInput{
		SessionID: id, Project: b.project, User: b.user(n), URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(),
	}
	if in.Grant, err = transcript.Grant(b.cfg.State.Path(statedir.SourceKey), in); err != nil {
		return err
	}
	work := progress.SessionWork{SessionKey: in.Key(), Workflow: schema.WorkflowProcessSession, Summary: "load", Input: in}
	run, err := work.Start(ctx, b.temporal, work.WorkflowID())
	if err != nil {
		return err
	}
	b.give(id)
	var result schema.ProcessSessionResult
	if err := run.Get(ctx, &result); err != nil {
		return err
	}
	if !result.Status.Completed() {
		return fmt.Errorf("the session ended as %s", result.Status)
	}
	if question != "" {
		b.mu.Lock()
		b.known = append(b.known, remembered{n, id, question, time.Now()})
		b.mu.Unlock()
	}
	return nil
}

func (b *bench) give(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.given = append(b.given, session)
}

// enqueue gives a conversation to the queue.
func (b *bench) enqueue(ctx context.Context) error {
	n := int(b.next.Add(1)) - 1
	id := fmt.Sprintf("%s%d", b.prefix, n)
	_, err := b.memory.Enqueue(ctx, client.Conversation{
		Project: b.project, User: b.user(n), Thread: id, Messages: b.talks.made(n).messages, Debounce: b.debounce,
	})
	if err == nil {
		b.give(id)
	}
	return err
}

// callHook runs the hook at the end of a session of Claude Code.
func (b *bench) callHook(ctx context.Context) error {
	n, id, path, _, err := b.session()
	if err != nil {
		return err
	}
	event, err := json.Marshal(map[string]string{"hook_event_name": "SessionEnd", "session_id": id, "transcript_path": path, "cwd": b.files})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.hook, "claude-code", "--project", b.project, "--user", b.user(n)) //nolint:gosec // the program that this one built
	cmd.Stdin = strings.NewReader(string(event))
	text, err := cmd.CombinedOutput()
	if err == nil && len(text) > 0 {
		err = errors.New(strings.TrimSpace(string(text)))
	}
	if err == nil {
		b.give(id) // A hook keeps sessions in its spool that it can't deliver.
	}
	return err
}

// search asks for a session that was remembered some time ago, or for anything.
func (b *bench) search(ctx context.Context) error {
	q, one := client.Query{Text: "what did we decide about the cache?", Project: b.project, User: b.user(0)}, b.any()
	if one != nil {
		q.Text, q.User = one.question, b.user(one.n)
	}
	found, err := b.memory.Search(ctx, q)
	if err == nil && one != nil {
		b.answers[kindSearch].looked(slices.ContainsFunc(found.Hits, func(h client.Hit) bool { return h.SessionID == one.session }))
	}
	return err
}

// any returns a session that can be searched for, or nil.
func (b *bench) any() *remembered {
	b.mu.Lock()
	defer b.mu.Unlock()
	ready := len(b.known)
	for ready > 0 && time.Since(b.known[ready-1].at) < indexed {
		ready--
	}
	if ready == 0 {
		return nil
	}
	return &b.known[mathrand.IntN(ready)] //nolint:gosec // any one of them
}

// settled waits until each given session has a build that ended well, and returns how many were given and how many have one.
func (b *bench) settled(ctx context.Context) (given, kept int) {
	ctx, stop := context.WithTimeout(ctx, b.settle)
	defer stop()
	given = len(b.given)
	for {
		var n uint64
		err := b.log.QueryRow(ctx, `SELECT uniqExact(session_id) FROM build_runs WHERE project = ? AND startsWith(session_id, ?) AND status IN (?, ?, ?)`,
			b.project, b.prefix, string(schema.BuildSuccess), string(schema.BuildEmpty), string(schema.BuildPartial)).Scan(&n)
		if err == nil {
			kept = int(n) //nolint:gosec // a count of sessions
		}
		if kept >= given || !sleep(ctx, 2*time.Second) {
			return given, kept
		}
	}
}

var (
	numbers = regexp.MustCompile(`[0-9a-f]{8,}[0-9a-f-]*|\d+`)
	spaces  = regexp.MustCompile(`\s+`)
)

// reason is the cause of an error, without the parts that differ from one time to the next, such as ports and ids, so that equal ones
// are counted.
func reason(err error) string {
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(err) {
		err = cause
	}
	text := numbers.ReplaceAllString(spaces.ReplaceAllString(err.Error(), " "), "N")
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160]) + "…"
	}
	return text
}
