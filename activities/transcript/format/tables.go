package format

import (
	"fmt"
	"strings"
)

// tables say how sessions lie in SQLite.
type tables struct {
	// name and columns, in lower case, are of the table that identifies the format.
	name    string
	columns []string
	// read reads the sessions; limit bounds, in bytes, a value that is decompressed.
	read func(d *database, b *builder, limit int) error
}

// formatOfDump detects the format by the tables that the start of a database or dump makes; it is empty when they do
// not show there.
func formatOfDump(head []byte) string {
	text := strings.ToLower(string(head))
	for i := range registry {
		t := &registry[i].tables
		found := t.read != nil && tableNamed(text, t.name)
		for _, c := range t.columns {
			found = found && strings.Contains(text, c)
		}
		if found {
			return registry[i].Name
		}
	}
	return ""
}

// tableNamed reports whether a script in lower case creates the table.
func tableNamed(script, table string) bool {
	for rest := script; ; {
		_, after, ok := strings.Cut(rest, "create table")
		if !ok {
			return false
		}
		rest = after
		name := strings.TrimPrefix(strings.TrimLeft(after, " \t\r\n"), "if not exists")
		if name = strings.TrimLeft(name, " \t\r\n\"`['"); strings.HasPrefix(name, table) {
			if next := strings.TrimPrefix(name, table); next == "" || strings.IndexByte(" \t\r\n\"`]'(", next[0]) >= 0 {
				return true
			}
		}
	}
}

// readDatabase reads the sessions of a database or dump, whichever harness made it.
func readDatabase(s *source, b *builder) error {
	d, err := s.openDatabase(b)
	if err != nil {
		return err
	}
	defer d.close()
	for i := range registry {
		t := &registry[i].tables
		if t.read == nil {
			continue
		}
		have := d.columns(t.name)
		found := len(have) > 0
		for _, c := range t.columns {
			found = found && have[c]
		}
		if found {
			b.format = registry[i].Name
			return t.read(d, b, s.opts.MaxLine)
		}
	}
	return fmt.Errorf("%w: no table of the database holds sessions that are known", ErrUnknownFormat)
}

// rowHeader reads a session's metadata from a row.
func (b *builder) rowHeader(r row) {
	s := b.useSession(r.text("id"))
	for _, c := range []string{"working_dir", "directory", "cwd", "git_repo_root"} {
		if s.CWD == "" {
			s.CWD = clean(r.text(c))
		}
	}
	for _, c := range []string{"title", "description", "name", "summary"} {
		if s.Title == "" {
			s.Title = clean(r.text(c))
		}
	}
	for _, c := range []string{"created_at", "updated_at", "time_created", "time_updated", "started_at", "ended_at"} {
		s.includeTime(b.rowTime(r, c))
	}
}
