package fact

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"axiommind/schema"
)

// PlanCommand returns the events that carry out the command, to be appended to the memory's stream as one batch. If
// the error is [ErrDuplicate], the returned event records the refusal. Items of an import that were imported before
// are left out.
func PlanCommand(m Memory, c Command, opts Options) ([]schema.Event, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &planner{overlay: newOverlay(m, opts), opts: opts, project: c.Project, build: c.RequestID, actor: c.Actor}
	if err := p.expect(m, c); err != nil {
		return nil, err
	}
	switch c.Op {
	case OpCreate:
		err = p.consider(p.commanded(c))
	case OpSection:
		err = p.commandSection(c)
	case OpImport:
		err := p.importItems(c, m.Done)
		return p.overlay.planned, err
	case OpClear:
		err = p.clear(c)
	default:
		err = p.change(c)
	}
	if err != nil || len(p.overlay.planned) == 0 {
		return nil, err
	}
	return p.overlay.planned, refusal(p.overlay.planned[len(p.overlay.planned)-1])
}

// expect returns an error if the subject of the command has another version than the command expects.
func (p *planner) expect(m Memory, c Command) error {
	if c.ExpectVersion == 0 {
		return nil
	}
	what, version := "the memory", m.Version
	switch c.Op {
	case OpUpdate, OpDelete:
		f, ok := p.overlay.facts[c.FactID]
		if !ok || f.Status != Active {
			return notFound(c)
		}
		what, version = fmt.Sprintf("fact %q", c.FactID), f.Version
	case OpSection:
		what, version = "the section "+c.Section, p.overlay.sections[c.Section].Version
	}
	if version != c.ExpectVersion {
		return fmt.Errorf("%w: %s has version %d, not %d: look at it again before you change it", ErrStale, what, version, c.ExpectVersion)
	}
	return nil
}

func notFound(c Command) error {
	return fmt.Errorf("%s fact %q of user %q, agent %q: %w", c.Op, c.FactID, c.User, c.Agent, ErrFactNotFound)
}

func (p *planner) commanded(c Command) proposal {
	x := proposal{
		act: schema.Act{RequestID: c.RequestID, Reason: c.Reason}, key: schema.FactOfCommandKey(c.User, c.Agent, c.RequestID),
		at: instant(c.At), aligned: true, confidence: c.Confidence,
	}
	set(&x.content, c.Content)
	set(&x.category, c.Category)
	set(&x.sourceError, c.SourceError)
	return x
}

func (p *planner) change(c Command) error {
	x := p.commanded(c)
	f, ok := p.overlay.facts[c.FactID]
	if !ok || f.Status != Active {
		return notFound(c)
	}
	if c.Op == OpDelete {
		return p.emit(x.key, x.at, schema.FactDeletedPayload{Act: x.act, FactID: f.ID})
	}
	if c.Content != nil {
		if other, taken := p.overlay.byKey[Key(*c.Content)]; taken && other != f.ID {
			return p.skip(x, schema.FactSkippedPayload{
				Skipped: schema.SkippedDuplicate, Detail: other + " says the same", DuplicateOf: other,
			})
		}
	}
	payload := schema.FactUpdatedPayload{Act: x.act, FactID: f.ID, Confidence: c.Confidence}
	payload.Content, payload.SourceError = trimmed(c.Content), trimmed(c.SourceError)
	if c.Category != nil {
		category, _ := Category(*c.Category)
		payload.Category = &category
	}
	return p.emit(x.key, x.at, payload)
}

func trimmed(s *string) *string {
	if s == nil {
		return nil
	}
	t := strings.TrimSpace(*s)
	return &t
}

// personsConfidence is the confidence of a section that a person wrote.
const personsConfidence = 1

// commandSection plans a person's summary of a section.
func (p *planner) commandSection(c Command) error {
	x := p.commanded(c)
	x.section = c.Section
	if strings.TrimSpace(x.content) == "" && p.overlay.sections[c.Section].Summary == "" {
		return &InvalidError{"section", fmt.Sprintf("%s is empty already", c.Section)}
	}
	if x.confidence == nil {
		x.confidence = new(float64(personsConfidence))
	}
	if objection := p.objectionToSection(x); objection != nil {
		return p.skip(x, *objection)
	}
	return p.setSection(x)
}

// importItems plans the outcome of each item, as if it was created alone.
func (p *planner) importItems(c Command, done map[string]bool) error {
	for n, item := range c.Items {
		key := importKey(c, n)
		if done[schema.EventID(key)] {
			continue
		}
		x := proposal{
			act: schema.Act{RequestID: c.RequestID, Reason: c.Reason}, key: key, at: instant(c.At), aligned: true,
			section: item.Section, content: item.Content, category: item.Category, confidence: item.Confidence,
			sourceError: item.SourceError,
		}
		if item.Section != "" && x.confidence == nil {
			x.confidence = new(float64(personsConfidence))
		}
		if item.Since.Before(c.At) && !item.Since.IsZero() {
			x.since = instant(item.Since)
		}
		if err := p.consider(x); err != nil {
			return fmt.Errorf("import item %d: %w", n+1, err)
		}
	}
	return nil
}

func importKey(c Command, n int) string {
	return schema.FactOfImportKey(c.User, c.Agent, c.RequestID, strconv.Itoa(n))
}

// clear plans the end of every fact and of every section, and last the event that says that this was everything.
func (p *planner) clear(c Command) error {
	act, at := schema.Act{RequestID: c.RequestID, Reason: cmp.Or(c.Reason, "everything was forgotten")}, instant(c.At)
	last := schema.FactsClearedPayload{Act: schema.Act{RequestID: c.RequestID, Reason: c.Reason}}
	var facts []Fact
	for _, f := range p.overlay.facts {
		if f.Status == Active {
			facts = append(facts, f)
		}
	}
	slices.SortFunc(facts, func(a, b Fact) int { return cmp.Compare(a.CreatedSeq, b.CreatedSeq) })
	for _, f := range facts {
		key := schema.FactOfClearedKey(c.User, c.Agent, c.RequestID, f.ID)
		if err := p.emit(key, at, schema.FactDeletedPayload{Act: act, FactID: f.ID}); err != nil {
			return err
		}
		last.Facts++
	}
	for _, name := range schema.ProfileSections() {
		if p.overlay.sections[name].Summary == "" {
			continue
		}
		key := schema.FactOfClearedKey(c.User, c.Agent, c.RequestID, name)
		if err := p.emit(key, at, schema.ProfileUpdatedPayload{Act: act, Section: name}); err != nil {
			return err
		}
		last.Sections++
	}
	return p.emit(schema.FactOfCommandKey(c.User, c.Agent, c.RequestID), at, last)
}

// refusal returns the error that the command's event records, or nil.
func refusal(e schema.Event) error {
	if e.Type != schema.FactSkipped {
		return nil
	}
	p, err := schema.Decode[schema.FactSkippedPayload](e)
	if err != nil {
		return err
	}
	if p.Skipped == schema.SkippedDuplicate {
		return fmt.Errorf("%w: %s", ErrDuplicate, p.Detail)
	}
	return fmt.Errorf("%w: %s", ErrInvalid, p.Detail)
}
