package chdb

import "strings"

// statement holds the properties of a query that the server needs before it passes the query to the
// engine.
type statement struct {
	// verb is the first keyword in capitals, such as "SELECT".
	verb string
	// format is the FORMAT the query asks for, "" when it names none. An INSERT
	// with inline rows has "Values" for VALUES.
	format string
	// takesRows is true if rows in the format follow at text[data:]; head is the statement without its
	// FORMAT clause.
	takesRows bool
	head      string
	data      int
	// dropsDefault is true if the statement would drop the database default, in which every session of the
	// engine starts.
	dropsDefault bool
}

// rows reports whether the statement answers with rows that can be streamed.
func (s statement) rows() bool {
	switch s.verb {
	case "SELECT", "WITH", "(", "FROM", "VALUES":
		return true
	}
	return false
}

// readsOnly reports whether the statement may be sent by GET.
func (s statement) readsOnly() bool {
	switch s.verb {
	case "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN", "CHECK", "SET", "USE":
		return true
	}
	return s.rows()
}

// parseStatement reads the outline of one statement. Text after the rows of
// an INSERT begin is not looked at. It fails on a second statement.
func parseStatement(text string) (statement, error) {
	lex := lexer{text: text}
	start := lex.next()
	st := statement{verb: strings.ToUpper(start.text)}
	if st.verb == "INSERT" {
		return parseInsert(&lex, st)
	}
	if st.verb == "DROP" {
		ahead := lex
		st.dropsDefault = ahead.namesDefault()
	}
	depth := 0
	var last [3]token
	for t := start; t.kind != tokenEnd; t = lex.next() {
		switch {
		case t.text == "(" || t.text == "[" || t.text == "{":
			depth++
		case t.text == ")" || t.text == "]" || t.text == "}":
			depth--
		case t.text == ";":
			if extra := lex.next(); extra.kind != tokenEnd && extra.text != ";" {
				return st, newException(codeSyntaxError, "SYNTAX_ERROR",
					"Syntax error (Multi-statements are not allowed): failed at position %d", t.start+1)
			}
			continue
		case depth == 0 && t.is("SETTINGS") && last[1].is("FORMAT") && last[0].kind == tokenWord:
			st.format = last[0].text
		}
		last[2], last[1], last[0] = last[1], last[0], t
	}
	if last[1].is("FORMAT") && last[0].kind == tokenWord && last[2].text != "." && last[2].text != "," {
		st.format = last[0].text
	}
	return st, nil
}

// parseInsert finds where the rows of an INSERT begin.
func parseInsert(lex *lexer, st statement) (statement, error) {
	lex.skipTarget()
	depth := 0
	for t := lex.next(); t.kind != tokenEnd; t = lex.next() {
		switch {
		case t.text == "(":
			depth++
		case t.text == ")":
			depth--
		case depth > 0 || t.kind != tokenWord:
		case t.is("SELECT"), t.is("WITH"), t.is("WATCH"), t.is("INFILE"):
			return st, nil
		case t.is("VALUES"):
			st.takesRows, st.format, st.head, st.data = true, "Values", lex.text[:t.start], lex.at
			return st, nil
		case t.is("FORMAT"):
			name := lex.next()
			if name.kind != tokenWord {
				return st, nil
			}
			st.takesRows, st.format, st.head, st.data = true, name.text, lex.text[:t.start], afterFormat(lex.text, lex.at)
			return st, nil
		}
	}
	st.takesRows, st.head, st.data = true, strings.TrimRight(lex.text, "; \t\r\n"), len(lex.text)
	return st, nil
}

// afterFormat skips the blanks and the one line end that separate a FORMAT
// clause from the rows.
func afterFormat(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == ';') {
		at++
	}
	if at < len(text) && text[at] == '\r' {
		at++
	}
	if at < len(text) && text[at] == '\n' {
		at++
	}
	return at
}

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenOther
)

type token struct {
	kind  tokenKind
	text  string
	start int
}

func (t token) is(keyword string) bool {
	return t.kind == tokenWord && strings.EqualFold(t.text, keyword)
}

// lexer splits SQL into words, quoted pieces and punctuation, without comments.
type lexer struct {
	text string
	at   int
}

// skipTarget moves behind [INTO] [TABLE|FUNCTION] and the name that follows,
// which may itself be spelled like a keyword.
func (l *lexer) skipTarget() {
	t := l.next()
	if t.is("INTO") {
		t = l.next()
	}
	if t.is("TABLE") || t.is("FUNCTION") {
		l.next()
	}
	for {
		before := l.at
		if dot := l.next(); dot.text != "." {
			l.at = before
			return
		}
		l.next()
	}
}

// namesDefault reports whether DATABASE [IF EXISTS] default follows.
func (l *lexer) namesDefault() bool {
	if !l.next().is("DATABASE") {
		return false
	}
	t := l.next()
	if t.is("IF") {
		l.next()
		t = l.next()
	}
	return strings.Trim(t.text, "`\"") == "default"
}

func (l *lexer) next() token {
	l.skipBlank()
	start := l.at
	if start >= len(l.text) {
		return token{kind: tokenEnd, start: start}
	}
	c := l.text[start]
	switch {
	case c == '\'' || c == '"' || c == '`':
		l.quoted(c)
		return token{kind: tokenOther, text: l.text[start:l.at], start: start}
	case c == '$' && l.heredoc():
		return token{kind: tokenOther, text: l.text[start:l.at], start: start}
	case isWordByte(c):
		for l.at < len(l.text) && isWordByte(l.text[l.at]) {
			l.at++
		}
		return token{kind: tokenWord, text: l.text[start:l.at], start: start}
	}
	l.at++
	return token{kind: tokenOther, text: l.text[start:l.at], start: start}
}

func (l *lexer) skipBlank() {
	for l.at < len(l.text) {
		rest := l.text[l.at:]
		switch {
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			l.skipPast(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			l.skipPast(rest, "*/")
		case rest[0] == ' ' || (rest[0] >= '\t' && rest[0] <= '\r'):
			l.at++
		default:
			return
		}
	}
}

func (l *lexer) skipPast(rest, end string) {
	if i := strings.Index(rest, end); i >= 0 {
		l.at += i + len(end)
		return
	}
	l.at = len(l.text)
}

func (l *lexer) quoted(quote byte) {
	for l.at++; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case '\\':
			l.at++
		case quote:
			if l.at+1 >= len(l.text) || l.text[l.at+1] != quote {
				l.at++
				return
			}
			l.at++
		}
	}
	l.at = len(l.text)
}

// heredoc reads $tag$...$tag$ and reports whether there was one.
func (l *lexer) heredoc() bool {
	end := l.at + 1
	for end < len(l.text) && isWordByte(l.text[end]) && l.text[end] != '$' {
		end++
	}
	if end >= len(l.text) || l.text[end] != '$' {
		return false
	}
	tag := l.text[l.at : end+1]
	i := strings.Index(l.text[end+1:], tag)
	if i < 0 {
		return false
	}
	l.at = end + 1 + i + len(tag)
	return true
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
