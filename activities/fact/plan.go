package fact

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// ActorExtractor is the actor of events that follow from a session's entries.
const ActorExtractor = "fact_extractor"

// Defaults of [Options].
const (
	DefaultThreshold = 0.5
	DefaultMaxFacts  = 500
)

// DefaultConfidence is the confidence of a fact that was proposed without one. It just reaches [DefaultThreshold].
const DefaultConfidence = 0.5

// Options configures what is remembered. The zero value uses the defaults.
type Options struct {
	// Threshold is the minimum confidence, up to 1, of a fact from a session. It does not apply to a person's
	// commands. Default [DefaultThreshold]. A negative value means no threshold.
	Threshold float64
	// MaxFacts is the maximum number of facts for each user and agent. Default [DefaultMaxFacts].
	MaxFacts int
}

// withDefaults returns the options with defaults filled in, or an error if they are invalid.
func (o Options) withDefaults() (Options, error) {
	if o.Threshold == 0 {
		o.Threshold = DefaultThreshold
	}
	if o.MaxFacts == 0 {
		o.MaxFacts = DefaultMaxFacts
	}
	if math.IsNaN(o.Threshold) || o.Threshold > 1 {
		return o, fmt.Errorf("fact options: threshold is %v, want at most 1", o.Threshold)
	}
	if o.MaxFacts < 0 {
		return o, fmt.Errorf("fact options: max facts is %d, want at least 1", o.MaxFacts)
	}
	return o, nil
}

// Batch is a list of consecutive entries of one session, in the order of their events.
type Batch struct {
	User      string         `json:"user"`
	Agent     string         `json:"agent,omitempty"`
	Project   string         `json:"project"`
	SessionID string         `json:"session_id"`
	BuildID   string         `json:"build_id,omitempty"`
	Entries   []schema.Entry `json:"entries"`
}

// ErrScope is wrapped if an entry does not belong to the batch's user, agent and project.
var ErrScope = boundary.Invalid(schema.ErrorScopeMismatch, errors.New("entry of another scope"))

// facts returns the batch's facts, each once.
func (b Batch) facts() ([]schema.Entry, error) {
	var out []schema.Entry
	known := map[string]bool{}
	for _, e := range b.Entries {
		if e.Type != schema.EntryFact || known[e.ID] {
			continue
		}
		if e.User != b.User || e.Agent != b.Agent || e.Project != b.Project {
			return nil, fmt.Errorf("%w: %q is of user %q, agent %q, project %q, not of %q, %q, %q",
				ErrScope, e.ID, e.User, e.Agent, e.Project, b.User, b.Agent, b.Project)
		}
		known[e.ID] = true
		out = append(out, e)
	}
	return out, nil
}

// proposal is a fact that an entry or a person proposes.
type proposal struct {
	act     schema.Act
	key     string
	at      time.Time
	aligned bool
	// threshold is the minimum confidence. If it is 0 or less, any confidence will do.
	threshold float64

	content     string
	category    string
	confidence  *float64
	sourceError string
}

// planner turns one proposal after the other into events.
type planner struct {
	overlay *overlay
	opts    Options
	project string
	session string
	build   string
	actor   string
}

// Memory is what a plan needs to know of a memory.
type Memory struct {
	// Facts are at least those that the plan names, deleted and evicted ones included, and as many of the active facts
	// that are evicted first as the plan may evict.
	Facts []Fact
	// Active counts all active facts.
	Active int
	// Done holds the ids of the entries that were planned before.
	Done map[string]bool
}

// planAll returns for each batch the events that follow from its entries, to be appended to the memory's stream in
// order and at once. They are the same as if each batch was planned when those before it are stored. The entries are
// facts. Those that were planned before produce no events.
func planAll(m Memory, batches []Batch, opts Options) ([][]schema.Event, error) {
	p := &planner{overlay: newOverlay(m), opts: opts, actor: ActorExtractor}
	done := maps.Clone(m.Done)
	if done == nil {
		done = map[string]bool{}
	}
	out := make([][]schema.Event, len(batches))
	for i, batch := range batches {
		p.project, p.session, p.build = batch.Project, batch.SessionID, batch.BuildID
		clear(p.overlay.fresh)
		from := len(p.overlay.planned)
		for _, e := range batch.Entries {
			if done[e.ID] {
				continue
			}
			if err := p.consider(p.proposalOf(e)); err != nil {
				return nil, fmt.Errorf("plan fact of entry %q: %w", e.ID, err)
			}
			done[e.ID] = true
		}
		out[i] = slices.Clip(p.overlay.planned[from:])
	}
	return out, nil
}

