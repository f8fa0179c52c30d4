package redact

import (
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	ahocorasick "github.com/BobuSumisu/aho-corasick"
	"github.com/pelletier/go-toml/v2"
)

// This file runs the rules of gitleaks over a text that is no file of a repository. Its own detector reports lines and
// columns, and looks at the names of files, commits and marks in the text that switch it off.

// gitleaksRules is gitleaks' file of rules. The module's own package for it would bring 42 packages into every program, so
// a test compares this copy with the module that go.mod names, and -update renews it.
//
//go:embed gitleaks.toml
var gitleaksRules []byte

// replaced are rules of gitleaks whose work others do here. The generic one knows English names alone, and takes the hashes
// and ids of ordinary logs for keys; the one for private keys needs their end; and that of Terraform takes the quotes too.
var replaced = []string{"generic-api-key", "private-key", "hashicorp-tf-password"}

// tokenEnds replaces the end of a token in the rules of gitleaks, which fits code. Sentences and URLs end a token in more
// ways.
var tokenEnds = strings.NewReplacer("(?:[\\x60'\"\\s;]|\\\\[nr]|$)", "(?:[^0-9A-Za-z_]|$)")

// anyTrue is an exception of gitleaks for "true", "false" and "null". As written, it also excepts secrets that begin
// with "true", contain "false" or end in "null". onlyTrue matches these words alone.
const anyTrue, onlyTrue = "(?i)^true|false|null$", "(?i)^(?:true|false|null)$"

// known is a rule of gitleaks.
type known struct {
	id      string
	entropy float64
	group   int
	allowed []allowed
	regex   func() *regexp.Regexp
}

// allowed is an exception of a rule: a match that is no secret.
type allowed struct {
	target string
	words  []string
	all    bool
	regex  func() []*regexp.Regexp
}

// ruleFile is the part of gitleaks' file of rules that this package uses.
type ruleFile struct {
	Allowlist ruleAllowed
	Rules     []rule
}

type rule struct {
	ID, Regex   string
	Entropy     float64
	SecretGroup int
	Keywords    []string
	Allowlists  []ruleAllowed
}

type ruleAllowed struct {
	Condition, RegexTarget    string
	Regexes, StopWords, Paths []string
}

func (a ruleAllowed) compile() (allowed, bool) {
	all := strings.EqualFold(a.Condition, "AND")
	if all && len(a.Paths) > 0 { // A text has no path.
		return allowed{}, false
	}
	words := make([]string, len(a.StopWords))
	for i, w := range a.StopWords {
		words[i] = strings.ToLower(w)
	}
	return allowed{target: a.RegexTarget, words: words, all: all, regex: sync.OnceValue(func() []*regexp.Regexp {
		all := make([]*regexp.Regexp, len(a.Regexes))
		for i, r := range a.Regexes {
			if r == anyTrue {
				r = onlyTrue
			}
			all[i] = regexp.MustCompile(r)
		}
		return all
	})}, len(a.Regexes) > 0 || len(words) > 0
}

// allows reports whether the finding is none.
func (a allowed) allows(secret, match, line string) bool {
	target := secret
	switch a.target {
	case "match":
		target = match
	case "line":
		target = line
	}
	lower := strings.ToLower(secret)
	word := slices.ContainsFunc(a.words, func(w string) bool { return strings.Contains(lower, w) })
	regex := slices.ContainsFunc(a.regex(), func(r *regexp.Regexp) bool { return r.MatchString(target) })
	if a.all {
		return (word || len(a.words) == 0) && (regex || len(a.regex()) == 0)
	}
	return word || regex
}

// rules are all that is looked for. A regular expression is compiled when a text first holds one of its keywords: a hook of an
// agent looks at a few messages, and all of them take 40 ms.
type rules struct {
	known []known
	// rulesByKeyword maps a keyword to rules: indexes into known, and from len(known) on into seeds.
	rulesByKeyword map[string][]int
	reach          [][2]int
	words          *ahocorasick.Trie
	allowed        []allowed
}

var allRules = sync.OnceValue(loadRules)

// parsedRules are the rules of gitleaks that are used.
var parsedRules = sync.OnceValue(func() (file ruleFile) {
	if err := toml.Unmarshal(gitleaksRules, &file); err != nil {
		panic("the rules of gitleaks can't be read: " + err.Error()) // They are compiled in.
	}
	file.Rules = slices.DeleteFunc(file.Rules, func(r rule) bool { return r.Regex == "" || slices.Contains(replaced, r.ID) })
	return file
})

// blankMarks replaces the marks for a blank and for a tab in the words of a seed.
var blankMarks = strings.NewReplacer("·", " ", "⇥", "\t")

