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

// load runs the statements of a dump that create and fill tables, and no others.
func (d *database) load(b *builder, dump string) error {
	if _, err := d.conn.ExecContext(d.ctx, "BEGIN"); err != nil {
		return fmt.Errorf("load dump: %w", err)
	}
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
		default:
			if _, err := d.conn.ExecContext(d.ctx, stmt); err != nil {
				b.skip(line, "statement fails: "+err.Error())
			}
		}
		return d.ctx.Err() == nil
	})
	if _, err := d.conn.ExecContext(d.ctx, "COMMIT"); err != nil {
		return fmt.Errorf("load dump: %w", err)
	}
	return nil
}

// eachStatement calls fn with every statement of a script, without leading comments, and the line
// it starts at, until fn returns false. The last one may lack its semicolon.
func eachStatement(script string, fn func(line int, stmt string, complete bool) bool) {
	line, start, startLine := 1, -1, 1
	for i := 0; i < len(script); {
		n := 1
		switch c := script[i]; {
		case c == '-' && strings.HasPrefix(script[i:], "--"):
			n = until(script[i:], "\n", 2)
		case c == '/' && strings.HasPrefix(script[i:], "/*"):
			n = until(script[i:], "*/", 2)
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
			switch c {
			case '\'', '"', '`':
				n = until(script[i:], string(c), 1)
			case '[':
				n = until(script[i:], "]", 1)
			}
		}
		line += strings.Count(script[i:i+n], "\n")
		i += n
	}
	if start >= 0 {
		fn(startLine, strings.TrimSpace(script[start:]), false)
	}
}

// until returns the length of s up to and with the end that follows the first skip bytes.
func until(s, end string, skip int) int {
	if i := strings.Index(s[skip:], end); i >= 0 {
		return skip + i + len(end)
	}
	return len(s)
}
