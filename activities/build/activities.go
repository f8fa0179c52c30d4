package build

import (
	"context"
	"errors"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Activities starts and ends builds, and brings projections up to date.
type Activities struct {
	log  *eventlog.Store
	spec schema.BuildSpec
	// projectors are those that read session streams.
	projectors []eventlog.Projector
}

// NewActivities returns the activities of this package. The spec describes this worker's builds, with an extractor
// that does not use tools. The projectors are all that exist: see [Projections].
func NewActivities(log *eventlog.Store, spec schema.BuildSpec, projectors []eventlog.Projector) (*Activities, error) {
	switch {
	case log == nil:
		return nil, errors.New("build activities: no event log")
	case spec.Extractor.Model == "" || spec.EmbeddingVersion == "":
		return nil, errors.New("build activities: the spec names no extractor or no embedder")
	}
	a := &Activities{log: log, spec: spec}
	for _, p := range projectors {
		if reads(p, schema.SessionPrefix) {
			a.projectors = append(a.projectors, p)
		}
	}
	return a, nil
}

// reads reports whether the projector reads streams with the prefix.
func reads(p eventlog.Projector, prefix string) bool {
	return strings.HasPrefix(prefix, p.StreamPrefix())
}

// OpenInput names the session to build.
type OpenInput struct {
	schema.SessionKey
	IncludeTools bool `json:"include_tools,omitempty"`
}

// Opened is a build that is about to run.
type Opened = schema.OpenedBuild

// OpenBuild returns the next build of the session.
func (a *Activities) OpenBuild(ctx context.Context, in OpenInput) (Opened, error) {
	return boundary.Run(ctx, in, a.open)
}

func (a *Activities) open(ctx context.Context, in OpenInput) (Opened, error) {
	// The steps that follow read the stream from memory.
	head, err := a.log.Load(ctx, in.Stream())
	if err != nil {
		return Opened{}, err
	}
	last, err := ReadLast(eventlog.WithHead(ctx, in.Stream(), head), a.log, in.SessionKey)
	if err != nil {
		return Opened{}, err
	}
	spec := a.spec
	spec.Extractor.Tools = in.IncludeTools
	ordinal := last.NextOrdinal()
	return Opened{
		BuildID: ID(in.SessionKey, ordinal), Ordinal: ordinal, SessionKey: in.SessionKey, Spec: spec,
		Completed: last.Completed(spec.Extractor.ID()), First: last.Started.Ordinal == 0,
		Head: head,
	}, nil
}

// CloseInput is the outcome of a build.
type CloseInput struct {
	Build Opened `json:"build"`
	// Source is used if the source could not be read. It holds what is known then: the URI and the given format.
	Source   schema.Source               `json:"source"`
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
	started, err := in.Build.Started(in.Source).Event(in.StartedAt)
	if err != nil {
		return none, err
	}
	finished, err := in.Finished.Event(in.Build.Project, in.At)
	if err != nil {
		return none, err
	}
	stream := in.Build.Stream()
	ctx = eventlog.WithHead(ctx, stream, in.Build.Head)
	if _, err := a.log.Append(ctx, stream, []schema.Event{started, finished}); err != nil {
		return none, err
	}
	return none, a.project(ctx, stream)
}

// ProjectInput names the session to project.
type ProjectInput struct {
	schema.SessionKey
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// ProjectSession brings all projections of the session's stream up to date.
func (a *Activities) ProjectSession(ctx context.Context, in ProjectInput) error {
	_, err := boundary.Run(ctx, in, func(ctx context.Context, in ProjectInput) (struct{}, error) {
		return struct{}{}, a.project(eventlog.WithHead(ctx, in.Stream(), in.Head), in.Stream())
	})
	return err
}

func (a *Activities) project(ctx context.Context, stream string) error {
	for _, p := range a.projectors {
		if _, err := a.log.Project(ctx, p, stream); err != nil {
			return err
		}
	}
	return nil
}
