package chdb

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// maxIdle bounds the sessions that wait for a request. Tests use dozens of databases at a time, each with sessions of its
// own.
const maxIdle = 192

// pool keeps sessions in which a statement has left only known settings, so that the next request need not open one.
type pool struct {
	mu   sync.Mutex
	idle []*session
	// age is incremented by statements that may change the state that sessions depend on, such as their database. Sessions
	// of an earlier age are not reused.
	age    uint64
	closed bool
}

// reusedSettings are the settings with which a session may be reused. None changes another setting, limits later changes,
// or is given a value at the engine's start: DEFAULT resets each to its value in a new session.
var reusedSettings = map[string]bool{
	"async_insert": true, "wait_for_async_insert": true, "insert_deduplicate": true, "insert_deduplication_token": true,
	"max_execution_time": true, "max_query_size": true, "max_threads": true, "max_insert_threads": true,
	"max_block_size": true, "max_insert_block_size": true, "max_bytes_before_external_sort": true, "max_bytes_before_external_group_by": true,
	"optimize_aggregation_in_order": true, "optimize_read_in_order": true, "http_send_timeout": true, "send_timeout": true,
}

// tokenSetting is another one with each INSERT.
const tokenSetting = "insert_deduplication_token"

// plainVerbs begin statements that leave nothing in their session. A parenthesis begins a SELECT.
var plainVerbs = []string{"SELECT", "(", "WITH", "INSERT", "DESCRIBE", "DESC", "SHOW", "EXISTS", "EXPLAIN"}

// plain reports whether the statement changes nothing that sessions depend on. The engine must see the same first word
// and no second statement, however it reads blanks, comments and quotes. It may be false for a harmless statement, and is
// never true for another.
func (req *request) plain() bool {
	sql, verb := strings.TrimLeft(req.sql(), " \t\r\n"), req.statement.verb
	return slices.Contains(plainVerbs, verb) && len(sql) > len(verb) && strings.EqualFold(sql[:len(verb)], verb) &&
		(verb == "(" || !isWordByte(sql[len(verb)])) && !strings.Contains(sql, ";")
}

// tableStatements begin statements that change only tables, views, and databases that stay: no session depends on them.
var tableStatements = []string{
	"TRUNCATE TABLE", "OPTIMIZE TABLE", "ALTER TABLE", "CREATE TABLE", "CREATE VIEW", "CREATE OR", "DROP TABLE", "DROP VIEW", "DELETE FROM",
	"RENAME TABLE", "EXCHANGE TABLES", "CREATE DATABASE", "ALTER DATABASE",
}

// keepsSessions reports whether idle sessions may serve others after the statement. It may be false for a harmless
// statement, and is never true for one that changes a database or a user.
func (req *request) keepsSessions() bool {
	if req.plain() {
		return true
	}
	words := strings.Fields(req.sql())
	return len(words) > 2 && !strings.Contains(req.sql(), ";") &&
		slices.Contains(tableStatements, strings.ToUpper(words[0]+" "+words[1]))
}

// reusable reports whether the session of the request may serve another: only known settings are left in it.
func (req *request) reusable() bool {
	for name := range req.settings {
		if !reusedSettings[name] {
			return false
		}
	}
	return req.plain() && !strings.Contains(strings.ToLower(req.sql()), "settings")
}

// sayToken moves the token from the settings to the text of an INSERT with rows, so that sessions need not differ in
// it.
func (req *request) sayToken() {
	if token, ok := req.settings[tokenSetting]; ok && req.statement.takesRows {
		delete(req.settings, tokenSetting)
		// A comment may end the head.
		req.statement.head += "\nSETTINGS " + tokenSetting + " = " + quoteString(token)
	}
}

// take returns an idle session for a request: one with its settings, or else one with other values of the same settings,
// such as a time limit of a second less. It returns nil if a new one should be opened: as long as there is room, so that
// each kind of request gets one.
func (p *pool) take(settings map[string]string, database string) *session {
	database = firstOf(database, defaultDatabase)
	p.mu.Lock()
	defer p.mu.Unlock()
	same := func(a, b string) bool { return a == b }
	for _, equal := range []func(a, b string) bool{same, func(string, string) bool { return true }} {
		// The last one used is the likeliest to be in the processor's caches.
		for i, s := range slices.Backward(p.idle) {
			if s.database == database && maps.EqualFunc(s.settings, settings, equal) {
				return p.remove(i)
			}
		}
	}
	if len(p.idle) < maxIdle {
		return nil
	}
	for i, s := range p.idle {
		if s.database == database {
			return p.remove(i)
		}
	}
	return p.remove(0)
}

func (p *pool) remove(i int) *session {
	s := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	return s
}

// put keeps the session for another request, or closes it.
func (p *pool) put(s *session) {
	if !p.keep(s) {
		s.close()
	}
}

func (p *pool) keep(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || s.age != p.age || len(p.idle) >= maxIdle {
		return false
	}
	p.idle = append(p.idle, s)
	return true
}

// renew closes all idle sessions, and lets those in use end with their request.
func (p *pool) renew() {
	p.mu.Lock()
	old := p.idle
	p.idle = nil
	p.age++
	p.mu.Unlock()
	for _, s := range old {
		s.close()
	}
}

// close closes all idle sessions, and keeps none from now on.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.renew()
}

func (p *pool) current() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.age
}

// lease gives the request a session that has its settings and its database, a new one if it is not reusable. The caller
// gives it back by put or close.
func (e *Engine) lease(req *request, reusable bool) (*session, error) {
	if reusable {
		if s := e.pool.take(req.settings, req.database); s != nil {
			if s.configure(req.settings, req.database) == nil {
				return s, nil
			}
			s.close()
		}
	}
	s, err := e.open()
	if err != nil {
		return nil, err
	}
	if err := s.configure(req.settings, req.database); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}
