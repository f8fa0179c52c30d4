package rules

import (
	"slices"
	"strings"
)

// clauseOf reads a clause that begins with its subject.
func clauseOf(clause []word) statement {
	rest := clause[1:]
	switch clause[0].low {
	case "i", "we":
		return predicate(rest)
	case "i'm", "we're":
		return being(rest)
	case "i've", "we've":
		return perfect(rest)
	case "i'll", "we'll":
		return future(rest)
	case "our":
		// Our goal is what a text sets, mine what I do.
		if st := owned(rest); st.category != intent.category {
			return st
		}
		return nothing
	default:
		return owned(rest)
	}
}

// bare drops the adverbs before the next word that counts.
func bare(words []word) []word {
	for len(words) > 0 && adverbs[words[0].low] {
		words = words[1:]
	}
	return words
}

func first(words []word) string {
	if len(words) == 0 {
		return ""
	}
	return words[0].low
}

// predicate reads what follows "I".
func predicate(rest []word) statement {
	habit := len(rest) > 0 && habits[rest[0].low]
	rest = bare(rest)
	if len(rest) == 0 {
		return nothing
	}
	verb, rest := rest[0].low, bare(rest[1:])
	switch verb {
	case "am", "are":
		return being(rest)
	case "was", "were":
		return happened(rest)
	case "have":
		if first(rest) == "been" || participle(first(rest)) {
			return perfect(rest)
		}
		return having(rest)
	case "had":
		if first(rest) == "been" {
			return nothing
		}
		return possession(rest)
	case "got", "own":
		return object(circumstance, rest)
	case "will":
		return future(rest)
	case "need", "must":
		if habit {
			return nothing
		}
		return obligation(rest)
	case "plan", "intend":
		return intention(rest)
	case "want", "wanted", "hope", "aim":
		return wish(rest)
	case "saw", "received":
		if dated(rest) {
			return object(circumstance, rest)
		}
		return nothing
	case "remember":
		if strings.HasSuffix(first(rest), "ing") {
			return object(circumstance, rest[1:])
		}
		return nothing
	case "don't":
		if v := first(rest); likes[v] || v == "eat" || v == "drink" || v == "own" || v == "drive" {
			return object(taste, rest[1:])
		}
		return nothing
	}
	st := told(verb, rest)
	if habit && st == circumstance {
		return behavior
	}
	return st
}

// told reads a verb that has no grammar of its own.
func told(verb string, rest []word) statement {
	switch {
	case likes[verb]:
		if first(rest) == "the" && verb != "enjoy" && (verb == "like" || !concrete(rest, false, true)) || leansOnTalk(rest) {
			return nothing
		}
		return object(taste, rest)
	case staying[verb]:
		return lasting(object(circumstance, rest))
	case modals[verb], ofMind[verb], notVerbs[verb], len(verb) < 2:
		return nothing
	default:
		return object(circumstance, rest)
	}
}

// lasting marks a statement whose verb alone says that it is no matter of a day.
func lasting(st statement) statement {
	st.lasting = true
	return st
}

// participle reports whether a word after "have" tells what was done.
func participle(w string) bool {
	return !ofMind[w] && (len(w) > 3 && (strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "en")) || irregular[w])
}

// object returns st unless what follows the verb is a bare pronoun, or the talk itself.
func object(st statement, rest []word) statement {
	rest = bare(rest)
	it := first(rest) == "it" && (dated(rest) || has(rest, life) || has(rest, owners))
	if len(rest) == 0 || pointers[first(rest)] && !it || has(upTo(3, rest), addressee) || has(upTo(6, rest), ofTalk) {
		return nothing
	}
	return st
}

// being reads what follows "I am".
func being(rest []word) statement {
	rest = bare(rest)
	if len(rest) == 0 {
		return nothing
	}
	w, after := rest[0].low, bare(rest[1:])
	switch {
	case w == "planning" && (first(after) == "a" || first(after) == "an"):
		return lasting(intention(after))
	case w == "planning":
		return intention(after)
	case w == "hoping", w == "aiming", w == "going" && first(after) == "to":
		return wish(after)
	case w == "thinking", w == "considering":
		return considered(after)
	case len(w) > 4 && strings.HasSuffix(w, "ing") && !ofMind[w]:
		return object(circumstance, after)
	case w == "a", w == "an", w == "the":
		switch kind := first(after); {
		case kind == "fan", kind == "big", kind == "huge":
			return taste
		case faint[kind]:
			return nothing
		}
		return lasting(circumstance)
	case states[w], '0' <= w[0] && w[0] <= '9':
		return circumstance
	case w == "with", w == "on":
		return object(circumstance, after)
	default:
		return nothing
	}
}

