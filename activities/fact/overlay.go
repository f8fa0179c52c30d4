package fact

import (
	"maps"
	"time"

	"axiommind/schema"
)

// overlay is the memory's state while events are being planned.
type overlay struct {
	facts map[string]Fact
	// byKey holds the ids of active facts by key. deleted holds, by key, when a person last deleted a fact with it.
	byKey   map[string]string
	deleted map[string]time.Time
	active  int
	// sections are the last summaries of the sections of the profile.
	sections map[string]Section
	// cleared is when everything was last forgotten.
	cleared time.Time
	evicter evicter
	last    uint64
	planned []schema.Event
}

func newOverlay(m Memory, opts Options) *overlay {
	w := &overlay{
		facts: make(map[string]Fact, len(m.Facts)), byKey: make(map[string]string, len(m.Facts)),
		deleted: map[string]time.Time{}, sections: maps.Clone(m.Sections), cleared: m.Cleared, last: m.Version,
		evicter: evicter{policy: opts.Eviction, reserve: opts.Reserve, uses: m.Uses, now: m.Now},
	}
	if w.sections == nil {
		w.sections = map[string]Section{}
	}
	for _, f := range m.Facts {
		w.put(f)
		w.last = max(w.last, f.Version)
	}
	w.active = m.Active
	return w
}

// put stores the current state of the fact.
func (v *overlay) put(f Fact) {
	if old := v.facts[f.ID]; old.Status == Active {
		v.active--
		if key := Key(old.Content); v.byKey[key] == f.ID {
			delete(v.byKey, key)
		}
	}
	v.facts[f.ID] = f
	key := Key(f.Content)
	switch f.Status {
	case Active:
		v.active++
		v.byKey[key] = f.ID
	case Deleted:
		if f.GoneAt.After(v.deleted[key]) {
			v.deleted[key] = f.GoneAt
		}
	}
}

// plan adds the event and folds it. The log assigns the real position; here any increasing number will do.
func (v *overlay) plan(event schema.Event) error {
	v.last++
	event.Seq = v.last
	o, err := readEvent(event)
	if err != nil {
		return err
	}
	event.Seq = 0
	v.planned = append(v.planned, event)
	switch p := o.payload.(type) {
	case schema.ProfileUpdatedPayload:
		if s := sectionOf(p, o.event); !s.UpdatedAt.Before(v.sections[p.Section].UpdatedAt) {
			v.sections[p.Section] = s
		}
	default:
		if id := o.payload.Fact(); id != "" {
			v.put(v.facts[id].after(o))
		}
	}
	return nil
}
