package task

import (
	"context"
	"strings"

	language "axiommind/activities/text"
	"axiommind/schema"
)

const conditionConfidence = 0.5

// resolveBlocker returns the entity that the text names: an artifact by its URL or key, an entity by its id, a task
// by its title if the match is certain, or else a condition. Missing artifacts and conditions are created here, tasks
// never are.
func (p *planner) resolveBlocker(ctx context.Context, text string) (schema.Blocker, error) {
	b := schema.Blocker{Text: clipTitle(text), EntryID: p.act.EntryID, Since: p.at}
	forms := formsOf(text)
	for _, form := range forms.artifacts {
		if keys, ok := StrongArtifact(form); ok {
			e, err := p.artifact(ctx, keys, form)
			b.EntityRef, b.Confidence = e.EntityRef, 1
			return b, err
		}
	}
	e, found, err := p.named(ctx, forms.titles)
	if err != nil {
		return b, err
	}
	if found {
		b.EntityRef, b.Confidence, b.Placeholder = e.EntityRef, 1, e.AutoPlaceholder
		if p.act.RequestID != "" { // A person gave an id, which is no readable text.
			b.Text = clipTitle(e.Title)
		}
		return b, nil
	}
	matches, err := p.titled(ctx, forms.titles)
	if err != nil {
		return b, err
	}
	if top, ok := Strict(matches); ok {
		b.EntityRef, b.Confidence = top.Entity.EntityRef, top.Score
		return b, nil
	}
	var candidates []schema.Candidate
	for _, m := range matches {
		candidates = append(candidates, m.candidate())
	}
	e, err = p.condition(ctx, forms.condition, candidates)
	b.EntityRef, b.Confidence = e.EntityRef, conditionConfidence
	return b, err
}

// named returns the entity whose id is one of the texts, or the task whose key is one of them. A person may give a
// prefix of an id. In a session's text a prefix could be any number, so only whole ids count there.
func (p *planner) named(ctx context.Context, texts []string) (Entity, bool, error) {
	for _, text := range texts {
		text = bare(text)
		if isID(text) {
			if e, ok, err := p.overlay.byID(ctx, strings.ToLower(text)); err != nil || ok {
				return e, ok, err
			}
		}
		key, err := ParseKey(text)
		if err != nil || key.Type != schema.EntityTask || key.Project != p.overlay.project {
			continue
		}
		if e, ok, err := p.overlay.byKey(ctx, key); err != nil || ok {
			return e, ok, err
		}
	}
	if p.act.RequestID == "" {
		return Entity{}, false, nil
	}
	id, err := findPrefix(ctx, p.overlay, p.overlay.project, texts[0], everyType...)
	if err != nil || id == "" {
		return Entity{}, false, err
	}
	return p.overlay.byID(ctx, id)
}

// titled returns the task whose title is one of the texts. If there is none, it returns the possible matches of the
// last text, which is the most stripped one.
func (p *planner) titled(ctx context.Context, texts []string) ([]Match, error) {
	last := len(texts) - 1
	for _, text := range texts[:last] {
		key, err := KeyOfTask(p.overlay.project, text)
		if err != nil {
			return nil, err
		}
		e, ok, err := p.overlay.byKey(ctx, key)
		if err != nil {
			return nil, err
		}
		exact := []Match{weigh(e, MethodExact, baseExact, p.at)}
		if _, certain := Strict(exact); ok && certain {
			return exact, nil
		}
	}
	return p.overlay.match(ctx, texts[last], p.at)
}

// artifact returns the artifact with any of the keys. If there is none, it declares the artifact under the first key.
func (p *planner) artifact(ctx context.Context, keys []Key, text string) (Entity, error) {
	for _, key := range keys {
		if e, ok, err := p.overlay.byKey(ctx, key); err != nil || ok {
			return e, err
		}
	}
	id := keys[0].ID()
	err := p.emit(p.entityKey(schema.EntityArtifact, id), schema.ArtifactDeclaredPayload{
		Act: p.act, ArtifactID: id, CanonicalKey: keys[0].String(), Kind: keys[0].Kind, Text: clipTitle(text),
	})
	return p.overlay.entities[id], err
}

func (p *planner) condition(ctx context.Context, text string, candidates []schema.Candidate) (Entity, error) {
	key, err := KeyOfCondition(p.overlay.project, text)
	if err != nil {
		return Entity{}, err
	}
	if e, ok, err := p.overlay.conditionOf(ctx, text); err != nil || ok {
		return e, err
	}
	var named []string
	for _, keys := range mentions(text) {
		e, err := p.artifact(ctx, keys, text)
		if err != nil {
			return Entity{}, err
		}
		named = append(named, e.ID)
	}
	return p.declare(key, schema.ConditionDeclaredPayload{Text: text, Candidates: candidates, Mentions: named})
}

