package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse/cluster"
	"axiommind/schema"
)

// Roles that [Grant] makes. They are of the server, not of a database: that of a server with several databases has its
// rights on all for which it was granted them.
const (
	RoleWorker = "axiommind_worker"
	RoleReader = "axiommind_reader"
	RoleEraser = "axiommind_eraser"
)

// Right is a right of a role and its object, as in GRANT What ON On, or an exception to the rights before it. All parts
// of On are quoted.
type Right struct {
	What, On string
	// Not takes the right away.
	Not bool
}

// Role is a role with all its rights.
type Role struct {
	Name   string
	Rights []Right
}

// Statements make the role and grant it its rights. They can be run again.
func (r Role) Statements() []string {
	out := []string{"CREATE ROLE IF NOT EXISTS " + r.Name}
	for _, right := range r.Rights {
		to := " TO "
		if right.Not {
			to = " FROM "
		}
		out = append(out, right.String()+to+r.Name)
	}
	return out
}

// String returns the right as a statement that does not say to whom, as in ClickHouse's users.xml.
func (r Right) String() string {
	if r.Not {
		return "REVOKE " + r.What + " ON " + r.On
	}
	return "GRANT " + r.What + " ON " + r.On
}

const (
	// rightsOfTables are the rights needed to exchange a table in use for its shadow table.
	rightsOfTables = "SELECT, INSERT, CREATE TABLE, DROP TABLE"
	// rightsOfCluster are the rights needed to run statements ON CLUSTER, to make Distributed tables, and to have replicas
	// catch up.
	rightsOfCluster = "CLUSTER, REMOTE, SYSTEM SYNC REPLICA"
	// rightsOfScratches are the rights needed to make tables and views in a scratch database, and to drop it.
	rightsOfScratches = "SELECT, INSERT, ALTER, TRUNCATE, OPTIMIZE, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW"
)

// Roles returns the roles for a database, each with the fewest rights that do:
//
//   - the worker runs sessions, rebuilds and replays. It can add events, and neither change nor remove any. It can't
//     migrate.
//   - the reader reads all tables but the secrets of erasures, since a view shows only what its reader may read below it.
//   - the eraser has the worker's rights and can also remove rows. It changes none, and drops nothing of the log.
func Roles(database string) ([]Role, error) {
	migrations, err := schema.Migrations()
	if err != nil {
		return nil, err
	}
	in := func(table string) string { return Identifier(database) + "." + Identifier(table) }
	all := Identifier(database) + ".*"
	var worker, eraser []Right
	for _, purpose := range []string{PurposeRebuild, PurposeReplay} {
		worker = append(worker, Right{What: rightsOfScratches, On: Identifier(ScratchPrefix(database, purpose)) + "*.*"})
	}
	// Keys and fingerprints of an erasure reveal the erased content: only the eraser reads them. Others see that the
	// table is there.
	reader := []Right{{What: "SELECT", On: all}, {What: "SELECT", On: in(secretsTable), Not: true}, {What: "SHOW TABLES", On: in(secretsTable)}}
	worker = append(worker, reader...)
	eraser = append(eraser, Right{What: "SELECT, INSERT", On: in(secretsTable)})
	for _, m := range migrations {
		for _, table := range m.Tables() {
			eraser = append(eraser, Right{What: "ALTER DELETE, OPTIMIZE", On: in(table)})
			switch {
			case slices.Contains(logTables, table):
				worker = append(worker, Right{What: "SELECT, INSERT", On: in(table)})
			case table != secretsTable:
				worker = append(worker, Right{What: rightsOfTables, On: in(table)})
			}
		}
	}
	return []Role{
		{RoleWorker, worker},
		{RoleReader, reader},
		{RoleEraser, append(slices.Clone(worker), eraser...)},
	}, nil
}

// RolesOn returns the roles for a database that may be on a cluster.
func RolesOn(on cluster.Target) ([]Role, error) {
	roles, err := Roles(on.Database)
	if err != nil || on.Name == "" {
		return roles, err
	}
	for i, role := range roles {
		if role.Name != RoleReader {
			roles[i].Rights = append(slices.Clone(role.Rights), Right{What: rightsOfCluster, On: "*.*"})
		}
	}
	return roles, nil
}

// secretsTable contains the keys and the fingerprints of erasures.
const secretsTable = "erasure_secrets"

// logTables are the tables that are no projections, and that nothing takes the place of.
var logTables = []string{"events_raw", "projection_offsets_raw", "erasing_raw"}

// Grant makes the roles for the connection's database, or adds the missing rights to existing roles. The only right it
// revokes is the one to read the secrets of erasures. Its user needs CREATE ROLE, and the rights themselves with grant
// option.
func Grant(ctx context.Context, conn driver.Conn) ([]Role, error) {
	database, _, err := databaseAndTime(ctx, conn)
	if err != nil {
		return nil, err
	}
	roles, err := RolesOn(cluster.Target{Name: ClusterOf(conn).Name, Database: database})
	if err != nil {
		return nil, err
	}
	for _, role := range roles {
		for _, statement := range role.Statements() {
			if err := conn.Exec(ctx, statement); err != nil {
				return nil, fmt.Errorf("grant rights to role %s: %w%s", role.Name, Readable(err), grantHint(err))
			}
		}
	}
	return roles, nil
}

const (
	codeAccessDenied    = 497
	codeNoAccessStorage = 514
)

// grantHint returns the remedy for an error of a GRANT.
func grantHint(err error) string {
	switch {
	case HasCode(err, codeAccessDenied):
		return ": connect as a user that may make roles and has these rights with grant option, such as one with access_management"
	case HasCode(err, codeNoAccessStorage):
		return ": this server keeps users and roles only in files: worker migrate --print-grants prints the lines to add there"
	}
	return ""
}

// DatabaseOf returns the database that an address names.
func DatabaseOf(dsn string) (string, error) {
	o, err := parseDSN(dsn)
	if err != nil {
		return "", fmt.Errorf("parse clickhouse address: %w", err)
	}
	return databaseOf(o), nil
}

func databaseOf(o *clickhouse.Options) string {
	return cmp.Or(strings.TrimPrefix(o.Auth.Database, "/"), "default")
}
