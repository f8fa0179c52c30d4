package rules

import "axiommind/schema"

// kind says what a cue hints at.
type kind uint8

const (
	// void cues only keep the shorter cues within them from counting.
	void kind = iota
	decision
	preference
	correction
	goal
	task
	request
	// doubt cues make a statement a proposal, a condition or an example.
	doubt
	// negation cues turn a statement near them into its opposite.
	negation
	priority
	link
)

// speaker says whose statement counts.
type speaker uint8

const (
	anyone speaker = iota
	user
	assistant
)

// place says where in a sentence a cue counts.
type place uint8

const (
	anywhere place = iota
	atStart
	atEnd
)

// part says which part of the sentence names the task, or what it waits for.
type part uint8

const (
	whole part = iota
	after
	before
	none
)

// cue is a phrase in lower case and what it means where it stands.
type cue struct {
	text  string
	kind  kind
	who   speaker
	place place
	// with lists phrases of which one must stand in the same sentence; nil for none.
	with []string
	// hands cues speak of work on a project: they count where an agent works, and not in a chat.
	hands bool
	// status, title and blocker are of tasks.
	status  schema.TaskStatus
	title   part
	blocker part
	rank    schema.TaskPriority
	// verb begins the task's title where the cue ends with a verb of work.
	verb string
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

// weight orders kinds within one sentence, and is the confidence of an entry of the kind.
func (k kind) weight() float64 {
	switch k {
	case correction:
		return 0.85
	case decision:
		return 0.8
	case preference:
		return 0.75
	case task:
		return 0.7
	case goal:
		return 0.65
	case request:
		return 0.5
	default:
		return 0
	}
}

// tellsMoreThan reports whether c rather than o says what a sentence is about.
func (c *cue) tellsMoreThan(o *cue) bool {
	if c.kind != o.kind {
		return c.kind.weight() > o.kind.weight()
	}
	names := func(c *cue) bool { return c.blocker == after || c.blocker == before }
	return names(c) && !names(o)
}
