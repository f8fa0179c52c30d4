package schema

import (
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one numbered step of the ClickHouse schema. Its statements are idempotent, also when several workers
// run them at once.
type Migration struct {
	Version    int
	Name       string
	Statements []string
	// Checksum is the hex SHA-256 of the file.
	Checksum string
}

var creates = regexp.MustCompile(`^CREATE (?:OR REPLACE )?(?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)`)

// Creates returns the names of the tables and views that the migration creates.
func (m Migration) Creates() []string {
	var out []string
	for _, s := range m.Statements {
		if found := creates.FindStringSubmatch(s); found != nil {
			out = append(out, found[1])
		}
	}
	return out
}

var createsTable = regexp.MustCompile(`^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)

// Tables returns the names of the tables that the migration creates.
func (m Migration) Tables() []string {
	var out []string
	for _, s := range m.Statements {
		if found := createsTable.FindStringSubmatch(s); found != nil {
			out = append(out, found[1])
		}
	}
	return out
}

// Migrations returns all migrations in the order of their versions.
func Migrations() ([]Migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	out := make([]Migration, 0, len(names))
	for _, name := range names { // Glob sorts by name, and the names begin with the version.
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration %q: %w", name, err)
		}
		base := strings.TrimSuffix(strings.TrimPrefix(name, "migrations/"), ".sql")
		number, title, ok := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if !ok || err != nil {
			return nil, fmt.Errorf("read migration %q: want a name like 0001_title.sql", name)
		}
		if n := len(out); n > 0 && out[n-1].Version >= version {
			return nil, fmt.Errorf("read migration %q: version %d is used twice", name, version)
		}
		out = append(out, Migration{
			Version: version, Name: title, Statements: statements(string(text)), Checksum: HashText(string(text)),
		})
	}
	return out, nil
}

// statements splits SQL at semicolons at the end of a line and removes comment lines.
func statements(text string) []string {
	var out []string
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "--") {
			continue
		}
		b.WriteString(line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			if s := strings.TrimSpace(b.String()); s != ";" {
				out = append(out, strings.TrimSuffix(s, ";"))
			}
			b.Reset()
		}
	}
	if s := strings.TrimSpace(b.String()); s != "" {
		out = append(out, s)
	}
	return out
}
