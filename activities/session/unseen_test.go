package session

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"axiommind/schema"
)

// ofTexts makes messages that say the texts, keyed as a session's are.
func ofTexts(texts []string) []schema.Message {
	messages := make([]schema.Message, len(texts))
	for i, text := range texts {
		messages[i] = textMessage(text)
	}
	schema.MessageKeys(numbered(messages))
	return messages
}

func textsOf(messages []schema.Message) []string {
	out := make([]string, len(messages))
	for i, m := range messages {
		out[i] = m.Text
	}
	return out
}

func texts(t *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"yes", "no", "go on", "네", "use Kafka"}), 0, 20).Draw(t, label)
}

// stored are the messages that the log holds.
type stored []schema.Message

func (l *stored) add(messages []schema.Message) { *l = append(*l, messages...) }

func (l *stored) unseen(messages []schema.Message) []schema.Message {
	known := map[string]bool{}
	for _, m := range *l {
		known[m.Key] = true
	}
	return unseen(known, len(*l), messages)
}

// No part of a session is new when it is submitted again. Of a longer session only the added messages
// are, each repetition of a word included.
func TestUnseenGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, added := texts(t, "before"), texts(t, "added")
		var l stored
		l.add(l.unseen(ofTexts(before)))
		if got := textsOf(l); fmt.Sprint(got) != fmt.Sprint(before) {
			t.Fatalf("the log holds %q of %q", got, before)
		}
		prefix := before[:rapid.IntRange(0, len(before)).Draw(t, "prefix")]
		if again := l.unseen(ofTexts(prefix)); len(again) != 0 {
			t.Fatalf("%q of %q is new", textsOf(again), before)
		}
		grown := l.unseen(ofTexts(slices.Concat(before, added)))
		if got := textsOf(grown); fmt.Sprint(got) != fmt.Sprint(added) {
			t.Fatalf("%q is new, want %q", got, added)
		}
		for i, m := range grown {
			if m.Index != len(before)+i {
				t.Fatalf("message %d has the index %d", len(before)+i, m.Index)
			}
		}
	})
}

// A compacted session has lost its beginning and gained a summary, which is new. However it is
// rewritten, nothing is stored twice and nothing new is left out.
func TestUnseenCompacted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, added := texts(t, "before"), texts(t, "added")
		var l stored
		l.add(l.unseen(ofTexts(before)))
		kept := before[rapid.IntRange(0, len(before)).Draw(t, "dropped"):]
		rewritten := slices.Concat([]string{"a summary"}, kept, added)
		l.add(l.unseen(ofTexts(rewritten)))
		seen := map[string]int{}
		for _, m := range l {
			seen[m.Text]++
		}
		for _, text := range slices.Concat(before, rewritten) {
			if want := max(times(before, text), times(rewritten, text)); seen[text] != want {
				t.Fatalf("%q is stored %d times, want %d", text, seen[text], want)
			}
		}
		if again := l.unseen(ofTexts(rewritten)); len(again) != 0 {
			t.Fatalf("%q is new the second time", textsOf(again))
		}
	})
}
