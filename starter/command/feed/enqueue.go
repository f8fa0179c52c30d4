package feed

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tidwall/gjson"

	"axiommind/schema"
	"axiommind/starter/client"
	"axiommind/starter/command"
)

// enqueueOptions are the flags of enqueue and watch that describe the sessions to enqueue.
type enqueueOptions struct {
	ProcessOptions
	now               bool
	debounce, maxWait time.Duration
	// messages is true if the file contains new messages of a session instead of a transcript.
	messages bool
}

func (o *enqueueOptions) add(f *pflag.FlagSet) {
	o.jobs = schema.DefaultAtOnce
	command.ScopeFlags(f, "the memories belong to", &o.Input.Project, &o.Input.User, &o.Input.Agent)
	f.StringVar(&o.Input.Format, "format", "", "transcript format (default: detected from the content)")
	f.BoolVar(&o.Input.IncludeTools, "include-tools", false, "extract from tool calls and their results too")
	f.StringVar(&o.flush, "flush-reason", flushEnd, "reason, for the heading in the daily record:\n"+strings.Join(flushReasons(), ", "))
	f.DurationVar(&o.debounce, "debounce", schema.DefaultDebounce, "how long to wait for more of the user's sessions")
	f.DurationVar(&o.maxWait, "max-wait", schema.DefaultMaxWait, "how long a session waits at most")
}

func (o *enqueueOptions) check() error {
	switch {
	case o.debounce <= 0 || o.debounce > schema.MaxDebounce:
		return command.Usagef("--debounce %v: want more than 0, and at most %v", o.debounce, schema.MaxDebounce)
	case o.maxWait <= 0 || o.maxWait > schema.MaxMaxWait:
		return command.Usagef("--max-wait %v: want more than 0, and at most %v", o.maxWait, schema.MaxMaxWait)
	case o.messages && o.Input.SessionID == "":
		return command.Usagef("--messages needs --session: the session that the messages are of")
	case o.messages && o.Input.Format != "":
		return command.Usagef("--format %s: messages have none, only a transcript does", o.Input.Format)
	case o.messages && o.Input.IncludeTools:
		return command.Usagef("--include-tools: messages hold no tool calls, only a transcript does")
	}
	return o.ProcessOptions.check()
}

// conversation returns the session as it is enqueued.
func (o *enqueueOptions) conversation(id, session string) client.Conversation {
	return client.Conversation{
		ID: id, Project: o.Input.Project, User: o.Input.User, Agent: o.Input.Agent, Thread: session, Now: o.now,
		Flush: o.Input.Flush, IncludeTools: o.Input.IncludeTools, Debounce: o.debounce, MaxWait: o.maxWait,
	}
}

func enqueueCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "enqueue FILE|-", Short: "add the sessions of a transcript to a queue, without waiting",
		Long: `The session is processed once the user and agent are quiet. A file is read at that time, and must still be there.
Standard input is copied without secrets and kept until then. Sessions that Temporal can't take now are kept, and delivered by
the next such command or by a worker.`,
		Example: "starter enqueue session.jsonl --project demo\n" +
			"agent-turn | starter enqueue - --session today --messages --user ann",
	}
	f := cmd.Flags()
	o := &enqueueOptions{}
	o.add(f)
	f.StringVar(&o.Input.SessionID, "session", "", "session id (default: the transcript's own)")
	f.BoolVar(&o.now, "now", false, "process the backlog of the queue now")
	f.BoolVar(&o.messages, "messages", false, "the file holds messages of --session that are new, as JSON lines of role, content and,\nwhere they are known, id and at")
	a.Complete(cmd, "format", command.Fixed(formatNames()...))
	a.Complete(cmd, "flush-reason", command.Fixed(flushReasons()...))
	a.Answers(cmd, enqueueReport{})
	return a.Online(cmd, func(ctx context.Context, args []string) error { return enqueue(ctx, a, o, args[0]) })
}

// enqueuedSession is a session that was enqueued, or could not be.
type enqueuedSession struct {
	Session string `json:"session_id"`
	File    string `json:"file"`
	client.Enqueued
	Error string `json:"error,omitempty"`
}

// enqueueReport is the result of enqueue.
type enqueueReport struct {
	Sessions []enqueuedSession `json:"sessions"`
	// Disabled is true if memory is switched off.
	Disabled bool `json:"disabled,omitempty"`
}

