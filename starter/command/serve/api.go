package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/schema"
	"axiommind/starter/command"
)

// Headers of requests and answers.
const (
	headerRequest     = "X-Request-Id"
	headerIdempotency = "Idempotency-Key"
	headerActor       = "Axiommind-Actor"
)

// mostInput bounds the body of a request whose items a command reads: JSON may take six bytes for each byte of a message.
const mostInput = 6*schema.MaxHeldBytes + command.MostRequestBytes

// endpoint is an operation with its command.
type endpoint struct {
	operation
	cmd     *cobra.Command
	results []reflect.Type
	params  []param
}

// param is a parameter of an endpoint: an argument or a flag of its command, or its input.
type param struct {
	name string
	// flag is nil for an argument and for the input.
	flag           *pflag.Flag
	inPath, needed bool
}

// page is the answer of a list.
type page struct {
	Items any `json:"items"`
	// Next is the cursor of the next page, if there is one.
	Next string `json:"next,omitempty"`
}

// parameter returns the name of a flag as a parameter.
func parameter(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// newEndpoint finds the command of an operation and its parameters.
func newEndpoint(a *command.App, o operation) (*endpoint, error) {
	cmd, results := a.Command(o.command)
	if cmd == nil || len(results) == 0 {
		return nil, fmt.Errorf("%s %s: there is no command %q that declares its results", o.method, o.path, o.command)
	}
	e := &endpoint{operation: o, cmd: cmd, results: results}
	words := command.Arguments(cmd)
	if o.args == nil {
		for _, word := range words {
			e.args = append(e.args, strings.ToLower(strings.Trim(word, "[]…")))
		}
	}
	for i, name := range e.args {
		if name == "-" {
			continue
		}
		inPath := strings.Contains(o.path, "{"+name+"}")
		e.params = append(e.params, param{name: name, inPath: inPath, needed: inPath || !strings.HasPrefix(words[i], "[")})
	}
	if o.input != "" {
		e.params = append(e.params, param{name: o.input, needed: true})
	}
	pages := cmd.Flags().Lookup("offset") != nil
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, fixed := o.fixed[f.Name]
		switch {
		case fixed, f.Name == "help", f.Name == "output", o.only != nil && !slices.Contains(o.only, f.Name):
		case f.Name == "offset" && cmd.Flags().Lookup("cursor") == nil:
			e.params = append(e.params, param{name: "cursor", flag: f})
		case f.Name == "offset" && pages:
		default:
			e.params = append(e.params, param{name: parameter(f.Name), flag: f, needed: slices.Contains(o.needs, f.Name)})
		}
	})
	return e, nil
}

// lists reports whether the flag takes several values.
func lists(f *pflag.Flag) bool {
	_, is := f.Value.(pflag.SliceValue)
	return is
}

func (e *endpoint) param(name string) *param {
	for i := range e.params {
		if e.params[i].name == name && !e.params[i].inPath {
			return &e.params[i]
		}
	}
	return nil
}

// names lists the parameters that are not part of the path.
func (e *endpoint) names() (names []string) {
	for _, p := range e.params {
		if !p.inPath {
			names = append(names, p.name)
		}
	}
	return names
}

// given are the parameters of a request, by their names. A list has several values.
type given map[string][]string

// read reads the parameters of a request: those of a read or a deletion from its address, all others from its body.
func (e *endpoint) read(r *http.Request) (given, []byte, error) {
	values := given{}
	for _, p := range e.params {
		if p.inPath {
			values[p.name] = []string{r.PathValue(p.name)}
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, nil, command.Usagef("the query of the address: %w", err)
	}
	inBody := e.method != http.MethodGet && e.method != http.MethodDelete
	for name, list := range query {
		switch {
		case inBody:
			return nil, nil, command.Usagef("%s is in the address: send the parameters in the body, as JSON", command.OneLine(name, maxShown))
		case e.param(name) == nil:
			return nil, nil, e.unknown(name)
		}
		values[name] = list
	}
	if !inBody {
		return values, nil, nil
	}
	input, err := e.readBody(r, values)
	return values, input, err
}

func (e *endpoint) unknown(name string) error {
	return command.Usagef("there is no parameter %q; there are: %s", command.OneLine(name, maxShown), strings.Join(e.names(), ", "))
}

// readBody reads the parameters of a body, which is a JSON object or empty.
func (e *endpoint) readBody(r *http.Request, values given) (input []byte, err error) {
	if kind := r.Header.Get("Content-Type"); kind != "" {
		if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
			return nil, command.Usagef("the body is %q: send JSON, as application/json", command.OneLine(kind, maxShown))
		}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	fields := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(body)) > 0 {
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, command.Usagef("the body is no JSON object: %w", err)
		}
	}
	for name, raw := range fields {
		p := e.param(name)
		switch {
		case p == nil:
			return nil, e.unknown(name)
		case name == e.input:
			var items []json.RawMessage
			if err := json.Unmarshal(raw, &items); err != nil {
				return nil, command.Usagef("%s: want a list", name)
			}
			input = linesOf(items)
			values[name] = []string{""}
		case string(raw) != "null":
			if values[name], err = textsOf(p, raw); err != nil {
				return nil, err
			}
		}
	}
	return input, nil
}

