package pair

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/text"
)

// maxTokens bounds the statements that are parsed. Longer ones are compared literally.
const maxTokens = 64

// word is a content word of a statement.
type word struct {
	text, shown string
	flags       flag
	kind        kind
	name        bool
	quoted      bool
	// definite and indefinite report the article before the word.
	definite, indefinite bool
	// hyphen reports that a hyphen joins the word to the previous one.
	hyphen bool
	// glued reports that no space separates the word from the text before it.
	glued bool
	// linked reports a copula before the word.
	linked bool
	// percent reports a percentage.
	percent bool
	// group, member and taste are copied from the entry.
	group, member string
	taste         bool
}

func (w word) has(f flag) bool { return w.flags&f != 0 }

// statement is a parsed title: its content words, and the meaning of its grammatical words.
type statement struct {
	claim    string
	language *lexicon
	words    []word
	// predicate is the index of the first word of the predicate, or -1 if it is unknown.
	predicate int
	// denies reports a negation, and opposite a status that is the opposite of another one.
	denies, opposite bool
	// statusWord reports that the statement gives its subject a status.
	statusWord bool
	linked     bool // a copula in the singular
	plural     bool
	exists     bool // states that something exists
	past       bool
	anyTense   bool // denies the past as well as the present
	event      bool // an event, which may have happened twice
	// question, unsure, partial and additive are reasons to expect no contradiction.
	question, unsure, partial, additive bool
	// vague reports a subject that refers to earlier text, and generic a title that has no subject or introduces the
	// next title.
	vague, generic bool
	long           bool
	slots          []slot
}

// negative reports whether the statement denies its words.
func (s *statement) negative() bool { return s.denies != s.opposite }

// read parses a statement.
func read(title string) *statement {
	title = withoutLead(title)
	tokens, marks := split(title)
	tokens = expand(tokens)
	s := &statement{claim: claimOf(title, tokens, marks), predicate: -1, question: marks.question}
	if stated := withoutContrast(title); len(stated) < len(title) {
		tokens, _ = split(stated)
		tokens = expand(tokens)
	}
	if len(tokens) > maxTokens {
		s.long = true
		return s
	}
	s.language = languageOf(tokens)
	s.generic = generic.MatchString(title)
	if s.language.language == "en" {
		tokens = active(tokens)
	}
	r := reader{statement: s}
	matches := s.language.lookup(tokens)
	for i, m := range matches {
		if i > 0 && i == len(matches)-1 && m.has(article|indefinite) {
			m.entry = nil // No word follows it: the grade A, the vitamin A.
		}
		if i > 0 && m.text == "am" && matches[i-1].number {
			m.entry = s.language.find("pm")
		}
		r.add(m)
	}
	s.foldStatus()
	if len(s.words) > 0 {
		first := s.words[0]
		some := first.kind == number && !(len(s.words) > 1 && s.words[1].hyphen)
		s.partial = s.partial || some || first.indefinite && !s.exists || len(s.words) == 1 && !s.language.articles()
		s.vague = first.has(anaphor) && (!first.has(definite) || s.predicate == 1 || len(s.words) == 1)
	}
	if len(matches) > 1 && matches[0].has(anaphor) && matches[0].has(article) && matches[1].has(copula|plural|past) {
		s.vague = true // Das ist, where das is no article.
	}
	s.slots = s.findSlots()
	return s
}

// claimOf joins the words of a statement unchanged. A question and its answer are different claims.
func claimOf(title string, tokens []token, marks punctuation) string {
	if len(tokens) == 0 {
		return text.Title(title)
	}
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && !(unspaced(t) && unspaced(tokens[i-1])) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	if marks.question {
		b.WriteString(" ?")
	}
	return b.String()
}

// reader builds a statement word by word.
type reader struct {
	*statement
	// The grammatical words since the last content word.
	definite, indefinite, linked bool
	half                         bool
	auxiliary, have, did         bool
	resolved, denied             bool
}

func (r *reader) add(m match) {
	if hangulWord(m.token) && m.entry == nil && !m.quoted {
		r.korean(m)
		return
	}
	r.word(m)
}

func hangulWord(t token) bool {
	first, _ := utf8.DecodeRuneInString(t.text)
	return unicode.Is(unicode.Hangul, first)
}

