package fact

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/ledger"
	"axiommind/schema"
)

// ActorExtractor is the actor of events that follow from a session's entries.
const ActorExtractor = "fact_extractor"

// Batch is a list of consecutive entries of one session, in the order of their events.
type Batch struct {
	User      string         `json:"user"`
	Agent     string         `json:"agent,omitempty"`
	Project   string         `json:"project"`
	SessionID string         `json:"session_id"`
	BuildID   string         `json:"build_id,omitempty"`
	Entries   []schema.Entry `json:"entries"`
	// Removals are the facts to remove before the entries are considered.
	Removals []Removal `json:"removals,omitempty"`
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

// proposal is a fact, or the summary of a section of the profile, that an entry or a person proposes.
type proposal struct {
	act schema.Act
	key string
	// at is when it was said, and read when its session was read, if that is known.
	at, read time.Time
	aligned  bool
	// threshold is the minimum confidence. If it is 0 or less, any confidence will do.
	threshold float64

	// section is the section of the profile that content sums up. It is empty for a fact.
	section string
	// saidBy is the speaker of the entry's evidence. untrusted is the class of evidence that may prove nothing.
	saidBy, untrusted schema.Trust

	content     string
	quotes      []string
	category    string
	confidence  *float64
	sourceError string
	since       time.Time
}

// planner turns one proposal after the other into events.
type planner struct {
	overlay *overlay
	opts    Options
	read    map[string]time.Time
	near    *similarityIndex
	// done holds the ids of the entries that were planned before.
	done    map[string]bool
	project string
	session string
	build   string
	actor   string
}

// Memory is the part of a memory that a plan requires.
type Memory struct {
	// Facts are at least those that the plan names, deleted and evicted ones included, and as many of the active facts
	// that are evicted first as the plan may evict.
	Facts []Fact
	// Active counts all active facts.
	Active int
	// Done holds the ids of the entries that were planned before, and of the events of the items that were imported before.
	Done map[string]bool
	// Sections are the last summaries of the sections of the profile, by section.
	Sections map[string]Section
	// Cleared is when a person last had everything forgotten.
	Cleared time.Time
	// Read holds when the sessions of entries were read, by the entries' ids, as far as Cleared makes that matter.
	Read map[string]time.Time
	// Version is the position of the last event that changed a fact or the profile.
	Version uint64
	// Uses holds the uses of the facts, by their ids, for the policy [schema.EvictHybrid], at the time Now.
	Uses map[string]Use
	Now  time.Time

	near *similarityIndex
}

func newPlanner(m Memory, opts Options) *planner {
	done := maps.Clone(m.Done)
	if done == nil {
		done = map[string]bool{}
	}
	return &planner{overlay: newOverlay(m, opts), opts: opts, read: m.Read, near: m.near, done: done, actor: ActorExtractor}
}

// decide returns the events that follow from the batch. Entries that were planned before produce none.
func (p *planner) decide(batch Batch) (d ledger.Decision[Result], err error) {
	if batch.Entries, err = batch.facts(); err != nil {
		return d, err
	}
	p.project, p.session, p.build = batch.Project, batch.SessionID, batch.BuildID
	from := len(p.overlay.planned)
	for _, r := range batch.Removals {
		if err := p.remove(batch, r); err != nil {
			return d, fmt.Errorf("plan removal of fact %q: %w", r.FactID, err)
		}
	}
	for _, e := range batch.Entries {
		if p.done[e.ID] {
			continue
		}
		if err := p.consider(p.proposalOf(e)); err != nil {
			return d, fmt.Errorf("update facts from session %q: plan fact of entry %q: %w", batch.SessionID, e.ID, err)
		}
		p.done[e.ID] = true
	}
	d.Events, d.Result.Entries = slices.Clip(p.overlay.planned[from:]), len(batch.Entries)
	return d, nil
}

// proposalOf returns the entry's proposal. The entry's title is the fact. Its content holds further details and stays
// with the entry.
func (p *planner) proposalOf(e schema.Entry) proposal {
	content := e.Title
	if strings.TrimSpace(content) == "" {
		content = e.Content
	}
	x := proposal{
		act: schema.Act{EntryID: e.ID}, key: schema.FactOfEntryKey(e.User, e.Agent, e.ID), at: instant(e.OccurredAt), read: p.read[e.ID],
		aligned: e.EvidenceAligned, threshold: p.opts.Threshold, section: e.Section,
		content: content, category: e.Category, confidence: e.Confidence, sourceError: e.SourceError,
		saidBy: schema.SaidBy(e.Evidence), untrusted: schema.Untrusted(e.Evidence),
	}
	if x.section != "" {
		x.content = scrubUploads(x.content)
	}
	for _, piece := range e.Evidence {
		x.quotes = append(x.quotes, piece.Quote)
	}
	return x
}

// consider plans the outcome of the proposal: the fact or the section, or the reason why it is not stored.
func (p *planner) consider(x proposal) error {
	if objection := p.objection(x); objection != nil {
		return p.skip(x, *objection)
	}
	if x.section != "" {
		return p.setSection(x)
	}
	if merged, ok := p.mergeTarget(x); ok {
		return p.merge(x, merged)
	}
	for p.overlay.active >= p.opts.MaxFacts {
		victim, found := p.overlay.weakest()
		if !found {
			return fmt.Errorf("make room for a fact: none of %d is known", p.overlay.active)
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
	return p.emit(x.key, x.at, schema.FactCreatedPayload{
		Act: x.act, FactID: id, Content: strings.TrimSpace(x.content), Category: category,
		Confidence: confidenceOf(x), SourceError: strings.TrimSpace(x.sourceError), SaidBy: x.saidBy, Since: x.since,
	})
}

// objection returns the reason not to store the proposal, or nil.
func (p *planner) objection(x proposal) *schema.FactSkippedPayload {
	confidence := confidenceOf(x)
	if !x.aligned {
		return skip(schema.SkippedUnaligned, "its evidence does not stand in the session word for word")
	}
	if s := distrusted(x); s != nil {
		return s
	}
	if Key(x.content) == "" {
		return skip(schema.SkippedEmpty, "it says nothing")
	}
	if x.act.EntryID != "" && x.confidence == nil {
		return skip(schema.SkippedConfidence, "it has no confidence, want 0 to 1")
	}
	if !validConfidence(confidence) {
		return skip(schema.SkippedConfidence, "confidence is %v, want 0 to 1", confidence)
	}
	if confidence < x.threshold {
		s := skip(schema.SkippedLowConfidence, "confidence is %v, want at least %v", confidence, x.threshold)
		s.Threshold = x.threshold
		return s
	}
	if _, ok := Category(x.category); x.section == "" && (!ok || x.act.EntryID != "" && strings.TrimSpace(x.category) == "") {
		return skip(schema.SkippedCategory, "category is %q, want one of %s", x.category, strings.Join(schema.FactCategories(), ", "))
	}
	if x.act.EntryID != "" {
		if reason, detail := lasting(x.content, x.quotes); reason != "" {
			return skip(reason, "%s", detail)
		}
		if s := p.outdated(x); s != nil {
			return s
		}
	}
	if x.section != "" {
		return p.objectionToSection(x)
	}
	if id, ok := p.overlay.byKey[Key(x.content)]; ok {
		s := skip(schema.SkippedDuplicate, "%s says the same", id)
		s.DuplicateOf = id
		return s
	}
	return nil
}

// usersOwn are the categories of facts that only the user can state.
var usersOwn = []string{schema.CategoryPreference, schema.CategoryBehavior, schema.CategoryGoal}

// distrusted returns the reason not to store a statement whose speaker may not make it, or nil. Only the user can state a
// summary of the user, and the user's preferences, behavior and goals.
func distrusted(x proposal) *schema.FactSkippedPayload {
	category, _ := Category(x.category)
	switch {
	case x.untrusted == schema.TrustAgent:
		return skip(schema.SkippedUntrusted, "an agent says so, and not the user: starter entry confirm takes it for the user's word")
	case x.untrusted != "":
		return skip(schema.SkippedUntrusted, "its evidence is text of class %q, which neither the user nor the assistant said", x.untrusted)
	case x.saidBy == schema.TrustAssistant && x.section != "":
		return skip(schema.SkippedNotUser, "only the assistant says so of the user")
	case x.saidBy == schema.TrustAssistant && slices.Contains(usersOwn, category):
		return skip(schema.SkippedNotUser, "only the assistant says so, and a fact of category %q is the user's to say", category)
	}
	return nil
}

// outdated returns the reason not to store a statement that a person has had forgotten since, or nil.
func (p *planner) outdated(x proposal) *schema.FactSkippedPayload {
	known := x.at
	if !x.read.IsZero() {
		known = x.read
	}
	if cleared := p.overlay.cleared; known.Before(cleared) {
		return skip(schema.SkippedCleared, "everything was forgotten at %s, later than this was read", cleared.Format(time.RFC3339))
	}
	gone, ok := p.overlay.deleted[Key(x.content)]
	if x.section == "" && ok && x.at.Before(gone) {
		return skip(schema.SkippedDeleted, "a fact that said so was deleted at %s, later than this was said", gone.Format(time.RFC3339))
	}
	return nil
}

// instant returns the time with the precision of the tables.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
