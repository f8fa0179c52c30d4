package tier

import (
	"context"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/ledger"
	"axiommind/activities/projection"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// RestoreCommand is a person's request to make an earlier version of core memory the current one.
type RestoreCommand struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
	// RequestID names the act. Sending the command again with the same RequestID changes nothing.
	RequestID string    `json:"request_id"`
	Actor     string    `json:"actor"`
	At        time.Time `json:"at"`
	Reason    string    `json:"reason,omitempty"`
	Version   int       `json:"version"`
}

// Redacted returns the command without secrets.
func (c RestoreCommand) Redacted() boundary.Request {
	redact.Strings(&c.Reason)
	return c
}

// Writer returns the input of the workflow that runs the command.
func (c RestoreCommand) Writer() schema.WriterInput {
	return schema.MemoryWriterInput{User: c.User, Agent: c.Agent}
}

// Validate returns an error if the command is invalid.
func (c RestoreCommand) Validate() error {
	invalid := func(format string, args ...any) error {
		return boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("invalid "+format, args...))
	}
	switch {
	case c.RequestID == "":
		return invalid("request_id: is missing")
	case c.Actor == "":
		return invalid("actor: is missing")
	case c.At.IsZero():
		return invalid("at: is missing")
	case c.Version < 1:
		return invalid("version: is %d, want 1 or more", c.Version)
	}
	return nil
}

// RestoreResult is the version that the command made.
type RestoreResult struct {
	Version int `json:"version"`
	Parent  int `json:"parent"`
	// Unchanged is true if core memory already has the content of the version. Then there is no new version, and
	// Version is the current one.
	Unchanged bool `json:"unchanged,omitempty"`
	// Items counts the items of the version. Added counts those that the parent does not hold, and Dropped those of the
	// parent that the version does not hold.
	Items   int `json:"items"`
	Added   int `json:"added"`
	Dropped int `json:"dropped"`
}

// RestoreCore runs the command. Only the memory's workflow may call it.
func (a *Activities) RestoreCore(ctx context.Context, c RestoreCommand) (RestoreResult, error) {
	return boundary.Run(ctx, c, a.restore)
}

func (a *Activities) restore(ctx context.Context, c RestoreCommand) (RestoreResult, error) {
	if err := c.Validate(); err != nil {
		return RestoreResult{}, err
	}
	return ledger.One(ctx, a.log, ledger.Room[RestoreCommand, restoring, RestoreResult]{
		Projectors: []projection.Projector{a.projector}, Atomic: true,
		Load: func(ctx context.Context, _ []RestoreCommand) (restoring, error) { return a.restoring(ctx, c) },
		Decide: func(_ context.Context, s restoring, c RestoreCommand) (d ledger.Decision[RestoreResult], err error) {
			if s.made != nil {
				d.Result, err = resultOf(*s.made, s.current.CoreCommittedPayload)
				return d, err
			}
			if s.wanted.Text == s.current.Text && slices.EqualFunc(s.wanted.Items, s.current.Items, sameItem) {
				d.Result = RestoreResult{Version: s.current.Version, Parent: s.current.Parent, Unchanged: true, Items: len(s.current.Items)}
				return d, nil
			}
			e, err := restoredEvent(c, s.current.CoreCommittedPayload, s.wanted.CoreCommittedPayload)
			if err != nil {
				return d, err
			}
			d.Events = []schema.Event{e}
			d.Result, err = resultOf(e, s.current.CoreCommittedPayload)
			return d, err
		},
	}, schema.StreamHead{}, c)
}

// restoring is the state that a command is decided on: the current version of core memory and the wanted one. If the
// command was run before, made is its event, and current the version before that.
type restoring struct {
	current, wanted Core
	made            *schema.Event
}

func (a *Activities) restoring(ctx context.Context, c RestoreCommand) (s restoring, err error) {
	done, err := a.log.GetMany(ctx, []string{schema.EventID(c.key())})
	if err != nil {
		return s, err
	}
	for _, e := range done {
		p, err := schema.Decode[schema.CoreCommittedPayload](e)
		if err != nil {
			return s, err
		}
		s.made = &e
		s.current, err = a.tables.Version(ctx, c.User, c.Agent, p.Parent)
		return s, err
	}
	if s.current, err = a.tables.Current(ctx, c.User, c.Agent); err == nil {
		s.wanted, err = a.tables.Version(ctx, c.User, c.Agent, c.Version)
	}
	return s, err
}

// key is the dedupe key of the command's event.
func (c RestoreCommand) key() string { return schema.CoreOfCommandKey(c.User, c.Agent, c.RequestID) }

func resultOf(e schema.Event, parent schema.CoreCommittedPayload) (RestoreResult, error) {
	p, err := schema.Decode[schema.CoreCommittedPayload](e)
	return RestoreResult{
		Version: p.Version, Parent: p.Parent, Items: len(p.Items), Added: len(missing(p.Items, parent.Items)), Dropped: len(p.Dropped),
	}, err
}

// restoredEvent returns the event that makes the wanted version the one after the current.
func restoredEvent(c RestoreCommand, current, wanted schema.CoreCommittedPayload) (schema.Event, error) {
	p := schema.CoreCommittedPayload{
		Act: schema.Act{RequestID: c.RequestID, Reason: c.Reason}, Version: current.Version + 1, Parent: current.Version,
		Origin: schema.OriginRestore, Text: wanted.Text, Restored: wanted.Version,
		Diff: Diff(current.Text, wanted.Text, VersionName(current.Version), VersionName(current.Version+1)),
	}
	held := map[coreStatement]bool{}
	for _, item := range current.Items {
		held[statementOf(item)] = true
	}
	p.Items = slices.Clone(wanted.Items)
	for i := range p.Items { // A dream must not take for want of room what a person brings back.
		p.Items[i].Written = p.Items[i].Written || !held[statementOf(p.Items[i])]
	}
	for _, item := range missing(current.Items, wanted.Items) {
		p.Dropped = append(p.Dropped, schema.DroppedItem{
			Text: item.Text, From: schema.FromMemory, Reason: schema.DroppedEdited,
			Detail: fmt.Sprintf("version %d, which was restored, does not hold it", wanted.Version), Sources: item.Sources,
		})
	}
	return schema.NewEvent(p, schema.Event{TS: c.At.UTC().Truncate(time.Microsecond), Actor: c.Actor, BuildID: c.RequestID, DedupeKey: c.key()})
}

// VersionName is the name of a version of core memory in a diff.
func VersionName(version int) string { return fmt.Sprintf("MEMORY.md, version %d", version) }

// missing returns those of the items whose text none of the others has.
func missing(items, others []schema.CoreItem) []schema.CoreItem {
	held := make(map[string]bool, len(others))
	for _, item := range others {
		held[item.Text] = true
	}
	return slices.DeleteFunc(slices.Clone(items), func(item schema.CoreItem) bool { return held[item.Text] })
}

func sameItem(a, b schema.CoreItem) bool {
	return a.Text == b.Text && a.Heading == b.Heading && slices.Equal(a.Sources, b.Sources)
}
