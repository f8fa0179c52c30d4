// Package page serves a memory to people. A view is a template over answers of the API, and a form is one of its operations:
// there is no second way to the stores.
package page

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"axiommind/schema"
)

// API answers requests as the HTTP API does, within the scope of the server.
type API interface {
	// Ask runs the operation. ctx bounds a read; a change may take as long as the API allows.
	Ask(ctx context.Context, r Request) (Answer, *Problem)
	// Operation describes the operation, and reports whether the server has it.
	Operation(id string) (Operation, bool)
}

// Request names an operation of the API, with its parameters.
type Request struct {
	Operation  string
	Parameters map[string][]string
	// By is the person who asks. Two changes with the same Key are one.
	By, Key string
}

// Answer is the value that the API would encode.
type Answer struct {
	Value any
	// Next is the cursor of the next page of a list, if there is one.
	Next string
}

// Problem is an error of the API, with the step to take next.
type Problem struct {
	Status       int
	Detail, Next string
}

// Operation is an endpoint of the API.
type Operation struct {
	ID, Method, Path, Summary string
	// Wide is true if only a server of all projects has it. Shows is true if its result is more than a confirmation.
	Wide, Shows bool
	// Scoped is true if the operation is about the scope of a page. Others are about all, or about what the form names.
	Scoped bool
	Fields []Field
}

// Field is a parameter of an operation.
type Field struct {
	Name, Usage string
	// Kind is text, flag or list.
	Kind   string
	Needed bool
	// InPath is true if the field is part of the operation's path: it names the item.
	InPath bool
	Values []string
}

// has reports whether the operation has the parameter.
func (o Operation) has(name string) bool {
	for _, f := range o.Fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Options configure the pages.
type Options struct {
	API    API
	Logger *slog.Logger
	// Secret signs sessions and forms. The server's token or a one-time code opens a session.
	Secret [32]byte
	// Admits reports whether the text is the server's token.
	Admits func(token string) bool
	// TokenFile is named on the page of the login.
	TokenFile string
	// Person is the default name for changes.
	Person string
	// Scope is the served project and user. With All, the address of a page names them.
	Scope schema.Scope
	All   bool
}

// Pages serves the pages.
type Pages struct {
	Options
	login
	acts      acts
	templates *template.Template
	mux       *http.ServeMux
	// Version changes with the files of the pages.
	Version string
	// ctx ends with the server. Changes run on after their request.
	ctx context.Context
}

//go:embed templates/*.html
var templates embed.FS

//go:embed static
var static embed.FS

// New returns the pages.
func New(ctx context.Context, o Options) (*Pages, error) {
	p := &Pages{Options: o, login: newLogin(o.Secret), ctx: ctx, mux: http.NewServeMux()}
	p.acts.byKey = map[string]*act{}
	var err error
	if p.templates, err = template.New("").Funcs(functions).ParseFS(templates, "templates/*.html"); err != nil {
		return nil, err
	}
	files, err := fs.Sub(static, "static")
	if err != nil {
		return nil, err
	}
	if p.Version, err = versionOf(files); err != nil {
		return nil, err
	}
	for _, v := range views() {
		for _, r := range v.reads {
			if _, known := o.API.Operation(r.operation); !known {
				return nil, errors.New("the view " + v.path + " reads the unknown operation " + r.operation)
			}
		}
		p.mux.HandleFunc("GET "+v.path, p.within(func(w http.ResponseWriter, r *http.Request) { p.view(v, w, r) }))
	}
	p.mux.HandleFunc("GET /do/{operation}", p.within(p.ask))
	p.mux.HandleFunc("POST /do/{operation}", p.within(p.do))
	p.mux.HandleFunc("GET /done/{act}", p.within(p.done))
	p.mux.HandleFunc("GET /login", p.enter)
	p.mux.HandleFunc("POST /login", p.enter)
	p.mux.HandleFunc("POST /logout", p.within(p.leave))
	p.mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(files)))
	return p, nil
}

// versionOf returns a hash of the files.
func versionOf(files fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, path)
		_, _ = sum.Write(content)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)[:6]), err
}

// Handles reports whether the request is one for a page.
func (p *Pages) Handles(r *http.Request) bool {
	_, pattern := p.mux.Handler(r)
	return pattern != ""
}