func enqueue(ctx context.Context, a *command.App, o *enqueueOptions, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	if a.Cfg.NoQueue && a.Called() {
		return command.Conflictf("%w", client.ErrDisabled)
	}
	if a.Cfg.NoQueue {
		return a.Print(enqueueReport{Sessions: []enqueuedSession{}, Disabled: true}, func(b *strings.Builder) {
			fmt.Fprintln(b, client.ErrDisabled)
		})
	}
	conversations, refused, err := conversations(ctx, a, o, path)
	if err != nil {
		return err
	}
	c, err := a.Client(ctx)
	if err != nil {
		return err
	}
	report := enqueueReport{Sessions: refused}
	for _, each := range conversations {
		limited, cancel := context.WithTimeout(ctx, sendTimeout)
		done, err := c.Enqueue(limited, each)
		cancel()
		switch {
		case errors.Is(err, client.ErrInvalid), errors.Is(err, client.ErrUnavailable), ctx.Err() != nil:
			return command.ClientError(err)
		case err != nil && !errors.Is(err, client.ErrFull):
			return err
		}
		session := enqueuedSession{Session: each.Thread, File: each.File, Enqueued: done}
		if err != nil {
			session.Error = err.Error()
		}
		report.Sessions = append(report.Sessions, session)
	}
	if err := a.Print(report, func(b *strings.Builder) { printEnqueued(b, o, report) }); err != nil {
		return err
	}
	if failed := command.Count(report.Sessions, func(s enqueuedSession) bool { return s.Error != "" }); failed > 0 {
		return fmt.Errorf("%d of %s not enqueued", failed, command.Plural(len(report.Sessions), "session", "sessions"))
	}
	return nil
}

// conversations lists the sessions of the file to enqueue, and the refused ones.
func conversations(ctx context.Context, a *command.App, o *enqueueOptions, path string) (all []client.Conversation, refused []enqueuedSession, err error) {
	if o.messages {
		each, err := messagesOf(a, path)
		if err != nil {
			return nil, nil, err
		}
		whole := o.conversation(a.NewID(), o.Input.SessionID)
		whole.Messages = each
		return []client.Conversation{whole}, []enqueuedSession{}, nil
	}
	paths := []string{path}
	if path == "-" {
		if paths, err = Spool(ctx, a, &o.ProcessOptions); err != nil {
			return nil, nil, err
		}
	}
	info, err := os.Stat(paths[0])
	switch {
	case err != nil:
		return nil, nil, command.Usagef("read %q: %w", path, errors.Unwrap(err))
	case info.IsDir():
		return nil, nil, command.Usagef("%q is a directory: give a file, or have it watched: starter watch DIR", path)
	}
	refused = []enqueuedSession{}
	for _, path := range paths {
		jobs, err := fileJobs(ctx, &o.ProcessOptions, path)
		if err != nil {
			return nil, nil, command.BadUsage(err)
		}
		for _, j := range jobs {
			if j.Refused {
				a.Cfg.State.DropStdin(j.Input.URI)
				refused = append(refused, enqueuedSession{Session: j.Input.SessionID, File: path, Error: j.Error})
				continue
			}
			each := o.conversation(a.NewID(), j.Input.SessionID)
			each.File, each.Format, each.Signals = path, o.Input.Format, &j.Signals
			all = append(all, each)
		}
	}
	return all, refused, nil
}

// maxMessagesLine bounds a line that contains a message, in bytes. JSON may take six bytes for each byte of the message.
const maxMessagesLine = 6*schema.MaxHeldBytes + 4<<10

// messagesOf reads messages, one per line.
func messagesOf(a *command.App, path string) ([]client.Message, error) {
	in := a.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, command.Usagef("read %q: %w", path, errors.Unwrap(err))
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	var all []client.Message
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxMessagesLine)
	n, size := 0, 0
	for ; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var m client.Message
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&m); err != nil {
			return nil, command.Usagef("line %d of %q is no message of role and content: %w", n+1, path, err)
		}
		// An empty content is that of a message with tool calls alone.
		if m.Role == "" || !gjson.GetBytes(lines.Bytes(), "content").Exists() {
			return nil, command.Usagef("line %d of %q is no message of role and content: one of them is missing", n+1, path)
		}
		if size += len(m.Content); size > schema.MaxHeldBytes {
			return nil, command.Usagef("%q holds more than %d bytes of messages: give them in several files", path, schema.MaxHeldBytes)
		}
		all = append(all, m)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, command.Usagef("line %d of %q is longer than %d bytes", n+1, path, maxMessagesLine)
	case err != nil:
		return nil, command.Usagef("read %q: %w", path, err)
	case len(all) == 0:
		return nil, command.Usagef("%q holds no message: there is nothing to remember", path)
	}
	return all, nil
}

func printEnqueued(b *strings.Builder, o *enqueueOptions, r enqueueReport) {
	for _, s := range r.Sessions {
		switch name := command.ShownSession(s.Session); {
		case s.Error != "":
			command.Say(b, "%s may not be enqueued: %s\n", name, command.OneLine(s.Error, command.MaxErrorLine))
		default:
			command.Say(b, "%s\n", enqueuedText(name, s.Enqueued, o.now))
		}
	}
}

// enqueuedText describes the result for the session.
func enqueuedText(name string, e client.Enqueued, now bool) string {
	switch {
	case e.Spooled:
		return name + " is kept until Temporal is back, and enqueued then"
	case now:
		return name + " is enqueued, to be processed at once"
	}
	return name + " is enqueued, to be processed by " + command.When(e.Latest)
}
