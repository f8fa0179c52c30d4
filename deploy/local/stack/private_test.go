package stack_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"axiommind/deploy/local/stack"

	"github.com/stretchr/testify/require"
)

// ask sends a request as a web page or another program would.
func ask(t *testing.T, method, url, body string, edit func(*http.Request)) (status int, header http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if edit != nil {
		edit(req)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, resp.Header
}

func TestWeaviateWantsItsKey(t *testing.T) {
	t.Parallel()
	s := start(t, stack.Options{Weaviate: true, Ephemeral: true})
	base := "http://" + s.Addresses().WeaviateHost
	class := `{"class": "Stranger"}`
	foreign := func(r *http.Request) {
		r.Header.Set("Origin", "https://evil.example")
		r.Header.Set("Content-Type", "text/plain")
	}
	as := func(key string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
	}
	for name, tt := range map[string]struct {
		method, path, body string
		edit               func(*http.Request)
	}{
		"a reader without a key":   {http.MethodGet, "/v1/schema", "", nil},
		"a writer without a key":   {http.MethodPost, "/v1/schema", class, nil},
		"a page":                   {http.MethodPost, "/v1/schema", class, foreign},
		"a page that queries":      {http.MethodPost, "/v1/graphql", `{"query": "{Aggregate{Stranger{meta{count}}}}"}`, foreign},
		"a wrong key":              {http.MethodGet, "/v1/schema", "", as("wrong")},
		"the beginning of the key": {http.MethodGet, "/v1/schema", "", as(s.Addresses().WeaviateKey[:5])},
	} {
		status, header := ask(t, tt.method, base+tt.path, tt.body, tt.edit)
		require.GreaterOrEqual(t, status, 401, name)
		require.Less(t, status, 500, name)
		require.NotEqual(t, "*", header.Get("Access-Control-Allow-Origin"), name)
		require.NotContains(t, header.Get("Access-Control-Allow-Origin"), "evil", name)
	}
	_, header := ask(t, http.MethodOptions, base+"/v1/schema", "", func(r *http.Request) {
		foreign(r)
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
	})
	require.Equal(t, base, header.Get("Access-Control-Allow-Origin"))
	status, _ := ask(t, http.MethodGet, base+"/v1/schema", "", as(s.Addresses().WeaviateKey))
	require.Equal(t, http.StatusOK, status)
	status, _ = ask(t, http.MethodGet, base+"/v1/schema/Stranger", "", as(s.Addresses().WeaviateKey))
	require.Equal(t, http.StatusNotFound, status, "a stranger's class was made")
}

// A start leaves nothing that others can read, also in a directory that was there with wider rights.
func TestDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "stack")
	for _, sub := range []string{"", "clickhouse", "logs", "samples"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, sub), 0o755))
	}
	for _, name := range []string{"state.json", "logs/clickhouse.log", "logs/old.log", "samples/a.txt", "temporal.db"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	notOurs := filepath.Join(dir, "notes.txt")
	require.NoError(t, os.WriteFile(notOurs, nil, 0o644))
	start(t, stack.Options{Dir: dir, ClickHouse: true})
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		if path != notOurs {
			require.Zero(t, info.Mode().Perm()&0o077, "%s is %s", path, info.Mode())
		}
		return nil
	})
	require.NoError(t, err)
	info, err := os.Stat(notOurs)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o644), info.Mode().Perm(), "what is not the stack's stays as it is")
}

// The servers are for their user alone.
func TestServersArePrivate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	t.Setenv("OPENAI_API_KEY", "a-key-of-mine")
	s := start(t, stack.Options{Dir: t.TempDir(), ClickHouse: true, Temporal: true, Weaviate: true})
	require.Len(t, s.Servers(), 3)
	require.Contains(t, s.Addresses().ClickHouseDSN, s.Addresses().WeaviateKey)
	for name, pid := range s.Servers() {
		t.Run(name+" listens on loopback only", func(t *testing.T) {
			listening := listeners(t, pid)
			require.NotEmpty(t, listening)
			for _, address := range listening {
				require.Contains(t, address, "0100007F:")
			}
		})
		// Every user of the machine can see arguments.
		t.Run(name+" has no secret among its arguments", func(t *testing.T) {
			args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			require.NoError(t, err)
			require.NotContains(t, string(args), s.Addresses().WeaviateKey)
		})
		t.Run(name+" gets no key that it does not need", func(t *testing.T) {
			env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
			require.NoError(t, err)
			require.Equal(t, name != "temporal", strings.Contains(string(env), s.Addresses().WeaviateKey))
			require.Contains(t, string(env), "PATH=")
			require.NotContains(t, string(env), "a-key-of-mine")
		})
	}
}

func TestSharedDirectoryStaysShared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o777|fs.ModeSticky))
	require.NoError(t, stack.MakePrivate(dir))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o777), info.Mode().Perm())
}

func TestWritePrivateReplacesAWiderFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "local.yaml")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o644))
	require.NoError(t, stack.WritePrivate(path, []byte("new")))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
}
