package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/task"
	"axiommind/schema"
)

// missingError is a writer's answer that an id names nothing in the project.
type missingError struct{ error }

func (m missingError) Unwrap() error { return m.error }

// hintTimeout is the timeout of the queries for a hint.
const hintTimeout = 2 * time.Second

// unnamedProject returns the default project of the running command, or "" if it has none or another one was named.
func (a *App) unnamedProject() string {
	if a.called == nil {
		return ""
	}
	f := a.called.Flags().Lookup("project")
	if f == nil || f.Changed {
		return ""
	}
	return f.DefValue
}

// EmptyProject returns the text for an empty result if no project was named, the default one is empty, and others are not.
// Otherwise it returns "". It reads nothing of the others but their names (I10).
func (a *App) EmptyProject() string {
	project := a.unnamedProject()
	if project == "" || a.Output == OutputJSON {
		return ""
	}
	ctx, cancel := context.WithTimeout(a.called.Context(), hintTimeout)
	defer cancel()
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	known, err := build.Scopes(ctx, conn, MaxScopes)
	if err != nil || len(known) == MaxScopes {
		return ""
	}
	return emptyText(project, known)
}

func emptyText(project string, known []schema.Scope) string {
	names := make([]string, len(known))
	for i, s := range known {
		names[i] = s.Project
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 0 || slices.Contains(names, project) {
		return ""
	}
	return fmt.Sprintf("nothing found: project %s is empty%s (--project, or AXIOMMIND_PROJECT)", project, ThereAre(names))
}

// ThereAre lists the first names for an error.
func ThereAre(names []string) string {
	if len(names) == 0 {
		return ""
	}
	text := "; there are: " + strings.Join(names[:min(maxNamed, len(names))], ", ")
	if more := len(names) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// locate adds the project to an error about the id of an entry or task that another project has, if no project was named.
// It reads nothing else of that project (I10).
func (a *App) locate(ctx context.Context, args []string, err error) error {
	var missing missingError
	if a.unnamedProject() == "" || !errors.As(err, &missing) && !errors.Is(err, entry.ErrNotFound) && !errors.Is(err, task.ErrNotFound) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	conn, connErr := a.ClickHouse(ctx)
	if connErr != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	for i, id := range args {
		if !IsID(Argument(a.called, i)) {
			continue
		}
		if names := projectsWith(ctx, conn, id); len(names) > 0 {
			return fmt.Errorf("%w; it is in project %s", err, strings.Join(names, " and "))
		}
	}
	return err
}

func projectsWith(ctx context.Context, conn driver.Conn, id string) []string {
	names, err := entry.NewReader(conn).ProjectsWith(ctx, id)
	if err != nil || len(names) > 0 {
		return names
	}
	names, _ = task.NewTables(conn).ProjectsWith(ctx, id)
	return names
}

// MaxScopes bounds the known projects, users and agents that are compared with the given ones, and maxNamed the names in an
// error.
const (
	MaxScopes = 10_000
	maxNamed  = 20
)
