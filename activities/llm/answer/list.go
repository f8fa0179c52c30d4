package answer

import (
	"encoding/json"
	"fmt"
)

// ReadList reads the items of the list in an answer, as [Read] does before it reads the entries. The last of several
// lists with items counts. If the answer breaks off in the list, truncated is true, and the items before that are
// returned.
func ReadList(text string) (items []json.RawMessage, truncated bool, err error) {
	s := scanner{text: text}
	whole := s.run()
	found := false
	why := errNoEntries
	for _, c := range s.found {
		switch {
		case c.err != nil:
			why = c.err
		case !c.list.single && (len(c.list.items) > 0 || len(items) == 0):
			items, truncated, found = c.list.items, c.list.truncated || !whole, true
		}
	}
	if !found {
		return nil, false, fmt.Errorf("%w: %w", ErrUnreadable, why)
	}
	return items, truncated, nil
}
