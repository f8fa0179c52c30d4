package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// minInside is the minimum number of equal messages where a part lies in the middle of the session, or meets the session's
// end with its own middle. Fewer may be a coincidence: a "yes" in another place is another message.
const minInside = 4

// Continue returns the messages of the parts that the session does not hold, numbered to follow its last message. Each part
// is an ordered selection of the session's messages, and may overlap earlier ones.
//
// A message with an id is known if the session holds one with that id. Other messages are known by position: a part is
// aligned with the session's end, or with its beginning. The remaining messages are new, however often the same words were
// said before. Continue sets the keys of the messages. It reads no texts.
func (s *Session) Continue(ctx context.Context, parts [][]schema.Message) ([]schema.Message, error) {
	t, err := s.thread(ctx)
	if err != nil {
		return nil, err
	}
	var out []schema.Message
	for _, part := range parts {
		out = append(out, t.add(part)...)
	}
	return out, nil
}

// thread is the part of a session that is needed to find out which messages it has.
type thread struct {
	// contents are the messages without their places, in order.
	contents []string
	// counts are how often each occurs.
	counts map[string]int
}

func (s *Session) thread(ctx context.Context) (*thread, error) {
	keys := make(map[int][]string, len(s.events))
	err := s.log.MessageKeys(ctx, s.events, func(h eventlog.Heading, of []string) { keys[h.First] = of })
	if err != nil {
		return nil, fmt.Errorf("read keys of session %q: %w", s.SessionID, err)
	}
	t := &thread{counts: make(map[string]int, s.Len())}
	for _, h := range s.events {
		for _, key := range keys[h.First] {
			content, _, _ := strings.Cut(key, "-")
			t.contents = append(t.contents, content)
			t.counts[content]++
		}
	}
	return t, nil
}

// idPrefix begins the content of a message with an id, which is the id.
const idPrefix = "id"

// add adds the messages of the part that are new, and returns them.
func (t *thread) add(part []schema.Message) []schema.Message {
	part = slices.Clone(part)
	schema.MessageKeys(part)
	contents := make([]string, 0, len(part))
	rest := part[:0]
	for _, m := range part {
		content, _, _ := strings.Cut(m.Key, "-")
		if m.SourceID != "" {
			content = idPrefix + schema.HashParts(m.SourceID)[:32]
			if t.counts[content] > 0 || slices.Contains(contents, content) {
				continue
			}
		}
		rest, contents = append(rest, m), append(contents, content)
	}
	fresh := t.unknown(contents)
	out := make([]schema.Message, 0, len(fresh))
	for _, i := range fresh {
		m, content := rest[i], contents[i]
		m.Index, m.Key = len(t.contents), content+"-"+strconv.Itoa(t.counts[content])
		t.contents = append(t.contents, content)
		t.counts[content]++
		out = append(out, m)
	}
	return out
}

// unknown returns the indexes of the messages that the thread does not hold.
func (t *thread) unknown(part []string) []int {
	met := t.beginning(part)
	switch {
	case met == len(t.contents):
		return from(met, len(part))
	case met == len(part) && met > 1 || len(part) >= minInside && t.holds(part):
		return nil
	}
	begin, met := t.end(part)
	if met == 0 {
		return from(0, len(part))
	}
	// Messages before the point where the two meet have changed since, such as a summary after a compaction.
	var out []int
	for i := range begin {
		if t.counts[part[i]] == 0 {
			out = append(out, i)
		}
	}
	return append(out, from(begin+met, len(part))...)
}

func from(first, end int) []int {
	out := make([]int, 0, end-first)
	for i := first; i < end; i++ {
		out = append(out, i)
	}
	return out
}

// beginning returns with how many messages of the part the thread begins.
func (t *thread) beginning(part []string) int {
	n := 0
	for n < len(part) && n < len(t.contents) && part[n] == t.contents[n] {
		n++
	}
	return n
}

// end returns the longest run of messages of the part with which the thread ends, and where it begins in the part. If there
// are several, it returns the first, so that the messages after it stay. A run of fewer than [minInside] counts only at the
// part's beginning.
func (t *thread) end(part []string) (begin, length int) {
	for last := range part {
		n := 0
		for n <= last && n < len(t.contents) && part[last-n] == t.contents[len(t.contents)-1-n] {
			n++
		}
		if at := last - n + 1; n > length && (n >= minInside || at == 0) {
			begin, length = at, n
		}
	}
	return begin, length
}

// holds reports whether the thread holds the part in one piece.
func (t *thread) holds(part []string) bool {
	for i := 0; i+len(part) <= len(t.contents); i++ {
		if slices.Equal(t.contents[i:i+len(part)], part) {
			return true
		}
	}
	return false
}
