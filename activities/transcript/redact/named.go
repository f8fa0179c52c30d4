package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// separator matches the text between a name and its value. Groups: a strict one, of code and of lists; the cell of a
// table; one of prose; a mere blank. The name and the value may also be those of a pair: "name": "password", "value":
// "…".
var separator = lazily(`(?i)^(?:["'\x60”’」*_\])]{0,4})` +
	`(?:[ \t]*\([^()\n]{1,40}\))?` +
	`(?:[ \t]+(?:for|of|to|on|in|at|pour|de|du|für|zum|para|del|von|used|auf|sur|en|w|v)[ \t]+(?:(?:[\pL\pN@.'"/_-]|://)+[ \t]*){1,4}?)?` +
	`["'\x60*_]{0,3}` +
	`(?:,?\s*(?:["']?[a-z]{1,16}["']?:[ \t]*["']?\w{0,24}["']?,\s*){0,4}["']?\bvalue["']?)?` +
	`(?:([ \t]*(?::=|=>|->|={1,3}|[:：＝]|>)[ \t]*(?:\r?\n[ \t]*)?(?:[|>][-+\d]*[ \t]*(?:#[^\n]*)?\r?\n[ \t]+)?)|([ \t]*\|[ \t]*)|` +
	`((?:['’]s|[ \t]+(?:is|are|was|=|to|as|equals|(?:should|must|will)[ \t]be|lautet|ist|heißt|es|est|é|è|será|sarà|—|–|-))(?:[ \t]+(?:now|still|currently|set to|jetzt|ahora|actuellement|this|simply|just))?[ \t]*[:：]?(?:[ \t]+|\r?\n[ \t]*)|` +
	`[ \t]*(?:は|が|를|을|는|은|이|가|是|为|為|就是|设为|設為|改为|改為|成|に)[ \t]*[:：]?[ \t]*)|([ \t]+))`)

// reversed matches the text between a value and the name it is given.
var reversed = lazily(`(?i)([!-~]{6,128}?)["'\x60”’」]?[ \t]*(?:[ \t]as[ \t]+|[ \t]als[ \t]+|[ \t]como[ \t]+|[ \t]comme[ \t]+|를[ \t]*|을[ \t]*|作为|作為|をその?|を)(?:(?:the|a|an|my|your|our|its|new|das|neues|la|le|mi|el|\w+)[ \t]+){0,3}$`)

// connector is a part of reversed that is looked for first.
var connector = lazily(`(?i)[ \t](?:as|als|como|comme)[ \t]|[를을]|作[为為]|を`)

// maxNamed bounds the value of a name.
const maxNamed = 4 << 10

// scan finds the secrets behind the names of the rule in the windows, which are in order.
func (r nameRule) scan(text string, windows [][2]int) []Finding {
	var found []Finding
	covered, followed := 0, 0
	for _, w := range windows {
		from, to := runeStart(text, w[0]), w[1]
		refused := 0 // The end of a long value of this window that is no secret. Names of another window are read within it.
		add := func(f Finding, ok bool) {
			switch {
			case ok:
				found, covered = append(found, f), max(covered, f.End)
			case f.End-f.Start > maxNamed/4:
				refused = max(refused, f.End)
			}
		}
		for _, m := range r.expr().FindAllStringIndex(lowerASCII(text[from:to]), -1) {
			n := name{text: text, start: from + m[0], family: r.family, followed: &followed}
			n.end = n.start + len(strings.TrimRight(text[n.start:from+m[1]], "=:> \t\"'"))
			// A value deep within another one ends where that does: a text of nothing but names would be read once for each.
			if deep := n.end+maxNamed/16 < max(covered, refused); !deep && n.whole() && !n.inPlaceholder() {
				add(n.value())
				add(n.valueBefore())
			}
		}
	}
	return found
}

// scanEnvKeys finds values of variables of the environment that are named as a key.
func scanEnvKeys(text string, windows [][2]int) []Finding {
	var found []Finding
	covered, followed := 0, 0
	for _, w := range windows {
		for _, m := range matches(envKey(), text, w[0], w[1]) {
			if m[1]+maxNamed/16 < covered || publicKey().MatchString(text[m[0]:m[1]]) {
				continue
			}
			n := name{text: text, start: m[0], end: m[1], family: tokens, followed: &followed}
			if f, ok := n.value(); ok {
				found, covered = append(found, f), max(covered, f.End)
			}
		}
	}
	return found
}

// name is a name that says secret, in a text.
type name struct {
	text       string
	start, end int
	family     family
	// tailed says that more words follow the one that says secret: the value must look like a secret too.
	tailed bool
	// followed is the place up to which values beyond maxNamed were read for names of the same rule. A later name
	// before that place is within such a value.
	followed *int
}