// proposalOf returns the entry's proposal. The entry's title is the fact. Its content holds further details and stays
// with the entry.
func (p *planner) proposalOf(e schema.Entry) proposal {
	content := e.Title
	if strings.TrimSpace(content) == "" {
		content = e.Content
	}
	return proposal{
		act: schema.Act{EntryID: e.ID}, key: schema.FactOfEntryKey(e.User, e.Agent, e.ID), at: instant(e.OccurredAt),
		aligned: e.EvidenceAligned, threshold: p.opts.Threshold,
		content: content, category: e.Category, confidence: e.Confidence,
	}
}

// consider plans the outcome of the proposal: the fact, or the reason why it is not stored.
func (p *planner) consider(x proposal) error {
	if skip := p.objection(x); skip != nil {
		return p.skip(x, *skip)
	}
	confidence := confidenceOf(x)
	for p.overlay.active >= p.opts.MaxFacts {
		victim, found := p.overlay.weakest(false)
		if !found {
			// All facts were created by this plan. Keep those with the highest confidence, and among equals the
			// first.
			victim, _ = p.overlay.weakest(true)
			if victim.Confidence >= confidence {
				return p.skip(x, schema.FactSkippedPayload{
					Skipped: schema.SkippedCapacity,
					Detail:  fmt.Sprintf("%d facts of the same or higher confidence were proposed with it", p.opts.MaxFacts),
				})
			}
		}
		if err := p.evict(x, victim); err != nil {
			return err
		}
	}
	id, err := p.idOf(x)
	if err != nil {
		return err
	}
	category, _ := Category(x.category)
	p.overlay.fresh[id] = true
	return p.emit(x.key, x.at, schema.FactCreatedPayload{
		Act: x.act, FactID: id, Content: strings.TrimSpace(x.content), Category: category,
		Confidence: confidence, SourceError: strings.TrimSpace(x.sourceError),
	})
}

func (p *planner) idOf(x proposal) (string, error) {
	return freeID(x.key, func(id string) bool { return p.overlay.facts[id].Exists() })
}

func confidenceOf(x proposal) float64 {
	if x.confidence == nil {
		return DefaultConfidence
	}
	return *x.confidence
}

// objection returns the reason not to store the proposal, or nil.
func (p *planner) objection(x proposal) *schema.FactSkippedPayload {
	skip := func(reason, format string, args ...any) *schema.FactSkippedPayload {
		return &schema.FactSkippedPayload{Skipped: reason, Detail: fmt.Sprintf(format, args...)}
	}
	confidence := confidenceOf(x)
	key := Key(x.content)
	if !x.aligned {
		return skip(schema.SkippedUnaligned, "its evidence does not stand in the session word for word")
	}
	if key == "" {
		return skip(schema.SkippedEmpty, "it says nothing")
	}
	if !validConfidence(confidence) {
		return skip(schema.SkippedConfidence, "confidence is %v, want 0 to 1", confidence)
	}
	if confidence < x.threshold {
		return skip(schema.SkippedLowConfidence, "confidence is %v, want at least %v", confidence, x.threshold)
	}
	if _, ok := Category(x.category); !ok {
		return skip(schema.SkippedCategory, "category is %q, want one of %s", x.category, strings.Join(schema.FactCategories(), ", "))
	}
	if id, ok := p.overlay.byKey[key]; ok {
		s := skip(schema.SkippedDuplicate, "%s says the same", id)
		s.DuplicateOf = id
		return s
	}
	if gone, ok := p.overlay.deleted[key]; ok && x.act.EntryID != "" && x.at.Before(gone) {
		return skip(schema.SkippedDeleted, "a fact that said so was deleted at %s, later than this was said", gone.Format(time.RFC3339))
	}
	return nil
}

func validConfidence(c float64) bool { return c >= 0 && c <= 1 } // NaN is neither.

func (p *planner) skip(x proposal, payload schema.FactSkippedPayload) error {
	payload.Act, payload.Content, payload.Category = x.act, x.content, x.category
	if c := x.confidence; c != nil && !math.IsNaN(*c) && !math.IsInf(*c, 0) {
		payload.Confidence = c
	}
	return p.emit(x.key, x.at, payload)
}

func (p *planner) evict(x proposal, victim Fact) error {
	id, err := p.idOf(x)
	if err != nil {
		return err
	}
	return p.emit(schema.FactEvictedKey(x.key, victim.ID), x.at, schema.FactEvictedPayload{
		Act: x.act, FactID: victim.ID, For: id, MaxFacts: p.opts.MaxFacts,
	})
}

// emit plans an event under a dedupe key that names the act.
func (p *planner) emit(key string, at time.Time, payload any) error {
	event, err := schema.NewEvent(payload, schema.Event{
		TS: at, Actor: p.actor, SessionID: p.session, Project: p.project, BuildID: p.build, DedupeKey: key,
	})
	if err != nil {
		return err
	}
	return p.overlay.plan(event)
}

// instant returns the time with the precision of the tables.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