// korean adds a Korean word by its parts.
func (r *reader) korean(m match) {
	w := korean(m.text)
	denied, resolved := r.denied, r.resolved
	r.denied, r.resolved = w.denied, w.resolved
	e := r.language.find(w.stem)
	switch {
	case denied && strings.HasPrefix(w.stem, "않"), e.has(negative):
		r.denies = true
		r.past = r.past || w.past && !resolved
	case resolved && w.stem == "하":
	case w.stem == "":
	case e.has(drop):
		r.past = r.past || w.past
	default:
		m.text, m.entry = w.stem, e
		r.word(m)
		r.past = r.past || w.past
		r.event = r.event || w.past && !w.copula
	}
	if w.particle != "" {
		r.word(match{token{text: w.particle, shown: w.particle}, r.language.find(w.particle)})
	}
	if w.copula {
		r.statement.linked = true
	}
	if w.topic && r.predicate < 0 {
		r.predicate = len(r.words)
	}
}

// grammar applies a word without content of its own, and reports whether the word was one.
func (r *reader) grammar(m match) bool {
	switch {
	case m.entry == nil || m.has(content):
		return false
	case m.has(negative):
		r.denies = true
	case m.has(exists):
		r.exists = true
	case m.has(half):
		r.half = true
	case m.has(halved) && (r.half || r.denies):
		r.denies = true
	case m.has(happened):
		r.event = true
		r.past = r.past || m.has(did)
	case m.has(perfect):
		r.denies, r.anyTense = true, true
	case m.has(closing):
		r.statement.linked = true
		if n := len(r.words); n > 0 {
			r.words[n-1].linked = true
		}
		r.past = r.past || m.has(past)
	case m.has(past):
		r.past, r.statement.linked, r.linked = true, true, true
		r.predicateHere()
	case m.has(copula), m.has(plural):
		if m.has(plural) {
			r.plural = true
		} else {
			r.statement.linked = true
		}
		r.linked = true
		r.predicateHere()
	case m.has(have), m.has(did):
		r.past = r.past || m.has(did)
		r.auxiliary, r.have, r.did = true, true, m.has(did)
		r.predicateHere()
	case m.has(topic):
		r.predicateHere()
	case m.has(article):
		r.definite = true
	case m.has(indefinite):
		r.indefinite = true
	case m.has(drop), m.has(trailing):
	default:
		return false
	}
	return true
}

func (r *reader) predicateHere() {
	if r.predicate < 0 && len(r.words) > 0 {
		r.predicate = len(r.words)
	}
}

// word adds a word.
func (r *reader) word(m match) {
	if m.entry != nil && m.kind == noValue && r.grammar(m) {
		return
	}
	w := word{
		text: m.text, shown: m.shown, name: m.name, quoted: m.quoted, hyphen: m.hyphen, glued: m.glued,
		definite: r.definite, indefinite: r.indefinite, linked: r.linked, percent: m.percent || strings.HasSuffix(m.text, "%"),
	}
	if m.entry != nil {
		w.flags, w.kind = m.flags, m.kind
		w.group, w.member, w.taste = m.group, m.member, m.taste
		if m.kind == noValue {
			w.text = inflected(m.text)
		}
		if m.value != "" && m.kind != status {
			w.text = m.value
		}
	} else if m.number {
		w.kind = numeral(m.text)
	} else {
		w.text = inflected(m.text)
		if r.language.compounds(m.text, progress) {
			w.flags |= progress
		}
		if r.did && r.language.language == "en" && !m.name {
			w.text = pastForm(m.text)
			r.event = true
		} else {
			r.verb(m)
		}
	}
	r.unsure = r.unsure || w.has(unsure)
	r.partial = r.partial || w.has(partial)
	r.additive = r.additive || w.has(additive)
	if w.has(pastVerb) && !r.linked && !r.statement.linked && !r.plural {
		r.past, r.event = true, true
	}
	if w.has(definite) {
		w.definite = true
	}
	if w.has(owner | choice | housed | timed) {
		r.predicateHere()
	}
	r.words = append(r.words, w)
	if w.has(definite) {
		r.definite = true
		return
	}
	// A preposition may come between a copula and its word.
	r.definite, r.indefinite, r.auxiliary, r.did = false, false, false, false
	r.linked = r.linked && w.has(on|preposition) && w.kind == noValue
}

// ending is the prefix and suffix of a verb form that reports an event. With have set, it counts only after a word for
// have.
type ending struct {
	prefix, suffix string
	have           bool
}

