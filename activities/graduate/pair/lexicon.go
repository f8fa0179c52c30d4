package pair

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/text"
)

// The closed classes of words of each language, one class a line: negations, articles, copulas, weekdays. A star ends a
// word that inflects. A value follows the class. A status with a minus is the opposite of the one without.
//
//go:embed lexicon
var lexiconFiles embed.FS

// flag is a closed class of words.
type flag uint64

const (
	negative flag = 1 << iota
	half          // negates with a second word: ne … plus
	halved        // that second word
	drop          // has no content
	definite
	article
	indefinite
	copula
	plural
	past
	have
	did
	pronoun
	unsure
	partial
	additive
	owner   // has something that only one can have
	choice  // prefers or chooses
	decided // with a verb of use, a choice
	housed  // is or keeps in one place
	unique  // of which there is only one: the name, the default
	comparative
	compare // a comparative next to a word of choice
	timed   // begins, ends, is due
	every   // precedes a measure
	on      // precedes a time or a place
	preposition
	pastVerb
	unit
	topic
	trailing // belongs to the value before it
	content  // a word that contains the characters of another class
	use      // a verb that is a choice where it is decided
	closing  // a copula that ends its sentence
	happened // reports an event
	perfect  // a negation in any tense
	anaphor  // refers to something that was named before
	manifold // one of many: a friend, a guest
	exists   // there is
	degree   // more, better
	setting  // has a number as its value: port, version
	runs     // runs on or needs one version or port
	daypart  // the half of the day that an hour is of
	consume  // eats or drinks
	team     // speaks for a project
	user     // a person, who may use many things
	returns  // gives a number as its one answer
	scale    // a unit of time or of data, a multiple of which is another unit
	beside   // with or without
	verbal   // a verb that expresses a status by itself
	progress // the progress of something, or the outcome of a run
	bound    // limits a number
	ratio    // between a part and its whole: 3 of 8
)

var classes = map[string]flag{
	"negative": negative, "half": half, "halved": halved, "drop": drop, "do": drop, "definite": definite, "article": article,
	"indefinite": indefinite, "copula": copula, "plural": plural, "past": past, "have": have, "did": did,
	"pronoun": pronoun, "unsure": unsure, "partial": partial, "additive": additive, "owner": owner, "choice": choice,
	"decided": decided, "housed": housed, "unique": unique, "comparative": comparative, "compare": compare, "timed": timed,
	"every": every, "on": on, "in": on, "prepositions": preposition, "past verb": pastVerb, "unit": unit,
	"topic": topic, "trailing": trailing, "content": content, "use": use, "closing": closing,
	"happened": happened, "perfect": perfect, "anaphor": anaphor,
	"manifold": manifold, "exists": exists, "degree": degree,
	"setting": setting, "runs": runs, "daypart": daypart, "consume": consume, "team": team, "user": user, "returns": returns, "verbal": verbal, "beside": beside, "scale": scale,
	"progress": progress, "bound": bound, "ratio": ratio,
}

// kind is the class of values that a word is one of.
type kind uint8

const (
	noValue kind = iota
	number
	date
	status
)

// entry has the classes and the value of a word in a lexicon.
type entry struct {
	flags flag
	kind  kind
	value string
	// off reports the opposite of the status.
	off bool
	// group names a group of values that exclude each other, and member is the word's value in it. taste reports that
	// they exclude each other only as preferences.
	group, member string
	taste         bool
	// capital requires a capital letter: May is a month, may is not.
	capital bool
}

func (e *entry) has(f flag) bool { return e != nil && e.flags&f != 0 }

// lexicon has the words of one language.
type lexicon struct {
	language string
	words    map[string]*entry
	stems    map[string]*entry
	// longest has the number of words of the longest phrase, by its first word.
	longest map[string]int
	// letters are the letters of the language beyond a to z.
	letters string
}

// articles reports whether the language marks definite nouns by an article.
func (l *lexicon) articles() bool {
	switch l.language {
	case "ru", "uk", "pl", "cs", "tr", "ko", "ja", "zh", "ar", "he", "hi", "th", "vi", "id":
		return false
	}
	return true
}

// latin are the languages in Latin letters. If two of them fit a statement equally well, the first one is used.
var latin = [...]string{"en", "de", "fr", "es", "pt", "it", "nl", "sv", "pl", "cs", "tr", "vi", "id"}

var lexicons = sync.OnceValue(func() map[string]*lexicon {
	all := map[string]*lexicon{}
	for _, language := range append(slices.Collect(maps.Values(scripts)), latin[:]...) {
		raw, err := lexiconFiles.ReadFile("lexicon/" + language + ".txt")
		if err != nil {
			panic(err) // The files are part of the program.
		}
		all[language] = parseLexicon(language, string(raw))
	}
	return all
})

func parseLexicon(language, raw string) *lexicon {
	l := &lexicon{language, map[string]*entry{}, map[string]*entry{}, map[string]int{}, ""}
	for line := range strings.Lines(raw) {
		class, words, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			panic(fmt.Sprintf("lexicon %s: %q has no class", language, line))
		}
		if class == "letters" {
			l.letters = strings.ReplaceAll(words, ", ", "")
			continue
		}
		for word := range strings.SplitSeq(words, ",") {
			l.add(class, strings.TrimSpace(word))
		}
	}
	return l
}

