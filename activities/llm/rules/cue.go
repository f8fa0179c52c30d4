package rules

import (
	"slices"
	"sync"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
	"axiommind/schema"
)

// kind is the meaning of a cue.
type kind uint8

const (
	// void cues only keep the shorter cues within them from counting.
	void kind = iota
	decision
	preference
	correction
	goal
	task
	// doubt cues make a statement a proposal, a condition or an example.
	doubt
	// negation cues turn a statement near them into its opposite.
	negation
	priority
)

// part is the part of the sentence that names the task, or its blocker.
type part uint8

const (
	whole part = iota
	after
	before
	none
)

// cue is a phrase in lower case and its meaning in its place.
type cue struct {
	text string
	kind kind
	who  schema.Role
	// opens is true for cues that count only where they open a sentence.
	opens bool
	// with lists phrases, one of which must be in the same sentence; nil for none.
	with []string
	// hands cues speak of work on a project: they count where an agent works, and not in a chat.
	hands bool
	// status, title and blocker are of tasks.
	status  schema.TaskStatus
	title   part
	blocker part
	rank    schema.TaskPriority
}

// group makes cues of one meaning.
func group(like cue, texts ...string) []cue {
	out := make([]cue, len(texts))
	for i, t := range texts {
		out[i] = like
		out[i].text = t
	}
	return out
}

// weights order kinds within one sentence, and are the confidence of an entry of the kind. The others make no entry.
var weights = [priority + 1]float64{correction: 0.85, decision: 0.8, preference: 0.75, task: 0.7, goal: 0.65}

// tellsMoreThan reports whether c decides the kind of a sentence rather than o.
func (c *cue) tellsMoreThan(o *cue) bool {
	if c.kind != o.kind {
		return weights[c.kind] > weights[o.kind]
	}
	names := func(c *cue) bool { return c.blocker == after || c.blocker == before }
	return names(c) && !names(o)
}

// finder finds cues in a text.
type finder struct {
	*prose.Phrases
	cues []cue
}

var finderOfAll = sync.OnceValue(func() *finder {
	f := &finder{cues: slices.Concat(englishCues(), koreanCues(), chineseCues(), japaneseCues())}
	texts := make([]string, len(f.cues))
	for i, c := range f.cues {
		texts[i] = c.text
	}
	f.Phrases = prose.NewPhrases(texts)
	return f
})

// hit is a cue in a text, in bytes.
type hit struct {
	*cue
	start, end int
}

// find returns the cues in a text, but those that lie within a longer one, and none in a text that no quote can hold.
func (f *finder) find(text string) []hit {
	var out []hit
	if len(text) > schema.MaxQuote*utf8.UTFMax {
		return nil
	}
	for _, h := range f.Find(text) {
		out = append(out, hit{&f.cues[h.Phrase], h.Start, h.End})
	}
	// The one that reaches furthest, of those that begin before: they are in the order of their beginnings.
	furthest := hit{}
	kept := out[:0]
	for i, h := range out {
		longer := func(o hit) bool { return o.start <= h.start && h.end <= o.end && o.end-o.start > h.end-h.start }
		within := longer(furthest)
		for n := i + 1; n < len(out) && out[n].start == h.start; n++ {
			within = within || longer(out[n])
		}
		if h.end > furthest.end || h.end == furthest.end && h.start < furthest.start {
			furthest = h
		}
		if !within && h.kind != void {
			kept = append(kept, h)
		}
	}
	return kept
}
