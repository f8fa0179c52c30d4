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

// Activities opens and closes builds, and brings projections up to date.
type Activities struct {
	log  *eventlog.Store
	spec schema.BuildSpec
	// projectors are those that session streams concern.
	projectors []eventlog.Projector
}

// NewActivities returns the room's activities. The spec is what this worker builds with, its extractor
// without tools; projectors are all there are: see [Projections].
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

// reads reports whether the projector wants the streams whose names begin so.
func reads(p eventlog.Projector, prefix string) bool {
	return strings.HasPrefix(prefix, p.StreamPrefix())
}

// OpenInput says whose session is built.
type OpenInput struct {
	schema.SessionKey
	IncludeTools bool `json:"include_tools,omitempty"`
}

// Opened is a build that may run.
type Opened = schema.OpenedBuild

// OpenBuild returns the build to run for the session.
func (a *Activities) OpenBuild(ctx context.Context, in OpenInput) (Opened, error) {
	stop := boundary.Heartbeat(ctx, boundary.HeartbeatInterval)
	defer stop()
	last, err := ReadLast(ctx, a.log, in.SessionKey)
	if err != nil {
		return Opened{}, boundary.Return(ctx, err)
	}
	spec := a.spec
	spec.Extractor.Tools = in.IncludeTools
	ordinal := last.NextOrdinal()
	return Opened{
		BuildID: ID(in.SessionKey, ordinal), Ordinal: ordinal, SessionKey: in.SessionKey, Spec: spec,
		Completed: last.Completed(spec.Extractor.ID()), First: last.Started.Ordinal == 0,
	}, nil
}

// CloseInput is how a build ended.
type CloseInput struct {
	Build Opened `json:"build"`
	// Source is what is known of the source where it could not be read: its URI and the format given.
	Source   schema.Source               `json:"source"`
	Finished schema.BuildFinishedPayload `json:"finished"`
	// StartedAt and At are the workflow's times of its start and of now.
	StartedAt time.Time `json:"started_at"`
	At        time.Time `json:"at"`
}

// CloseBuild appends how the build ended, and how it began where a failure came before that was known,
// and projects both.
func (a *Activities) CloseBuild(ctx context.Context, in CloseInput) error {
	stop := boundary.Heartbeat(ctx, boundary.HeartbeatInterval)
	defer stop()
	return boundary.Return(ctx, a.close(ctx, in))
}

func (a *Activities) close(ctx context.Context, in CloseInput) error {
	started, err := in.Build.Started(in.Source).Event(in.StartedAt)
	if err != nil {
		return err
	}
	finished, err := in.Finished.Event(in.Build.Project, in.At)
	if err != nil {
		return err
	}
	stream := in.Build.Stream()
	if _, err := a.log.Append(ctx, stream, []schema.Event{started, finished}); err != nil {
		return err
	}
	return a.project(ctx, stream)
}

// ProjectSession brings every projection of the session's stream up to date.
func (a *Activities) ProjectSession(ctx context.Context, session schema.SessionKey) error {
	stop := boundary.Heartbeat(ctx, boundary.HeartbeatInterval)
	defer stop()
	return boundary.Return(ctx, a.project(ctx, session.Stream()))
}

func (a *Activities) project(ctx context.Context, stream string) error {
	for _, p := range a.projectors {
		if _, err := a.log.Project(ctx, p, stream); err != nil {
			return err
		}
	}
	return nil
}