// linesOf returns the items one a line, as a command reads them.
func linesOf(items []json.RawMessage) []byte {
	var lines bytes.Buffer
	for _, item := range items {
		_ = json.Compact(&lines, item) // It was part of valid JSON.
		lines.WriteByte('\n')
	}
	return lines.Bytes()
}

// textsOf returns the value of a property as a flag takes it. Its JSON type must be the parameter's.
func textsOf(p *param, raw json.RawMessage) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, command.Usagef("%s: %w", p.name, err)
	}
	kind := "string"
	if p.flag != nil {
		kind = p.flag.Value.Type()
	}
	switch v := value.(type) {
	case string:
		if !slices.Contains([]string{"bool", "int", "uint64", "float64"}, kind) && !(p.flag != nil && lists(p.flag)) {
			return []string{v}, nil
		}
	case bool:
		if kind == "bool" {
			return []string{strconv.FormatBool(v)}, nil
		}
	case json.Number:
		if slices.Contains([]string{"int", "uint64", "float64"}, kind) || p.name == "version" {
			return []string{v.String()}, nil
		}
	case []any:
		if p.flag != nil && lists(p.flag) {
			texts := make([]string, len(v))
			for i, item := range v {
				text, is := item.(string)
				if !is {
					return nil, command.Usagef("%s: item %d is no text", p.name, i+1)
				}
				texts[i] = text
			}
			return texts, nil
		}
	}
	return nil, command.Usagef("%s: want %s", p.name, p.kind())
}

// kind names the values of the parameter.
func (p *param) kind() string {
	switch {
	case p.flag == nil:
		return "a text"
	case lists(p.flag):
		return "a list of texts"
	}
	return command.Kind(p.flag)
}

// call returns the call of the endpoint's command.
func (s *server) call(e *endpoint, values given) (command.Call, error) {
	c := command.Call{Path: e.command, Flags: map[string][]string{}}
	missing := ""
	for _, name := range e.args {
		switch {
		case name == "-":
			c.Args = append(c.Args, "-")
		case len(values[name]) == 0:
			missing = name
		case missing != "":
			return c, command.Usagef("%s is missing: %s needs it", missing, name)
		case strings.TrimSpace(values[name][0]) == "":
			return c, command.Usagef("%s is empty", name)
		default:
			c.Args = append(c.Args, values[name][0])
		}
	}
	for _, p := range e.params {
		switch list := values[p.name]; {
		case len(list) == 0 && p.needed:
			return c, command.Usagef("%s is missing: %s %s needs it", p.name, e.method, e.path)
		case p.flag != nil && len(list) > 0:
			c.Flags[p.flag.Name] = list
		}
	}
	named := func(name string) bool { return len(values[name]) > 0 }
	if !s.access.all && len(e.narrowed) > 0 && !slices.ContainsFunc(e.narrowed, named) {
		return c, forbidden{fmt.Errorf("without %s this is about more than the server's project and user", strings.Join(e.narrowed, " or "))}
	}
	for name, value := range e.fixed {
		c.Flags[name] = []string{value}
	}
	return c, s.narrow(e, &c)
}

// narrow restricts a call to the server's scope.
func (s *server) narrow(e *endpoint, c *command.Call) error {
	first := func(flag string) string {
		if list := c.Flags[flag]; len(list) > 0 {
			return list[0]
		}
		return ""
	}
	scope, err := s.access.scopeOf(first("project"), first("user"), first("agent"))
	if err != nil || s.access.all {
		return err
	}
	for name, value := range map[string]string{"project": scope.Project, "user": scope.User, "agent": scope.Agent} {
		if e.param(name) != nil && (name != "agent" || value != "") {
			c.Flags[name] = []string{value}
		}
	}
	return nil
}

