package graduate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/ledger"
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
	in.At = in.At.UTC().Truncate(time.Microsecond)
	result, err := ledger.One(ctx, a.log, ledger.Room[PassInput, *pass, PassResult]{
		Projectors: a.projectors(),
		Load:       func(ctx context.Context, _ []PassInput) (*pass, error) { return a.load(ctx, in) },
		Decide: func(_ context.Context, p *pass, in PassInput) (ledger.Decision[PassResult], error) {
			acts, result := p.plan(in, !a.options.IdrisOnly)
			// If the events need several blocks, the sessions that were considered are recorded last.
			return decided(acts, schema.Event{Actor: actorGraduation, Project: in.Project}, result)
		},
	}, in.Head, in)
	result.Head = a.log.Head(schema.GraduateStream(in.Project))
	return result, err
}

// decided returns the decision to append the acts, as events like the given one.
func decided[Result any](acts []act, like schema.Event, result Result) (d ledger.Decision[Result], err error) {
	d.Result, d.Events = result, make([]schema.Event, len(acts))
	for i, one := range acts {
		e := like
		e.TS, e.DedupeKey, e.BuildID = one.at, one.key, cmp.Or(one.build, like.BuildID)
		if d.Events[i], err = schema.NewEvent(one.payload, e); err != nil {
			return d, err
		}
	}
	return d, nil
}

// projectors write the tables of entries and those of graduation.
func (a *Activities) projectors() []projection.Projector {
	return []projection.Projector{entry.NewProjector(a.conn), NewProjector(a.conn)}
}

// change carries out a request that reads the tables of the project while it is decided. count may be nil.
func change[Req boundary.Request, Result any](
	ctx context.Context, a *Activities, req Req, decide func(context.Context) (ledger.Decision[Result], error), count func(*Result, ledger.Stored) error,
) (Result, error) {
	return ledger.One(ctx, a.log, ledger.Room[Req, struct{}, Result]{
		Projectors: a.projectors(), Count: count, Atomic: true,
		Decide: func(ctx context.Context, _ struct{}, _ Req) (ledger.Decision[Result], error) { return decide(ctx) },
	}, schema.StreamHead{}, req)
}

// projectSessions brings the ledgers up to date with all sessions of the project.
func (a *Activities) projectSessions(ctx context.Context, project string) error {
	_, err := a.log.ProjectUnder(ctx, NewProjector(a.conn), schema.SessionsOf(project))
	return err
}

func (a *Activities) project(ctx context.Context, stream string) error {
	return a.log.ProjectEach(ctx, stream, a.projectors())
}

// pass is the state that a pass is decided on.
type pass struct {
	*snapshot
	// more is true if sessions are pending that the pass does not take.
	more bool
	// falls are the entries that are older than their half-life.
	falls []aged
}

func (a *Activities) load(ctx context.Context, in PassInput) (p *pass, err error) {
	l := a.loader()
	p = &pass{}
	p.snapshot, p.more, err = l.begin(ctx, in.Project, in.At, a.log.Head(schema.GraduateStream(in.Project)).Seq)
	if err == nil {
		// The pass projects the ledgers of many sessions at once, after it has chosen its sessions. A session that ends
		// meanwhile is left to the next pass. So no session is considered before its claims are in the ledgers.
		err = a.projectSessions(ctx, in.Project)
	}
	if err == nil {
		err = l.surround(ctx, p.snapshot)
	}
	if err == nil && in.Demote && !p.more {
		p.falls, err = a.expired(ctx, in.Project, in.At)
	}
	if err != nil {
		return nil, fmt.Errorf("graduate project %q: %w", in.Project, err)
	}
	return p, nil
}

func (p *pass) plan(in PassInput, goVerifies bool) ([]act, PassResult) {
	acts, result := plan(p.snapshot, goVerifies)
	// Demotions come last, because a pending session may restate an old entry.
	if result.More = result.More || p.more; result.More {
		return acts, result
	}
	for _, f := range p.falls {
		if p.entries[f.id] != nil && len(p.sessions) > 0 {
			continue // The acts of this pass take precedence.
		}
		result.Demoted++
		if len(result.Falls) < maxFalls {
			result.Falls = append(result.Falls, f.fall())
		}
		if in.Apply {
			acts = append(acts, f.act(in.Project, in.At))
		}
	}
	return acts, result
}

// maxFalls bounds the falls in a result, to keep it small.
const maxFalls = 100

// Waiting returns the number of pending sessions of the project, at most one more than a pass takes.
func (l *Ledgers) Waiting(ctx context.Context, project string) (int, error) {
	sessions, err := loader{conn: l.conn}.pending(ctx, project)
	return len(sessions), err
}
