package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/serve"
)

// api is a client of a server.
type api struct {
	t          testing.TB
	url, token string
	// entrance is the link that logs one browser in.
	entrance string
	// schemas are the compiled answers of the description, by method and path.
	schemas *jsonschema.Compiler
	doc     map[string]any
	// asked are the endpoints that were asked, if they are noted.
	asked map[string]bool
}

const documentURL = "https://test/openapi.json"

// start starts a server and returns a client. Its answers must be as the description has them.
func start(c *commandtest.CLI, t testing.TB, args ...string) *api {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a token", "of ‘serve’")
	says, stop, ended := c.Begin(t, 0, append([]string{"serve", "--address", "127.0.0.1:0", "--token-file", file}, args...)...)
	t.Cleanup(func() {
		stop()
		require.Equal(t, command.ExitOK, <-ended, says)
	})
	address := regexp.MustCompile(`at (http://\S+)`)
	commandtest.Eventually(t, func() bool { return strings.Contains(says.String(), "/v1/health") }, says)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "the token is the owner's alone")
	a := &api{t: t, url: address.FindStringSubmatch(says.String())[1], token: strings.TrimSpace(string(raw))}
	a.entrance = regexp.MustCompile(`open once, within 15 minutes: (http://\S+)`).FindStringSubmatch(says.String())[1]
	_, document, err := serve.Describe(&command.App{Groups: program.Groups()})
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(document, &a.doc))
	a.schemas = jsonschema.NewCompiler()
	require.NoError(t, a.schemas.AddResource(documentURL, a.doc))
	return a
}

// answer is an answer of the server.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// ask sends a request. path is a path of the description, whose words are replaced by values in their order; of a read the
// parameters are the query, of all else the body.
func (a *api) ask(method, path string, values []string, parameters map[string]any, headers ...string) answer {
	a.t.Helper()
	at := path
	for _, value := range values {
		from, to := strings.Index(at, "{"), strings.Index(at, "}")
		at = at[:from] + url.PathEscape(value) + at[to+1:]
	}
	var body io.Reader
	if len(parameters) > 0 && (method == http.MethodGet || method == http.MethodDelete) {
		query := url.Values{}
		for name, value := range parameters {
			if list, is := value.([]string); is {
				query[name] = list
				continue
			}
			query.Set(name, fmt.Sprint(value))
		}
		at += "?" + query.Encode()
	} else if parameters != nil {
		raw, err := json.Marshal(parameters)
		require.NoError(a.t, err)
		body = bytes.NewReader(raw)
	}
	if a.asked != nil {
		a.asked[method+" "+path] = true
	}
	done := a.send(method, at, body, headers...)
	a.check(method, path, done)
	return done
}

// send sends a request as it is.
func (a *api) send(method, at string, body io.Reader, headers ...string) answer {
	a.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, a.url+at, body)
	require.NoError(a.t, err)
	r.Header.Set("Authorization", "Bearer "+a.token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(a.t, err)
	raw, err := io.ReadAll(response.Body)
	require.NoError(a.t, err)
	require.NoError(a.t, response.Body.Close())
	return answer{response.StatusCode, response.Header, raw}
}

// check compares the answer with the description.
func (a *api) check(method, path string, got answer) {
	a.t.Helper()
	responses := a.doc["paths"].(map[string]any)[path].(map[string]any)[strings.ToLower(method)].(map[string]any)["responses"].(map[string]any)
	name, media := fmt.Sprint(got.Status), "application/json"
	if responses[name] == nil {
		name, media = "default", "application/problem+json"
		require.GreaterOrEqual(a.t, got.Status, 400, "%s", got.Body)
	} else if strings.HasPrefix(got.Header.Get("Content-Type"), "application/problem+json") {
		name, media = "default", "application/problem+json"
	}
	require.Equal(a.t, media, got.Header.Get("Content-Type"), "%s %s: %s", method, path, got.Body)
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "+", "%2B")
	schema, err := a.schemas.Compile(documentURL + "#/paths/" + escape.Replace(path) + "/" + strings.ToLower(method) + "/responses/" + name +
		"/content/" + escape.Replace(media) + "/schema")
	require.NoError(a.t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.Body))
	require.NoError(a.t, err, "%s", got.Body)
	require.NoError(a.t, schema.Validate(value), "%s %s: %s", method, path, got.Body)
}

// get reads, and the answer is a success.
func (a *api) get(path string, values []string, parameters map[string]any) map[string]any {
	a.t.Helper()
	return a.done(a.ask(http.MethodGet, path, values, parameters))
}

// do changes data, and the answer is a success.
func (a *api) do(method, path string, values []string, parameters map[string]any, headers ...string) map[string]any {
	a.t.Helper()
	if parameters == nil {
		parameters = map[string]any{}
	}
	return a.done(a.ask(method, path, values, parameters, headers...))
}

func (a *api) done(got answer) (value map[string]any) {
	a.t.Helper()
	require.Less(a.t, got.Status, 300, "%s", got.Body)
	require.NoError(a.t, json.Unmarshal(got.Body, &value))
	return value
}

// items returns the items of a list.
func items(t testing.TB, page map[string]any) (all []map[string]any) {
	t.Helper()
	for _, item := range page["items"].([]any) {
		all = append(all, item.(map[string]any))
	}
	return all
}

// problem is a refused request.
type problem struct {
	Status                    int
	Title, Detail, Next, Type string
	RequestID                 string `json:"request_id"`
}

// refused is an answer that is a problem with the status.
func (a *api) refused(status int, got answer) (p problem) {
	a.t.Helper()
	require.Equal(a.t, status, got.Status, "%s", got.Body)
	require.Equal(a.t, "application/problem+json", got.Header.Get("Content-Type"))
	require.NoError(a.t, json.Unmarshal(got.Body, &p))
	require.Equal(a.t, []any{status, http.StatusText(status), "about:blank"}, []any{p.Status, p.Title, p.Type})
	require.NotEmpty(a.t, p.Detail)
	require.Equal(a.t, got.Header.Get("X-Request-Id"), p.RequestID)
	return p
}
