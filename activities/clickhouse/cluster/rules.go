package cluster

import (
	"regexp"
	"slices"
	"strings"
)

// create rewrites CREATE.
func (s *statement) create() ([]string, error) {
	s.at++
	s.take("OR", "REPLACE")
	switch {
	case s.take("TABLE"):
		return s.createTable()
	case s.take("VIEW"), s.take("DATABASE"), s.take("ROLE"):
		s.take("IF", "NOT", "EXISTS")
		return s.everywhere()
	}
	return nil, s.noRule("it makes no table, view, database or role")
}

// everywhere has all servers run the statement, whose next token is the name that it is about.
func (s *statement) everywhere() ([]string, error) {
	if _, err := s.name(); err != nil {
		return nil, err
	}
	named := s.tokens[s.at-1].end
	return []string{strings.TrimSpace(s.sql[:named] + s.onCluster() + s.sql[named:])}, nil
}

// createTable makes a replicated local table, and the Distributed one over it.
func (s *statement) createTable() ([]string, error) {
	s.take("IF", "NOT", "EXISTS")
	create := s.before()
	n, err := s.name()
	if err != nil {
		return nil, err
	}
	head := create + n.local().String() + s.onCluster()
	if s.take("AS") {
		// It has the columns, the engine and the sorting key of another one. Its path in the coordinator has its own UUID.
		from, err := s.name()
		if err != nil {
			return nil, err
		}
		if s.at < len(s.tokens) {
			return nil, s.noRule("a table that is made AS another one is like that in all")
		}
		return []string{head + " AS " + from.local().String(), s.distributed(create, n, "")}, nil
	}
	if s.find(s.at, "AS") >= 0 {
		return nil, s.noRule("each replica would select the rows for itself: make the table first, and then insert them")
	}
	body, err := s.replicated()
	if err != nil {
		return nil, err
	}
	key, err := s.shardingKey()
	if err != nil {
		return nil, err
	}
	return []string{head + body, s.distributed(create, n, key)}, nil
}

// unsharded are the engines of tables that have no rows.
const unsharded = "Null"

// engine returns the index of the engine's name.
func (s *statement) engine() (int, error) {
	at := s.find(s.at, "ENGINE")
	if at < 0 {
		return 0, s.noRule("the table has no engine")
	}
	if at++; s.text(at) == "=" {
		at++
	}
	return at, nil
}

// replicated returns the statement from the columns on, with a replicated engine.
func (s *statement) replicated() (string, error) {
	at, err := s.engine()
	if err != nil {
		return "", err
	}
	engine := s.text(at)
	if engine == unsharded {
		return s.after(), nil
	}
	if !strings.HasSuffix(engine, "MergeTree") || strings.HasPrefix(engine, "Replicated") {
		return "", s.noRule("its engine is " + engine)
	}
	// The UUID keeps the path when the table is renamed or exchanged.
	arguments, rest := "('/clickhouse/tables/{uuid}/{shard}', '{replica}')", s.tokens[at].end
	if s.text(at+1) == "(" {
		rest = s.tokens[at+1].end
		arguments = strings.TrimSuffix(arguments, ")")
		if s.text(at+2) != ")" {
			arguments += ", "
		}
	}
	tail := s.withWindow(rest, at)
	return " " + strings.TrimSpace(s.sql[s.place(s.at):s.tokens[at].start]) + " Replicated" + engine + arguments + strings.TrimRight(tail, " \t\r\n"), nil
}

// Settings of replicated tables. A table that deduplicates inserts keeps as many tokens as on a single server, and for a
// week, instead of an hour: an insert may be sent again after a long outage. Other tables keep none: replicated ones
// would, and drop rows that are inserted again after they were deleted.
const (
	windowOfServer = "non_replicated_deduplication_window"
	windowOfShard  = "replicated_deduplication_window"
	windowSeconds  = "replicated_deduplication_window_seconds = 604800"
)

// withWindow returns the text from a place on, which is in or behind the token before the next, with the settings of
// deduplication.
func (s *statement) withWindow(from, next int) string {
	settings := s.find(next, "SETTINGS")
	if settings < 0 {
		end := len(s.sql)
		if comment := s.find(next, "COMMENT"); comment >= 0 {
			end = s.tokens[comment].start
		}
		return strings.TrimRight(s.sql[from:end], " \t\r\n") + " SETTINGS " + windowOfShard + " = 0 " + s.sql[end:]
	}
	for i := settings; i < len(s.tokens); i++ {
		if s.upper(i) == strings.ToUpper(windowOfServer) {
			return s.sql[from:s.tokens[i].start] + windowSeconds + ", " + windowOfShard + s.sql[s.tokens[i].end:]
		}
	}
	end := s.tokens[settings].end
	return s.sql[from:end] + " " + windowOfShard + " = 0," + s.sql[end:]
}

