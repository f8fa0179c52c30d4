package vector

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/clickhouse"
	"axiommind/activities/vector/store/weaviate"
	"axiommind/deploy/local/sharedtest"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// shelf is a collection with one project's objects.
type shelf struct {
	client     *Client
	collection string
}

func newShelf(t testing.TB) shelf {
	t.Helper()
	s := shelf{client: newClient(t), collection: schema.VectorCollection(version(t))}
	_, err := s.client.EnsureCollection(t.Context(), s.collection)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.client.DeleteCollection(context.Background(), s.collection) })
	return s
}

func (s shelf) put(t testing.TB, project string, items ...Item) {
	t.Helper()
	require.NoError(t, s.client.EnsureTenant(t.Context(), s.collection, project))
	objects := make([]Object, len(items))
	for i, item := range items {
		item.Project, item.Kind = project, schema.ItemEntry
		objects[i] = item.object("v", []float32{1, float32(i), 0.5, 0.25})
	}
	results, err := s.client.Put(t.Context(), s.collection, project, objects)
	require.NoError(t, err)
	for _, fault := range results {
		require.NoError(t, fault)
	}
}

func (s shelf) find(ctx context.Context, project, text string, alpha float64, f Filter) ([]string, error) {
	f.Kinds = []string{schema.ItemEntry}
	found, err := s.client.Hybrid(ctx, HybridQuery{
		Collection: s.collection, Project: project, Filter: f, Text: text,
		Vector: []float32{1, 0, 0.5, 0.25}, Alpha: alpha, Limit: 20,
	})
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.ItemID
	}
	return ids, err
}

func TestHybridScores(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "p", Item{ID: "0", Title: "the quick fox"}, Item{ID: "1", Title: "a lazy dog"}, Item{ID: "2", Title: "fox and dog"})
	for _, alpha := range []float64{0, 0.3, 1} {
		found, err := s.client.Hybrid(t.Context(), HybridQuery{
			Collection: s.collection, Project: "p", Filter: Filter{Kinds: []string{schema.ItemEntry}}, Text: "lazy dog",
			Vector: []float32{1, 0, 0.5, 0.25}, Alpha: alpha, Limit: 10,
		})
		require.NoError(t, err)
		require.NotEmpty(t, found)
		for _, c := range found {
			require.InDelta(t, c.Score, c.Vector+c.Keyword, 1e-5, "alpha %v: %+v", alpha, c)
		}
		first := map[float64]string{0: "1", 0.3: "1", 1: "0"}[alpha]
		require.Equal(t, first, found[0].ItemID, "alpha %v", alpha)
	}
}

// A project without writes and a collection that does not exist are empty.
func TestNothingThere(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	none := shelf{client: s.client, collection: "Entry_none_" + schema.HashText(t.Name())[:8]}
	for _, s := range []shelf{s, none} {
		found, err := s.find(t.Context(), "nobody", "x", 0.5, Filter{})
		require.NoError(t, err)
		require.Empty(t, found)
		n, err := s.client.Count(t.Context(), s.collection, "nobody")
		require.NoError(t, err)
		require.Zero(t, n)
		listed, err := s.client.List(t.Context(), s.collection, "nobody", "", 10)
		require.NoError(t, err)
		require.Empty(t, listed)
		tenants, err := s.client.Tenants(t.Context(), s.collection)
		require.NoError(t, err)
		require.Empty(t, tenants)
	}
}