// whole reports whether the word is all of a name, or its last word. It extends the word over suffixes and a tail of
// the name.
func (n *name) whole() bool {
	text := n.text
	ascii := text[n.end-1] < utf8.RuneSelf
	if !ascii {
		return true
	}
	if n.goesOn() {
		n.end += len(suffixes().FindString(text[n.end:]))
	}
	if n.goesOn() {
		if tail := nameTail().FindString(text[n.end:]); tail != "" && !publicTail().MatchString(snake(tail)) {
			n.end += len(tail)
			n.tailed = true
		}
	}
	if n.goesOn() && (text[n.end] != '-' || n.end+1 < len(text) && isAlnum(text[n.end+1])) {
		return false
	}
	if r, _ := utf8.DecodeRuneInString(text[n.end:]); unicode.IsLetter(r) && !isCJK(r) {
		return false
	}
	begin := wordStart(text, n.start, "_-")
	if publicBefore[wordBefore(text, n.start)] && (n.family == tokens || begin < n.start) {
		return false
	}
	if begin == n.start && n.text[n.start:n.end] == "PWD" || strings.HasSuffix(n.text[:n.start], "OLD") { // A working directory.
		return false
	}
	// A short word within a longer one is a part of another: otp in captopt, pin in spin. Passwords and tokens are not.
	if begin < n.start && isAlnum(text[n.start-1]) {
		word := lowerASCII(text[n.start:n.end])
		camel := 'A' <= text[n.start] && text[n.start] <= 'Z' && 'a' <= text[n.start-1] && text[n.start-1] <= 'z'
		if len(word) < 5 && !camel && word[0] != '_' {
			return false
		}
	}
	return true
}

// goesOn reports whether the word continues after the name.
func (n *name) goesOn() bool {
	return n.end < len(n.text) && (isAlnum(n.text[n.end]) || n.text[n.end] == '_' || n.text[n.end] == '-')
}

func isCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana)
}

// inPlaceholder reports whether the name is a part of the rule that a placeholder of ours names. Anyone may write another.
func (n name) inPlaceholder() bool {
	from, to := max(0, n.start-schema.MaxRedacted), min(len(n.text), n.start+schema.MaxRedacted)
	part := n.text[from:to]
	return slices.ContainsFunc(schema.Redactions(part), func(p [2]int) bool {
		return from+p[0] < n.start && n.start < from+p[1] && placeholders()[part[p[0]:p[1]]]
	})
}

// placeholders are all that [Text] may write.
var placeholders = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, rule := range []string{RulePrivate, RuleNamed, RuleURL, RuleHeader, RuleCookie, RulePrivateKey, RulePrefixed, RuleRandom, RuleEncoded} {
		all[schema.Redacted(rule)] = true
	}
	for _, r := range parsedRules().Rules {
		all[schema.Redacted(r.ID)] = true
	}
	return all
})

// env reports whether the name begins a line of assignments: NAME=value.
func (n name) env() bool {
	line := strings.TrimLeft(n.text[lineStart(n.text, n.start):n.end], " \t")
	line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(line, "export "), "ENV "), "set ")
	return line != "" && !strings.ContainsAny(line, " \t") && strings.ToUpper(line) == line && strings.HasPrefix(n.text[n.end:], "=")
}

// maxLine bounds how much of a line is looked at on either side of a place: the places of a long line would take a time that
// grows with its square.
const maxLine = 4 << 10

// lineStart returns where the line of a place begins.
func lineStart(text string, at int) int {
	from := max(0, at-maxLine)
	return from + strings.LastIndexByte(text[from:at], '\n') + 1
}

// maxWord bounds how far wordStart looks back.
const maxWord = 256

// wordStart returns the start of the word of letters, digits and marks before a place.
func wordStart(text string, at int, marks string) int {
	begin := at
	for begin > max(0, at-maxWord) && (isAlnum(text[begin-1]) || strings.IndexByte(marks, text[begin-1]) >= 0) {
		begin--
	}
	return begin
}

// inQuery reports whether the name is a parameter of a URL.
func (n name) inQuery() bool {
	begin := wordStart(n.text, n.start, "_-.")
	return begin > 0 && strings.IndexByte("?&;", n.text[begin-1]) >= 0
}

