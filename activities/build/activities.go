package build

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Activities starts and ends builds, and brings projections up to date.
type Activities struct {
	log  *projection.Store
	conn driver.Conn
	spec schema.BuildSpec
	// projectors are the projectors that a session brings up to date.
	projectors []projection.Projector
	// Ended is called with the end of a build, once the log contains it. Default: no call.
	Ended func(buildID string, status schema.BuildStatus)
}

// NewActivities returns the activities of this package. The spec describes this worker's builds, with an extractor
// that does not use tools. The connection is the log's. The projectors are all that exist: see [Projections].
func NewActivities(log *projection.Store, conn driver.Conn, spec schema.BuildSpec, projectors []projection.Projector) (*Activities, error) {
	switch {
	case log == nil || conn == nil:
		return nil, errors.New("build activities: no event log")
	case spec.Extractor.Model == "" || spec.EmbeddingVersion == "":
		return nil, errors.New("build activities: the spec names no extractor or no embedder")
	}
	a := &Activities{log: log, conn: conn, spec: spec}
	for _, p := range projectors {
		if _, later := p.(*graduate.Projector); !later && reads(p, schema.SessionPrefix) {
			a.projectors = append(a.projectors, p)
		}
	}
	return a, nil
}

// reads reports whether the projector reads streams with the prefix.
func reads(p projection.Projector, prefix string) bool {
	return strings.HasPrefix(prefix, p.StreamPrefix())
}

// OpenInput names the session to build.
type OpenInput struct {
	schema.SessionKey
	IncludeTools bool `json:"include_tools,omitempty"`
	FromLog      bool `json:"from_log,omitempty"`
	// Retry is the id of the build to try again, if one is.
	Retry string `json:"retry,omitempty"`
	// AskGivenUp makes the retry ask once more about the windows that were given up.
	AskGivenUp bool `json:"ask_given_up,omitempty"`
	// Statement is the statement of the workflow's input.
	Statement *schema.Statement `json:"statement,omitempty"`
}

// Opened is a build that is about to run.
type Opened = schema.OpenedBuild

// OpenBuild returns the next build of the session. It refuses to retry a build that has nothing left to do, or that a
// later one has followed, and to build from a log without the session.
func (a *Activities) OpenBuild(ctx context.Context, in OpenInput) (Opened, error) {
	return boundary.Run(ctx, in, a.open)
}