func TestEnsureIsSafeForSeveral(t *testing.T) {
	t.Parallel()
	client, collection := newClient(t), schema.VectorCollection(version(t))
	t.Cleanup(func() { _ = client.DeleteCollection(context.Background(), collection) })
	var wg sync.WaitGroup
	faults := make([]error, 8)
	for i := range faults {
		wg.Go(func() {
			_, err := client.EnsureCollection(t.Context(), collection)
			faults[i] = errors.Join(err, client.EnsureTenant(t.Context(), collection, "p"))
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(faults...))
	tenants, err := client.Tenants(t.Context(), collection)
	require.NoError(t, err)
	require.Equal(t, []string{"p"}, tenants)
}

func TestCollectionOfAnotherKindIsRefused(t *testing.T) {
	t.Parallel()
	client, collection := newClient(t), schema.VectorCollection(version(t))
	t.Cleanup(func() { _ = client.DeleteCollection(context.Background(), collection) })
	require.NoError(t, client.request(t.Context(), "test", http.MethodPost, "/schema", map[string]any{"class": collection, "vectorizer": "none"}, nil))
	_, err := client.EnsureCollection(t.Context(), collection)
	require.ErrorIs(t, err, ErrCollection)
	require.ErrorContains(t, err, "it has no tenants")
	var e *Error
	require.ErrorAs(t, err, &e)
	require.False(t, e.Retryable())
}

var awkward = []string{
	`"`, `\`, `\"`, `"})}}{Get{`, "a\nb", "\r\n", "\t", "\x00", "\x01\x1f\x7f", "\u0085\u009f", "\u2028\u2029", "\ufeff",
	"😀👩‍👩‍👧", "{}", "${x}", `\u0041`, "#comment", `"""`, "한국어 \"따옴표\"", "\xff\xfe", "$q", "null", "'", "%s%q", "e\u0301",
}

// For any user name, the filter matches exactly that name, and Weaviate can parse it.
func TestFilterValuesAreSafe(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	items := []Item{{ID: "victim", Title: "secret", User: "victim"}}
	for i, user := range awkward {
		items = append(items, Item{ID: fmt.Sprint(i), Title: "note", User: user})
	}
	s.put(t, "p", items...)
	for i, user := range awkward {
		found, err := s.find(t.Context(), "p", user, 0.5, Filter{User: user, Agent: "", SessionID: ""})
		require.NoError(t, err, "%q", user)
		require.Contains(t, found, fmt.Sprint(i), "%q", user)
		require.NotContains(t, found, "victim", "%q", user)
		if strings.TrimSpace(user) == "" {
			continue // Weaviate ignores white space. The rows of the entries decide.
		}
		for _, f := range []Filter{{User: user, Agent: user}, {User: user, SessionID: user}, {User: user, Types: []string{user}}} {
			found, err := s.find(t.Context(), "p", user, 0.5, f)
			require.NoError(t, err, "%q", user)
			require.Empty(t, found, "%q", user)
		}
	}
}

func TestAnyQueryTextIsTaken(t *testing.T) {
	t.Parallel()
	anyQueryTextIsTaken(t, 30)
}

func anyQueryTextIsTaken(t *testing.T, draws int) {
	t.Helper()
	s := newShelf(t)
	s.put(t, "p", Item{ID: "0", Title: "note", User: "u"}, Item{ID: "1", Title: "other", User: "v"})
	sharedtest.CheckFew(t, draws, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom(awkward)).Draw(t, "text")
		user := rapid.OneOf(rapid.String(), rapid.SampledFrom(awkward)).Draw(t, "user")
		if _, err := s.find(context.Background(), "p", text, 0.5, Filter{User: user}); err != nil {
			t.Fatalf("text %q, user %q: %v", text, user, err)
		}
	})
}

// readGraphQL parses a string literal by the rules of the GraphQL specification.
func readGraphQL(literal string) (value, rest string, ok bool) {
	if !strings.HasPrefix(literal, `"`) || strings.HasPrefix(literal, `"""`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(literal); {
		r, size := utf8.DecodeRuneInString(literal[i:])
		switch {
		case r == '"':
			return b.String(), literal[i+1:], true
		case r == '\n' || r == '\r' || r < 0x20 && r != '\t':
			return "", "", false
		case r != '\\':
			b.WriteString(literal[i : i+size])
			i += size
			continue
		}
		end := i + 2
		if strings.HasPrefix(literal[i:], `\u`) {
			end = i + 6
		}
		if end > len(literal) {
			return "", "", false
		}
		var s string
		if json.Unmarshal([]byte(`"`+literal[i:end]+`"`), &s) != nil {
			return "", "", false
		}
		b.WriteString(s)
		i = end
	}
	return "", "", false
}

func FuzzQuote(f *testing.F) {
	for _, text := range awkward {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return // "" followed by a quote would start a block string, but our queries never have that.
		}
		value, rest, ok := readGraphQL(quote(text) + "TAIL")
		var want strings.Builder
		for _, r := range text {
			want.WriteRune(r)
		}
		require.True(t, ok, "%q", text)
		require.Equal(t, "TAIL", rest)
		require.Equal(t, want.String(), value)
	})
}

// Each project has its own tenant, and each call reaches one.
func TestProjectsAreApart(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	projects := []string{"a", "A", "a b", "a_b", "ab", "프로젝트", strings.Repeat("long ", 40), strings.Repeat("long ", 40) + "x"}
	for i, p := range projects {
		s.put(t, p, Item{ID: fmt.Sprint(i), Title: "same words"})
	}
	for i, p := range projects {
		found, err := s.find(t.Context(), p, "same words", 0.5, Filter{})
		require.NoError(t, err)
		require.Equal(t, []string{fmt.Sprint(i)}, found, "project %q", p)
		listed, err := s.client.List(t.Context(), s.collection, p, "", 10)
		require.NoError(t, err)
		require.Len(t, listed, 1)
	}
}

func TestReadyNamesTheHost(t *testing.T) {
	t.Parallel()
	version, err := newClient(t).Ready(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, version)

	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	client, err := NewClient(ClientConfig{URL: down.URL, ReadyDelay: time.Second})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // One probe must end within it, also on a busy machine.
	defer cancel()
	_, err = client.Ready(ctx)
	require.ErrorContains(t, err, strings.TrimPrefix(down.URL, "http://"))
	require.ErrorContains(t, err, "connection refused")
}

func TestReadyWaits(t *testing.T) {
	t.Parallel()
	probes := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/ready") {
			if probes++; probes < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return
		}
		_, _ = w.Write([]byte(`{"version":"1.35.2"}`))
	}))
	defer server.Close()
	client, err := NewClient(ClientConfig{URL: server.URL, ReadyDelay: time.Millisecond})
	require.NoError(t, err)
	version, err := client.Ready(t.Context())
	require.NoError(t, err)
	require.Equal(t, "1.35.2", version)
}

func TestErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		status    int
		body      string
		retryable bool
		message   string
	}{
		{"bad request", 422, `{"error":[{"message":"no"}]}`, false, "no"},
		{"key refused", 401, `{"error":[{"message":"anonymous access not enabled"}]}`, false, "anonymous"},
		{"too many", 429, `slow down`, true, "slow down"},
		{"down", 503, `starting`, true, "starting"},
		{"not json", 200, `<html>`, true, "invalid character"},
		{"query refused", 200, `{"errors":[{"message":"Syntax Error GraphQL"}]}`, false, "Syntax Error"},
		{"shard busy", 200, `{"errors":[{"message":"shard is loading"}]}`, true, "shard is loading"},
		{"no answer", 200, `{}`, true, `no "Get"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.status == http.StatusOK && strings.Contains(r.URL.Path, "/aliases/") {
					http.NotFound(w, r)
					return
				}
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(tt.body))
			}))
			defer server.Close()
			client, err := NewClient(ClientConfig{URL: server.URL})
			require.NoError(t, err)
			_, err = client.Hybrid(t.Context(), HybridQuery{Collection: "Entry_x", Project: "p", Text: "x"})
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.retryable, e.Retryable(), err.Error())
			require.ErrorContains(t, err, tt.message)
			want := schema.ErrorVectorRejected
			if tt.retryable {
				want = schema.ErrorVectorUnavailable
			}
			require.Equal(t, want, e.FailureType())
		})
	}
}