// streamColumn is the column that shards a table which has it in the sorting key.
const streamColumn = "stream"

// direction ends an element of a sorting key.
var direction = regexp.MustCompile(`(?i)\s+(?:asc|desc)$`)

// shardingKey returns the sharding key of a table, or "" if it has no rows.
func (s *statement) shardingKey() (string, error) {
	at, err := s.engine()
	if err != nil {
		return "", err
	}
	if s.text(at) == unsharded {
		return "", nil
	}
	elements := s.sortingKey(at)
	if len(elements) == 0 {
		return "", s.noRule("the table has no sorting key to shard it by")
	}
	for i, e := range elements {
		elements[i] = direction.ReplaceAllString(e, "")
	}
	key := elements[0]
	if slices.ContainsFunc(elements, func(e string) bool { return strings.Trim(e, "`\"") == streamColumn }) {
		key = streamColumn
	}
	return "cityHash64(" + key + ")", nil
}

// clauses end a sorting key without brackets.
var clauses = []string{"SETTINGS", "COMMENT", "TTL", "PARTITION", "PRIMARY", "SAMPLE"}

// sortingKey returns the elements of the sorting key, which comes after the engine. That of a projection does not count.
func (s *statement) sortingKey(engine int) []string {
	at := s.find(engine, "ORDER") + 2
	if at < engine || s.upper(at-1) != "BY" || s.upper(at) == "TUPLE" {
		return nil
	}
	bracket := s.text(at) == "("
	if bracket {
		at++
	}
	var out []string
	begin := at
	element := func(end int) {
		if end > begin {
			out = append(out, s.sql[s.tokens[begin].start:s.tokens[end-1].end])
		}
		begin = end + 1
	}
	for ; at < len(s.tokens); at++ {
		switch depth := s.tokens[at].depth; {
		case depth == 0 && (bracket || slices.Contains(clauses, s.upper(at))):
			element(at)
			return out
		case bracket && depth == 1 && s.text(at) == ",":
			element(at)
		}
	}
	element(at)
	return out
}

// columnCommands are the first words of commands of ALTER TABLE that change the columns of both tables.
var columnCommands = []string{"ADD", "DROP", "MODIFY", "RENAME", "COMMENT"}

// alter rewrites ALTER TABLE and ALTER DATABASE. Changes of columns are for both tables, all others for the local one.
func (s *statement) alter() ([]string, error) {
	s.at++
	if s.take("DATABASE") {
		return s.everywhere()
	}
	if !s.take("TABLE") {
		return nil, s.noRule("it alters no table or database")
	}
	head := s.before()
	n, err := s.name()
	if err != nil {
		return nil, err
	}
	ofColumns := 0
	commands := 1
	for i := s.at; i < len(s.tokens); i++ {
		if i > s.at && (s.text(i-1) != "," || s.tokens[i].depth > 0) {
			continue
		}
		if i > s.at {
			commands++
		}
		if slices.Contains(columnCommands, s.upper(i)) && s.upper(i+1) == "COLUMN" {
			ofColumns++
		}
	}
	sources, err := s.withLocalSources()
	if err != nil {
		return nil, err
	}
	local := head + n.local().String() + s.onCluster() + sources
	switch ofColumns {
	case 0:
		return []string{local}, nil
	case commands:
		return []string{local, head + n.String() + s.onCluster() + s.after()}, nil
	}
	return nil, s.noRule("it changes columns and other things: give each a statement of its own")
}

