package fact

import (
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
	// fresh are the ids of the facts that the batch creates.
	fresh   map[string]bool
	last    uint64
	planned []schema.Event
}

func newOverlay(m Memory) *overlay {
	w := &overlay{
		facts: make(map[string]Fact, len(m.Facts)), byKey: make(map[string]string, len(m.Facts)),
		deleted: map[string]time.Time{}, fresh: map[string]bool{},
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
	if id := o.payload.Fact(); id != "" {
		v.put(v.facts[id].after(o))
	}
	return nil
}

// weakest returns the active fact to evict first, chosen from the facts of the batch if fresh is true, else from the
// earlier ones. It is the one with the lowest confidence, and among equals the oldest.
func (v *overlay) weakest(fresh bool) (Fact, bool) {
	var out Fact
	found := false
	for id, f := range v.facts {
		if f.Status == Active && v.fresh[id] == fresh && (!found || evictedBefore(f, out)) {
			out, found = f, true
		}
	}
	return out, found
}

func evictedBefore(a, b Fact) bool {
	if a.Confidence != b.Confidence {
		return a.Confidence < b.Confidence
	}
	if !a.CreatedAt.Equal(b.CreatedAt) {
		return a.CreatedAt.Before(b.CreatedAt)
	}
	return a.CreatedSeq < b.CreatedSeq
}