// value finds the value behind the name.
func (n name) value() (Finding, bool) {
	limit := min(len(n.text), n.end+maxNamed)
	rest := n.text[n.end:limit]
	m := separator().FindStringSubmatchIndex(rest)
	if m == nil {
		return Finding{}, false
	}
	at := m[1]
	strict := m[2] >= 0
	inBlock := strict && block().MatchString(rest[m[2]:m[3]])
	// A blank alone separates the option of a command from its value. Elsewhere the value must not be a word.
	blank := m[8] >= 0 && !n.option()
	if strict && strings.TrimSpace(rest[m[2]:m[3]]) == ">" && (n.start == 0 || !strings.Contains(n.text[max(0, n.start-24):n.start], "<")) {
		return Finding{}, false
	}
	start, end, quoted := valueAt(rest, at, n.inQuery())
	value := rest[start:end]
	passed, ok := strings.EqualFold(n.text[n.start:n.end], "pass"), false
	switch {
	case value == "" || isPlaceholder(value):
	case !quoted && passed && strings.Trim(value, "0123456789,}") == "": // A count of tests.
	case n.family == codes:
		k, first := kindsOf(value), n.text[n.start]|0x20
		ok = isDoorCode(value) && (!blank || k.digits == len(value) && (k.digits > 3 || first == 'c' || first == 's' && clauseEnd().MatchString(rest[end:])))
	case n.tailed && (m[4] >= 0 || !(looksIssued(value) && !isName(value) || n.family == passwords && n.standsOut(value))):
	case blank:
		k := kindsOf(value)
		ok = n.family == passwords && (quoted && n.isSecretValue(value) || len(value) >= 8 && k.digits > 0 && k.letters > 0 && (k.upper > 0 || k.symbols > 0) && n.standsOut(value))
	case strict && quoted:
		ok = n.isSecretValue(value)
	case n.family == passwords && (strict || m[6] >= 0) && !passed && phraseLen(rest[start:], strict) > 0:
		ok, end = true, start+phraseLen(rest[start:], strict)
	case inBlock && n.family == passwords:
		ok = len(value) >= 4
	case strict && n.env():
		ok = len(value) >= 4 && (n.family == passwords || n.family == sessions && isIssuedRandomly(value) || n.family == tokens && len(value) >= 8 && !isCode(value)) && !isCallOrPath(value)
	case strict:
		ok = n.isValue(value) || n.isLiteral(rest, rest[m[2]:m[3]], start, end)
	default:
		ok = n.standsOut(value) || n.isLiteral(rest, "", start, end)
	}
	if ok && end >= len(rest)-1 && limit < len(n.text) && n.start >= *n.followed { // It goes on.
		start, end, _ = valueAt(n.text[n.end:], at, n.inQuery())
		*n.followed = n.end + end
	}
	if ok && inBlock {
		end = blockEnd(n.text, n.end+start, n.end+end) - n.end
	}
	return Finding{RuleNamed, n.end + start, n.end + end}, ok
}

// clauseEnd matches behind the last word of a clause. Three digits in the middle of one, as of a status, are no code of a door.
var clauseEnd = lazily(`^[ \t]*(?:[\pP\r\n]|$)`)

// block matches a separator that begins a block of YAML.
var block = lazily(`:[ \t]*[|>][-+\d]*[ \t]*(?:#[^\n]*)?\r?\n`)

// blockEnd returns where a block of YAML ends whose first line holds a value: before the first line that is indented less.
func blockEnd(text string, start, end int) int {
	indent := start - lineStart(text, start)
	if indent == 0 {
		return end
	}
	at := end
	for line := range strings.Lines(text[end:]) {
		words := strings.TrimSpace(line)
		if at > end && words != "" && len(line)-len(strings.TrimLeft(line, " \t")) < indent {
			return end
		}
		if at += len(line); words != "" {
			end = at - len(line) + len(strings.TrimRight(line, " \t\r\n"))
		}
	}
	return end
}

// option reports whether the name is an option of a command.
func (n name) option() bool {
	begin := wordStart(n.text, n.start, "_-")
	return strings.HasPrefix(n.text[begin:], "-") && (begin == 0 || strings.IndexByte(" \t\n\"'`([,", n.text[begin-1]) >= 0)
}

// valueBefore finds the value that is given this name: "use … as the password".
func (n name) valueBefore() (Finding, bool) {
	if !connector().MatchString(n.text[max(0, n.start-40):n.start]) {
		return Finding{}, false
	}
	from := max(0, n.start-160)
	m := reversed().FindStringSubmatchIndex(n.text[from:n.start])
	if m == nil {
		return Finding{}, false
	}
	start, end := from+m[2], from+m[3]
	start += len(n.text[start:end]) - len(strings.TrimLeft(n.text[start:end], "\"'`(["))
	value := n.text[start:end]
	return Finding{RuleNamed, start, end}, !isPlaceholder(value) && n.standsOut(value)
}
