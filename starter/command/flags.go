package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Rows returns how many rows to read for a page of a list that can only be read from its start.
func (p *Page) Rows() int { return p.Offset + p.Ask() }

// After drops the rows before the page's offset.
func After[T any](p *Page, rows []T) []T { return rows[min(p.Offset, len(rows)):] }

// Owner identifies the user and agent of a memory.
type Owner struct{ User, Agent string }

// Add declares the flags.
func (o *Owner) Add(f *pflag.FlagSet) {
	f.StringVar(&o.User, "user", "default", "user who is remembered")
	f.StringVar(&o.Agent, "agent", "", "agent that remembers")
}

// FilterFlags declares the flags that narrow things, such as builds, down to a project, a user and an agent.
func FilterFlags(f *pflag.FlagSet, things string, project, user, agent *string) {
	f.StringVar(project, "project", "", things+" of one project (default: all)")
	f.StringVar(user, "user", "", things+" of one user (default: all)")
	f.StringVar(agent, "agent", "", things+" of one agent (default: all)")
}

// ScopeFlags declares the flags for the project, user and agent of things, such as "of the session".
func ScopeFlags(f *pflag.FlagSet, ofThings string, project, user, agent *string) {
	f.StringVar(project, "project", "default", "project "+ofThings)
	f.StringVar(user, "user", "default", "user "+ofThings)
	f.StringVar(agent, "agent", "", "agent "+ofThings)
}

func (o *Owner) String() string {
	if o.Agent == "" {
		return "user " + o.User
	}
	return "user " + o.User + " by agent " + o.Agent
}

// OneOf checks that the flag's value is one of the known ones.
func OneOf[T ~string](flag string, value T, known []T) error {
	if slices.Contains(known, value) {
		return nil
	}
	names := make([]string, len(known))
	for i, k := range known {
		names[i] = string(k)
	}
	return Usagef("--%s %q: want one of %s", flag, value, strings.Join(names, ", "))
}

// OneOfOrNone is [OneOf] for an optional flag.
func OneOfOrNone[T ~string](flag string, value T, known []T) error {
	if value == "" {
		return nil
	}
	return OneOf(flag, value, known)
}

// Count returns how many of the rows are so.
func Count[T any](rows []T, so func(row T) bool) (n int) {
	for _, row := range rows {
		if so(row) {
			n++
		}
	}
	return n
}

// ParseTime parses a flag's value as a day or a time.
func ParseTime(flag, value string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, Usagef("--%s %q: want a day like 2006-01-02 or a time like 2006-01-02T15:04:05Z", flag, value)
}

// Bounds of a list.
const (
	DefaultPage = 50
	MaxPage     = 1000
)

// Page is the part of a list to show. All lists have the same two flags for it.
type Page struct{ Limit, Offset, Most int }

// Add declares the flags.
func (p *Page) Add(f *pflag.FlagSet, limit, most int, order string) {
	p.Most = most
	f.IntVar(&p.Limit, "limit", limit, "how many at a time, "+order)
	f.IntVar(&p.Offset, "offset", 0, "how many to skip: for the next ones, the number listed so far")
}

// maxOffset bounds an offset, so that sums with it stay in the range of the engine's numbers.
const maxOffset = 1 << 30

// Check validates the flags.
func (p *Page) Check() error {
	switch {
	case p.Limit < 1 || p.Limit > p.Most:
		return Usagef("--limit %d: want 1 to %d", p.Limit, p.Most)
	case p.Offset < 0:
		return Usagef("--offset %d: want 0 or more", p.Offset)
	case p.Offset > maxOffset:
		return Usagef("--offset %d: want at most %d", p.Offset, maxOffset)
	}
	return nil
}

// Ask returns how many rows to read: one more than to show, to detect whether there are more.
func (p *Page) Ask() int { return p.Limit + 1 }

// Listing is a command that lists rows, a page at a time.
type Listing[T any] struct {
	// Order describes the order of the rows in the help.
	Order string
	// Check validates the command's own flags before any server is contacted. It may be nil.
	Check func() error
	// Read returns the rows of the page, with one more if there are more, and the text for an empty list.
	Read func(ctx context.Context, conn driver.Conn, p *Page, args []string) (rows []T, none string, err error)
	// Print writes the rows for people.
	Print func(b *strings.Builder, rows []T)
}

// Command completes the command.
func (l Listing[T]) Command(a *App, cmd *cobra.Command) *cobra.Command {
	p := &Page{}
	p.Add(cmd.Flags(), DefaultPage, MaxPage, l.Order)
	a.Answers(cmd, []T{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		err := p.Check()
		if err == nil && l.Check != nil {
			err = l.Check()
		}
		if err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		rows, none, err := l.Read(ctx, conn, p, args)
		if err != nil {
			return err
		}
		return List(a, cmd, p, rows, none, l.Print)
	})
}

// List prints the command's rows of a page, of which one extra may have been read. If so, a line below shows how to see the next ones.
// With JSON output that line goes to stderr.
func List[T any](a *App, cmd *cobra.Command, p *Page, rows []T, none string, people func(b *strings.Builder, rows []T)) error {
	more := len(rows) > p.Limit
	rows = rows[:min(len(rows), p.Limit)]
	if rows == nil {
		rows = []T{}
	}
	if len(rows) == 0 && p.Offset == 0 {
		none = cmp.Or(a.EmptyProject(cmd), none)
	}
	err := a.Print(rows, func(b *strings.Builder) {
		if len(rows) > 0 {
			people(b, rows)
		} else {
			p.SayNone(b, none)
		}
	})
	if err != nil {
		return err
	}
	return a.Closing(p, len(rows), more)
}

// SayNone writes the text for a page without rows.
func (p *Page) SayNone(b *strings.Builder, none string) {
	if p.Offset > 0 {
		none = fmt.Sprintf("nothing is left after the first %d", p.Offset)
	}
	fmt.Fprintln(b, none)
}

// Closing prints that there are more rows.
func (a *App) Closing(p *Page, rows int, more bool) error {
	if !more {
		return nil
	}
	if a.answer != nil {
		a.answer.More = p.Offset + rows
		return nil
	}
	w := a.Out
	if a.Output == OutputJSON {
		w = a.ErrOut
	}
	_, err := fmt.Fprintf(w, "there are more: add --offset %d\n", p.Offset+rows)
	if err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

// GivenFlags returns the own flags of a command that were given, except for some.
func GivenFlags(f *pflag.FlagSet, except ...string) (given []string) {
	f.VisitAll(func(flag *pflag.Flag) {
		for _, name := range except {
			if flag.Name == name {
				return
			}
		}
		if flag.Changed && flag.Annotations[isSetting] == nil {
			given = append(given, "--"+flag.Name+"="+flag.Value.String())
		}
	})
	return given
}
