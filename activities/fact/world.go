package fact

import (
	"time"

	"axiommind/schema"
)

// world is the memory as it stands while events are being planned.
type world struct {
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

func newWorld(facts []Fact) *world {
	w := &world{
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
func (w *world) put(f Fact) {
	if old := w.facts[f.ID]; old.Status == Active {
		w.active--
		if key := Key(old.Content); w.byKey[key] == f.ID {
			delete(w.byKey, key)
		}
	}
	w.facts[f.ID] = f
	key := Key(f.Content)
	switch f.Status {
	case Active:
		w.active++
		w.byKey[key] = f.ID
	case Deleted:
		if f.GoneAt.After(w.deleted[key]) {
			w.deleted[key] = f.GoneAt
		}
	}
}

// plan adds the event and folds it. The log gives the real position; here any that grows will do.
func (w *world) plan(event schema.Event) error {
	w.last++
	event.Seq = w.last
	o, err := readEvent(event)
	if err != nil {
		return err
	}
	event.Seq = 0
	w.planned = append(w.planned, event)
	if id := o.subject(); id != "" {
		w.put(w.facts[id].after(o))
	}
	return nil
}

// weakest returns the active fact that leaves first, among those that were there before this plan
// or among those of the plan: the least sure, of equals the oldest.
func (w *world) weakest(fresh bool) (Fact, bool) {
	var out Fact
	found := false
	for id, f := range w.facts {
		if f.Status == Active && w.fresh[id] == fresh && (!found || leavesBefore(f, out)) {
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
