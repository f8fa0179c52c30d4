package chdb

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// headBytes is how much of a query is read to find where its rows begin, as
// ClickHouse's max_query_size; queries without rows may be longer.
const headBytes = 256 << 10

// maxQueryBytes bounds the text of a query that carries no rows.
const maxQueryBytes = 64 << 20

// request is one HTTP request after it was read.
type request struct {
	id         string
	database   string
	format     string
	revision   uint64
	settings   map[string]string
	params     map[string]string
	compress   bool
	compressBy string
	get        bool

	text      string
	statement statement
	// rows are the encoded rows of an INSERT.
	rows io.Reader
}

// notSettings are the URL parameters of ClickHouse's HTTP interface that are
// not settings of the engine.
var notSettings = map[string]bool{
	"query": true, "database": true, "default_format": true, "query_id": true, "quota_key": true,
	"compress": true, "decompress": true, "user": true, "password": true, "role": true,
	"session_id": true, "session_timeout": true, "session_check": true, "close_session": true,
	"stacktrace": true, "buffer_size": true, "wait_end_of_query": true, "client_protocol_version": true,
}

func readRequest(r *http.Request) (*request, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, newException(codeBadArguments, "BAD_ARGUMENTS", "Cannot parse URL parameters: %v", err)
	}
	req := &request{
		id:       firstOf(values.Get("query_id"), uuid.NewString()),
		database: firstOf(values.Get("database"), r.Header.Get("X-ClickHouse-Database")),
		format:   firstOf(values.Get("default_format"), r.Header.Get("X-ClickHouse-Format"), "TabSeparated"),
		settings: map[string]string{}, params: map[string]string{},
		compress: values.Get("compress") == "1",
		get:      r.Method == http.MethodGet || r.Method == http.MethodHead,
	}
	req.revision, _ = strconv.ParseUint(values.Get("client_protocol_version"), 10, 64)
	for name, v := range values {
		switch {
		case notSettings[name]:
		case strings.HasPrefix(name, "param_"):
			req.params[strings.TrimPrefix(name, "param_")] = v[0]
		default:
			req.settings[name] = v[0]
		}
	}
	req.compressBy = firstOf(req.settings["network_compression_method"], "LZ4")
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		return nil, newException(codeNotImplemented, "NOT_IMPLEMENTED", "External tables are not supported by the local server")
	}
	body, err := decodeBody(r, values.Get("decompress") == "1")
	if err != nil {
		return nil, err
	}
	return req, req.readText(values.Get("query"), body)
}

// readText joins the query in the URL with the body and, for an INSERT with
// rows, leaves the rows unread.
func (req *request) readText(query string, body io.Reader) error {
	var err error
	if query != "" {
		if req.statement, err = parseStatement(query); err != nil {
			return err
		}
		if req.statement.takesRows {
			req.text = query
			req.rows = io.MultiReader(strings.NewReader(query[req.statement.data:]), body)
			return nil
		}
	}
	head, err := io.ReadAll(io.LimitReader(body, headBytes))
	if err != nil {
		return readError(err)
	}
	if query == "" {
		if req.statement, err = parseStatement(string(head)); err == nil && req.statement.takesRows {
			req.text = string(head)
			req.rows = io.MultiReader(bytes.NewReader(head[req.statement.data:]), body)
			return nil
		}
	}
	rest, err := io.ReadAll(io.LimitReader(body, maxQueryBytes))
	if err != nil {
		return readError(err)
	}
	if len(rest) == maxQueryBytes {
		return newException(codeQueryTooLarge, "QUERY_IS_TOO_LARGE", "Query of more than %d bytes", maxQueryBytes)
	}
	req.text = query
	if len(head) > 0 {
		if query != "" {
			req.text += "\n"
		}
		req.text += string(head) + string(rest)
	}
	req.statement, err = parseStatement(req.text)
	return err
}

func readError(err error) error {
	return newException(codeCannotReadAllData, "CANNOT_READ_ALL_DATA", "Cannot read the request body: %v", err)
}

// check refuses the requests that ClickHouse refuses before it runs a query.
func (req *request) check() error {
	if req.statement.verb == "" {
		return newException(codeSyntaxError, "SYNTAX_ERROR", "Syntax error: failed at position 1 (end of query): Empty query")
	}
	if req.statement.dropsDefault {
		return newException(codeNotImplemented, "NOT_IMPLEMENTED", "The local server cannot work without the database default")
	}
	if req.get && !req.statement.readsOnly() {
		return newException(codeReadonly, "READONLY",
			"Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly. You should use method POST for modifying queries")
	}
	return nil
}

// sql is the text of the statement without the rows of an INSERT.
func (req *request) sql() string {
	if req.statement.takesRows {
		return req.statement.head
	}
	return req.text
}

// whole is the statement without rows in a form that the engine can read by itself: an INSERT is none without a format.
func (req *request) whole() string {
	if req.statement.takesRows {
		return req.statement.head + "\nFORMAT Native"
	}
	return req.text
}

// outputFormat is the format of the answer.
func (req *request) outputFormat() string {
	if req.statement.takesRows {
		return req.format
	}
	return firstOf(req.statement.format, req.format)
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func summary(s Stats, elapsedNS int64) string {
	return fmt.Sprintf(`{"read_rows":"%d","read_bytes":"%d","written_rows":"%d","written_bytes":"%d",`+
		`"total_rows_to_read":"0","result_rows":"%d","result_bytes":"%d","elapsed_ns":"%d"}`,
		s.ReadRows, s.ReadBytes, s.WrittenRows, s.WrittenBytes, s.ResultRows, s.ResultBytes, elapsedNS)
}
