package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/serve"
)

// Flags that would expose the memory to others are refused before anything is served.
func TestServeFlags(t *testing.T) {
	t.Parallel()
	short, open := commandtest.Write(t, "token", "short\n"), commandtest.Write(t, "open", strings.Repeat("x", 40))
	require.NoError(t, os.Chmod(short, 0o600))
	require.NoError(t, os.Chmod(open, 0o640))
	for says, args := range map[string][]string{
		"want an address": {"--address", "here"},
		"at least 16":     {"--token-file", short},
		"open\": others than its owner may read or change it: chmod 600": {"--token-file", open},
		"--token-file":     {"--token-file", "/dev/null/token"},
		"leave out":        {"--all", "--project", "p"},
		"project is empty": {"--project", ""},
		"--limit 21":       {"--limit", "21"},
	} {
		o := commandtest.Down().Run(append([]string{"serve", "--address", "127.0.0.1:0"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", args, o)
		require.Contains(t, o.Err, says)
	}
}

// A client needs the token; web pages and other host names are refused. Agents reach the tools.
func TestServeAccess(t *testing.T) {
	t.Parallel()
	a := start(commandtest.Down(), t, "--host", "memory.test")
	for _, test := range []struct {
		name, token, host, header, value string
		status                           int
	}{
		{"known", a.token, "", "", "", http.StatusOK},
		{"of another name", a.token, "memory.test:80", "", "", http.StatusOK},
		{"without a token", "", "", "", "", http.StatusUnauthorized},
		{"wrong token", a.token + "x", "", "", "", http.StatusUnauthorized},
		{"rebound name", a.token, "evil.example", "", "", http.StatusForbidden},
		{"a page", a.token, "", "Origin", "http://evil.example", http.StatusForbidden},
		{"a page of this machine", a.token, "", "Origin", "http://localhost", http.StatusForbidden},
		{"a sandboxed page", a.token, "", "Origin", "null", http.StatusForbidden},
		{"a link", a.token, "", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
	} {
		for _, path := range []string{"/openapi.json", "/metrics", "/mcp"} {
			method, body := http.MethodGet, ""
			if path == "/mcp" {
				method = http.MethodPost
				body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
			}
			r, err := http.NewRequestWithContext(t.Context(), method, a.url+path, strings.NewReader(body))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if test.token != "" {
				r.Header.Set("Authorization", "Bearer "+test.token)
			}
			if test.header != "" {
				r.Header.Set(test.header, test.value)
			}
			if test.host != "" {
				r.Host = test.host
			}
			response, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			raw, err := io.ReadAll(response.Body)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.Equal(t, test.status, response.StatusCode, "%s %s: %s", test.name, path, raw)
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: a.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{a.token}},
	}, nil)
	require.NoError(t, err)
	defer func() { _ = session.Close() }()
	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 10)
	other := a.send(http.MethodPost, "/mcp?project=other", strings.NewReader("{}"))
	require.Equal(t, http.StatusForbidden, other.Status, "%s", other.Body)
}

// bearer adds a token to each request.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// Only a client with the token chooses the trace of its request.
func TestServeTrace(t *testing.T) {
	t.Parallel()
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(collector.Close)
	c := commandtest.Down()
	c.Env = map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.URL}
	a := start(c, t, "--project", "p", "--user", "u")
	const trace = "0af7651916cd43dd8448eb211c80319c"
	send := func(status int) string {
		got := a.send(http.MethodGet, "/v1/none", nil, "Traceparent", "00-"+trace+"-b7ad6b7169203331-01")
		var p struct{ Trace string }
		require.Equal(t, status, got.Status, "%s", got.Body)
		require.NoError(t, json.Unmarshal(got.Body, &p))
		return p.Trace
	}
	require.Equal(t, trace, send(http.StatusNotFound))
	a.token = "wrong"
	require.Empty(t, send(http.StatusUnauthorized))
}

// A request that is wrong gets a problem that names the fault and the next step, and nothing is asked of a server for it.
func TestServeProblems(t *testing.T) {
	t.Parallel()
	a := start(commandtest.Down(), t, "--project", "p", "--user", "u")
	for _, test := range []struct {
		method, at, body string
		status           int
		detail, next     string
	}{
		{"GET", "/v1/none", "", 404, "GET /v1/none", "GET /openapi.json"},
		{"GET", "/none", "", 404, "no such endpoint", "GET /openapi.json"},
		{"GET", "/v1//entries", "", 404, "empty part", "%2F"},
		{"POST", "/v1/entries//confirm", "{}", 404, "empty part", "%2F"},
		{"GET", "/v1/entries/../tasks", "", 404, "dots", "%2E"},
		{"PUT", "/v1/facts", "{}", 405, "PUT /v1/facts", "use GET or POST"},
		{"GET", "/v1/search", "", 400, "query is missing", "GET /openapi.json describes GET /v1/search"},
		{"GET", "/v1/search?query=%20", "", 400, "query is empty", "correct"},
		{"GET", "/v1/search?query=x&limit=5000", "", 400, "limit 5000: want 1 to 200", "correct"},
		{"GET", "/v1/search?query=x&limit=many", "", 400, `limit "many": want a whole number`, "correct"},
		{"GET", "/v1/search?query=x&limit=1&limit=2", "", 400, "limit: want one value", "correct"},
		{"GET", "/v1/search?query=x&kind=spoon", "", 400, `kind "spoon": want one of`, "correct"},
		{"GET", "/v1/search?query=x&max_tokens=1", "", 400, `"max_tokens"; there are:`, "correct"},
		{"GET", "/v1/search?query=x;y", "", 400, "the query of the address", "correct"},
		{"GET", "/v1/search?query=x&project=q", "", 403, "serves project p, and not q", "serve --all"},
		{"GET", "/v1/search?query=x&user=v", "", 403, "serves user u, and not v", "serve --all"},
		{"GET", "/v1/schedules", "", 403, "all projects and users", "serve --all"},
		{"GET", "/v1/tasks?cursor=x", "", 400, `cursor "x": want`, "correct"},
		{"GET", "/v1/entries/a%00b", "", 400, "control character", "correct"},
		{"POST", "/v1/facts", `[]`, 400, "no JSON object", "correct"},
		{"POST", "/v1/facts", `{"content": "x"} y`, 400, "no JSON object", "correct"},
		{"POST", "/v1/facts", `{"content": 5}`, 400, "content: want a text", "correct"},
		{"POST", "/v1/facts", `{"content": "x", "confidence": "0.5"}`, 400, "confidence: want a number", "correct"},
		{"POST", "/v1/facts", `{"content": "x", "spoon": 1}`, 400, `"spoon"; there are: content, agent,`, "correct"},
		{"POST", "/v1/facts?content=x", "", 400, "content is in the address", "correct"},
		{"POST", "/v1/facts", `{"content": "x", "user": "v"}`, 403, "serves user u", "serve --all"},
		{"PATCH", "/v1/tasks/t1", `{"block": "x"}`, 400, "block: want a list of texts", "correct"},
		{"PATCH", "/v1/tasks/t1", `{"block": [1]}`, 400, "block: item 1 is no text", "correct"},
		{"POST", "/v1/sessions", `{"session": "s"}`, 400, "messages is missing", "correct"},
		{"POST", "/v1/sessions", `{"session": "s", "messages": [{"role": "user"}]}`, 400, "line 1 of messages is no message of role and content", "correct"},
		{"POST", "/v1/sessions", `{"session": "s", "messages": [{"role": "user", "content": "x"}, 1]}`, 400, "line 2 of messages is no message of role and content: it is a number", "correct"},
		{"POST", "/v1/sessions", `{"messages": [{"role": "user", "content": "x"}]}`, 400, "session is missing", "correct"},
		{"POST", "/v1/sessions", `{"session": "s", "messages": []}`, 400, "holds no message", "correct"},
		{"POST", "/v1/facts", `{"content": "` + strings.Repeat("x", 2<<20) + `"}`, 413, "too large", "less"},
		{"GET", "/v1/tasks", "", 503, "clickhouse", "Start everything"},
		{"POST", "/v1/facts", `{"content": "x"}`, 503, "", "Start everything"},
	} {
		got := a.send(test.method, test.at, strings.NewReader(test.body), "X-Request-Id", "mine-1")
		name := test.method + " " + test.at + " " + test.body[:min(100, len(test.body))]
		require.Equal(t, "mine-1", got.Header.Get("X-Request-Id"), name)
		require.Equal(t, test.status, got.Status, "%s: %s", name, got.Body)
		p := a.refused(test.status, got)
		require.Contains(t, p.Detail, test.detail, name)
		require.Contains(t, p.Next, test.next, name)
		require.NotContains(t, p.Detail, "--", "the words are those of the API: %+v", p)
	}
	got := a.send(http.MethodPost, "/v1/facts", strings.NewReader("content=x"), "Content-Type", "application/x-www-form-urlencoded", "X-Request-Id", "a b")
	require.Contains(t, a.refused(http.StatusBadRequest, got).Detail, "send JSON")
	require.NotEqual(t, "a b", got.Header.Get("X-Request-Id"), "an id that would break a log is replaced")
	require.Contains(t, string(a.send(http.MethodGet, "/metrics", nil).Body), `axiommind_http_request_seconds_count{endpoint="GET /v1/tasks",status="503"} 1`)
	require.True(t, bytes.HasPrefix(a.send(http.MethodGet, "/openapi.json", nil).Body, []byte("{\n\"components\"")))
}

// I10: a server of one project and user neither reads nor changes data of another.
func TestI10ServeScope(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	ann := c.Project + "-ann"
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision)), "--session", ann, "--user", ann)
	require.Zero(t, o.Code, o)
	const pages = "We decided to write the pages in Markdown."
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", pages)), "--session", "pages-"+c.Project).Code)
	conflict := c.Contradiction(t)
	mine := start(c, t, "--project", c.Project, "--user", ann)
	require.Empty(t, items(t, mine.get("/v1/conflicts", nil, nil)), "the conflict is of another user")
	listed := items(t, mine.get("/v1/builds", nil, nil))
	require.Len(t, listed, 1)
	own := listed[0]["build_id"].(string)
	theirs := c.BuildsOf(t, c.Project)[0]
	decided := c.Run("decisions", "record", "Keep it", "--project", c.Project, "--because-of", c.EntryOf(t, pages).ID, "-o", "json")
	require.Zero(t, decided.Code, decided)
	proposal := c.Propose(t, c.EntryOf(t, conflict.Newer.Title), "retire", "", "a joke")
	for _, test := range []struct {
		method, path string
		values       []string
		parameters   map[string]any
	}{
		{"GET", "/v1/entries/{entry}", []string{conflict.Newer.EntryID}, nil},
		{"POST", "/v1/entries/{entry}/confirm", []string{conflict.Newer.EntryID}, map[string]any{}},
		{"POST", "/v1/entries/{entry}/retire", []string{conflict.Newer.EntryID}, map[string]any{"because": "x"}},
		{"POST", "/v1/entries/{entry}/correct", []string{conflict.Newer.EntryID}, map[string]any{"with": "We use SQLite."}},
		{"GET", "/v1/conflicts/{conflict}", []string{conflict.ID}, nil},
		{"POST", "/v1/conflicts/{conflict}/resolve", []string{conflict.ID}, map[string]any{"keep": conflict.Newer.EntryID}},
		{"POST", "/v1/proposals/{proposal}/accept", []string{proposal}, map[string]any{}},
		{"POST", "/v1/decisions", nil, map[string]any{"decision": "x", "because_of": []string{conflict.Newer.EntryID}}},
		{"GET", "/v1/builds/{build}", []string{theirs}, nil},
		{"GET", "/v1/builds/{build}/diff/{other}", []string{theirs, theirs}, nil},
		{"GET", "/v1/builds/{build}/diff/{other}", []string{own, theirs}, nil},
		{"POST", "/v1/builds/{build}/replay", []string{theirs}, map[string]any{}},
		{"POST", "/v1/builds/{build}/retry", []string{theirs}, map[string]any{}},
		{"GET", "/v1/sessions/{session}", []string{"later-" + c.Project}, nil},
	} {
		p := mine.refused(http.StatusNotFound, mine.ask(test.method, test.path, test.values, test.parameters))
		for _, secret := range []string{conflict.Newer.EntryID, conflict.Newer.Title, "later-" + c.Project, theirs, "user \"default\""} {
			if !slices.Contains(test.values, secret) {
				require.NotContains(t, p.Detail+p.Next, secret, test.path)
			}
		}
	}
	health := mine.ask(http.MethodGet, "/v1/health", nil, nil)
	require.Contains(t, string(health.Body), `"worker"`)
	require.NotRegexp(t, `"(dreams|schedules)"`, string(health.Body), "they name other users")
	empty := start(c, t, "--project", "new "+c.Project, "--user", "nobody")
	require.Empty(t, empty.get("/v1/search", nil, map[string]any{"query": "x"})["hits"], "and no names of others")
	empty.refused(http.StatusForbidden, empty.ask(http.MethodPost, "/v1/graduate", nil, nil))
	decisions := items(t, mine.get("/v1/decisions", nil, nil))
	require.Len(t, decisions, 1)
	require.Equal(t, ann, decisions[0]["user"])
	require.Empty(t, items(t, mine.get("/v1/proposals", nil, nil)))
	require.Len(t, items(t, mine.get("/v1/measures", nil, nil)), 1)
	mine.get("/v1/builds/{build}", []string{own}, nil)
	all := start(c, t, "--all")
	all.get("/v1/entries/{entry}", []string{conflict.Newer.EntryID}, map[string]any{"project": c.Project})
	require.Len(t, items(t, all.get("/v1/conflicts", nil, map[string]any{"project": c.Project})), 1)
}

// A link to 0.0.0.0 opens nothing outside the container that prints it.
func TestPrintedAddressIsLocal(t *testing.T) {
	t.Parallel()
	for listening, want := range map[string]string{
		"0.0.0.0:7390": "127.0.0.1:7390", "[::]:7390": "127.0.0.1:7390", "127.0.0.1:1": "127.0.0.1:1", "[::1]:2": "[::1]:2", "10.0.0.7:3": "10.0.0.7:3",
	} {
		addr, err := net.ResolveTCPAddr("tcp", listening)
		require.NoError(t, err)
		require.Equal(t, want, serve.Local(addr))
	}
}
