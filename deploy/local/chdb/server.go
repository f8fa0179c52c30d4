package chdb

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Server speaks ClickHouse's HTTP interface for an Engine. It is an
// http.Handler; any number of requests may run at once.
type Server struct {
	engine *Engine
	token  string
	slots  chan struct{}
	log    *slog.Logger
}

// TokenVariable is the environment variable that hands the token to the server's program: arguments
// can be seen by every user of the machine.
const TokenVariable = "AXIOMMIND_CHDB_TOKEN"

// maxRunning bounds the statements that run at once; each occupies a thread.
const maxRunning = 64

// NewServer returns a handler that runs queries on engine for clients that know the token. It panics without a
// token.
func NewServer(engine *Engine, token string, log *slog.Logger) *Server {
	if token == "" {
		panic("chdb: no token")
	}
	return &Server{engine: engine, token: token, slots: make(chan struct{}, maxRunning), log: log}
}

// ServeHTTP answers /ping and /replicas_status with "Ok.", and runs the query
// of any other request to / that carries the token. Requests of web pages are refused.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if refused := guardBrowser(r); refused != nil {
		s.refuse(w, r, refused)
		return
	}
	switch {
	case r.URL.Path == "/ping" || r.URL.Path == "/replicas_status",
		r.URL.Path == "/" && r.URL.RawQuery == "" && r.Method != http.MethodPost:
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		_, _ = io.WriteString(w, "Ok.\n")
		return
	case r.URL.Path != "/":
		http.NotFound(w, r)
		return
	}
	if refused := guardToken(r, s.token); refused != nil {
		s.refuse(w, r, refused)
		return
	}
	// A client that still writes its rows would not read the answer.
	defer func() { _, _ = io.Copy(io.Discard, r.Body) }()
	out := &response{w: w, r: r, server: s, start: time.Now()}
	if err := s.serve(r, out); err != nil {
		out.fail(err)
	}
}

// refuse answers without reading the body, and ends the connection.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, refused *refusal) {
	s.log.Warn("request refused", "reason", refused.reason.Text)
	w.Header().Set("Connection", "close")
	out := &response{w: w, r: r, server: s}
	out.send(refused.status, refused.reason)
}

func (s *Server) serve(r *http.Request, out *response) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done():
		return r.Context().Err()
	}
	req, err := readRequest(r)
	if err != nil {
		return err
	}
	out.req = req
	if err := req.check(); err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return s.run(r.Context(), req, out)
}

// run runs the request in a session with its settings and its database, and keeps the session for others if nothing
// can be left in it.
func (s *Server) run(ctx context.Context, req *request, out *response) error {
	plain, reusable := req.plain(), req.reusable()
	if reusable {
		req.sayToken()
	}
	session, err := s.engine.lease(req, reusable)
	if err != nil {
		return err
	}
	alone := func() bool { return true }
	if req.settings["log_comment"] == "" {
		alone = context.AfterFunc(ctx, func() { s.kill(session.mark) })
	}
	done := false
	defer func() {
		if !req.keepsSessions() {
			s.engine.pool.renew()
		}
		// A session that is being killed would end the next statement too.
		if alone() && done && reusable {
			s.engine.pool.put(session)
			return
		}
		session.close()
	}()
	if err := session.forbid(req.whole(), req.params, plain, s.engine.cluster != ""); err != nil {
		return err
	}
	if err := s.execute(ctx, session, req, out); err != nil {
		return err
	}
	done = true
	return nil
}

func (s *Server) execute(ctx context.Context, session *session, req *request, out *response) error {
	switch {
	case req.statement.takesRows:
		return s.insert(session, req, out)
	case req.statement.rows():
		return s.stream(ctx, session, req, out)
	}
	answer, err := session.query(req.text, req.format, req.params)
	if err != nil {
		return err
	}
	out.stats = answer.stats
	if err := out.write(answer.data); err != nil {
		return err
	}
	return out.finish()
}

// kill ends the statement of a request whose client has gone. The library takes no query ids from its caller, so
// the log comment identifies the statement.
func (s *Server) kill(mark string) {
	session, err := s.engine.open()
	if err != nil {
		return
	}
	defer session.close()
	if _, err := session.text("KILL QUERY WHERE Settings['log_comment'] = " + quoteString(mark) + " ASYNC"); err != nil {
		s.log.Warn("cannot end an abandoned query", "error", err)
	}
}

// stream sends a SELECT's answer chunk by chunk, so that its size does not
// matter to the server's memory.
func (s *Server) stream(ctx context.Context, session *session, req *request, out *response) error {
	rows, err := session.stream(req.text, req.format, req.params)
	if err != nil {
		return err
	}
	defer rows.close()
	for ctx.Err() == nil {
		chunk, err := rows.next()
		if err != nil {
			return err
		}
		out.stats.add(chunk.stats)
		if len(chunk.data) == 0 {
			return out.finish()
		}
		if err := out.write(chunk.data); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// insertPieces are buffers for as much of an INSERT's rows as is handed over at once.
var insertPieces = sync.Pool{New: func() any { return new([1 << 20]byte) }}

func (s *Server) insert(session *session, req *request, out *response) error {
	in, err := session.insert(req.statement.head, firstOf(req.statement.format, "Values"), req.params)
	if err != nil {
		return err
	}
	defer in.close()
	piece := insertPieces.Get().(*[1 << 20]byte)
	defer insertPieces.Put(piece)
	// A read error must not commit the rows that came before it. The wrappers keep io from taking a buffer of its own.
	if _, err := io.CopyBuffer(struct{ io.Writer }{in}, struct{ io.Reader }{req.rows}, piece[:]); err != nil {
		in.cancel()
		var e *Exception
		if errors.As(err, &e) {
			return err
		}
		return readError(err)
	}
	if out.stats, err = in.done(); err != nil {
		return err
	}
	return out.finish()
}

func (s *Stats) add(o Stats) {
	s.ReadRows += o.ReadRows
	s.ReadBytes += o.ReadBytes
	s.ResultRows += o.ResultRows
	s.ResultBytes += o.ResultBytes
	s.WrittenRows += o.WrittenRows
	s.WrittenBytes += o.WrittenBytes
}

// contentType returns the content type that ClickHouse declares for a format.
func contentType(format string) string {
	switch {
	case strings.HasPrefix(format, "TabSeparated"), strings.HasPrefix(format, "TSV"):
		return "text/tab-separated-values; charset=UTF-8"
	case strings.HasPrefix(format, "CSV"):
		return "text/csv; charset=UTF-8; header=" + map[bool]string{true: "present", false: "absent"}[strings.Contains(format, "WithNames")]
	case strings.HasPrefix(format, "JSONEachRow"), strings.HasPrefix(format, "JSONCompactEachRow"):
		return "application/x-ndjson; charset=UTF-8"
	case strings.HasPrefix(format, "JSON"):
		return "application/json; charset=UTF-8"
	case strings.HasPrefix(format, "Pretty"), format == "Vertical", format == "Values", format == "Markdown":
		return "text/plain; charset=UTF-8"
	}
	return "application/octet-stream"
}
