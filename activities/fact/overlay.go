package fact

import (
	"time"

	"axiommind/schema"
)

// overlay is the memory as it stands while events are being planned.
type overlay struct {
	facts map[string]Fact
	// byKey holds the ids of active facts by what they say, deleted when a person last took away a
	// fact that said so.
	byKey   map[string]string
	deleted map[string]time.Time
	active  int
	// fresh are the ids of facts planned here.
	fresh   map[string]bool
	last    uint64
	planned []schema.Event
}

func newOverlay(facts []Fact) *overlay {
	w := &overlay{
		facts: make(map[string]Fact, len(facts)), byKey: make(map[string]string, len(facts)),
		deleted: map[string]time.Time{}, fresh: map[string]bool{},
	}
	for _, f := range facts {
		w.put(f)
		w.last = max(w.last, f.Version)
	}
	return w
}

// put takes in the fact as it is now.
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

// plan adds the event and folds it. The log gives the real position; here any that grows will do.
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

// weakest returns the active fact that leaves first, among those that were there before this plan
// or among those of the plan: the least sure, of equals the oldest.
func (v *overlay) weakest(fresh bool) (Fact, bool) {
	var out Fact
	found := false
	for id, f := range v.facts {
		if f.Status == Active && v.fresh[id] == fresh && (!found || leavesBefore(f, out)) {
			out, found = f, true
		}
	}
	return out, found
}

func leavesBefore(a, b Fact) bool {
	if a.Confidence != b.Confidence {
		return a.Confidence < b.Confidence
	}
	if !a.CreatedAt.Equal(b.CreatedAt) {
		return a.CreatedAt.Before(b.CreatedAt)
	}
	return a.CreatedSeq < b.CreatedSeq
}