// happened reads what follows "I was".
func happened(rest []word) statement {
	rest = bare(rest)
	if first(rest) == "thinking" {
		return considered(rest[1:])
	}
	if w := first(rest); w == "a" || w == "an" || w == "with" || states[w] || strings.HasSuffix(w, "ed") && !ofMind[w] {
		return circumstance
	}
	return nothing
}

// considered reads what follows "I am thinking": what is the speaker's own is so, whatever becomes of the
// thought.
func considered(rest []word) statement {
	if mine(rest) && !leansOnTalk(rest) && concrete(rest, false, false) {
		return intent
	}
	return nothing
}

// perfect reads what follows "I have" where it tells what was done.
func perfect(rest []word) statement {
	rest = bare(rest)
	if len(rest) == 0 {
		return nothing
	}
	w, after := rest[0].low, bare(rest[1:])
	switch {
	case w == "got":
		return having(after)
	case w == "wanted":
		return wish(after)
	case w == "been":
		v := first(after)
		switch {
		case v == "trying":
			return lasting(intent)
		case v == "thinking", v == "considering":
			return considered(after[1:])
		case strings.HasSuffix(v, "ing") && !ofMind[v]:
			if after = bare(after[1:]); first(after) == "for" {
				return object(behavior, after)
			}
			return lasting(object(behavior, after))
		case prepositions[v], participle(v):
			return circumstance
		}
		return nothing
	case w == "started":
		return lasting(object(behavior, after))
	case participle(w), w == "seen":
		return object(circumstance, after)
	default:
		return nothing
	}
}

// having reads what follows "I have" where it owns or owes.
func having(rest []word) statement {
	if first(rest) == "to" {
		return obligation(rest)
	}
	return possession(rest)
}

func possession(rest []word) statement {
	rest = bare(rest)
	if len(rest) == 0 || pointers[first(rest)] || has(upTo(3, rest), unowned) {
		return nothing
	}
	return circumstance
}

// intention reads what follows "I plan".
func intention(rest []word) statement {
	verb, ok := infinitive(rest)
	if !ok || chores[first(verb)] || common[first(verb)] && !dated(verb) || leansOnTalk(verb) {
		return nothing
	}
	st := intent
	st.lasting = undertakings[first(verb)]
	return st
}

// wish reads what follows "I want". Most wishes are of the talk: one counts that takes long or has a
// time.
func wish(rest []word) statement {
	st := intention(rest)
	if verb, _ := infinitive(rest); st.says() && (st.lasting || dated(verb)) {
		return st
	}
	return nothing
}

// infinitive returns what follows "to", or stands for it.
func infinitive(rest []word) ([]word, bool) {
	rest = bare(rest)
	switch first(rest) {
	case "to", "on", "a", "an", "for":
		verb := bare(rest[1:])
		return verb, len(verb) > 1
	default:
		return nil, false
	}
}

// leansOnTalk reports whether the words lean on what was said before.
func leansOnTalk(words []word) bool {
	for n, w := range upTo(5, words) {
		now := w.low == "this" && n+1 < len(words) && times[words[n+1].low]
		if pointers[w.low] && !now || ofTalk[w.low] {
			return true
		}
	}
	return false
}

// obligation reads what follows "I need": a task when it is the speaker's own.
func obligation(rest []word) statement {
	if first(rest) != "to" {
		return nothing
	}
	verb := bare(rest[1:])
	if len(verb) < 2 || chores[first(verb)] || pointers[verb[1].low] ||
		!mine(verb) && !has(verb, life) && !scheduled(verb) {
		return nothing
	}
	return taskFrom(verb)
}

func mine(words []word) bool {
	return slices.ContainsFunc(words, func(w word) bool { return w.low == "my" || w.low == "myself" })
}

// future reads what follows "I will": a task when it has a day.
func future(rest []word) statement {
	verb := bare(rest)
	if len(verb) < 2 || ofMind[first(verb)] || chores[first(verb)] || common[first(verb)] || pointers[verb[1].low] ||
		!scheduled(verb) {
		return nothing
	}
	return taskFrom(verb)
}

func taskFrom(verb []word) statement {
	st := intent
	st.task, st.start = true, verb[0].start
	return st
}

// owned reads what follows "my" at the head of a clause.
func owned(rest []word) statement {
	if len(rest) < 3 || unowning[rest[0].low] || has(upTo(4, rest), modals) {
		return nothing
	}
	st := circumstance
	switch rest[0].low {
	case "goal", "plan", "dream":
		st = intent
	case "favorite", "favourite":
		st = taste
	}
	return st
}
