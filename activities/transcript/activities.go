package transcript

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Activities reads sessions into the event log.
type Activities struct {
	log    *eventlog.Store
	access *Access
}

// NewActivities returns the room's activities over the log. Sources are read where access allows it.
func NewActivities(log *eventlog.Store, access *Access) (*Activities, error) {
	if log == nil || access == nil {
		return nil, errors.New("transcript activities: an event log and the access to sources are needed")
	}
	return &Activities{log: log, access: access}, nil
}

// IdentifySession returns the id of the input's only session. A source of several sessions is an error
// that lists their ids.
func (a *Activities) IdentifySession(ctx context.Context, in schema.ProcessSessionInput) (string, error) {
	return boundary.Run(ctx, in, a.identify)
}

func (a *Activities) identify(ctx context.Context, in schema.ProcessSessionInput) (string, error) {
	if in.SessionID != "" {
		return in.SessionID, nil
	}
	// An id is derived from the stored text. An id of the text before redaction would let others guess the secret.
	in.Messages = redact.Messages(in.Messages)
	if in.Statement != nil {
		return in.StatementSessionID(), nil
	}
	if in.URI == "" {
		keys := make([]string, 0, 2*len(in.Messages))
		for _, m := range in.Messages {
			keys = append(keys, m.Role, m.Content)
		}
		return "inline-" + schema.HashParts(keys...)[:20], nil
	}
	sessions, _, err := a.access.ReadSource(ctx, in)
	if err != nil {
		return "", err
	}
	if len(sessions) > 1 {
		ids := make([]string, 0, 5)
		for _, s := range sessions[:min(5, len(sessions))] {
			ids = append(ids, s.ID)
		}
		return "", boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf(
			"source %q holds %d sessions: set session_id to one of %s, …", in.URI, len(sessions), strings.Join(ids, ", ")))
	}
	return sessions[0].ID, nil
}

// IngestInput names the session to read and its build.
type IngestInput struct {
	Session schema.ProcessSessionInput `json:"session"`
	Build   schema.OpenedBuild         `json:"build"`
	// At is when the workflow started: the time of its events.
	At time.Time `json:"at"`
}

// IngestResult counts the session's messages after the ingest.
type IngestResult struct {
	// Unchanged is true when the log knew every message and the last build had done all of them
	// with the same extractor. Nothing was written then.
	Unchanged bool `json:"unchanged"`
	// Resumed is true if the source is the same as when the resumed build read it.
	Resumed  bool `json:"resumed,omitempty"`
	Messages int  `json:"messages"`
	// NewMessages counts the messages that this build added.
	NewMessages  int `json:"new_messages"`
	SkippedLines int `json:"skipped_lines"`
	// Redacted counts the passages taken out of the messages that this build added.
	Redacted int `json:"redacted,omitempty"`
	// QueuedTo is the position of the last context of the queue that was read, if the input has Queued.
	QueuedTo uint64 `json:"queued_to,omitempty"`
	// Head is the head of the session's stream.
	Head   schema.StreamHead `json:"head,omitzero"`
	stored func()
}

// Stored reports to the options of [Access] that the log holds the result of [Ingest].
func (r IngestResult) Stored() {
	if r.stored != nil {
		r.stored()
	}
}