// policy lets a page load its own files and nothing else, and keeps it out of frames.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP serves a page.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "same-origin") // Without a referrer a form would have no origin either.
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if strings.HasPrefix(r.URL.Path, "/static/") { // Their addresses change with their content.
		h.Set("Cache-Control", "max-age=31536000, immutable")
	}
	p.mux.ServeHTTP(w, r)
}

// data is what a template shows.
type data struct {
	*Pages
	// View is the name of the view's template, and Title the page's.
	View, Title string
	Path        string
	Query       url.Values
	// Asked are the parameters of the view's address.
	Asked map[string]string
	Scope schema.Scope
	// Main is the value of the view's first read, and Next the address of the next page of it.
	Main any
	Next string
	// Of are the values of the other reads, by their names. One that failed is missing, and its problem is in Problems.
	Of       map[string]any
	Problems map[string]*Problem
	// Problem is set if Main could not be read.
	Problem *Problem
	// JSON is the address of Main in the API.
	JSON string
	// Fragment is true if a script loads the view into another page.
	Fragment bool
	// Token confirms that a form is the page's own.
	Token  string
	Person string
	// Act is the change that the page follows, or shows as done.
	Act *act
	// Form is the change that the page asks for.
	Form *form
	// Login is set on the page of the login.
	Login *entrance
}

// newData returns the data of a page for the request.
func (p *Pages) newData(r *http.Request, name, title string) *data {
	d := &data{
		Pages: p, View: name, Title: title, Path: r.URL.Path, Query: r.URL.Query(), Asked: map[string]string{}, Of: map[string]any{}, Problems: map[string]*Problem{},
		Scope: p.Scope, Person: p.person(r),
	}
	if p.All {
		q := d.Query
		d.Scope = schema.Scope{Project: cmp.Or(q.Get("project"), "default"), User: cmp.Or(q.Get("user"), "default"), Agent: q.Get("agent")}
	} else if agent := d.Query.Get("agent"); agent != "" {
		d.Scope.Agent = agent
	}
	if cookie, err := r.Cookie(p.cookie); err == nil {
		d.Token = p.formToken(cookie.Value)
	}
	return d
}

// parameters adds the scope of the page to the parameters of an operation about it.
func (d *data) parameters(o Operation, values map[string][]string) map[string][]string {
	for name, value := range map[string]string{"project": d.Scope.Project, "user": d.Scope.User, "agent": d.Scope.Agent} {
		if value != "" && values[name] == nil && o.has(name) && o.Scoped && (d.All || name == "agent") {
			values[name] = []string{value}
		}
	}
	return values
}

// view shows a view: it reads all that the view needs at once.
func (p *Pages) view(v view, w http.ResponseWriter, r *http.Request) {
	d := p.newData(r, v.template, v.title)
	for _, name := range v.words {
		if d.Asked[name] = r.PathValue(name); d.Asked[name] == dots {
			d.Asked[name] = cmp.Or(d.Query.Get(dots), dots)
		}
	}
	if id := d.Query.Get("did"); id != "" {
		d.Act = p.acts.get(id)
	}
	if v.ready != nil && !v.ready(d) {
		p.render(w, r, http.StatusOK, d)
		return
	}
	answers, problems := make([]any, len(v.reads)), make([]*Problem, len(v.reads))
	all, ctx := errgroup.WithContext(r.Context())
	for i, read := range v.reads {
		if read.everyone && !d.All {
			continue
		}
		o, _ := p.API.Operation(read.operation)
		values := read.values(d, o)
		if !read.everyone {
			values = d.parameters(o, values)
		}
		if i == 0 {
			d.JSON = o.address(values)
		}
		all.Go(func() error {
			answer, problem := p.API.Ask(ctx, Request{Operation: read.operation, Parameters: values})
			answers[i], problems[i] = answer.Value, problem
			if i == 0 && answer.Next != "" {
				d.Next = d.with("cursor", answer.Next)
			}
			return nil
		})
	}
	_ = all.Wait()
	status := http.StatusOK
	if v.then != nil {
		if next, is := v.then(answers[0]); is {
			o, _ := p.API.Operation(next.operation)
			if answer, problem := p.API.Ask(r.Context(), Request{Operation: next.operation, Parameters: d.parameters(o, next.values(d, o))}); problem == nil {
				d.Of[next.name] = answer.Value
			}
		}
	}
	for i, read := range v.reads {
		switch {
		case i == 0:
			d.Main, d.Problem = answers[0], problems[0]
		case problems[i] != nil && problems[i].Status != http.StatusNotFound: // There may be none yet.
			d.Problems[read.name] = problems[i]
		default:
			d.Of[read.name] = answers[i]
		}
	}
	if d.Problem != nil && (!v.optional || d.Problem.Status != http.StatusNotFound) {
		status = d.Problem.Status
	}
	if d.Problem != nil && !v.optional {
		d.View = "problem"
	}
	p.render(w, r, status, d)
}