var endings = map[string][]ending{
	"en": {{suffix: "ed"}},
	"de": {{"ge", "t", true}, {"ge", "en", true}},
	"nl": {{"ge", "d", true}, {"ge", "t", true}, {"ge", "en", true}},
	"sv": {{"", "t", true}},
	"fr": {{"", "é", true}, {"", "i", true}, {"", "u", true}},
	"es": {{"", "ado", true}, {"", "ido", true}, {suffix: "é"}, {suffix: "ó"}, {suffix: "aron"}, {suffix: "ieron"}},
	"it": {{"", "ato", true}, {"", "uto", true}, {"", "ito", true}},
	"pt": {{suffix: "ei"}, {suffix: "ou"}, {suffix: "aram"}, {suffix: "eram"}},
	"ru": {{suffix: "л"}, {suffix: "ла"}, {suffix: "ли"}, {suffix: "лся"}, {suffix: "лась"}},
	"uk": {{suffix: "в"}, {suffix: "ла"}, {suffix: "ли"}},
	"pl": {{suffix: "łem"}, {suffix: "łam"}, {suffix: "ł"}, {suffix: "ła"}, {suffix: "liśmy"}},
	"cs": {{suffix: "l"}, {suffix: "la"}, {suffix: "li"}},
	"tr": {{suffix: "dım"}, {suffix: "dim"}, {suffix: "dum"}, {suffix: "düm"}, {suffix: "tım"}, {suffix: "tim"}},
}

// verb records a verb that reports an event. In English the verb must not follow a copula or have, and is then in the
// past tense.
func (r *reader) verb(m match) {
	first := len(r.words) == 0 && r.language.articles()
	if m.name || r.statement.linked || r.plural || first && r.language.language != "es" && r.language.language != "pt" {
		return
	}
	for _, e := range endings[r.language.language] {
		stem, ok := strings.CutSuffix(m.text, e.suffix)
		if !ok || len(stem) < 2 || !strings.HasPrefix(stem, e.prefix) || e.have && !r.have {
			continue
		}
		if r.language.language != "en" {
			r.event = true
		} else if stem[len(stem)-1] != 'e' && !r.linked && !r.auxiliary && !r.definite {
			r.past, r.event = true, true
		}
	}
}

// numeral distinguishes years, which are dates, from other numbers.
func numeral(s string) kind {
	if len(s) == 4 && (s[:2] == "19" || s[:2] == "20") && strings.Trim(s, "0123456789") == "" {
		return date
	}
	return number
}

// inflected returns a word without the ending of a plural or of the third person. It reduces a double consonant before
// the ending of the English past. The rule applies to all languages, since a title of three words does not show its
// language.
func inflected(w string) string {
	w = strings.TrimSuffix(w, "'s")
	n := len(w)
	switch {
	case n < 3:
		return w
	case strings.HasSuffix(w, "ies"):
		w = w[:n-3] + "y"
	case n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i':
		w = w[:n-1]
	case strings.HasSuffix(w, "ed") && n > 5 && w[n-3] == w[n-4]:
		return w[:n-3] + "ed"
	}
	for _, end := range []string{"se", "xe", "ze", "che", "she"} {
		if stem, ok := strings.CutSuffix(w, end); ok {
			return stem + end[:len(end)-1]
		}
	}
	return w
}

// pastForm returns the past of a regular English verb, as [inflected] has it.
func pastForm(verb string) string {
	switch {
	case strings.HasSuffix(verb, "e"):
		verb += "d"
	case strings.HasSuffix(verb, "y") && !strings.ContainsAny(verb[max(0, len(verb)-2):len(verb)-1], "aeou"):
		verb = verb[:len(verb)-1] + "ied"
	default:
		verb += "ed"
	}
	return inflected(verb)
}

// foldStatus replaces each status of the subject by its value, and records whether it is the opposite of that value.
func (s *statement) foldStatus() {
	for i := range s.words {
		w := &s.words[i]
		if w.kind != status {
			continue
		}
		e := s.language.find(w.text)
		if !s.predicative(i) || e == nil {
			w.kind = noValue
			w.text = inflected(w.text)
			continue
		}
		w.text = e.value
		s.statusWord = true
		s.opposite = s.opposite != e.off
	}
}

// predicative reports whether a status is a predicate of the subject, and no preposition or attribute. Something that
// works without sugar may also work with it, but coffee that is drunk without sugar is not drunk with it.
func (s *statement) predicative(i int) bool {
	if s.words[i].has(beside) {
		return i+1 < len(s.words) && !s.event && (s.words[i].linked || s.any(consume|choice))
	}
	w, last := s.words[i], i == len(s.words)-1
	if last {
		return i > 0 && (w.linked || contracted(s.words[i-1].shown) || s.predicate >= 0 || !s.language.articles() || w.has(verbal))
	}
	next := s.words[i+1]
	if !w.linked || w.definite || w.indefinite {
		return false
	}
	return next.has(preposition) || next.definite || !w.has(on|preposition) && s.language.language != "en"
}

// contracted reports whether a word contains an English copula: the lamp's on.
func contracted(shown string) bool {
	return strings.HasSuffix(shown, "'s") || strings.HasSuffix(shown, "’s")
}
