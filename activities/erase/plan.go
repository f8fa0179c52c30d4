package erase

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Memory identifies an agent's memory of a user.
type Memory struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
}

// Plan contains the changes that an erasure makes to the log. Everything derived from the log is then rebuilt from it.
type Plan struct {
	Scope  schema.ErasureScope
	Counts schema.ErasureCounts
	// Streams are deleted as a whole.
	Streams []string
	// Replacements change events of other streams, the oldest first in each.
	Replacements []eventlog.Replacement
	// Sessions are the erased sessions.
	Sessions []schema.SessionKey
	// Memories are the memories that lose content.
	Memories []Memory
	// Near are the streams of memories and projects that may name the erased content. Events written there meanwhile
	// may be derived from tables that still contain it.
	Near []string
}

// Changed returns the names of the streams that lose events, or parts of them, and stay.
func (p *Plan) Changed() []string {
	names := map[string]bool{}
	for _, r := range p.Replacements {
		names[r.Old.Stream] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Empty reports whether the log contains nothing to erase.
func (p *Plan) Empty() bool { return len(p.Streams) == 0 && len(p.Replacements) == 0 }

// planner makes a plan.
type planner struct {
	pass
	log  *eventlog.Store
	conn driver.Conn
	id   string
	plan *Plan
	// text is called with each erased text.
	text func(string)
	// whole are the streams that are deleted.
	whole map[string]bool
	// judged are the erased and the changed events of the current round, and read the streams of dreams that read
	// erased content.
	judged []judged
	read   []string
	// gathered are the ids of the dream_gathered events that contain erased content.
	gathered map[string]bool
	// memories and projects are those whose streams may name erased content.
	memories map[Memory]bool
	projects map[string]bool
	answers  map[string]bool
	// declared are the erased declarations, and successors the events that may replace them, by stream and id.
	declared   map[string]map[string]schema.Event
	successors map[string]map[string]successor
}

// Make returns the changes that the erasure with the id would make. It changes nothing. erased is called with each
// erased text, some of them several times. It may be nil.
func Make(ctx context.Context, log *eventlog.Store, conn driver.Conn, erasureID string, scope schema.ErasureScope, erased func(text string)) (*Plan, error) {
	if erased == nil {
		erased = func(string) {}
	}
	if err := scope.Validate(); err != nil {
		return nil, err
	}
	p := &planner{
		pass: pass{gone: newGone(scope), parts: map[string]*part{}, regraduate: map[string]bool{}},
		log:  log, conn: conn, id: erasureID, plan: &Plan{Scope: scope}, text: erased,
		whole: map[string]bool{}, memories: map[Memory]bool{}, projects: map[string]bool{},
		answers: map[string]bool{}, gathered: map[string]bool{},
		declared: map[string]map[string]schema.Event{}, successors: map[string]map[string]successor{},
	}
	if err := p.make(ctx); err != nil {
		return nil, fmt.Errorf("plan the erasure: %w", err)
	}
	return p.plan, nil
}

func (p *planner) make(ctx context.Context) error {
	if err := p.find(ctx); err != nil {
		return err
	}
	for size := -1; size != p.found(); {
		size = p.found()
		if err := p.round(ctx); err != nil {
			return err
		}
	}
	for _, j := range p.judged {
		if err := p.emit(ctx, j); err != nil {
			return err
		}
	}
	for _, stream := range p.read {
		p.whole[stream] = true
		p.plan.Counts.Deleted++
	}
	if err := p.modelStreams(ctx); err != nil {
		return err
	}
	p.plan.Streams = slices.Sorted(maps.Keys(p.whole))
	for project := range p.projects {
		p.plan.Near = append(p.plan.Near, schema.ProjectStream(project), schema.GraduateStream(project))
	}
	for m := range p.memories {
		p.plan.Near = append(p.plan.Near, schema.MemoryStream(m.User, m.Agent))
	}
	p.setMemories()
	return nil
}

// found returns the number of erased items that were found.
func (p *planner) found() int { return p.size() + len(p.regraduate) + len(p.gathered) }

// setMemories lists the memories whose streams change.
func (p *planner) setMemories() {
	memories := map[Memory]bool{}
	for _, stream := range slices.Concat(p.plan.Streams, p.plan.Changed()) {
		if user, agent, err := schema.ParseMemoryStream(stream); err == nil {
			memories[Memory{user, agent}] = true
		}
	}
	order := func(a, b Memory) int { return slices.Compare([]string{a.User, a.Agent}, []string{b.User, b.Agent}) }
	p.plan.Memories = slices.SortedFunc(maps.Keys(memories), order)
}

// judged is an event with its verdict.
type judged struct {
	event   schema.Event
	payload any
	verdict verdict
}

// emit adds the remainder of an event to the plan.
func (p *planner) emit(ctx context.Context, j judged) error {
	e, payload, v := j.event, j.payload, j.verdict
	for _, key := range v.answers {
		p.answers[key] = true
	}
	if !v.erased && !v.changed {
		return nil
	}
	if v.changed {
		p.plan.Counts.Replaced++
		switch payload.(type) {
		case schema.CoreCommittedPayload:
			p.plan.Counts.Versions++
		case schema.DreamFinishedPayload:
			p.plan.Counts.Dreams++
		}
		as := e
		as.Payload = v.payload
		p.plan.Replacements = append(p.plan.Replacements, eventlog.Replacement{Old: e, New: as})
		return nil
	}
	left, err := p.successorOf(ctx, e, payload)
	if err != nil {
		return err
	}
	if left.Type == "" || left.Type != e.Type {
		p.count(payload)
	} else {
		p.plan.Counts.Replaced++
	}
	wordsOf(payload, p.text)
	p.plan.Replacements = append(p.plan.Replacements, eventlog.Replacement{Old: e, New: left})
	return nil
}

// successorOf returns the event that replaces an erased declaration, or an event without a type if there is none.
func (p *planner) successorOf(ctx context.Context, e schema.Event, payload any) (schema.Event, error) {
	id, inMemory := declares(payload)
	if first, ok := p.declared[e.Stream][id]; !ok || first.ID != e.ID {
		return schema.Event{}, nil
	}
	h, ok := p.successors[e.Stream][id]
	if !ok {
		return schema.Event{}, nil
	}
	if inMemory {
		said, err := p.speakerOf(ctx, h.payload)
		if err != nil {
			return schema.Event{}, err
		}
		h.SaidBy = said
	}
	left, _, err := succeed(p.id, e, h)
	return left, err
}

// speakerOf returns the speaker of a fact in its session.
func (p *planner) speakerOf(ctx context.Context, payload any) (schema.Trust, error) {
	entry := causeOf(payload)
	if entry == "" {
		return "", nil
	}
	found, err := p.log.GetMany(ctx, []string{schema.EventID(schema.EntryMaterializedKey(entry))})
	if err != nil {
		return "", err
	}
	for _, e := range found {
		x, err := schema.Decode[schema.EntryMaterializedPayload](e)
		if err != nil {
			return "", err
		}
		return schema.SaidBy(x.Evidence), nil
	}
	return "", nil
}

// dreams finds the inputs of dreams that contain erased content. Such a stream is deleted as a whole, because the rest
// of its days is in the log.
func (p *planner) dreams(ctx context.Context) error {
	for stream, err := range p.log.Streams(ctx, schema.DreamPrefix) {
		if err != nil {
			return err
		}
		if p.whole[stream.Name] {
			continue
		}
		for e, err := range p.log.Stream(ctx, stream.Name, eventlog.StreamOptions{}) {
			if err != nil {
				return err
			}
			x, err := schema.Decode[schema.DreamGatheredPayload](e)
			if err != nil {
				return err
			}
			if !p.memories[Memory{x.User, x.Agent}] {
				continue
			}
			as := e
			as.Stream = schema.MemoryStream(x.User, x.Agent) // The facts that it names are of that memory.
			o := ownerOf(as)
			_, isGone, changed, err := p.reduce(o, as, p.searches(o, x))
			if err != nil {
				return err
			}
			if isGone || changed || p.gathered[e.ID] {
				p.gathered[e.ID], p.ids[e.ID] = true, true
				p.read = append(p.read, stream.Name)
			}
		}
	}
	return nil
}

// modelStreams marks the model answers about erased content for deletion.
func (p *planner) modelStreams(ctx context.Context) error {
	for key := range p.answers {
		if key != "" {
			if err := p.delete(ctx, schema.ModelStream(key)); err != nil {
				return err
			}
		}
	}
	// A build that died may have stored an answer that no event names.
	var more []string
	for _, id := range slices.Sorted(maps.Keys(p.gathered)) {
		err := clickhouse.Query(ctx, p.conn, clickhouse.Column(&more), `SELECT DISTINCT stream FROM events_raw WHERE startsWith(stream, ?) AND build_id = ?`, schema.ModelPrefix, id)
		if err != nil {
			return fmt.Errorf("look for answers about dreams: %w", err)
		}
	}
	for project := range p.projects {
		err := clickhouse.Query(ctx, p.conn, func(rows driver.Rows) error {
			var stream, session, payload string
			if err := rows.Scan(&stream, &session, &payload); err != nil {
				return err
			}
			ofIt := false
			switch p.scope.Kind() {
			case schema.EraseProject:
				ofIt = project == p.scope.Project
			case schema.EraseQuery:
				ofIt = p.containsLetters(payload)
			default:
				for _, key := range p.sessions[session] {
					ofIt = ofIt || key.Project == project
				}
			}
			if ofIt {
				more = append(more, stream)
			}
			return nil
		}, `SELECT stream, session_id, if(?, payload_json, '') FROM events_raw WHERE startsWith(stream, ?) AND project = ?`,
			p.scope.Kind() == schema.EraseQuery, schema.ModelPrefix, project)
		if err != nil {
			return fmt.Errorf("look for answers of models: %w", err)
		}
	}
	for _, stream := range more {
		if !p.whole[stream] {
			if err := p.delete(ctx, stream); err != nil {
				return err
			}
		}
	}
	return nil
}