func (l *lexicon) add(class, word string) {
	words := l.words
	if stem, inflects := strings.CutSuffix(word, "*"); inflects {
		words, word = l.stems, stem
	}
	word = strings.Trim(word, "'")
	folded := text.Caseless(word)
	e := words[folded]
	if e == nil {
		e = &entry{}
		words[folded] = e
	}
	if f, ok := classes[class]; ok {
		e.flags |= f
	} else {
		name, value, ok := strings.Cut(class, " ")
		if !ok {
			panic(fmt.Sprintf("lexicon %s: unknown class %q", l.language, class))
		}
		e.capital = word != folded
		e.value, e.off = strings.TrimPrefix(value, "-"), strings.HasPrefix(value, "-")
		switch name {
		case "number":
			e.kind = number
		case "weekday", "month":
			e.kind, e.value = date, name+" "+value
		case "status":
			e.kind = status
		case "same":
		case "rival", "taste":
			group, member, _ := strings.Cut(value, " ")
			e.group, e.member, e.taste, e.value = group, member, name == "taste", ""
			if member == "" {
				e.member = folded
			}
		default:
			panic(fmt.Sprintf("lexicon %s: unknown class %q", l.language, class))
		}
	}
	first, rest, _ := strings.Cut(folded, " ")
	l.longest[first] = max(l.longest[first], 1+len(strings.Fields(rest)))
}

// names is the lexicon of the names that are the same in every language.
var names = sync.OnceValue(func() *lexicon {
	raw, err := lexiconFiles.ReadFile("lexicon/names.txt")
	if err != nil {
		panic(err) // The files are part of the program.
	}
	return parseLexicon("", string(raw))
})

// find returns the entry of a word, or nil for a word of no closed class.
func (l *lexicon) find(word string) *entry {
	if e := l.words[word]; e != nil {
		return e
	}
	if e := l.stem(word); e != nil {
		return e
	}
	return names().words[word]
}

// compounds reports whether a word is a compound that ends with a word of the class: Testabdeckung.
func (l *lexicon) compounds(word string, f flag) bool {
	switch l.language {
	case "de", "nl", "sv", "ja":
		for at := range word {
			if len(word)-at >= minHead && l.words[word[at:]].has(f) {
				return true
			}
		}
	}
	return false
}

// minHead is the least number of bytes of the last part of a compound: shorter ones end other words by chance.
const minHead = 5

// stem returns the entry of an inflected word.
func (l *lexicon) stem(word string) *entry {
	if len(l.stems) == 0 {
		return nil
	}
	for end := range word {
		if e := l.stems[word[:end]]; e != nil {
			return e
		}
	}
	return l.stems[word]
}

// scripts has the language of a statement by the script of its letters.
var scripts = map[string]string{
	"Hangul": "ko", "Hiragana": "ja", "Katakana": "ja", "Han": "zh", "Cyrillic": "ru", "Ukrainian": "uk", "Arabic": "ar",
	"Hebrew": "he", "Devanagari": "hi", "Thai": "th", "Greek": "el",
}

// scriptOrder has the precedence of scripts in a statement with several.
var scriptOrder = [...]string{"Hangul", "Hiragana", "Han", "Katakana", "Cyrillic", "Arabic", "Hebrew", "Devanagari", "Thai", "Greek"}

// ukrainian are the letters that Russian does not have.
const ukrainian = "іїєґ"

// languageOf returns the lexicon for a statement. It depends on the script. In Latin letters it is the lexicon that
// knows most of its words.
func languageOf(tokens []token) *lexicon {
	all := lexicons()
	first, other := len(scriptOrder), false
	for _, t := range tokens {
		r, _ := utf8.DecodeRuneInString(t.text)
		if r < 0x370 {
			continue
		}
		for i, name := range scriptOrder[:first] {
			if unicode.Is(unicode.Scripts[name], r) {
				first = i
				break
			}
		}
		other = other || strings.ContainsAny(t.text, ukrainian)
	}
	if first < len(scriptOrder) {
		if scriptOrder[first] == "Cyrillic" && other {
			return all["uk"]
		}
		return all[scripts[scriptOrder[first]]]
	}
	var known [len(latin)]int
	for _, t := range tokens {
		if t.number || t.text == ":" {
			continue
		}
		of, ok := speakers()[t.text]
		plain := !strings.ContainsFunc(t.text, func(r rune) bool { return r >= utf8.RuneSelf })
		for l := range of {
			if of[l] || !ok && all[latin[l]].stem(t.text) != nil {
				known[l] += 2
			}
			if !plain && strings.ContainsAny(t.text, all[latin[l]].letters) {
				known[l]++
			}
		}
	}
	best := 0
	for l, n := range known {
		if n > known[best] {
			best = l
		}
	}
	return all[latin[best]]
}

// speakers has, for each word, the languages in Latin letters that know it.
var speakers = sync.OnceValue(func() map[string][len(latin)]bool {
	of := map[string][len(latin)]bool{}
	for i, language := range latin {
		for w := range lexicons()[language].words {
			languages := of[w]
			languages[i] = true
			of[w] = languages
		}
	}
	return of
})