// Ingest reads the source and appends the messages that the log does not know, after the event that opens the build. The
// result has no head.
func Ingest(ctx context.Context, a *Activities, in IngestInput) (IngestResult, error) {
	key := in.Build.SessionKey
	logged, err := session.Open(ctx, a.log, key)
	if err != nil {
		return IngestResult{}, err
	}
	read, err := a.reading(ctx, in.Session, in.Build, logged)
	if err != nil {
		return IngestResult{}, err
	}
	unseen := read.unseen
	if !read.merged {
		if unseen, err = logged.Unseen(ctx, read.session.Messages); err != nil {
			return IngestResult{}, err
		}
	}
	read.session.Messages = nil // The unseen ones are enough to hold.
	brought := logged.AddedBy(in.Build.BuildID)
	result := IngestResult{
		Messages: logged.Len() + len(unseen), NewMessages: brought + len(unseen), SkippedLines: schema.CountSkipped(read.session.Skipped),
	}
	if n := len(read.queued); n > 0 {
		result.QueuedTo = read.queued[n-1]
	}
	if result.NewMessages == 0 && in.Build.Completed {
		result.Unchanged = true
		return result, nil
	}
	date, err := sessionDate(in.Session.Date, read.session, in.At)
	if err != nil {
		return IngestResult{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	p := in.Build.Started(read.source)
	p.Input, p.Messages, p.Unread = in.Session, result.Messages, read.unread
	p.Input.Messages = nil // The log holds them.
	p.Input.Queued = read.queued
	p.Redacted = redactedIn(unseen)
	uri := read.source.URI
	redact.Names(&p.Input.URI, &p.Input.Format, &p.Source.URI, &read.source.URI)
	if from := in.Build.Resumable; from != nil && result.NewMessages == 0 && from.SHA256 == read.source.SHA256 {
		result.Resumed, p.Resumed = true, &from.ResumedBuild
	}
	started, err := p.Event(in.At)
	if err != nil {
		return IngestResult{}, err
	}
	payload := schema.SessionIngestedPayload{SessionKey: key, Date: date, Source: read.source}
	skipped := read.session.Skipped
	if brought > 0 {
		skipped = nil // An earlier attempt has recorded them.
	}
	limit := maxAppendBytes
	if read.source.URI == "" {
		limit = math.MaxInt // The log holds all of them or none: nothing else does once the start is stored.
	}
	events := a.ingestEvents(payload, unseen, skipped, in.Build.BuildID)
	if err := a.appendAll(ctx, key.Stream(), limit, started, events); err != nil {
		return IngestResult{}, err
	}
	if f := a.access.options.Ingested; f != nil {
		result.stored = func() { f(in.Build.BuildID, uri) }
	}
	result.Redacted, err = a.redacted(ctx, p, brought > 0)
	return result, err
}

// redactedIn counts the redactions in the messages, by rule.
func redactedIn(messages []schema.Message) map[string]int {
	var all redact.Counts
	for _, m := range messages {
		all.Add(schema.CountRedactions(m.Text))
	}
	return all
}

// redacted counts the redactions in the messages of the build. If an earlier attempt has begun to store them, it reads
// the count from the stored start.
func (a *Activities) redacted(ctx context.Context, p schema.BuildStartedPayload, begun bool) (int, error) {
	if begun {
		event, err := a.log.Get(ctx, schema.EventID(schema.BuildStartedKey(p.BuildID)))
		if err != nil {
			return 0, fmt.Errorf("read the start of build %q: %w", p.BuildID, err)
		}
		if p, err = schema.Decode[schema.BuildStartedPayload](event); err != nil {
			return 0, err
		}
	}
	return redact.Counts(p.Redacted).Total(), nil
}

// readSession reads the one session that the input names, unless workers died while they read a file for the build refused.
func (a *Activities) readSession(ctx context.Context, in schema.ProcessSessionInput, refused string) (*Session, schema.Source, error) {
	if in.URI == "" {
		return a.readInline(ctx, in.Messages, in.Statement)
	}
	if refused != "" {
		return nil, schema.Source{}, boundary.Invalid(schema.ErrorSourceKills, fmt.Errorf(
			"source %q is not read: workers died of the one of build %q; split it, then try the latest build again by starter builds retry --force", in.URI, refused))
	}
	sessions, source, err := a.access.ReadSource(ctx, in)
	if err != nil {
		return nil, schema.Source{}, err
	}
	for _, s := range sessions {
		if s.ID == in.SessionID || len(sessions) == 1 {
			return s, source, nil
		}
	}
	return nil, schema.Source{}, boundary.Invalid(schema.ErrorInvalidInput,
		fmt.Errorf("source %q holds %d sessions, none with the id %q", in.URI, len(sessions), in.SessionID))
}

// sessionDate is the date given, else that of the session's first dated message, else the default.
func sessionDate(given string, s *Session, fallback time.Time) (time.Time, error) {
	if given == "" {
		if !s.Started.IsZero() {
			return s.Started, nil
		}
		return fallback, nil
	}
	return ParseDate(given)
}
