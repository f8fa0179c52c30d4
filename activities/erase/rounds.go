package erase

import (
	"context"
	"maps"
	"slices"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// streams returns the streams that may name erased content, except those of sessions that lose nothing of their own.
// Streams on which others depend come first.
func (p *planner) streams(ctx context.Context) (names []string, err error) {
	add := func(name string) {
		if !p.whole[name] {
			names = append(names, name)
		}
	}
	list := func(prefix string, wanted func(string) bool) error {
		for stream, err := range p.log.Streams(ctx, prefix) {
			if err != nil {
				return err
			}
			if wanted(stream.Name) {
				add(stream.Name)
			}
		}
		return nil
	}
	all := func(string) bool { return true }
	for stream := range p.parts {
		add(stream)
	}
	slices.Sort(names)
	for _, project := range slices.Sorted(maps.Keys(p.projects)) {
		add(schema.ProjectStream(project))
		add(schema.GraduateStream(project))
	}
	if err := list(schema.UsagePrefix, func(name string) bool {
		project, err := schema.ParseUsageStream(name)
		return err == nil && p.projects[project]
	}); err != nil {
		return nil, err
	}
	for m := range p.memories {
		add(schema.QueueStream(m.User, m.Agent))
		add(schema.MemoryStream(m.User, m.Agent))
	}
	prefixes := []string{schema.BatchPrefix, schema.VectorPrefix}
	if p.scope.Kind() == schema.EraseQuery {
		prefixes = append(prefixes, schema.ContextPrefix)
	}
	for _, prefix := range prefixes {
		if err := list(prefix, all); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// round judges all events that may name erased content. Their declarations are erased with them, unless other events
// are about the same. The verdicts of a round that finds nothing more are final.
func (p *planner) round(ctx context.Context) error {
	p.judged, p.read = nil, nil
	if err := p.dreams(ctx); err != nil {
		return err
	}
	if err := p.sessionRound(ctx); err != nil {
		return err
	}
	names, err := p.streams(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		p.open(name)
		for e, err := range p.log.Stream(ctx, name, eventlog.StreamOptions{}) {
			if err == nil {
				err = p.visit(e)
			}
			if err != nil {
				return err
			}
		}
		if err := p.reassign(name); err != nil {
			return err
		}
	}
	return nil
}

// open begins a stream.
func (p *planner) open(stream string) {
	p.begin()
	p.declared[stream], p.successors[stream] = map[string]schema.Event{}, map[string]successor{}
}

// visit judges an event.
func (p *planner) visit(e schema.Event) error {
	payload, err := schema.DecodePayload(e)
	if err != nil {
		return err
	}
	v, err := p.judge(e, payload)
	if err != nil {
		return err
	}
	if v.erased || v.changed || len(v.answers) > 0 {
		p.judged = append(p.judged, judged{e, payload, v})
	}
	p.trackDeclarations(e, payload, v)
	return nil
}

// sessionTypes are the events of a session that may name content of another one.
var sessionTypes = []string{schema.EntryEvidenceSet, schema.EntryStatusSet, schema.FactsShown}

// sessionRound judges events of the other sessions, all in one pass over the log, because there may be very many
// sessions. For a query it looks at all types of events.
func (p *planner) sessionRound(ctx context.Context) error {
	types := sessionTypes
	if p.scope.Kind() == schema.EraseQuery {
		types = nil
	}
	last := ""
	for e, err := range p.log.Replay(ctx, eventlog.ReplayOptions{StreamPrefix: schema.SessionPrefix, Types: types}) {
		if err != nil {
			return err
		}
		if p.whole[e.Stream] || p.parts[e.Stream] != nil {
			continue // It is deleted, or judged as a whole.
		}
		key, err := schema.ParseSessionStream(e.Stream)
		if err != nil || !p.projects[key.Project] && !p.memories[Memory{key.User, key.Agent}] {
			continue
		}
		if e.Stream != last {
			if err := p.reassign(last); err != nil {
				return err
			}
			last = e.Stream
			p.open(last)
		}
		if err := p.visit(e); err != nil {
			return err
		}
	}
	return p.reassign(last)
}

// trackDeclarations notes the erased declarations of a stream and the events that may replace them.
func (p *planner) trackDeclarations(e schema.Event, payload any, v verdict) {
	if v.erased {
		p.ids[e.ID] = true
		if id, _ := declares(payload); id != "" {
			if _, ok := p.declared[e.Stream][id]; !ok {
				p.declared[e.Stream][id] = e
			}
		}
		return
	}
	x, ok := payload.(schema.Succeeding)
	if !ok {
		return
	}
	for id, s := range x.Succeeds(p) {
		if old, ok := p.successors[e.Stream][id]; !ok || old.Waits && !s.Waits {
			p.successors[e.Stream][id] = successor{s, e, payload}
		}
	}
}

// reassign reassigns or erases the declarations of erased events at the end of a stream.
func (p *planner) reassign(stream string) error {
	for id, e := range p.declared[stream] {
		h, ok := p.successors[stream][id]
		isFact := e.Type == schema.FactCreated
		switch {
		case ok && h.Waits:
			_, condition, err := succeed(p.id, e, h)
			if err != nil {
				return err
			}
			p.conditions[id] = condition
			p.ids[id] = true
		case ok:
		case isFact:
			p.addFact(e.Stream, id)
		default:
			p.ids[id] = true
		}
	}
	return nil
}