// placeholder returns the condition that represents the unknown blocker of the task.
func (p *planner) placeholder(ctx context.Context, task Entity) (schema.Blocker, error) {
	key := placeholderKey(p.overlay.project, task.ID)
	e, ok, err := p.overlay.byKey(ctx, key)
	if err == nil && !ok {
		e, err = p.declare(key, schema.ConditionDeclaredPayload{Text: "Unknown blocker for: " + task.Title, AutoPlaceholder: true})
	}
	return schema.Blocker{
		EntityRef: e.EntityRef, Text: e.Title, Placeholder: true, EntryID: p.act.EntryID, Since: p.at,
	}, err
}

func (p *planner) declare(key Key, c schema.ConditionDeclaredPayload) (Entity, error) {
	c.Act, c.ConditionID, c.CanonicalKey, c.Text = p.act, key.ID(), key.String(), clipTitle(c.Text)
	if spelled, ok := spellingKey(p.overlay.project, c.Text); ok && spelled != key && !c.AutoPlaceholder {
		c.Aliases = []string{spelled.String()}
	}
	err := p.emit(p.entityKey(schema.EntityCondition, c.ConditionID), c)
	return p.overlay.entities[c.ConditionID], err
}

// resolveBlockers resolves the texts, each entity once, and refuses blockers that would make the task wait for
// itself. Refusals are recorded.
func (p *planner) resolveBlockers(ctx context.Context, task Entity, texts []string) ([]schema.Blocker, error) {
	var out []schema.Blocker
	refused := map[string][]schema.Blocker{}
	for _, text := range texts {
		if language.Title(text) == "" {
			continue
		}
		b, err := p.resolveBlocker(ctx, text)
		if err != nil {
			return nil, err
		}
		rejection := ""
		if b.ID == task.ID {
			rejection = schema.RejectedSelfBlock
		} else if loops, err := p.overlay.reaches(ctx, b.ID, task.ID); err != nil {
			return nil, err
		} else if loops {
			rejection = schema.RejectedCycle
		}
		switch {
		case rejection != "":
			refused[rejection] = append(refused[rejection], b)
		case !hasBlocker(out, b.ID):
			out = append(out, b)
			// A session that is imported late may report a wait that is already over.
			if ends, err := p.overlay.endsOf(ctx, []string{b.ID}); err != nil {
				return nil, err
			} else if end := ends[b.ID]; !end.Open() && olderThan(p.at, end.ClosedAt) {
				p.ended = append(p.ended, b.ID)
			}
		}
	}
	for _, rejection := range []string{schema.RejectedSelfBlock, schema.RejectedCycle} {
		if blockers := refused[rejection]; len(blockers) > 0 {
			if err := p.reject(task, "", rejection, blockers); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// resolveCondition resolves the condition whose text is the title to the task that now has the title, unless the task
// waits for it.
func (p *planner) resolveCondition(ctx context.Context, task Entity, title string) error {
	condition, ok, err := p.overlay.conditionOf(ctx, title)
	if err != nil || !ok || condition.ResolvesTo != nil {
		return err
	}
	loops, err := p.overlay.reaches(ctx, task.ID, condition.ID)
	if err != nil {
		return err
	}
	if loops {
		return p.reject(task, "", schema.RejectedCycle, []schema.Blocker{{
			EntityRef: condition.EntityRef, Text: condition.Title, EntryID: p.act.EntryID, Since: p.at,
		}})
	}
	return p.resolveTo(condition, task.EntityRef, schema.ResolvedByTaskTitle)
}

func (p *planner) resolveTo(condition Entity, target schema.EntityRef, by string) error {
	return p.emit(p.changeKey("resolved", condition.ID), schema.ConditionResolvedToPayload{
		Act: p.act, ConditionID: condition.ID, Target: target, ResolvedBy: by,
	})
}

// closeArtifact closes the artifact if it is open, and resolves the conditions that name it. Closing a closed artifact
// again removes it from the tasks that have named it as a blocker since.
func (p *planner) closeArtifact(ctx context.Context, artifact Entity) error {
	p.ended = append(p.ended, artifact.ID)
	if artifact.Open() {
		err := p.emit(p.changeKey("closed", artifact.ID), schema.ArtifactClosedPayload{
			Act: p.act, ArtifactID: artifact.ID,
		})
		if err != nil {
			return err
		}
	}
	conditions, err := p.overlay.mentioning(ctx, artifact.ID)
	if err != nil {
		return err
	}
	for _, c := range conditions {
		if c.ResolvesTo == nil {
			if err := p.resolveTo(c, artifact.EntityRef, schema.ResolvedByArtifact); err != nil {
				return err
			}
		}
	}
	return nil
}
