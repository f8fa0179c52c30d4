package redact

import (
	"strings"
	"unicode/utf8"
)

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

// isCode reports whether the value, which is not in quotes, is an expression of code.
func isCode(value string) bool {
	k := kindsOf(value)
	if k.digits == 0 && k.other == 0 && strings.Trim(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.$-/?&*[]{}()|:") == "" {
		return true
	}
	return isCallOrPath(value)
}

var callOrPath = lazily(`^[\w.$]*[A-Za-z_$][\w$]*(?:\(|\[|::|\?\.|->)|^[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+$|^(?:~|\.{1,2}|\$\{?\w+\}?)?/[\w./-]+$`)

func isCallOrPath(value string) bool { return callOrPath().MatchString(value) }

// isSecretValue reports whether a value in quotes is a secret, and not the words of a form or a message about one.
func (n name) isSecretValue(value string) bool {
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

// isLiteral reports whether a word is in a place without code: at the end of a line, in an assignment of a shell or of
// a connection string, in an element of XML, or behind an option of a command.
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

// isDoorCode reports whether a value is a few digits, perhaps with letters and the marks of a keypad.
func isDoorCode(value string) bool {
	k := kindsOf(value)
	return len(value) >= 3 && len(value) <= 12 && k.digits >= 3 && strings.Trim(value, "0123456789ABCDEFabcdef#*-") == ""
}
