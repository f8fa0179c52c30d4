// Package cluster rewrites the statements of a single ClickHouse server for a cluster.
//
// A table becomes two: the local table, with the suffix [LocalSuffix] and a replicated engine, has the rows of a shard.
// The table with the usual name is Distributed over the local ones. Programs read and insert through it and do not know
// of the cluster. Its sharding key is the column stream if that is in the sorting key, and else the first element of the
// sorting key. So rows with the same sorting key are on one shard, which ReplacingMergeTree needs, and so is a stream of
// events, whose writers compete for positions by the tokens of that shard.
package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// LocalSuffix ends the name of a local table.
const LocalSuffix = "_local"

// ErrNoRule is returned for a statement that can't be rewritten.
var ErrNoRule = errors.New("no rule for this statement in a cluster")

// Target is a cluster and the database of the connection. With an empty Name there is no cluster.
type Target struct {
	// Name is the name of the cluster in the server's configuration, or a macro such as {cluster}.
	Name string
	// Database is the database of names that have none.
	Database string
}

// verbs are the first words of the statements that are rewritten.
var verbs = map[string]func(*statement) ([]string, error){
	"CREATE": (*statement).create, "ALTER": (*statement).alter, "DROP": (*statement).drop, "RENAME": (*statement).rename, "EXCHANGE": (*statement).exchange,
	"GRANT": (*statement).grant, "REVOKE": (*statement).grant, "SYSTEM": (*statement).system,
}

// plainVerbs are the first words of the statements that Distributed tables take as they are.
var plainVerbs = []string{"SELECT", "WITH", "INSERT", "SHOW", "DESCRIBE", "DESC", "EXISTS", "EXPLAIN", "SET", "USE", "KILL", "CHECK"}

// Rewrite returns the statements that do on the cluster what the statement does on a server, in their order. If the
// statement can be run again, so can they. A statement that only reads or inserts rows is returned as it is, as is any
// without a cluster.
func (c Target) Rewrite(sql string) ([]string, error) {
	if c.Name == "" {
		return []string{sql}, nil
	}
	s := &statement{Target: c, sql: sql, tokens: tokens(sql)}
	if len(s.tokens) == 0 || s.sql[s.tokens[0].start] == '(' || slices.Contains(plainVerbs, s.upper(0)) {
		return []string{sql}, nil
	}
	rewrite, ok := verbs[s.upper(0)]
	if !ok {
		return nil, s.noRule("it begins with " + s.upper(0))
	}
	return rewrite(s)
}

// Local returns the name of the table that has the rows of a table on a server.
func (c Target) Local(table string) string {
	if c.Name == "" {
		return table
	}
	return table + LocalSuffix
}

// System returns the expression for a table of the database system: of this server, or of all servers of the cluster.
func (c Target) System(table string) string {
	if c.Name == "" {
		return "system." + table
	}
	return "clusterAllReplicas(" + literal(c.Name) + ", system." + table + ")"
}

// CurrentDatabase returns the expression for the database of the connection, also in a query of all servers.
func (c Target) CurrentDatabase() string {
	if c.Name == "" {
		return "currentDatabase()"
	}
	return literal(c.Database)
}

// onCluster is the clause that has all servers run a statement.
func (c Target) onCluster() string { return " ON CLUSTER " + identifier(c.Name) }

// distributed is the statement that makes the Distributed table over a local one. Without a sharding key the table can
// be read only, unless the cluster has one shard.
func (c Target) distributed(create string, of name, key string) string {
	if key != "" {
		key = ", " + key
	}
	database := of.database
	if database == "" {
		database = identifier(c.Database)
	}
	return create + of.String() + c.onCluster() + " AS " + of.local().String() + " ENGINE = Distributed(" + literal(c.Name) + ", " +
		asLiteral(database) + ", " + asLiteral(of.local().table) + key + ")"
}

// name is the name of a table as a statement writes it.
type name struct{ database, table string }

func (n name) String() string {
	if n.database == "" {
		return n.table
	}
	return n.database + "." + n.table
}

// local returns the name of the local table.
func (n name) local() name {
	if last := len(n.table) - 1; last > 0 && (n.table[last] == '`' || n.table[last] == '"') {
		return name{n.database, n.table[:last] + LocalSuffix + n.table[last:]}
	}
	return name{n.database, n.table + LocalSuffix}
}

func identifier(s string) string { return "`" + escaped(s, "`") + "`" }
func literal(s string) string    { return "'" + escaped(s, "'") + "'" }

func escaped(s, quote string) string {
	return strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(s)
}

// asLiteral returns a name of a statement as a string.
func asLiteral(n string) string {
	if n != "" && (n[0] == '`' || n[0] == '"') {
		quote := n[:1]
		n = strings.TrimSuffix(n[1:], quote)
		n = strings.NewReplacer(`\`+quote, quote, quote+quote, quote, `\\`, `\`).Replace(n)
	}
	return literal(n)
}

// statement is a statement that is being rewritten.
type statement struct {
	Target
	sql    string
	tokens []token
	// at is the index of the next token.
	at int
}

func (s *statement) noRule(reason string) error {
	return fmt.Errorf("%w: %s: %.60q", ErrNoRule, reason, s.sql)
}

// upper returns a word in capitals, or "" for any other token.
func (s *statement) upper(i int) string {
	if i >= len(s.tokens) || s.tokens[i].kind != word {
		return ""
	}
	return strings.ToUpper(s.text(i))
}

func (s *statement) text(i int) string {
	if i >= len(s.tokens) {
		return ""
	}
	return s.sql[s.tokens[i].start:s.tokens[i].end]
}

// take reads the words if they are next, and reports whether they were.
func (s *statement) take(words ...string) bool {
	for i, w := range words {
		if s.upper(s.at+i) != w {
			return false
		}
	}
	s.at += len(words)
	return true
}

// name reads the name of a table.
func (s *statement) name() (name, error) {
	part := func() (string, bool) {
		if s.at >= len(s.tokens) || s.tokens[s.at].kind != word && s.tokens[s.at].kind != quotedName {
			return "", false
		}
		s.at++
		return s.text(s.at - 1), true
	}
	table, ok := part()
	if !ok {
		return name{}, s.noRule("a name is missing")
	}
	if s.text(s.at) != "." {
		return name{table: table}, nil
	}
	s.at++
	database := table
	if table, ok = part(); !ok {
		return name{}, s.noRule("a name is missing")
	}
	return name{database, table}, nil
}

// before returns the text before the next token, and after the text from it on with a blank before it, both without blanks
// around them.
func (s *statement) before() string { return strings.TrimRight(s.sql[:s.place(s.at)], " \t\r\n") + " " }

func (s *statement) after() string {
	if rest := strings.TrimSpace(s.sql[s.place(s.at):]); rest != "" {
		return " " + rest
	}
	return ""
}

func (s *statement) place(i int) int {
	if i >= len(s.tokens) {
		return len(s.sql)
	}
	return s.tokens[i].start
}

// find returns the index of the next token outside brackets that is the word, or -1.
func (s *statement) find(from int, w string) int {
	for i := from; i < len(s.tokens); i++ {
		if s.tokens[i].depth == 0 && s.upper(i) == w {
			return i
		}
	}
	return -1
}
