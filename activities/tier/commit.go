package tier

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/schema"
)

// SubmitDream asks the memory's workflow to commit the dream and waits for the result.
func (a *Activities) SubmitDream(ctx context.Context, in CommitInput) (CommitResult, error) {
	id := schema.HashParts(in.Gathered, schema.HashParts(in.Responses...), in.Refused)
	return boundary.Submit[CommitResult](ctx, a.temporal, schema.UpdateDream, id, in)
}

// CommitDream makes the dream's version of core memory, or finds that nothing changes or that the answers are of no use.
// If core memory or the dreams have changed since the dream began, it writes nothing and the result is stale. Only the
// memory's workflow may call it, unless it is a dry run.
func (a *Activities) CommitDream(ctx context.Context, in CommitInput) (CommitResult, error) {
	return boundary.Run(ctx, in, a.commitDream)
}

func (a *Activities) commitDream(ctx context.Context, in CommitInput) (CommitResult, error) {
	if err := in.Validate(); err != nil {
		return CommitResult{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	c := &commit{in: in}
	var err error
	if c.gathered, c.draft, err = a.readCommit(ctx, in); err != nil {
		return CommitResult{}, err
	}
	result, err := a.decideDream(ctx, c)
	if err != nil {
		return CommitResult{}, fmt.Errorf("commit dream %d of user %q, agent %q: %w", c.gathered.Ordinal, in.User, in.Agent, err)
	}
	return result, nil
}

func (a *Activities) decideDream(ctx context.Context, c *commit) (CommitResult, error) {
	look := func(ctx context.Context) error { return c.look(ctx, a) }
	if c.in.DryRun { // Its caller is not the writer.
		err := a.log.Steady(ctx, a.projector, c.in.Writer().Stream(), func() error { return look(ctx) })
		if err != nil {
			return CommitResult{}, err
		}
		d, err := c.decide()
		return d.Result, err
	}
	return ledger.One(ctx, a.log, ledger.Room[CommitInput, *commit, CommitResult]{
		Projectors: []projection.Projector{a.projector}, Atomic: true,
		Load:   func(ctx context.Context, _ []CommitInput) (*commit, error) { return c, look(ctx) },
		Decide: func(context.Context, *commit, CommitInput) (ledger.Decision[CommitResult], error) { return c.decide() },
	}, schema.StreamHead{}, c.in)
}

func (c *commit) decide() (d ledger.Decision[CommitResult], err error) {
	d.Result = CommitResult{DeepDreamResult: c.result()}
	switch {
	case c.done:
	case c.stale():
		d.Result = CommitResult{Stale: true}
	case c.in.DryRun:
		if d.Result.Status != schema.DreamIsRefused {
			d.Result.Status = schema.DreamDry
		}
	default:
		d.Events, err = c.events()
	}
	return d, err
}

// readCommit returns the gathered input and the draft composed from the answers.
func (a *Activities) readCommit(ctx context.Context, in CommitInput) (g schema.DreamGatheredPayload, d Draft, err error) {
	if in.Refused != "" {
		g, err = readGathered(ctx, a.log.Store, in.Gathered)
		d = Draft{Refused: in.Refused}
	} else {
		g, d, err = ReadDraft(ctx, a.log.Store, in.Gathered, in.Responses)
	}
	if err == nil && (g.User != in.User || g.Agent != in.Agent) {
		err = boundary.Invalid(schema.ErrorScopeMismatch, fmt.Errorf("dream %q is of user %q, agent %q, not of %q, %q",
			in.Gathered, g.User, g.Agent, in.User, in.Agent))
	}
	return g, d, err
}

// commit is a dream that is about to be committed.
type commit struct {
	in       CommitInput
	gathered schema.DreamGatheredPayload
	draft    Draft
	// core is the version of core memory that the dream begins from, and ordinal counts the dreams before it.
	core    Core
	ordinal int
	// done is true if this very dream is committed already.
	done bool
}

func (c *commit) look(ctx context.Context, a *Activities) error {
	var err error
	if c.core, err = a.tables.Current(ctx, c.in.User, c.in.Agent); err != nil {
		return err
	}
	dreams, err := a.tables.Dreams(ctx, c.in.User, c.in.Agent, 1, 0)
	if err != nil {
		return err
	}
	c.ordinal, c.done = 0, false
	if len(dreams) > 0 {
		c.ordinal = dreams[0].Ordinal
	}
	if c.ordinal < c.gathered.Ordinal || c.in.DryRun {
		return nil
	}
	// The dream may be committed: an earlier attempt did it and failed before it returned.
	finished, err := a.log.Get(ctx, schema.EventID(schema.DreamFinishedKey(c.in.User, c.in.Agent, c.gathered.Ordinal)))
	if errors.Is(err, eventlog.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p, err := schema.Decode[schema.DreamFinishedPayload](finished)
	same := p.Gathered == c.in.Gathered && slices.Equal(p.Responses, c.in.Responses) && p.Reason == c.draft.Refused
	if err != nil || !same {
		return err
	}
	c.done = true
	if c.gathered.Version == 0 {
		c.core = Core{}
		return nil
	}
	c.core, err = a.tables.Version(ctx, c.in.User, c.in.Agent, c.gathered.Version)
	return err
}

// stale reports whether core memory or the dreams have changed since the dream gathered its input.
func (c *commit) stale() bool {
	return c.core.Version != c.gathered.Version || c.ordinal+1 != c.gathered.Ordinal
}

func (c *commit) status() schema.DreamStatus {
	switch {
	case c.draft.Refused != "":
		return schema.DreamIsRefused
	case c.draft.Text == c.core.Text && !renewed(c.core.Items, c.draft.Items):
		return schema.DreamUnchanged
	}
	return schema.DreamCommitted
}

// version is the number of the version that the dream makes, or 0.
func (c *commit) version() int {
	if c.status() == schema.DreamCommitted {
		return c.core.Version + 1
	}
	return 0
}

func (c *commit) result() schema.DeepDreamResult {
	r := schema.DeepDreamResult{
		User: c.in.User, Agent: c.in.Agent, Date: c.gathered.Date, Status: c.status(), Reason: c.draft.Refused,
		Ordinal: c.gathered.Ordinal, Parent: c.gathered.Version, Version: max(c.version(), c.gathered.Version),
		Items: len(c.gathered.Memory), Dropped: len(c.draft.Dropped), Usage: c.in.Usage,
		Gathered: c.in.Gathered, Responses: c.in.Responses,
	}
	if r.Status != schema.DreamIsRefused {
		r.Items, r.Added, r.Carried, r.LeftOut = len(c.draft.Items), c.draft.Added, c.draft.Carried, c.draft.LeftOut
	}
	return r
}

// events are the new version of core memory, if there is one, and the end of the dream.
func (c *commit) events() ([]schema.Event, error) {
	g, user, agent := c.gathered, c.in.User, c.in.Agent
	finished := schema.DreamFinishedPayload{
		Ordinal: g.Ordinal, Date: g.Date, Status: c.status(), Reason: c.draft.Refused, Parent: g.Version, Version: c.version(),
		Gathered: c.in.Gathered, Model: c.in.Model, Responses: c.in.Responses, Usage: c.in.Usage, Days: []schema.Day{},
		Metrics: c.in.Metrics,
	}
	for _, day := range g.Days {
		finished.Days = append(finished.Days, day.Day)
	}
	if c.draft.Refused == "" {
		finished.Diary, finished.Carried, finished.LeftOut = c.draft.Diary, c.draft.Carried, c.draft.LeftOut
	}
	var payloads []any
	keys := []string{schema.DreamFinishedKey(user, agent, g.Ordinal)}
	if finished.Version == 0 {
		finished.Dropped = c.draft.Dropped
	} else {
		keys = append([]string{schema.CoreOfDreamKey(user, agent, g.Ordinal)}, keys...)
		payloads = append(payloads, schema.CoreCommittedPayload{
			Version: finished.Version, Parent: g.Version, Origin: schema.OriginDream, Text: c.draft.Text, Items: c.draft.Items,
			Diff:    Diff(c.core.Text, c.draft.Text, VersionName(g.Version), VersionName(finished.Version)),
			Dropped: c.draft.Dropped, Dream: g.Ordinal,
		})
	}
	payloads = append(payloads, finished)
	events := make([]schema.Event, len(payloads))
	for i, p := range payloads {
		var err error
		events[i], err = schema.NewEvent(p, schema.Event{TS: c.in.At.UTC(), Actor: dreamActor, BuildID: c.in.Run, DedupeKey: keys[i]})
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}
