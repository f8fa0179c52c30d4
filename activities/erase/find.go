package erase

import (
	"context"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// find finds the sessions and streams that the scope names.
func (p *planner) find(ctx context.Context) error {
	switch s := p.scope; s.Kind() {
	case schema.EraseSession:
		p.addMemory(s.Project, s.User, s.Agent)
		if err := p.eraseSession(ctx, s.Session()); err != nil {
			return err
		}
	case schema.EraseUser:
		for _, prefix := range []string{schema.MemoryPrefix, schema.QueuePrefix} {
			for stream, err := range p.log.Streams(ctx, prefix) {
				if err != nil {
					return err
				}
				if o := ownerOf(schema.Event{Stream: stream.Name}); o.memory && o.user == s.User {
					p.memories[Memory{o.user, o.agent}] = true
					if err := p.delete(ctx, stream.Name); err != nil {
						return err
					}
				}
			}
		}
	case schema.EraseProject:
		p.projects[s.Project] = true
		for _, stream := range []string{schema.ProjectStream(s.Project), schema.GraduateStream(s.Project)} {
			if err := p.delete(ctx, stream); err != nil {
				return err
			}
		}
		for stream, err := range p.log.Streams(ctx, schema.UsagePrefix) {
			if err != nil {
				return err
			}
			if project, err := schema.ParseUsageStream(stream.Name); err == nil && project == s.Project {
				if err := p.delete(ctx, stream.Name); err != nil {
					return err
				}
			}
		}
		for stream, err := range p.log.Streams(ctx, schema.MemoryPrefix) {
			if err != nil {
				return err
			}
			if user, agent, err := schema.ParseMemoryStream(stream.Name); err == nil {
				p.memories[Memory{user, agent}] = true // Its content about the project may have been entered by hand.
			}
		}
	}
	if p.scope.Kind() != schema.EraseQuery {
		if err := p.findHeld(ctx); err != nil {
			return err
		}
	}
	if p.scope.Kind() == schema.EraseSession {
		return nil
	}
	return p.findSessions(ctx)
}

// findHeld marks the messages that are held for a queue for deletion. A queue learns of them by a signal, which may
// never arrive.
func (p *planner) findHeld(ctx context.Context) error {
	for stream, err := range p.log.Streams(ctx, schema.ContextPrefix) {
		if err != nil {
			return err
		}
		if ofScope(p.scope, stream.Name) {
			if err := p.delete(ctx, stream.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// findSessions visits the sessions of the scope.
func (p *planner) findSessions(ctx context.Context) error {
	for stream, err := range p.log.Streams(ctx, schema.SessionPrefix) {
		if err != nil {
			return err
		}
		key, err := schema.ParseSessionStream(stream.Name)
		if err != nil {
			continue
		}
		if p.scope.User != "" && key.User != p.scope.User || p.scope.Project != "" && key.Project != p.scope.Project {
			continue
		}
		p.addMemory(key.Project, key.User, key.Agent)
		if p.scope.Kind() == schema.EraseQuery {
			err = p.searchSession(ctx, key)
		} else {
			err = p.eraseSession(ctx, key)
		}
		if err != nil {
			return err
		}
	}
	if p.scope.Kind() != schema.EraseQuery {
		return nil
	}
	if p.scope.Project != "" {
		p.projects[p.scope.Project] = true
	}
	for stream, err := range p.log.Streams(ctx, schema.MemoryPrefix) {
		if err != nil {
			return err
		}
		if user, agent, err := schema.ParseMemoryStream(stream.Name); err == nil && user == p.scope.User {
			p.memories[Memory{user, agent}] = true
		}
	}
	return nil
}

func (p *planner) addMemory(project, user, agent string) {
	p.projects[project], p.memories[Memory{user, agent}] = true, true
}

// eraseSession marks the session's stream for deletion and notes everything that the session created.
func (p *planner) eraseSession(ctx context.Context, key schema.SessionKey) error {
	before := p.plan.Counts.Deleted
	p.addSession(key)
	if err := p.delete(ctx, key.Stream()); err != nil {
		return err
	}
	if p.plan.Counts.Deleted > before {
		p.plan.Counts.Sessions++
		p.plan.Sessions = append(p.plan.Sessions, key)
	}
	return nil
}

// delete marks a stream for deletion and notes everything that its events created.
func (p *planner) delete(ctx context.Context, stream string) error {
	for e, err := range p.log.Stream(ctx, stream, eventlog.StreamOptions{}) {
		if err != nil {
			return err
		}
		payload, err := schema.DecodePayload(e)
		if err != nil {
			return err
		}
		p.erased(e, payload)
		for _, key := range answersOf(payload) {
			p.answers[key] = true
		}
		p.whole[stream] = true
	}
	return nil
}

// erased notes an erased event: its id, its declarations, its count and its texts.
func (p *planner) erased(e schema.Event, payload any) {
	p.ids[e.ID] = true
	switch id, inMemory := declares(payload); {
	case id == "":
	case inMemory:
		p.addFact(ownerOf(e).stream(), id)
	default:
		p.ids[id] = true
	}
	p.count(payload)
	wordsOf(payload, p.text)
}

func (p *planner) count(payload any) {
	c := &p.plan.Counts
	c.Deleted++
	switch x := payload.(type) {
	case schema.SessionIngestedPayload:
		c.Messages += len(x.Messages)
	case schema.EntryMaterializedPayload:
		c.Entries++
	case schema.FactCreatedPayload:
		c.Facts++
	case schema.TaskCreatedPayload:
		c.Tasks++
	case schema.DecisionRecordedPayload:
		c.Decisions++
	case schema.ChangeProposedPayload:
		c.Proposals++
	case schema.ContextFlushedPayload:
		c.Records++
	case schema.RecordEditedPayload:
		c.Edits++
	case schema.CoreCommittedPayload:
		c.Versions++
	case schema.DreamFinishedPayload:
		c.Dreams++
	case schema.ModelRespondedPayload:
		c.Answers++
	case schema.ContextEnqueuedPayload:
		c.Queued++
	}
}

// searchSession looks for messages of a session that contain the text to erase, and notes the session's entries.
func (p *planner) searchSession(ctx context.Context, key schema.SessionKey) error {
	stream := key.Stream()
	for e, err := range p.log.Stream(ctx, stream, eventlog.StreamOptions{Types: []string{schema.SessionIngested, schema.EntryMaterialized}}) {
		if err != nil {
			return err
		}
		if e.Type == schema.EntryMaterialized {
			x, err := schema.Decode[schema.EntryMaterializedPayload](e)
			if err != nil {
				return err
			}
			p.ownEntries[x.ID] = true
			continue
		}
		x, err := schema.Decode[schema.SessionIngestedPayload](e)
		if err != nil {
			return err
		}
		for _, m := range x.Messages {
			if m.Text == schema.ForgottenText || !p.Contains(m.Text) {
				continue
			}
			if p.parts[stream] == nil {
				p.parts[stream] = &part{key: key, indexes: map[int]bool{}, keys: map[string]bool{}}
				p.plan.Counts.Sessions++
			}
			p.parts[stream].indexes[m.Index], p.parts[stream].keys[m.Key] = true, true
			p.ids[messageID(e.ID, m.Index)] = true
			p.plan.Counts.Messages++
			p.text(m.Text)
		}
	}
	return nil
}
