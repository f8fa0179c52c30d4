package vector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Choice has the embedding versions that the log knows: a fold of the events of [schema.EmbedderStream].
type Choice struct {
	// Used is the version that searches use, empty before the first worker started. Chosen is the version that will
	// replace it, or the same.
	Used   string `json:"used"`
	Chosen string `json:"chosen"`
	// Old are the versions whose vectors still exist but are no longer needed, and Dropped those whose vectors are
	// deleted.
	Old     []string `json:"old,omitempty"`
	Dropped []string `json:"dropped,omitempty"`
	// Since is when the version was chosen.
	Since time.Time `json:"since,omitzero"`
	// seq is the position of the last event.
	seq uint64
}

// Versions returns the versions that items are indexed with, the one in use first.
func (c Choice) Versions() []string {
	if c.Used == c.Chosen {
		return []string{c.Used}
	}
	return []string{c.Used, c.Chosen}
}

// apply returns the choice after the event. The worker that uses or drops a version may be out of date: an event about
// a version that was not chosen last, or that is needed, changes nothing.
func (c Choice) apply(event schema.Event) (Choice, error) {
	payload, err := schema.DecodePayload(event)
	if err != nil {
		return c, err
	}
	c.seq = event.Seq
	old := []string{c.Used, c.Chosen}
	switch p := payload.(type) {
	case schema.EmbedderChosenPayload:
		c.Chosen, c.Since = p.Version, event.TS
	case schema.EmbedderUsedPayload:
		if p.Version == c.Chosen {
			c.Used = p.Version
		}
	case schema.EmbedderDroppedPayload:
		if slices.Contains(c.Old, p.Version) {
			c.Old = without(c.Old, p.Version)
			c.Dropped = append(without(c.Dropped, p.Version), p.Version)
		}
	default:
		return c, fmt.Errorf("read event %q: a %s event is not about embedders", event.ID, event.Type)
	}
	for _, version := range old {
		if version != "" {
			c.Old = append(without(c.Old, version), version)
		}
	}
	c.Old, c.Dropped = without(c.Old, c.Used, c.Chosen), without(c.Dropped, c.Used, c.Chosen)
	return c, nil
}

// without returns a new slice of the versions without some.
func without(versions []string, some ...string) []string {
	return slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return slices.Contains(some, v) })
}

// How long a choice is cached. Searches read it often, because new items may be indexed only with the version in use.
// Writers can cache it longer while nothing changes: items that they index with the old version are indexed again
// before that version is deleted. The time for writers is [schema.Timing.Embedder].
const searchersKeep = 2 * time.Second

// Choices reads and writes the choice of the embedding version. It is safe for concurrent use.
type Choices struct {
	log   Log
	actor string
	// kept is how long a choice is cached while nothing changes.
	kept time.Duration

	mu   sync.Mutex
	last Choice
	read time.Time
}

// newChoices returns the choices of the log.
func newChoices(log Log, kept time.Duration) *Choices {
	return &Choices{log: log, actor: "vector_writer", kept: kept}
}

// Now returns the current choice of the log.
func (c *Choices) Now(ctx context.Context) (Choice, error) {
	choice, err := c.fold(ctx)
	if err == nil {
		c.keep(choice)
	}
	return choice, err
}

func (c *Choices) keep(choice Choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.read = choice, time.Now()
}

func (c *Choices) fold(ctx context.Context) (choice Choice, err error) {
	for event, err := range c.log.Stream(ctx, schema.EmbedderStream(), eventlog.StreamOptions{}) {
		if err == nil {
			choice, err = choice.apply(event)
		}
		if err != nil {
			return choice, fmt.Errorf("read which embedder is in use: %w", err)
		}
	}
	return choice, nil
}

// Recent returns the choice, possibly from the cache.
func (c *Choices) Recent(ctx context.Context) (Choice, error) {
	c.mu.Lock()
	choice, kept := c.last, c.kept
	if choice.Used != choice.Chosen {
		kept = searchersKeep
	}
	fresh := time.Since(c.read) < kept
	c.mu.Unlock()
	if fresh {
		return choice, nil
	}
	return c.Now(ctx)
}

// Choose records the version to index everything with. The first one is in use at once. It returns the new choice.
func (c *Choices) Choose(ctx context.Context, version string) (Choice, error) {
	return c.change(ctx, func(now Choice) []any {
		switch {
		case now.Used == "":
			return []any{schema.EmbedderChosenPayload{Version: version}, schema.EmbedderUsedPayload{Version: version}}
		case now.Chosen != version:
			return []any{schema.EmbedderChosenPayload{Version: version}}
		}
		return nil
	})
}

// use records that everything is indexed with the version, if it was chosen last.
func (c *Choices) use(ctx context.Context, version string) (Choice, error) {
	return c.change(ctx, func(now Choice) []any {
		if now.Chosen != version || now.Used == version {
			return nil
		}
		return []any{schema.EmbedderUsedPayload{Version: version}}
	})
}

// drop records that the vectors of the version are deleted, if they are no longer needed.
func (c *Choices) drop(ctx context.Context, version string) (Choice, error) {
	return c.change(ctx, func(now Choice) []any {
		if !slices.Contains(now.Old, version) {
			return nil
		}
		return []any{schema.EmbedderDroppedPayload{Version: version}}
	})
}

// change appends the events that the plan derives from the choice. If another worker is faster, it plans again.
func (c *Choices) change(ctx context.Context, plan func(Choice) []any) (Choice, error) {
	const attempts = 16
	for range attempts {
		choice, err := c.attempt(ctx, plan)
		if !errors.Is(err, eventlog.ErrConcurrentWriter) {
			return choice, err
		}
	}
	return Choice{}, fmt.Errorf("change the embedder in use: %w", eventlog.ErrConcurrentWriter)
}

func (c *Choices) attempt(ctx context.Context, plan func(Choice) []any) (Choice, error) {
	stream := schema.EmbedderStream()
	ctx, err := c.log.AsWriter(ctx, stream, schema.StreamHead{})
	if err != nil {
		return Choice{}, err
	}
	choice, err := c.fold(ctx)
	if err != nil {
		return choice, err
	}
	var events []schema.Event
	for i, payload := range plan(choice) {
		act, version := embedderAct(payload)
		event, err := schema.NewEvent(payload, schema.Event{
			TS: time.Now().UTC().Truncate(time.Microsecond), Actor: c.actor, Sensitivity: schema.SensitivityNormal,
			DedupeKey: schema.EmbedderKey(act, version, choice.seq+uint64(i)),
		})
		if err != nil {
			return choice, err
		}
		events = append(events, event)
	}
	if len(events) > 0 {
		appended, err := c.log.Append(ctx, stream, events)
		if err != nil {
			return choice, fmt.Errorf("record the embedder: %w", err)
		}
		for _, event := range appended.Events {
			if choice, err = choice.apply(event); err != nil {
				return choice, err
			}
		}
	}
	c.keep(choice)
	return choice, nil
}

// embedderAct returns the type of the event with the payload, and its version.
func embedderAct(payload any) (act, version string) {
	switch p := payload.(type) {
	case schema.EmbedderChosenPayload:
		return schema.EmbedderChosen, p.Version
	case schema.EmbedderUsedPayload:
		return schema.EmbedderUsed, p.Version
	case schema.EmbedderDroppedPayload:
		return schema.EmbedderDropped, p.Version
	}
	return "", ""
}
