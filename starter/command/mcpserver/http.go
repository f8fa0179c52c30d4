package mcpserver

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"axiommind/schema"
	"axiommind/starter/command"
)

// idleSession is how long a client may be silent before its session ends.
const idleSession = time.Hour

// mostScopes is how many scopes have a server at a time.
const mostScopes = 1000

// Handler answers over streamable HTTP. A session reaches the memory of the scope that scopeOf returns, or is refused by its
// error. All sessions share a limit of the facts that they remember.
func Handler(ctx context.Context, a *command.App, o Options, logger *slog.Logger, scopeOf func(*http.Request) (schema.Scope, error)) http.Handler {
	var mu sync.Mutex
	servers, statements := map[schema.Scope]*mcp.Server{}, hourly()
	serverOf := func(scope schema.Scope) (*mcp.Server, error) {
		mu.Lock()
		defer mu.Unlock()
		if servers[scope] == nil {
			own := o
			own.Scope = scope
			s, err := newMCPServer(ctx, a, &own, logger, statements)
			if err != nil {
				return nil, err
			}
			if len(servers) >= mostScopes {
				clear(servers) // Sessions keep theirs.
			}
			servers[scope] = s.server()
		}
		return servers[scope], nil
	}
	type scoped struct{}
	handler := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		server, _ := r.Context().Value(scoped{}).(*mcp.Server)
		return server
	}, &mcp.StreamableHTTPOptions{
		Logger: logger, SessionTimeout: idleSession, MaxRequestBodyBytes: command.MostRequestBytes,
		DisableLocalhostProtection: true, // The guard of the server is stricter, and admits other names.
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scope, err := scopeOf(r)
		var server *mcp.Server
		if err == nil {
			server, err = serverOf(scope)
		}
		if err != nil {
			http.Error(w, command.Reason(err), http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), scoped{}, server)))
	})
}
