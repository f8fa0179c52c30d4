package task

import "axiommind/schema"

// The reference for the projection in property tests: the fold of all events, without tables.

// Fold returns the entity with the id after the event.
func Fold(e Entity, id string, event schema.Event) (Entity, error) {
	o, err := readEvent(event)
	if err != nil {
		return e, err
	}
	return e.after(id, o), nil
}
