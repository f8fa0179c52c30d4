package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/schema"
)

// MigrationState compares a database with the program's migrations.
type MigrationState struct {
	Applied []AppliedMigration
	// Pending are the migrations that Migrate would apply.
	Pending []schema.Migration
}

// AppliedMigration is a row of schema_migrations.
type AppliedMigration struct {
	Version   int
	Name      string
	Checksum  string
	AppliedAt time.Time
}

// The checksum is part of the key, so that two programs with different migrations leave two rows.
const createMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations
(
    version    UInt32,
    name       String,
    checksum   String,
    applied_at DateTime64(6, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (version, checksum)`

// Migrate applies the program's migrations that the database lacks and returns them. It can be called again after any
// error, and by several workers at once. If the database was made by other or newer migrations, Migrate returns
// [ErrSchema] and changes nothing.
func Migrate(ctx context.Context, conn driver.Conn) ([]schema.Migration, error) {
	return migrateTo(ctx, conn, schema.Migrations)
}

// MigrationStatus compares the database with the program's migrations and changes nothing. The error is [ErrSchema]
// if Migrate would refuse; the state is returned with it.
func MigrationStatus(ctx context.Context, conn driver.Conn) (MigrationState, error) {
	program, err := schema.Migrations()
	if err != nil {
		return MigrationState{}, err
	}
	return migrationStatus(ctx, conn, program)
}

func migrateTo(ctx context.Context, conn driver.Conn, list func() ([]schema.Migration, error)) ([]schema.Migration, error) {
	program, err := list()
	if err != nil {
		return nil, err
	}
	state, err := migrationStatus(ctx, conn, program)
	if err != nil {
		return nil, err
	}
	if len(state.Pending) == 0 {
		return nil, nil
	}
	if err := execute(ctx, conn, createMigrations); err != nil {
		return nil, fmt.Errorf("create schema_migrations: %w%s", err, migrateHint(err))
	}
	for i, m := range state.Pending {
		for n, statement := range m.Statements {
			if err := execute(ctx, conn, statement); err != nil {
				return state.Pending[:i], fmt.Errorf("apply migration %d %q: statement %d: %w%s", m.Version, m.Name, n+1, err, migrateHint(err))
			}
		}
		if err := record(ctx, conn, m); err != nil {
			return state.Pending[:i], fmt.Errorf("record migration %d %q: %w", m.Version, m.Name, err)
		}
	}
	if slices.ContainsFunc(state.Pending, func(m schema.Migration) bool { return slices.Contains(m.Creates(), "usage_raw") }) {
		return state.Pending, beginUsage(ctx, conn)
	}
	return state.Pending, nil
}

// migrateHint returns the remedy for an error of a migration.
func migrateHint(err error) string {
	if HasCode(err, codeAccessDenied) {
		return ": this user may not make tables: run worker migrate as one who may"
	}
	return ""
}

func migrationStatus(ctx context.Context, conn driver.Conn, program []schema.Migration) (MigrationState, error) {
	applied, err := appliedMigrations(ctx, conn)
	if err != nil {
		return MigrationState{}, fmt.Errorf("read schema_migrations: %w", err)
	}
	if err := sameCluster(ctx, conn); err != nil {
		return MigrationState{}, err
	}
	state := MigrationState{Applied: applied}
	known := make(map[int]schema.Migration, len(program))
	for _, m := range program {
		known[m.Version] = m
	}
	done := make(map[int]bool, len(applied))
	newest := 0
	for _, a := range applied {
		m, ok := known[a.Version]
		switch {
		case !ok:
			return state, fmt.Errorf("migration %d %q was applied on %s and this program does not have it: run a newer version: %w",
				a.Version, a.Name, a.AppliedAt.Format(time.DateOnly), ErrSchema)
		case m.Checksum != a.Checksum:
			return state, fmt.Errorf("migration %d %q was changed after it was applied (checksum %.12s, now %.12s): add a new one instead: %w",
				a.Version, a.Name, a.Checksum, m.Checksum, ErrSchema)
		}
		done[a.Version] = true
		newest = max(newest, a.Version)
	}
	for _, m := range program {
		if done[m.Version] {
			continue
		}
		if m.Version < newest {
			return state, fmt.Errorf("migration %d %q is missing though %d is applied: they apply in order only: %w",
				m.Version, m.Name, newest, ErrSchema)
		}
		state.Pending = append(state.Pending, m)
	}
	return state, nil
}

func appliedMigrations(ctx context.Context, conn driver.Conn) ([]AppliedMigration, error) {
	var out []AppliedMigration
	err := Select(ctx, conn, Rows(&out, func(rows driver.Rows, a *AppliedMigration) error {
		var version uint32
		err := rows.Scan(&version, &a.Name, &a.Checksum, &a.AppliedAt)
		a.Version = int(version)
		return err
	}), `SELECT version, any(name), checksum, min(applied_at) FROM schema_migrations
		GROUP BY version, checksum ORDER BY version, checksum`)
	if HasCode(err, CodeUnknownTable) {
		return nil, nil
	}
	return out, err
}

func record(ctx context.Context, conn driver.Conn, m schema.Migration) error {
	const into = `INSERT INTO schema_migrations (version, name, checksum, applied_at)`
	return InsertBlock(SyncInsert(ctx), conn, into, 1, func(b driver.Batch, _ int) error {
		return b.Append(uint32(m.Version), m.Name, m.Checksum, time.Now().UTC())
	})
}

// Codes of the server's exceptions.
const (
	CodeTableExists     = 57
	CodeUnknownTable    = 60
	CodeUnknownDatabase = 81
)

// executeTries is how often a statement is tried if other workers run the same one.
const executeTries = 5

// execute runs an idempotent statement. CREATE OR REPLACE swaps names and can fail if another worker swaps the same
// names.
func execute(ctx context.Context, conn driver.Conn, statement string) error {
	var err error
	for range executeTries {
		err = conn.Exec(ctx, statement)
		racing := HasCode(err, CodeTableExists) || HasCode(err, CodeUnknownTable)
		if !racing || !strings.HasPrefix(statement, "CREATE") {
			return err
		}
	}
	return err
}

// HasCode reports whether the error is an exception of the server with one of the codes.
func HasCode(err error, codes ...int32) bool {
	var exception *clickhouse.Exception
	return errors.As(err, &exception) && slices.Contains(codes, exception.Code)
}
