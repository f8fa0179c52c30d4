package serve

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/serve/page"
)

// access decides who is answered, and about whose memory.
type access struct {
	address, tokenFile string
	names              []string
	token              command.BearerToken
	// scope is whose memory is served, unless all is.
	scope schema.Scope
	all   bool
}

func (x *access) add(f *pflag.FlagSet) {
	f.StringVar(&x.address, "address", "127.0.0.1:7390", "host:port to listen on; a port of 0 is any free one")
	f.StringVar(&x.tokenFile, "token-file", "", "file of the token that each request has to send (default: serve.token in the state directory;\nit is made where it is absent)")
	f.StringSliceVar(&x.names, "host", nil, "other host names that the server is reached by (may be repeated)")
	f.BoolVar(&x.all, "all", false, "serve all projects and users: a request names whose memory it is about")
}

// open reads the token, or makes one.
func (x *access) open() error {
	if _, _, err := net.SplitHostPort(x.address); err != nil {
		return command.Usagef("--address %q: want an address like 127.0.0.1:7390", x.address)
	}
	if x.tokenFile == "" {
		return command.Usagef("--token-file: there is no state directory for the token, so name a file")
	}
	if err := makeToken(x.tokenFile); err != nil {
		return command.Usagef("--token-file %q: %v", x.tokenFile, err)
	}
	var err error
	x.token, err = command.ReadToken("--token-file", x.tokenFile)
	return err
}

// makeToken writes a token into the file, if there is none. Only its owner may read it.
func makeToken(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Clean(file), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, rand.Text())
	return errors.Join(err, f.Close())
}

// guard refuses pages of other servers, host names that DNS rebinding points here, and clients without the token. A browser that is
// logged in may read the API too. The pages have a guard of their own.
func (s *server) guard(next, pages http.Handler) http.Handler {
	x := s.access
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := page.Own(r)
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case !x.named(r.Host):
			refuse(w, r, problem{Status: http.StatusForbidden, Detail: "unknown host", Next: "the server names itself by --address and --host"})
		case s.pages.Handles(r):
			pages.ServeHTTP(w, r)
		case own && r.Method == http.MethodGet && s.pages.Knows(r):
			next.ServeHTTP(w, r)
		case r.Header.Get("Origin") != "" || site != "" && site != "none":
			refuse(w, r, problem{Status: http.StatusForbidden, Detail: "a web page may not read the memory", Next: "use a client that is a program, or log in at /login"})
		case !x.token.Admits(r.Header.Get("Authorization")):
			w.Header().Set("WWW-Authenticate", `Bearer realm="axiommind"`)
			refuse(w, r, problem{Status: http.StatusUnauthorized, Detail: "the token is missing or wrong",
				Next: "send the token of the server's --token-file as: Authorization: Bearer TOKEN"})
		case bent(r.URL.EscapedPath()): // The multiplexer would answer with a redirect to another path, as a page.
			refuse(w, r, problem{Status: http.StatusNotFound, Detail: "the path has an empty part, or one of dots",
				Next: "name what the request is about; a slash in a name is %2F, and a dot %2E"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// bent reports whether a path has an empty part before its end, or one that means another directory.
func bent(escaped string) bool {
	parts := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	return slices.Contains(parts[:len(parts)-1], "") || slices.Contains(parts, ".") || slices.Contains(parts, "..")
}

// named reports whether the host of a request is a name of the server.
func (x *access) named(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.Trim(host, "[]")
	}
	if command.Loopback(name) {
		return true
	}
	own, _, _ := net.SplitHostPort(x.address)
	for _, known := range append([]string{own}, x.names...) {
		if known != "" && strings.EqualFold(known, name) {
			return true
		}
	}
	return false
}

// scopeOf returns whose memory a request is about. It may name another scope only where all are served.
func (x *access) scopeOf(project, user, agent string) (schema.Scope, error) {
	if x.all {
		return schema.Scope{Project: project, User: user, Agent: agent}, nil
	}
	for _, asked := range []struct{ name, given, served string }{{"project", project, x.scope.Project}, {"user", user, x.scope.User}} {
		if asked.given != "" && asked.given != asked.served {
			return schema.Scope{}, forbidden{fmt.Errorf("this server serves %s %s, and not %s", asked.name,
				command.OneLine(asked.served, maxShown), command.OneLine(asked.given, maxShown))}
		}
	}
	scope := x.scope
	if agent != "" {
		scope.Agent = agent
	}
	return scope, nil
}

// maxShown bounds a name in an error, in characters.
const maxShown = 200

// owned is a value of an answer that belongs to a project and a user.
type owned interface{ Owner() schema.Scope }

// foreign reports whether the value belongs to another project or user than the server's.
func (x *access) foreign(v any) bool {
	if check, is := v.(command.Check); is {
		return !x.all && check.Everyone
	}
	o, is := v.(owned)
	if x.all || !is {
		return false
	}
	of := o.Owner()
	return of.Project != "" && of.Project != x.scope.Project || of.User != "" && of.User != x.scope.User
}

// within returns the queue without the sessions of other projects: it is the user's in all of them.
func (x *access) within(v any) any {
	queue, is := v.(schema.QueueState)
	if x.all || !is {
		return v
	}
	other := func(project string) bool { return project != x.scope.Project }
	queue.Pending = slices.DeleteFunc(queue.Pending, func(t schema.QueuedThread) bool { return other(t.Project) })
	queue.Running = slices.DeleteFunc(queue.Running, func(t schema.QueuedThread) bool { return other(t.Project) })
	queue.Again = slices.DeleteFunc(queue.Again, func(r schema.QueueRetry) bool { return other(r.Project) })
	queue.Threads = len(queue.Pending)
	if queue.Last != nil && other(queue.Last.Project) {
		queue.Last = nil
	}
	return queue
}

// forbidden is the error of a request that the server does not serve.
type forbidden struct{ error }
