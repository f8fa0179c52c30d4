package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// statement is what a sentence in the first person says of who speaks. One without a category says
// nothing.
type statement struct {
	category string
	// task is set where the speaker takes something on; the text from start to end names it.
	task       bool
	start, end int
	// points is true where words stand for what the sentence before names.
	points bool
	// hangs is true where they stand for its object, so that nobody knows later what it was.
	hangs bool
	// lasting is true where the verb alone says that it is no matter of a day.
	lasting bool
}

var (
	nothing      = statement{}
	circumstance = statement{category: schema.CategoryContext}
	behavior     = statement{category: schema.CategoryBehavior}
	taste        = statement{category: schema.CategoryPreference}
	intent       = statement{category: schema.CategoryGoal}
)

func (s statement) says() bool { return s.category != "" }

// word is a word of an English sentence: as written, in lower case, and where it stands.
type word struct {
	text, low  string
	start, end int
	// opens is true for the first word and for one after a mark that ends a clause.
	opens bool
}

func wordsOf(s string) []word {
	var out []word
	opens := true
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !wordRune(r) {
			opens = opens || strings.ContainsRune(",;—–!.?", r)
			i += size
			continue
		}
		end := i
		for end < len(s) {
			r, size := utf8.DecodeRuneInString(s[end:])
			inner := end+size < len(s) && strings.ContainsRune("'’.,-", r) && wordByte(s[end+size])
			if !wordRune(r) && !inner {
				break
			}
			end += size
		}
		low := strings.ReplaceAll(strings.ToLower(s[i:end]), "’", "'")
		out = append(out, word{s[i:end], low, i, end, opens})
		opens, i = false, end
	}
	return out
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '$' }

// englishStatement reads an English sentence for a clause whose subject is the speaker or what is the
// speaker's, whose verb tells of life or work, and which names something that outlasts the talk.
func englishStatement(sentence string) statement {
	words := wordsOf(sentence)
	if len(words) == 0 || orders[words[0].low] {
		return nothing
	}
	best := nothing
	for i, w := range words {
		if !speakers[w.low] || !clauseStart(words, i) || symbol(sentence, w) || quoted(sentence[:w.start]) {
			continue
		}
		end := clauseEnd(words, i)
		st := clauseOf(words[i:end])
		liked := st.category == schema.CategoryPreference
		if !st.says() || best.says() && !liked || !liked && !st.lasting && !concrete(words[i:end], i == 0, true) {
			continue
		}
		best = st
		best.end, best.points, best.hangs = words[end-1].end, has(words[i+1:end], leaning), has(upTo(near, words[i+1:end]), leaning)
	}
	return best
}

// near is how far from its subject the object of a clause stands, in words.
const near = 6

// symbol reports whether the word is one of a formula, such as "(I)" or "I =".
func symbol(s string, w word) bool {
	after := strings.TrimLeft(s[w.end:], " ")
	return strings.HasSuffix(s[:w.start], "(") || after != "" && strings.IndexByte(")^/=*+<>", after[0]) >= 0
}

// clauseStart reports whether the word opens a clause that is stated, and not supposed or asked.
func clauseStart(words []word, i int) bool {
	if !words[i].opens {
		join := words[i-1]
		// "The cat and my dog" and "all that our deeds do" are no clauses of "my" and "our".
		owns := owners[words[i].low]
		if !joins[join.low] && (owns || !times[join.low] && !contact(words, i)) ||
			owns && coordinating[join.low] && !join.opens {
			return false
		}
	}
	clause := i
	for clause > 0 && !words[clause].opens {
		clause--
	}
	for n, w := range words[:i+1] {
		// What is supposed in one clause holds for those after it; a question word only for its own.
		if n >= clause && supposing[w.low] || conditions[w.low] && (w.opens || joins[words[n-1].low]) {
			return false
		}
	}
	return true
}

// contact reports whether the word opens a clause that hangs on a noun, as in "the camera I bought".
func contact(words []word, i int) bool {
	rest := bare(words[i+1:])
	noun, verb := words[i-1].low, first(rest)
	return i > 1 && words[i].low == "i" && (strings.HasSuffix(verb, "ed") || irregular[verb] || pasts[verb]) &&
		!ofMind[verb] && !likes[verb] && !ofMind[noun] && !likes[noun] && !adverbs[noun] && !pointers[noun]
}

// clauseEnd returns where the clause that begins at the word ends: before the next subject.
func clauseEnd(words []word, i int) int {
	for n := i + 2; n < len(words); n++ {
		switch {
		case !subjects[words[n].low]:
		case words[n-1].opens && joins[words[n-1].low], linking[words[n-1].low]:
			return n - 1
		case words[n].opens:
			return n
		}
	}
	return len(words)
}

// concrete reports whether a clause names what outlasts the talk: a name, a time, a relation, a number
// that tells of life, or, where owning counts, what belongs to the speaker.
func concrete(clause []word, opensSentence, owning bool) bool {
	for i, w := range clause {
		r, _ := utf8.DecodeRuneInString(w.text)
		switch {
		case r == '$', times[w.low], life[w.low],
			owning && owners[w.low] && (i+1 == len(clause) || !ofScreen[clause[i+1].low]):
			return true
		case unicode.IsDigit(r), numbers[w.low]:
			if counted(clause, i) {
				return true
			}
		case unicode.IsUpper(r) && (i > 0 || !opensSentence) && w.low != "i" && !strings.HasPrefix(w.low, "i'"):
			return true
		}
	}
	return false
}

// counted reports whether a number tells of life: it is a year or part of a word, stands by a measure of life or a verb of
// being or owning, or in a clause with a verb of life. That a script ran 3 times tells nothing.
func counted(clause []word, n int) bool {
	if n > 0 && holding[clause[n-1].low] || n+1 < len(clause) && measures[clause[n+1].low] {
		return true
	}
	low := strings.TrimSuffix(clause[n].low, "s")
	if year := len(low) == 4 && (strings.HasPrefix(low, "19") || strings.HasPrefix(low, "20")); year || compound(low) {
		return true
	}
	return has(clause, living)
}

// compound reports whether a number is part of a longer word, such as "10-gallon".
func compound(w string) bool {
	_, unit, ok := strings.Cut(w, "-")
	r, _ := utf8.DecodeRuneInString(unit)
	return ok && unicode.IsLetter(r)
}

// dated reports whether the words hold a time or a number.
func dated(words []word) bool {
	for _, w := range words {
		if times[w.low] && w.low != "since" || numbers[w.low] || unicode.IsDigit(rune(w.low[0])) {
			return true
		}
	}
	return false
}

// scheduled reports whether the words set a day or a time to come.
func scheduled(words []word) bool {
	for n, w := range words {
		if days[w.low] || n > 0 && times[w.low] && (words[n-1].low == "next" || words[n-1].low == "this") {
			return true
		}
	}
	return false
}

func has(words []word, of map[string]bool) bool {
	for _, w := range words {
		if of[w.low] {
			return true
		}
	}
	return false
}

// upTo returns the first n words at most.
func upTo(n int, words []word) []word { return words[:min(n, len(words))] }

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}
