package chdb

import (
	"slices"
	"strings"
)

// The engine's rights cover table functions and most table engines. This file covers the ways to files and programs
// that need no right.

// outsideNames are functions that open files or run programs. A function can be named without being called (APPLY,
// arrayMap), so the name alone is refused wherever it is an identifier.
var outsideNames = []string{"file", "executable", "sqlite", "disk", "eval"}

// outsideWords are the keywords that name a file.
var outsideWords = []string{"outfile", "infile"}

// insideEngines keep their data in the server's own directory, besides those whose name ends with
// MergeTree.
var insideEngines = []string{
	"memory", "null", "log", "tinylog", "stripelog", "set", "join", "buffer", "merge", "generaterandom",
	"view", "materializedview", "atomic",
}

// forbid refuses a statement that reaches outside the server's own directory. It checks the text that the engine's
// formatter writes, in which no comment, escaped identifier or unusual quote can hide a name. A statement without
// suspicious names is not formatted. In a plain statement, strings do not count, because they are never taken for
// names. Where a cluster is configured, Distributed tables are allowed.
func (s *session) forbid(sql string, params map[string]string, plain, clustered bool) error {
	seen := sql
	if plain {
		if bare, ok := withoutStrings(sql); ok {
			seen = bare
		}
	}
	if !suspicious(seen) {
		return nil
	}
	r, err := s.query("SELECT formatQuerySingleLine("+quoteString(sql)+")", "RawBLOB", nil)
	if err != nil {
		return err
	}
	name := reachesOutside(string(r.data), params)
	if clustered && name == "the engine distributed" {
		name = "" // Its cluster is this server.
	}
	if name != "" {
		return newException(codeAccessDenied, "ACCESS_DENIED",
			"The local server refuses %s: it reaches files, programs or hosts outside the server's directory", name)
	}
	return nil
}

// withoutStrings empties the strings of a statement. It returns false if anything but a string in plain quotes could be
// read in two ways: another kind of quote, a comment, an escape, or a character that is not ASCII.
func withoutStrings(sql string) (string, bool) {
	var bare strings.Builder
	for rest := sql; ; {
		i := strings.IndexByte(rest, '\'')
		if i < 0 {
			bare.WriteString(rest)
			break
		}
		bare.WriteString(rest[:i] + "''")
		lex := lexer{text: rest, at: i}
		lex.quoted('\'')
		// x'…' knows no escapes.
		if i > 0 && isWordByte(rest[i-1]) || lex.at-i < 2 || rest[lex.at-1] != '\'' {
			return "", false
		}
		rest = rest[lex.at:]
	}
	text := bare.String()
	unclear := strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\r' && r != '\n' || r > '~' || strings.ContainsRune("\\`\"$#", r)
	})
	return text, !unclear && !strings.Contains(text, "--") && !strings.Contains(text, "/*") && !strings.Contains(sql, "\x00")
}

// suspicious reports whether a statement has to be checked. It may be true for a harmless statement, and is never
// false for another. A quoted identifier can spell a name by escapes.
func suspicious(sql string) bool {
	lower := strings.ToLower(sql)
	contains := func(word string) bool { return strings.Contains(lower, word) }
	return slices.ContainsFunc(outsideNames, contains) || slices.ContainsFunc(outsideWords, contains) ||
		contains("engine") || contains("identifier") || contains(`\`)
}

// reachesOutside returns the part of a statement for the engine that reaches outside, or "".
func reachesOutside(sql string, params map[string]string) string {
	lex := lexer{text: sql}
	verb, before := "", ""
	for t := lex.next(); t.kind != tokenEnd; t = lex.next() {
		name := identifier(t)
		if verb == "" {
			verb = name
		}
		switch {
		case name == "":
		case slices.Contains(outsideNames, name):
			return name
		case t.kind == tokenWord && slices.Contains(outsideWords, name) && (before == "into" || before == "from"):
			return name
		case name == "identifier":
			for _, value := range params {
				// No name needs an escape, and an escape can hide a letter.
				if slices.Contains(outsideNames, strings.ToLower(value)) || strings.Contains(value, `\`) {
					return "the parameter " + value
				}
			}
		case before == "engine=" && verb != "select" && verb != "insert" && !insideEngine(name):
			return "the engine " + name
		}
		before = follow(before, t, name)
	}
	return ""
}

// follow returns the context in which the next token is read: the word before it, or "engine=".
func follow(before string, t token, name string) string {
	if before == "engine" && t.text == "=" {
		return "engine="
	}
	return name
}

func insideEngine(name string) bool {
	return strings.HasSuffix(name, "mergetree") || slices.Contains(insideEngines, name)
}

// identifier is the name that a token spells in lower case, or "" for any other token.
func identifier(t token) string {
	switch {
	case t.kind == tokenWord:
		return strings.ToLower(t.text)
	case strings.HasPrefix(t.text, "`"), strings.HasPrefix(t.text, `"`):
		return strings.ToLower(strings.Trim(t.text, "`\""))
	}
	return ""
}
