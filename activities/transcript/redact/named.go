package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"axiommind/schema"
)

// separator is what stands between a name and its value. Groups: a strict one, of code and of lists; the cell of a table;
// one of prose; a mere blank. The name and the value may also be those of a pair: "name": "password", "value": "…".
var separator = lazily(`(?i)^(?:["'\x60”’」*_\])]{0,4})` +
	`(?:[ \t]*\([^()\n]{1,40}\))?` +
	`(?:[ \t]+(?:for|of|to|on|in|at|pour|de|du|für|zum|para|del|von|used|auf|sur|en|w|v)[ \t]+(?:(?:[\pL\pN@.'"/_-]|://)+[ \t]*){1,4}?)?` +
	`["'\x60*_]{0,3}` +
	`(?:,?\s*(?:["']?[a-z]{1,16}["']?:[ \t]*["']?\w{0,24}["']?,\s*){0,4}["']?\bvalue["']?)?` +
	`(?:([ \t]*(?::=|=>|->|={1,3}|[:：＝]|>)[ \t]*(?:\r?\n[ \t]*)?(?:[|>][-+\d]*[ \t]*(?:#[^\n]*)?\r?\n[ \t]+)?)|([ \t]*\|[ \t]*)|` +
	`((?:['’]s|[ \t]+(?:is|are|was|=|to|as|equals|(?:should|must|will)[ \t]be|lautet|ist|heißt|es|est|é|è|será|sarà|—|–|-))(?:[ \t]+(?:now|still|currently|set to|jetzt|ahora|actuellement|this|simply|just))?[ \t]*[:：]?(?:[ \t]+|\r?\n[ \t]*)|` +
	`[ \t]*(?:は|が|를|을|는|은|이|가|是|为|為|就是|设为|設為|改为|改為|成|に)[ \t]*[:：]?[ \t]*)|([ \t]+))`)

// reversed is what stands between a value and the name it is given.
var reversed = lazily(`(?i)([!-~]{6,128}?)["'\x60”’」]?[ \t]*(?:[ \t]as[ \t]+|[ \t]als[ \t]+|[ \t]como[ \t]+|[ \t]comme[ \t]+|를[ \t]*|을[ \t]*|作为|作為|をその?|を)(?:(?:the|a|an|my|your|our|its|new|das|neues|la|le|mi|el|\w+)[ \t]+){0,3}$`)

// connector is a part of reversed that is looked for first.
var connector = lazily(`(?i)[ \t](?:as|als|como|comme)[ \t]|[를을]|作[为為]|を`)

// maxNamed bounds the value of a name.
const maxNamed = 4 << 10

