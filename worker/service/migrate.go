package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/activities/clickhouse"
	"axiommind/activities/clickhouse/cluster"
)

// Migration brings ClickHouse's database up to date, and makes the roles of its users.
type Migration struct {
	// Grants makes the roles: see [clickhouse.Grant].
	Grants bool
	// PrintGrants prints the statements that make the roles, and changes nothing.
	PrintGrants bool
}

// Flags adds the flags of the migration.
func (m *Migration) Flags(f *pflag.FlagSet) {
	f.BoolVar(&m.Grants, "grants", false, fmt.Sprintf("make the roles %s, %s and %s, with the rights that each needs",
		clickhouse.RoleWorker, clickhouse.RoleReader, clickhouse.RoleEraser))
	f.BoolVar(&m.PrintGrants, "print-grants", false, "print the statements that make these roles, and change nothing")
}

// Run migrates the database and prints the changes.
func (m *Migration) Run(ctx context.Context, cfg Config, logger *slog.Logger, out io.Writer) error {
	if m.PrintGrants {
		if m.Grants {
			return errors.New("--grants and --print-grants: give one of them")
		}
		return printGrants(cfg, out)
	}
	conn, err := ConnectClickHouse(ctx, cfg, logger)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	applied, err := clickhouse.Migrate(ctx, conn)
	if err != nil {
		return err
	}
	kept, err := clickhouse.KeepUsage(ctx, conn)
	if err != nil {
		return err
	}
	for _, a := range applied {
		_, _ = fmt.Fprintf(out, "migrated %d %s\n", a.Version, a.Name)
	}
	if kept.Now != kept.Before {
		_, _ = fmt.Fprintf(out, "usage is kept %s now, not %s\n", usageTime(kept.Now), usageTime(kept.Before))
	}
	if len(applied) == 0 {
		_, _ = fmt.Fprintln(out, "the database is up to date")
	}
	if !m.Grants {
		return nil
	}
	roles, err := clickhouse.Grant(ctx, conn)
	if err != nil {
		return err
	}
	for _, role := range roles {
		_, _ = fmt.Fprintf(out, "role %s has its rights; give it to a user: GRANT %s TO the_user\n", role.Name, role.Name)
	}
	return nil
}

func usageTime(days int) string {
	if days == 0 {
		return "for good"
	}
	return fmt.Sprintf("for %d days", days)
}

func printGrants(cfg Config, out io.Writer) error {
	database, err := clickhouse.DatabaseOf(cfg.ClickHouseDSN)
	if err != nil {
		return err
	}
	on := cluster.Target{Name: cfg.Cluster, Database: database}
	roles, err := clickhouse.RolesOn(on)
	if err != nil {
		return err
	}
	for _, role := range roles {
		for _, statement := range role.Statements() {
			onCluster, err := on.Rewrite(statement)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(out, strings.Join(onCluster, ";\n")+";\n"); err != nil {
				return err
			}
		}
	}
	return nil
}
