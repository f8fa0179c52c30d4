// Package clickhouse is the only door to ClickHouse: connections, errors, inserts, selects, migrations, roles, clusters, and
// scratch databases. It knows the program's tables and no event.
//
// # Grants
//
// [Roles] lists the rights of the programs' roles. That of a worker has neither ALTER, TRUNCATE nor DROP on events_raw. To
// migrate, a user also needs CREATE TABLE, CREATE VIEW and DROP VIEW. To rebuild, the role needs all rights on the
// databases whose names begin with [ScratchPrefix]. It also needs CREATE TABLE and DROP TABLE on the tables of projections,
// which are exchanged.
package clickhouse
