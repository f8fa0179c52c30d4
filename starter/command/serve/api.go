package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

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
	cmd    command.Described
	params []param
}

// param is a parameter of an endpoint: an argument or a flag of its command, or its input.
type param struct {
	name string
	// flag is nil for an argument and for the input.
	flag           *pflag.Flag
	inPath, needed bool
}

// listPage is the answer of a list.
type listPage struct {
	Items any `json:"items"`
	// Next is the cursor of the next page, if there is one.
	Next string `json:"next,omitempty"`
}

// parameter returns the name of a flag as a parameter.
func parameter(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// newEndpoint finds the command of an operation and its parameters.
func newEndpoint(a *command.App, o operation) (*endpoint, error) {
	cmd := a.Command(o.command)
	if len(cmd.Results) == 0 {
		return nil, fmt.Errorf("%s %s: there is no command %q that declares its results", o.method, o.path, o.command)
	}
	e := &endpoint{operation: o, cmd: cmd}
	words := command.Arguments(cmd.Command)
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

// title describes the endpoint in a few words.
func (e *endpoint) title() string { return command.Sentence(cmp.Or(e.summary, e.cmd.Short)) }

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
		case len(values[name]) > 1:
			return c, command.Usagef("%s: want one value", name)
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
	named := func(name string) bool { return strings.Join(values[name], "") != "" }
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

// Limits of the time for an answer: no worker may be running.
const (
	answerPatience = time.Minute
	longPatience   = 30 * time.Minute
)

// serve answers a request to the endpoint.
func (s *server) serve(e *endpoint, w http.ResponseWriter, r *http.Request) {
	most := int64(command.MostRequestBytes)
	if e.input != "" {
		most = mostInput
	}
	r.Body = http.MaxBytesReader(w, r.Body, most)
	values, input, err := e.read(r)
	if err != nil {
		s.fail(e, w, r, err)
		return
	}
	answer, status, err := s.ask(r.Context(), e, asked{values, input, actorOf(r), r.Header.Get(headerIdempotency)})
	if err != nil {
		s.fail(e, w, r, err)
		return
	}
	s.write(w, answer, status)
}

// asked is a request to an endpoint.
type asked struct {
	values given
	input  []byte
	by     string
	// key is that of the client, or empty.
	key string
}

// ask runs the command of the endpoint, and returns what the server's scope may see of the result, with its status.
func (s *server) ask(ctx context.Context, e *endpoint, of asked) (command.Answer, int, error) {
	if e.wide && !s.access.all {
		return command.Answer{}, 0, forbidden{fmt.Errorf("%s %s is about all projects and users", e.method, e.path)}
	}
	patience := answerPatience
	if e.long {
		patience = longPatience
	}
	inTime, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := s.answer(inTime, e, of)
	if checks, is := answer.Value.([]command.Check); is && !slices.ContainsFunc(checks, func(c command.Check) bool { return !c.OK && !s.access.foreign(c) }) {
		err = nil // All that failed is of others.
	}
	status := http.StatusOK
	switch {
	case err != nil && inTime.Err() != nil:
		return answer, 0, lateError{fmt.Errorf("no answer within %v", patience)}
	case err == nil && answer.Value == nil:
		return answer, 0, command.Missingf("%s", cmp.Or(s.inWords(e, strings.TrimSpace(answer.None)), "there is none"))
	case err == nil && e.accepted:
		status = http.StatusAccepted
	case err == nil:
	case answer.Value != nil && (e.told || e.unfit > 0) && !command.IsUsage(err):
		status = max(e.unfit, http.StatusOK)
	default:
		return answer, 0, err
	}
	if answer.Value = s.access.within(answer.Value); reflect.TypeOf(answer.Value).Kind() == reflect.Slice {
		answer.Value = s.own(reflect.ValueOf(answer.Value))
	}
	return answer, status, nil
}

// fail answers with the problem of an error.
func (s *server) fail(e *endpoint, w http.ResponseWriter, r *http.Request, err error) {
	p := s.problemOf(e, err)
	if p.Status >= http.StatusInternalServerError && !errors.Is(r.Context().Err(), context.Canceled) {
		s.logger.ErrorContext(r.Context(), "a request failed", "request", requestID(r.Context()), "endpoint", e.method+" "+e.path, "reason", err)
	}
	refuse(w, r, p)
}

// answer runs the command of the endpoint.
func (s *server) answer(ctx context.Context, e *endpoint, of asked) (none command.Answer, err error) {
	c, err := s.call(e, of.values)
	if err != nil {
		return none, err
	}
	c.Input, c.By = bytes.NewReader(of.input), of.by
	if of.key != "" {
		c.Key = keyOf(of.key, e, c, of.input)
	}
	if err := s.reach(ctx, e, of.values); err != nil {
		return none, err
	}
	answer, err := s.app.Call(ctx, c)
	if s.access.foreign(answer.Value) {
		return none, errForeign
	}
	return answer, err
}

// errForeign is the error of an id of another project or user. Its text is that of an unknown one, see [server.problemOf].
var errForeign = command.Missingf("it names nothing of this server's project and user")

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
			if id == "both" { // A conflict may keep both sides.
				continue
			}
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
		return errForeign
	}
	return err
}

// keyOf returns the key of a request: equal for two requests that ask the same under one idempotency key.
func keyOf(key string, e *endpoint, c command.Call, input []byte) string {
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode([]any{key, e.method, e.path, c.Args, c.Flags, input})
	return hex.EncodeToString(sum.Sum(nil))
}

// write writes the answer. A list becomes a page.
func (s *server) write(w http.ResponseWriter, answer command.Answer, status int) {
	value := answer.Value
	if reflect.TypeOf(value).Kind() == reflect.Slice {
		value = listPage{Items: value, Next: cursorOf(answer)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = command.Encode(w, value) // The client is gone.
}

// cursorOf returns the cursor of the next page, or "".
func cursorOf(answer command.Answer) string {
	if answer.More == 0 {
		return ""
	}
	return strconv.Itoa(answer.More)
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