func loadRules() *rules {
	file := parsedRules()
	r := &rules{rulesByKeyword: make(map[string][]int)}
	if a, ok := file.Allowlist.compile(); ok {
		r.allowed = append(r.allowed, a)
	}
	for _, each := range file.Rules {
		k := known{id: each.ID, entropy: each.Entropy, group: each.SecretGroup, regex: lazily(tokenEnds.Replace(each.Regex))}
		for _, a := range each.Allowlists {
			if a, ok := a.compile(); ok {
				k.allowed = append(k.allowed, a)
			}
		}
		for _, word := range each.Keywords {
			word = lowerASCII(word)
			r.rulesByKeyword[word] = append(r.rulesByKeyword[word], len(r.known))
		}
		r.known = append(r.known, k)
		r.reach = append(r.reach, [2]int{before, after})
	}
	for i, seed := range seeds {
		for word := range strings.FieldsSeq(seed.words) {
			word = blankMarks.Replace(word)
			r.rulesByKeyword[word] = append(r.rulesByKeyword[word], len(r.known)+i)
		}
		r.reach = append(r.reach, [2]int{seed.before, seed.after})
	}
	builder := ahocorasick.NewTrieBuilder()
	for word := range r.rulesByKeyword {
		builder.AddString(word)
	}
	r.words = builder.Build()
	return r
}

// A rule of gitleaks first looks at this much text around a keyword, and at more if a finding touches the edge.
const (
	before = 256
	after  = 1 << 10
)

// windows returns where each rule is to look.
func (r *rules) windows(lower string) [][][2]int {
	windows := make([][][2]int, len(r.reach))
	r.words.Walk([]byte(lower), func(end, n, _ int64) bool {
		at := int(end-n) + 1
		for _, i := range r.rulesByKeyword[lower[at:at+int(n)]] {
			if n <= 2 && i < len(r.known) && !inToken(lower, at) {
				continue
			}
			w := [2]int{max(0, at-r.reach[i][0]), min(len(lower), at+int(n)+r.reach[i][1])}
			if last := len(windows[i]) - 1; last >= 0 && w[0] <= windows[i][last][1] {
				windows[i][last][1] = max(windows[i][last][1], w[1])
				continue
			}
			windows[i] = append(windows[i], w)
		}
		return true
	})
	return windows
}

// inToken reports whether a place is in a run of as many characters as the shortest token has. The rules of gitleaks whose keyword is
// two letters look for tokens alone, and these letters are in every sentence.
func inToken(text string, at int) bool {
	start := at
	for start > 0 && at-start < minRandom && text[start-1] > ' ' {
		start--
	}
	end := at
	for end < len(text) && end-start < minRandom && text[end] > ' ' {
		end++
	}
	return end-start == minRandom
}

func (r *rules) run(k *known, text string, from, to int) []Finding {
	for wider := after; ; wider *= 4 {
		matches := k.regex().FindAllStringSubmatchIndex(text[from:to], -1)
		if n := len(matches); n > 0 && matches[n-1][1] == to-from && to < len(text) {
			to = min(len(text), to+wider)
			continue
		}
		var found []Finding
		for _, m := range matches {
			start, end := secretOf(k, m)
			secret := strings.TrimRight(text[from+start:from+end], "\r\n")
			if end = start + len(secret); end <= start || r.harmless(k, text, secret, text[from+m[0]:from+m[1]], from+start) {
				continue
			}
			found = append(found, Finding{k.id, from + start, wordEnd(text, from+end)})
		}
		return found
	}
}

// secretOf returns where the secret of a match is: the group that the rule names, else the first one that holds anything.
func secretOf(k *known, m []int) (start, end int) {
	if g := 2 * k.group; k.group > 0 && g+1 < len(m) && m[g] >= 0 {
		return m[g], m[g+1]
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}

func (r *rules) harmless(k *known, text, secret, match string, at int) bool {
	if k.entropy > 0 && entropy(secret) <= k.entropy {
		return true
	}
	line, _, _ := strings.Cut(text[lineStart(text, at):min(len(text), at+maxLine)], "\n")
	allows := func(a allowed) bool { return a.allows(secret, match, line) }
	return slices.ContainsFunc(r.allowed, allows) || slices.ContainsFunc(k.allowed, allows)
}

// wordEnd returns the end of the word around a place. A token that is longer than the rule allows is still a token.
func wordEnd(text string, end int) int {
	if end == 0 || !isAlnum(text[end-1]) {
		return end
	}
	for end < len(text) && (isAlnum(text[end]) || text[end] == '_') {
		end++
	}
	return end
}

// entropy is the Shannon entropy of the text's bytes, in bits for each.
func entropy(text string) float64 {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