func TestPutNeedsAResultForEachObject(t *testing.T) {
	t.Parallel()
	objects := []Object{{ID: schema.DerivedID("1")}, {ID: schema.DerivedID("2")}, {ID: schema.DerivedID("3")}, {ID: schema.DerivedID("4")}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/aliases/") {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprintf(w, `[{"id":%q,"result":{"status":"SUCCESS"}},
			{"id":%q,"result":{"status":"FAILED","errors":{"error":[{"message":"one"},{"message":"two"}]}}},
			{"id":%q,"result":{"status":"FAILED"}}]`, objects[0].ID, objects[1].ID, objects[2].ID)
	}))
	defer server.Close()
	client, err := NewClient(ClientConfig{URL: server.URL, Writer: weaviate.Open})
	require.NoError(t, err)
	results, err := client.Put(t.Context(), "Entry_x", "p", objects)
	require.NoError(t, err)
	require.NoError(t, results[0])
	require.ErrorContains(t, results[1], "one; two")
	require.ErrorContains(t, results[2], "without a reason")
	require.ErrorContains(t, results[3], "no result for object")
}

func TestNewClientRefusesAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:8080", "127.0.0.1", "ftp://x", "http://", "http://%zz"} {
		_, err := NewClient(ClientConfig{URL: address})
		require.ErrorContains(t, err, "read weaviate address", address)
	}
	for _, address := range []string{"http://bob:sesame@h:8080", "http://bob:se/same@h:8080", "http://bob:same@h:port"} {
		_, err := NewClient(ClientConfig{URL: address})
		require.ErrorContains(t, err, "without a user")
		require.NotContains(t, err.Error(), "same")
	}
}

// A server with a certificate of a private authority is reached with that authority, and receives the key.
func TestTrustsItsAuthority(t *testing.T) {
	t.Parallel()
	var keys []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"version":"1.35.2"}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	reach := func(roots *x509.CertPool) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := NewClient(ClientConfig{URL: server.URL, APIKey: "sesame", RootCAs: roots})
		require.NoError(t, err)
		_, err = c.Ready(ctx)
		require.NoError(t, ctx.Err(), "a server that is not trusted is not waited for")
		return err
	}
	err := reach(nil)
	require.ErrorContains(t, err, "certificate")
	require.NotContains(t, err.Error(), "sesame")
	require.Empty(t, keys, "a server that is not trusted is told no key")
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	require.NoError(t, reach(roots))
	require.Equal(t, "Bearer sesame", keys[0])
}

// A search without a project is refused, and does not search the facts of users, whose tenant has the empty name.
func TestI10SearchWithoutProjectIsRefused(t *testing.T) {
	t.Parallel()
	client, err := NewClient(ClientConfig{URL: "http://localhost:1"})
	require.NoError(t, err)
	for _, kinds := range [][]string{nil, {schema.ItemEntry}, {schema.ItemTaskTitle}, {schema.ItemFact, schema.ItemEntry}} {
		_, err := client.Hybrid(t.Context(), HybridQuery{Collection: "C", Filter: Filter{Kinds: kinds, User: "ann"}, Text: "dog", Limit: 1})
		require.ErrorIs(t, err, clickhouse.ErrNoScope, "%q", kinds)
	}
}

// A GET whose answer breaks off is retried. Other requests are not, since the server may have executed them.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	target, err := url.Parse("http://" + stacktest.Weaviate(t))
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	var asked, broken atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if broken.Add(-1) < 0 {
			proxy.ServeHTTP(w, r)
			return
		}
		_, err := io.WriteString(w, `{"classes":[{"class":"Half`)
		assert.NoError(t, err)
		assert.NoError(t, http.NewResponseController(w).Flush())
		panic(http.ErrAbortHandler)
	}))
	defer server.Close()
	client, err := NewClient(ClientConfig{URL: server.URL, APIKey: stacktest.WeaviateKey(t), Writer: weaviate.Open})
	require.NoError(t, err)
	for _, c := range []struct {
		broken, asked int64
		ok            bool
	}{{2, 3, true}, {3, 3, false}} {
		asked.Store(0)
		broken.Store(c.broken)
		_, err = client.classes(t.Context())
		require.Equal(t, c.ok, err == nil, "%v", err)
		require.Equal(t, c.asked, asked.Load())
	}
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)

	asked.Store(0)
	broken.Store(1)
	var made schema.WeaviateClass
	err = client.request(t.Context(), "make collection", http.MethodPost, "/schema", schema.WeaviateClass{}, &made)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.EqualValues(t, 1, asked.Load())
}
