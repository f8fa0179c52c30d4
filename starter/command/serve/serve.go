// Package serve has the command serve: one process that serves the memory to people as pages, to programs over HTTP, and to
// agents by the Model Context Protocol. An endpoint is a command, so that both do the same in the same way.
package serve

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/mcpserver"
	"axiommind/starter/command/serve/page"
	"axiommind/worker/service"
	"axiommind/worker/statedir"
)

// Commands returns the command serve.
func Commands(a *command.App) []*cobra.Command { return []*cobra.Command{serveCommand(a)} }

// server answers requests.
type server struct {
	app       *command.App
	access    *access
	logger    *slog.Logger
	endpoints []*endpoint
	// known has the endpoints by their method and path.
	known map[string]*endpoint
	// called finds the calls of commands in an error, and calls are the endpoints of these, by the words of the command.
	called *regexp.Regexp
	calls  map[string]string
	took   *prometheus.HistogramVec
	pages  *page.Pages
}

func serveCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "serve", Short: "serve a memory to people, programs and agents over HTTP",
		Long: `The pages are at /, the API at /v1, its description at /openapi.json, the tools of agents (the Model Context Protocol) at
/mcp, and metrics at /metrics. A browser logs in by the printed link, once, or by the token; each other request needs the token.
Pages of other servers are refused. A person's own memory is served, unless --all is given.`,
		Example: "starter serve --project demo\n" +
			"starter serve --all --address 127.0.0.1:7390 --token-file token.txt",
	}
	f := cmd.Flags()
	x, o := &access{}, &mcpserver.Options{}
	x.add(f)
	o.AddScope(f)
	o.AddTools(f)
	return a.Online(command.Server(cmd), func(ctx context.Context, _ []string) error {
		if err := o.Check(); err != nil {
			return err
		}
		typed := func(flag string) bool { return slices.Contains(a.Typed, flag) } // Variables name those of other commands, too.
		if x.all && (typed("project") || typed("user") || typed("agent")) {
			return command.Usagef("--all serves all projects and users: leave out --project, --user and --agent")
		}
		x.scope, x.tokenFile = o.Scope, cmp.Or(x.tokenFile, a.Cfg.State.Path(statedir.ServeToken))
		if err := x.open(); err != nil {
			return err
		}
		logger, err := service.NewLogger(a.Cfg)
		if err != nil {
			return command.BadUsage(err)
		}
		s, err := newServer(a, x, logger)
		if err != nil {
			return err
		}
		return s.run(ctx, *o)
	})
}

func newServer(a *command.App, x *access, logger *slog.Logger) (*server, error) {
	s := &server{app: a, access: x, logger: logger, known: map[string]*endpoint{}, calls: map[string]string{}}
	for _, o := range operations() {
		e, err := newEndpoint(a, o)
		if err != nil {
			return nil, err
		}
		at := e.method + " " + e.path
		s.endpoints, s.known[at] = append(s.endpoints, e), e
		if s.calls[e.command] == "" || e.id == "" {
			s.calls[e.command] = at
		}
	}
	// Of two commands that begin alike the longer one is meant.
	byLength := func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }
	s.called = regexp.MustCompile(`starter (` + strings.Join(slices.SortedFunc(maps.Keys(s.calls), byLength), "|") + `)\b`)
	s.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "axiommind_http_request_seconds", Help: "Time to answer a request, by endpoint and status.",
		Buckets: prometheus.ExponentialBuckets(0.002, 2, 14),
	}, []string{"endpoint", "status"})
	return s, nil
}

// idleTimeout is how long a connection without a request stays open.
const idleTimeout = 2 * time.Minute

// run serves until ctx ends.
func (s *server) run(ctx context.Context, o mcpserver.Options) error {
	handler, err := s.handler(ctx, o)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.access.address)
	if err != nil {
		return command.Usagef("--address %q: %v", s.access.address, err)
	}
	url := "http://" + local(listener.Addr())
	served := "all projects and users"
	if !s.access.all {
		served = fmt.Sprintf("project %s, user %s", command.Unbroken(s.access.scope.Project), command.Unbroken(s.access.scope.User))
	}
	_, _ = fmt.Fprintf(s.app.ErrOut, "serving %s at %s\nopen once, within %d minutes: %s%s\nprograms: curl -H \"Authorization: Bearer $(cat %s)\" %s/v1/health\n",
		served, url, int(page.LinkTime.Minutes()), url, s.pages.Entrance(), s.access.tokenFile, url)
	flush(s.app.ErrOut)
	return command.ServeHTTP(ctx, listener, &http.Server{
		Handler: handler, ReadHeaderTimeout: command.StopHTTP, IdleTimeout: idleTimeout,
	})
}

// local returns an address by which this machine reaches the listener. One that listens on all addresses, as in a container, is
// reached on loopback.
func local(listening net.Addr) string {
	at, is := listening.(*net.TCPAddr)
	if !is || !at.IP.IsUnspecified() {
		return listening.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))
}

func flush(w any) {
	if f, is := w.(interface{ Flush() error }); is {
		_ = f.Flush()
	}
}

// handler returns the whole server.
func (s *server) handler(ctx context.Context, o mcpserver.Options) (http.Handler, error) {
	document, err := s.document()
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(s.took, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	for _, e := range s.endpoints {
		mux.HandleFunc(e.method+" "+e.path, func(w http.ResponseWriter, r *http.Request) { s.serve(e, w, r) })
	}
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaJSON)
		_, _ = w.Write(document)
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.Handle("/mcp", mcpserver.Handler(ctx, s.app, o, s.logger, func(r *http.Request) (schema.Scope, error) {
		q := r.URL.Query()
		scope, err := s.access.scopeOf(q.Get("project"), q.Get("user"), q.Get("agent"))
		if err == nil {
			err = scope.Validate()
		}
		return scope, err
	}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { nowhere(mux, w, r) })
	if s.pages, err = page.New(ctx, s.pageOptions()); err != nil {
		return nil, fmt.Errorf("make the pages: %w", err)
	}
	return s.numbered(s.guard(s.traced(mux, true), s.traced(s.pages, false))), nil
}

// nowhere refuses an address that is none of the server's, or that takes other methods.
func nowhere(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	at := r.Method + " " + command.OneLine(r.URL.Path, maxShown)
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		refuse(w, r, problem{Status: http.StatusMethodNotAllowed, Detail: at + ": there is no such endpoint", Next: "use " + strings.Join(allowed, " or ")})
		return
	}
	refuse(w, r, problem{Status: http.StatusNotFound, Detail: at + ": there is no such endpoint", Next: "GET /openapi.json lists them"})
}
