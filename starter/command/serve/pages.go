package serve

import (
	"context"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"axiommind/starter/command"
	"axiommind/starter/command/serve/page"
)

// pageOptions returns the settings of the pages. They ask the endpoints, as programs do.
func (s *server) pageOptions() page.Options {
	return page.Options{
		API: pageAPI{s}, Logger: s.logger, Secret: [32]byte(s.access.token), TokenFile: s.access.tokenFile, Person: strings.TrimPrefix(s.app.Actor(), "cli:"),
		Admits: func(token string) bool { return s.access.token.Admits("Bearer " + token) },
		Scope:  s.access.scope, All: s.access.all,
	}
}

// pageAPI answers the pages by the endpoints.
type pageAPI struct{ *server }

// endpoint returns the endpoint with the id, or nil.
func (a pageAPI) endpoint(id string) *endpoint {
	at := slices.IndexFunc(a.endpoints, func(e *endpoint) bool { return e.name() == id && e.input == "" })
	if at < 0 {
		return nil
	}
	return a.endpoints[at]
}

// Ask runs the endpoint's command.
func (a pageAPI) Ask(ctx context.Context, r page.Request) (answer page.Answer, problem *page.Problem) {
	defer func() { // It runs in goroutines of its own, where a panic would end the server.
		if fault := recover(); fault != nil {
			a.logger.Error("a page's request panicked", "operation", r.Operation, "reason", fault, "stack", string(debug.Stack()))
			problem = &page.Problem{Status: http.StatusInternalServerError, Detail: "The server has a fault, which its log names."}
		}
	}()
	e := a.endpoint(r.Operation)
	if e == nil {
		return page.Answer{}, &page.Problem{Status: http.StatusNotFound, Detail: "there is no such operation"}
	}
	got, _, err := a.ask(ctx, e, asked{values: maps.Clone(given(r.Parameters)), by: r.By, key: r.Key})
	if err != nil {
		p := a.problemOf(e, err)
		if p.Status >= http.StatusInternalServerError && ctx.Err() == nil {
			a.logger.Error("a page's request failed", "endpoint", e.method+" "+e.path, "reason", err)
		}
		return page.Answer{}, &page.Problem{Status: p.Status, Detail: command.Sentence(p.Detail), Next: command.Sentence(p.Next)}
	}
	return page.Answer{Value: got.Value, Next: cursorOf(got)}, nil
}

// Operation describes the endpoint.
func (a pageAPI) Operation(id string) (page.Operation, bool) {
	e := a.endpoint(id)
	if e == nil {
		return page.Operation{}, false
	}
	o := page.Operation{
		ID: id, Method: e.method, Path: e.path, Summary: strings.TrimSuffix(e.title(), "."), Wide: e.wide,
		Shows: e.told || e.long, Scoped: !e.wide && len(e.narrowed) == 0,
	}
	for _, p := range e.params {
		f := page.Field{Name: p.name, Kind: "text", Needed: p.needed, InPath: p.inPath}
		if p.flag != nil {
			f.Usage, f.Values = p.flag.Usage, e.cmd.Values(p.flag)
			switch kind := p.flag.Value.Type(); {
			case lists(p.flag):
				f.Kind = "list"
			case kind == "bool":
				f.Kind = "flag"
			}
		}
		o.Fields = append(o.Fields, f)
	}
	return o, true
}