// render writes a page. A part of a page is its view alone, for a script that puts it into the page.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, status int, d *data) {
	name := "page"
	if d.Fragment = r.Header.Get("HX-Request") != ""; d.Fragment {
		name = d.View
	}
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, d); err != nil {
		p.Logger.Error("a page failed", "page", r.URL.Path, "reason", err)
		http.Error(w, "the server has a fault, which its log names", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Add("Vary", "HX-Request")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // The client is gone.
}

// Body renders the view's template.
func (d *data) Body() (template.HTML, error) {
	var b bytes.Buffer
	err := d.templates.ExecuteTemplate(&b, d.View, d)
	return template.HTML(b.String()), err // It is the output of html/template.
}

// address returns the address of a read in the API.
func (o Operation) address(values map[string][]string) string {
	path, query := o.Path, url.Values{}
	for name, list := range values {
		if in := "{" + name + "}"; strings.Contains(path, in) && len(list) == 1 {
			path = strings.Replace(path, in, url.PathEscape(list[0]), 1)
			continue
		}
		query[name] = list
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// with returns the address of the view with another value of a parameter.
func (d *data) with(name, value string) string {
	q := url.Values{}
	for n, list := range d.Query {
		if n != "did" && n != "cursor" { // A page of another list is no page of this one.
			q[n] = list
		}
	}
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	return (&url.URL{Path: d.Path, RawQuery: q.Encode()}).String()
}

// With returns the address of the view with another value of a parameter.
func (d *data) With(name, value string) string { return d.with(name, value) }

// dots stands in a path for a word of dots alone, which the parameter of this name then has.
const dots = "~"

// Link returns the address of a view: of the words of its path, each escaped. Pairs of parameters may follow "?".
func (d *data) Link(words ...string) string {
	path, q, given := "", url.Values{}, map[string]bool{}
	for i, word := range words {
		if word == "?" {
			for rest := words[i+1:]; len(rest) > 1; rest = rest[2:] {
				name, value := rest[0], rest[1]
				if given[name] = true; value != "" && (d.All || name != "project" && name != "user") {
					q.Set(name, value)
				}
			}
			break
		}
		if strings.Trim(word, ".") == "" { // Browsers take a word of dots as a step up.
			q.Set(dots, word)
			word = dots
		}
		path += "/" + url.PathEscape(word)
	}
	for name, value := range map[string]string{"project": d.Scope.Project, "user": d.Scope.User, "agent": d.Scope.Agent} {
		if value != "" && !given[name] && (d.All || name == "agent" && value != d.Pages.Scope.Agent) {
			q.Set(name, value)
		}
	}
	if path = cmp.Or(path, "/"); len(q) > 0 {
		path += "?" + q.Encode()
	}
	return path
}

// Do returns the address of the form for an operation, with values of its parameters. It leads back to this view.
func (d *data) Do(operation string, pairs ...string) string {
	words := append([]string{"do", operation, "?"}, pairs...)
	if !slices.Contains(pairs, "back") {
		words = append(words, "back", d.with("did", ""))
	}
	return d.Link(words...)
}

// LinkFor returns the address of the overview of another scope.
func (d *data) LinkFor(project, user, agent string) string {
	return d.Link("?", "project", project, "user", user, "agent", agent)
}

// listed is a list within a page.
type listed struct {
	*data
	Rows  any
	Graph graph
}

// WithMain returns the data of the page with another value as its own, for the template of another view.
func (d *data) WithMain(value any) *data {
	other := *d
	other.Main = value
	return &other
}

// Onward returns true on a page that leads on by itself. A form is opened only by hand: a link elsewhere may have filled it.
func (d *data) Onward() bool { return d.View == "onward" && !strings.HasPrefix(d.Path, "/do/") }

// List returns the rows for a template that several views have.
func (d *data) List(rows any) listed { return listed{data: d, Rows: rows} }