// scan finds what is told under a name of the rule that stands in a window.
func (r nameRule) scan(text string, from, to int) []Finding {
	var found []Finding
	covered := 0
	add := func(f Finding, ok bool) {
		if ok {
			found = append(found, f)
		}
		if ok || f.End-f.Start > maxNamed/4 {
			covered = max(covered, f.End)
		}
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	read := 0
	for _, m := range r.expr().FindAllStringIndex(lowerASCII(text[from:to]), -1) {
		n := name{text: text, start: from + m[0], family: r.family, read: &read}
		n.end = n.start + len(strings.TrimRight(text[n.start:from+m[1]], "=:> \t\"'"))
		// A value deep within another one ends where that does: a text of nothing but names would be read once for each.
		if deep := n.end+maxNamed/16 < covered; !deep && n.whole() && !n.inPlaceholder() {
			add(n.value())
			add(n.valueBefore())
		}
	}
	return found
}

// scanEnvKeys finds values of variables of the environment that are named as a key.
func scanEnvKeys(text string, from, to int) []Finding {
	var found []Finding
	read := 0
	for _, m := range matches(envKey(), text, from, to) {
		if publicKey().MatchString(text[m[0]:m[1]]) {
			continue
		}
		n := name{text: text, start: m[0], end: m[1], family: tokens, read: &read}
		if f, ok := n.value(); ok {
			found = append(found, f)
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
	// read is how far values of names of the same rule were followed beyond maxNamed. Later ones are not followed before that.
	read *int
}

// whole reports whether the word is all of a name, or its last word. It takes in what follows the word and changes nothing.
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
	begin := n.start
	for begin > 0 && (isAlnum(text[begin-1]) || text[begin-1] == '_' || text[begin-1] == '-') {
		begin--
	}
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

// goesOn reports whether the word goes on behind the name.
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

// inQuery reports whether the name is a parameter of a URL.
func (n name) inQuery() bool {
	begin := n.start
	for begin > 0 && (isAlnum(n.text[begin-1]) || strings.IndexByte("_-.", n.text[begin-1]) >= 0) {
		begin--
	}
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
	// A blank alone stands behind the option of a command. Elsewhere it takes a value that is no word.
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
		k := kindsOf(value)
		ok = isDoorCode(value) && (!blank || k.digits == len(value) && (k.digits > 3 || strings.ContainsAny(n.text[n.start:n.start+1], "cCsS")))
	case n.tailed && (m[4] >= 0 || !(looksIssued(value) && !isName(value) || n.family == passwords && n.standsOut(value))):
	case blank:
		k := kindsOf(value)
		ok = n.family == passwords && (quoted && n.tells(value) || len(value) >= 8 && k.digits > 0 && k.letters > 0 && (k.upper > 0 || k.symbols > 0) && n.standsOut(value))
	case strict && quoted:
		ok = n.tells(value)
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
	if ok && end >= len(rest)-1 && limit < len(n.text) && n.start >= *n.read { // It goes on.
		start, end, _ = valueAt(n.text[n.end:], at, n.inQuery())
		*n.read = n.end + end
	}
	if ok && inBlock {
		end = blockEnd(n.text, n.end+start, n.end+end) - n.end
	}
	return Finding{RuleNamed, n.end + start, n.end + end}, ok
}

// phrase matches a pass phrase, to the end of its line or to a remark.
var phrase = lazily(`^(\pL{3,12}(?:[ -](?:\pL{3,12}|\d{1,4})){2,7})[.,!;]?[ \t]*(?:[\r\n(#"'\x60,.]|$)`)

// phraseLen returns the length of the pass phrase that the text begins with, or 0. In a sentence, it has four words at least.
func phraseLen(text string, strict bool) int {
	m := phrase().FindStringSubmatch(text)
	if m == nil || !isFreePhrase(m[1]) || !strict && strings.Count(m[1], " ")+strings.Count(m[1], "-") < 3 {
		return 0
	}
	return len(m[1])
}

// literal matches a word that is a password, or the name of a variable.
var literal = lazily(`^[a-z]{4,32}(?:-[a-z]{1,16})*$`)

// isLiteral reports whether a word stands where no code does: at the end of a line, in an assignment of a shell or of a
// connection string, in an element of XML, or behind an option of a command.
func (n name) isLiteral(rest, separator string, start, end int) bool {
	value := rest[start:end]
	if n.family != passwords || !literal().MatchString(value) || !isFreePhrase(value) {
		return false
	}
	from, next := lineStart(n.text, n.start), rest[end:]
	line, _, _ := strings.Cut(n.text[from:min(len(n.text), n.end+end+maxLine/8)], "\n")
	switch {
	case n.option():
		return strings.Count(" "+line, " -") > 1 || strings.HasPrefix(line, "$ ") || separator == "="
	case separator == "=":
		return next == "" || strings.IndexByte(" \t\r\n;&\"'", next[0]) >= 0
	case separator == ">":
		return strings.HasPrefix(next, "</")
	}
	next, _, _ = strings.Cut(next, "\n")
	separator = strings.TrimLeft(separator, " \t")
	return (strings.HasPrefix(separator, ": ") || strings.HasPrefix(separator, "->")) && !strings.Contains(separator, "\n") && strings.TrimSpace(next) == "" && !strings.ContainsAny(n.text[from:n.start], "=(){},;<>\"")
}

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

// isDoorCode reports whether a value is a few digits, perhaps with letters and the marks of a keypad.
func isDoorCode(value string) bool {
	k := kindsOf(value)
	return len(value) >= 3 && len(value) <= 12 && k.digits >= 3 && strings.Trim(value, "0123456789ABCDEFabcdef#*-") == ""
}

// option reports whether the name is an option of a command.
func (n name) option() bool {
	begin := n.start
	for begin > 0 && (isAlnum(n.text[begin-1]) || n.text[begin-1] == '-' || n.text[begin-1] == '_') {
		begin--
	}
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

// quotes are pairs of quotation marks.
var quotes = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '‘': '’', '„': '“', '«': '»', '「': '」', '『': '』', '”': '”'}

// valueAt returns where the value is that begins at a place. Query says whether it is a parameter of a URL.
func valueAt(text string, at int, query bool) (start, end int, quoted bool) {
	for _, q := range []string{`"""`, "'''"} {
		if body, ok := strings.CutPrefix(text[at:], q); ok && !strings.Contains(text[:at], "\n") { // Else a comment of Python.
			if n := strings.Index(body, q); n >= 0 {
				body = body[:n]
			}
			end = at + len(q) + len(strings.TrimRight(body, " \t\r\n"))
			return end - len(strings.TrimLeft(text[at+len(q):end], " \t\r\n")), end, true
		}
	}
	prefix := 0
	for prefix < 2 && at+prefix < len(text) && strings.IndexByte("bfrubFRUB*_", text[at+prefix]) >= 0 {
		prefix++
	}
	for _, skip := range []int{0, 1, 2, 3} {
		if skip > prefix && skip > 1 {
			break
		}
		if at+skip > len(text) {
			break
		}
		open, size := utf8.DecodeRuneInString(text[at+skip:])
		shut, is := quotes[open]
		if !is {
			continue
		}
		start = at + skip + size
		for end = start; end < len(text); {
			r, n := utf8.DecodeRuneInString(text[end:])
			switch {
			case r == '\\' && end+1 < len(text):
				end++
			case r == shut || r == '\n':
				if r == '\n' {
					end = start // It is no quotation.
				}
				return start, end, r == shut
			}
			end += n
		}
		if end >= len(text) && len(text) >= maxNamed {
			return start, len(text), true // It goes on beyond the window.
		}
		break
	}
	start = at
	for start < len(text) && (text[start] == '*' || text[start] == '_' || text[start] == '`' || text[start] == '(') {
		start++
	}
	stops := " \t\r\n\"'`<>"
	if query {
		stops += "&;#"
	}
	for end = start; end < len(text); {
		r, n := utf8.DecodeRuneInString(text[end:])
		if strings.ContainsRune(stops, r) || isCJK(r) || strings.ContainsRune("，。；：、！？）（」』”’»　", r) || r == '\\' && end+1 < len(text) && strings.IndexByte("nrt\"'", text[end+1]) >= 0 {
			break
		}
		end += n
	}
	end = start + len(strings.TrimRight(text[start:end], ".,;:)]}*_|"))
	return start, end, false
}

// isCode reports whether the value, which stands in no quotes, is an expression of code.
func isCode(value string) bool {
	k := kindsOf(value)
	if k.digits == 0 && k.other == 0 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.$-/?&*[]{}()|:") == "" {
		return true
	}
	return isCallOrPath(value)
}

var callOrPath = lazily(`^[\w.$]*[A-Za-z_$][\w$]*(?:\(|\[|::|\?\.|->)|^[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+$|^(?:~|\.{1,2}|\$\{?\w+\}?)?/[\w./-]+$`)

func isCallOrPath(value string) bool { return callOrPath().MatchString(value) }

// tells reports whether a value in quotes is one, and not what a form or a message says of it.
func (n name) tells(value string) bool {
	k := kindsOf(value)
	if n.family == sessions {
		return isIssuedRandomly(value)
	}
	if n.family == tokens {
		return len(value) >= 8 && !strings.ContainsAny(value, " \t") && (k.digits > 0 && k.letters > 0 && !isVersioned(value) || len(value) >= 16 && entropy(value) >= 3.3 && !isCode(value) || len(value) >= minRandom && entropy(value) >= 3.5 && !isName(value) && !strings.ContainsAny(value, "_-.")) ||
			isPhrase(value, 6)
	}
	switch {
	case utf8.RuneCountInString(value) < 4 && k.digits == 0, len(value) < 3, namesSecret(value) && k.digits == 0, isCallOrPath(value) && !openCall(value):
		return false
	case strings.ContainsAny(value, " \t"):
		return isPhrase(value, 2) || k.digits > 0 && k.symbols > 2 && !label().MatchString(value) && !namesSecret(value)
	}
	return true
}

// openCall reports whether a bracket opens and none closes, so that the value is no call.
func openCall(value string) bool {
	return strings.Contains(value, "(") && !strings.Contains(value, ")")
}

// isPhrase reports whether the value is a pass phrase: words, of which none is one that sentences are made with.
func isPhrase(value string, least int) bool {
	words := strings.Fields(value)
	return len(words) >= least && len(words) <= 32 && !label().MatchString(value) && !namesSecret(value)
}

// isValue reports whether a value without quotes is one.
func (n name) isValue(value string) bool {
	if n.family == sessions {
		return isIssuedRandomly(value)
	}
	if n.family == tokens && len(value) >= minRandom && entropy(value) >= 4 && !isName(value) && !isCallOrPath(value) && !isVersioned(value) && !strings.ContainsAny(value, "(){}[]") {
		return true
	}
	if isCode(value) || isVersioned(value) || strings.ContainsAny(value, "(){}[]") && strings.ContainsAny(value, ",=;!") {
		return false
	}
	k := kindsOf(value)
	if n.family == tokens {
		return len(value) >= 8 && k.letters > 0 && k.digits > 0 && (looksIssued(value) || k.symbols > 0 || k.upper > 0)
	}
	return len(value) >= 4
}

// standsOut reports whether a value is none of the words of a sentence.
func (n name) standsOut(value string) bool {
	if n.family == sessions {
		return isIssuedRandomly(value)
	}
	if isVersioned(value) || isCallOrPath(value) {
		return false
	}
	if n.family == passwords && strings.Count(value, "-") > 2 && phraseLen(value, true) == len(value) {
		return true
	}
	if len(value) >= minRandom && entropy(value) >= 3.7 && !isName(value) && !strings.ContainsAny(value, "_-.(){}[]") {
		return true
	}
	k := kindsOf(value)
	if n.family == tokens {
		return looksIssued(value)
	}
	if k.digits == len(value) {
		return len(value) >= 4 && len(value) <= 12
	}
	symbols := k.symbols - strings.Count(value, "-") - strings.Count(value, "'") - strings.Count(value, ".") - strings.Count(value, "_") - strings.Count(value, "/") - strings.Count(value, ",")
	inner := kindsOf(value[1:])
	return len(value) >= 6 && (k.digits > 0 && k.letters > 0 || symbols > 0 && k.letters > 0 && !strings.ContainsAny(value, "()[]{}<>=") || inner.upper > 0 && k.lower > 0 && inner.upper < k.lower && k.changes > 3)
}

// isIssuedRandomly reports whether the value is random, and no id of hex digits: letters of both cases, and digits.
func isIssuedRandomly(value string) bool {
	k := kindsOf(value)
	return len(value) >= 20 && k.lower >= 3 && k.upper >= 3 && k.digits >= 2 && !isName(value) && !publicID().MatchString(value)
}
