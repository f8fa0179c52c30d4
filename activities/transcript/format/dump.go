package format

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	sqlStart = regexp.MustCompile(`(?i)^(create|pragma|begin|insert|drop|set)\s`)
	sqlTable = regexp.MustCompile(`(?im)^[ \t]*create[ \t]+table\s`)
)

// isDump reports whether the head is SQL that makes tables.
func isDump(head []byte) bool {
	script := false
	eachStatement(string(head), func(_ int, stmt string, _ bool) bool {
		script = sqlStart.MatchString(stmt)
		return false
	})
	return script && sqlTable.Match(head)
}

// loadable are the statements of a dump that make tables and rows.
var loadable = regexp.MustCompile(`(?i)^(create\s+table|insert\s+(or\s+\w+\s+)?into|replace\s+into)\s`)

var sqlSelect = regexp.MustCompile(`(?i)\bselect\b`)

// queries reports whether a statement asks for rows, as INSERT … SELECT and CREATE TABLE … AS do: a few words may
// produce any number of them.
func queries(stmt string) bool {
	var code strings.Builder
	for i := 0; i < len(stmt); {
		n := apart(stmt[i:])
		if n == 0 {
			code.WriteByte(stmt[i])
		} else {
			code.WriteByte(' ')
		}
		i += max(n, 1)
	}
	return sqlSelect.MatchString(code.String())
}

// maxGrowth bounds the pages of a dump's tables, in the length of the dump: functions of SQLite make long values of short ones.
const maxGrowth = 4

// load runs the statements of a dump that create tables, and fill them with values, and no others.
func (d *database) load(dump string) error {
	const page = 4096
	err := d.exec(fmt.Sprintf("PRAGMA page_size=%d", page), fmt.Sprintf("PRAGMA max_page_count=%d", maxGrowth*len(dump)/page+256))
	if err != nil {
		return fmt.Errorf("load dump: %w", err)
	}
	b := d.b
	trigger := false
	eachStatement(dump, func(line int, stmt string, complete bool) bool {
		head := strings.ToLower(stmt[:min(len(stmt), 64)])
		switch {
		case trigger:
			trigger = !strings.HasPrefix(head, "end")
		case strings.HasPrefix(head, "create trigger"), strings.HasPrefix(head, "create temp trigger"):
			trigger = true
		case !loadable.MatchString(stmt):
		case !complete:
			b.skip(line, "incomplete last statement")
		case queries(stmt):
			b.skip(line, "statement holds a query: only values are read")
		default:
			if _, err := d.conn.ExecContext(d.ctx, stmt); err != nil {
				b.skip(line, "statement fails: "+err.Error())
			}
		}
		return b.read()
	})
	return b.err
}

// eachStatement calls fn with every statement of a script, without leading comments, and the line
// it starts at, until fn returns false. The last one may lack its semicolon.
func eachStatement(script string, fn func(line int, stmt string, complete bool) bool) {
	line, start, startLine := 1, -1, 1
	for i := 0; i < len(script); {
		n := max(1, apart(script[i:]))
		switch c := script[i]; {
		case n > 1 && (c == '-' || c == '/'): // A comment.
		case c == ';':
			if start >= 0 && !fn(startLine, script[start:i], true) {
				return
			}
			start = -1
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		default:
			if start < 0 {
				start, startLine = i, line
			}
		}
		line += strings.Count(script[i:i+n], "\n")
		i += n
	}
	if start >= 0 {
		fn(startLine, strings.TrimSpace(script[start:]), false)
	}
}

// apart returns the length of the comment or quotation that s begins with, else 0.
func apart(s string) int {
	switch c := s[0]; {
	case strings.HasPrefix(s, "--"):
		return until(s, "\n", 2)
	case strings.HasPrefix(s, "/*"):
		return until(s, "*/", 2)
	case c == '\'' || c == '"' || c == '`':
		return until(s, s[:1], 1)
	case c == '[':
		return until(s, "]", 1)
	}
	return 0
}

// until returns the length of s up to and with the end that follows the first skip bytes.
func until(s, end string, skip int) int {
	if i := strings.Index(s[skip:], end); i >= 0 {
		return skip + i + len(end)
	}
	return len(s)
}
