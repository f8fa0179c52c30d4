// Package answer reads a model's answer to an extraction: tolerant in form, strict in content.
package answer

import (
	"encoding/json"
	"errors"
	"fmt"

	"axiommind/schema"
)

// ErrUnreadable is the error of [Read], wrapped with the reason, for an answer without an extraction.
var ErrUnreadable = errors.New("unreadable answer")

// Result is the readable part of an answer.
type Result struct {
	Entries  []schema.ExtractedEntry
	Rejected []schema.RejectedItem
	// Truncated is true when the answer breaks off in the list of entries. The entries before the break are kept; the
	// window is not done.
	Truncated bool
}

// Read reads a model's answer: the JSON it was asked for, or the same within code
// fences, prose or thoughts, with the mistakes models make in JSON, in names and in shapes.
// Everything that does not fit [schema.ExtractionSchema] after that is rejected with a reason.
//
// Where there are several pieces of JSON, the last one with entries counts. An answer without any,
// even an empty one, is ErrUnreadable: only an explicit empty list means that there is nothing.
func Read(text string) (Result, error) {
	s := scanner{text: text}
	whole := s.run()
	if len(s.found) == 0 {
		return Result{}, fmt.Errorf("%w: no JSON in it", ErrUnreadable)
	}
	var (
		best    Result
		bestOf  = -1
		why     error
		singles []json.RawMessage
		partial bool
	)
	for i, c := range s.found {
		if c.err != nil {
			why = c.err
			continue
		}
		list := c.list
		if list.single {
			singles = append(singles, list.items...)
			if i+1 < len(s.found) && s.found[i+1].list.single {
				partial = partial || list.truncated
				continue
			}
			list.items, singles = singles, nil
		}
		r := readItems(list.items)
		r.Truncated = list.truncated || list.single && partial
		if rank := r.rank(); rank >= bestOf {
			best, bestOf = r, rank
		}
	}
	if bestOf < 0 {
		if why == nil {
			why = errNoEntries
		}
		return Result{}, fmt.Errorf("%w: %w", ErrUnreadable, why)
	}
	best.Truncated = best.Truncated || !whole
	if best.Truncated && len(best.Entries)+len(best.Rejected) == 0 {
		return best, fmt.Errorf("%w: cut off before the end of the first entry", ErrUnreadable)
	}
	return best, nil
}

// rank orders candidates: entries, then at least items, then an explicit empty list.
func (r Result) rank() int {
	switch {
	case len(r.Entries) > 0:
		return 2
	case len(r.Rejected) > 0:
		return 1
	default:
		return 0
	}
}

func readItems(items []json.RawMessage) Result {
	var r Result
	for i, raw := range items {
		entry, err := readEntry(raw)
		if err != nil {
			r.Rejected = append(r.Rejected, schema.RejectedItem{Index: i, Reason: err.Error(), Raw: raw})
			continue
		}
		r.Entries = append(r.Entries, entry)
	}
	return r
}