// withLocalSources returns the rest of the statement, which reads the rows of the same shard alone. The rows of a stream are on
// one shard in the tables that an erasure names.
func (s *statement) withLocalSources() (string, error) {
	defer func(at int) { s.at = at }(s.at)
	var out strings.Builder
	done := s.place(s.at)
	for i := s.at; i < len(s.tokens); i++ {
		s.at = i + 1
		if s.upper(i) != "FROM" && s.upper(i) != "JOIN" && (s.upper(i) != "TABLE" || s.upper(i-1) != "TO") {
			continue
		}
		n, err := s.name()
		if err != nil {
			continue // A subquery.
		}
		if s.text(s.at) == "(" || i > 1 && s.text(i-2) == "(" && s.upper(i-3) == "EXTRACT" {
			return "", s.noRule("a function is in the place of a table")
		}
		out.WriteString(s.sql[done:s.tokens[i+1].start] + n.local().String())
		i = s.at - 1
		done = s.tokens[i].end
	}
	return " " + strings.TrimSpace(out.String()+s.sql[done:]), nil
}

// drop rewrites DROP. The Distributed table goes first, and so no reader finds it without rows.
func (s *statement) drop() ([]string, error) {
	s.at++
	switch {
	case s.take("VIEW"), s.take("DATABASE"), s.take("ROLE"):
		s.take("IF", "EXISTS")
		return s.everywhere()
	case s.take("TABLE"):
		s.take("IF", "EXISTS")
	default:
		return nil, s.noRule("it drops no table, view, database or role")
	}
	head := s.before()
	n, err := s.name()
	if err != nil {
		return nil, err
	}
	if s.text(s.at) == "," {
		return nil, s.noRule("it drops several tables: give each a statement of its own")
	}
	tail := s.onCluster() + s.after()
	return []string{head + n.String() + tail, head + n.local().String() + tail}, nil
}

// rename renames the local tables. Before that, each new name gets a Distributed table, to read from: one of that name
// may be there, and one that the rename does not follow finds no rows. Of several programs that rename a table one
// succeeds: all servers run the statements of a cluster in one order.
func (s *statement) rename() ([]string, error) {
	if s.at++; !s.take("TABLE") {
		return nil, s.noRule("it renames no table")
	}
	var out, pairs []string
	for {
		from, err := s.name()
		if err != nil {
			return nil, err
		}
		if !s.take("TO") {
			return nil, s.noRule("the new name is missing")
		}
		to, err := s.name()
		if err != nil {
			return nil, err
		}
		view := s.distributed("CREATE TABLE IF NOT EXISTS ", to, "")
		out = append(out, strings.Replace(view, " AS "+to.local().String()+" ", " AS "+from.local().String()+" ", 1))
		pairs = append(pairs, from.local().String()+" TO "+to.local().String())
		if s.text(s.at) != "," {
			break
		}
		s.at++
	}
	return append(out, "RENAME TABLE "+strings.Join(pairs, ", ")+s.onCluster()+s.after()), nil
}

// exchange exchanges the local tables. The Distributed ones name them, and so show the other's rows from then on.
func (s *statement) exchange() ([]string, error) {
	if s.at++; !s.take("TABLES") {
		return nil, s.noRule("it exchanges no tables")
	}
	a, err := s.name()
	if err != nil {
		return nil, err
	}
	if !s.take("AND") {
		return nil, s.noRule("the second name is missing")
	}
	b, err := s.name()
	if err != nil {
		return nil, err
	}
	return []string{"EXCHANGE TABLES " + a.local().String() + " AND " + b.local().String() + s.onCluster() + s.after()}, nil
}

// grant rewrites GRANT and REVOKE. A right on a table is one on its local table, too.
func (s *statement) grant() ([]string, error) {
	verb := s.text(0)
	on := s.find(1, "ON")
	if on < 0 { // It is about a role.
		return []string{verb + s.onCluster() + s.sql[s.tokens[0].end:]}, nil
	}
	s.at = on + 1
	head := verb + s.onCluster() + strings.TrimRight(s.sql[s.tokens[0].end:s.place(s.at)], " \t\r\n") + " "
	whole := head + s.sql[s.place(s.at):]
	n, err := s.name()
	if err != nil || s.text(s.at) == "*" || s.text(s.at) == "." {
		return []string{whole}, nil //nolint:nilerr // the right is on all tables of some databases
	}
	return []string{whole, head + n.local().String() + s.after()}, nil
}

// system rewrites SYSTEM SYNC REPLICA, with which all replicas of a table catch up.
func (s *statement) system() ([]string, error) {
	if s.at++; !s.take("SYNC", "REPLICA") {
		return nil, s.noRule("it syncs no replica")
	}
	n, err := s.name()
	if err != nil {
		return nil, err
	}
	return []string{"SYSTEM SYNC REPLICA" + s.onCluster() + " " + n.local().String() + s.after()}, nil
}
