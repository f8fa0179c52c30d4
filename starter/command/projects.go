package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/build"
	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/activities/task"
	"axiommind/schema"
)

// hintTimeout is the timeout of the queries for a hint.
const hintTimeout = 2 * time.Second

// unnamedProject returns the default project of the command, or "" if it has none or a project was named.
func unnamedProject(cmd *cobra.Command) string {
	f := cmd.Flags().Lookup("project")
	if f == nil || f.Changed {
		return ""
	}
	return f.DefValue
}

// EmptyProject returns the text for an empty result of the command if no project was named, the default one is empty, and others are not.
// Otherwise it returns "". It reads nothing of the others but their names (I10).
func (a *App) EmptyProject(cmd *cobra.Command) string {
	project := unnamedProject(cmd)
	if project == "" || a.Output == OutputJSON {
		return ""
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), hintTimeout)
	defer cancel()
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return ""
	}
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

// locate adds the project to an error of the command about an id that another project has, if no project was named. It reads
// nothing else of that project (I10).
func (a *App) locate(ctx context.Context, cmd *cobra.Command, args []string, err error) error {
	if a.answer != nil || unnamedProject(cmd) == "" || !IsMissing(err) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hintTimeout)
	defer cancel()
	conn, connErr := a.ClickHouse(ctx)
	if connErr != nil {
		return err
	}
	for i, id := range args {
		if !IsID(Argument(cmd, i)) {
			continue
		}
		if names := projectsWith(ctx, conn, id); len(names) > 0 {
			return fmt.Errorf("%w; it is in project %s", err, strings.Join(names, " and "))
		}
	}
	return err
}

func projectsWith(ctx context.Context, conn driver.Conn, id string) []string {
	for _, with := range []func(ctx context.Context, prefix string) ([]string, error){
		entry.NewReader(conn).ProjectsWith, task.NewTables(conn).ProjectsWith, graduate.NewLedgers(conn).ProjectsWith,
	} {
		if names, err := with(ctx, id); err != nil || len(names) > 0 {
			return names
		}
	}
	return nil
}

// MaxScopes bounds the known projects, users and agents that are compared with the given ones, and maxNamed the names in an
// error.
const (
	MaxScopes = 10_000
	maxNamed  = 20
)