func (a *Activities) open(ctx context.Context, in OpenInput) (Opened, error) {
	if err := a.log.Admits(ctx, in.SessionKey); err != nil {
		return Opened{}, err
	}
	// The steps that follow read the stream from memory.
	head, err := a.log.Load(ctx, in.Stream())
	if err != nil {
		return Opened{}, err
	}
	ctx = eventlog.WithHead(ctx, in.Stream(), head)
	last, err := ReadLast(ctx, a.log.Store, in.SessionKey)
	if err != nil {
		return Opened{}, err
	}
	opened := Opened{SessionKey: in.SessionKey, First: last.Started.Ordinal == 0, Head: head}
	windows := 0
	if in.Retry != "" {
		opened.Retried = last.retriedInput(in.AskGivenUp)
		in.IncludeTools, in.FromLog = opened.Retried.IncludeTools, opened.Retried.FromLog
		if opened.Retried.AskGivenUp {
			answers, err := llm.ReadAnswers(ctx, a.log.Store, in.SessionKey)
			if err != nil {
				return Opened{}, err
			}
			windows = answers.GivenUp()
		}
		if err := last.retryable(in.SessionKey, in.Retry, windows); err != nil {
			return Opened{}, boundary.Invalid(schema.ErrorInvalidInput, err)
		}
	}
	if in.FromLog {
		if err := a.logHolds(ctx, in.SessionKey); err != nil {
			return Opened{}, err
		}
	}
	if f := last.Finished; f != nil && f.ErrorType == schema.ErrorSourceKills && in.Retry == "" {
		opened.Refused = f.BuildID
	}
	opened.Ordinal = last.NextOrdinal()
	opened.BuildID = ID(in.SessionKey, opened.Ordinal)
	opened.Spec = a.spec
	opened.Spec.Extractor.Tools = in.IncludeTools
	if opened.Statement, err = last.statement(in); err != nil {
		return Opened{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	if opened.Statement != nil {
		opened.Spec.Extractor = opened.Statement.Extractor()
	}
	opened.Completed = in.Retry == "" && last.Completed(opened.Spec.Extractor.ID())
	if !opened.Completed {
		opened.Resumable = last.resumable(opened.Spec, windows)
	}
	return opened, nil
}

// logHolds returns an error unless the log contains messages of the session.
func (a *Activities) logHolds(ctx context.Context, key schema.SessionKey) error {
	s, err := session.Open(ctx, a.log.Store, key)
	if err == nil && s.Len() == 0 {
		err = boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf(
			"the log holds no message of session %q of project %q, user %q, agent %q: check these names, or give uri or messages",
			key.SessionID, key.Project, key.User, key.Agent))
	}
	return err
}

// CloseInput is the outcome of a build.
type CloseInput struct {
	Build Opened `json:"build"`
	// Input is the workflow's input. It is only used if the build failed before its start was recorded, and has messages
	// only then.
	Input    schema.ProcessSessionInput  `json:"input"`
	Finished schema.BuildFinishedPayload `json:"finished"`
	// StartedAt is the time at which the workflow started, and At the workflow's current time.
	StartedAt time.Time `json:"started_at"`
	At        time.Time `json:"at"`
}

// CloseBuild appends the event that ends the build and projects it. If the build failed before its start was
// recorded, CloseBuild appends the start first.
func (a *Activities) CloseBuild(ctx context.Context, in CloseInput) error {
	_, err := boundary.Run(ctx, in, a.close)
	return err
}

func (a *Activities) close(ctx context.Context, in CloseInput) (none struct{}, err error) {
	stream := in.Build.Stream()
	ctx = eventlog.WithHead(ctx, stream, in.Build.Head)
	p, err := a.started(ctx, in)
	if err != nil {
		return none, err
	}
	started, err := p.Event(in.StartedAt)
	if err != nil {
		return none, err
	}
	finished, err := in.Finished.Event(in.Build.Project, in.At)
	if err != nil {
		return none, err
	}
	if _, err := a.log.Append(ctx, stream, []schema.Event{started, finished}); err != nil {
		return none, err
	}
	if a.Ended != nil {
		a.Ended(in.Build.BuildID, in.Finished.Status)
	}
	return none, a.project(ctx, stream)
}

// started is the start of a build that failed before it could be recorded. A retry keeps the source that the retried
// build recorded, so that it can be retried, too.
func (a *Activities) started(ctx context.Context, in CloseInput) (schema.BuildStartedPayload, error) {
	p := in.Build.Started(in.Input.Source())
	p.Input = in.Input
	p.Input.Messages = redact.Messages(p.Input.Messages)
	redact.Names(&p.Input.URI, &p.Input.Format, &p.Source.URI, &p.Source.Format)
	if in.Input.Retry == "" {
		return p, nil
	}
	last, err := ReadLast(ctx, a.log.Store, in.Build.SessionKey)
	if err != nil {
		return p, err
	}
	p.Source, p.Messages, p.Input.Messages = last.Started.Source, last.Started.Messages, last.Started.Input.Messages
	return p, nil
}

// ProjectInput names the session to project.
type ProjectInput struct {
	schema.SessionKey
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// ProjectSession brings the projections of the session's stream up to date, but for the ledgers of graduation, whose passes
// do that for many sessions at once.
func (a *Activities) ProjectSession(ctx context.Context, in ProjectInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in ProjectInput) (struct{}, error) {
		return struct{}{}, a.project(eventlog.WithHead(ctx, in.Stream(), in.Head), in.Stream())
	})
	return err
}

func (a *Activities) project(ctx context.Context, stream string) error {
	return a.log.ProjectEach(ctx, stream, a.projectors)
}

// Indexer brings the outboxes of the messages and other projections up to date with a stream, and wakes the writers of the
// outboxes, but does not wait for them.
type Indexer interface {
	EnqueueWith(ctx context.Context, stream string, others []projection.Projector) error
}

// Publish does what [Activities.ProjectSession] does, and has the session's messages indexed.
func Publish(ctx context.Context, a *Activities, session schema.SessionKey, index Indexer) error {
	return index.EnqueueWith(ctx, session.Stream(), a.projectors)
}
