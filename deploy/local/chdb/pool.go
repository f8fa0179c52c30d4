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

// pool keeps sessions whose statement has left nothing in them but settings that are known, so that the next request
// need not open one.
type pool struct {
	mu   sync.Mutex
	idle []*session
	// age is counted up by statements that may change what a session stands on, such as its database. Sessions of
	// an earlier age are not used again.
	age    uint64
	closed bool
}

// reusedSettings are the settings that a session is used again with. None changes another setting, what may be set
// after it, or is given a value at the engine's start: DEFAULT takes each back to what a new session has.
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

// plain reports whether the statement changes nothing that sessions stand on. The engine must see the same first word
// and no second statement, whatever it takes for blanks, comments and quotes. It may be false for a harmless
// statement, and is never true for another.
func (req *request) plain() bool {
	sql, verb := strings.TrimLeft(req.sql(), " \t\r\n"), req.statement.verb
	return slices.Contains(plainVerbs, verb) && len(sql) > len(verb) && strings.EqualFold(sql[:len(verb)], verb) &&
		(verb == "(" || !isWordByte(sql[len(verb)])) && !strings.Contains(sql, ";")
}

// tableStatements begin statements that change what no session stands on: tables, views, and databases that stay.
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

// reusable reports whether the session of the request may serve another: it is left with settings that are known.
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

// take returns an idle session for a request, or nil if a new one is to be opened: as long as there is room, so that
// there comes to be one for each kind of request.
func (p *pool) take(settings map[string]string, database string) *session {
	database = firstOf(database, defaultDatabase)
	p.mu.Lock()
	defer p.mu.Unlock()
	// The last one used is the likeliest to be in the processor's caches.
	for i, s := range slices.Backward(p.idle) {
		if s.database == database && maps.Equal(s.settings, settings) {
			return p.remove(i)
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
