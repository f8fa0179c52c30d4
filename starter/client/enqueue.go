package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/api/serviceerror"

	"axiommind/activities/llm/signal"
	"axiommind/activities/queue/door"
	"axiommind/activities/transcript"
	"axiommind/activities/transcript/format"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Message is one message of a conversation. Its role is user, assistant, system or tool.
type Message = schema.InlineMessage

// Conversation is a part of a session, or a transcript that has grown, to be remembered once the session is quiet.
type Conversation struct {
	// ID identifies the enqueueing: a conversation enqueued twice with the same ID counts once. Empty for a new one,
	// which [Enqueued.ID] returns. To retry after an error, give that one.
	ID string
	// Project and User are by default "default". Agent may be empty.
	Project, User, Agent string
	// Thread is the session's id. It is required for messages. For a file, it is by default the transcript's own.
	Thread string

	// Messages are the session's messages that were not enqueued before, in order. Others may come before them: messages
	// that the session contains already are recognized by their overlap and by their ids. They have 1 MiB at most. A
	// longer list is an [ErrInvalid]: give it in several conversations of the same thread.
	Messages []Message
	// Statement is set if the only message is a statement by a person, or by the agent that it names. It has no Thread.
	Statement *schema.Statement

	// File is the path of a transcript, in place of messages. The worker reads it: it must be on the same machine, or
	// find the file in a root of its own.
	File string
	// Format is the file's format. Empty to detect it from the content.
	Format string
	// IncludeTools extracts from tool calls and their results too.
	IncludeTools bool

	// Now has it processed at once: a statement alone, a conversation with everything else of the user that waits.
	Now bool
	// Flush says why the session is given. Empty for its end.
	Flush schema.FlushReason
	// At is when the messages without a time of their own were written. Default: now.
	At time.Time
	// Debounce is how long to wait for more of the user's conversations, and MaxWait how long at most. 0 means
	// [schema.DefaultDebounce] and [schema.DefaultMaxWait].
	Debounce, MaxWait time.Duration
	// Signals are the user's reactions to the agent. Nil to find them in the last messages.
	Signals *Signals
}

// Signals are a user's reactions to the agent. A conversation with either is admitted to a full queue.
type Signals struct{ Correction, Reinforcement bool }

// Enqueued is the outcome of enqueueing a conversation.
type Enqueued struct {
	// ID is the conversation's. It is set also if there is an error.
	ID string `json:"id"`
	// Thread is the session's id.
	Thread string `json:"thread"`
	// Latest is when the queue begins to process it at the latest, if a worker is free.
	Latest time.Time `json:"latest"`
	// Spooled is true if Temporal was away, and the spool keeps the conversation until it is delivered.
	Spooled bool `json:"spooled,omitempty"`
}

// Enqueue gives a conversation to the user's queue. It waits for no worker and no model.
//
// The error is [ErrDisabled], [ErrInvalid], [ErrFull] or, where a server is away and there is no spool, [ErrUnavailable].
// After any other than the first two, the conversation may have been enqueued: give it again with the same ID. ErrFull
// says that the queue may leave it out, for which a program should wait before it goes on.
func (c *Client) Enqueue(ctx context.Context, conversation Conversation) (Enqueued, error) {
	if c.cfg.NoQueue {
		return Enqueued{}, ErrDisabled
	}
	done := Enqueued{ID: cmp.Or(conversation.ID, uuid.NewString())}
	conversation.ID = done.ID
	q, err := c.queued(ctx, conversation)
	if err != nil {
		return done, err
	}
	done.Thread, done.Latest = q.Thread, q.At
	if _, most := q.Waits(); !q.Now {
		done.Latest = q.At.Add(most)
	}
	if q, err = c.hold(ctx, q); err != nil {
		return done, err
	}
	if err := q.Validate(); err != nil {
		return done, invalid(err)
	}
	err = c.send(ctx, q)
	if errors.Is(err, ErrUnavailable) && c.cfg.Spool != nil && !errors.Is(ctx.Err(), context.Canceled) {
		if kept := c.cfg.Spool.Put(q); kept != nil {
			return done, fmt.Errorf("%w; and it can't be kept until Temporal is back: %w", err, kept)
		}
		done.Spooled = true
		return done, nil
	}
	return done, err
}

// Send delivers a conversation from a spool. Sent again, it counts once.
func (c *Client) Send(ctx context.Context, q schema.QueuedContext) error { return c.send(ctx, q) }

func (c *Client) send(ctx context.Context, q schema.QueuedContext) error {
	t, err := c.askTemporal(ctx)
	if err != nil {
		return err
	}
	err = door.Send(ctx, t, q)
	var away *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	var busy *serviceerror.ResourceExhausted
	if errors.As(err, &away) || errors.As(err, &late) || errors.As(err, &busy) || errors.Is(err, context.DeadlineExceeded) {
		return unavailable(err)
	}
	return err
}

