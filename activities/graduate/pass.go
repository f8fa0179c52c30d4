package graduate

import (
	"context"
	"fmt"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// actorGraduation is the actor of the events of a pass.
const actorGraduation = "graduation"

// GraduateProject considers the changes of some sessions of the project and, on request, the age of its entries. Only
// the workflow graduation may call it. After a crash it can be called again: stored acts are not repeated.
func (a *Activities) GraduateProject(ctx context.Context, in PassInput) (PassResult, error) {
	return boundary.Run(ctx, in, a.graduate)
}

func (a *Activities) graduate(ctx context.Context, in PassInput) (PassResult, error) {
	if err := in.Validate(); err != nil {
		return PassResult{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	stream := schema.GraduateStream(in.Project)
	ctx, err := a.log.AsWriter(ctx, stream, in.Head)
	if err != nil {
		return PassResult{}, err
	}
	at := in.At.UTC().Truncate(time.Microsecond)
	var acts []act
	var result PassResult
	err = a.steady(ctx, stream, func() error {
		acts, result, err = a.plan(ctx, in, at)
		return err
	})
	if err != nil {
		return PassResult{}, err
	}
	if err := a.commit(ctx, in.Project, stream, acts); err != nil {
		return PassResult{}, err
	}
	result.Head = a.log.Head(stream)
	return result, nil
}

// steady brings both projections of the stream up to date and calls plan, which reads their rows. It repeats this if a
// rebuild swapped tables meanwhile.
func (a *Activities) steady(ctx context.Context, stream string, plan func() error) error {
	return a.log.Steady(ctx, entry.NewProjector(a.conn), stream, func() error {
		return a.log.Steady(ctx, NewProjector(a.conn), stream, plan)
	})
}

// commit appends the acts and projects them.
func (a *Activities) commit(ctx context.Context, project, stream string, acts []act) error {
	if len(acts) == 0 {
		return nil
	}
	events := make([]schema.Event, len(acts))
	for i, one := range acts {
		event, err := schema.NewEvent(one.payload, schema.Event{
			TS: one.at, Actor: actorGraduation, Project: project, BuildID: one.build, DedupeKey: one.key,
		})
		if err != nil {
			return err
		}
		events[i] = event
	}
	// If the events need several blocks, the sessions that were considered are recorded last.
	if _, err := a.log.AppendAll(ctx, stream, events); err != nil {
		return err
	}
	return a.project(ctx, stream)
}

// projectSessions brings the ledgers up to date with all sessions of the project.
func (a *Activities) projectSessions(ctx context.Context, project string) error {
	_, err := a.log.ProjectUnder(ctx, NewProjector(a.conn), schema.SessionsOf(project))
	return err
}

func (a *Activities) project(ctx context.Context, stream string) error {
	return a.log.ProjectEach(ctx, stream, []projection.Projector{entry.NewProjector(a.conn), NewProjector(a.conn)})
}

func (a *Activities) plan(ctx context.Context, in PassInput, at time.Time) ([]act, PassResult, error) {
	l := a.loader()
	s, more, err := l.begin(ctx, in.Project, at, a.log.Head(schema.GraduateStream(in.Project)).Seq)
	if err == nil {
		// The pass projects the ledgers of many sessions at once, after it has chosen its sessions. A session that ends
		// meanwhile is left to the next pass. So no session is considered before its claims are in the ledgers.
		err = a.projectSessions(ctx, in.Project)
	}
	if err == nil {
		err = l.surround(ctx, s)
	}
	if err != nil {
		return nil, PassResult{}, fmt.Errorf("graduate project %q: %w", in.Project, err)
	}
	acts, result := plan(s, !a.options.IdrisOnly)
	result.More = result.More || more
	// Demotions come last, because a pending session may restate an old entry.
	if !in.Demote || result.More {
		return acts, result, nil
	}
	falls, err := a.expired(ctx, in.Project, at)
	if err != nil {
		return nil, PassResult{}, err
	}
	for _, f := range falls {
		if s.entries[f.id] != nil && len(s.sessions) > 0 {
			continue // The acts of this pass take precedence.
		}
		result.Demoted++
		if len(result.Falls) < maxFalls {
			result.Falls = append(result.Falls, f.fall())
		}
		if in.Apply {
			acts = append(acts, f.act(in.Project, at))
		}
	}
	return acts, result, nil
}

// maxFalls bounds the falls in a result, to keep it small.
const maxFalls = 100

// Waiting returns the number of pending sessions of the project, at most one more than a pass takes.
func (l *Ledgers) Waiting(ctx context.Context, project string) (int, error) {
	sessions, err := loader{conn: l.conn}.pending(ctx, project)
	return len(sessions), err
}