// serve answers a request to the endpoint.
func (s *server) serve(e *endpoint, w http.ResponseWriter, r *http.Request) {
	if e.wide && !s.access.all {
		refuse(w, r, problem{Status: http.StatusForbidden, Detail: e.method + " " + e.path + " is about all projects and users",
			Next: "ask a server of all: starter serve --all"})
		return
	}
	most := int64(command.MostRequestBytes)
	if e.input != "" {
		most = mostInput
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	answer, err := s.answer(r.Context(), e, r)
	switch {
	case answer.Value != nil && err == nil:
		s.write(w, e, answer, http.StatusOK)
	case answer.Value != nil && !command.IsUsage(err):
		// The answer says what failed.
		s.logger.Info("answered, and something failed", "request", requestID(r.Context()), "reason", err)
		s.write(w, e, answer, max(e.unfit, http.StatusOK))
	case err == nil:
		none := strings.TrimSpace(answer.None)
		if none == "" {
			none = "there is none"
		}
		refuse(w, r, problem{Status: http.StatusNotFound, Detail: none})
	default:
		p := s.problemOf(e, err)
		if p.Status >= http.StatusInternalServerError {
			s.logger.Warn("a request failed", "request", requestID(r.Context()), "reason", err)
		}
		refuse(w, r, p)
	}
}

// answer runs the command of the endpoint for the request.
func (s *server) answer(ctx context.Context, e *endpoint, r *http.Request) (none command.Answer, err error) {
	values, input, err := e.read(r)
	if err != nil {
		return none, err
	}
	c, err := s.call(e, values)
	if err != nil {
		return none, err
	}
	c.Input, c.By = bytes.NewReader(input), actorOf(r)
	if key := r.Header.Get(headerIdempotency); key != "" {
		c.Key = keyOf(key, e, c, input)
	}
	if err := s.reach(ctx, e, values); err != nil {
		return none, err
	}
	answer, err := s.app.Call(ctx, c)
	if s.access.foreign(answer.Value) {
		return none, foreignID(c.Args)
	}
	return answer, err
}

// reach reads the items that a request names, if the command itself does not look whose they are.
func (s *server) reach(ctx context.Context, e *endpoint, values given) error {
	if s.access.all || e.param("user") != nil {
		return nil
	}
	if item := s.known[http.MethodGet+" "+e.item()]; item != nil && item != e {
		if err := s.reachItem(ctx, item, values); err != nil {
			return err
		}
	}
	for name, path := range e.refs {
		item := s.known[http.MethodGet+" "+path]
		for _, id := range values[name] {
			if err := s.reachItem(ctx, item, given{item.args[0]: {id}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// reachItem reads an item, and refuses that of another project or user as one that is not there.
func (s *server) reachItem(ctx context.Context, item *endpoint, values given) error {
	own := given{}
	for _, name := range item.args {
		own[name] = values[name]
	}
	c, err := s.call(item, own)
	if err != nil {
		return err
	}
	answer, err := s.app.Call(ctx, c)
	if err == nil && s.access.foreign(answer.Value) {
		return foreignID(c.Args)
	}
	return err
}

func foreignID(args []string) error {
	return command.Missingf("%s names nothing of this server's project and user", command.OneLine(strings.Join(args, " "), maxShown))
}

// keyOf returns the key of a request: equal for two requests that ask the same under one idempotency key.
func keyOf(key string, e *endpoint, c command.Call, input []byte) string {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode([]any{key, e.method, e.path, c.Args, c.Flags, input})
	return hex.EncodeToString(sum.Sum(nil))
}

// write writes the answer. A list becomes a page.
func (s *server) write(w http.ResponseWriter, e *endpoint, answer command.Answer, status int) {
	value := answer.Value
	if rows := reflect.ValueOf(value); rows.Kind() == reflect.Slice {
		p := page{Items: s.own(rows)}
		if answer.More > 0 {
			p.Next = strconv.Itoa(answer.More)
		}
		value = p
	}
	if e.accepted && status == http.StatusOK {
		status = http.StatusAccepted
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = command.Encode(w, value) // The client is gone.
}

// own returns the rows without those of other projects and users.
func (s *server) own(rows reflect.Value) any {
	out := reflect.MakeSlice(rows.Type(), 0, rows.Len())
	for i := range rows.Len() {
		if row := rows.Index(i); !s.access.foreign(row.Interface()) {
			out = reflect.Append(out, row)
		}
	}
	return out.Interface()
}

// actorOf names who asks, for the histories.
func actorOf(r *http.Request) string {
	if name := strings.TrimSpace(r.Header.Get(headerActor)); name != "" {
		return "api:" + command.OneLine(name, maxActor)
	}
	return "api"
}

// maxActor bounds the name of who asks, in characters.
const maxActor = 60

type requestKey struct{}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// plainID reports whether a client's id of a request may stand in a log.
func plainID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// numbered gives each request an id, and logs and counts it.
func (s *server) numbered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(headerRequest)
		if !plainID(id) {
			id = uuid.NewString()
		}
		w.Header().Set(headerRequest, id)
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		began := time.Now()
		r = r.WithContext(context.WithValue(r.Context(), requestKey{}, id))
		next.ServeHTTP(seen, r)
		took := time.Since(began)
		s.took.WithLabelValues(r.Pattern, strconv.Itoa(seen.status)).Observe(took.Seconds())
		s.logger.Debug("answered", "request", id, "endpoint", r.Pattern, "status", seen.status, "took", took)
	})
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets streams be flushed.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
