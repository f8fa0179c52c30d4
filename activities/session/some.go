package session

import (
	"context"
	"slices"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// Messages returns the given messages that are in the session, by their indexes. It reads each of their
// events once, a page at a time.
func (s *Session) Messages(ctx context.Context, messages []int) (map[int]schema.Message, error) {
	wanted := make(map[int]bool, len(messages))
	var holders []int
	for _, m := range messages {
		if m >= 0 && m < s.Len() {
			wanted[m] = true
			holders = append(holders, s.holder(m))
		}
	}
	slices.Sort(holders)
	holders = slices.Compact(holders)
	events := make([]eventlog.Heading, len(holders))
	for i, at := range holders {
		events[i] = s.events[at]
	}
	out := make(map[int]schema.Message, len(wanted))
	for len(events) > 0 {
		page := pageOf(events)
		events = events[len(page):]
		loaded, err := recent.load(ctx, s, page)
		if err != nil {
			return nil, err
		}
		for _, held := range loaded {
			for _, m := range held {
				if wanted[m.Index] {
					out[m.Index] = m
				}
			}
		}
	}
	return out, nil
}