// queued returns the context to enqueue. Its messages may be too long for a signal.
func (c *Client) queued(ctx context.Context, in Conversation) (q schema.QueuedContext, err error) {
	q = schema.QueuedContext{
		ID: in.ID, Scope: scopeOf(in.Project, in.User, in.Agent), Thread: in.Thread, At: in.At.UTC(), Statement: in.Statement,
		Flush: in.Flush, IncludeTools: in.IncludeTools, Now: in.Now, Debounce: in.Debounce, MaxWait: in.MaxWait,
	}
	if in.At.IsZero() {
		q.At = time.Now().UTC()
	}
	var last []schema.Message
	switch {
	case in.File != "" && len(in.Messages) > 0:
		return q, invalid(errors.New("give messages or a file, not both"))
	case in.File != "":
		q, last, err = fromFile(ctx, q, in, c.cfg.SourceKey)
	case in.Format != "":
		return q, invalid(fmt.Errorf("format %q: messages have none, only a file does", in.Format))
	default:
		q, last, err = fromMessages(q, in)
	}
	if err != nil {
		return q, err
	}
	shown := in.Signals
	if shown == nil {
		found := FindSignals(last)
		shown = &found
	}
	q.Correction, q.Reinforcement = shown.Correction, shown.Reinforcement
	return q, nil
}

// FindSignals finds the signals in the last of the messages.
func FindSignals(messages []schema.Message) (s Signals) {
	for _, shown := range signal.Last(messages) {
		s.Correction = s.Correction || shown.Signal == signal.Correction
		s.Reinforcement = s.Reinforcement || shown.Signal == signal.Reinforcement
	}
	return s
}

// fromMessages takes the messages in, as text that any store can hold.
func fromMessages(q schema.QueuedContext, in Conversation) (schema.QueuedContext, []schema.Message, error) {
	if len(in.Messages) == 0 {
		return q, nil, invalid(errors.New("give messages or a file: there is nothing to remember"))
	}
	var read []schema.Message
	size := 0
	for i, m := range in.Messages {
		m.Role = strings.ToLower(m.Role)
		role, kind := schema.Role(m.Role), schema.KindText
		switch role {
		case schema.RoleUser, schema.RoleAssistant:
		case schema.RoleSystem:
			kind = schema.KindContext
		case schema.RoleTool:
			kind = schema.KindToolResult
		default:
			return q, nil, invalid(fmt.Errorf("message %d: role %q is not user, assistant, system or tool", i, m.Role))
		}
		m.Content, m.ID = clean(m.Content), clean(m.ID)
		redact.Strings(&m.Content) // Temporal stores it.
		if !m.At.IsZero() {
			m.At = m.At.UTC()
		}
		q.Messages = append(q.Messages, m)
		size += len(m.Content)
		read = append(read, format.Split(schema.Message{Role: role, Kind: kind, Text: m.Content})...)
	}
	if size > schema.MaxHeldBytes {
		return q, nil, invalid(fmt.Errorf("messages hold %d bytes, more than %d: give them in several conversations of the thread", size, schema.MaxHeldBytes))
	}
	if q.Statement != nil {
		if q.Thread != "" {
			return q, nil, invalid(fmt.Errorf("thread %q: a statement has none", q.Thread))
		}
		q.Thread = schema.ProcessSessionInput{
			Project: q.Project, User: q.User, Agent: q.Agent, Messages: q.Messages, Statement: q.Statement,
		}.StatementSessionID()
	}
	return q, read, nil
}

// clean returns the text as the log holds it.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// fromFile names the file, and the session of it. The file is read if that or the signals are not given.
func fromFile(ctx context.Context, q schema.QueuedContext, in Conversation, sourceKey string) (_ schema.QueuedContext, last []schema.Message, err error) {
	if q.URI, err = transcript.FileURI(in.File); err != nil {
		return q, nil, invalid(err)
	}
	q.Format = strings.ToLower(in.Format)
	if in.Thread == "" || in.Signals == nil {
		sessions, _, err := transcript.ReadSource(ctx, q.URI, q.Format)
		switch {
		case ctx.Err() != nil || errors.Is(err, format.ErrTryAgain):
			return q, nil, err
		case err != nil:
			return q, nil, invalid(err)
		}
		s, err := sessionOf(sessions, in)
		if err != nil {
			return q, nil, invalid(err)
		}
		q.Thread, last = cmp.Or(in.Thread, s.ID), s.Messages
	}
	// Without a grant, as where there is no place for its key, the worker's roots decide.
	q.Grant, _ = transcript.Grant(sourceKey, schema.ProcessSessionInput{
		URI: q.URI, Project: q.Project, User: q.User, Agent: q.Agent,
	})
	return q, last, nil
}

// sessionOf returns the session of the file that the conversation names.
func sessionOf(sessions []*transcript.Session, in Conversation) (*transcript.Session, error) {
	if len(sessions) == 1 {
		return sessions[0], nil
	}
	for _, s := range sessions {
		if in.Thread != "" && s.ID == in.Thread {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%q holds %d sessions, none with the id %q: name one by Thread", in.File, len(sessions), in.Thread)
}
