package gcs

import (
	"crypto/md5" //nolint:gosec // S3 makes entity tags by it
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/tier"
	"axiommind/schema"
)

// fakeStore holds the objects of the one bucket, memory, of a fake server.
type fakeStore struct {
	mu      sync.Mutex
	objects map[string]fakeObject
	puts    int64
	// refuse is the status of all answers, unless it is 0.
	refuse int
}

type fakeObject struct {
	text       string
	generation int64
}

func (o fakeObject) etag() string {
	sum := md5.Sum([]byte(o.text)) //nolint:gosec // as S3 does
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// under returns the objects below the prefix, and the common prefixes with the delimiter.
func (s *fakeStore) under(prefix, delimiter string) (names, dirs []string) {
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if dir, _, deep := strings.Cut(rest, "/"); deep && delimiter != "" {
			dirs = append(dirs, prefix+dir+"/")
			continue
		}
		names = append(names, name)
	}
	return names, slices.Compact(dirs)
}

func (s *fakeStore) put(name, text string) fakeObject {
	s.puts++
	s.objects[name] = fakeObject{text, s.puts}
	return s.objects[name]
}

// serveS3 speaks the part of S3 that is used.
func (s *fakeStore) serveS3(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(status int, code string) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, code)
	}
	bucket, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	object, exists := s.objects[name]
	switch {
	case s.refuse != 0:
		fail(s.refuse, "AccessDenied")
	case bucket != "memory":
		fail(http.StatusNotFound, "NoSuchBucket")
	case name == "":
		type content struct {
			Key, ETag, LastModified string
			Size                    int
		}
		type common struct{ Prefix string }
		page := struct {
			XMLName        xml.Name `xml:"ListBucketResult"`
			Contents       []content
			CommonPrefixes []common
		}{}
		names, dirs := s.under(r.URL.Query().Get("prefix"), r.URL.Query().Get("delimiter"))
		for _, name := range names {
			o := s.objects[name]
			page.Contents = append(page.Contents, content{name, o.etag(), time.Unix(0, 0).UTC().Format(time.RFC3339), len(o.text)})
		}
		for _, dir := range dirs {
			page.CommonPrefixes = append(page.CommonPrefixes, common{dir})
		}
		_ = xml.NewEncoder(w).Encode(page)
	case r.Method == http.MethodPut:
		match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		if match != "" && !exists {
			fail(http.StatusNotFound, "NoSuchKey")
			return
		}
		if none == "*" && exists || match != "" && match != object.etag() {
			fail(http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		text, _ := io.ReadAll(r.Body)
		if size := r.Header.Get("X-Amz-Decoded-Content-Length"); size != "" { // Signed in chunks: size;signature, text.
			_, rest, _ := strings.Cut(string(text), "\r\n")
			n, _ := strconv.Atoi(size)
			text = []byte(rest)[:n]
			if n == 0 {
				text = nil
			}
		}
		w.Header().Set("ETag", s.put(name, string(text)).etag())
	case !exists:
		fail(http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("ETag", object.etag())
		w.Header().Set("Last-Modified", time.Unix(0, 0).UTC().Format(http.TimeFormat))
		_, _ = io.WriteString(w, object.text)
	}
}

// serveGCS speaks the part of the JSON API of Google Cloud Storage that is used.
func (s *fakeStore) serveGCS(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fail := func(status int) {
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"error":{"code":%d,"message":"no"}}`, status)
	}
	_, path, _ := strings.Cut(r.URL.EscapedPath(), "/storage/v1/b/")
	bucket, name, _ := strings.Cut(path, "/o")
	name, _ = url.PathUnescape(strings.TrimPrefix(name, "/"))
	object, exists := s.objects[name]
	switch q := r.URL.Query(); {
	case s.refuse != 0:
		fail(s.refuse)
	case bucket != "memory":
		fail(http.StatusNotFound)
	case r.Method == http.MethodPost:
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		parts := multipart.NewReader(r.Body, params["boundary"])
		head, _ := parts.NextPart()
		var meta struct{ Name string }
		_ = json.NewDecoder(head).Decode(&meta)
		body, _ := parts.NextPart()
		text, _ := io.ReadAll(body)
		if q.Get("ifGenerationMatch") != strconv.FormatInt(s.objects[meta.Name].generation, 10) {
			fail(http.StatusPreconditionFailed)
			return
		}
		_, _ = fmt.Fprintf(w, `{"generation":"%d"}`, s.put(meta.Name, string(text)).generation)
	case name == "":
		type item struct{ Name, Size, Updated, Generation string }
		page := struct {
			Items         []item `json:"items"`
			NextPageToken string `json:"nextPageToken,omitempty"`
		}{}
		names, _ := s.under(q.Get("prefix"), q.Get("delimiter"))
		from, _ := strconv.Atoi(q.Get("pageToken"))
		for _, name := range names[from:min(from+1, len(names))] {
			o := s.objects[name]
			page.Items = append(page.Items, item{name, strconv.Itoa(len(o.text)), time.Unix(0, 0).UTC().Format(time.RFC3339),
				strconv.FormatInt(o.generation, 10)})
		}
		if from+1 < len(names) {
			page.NextPageToken = strconv.Itoa(from + 1)
		}
		_ = json.NewEncoder(w).Encode(page)
	case !exists:
		fail(http.StatusNotFound)
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("X-Goog-Generation", strconv.FormatInt(object.generation, 10))
		_, _ = io.WriteString(w, object.text)
	}
}

// stores start a fake server of each kind, and return the URL of the bucket on it.
func stores(t *testing.T) map[string]func(bucket string) (string, *fakeStore) {
	t.Helper()
	serve := func(handler func(*fakeStore, http.ResponseWriter, *http.Request)) (string, *fakeStore) {
		s := &fakeStore{objects: map[string]fakeObject{}}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler(s, w, r) }))
		t.Cleanup(server.Close)
		return url.QueryEscape(server.URL), s
	}
	return map[string]func(bucket string) (string, *fakeStore){
		"s3": func(bucket string) (string, *fakeStore) {
			at, s := serve((*fakeStore).serveS3)
			return "s3://" + bucket + "?use_path_style=true&region=us-east-1&anonymous=true&endpoint=" + at, s
		},
		"gs": func(bucket string) (string, *fakeStore) {
			at, s := serve((*fakeStore).serveGCS)
			return "gs://" + bucket + "?endpoint=" + at, s
		},
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, _ := store("memory/pre")
			r, err := tier.OpenRoot(t.Context(), at, Open)
			require.NoError(t, err)
			checkRoot(t, r, "a b/기억/MEMORY.md")
			require.NoError(t, r.Close())
		})
	}
}

// A real bucket keeps the same promises. AXIOMMIND_TEST_ROOT names it, such as
// s3://bucket?endpoint=http://127.0.0.1:9000&use_path_style=true&region=us-east-1, and the environment its keys.
func TestRootInBucket(t *testing.T) {
	t.Parallel()
	at := os.Getenv("AXIOMMIND_TEST_ROOT")
	if at == "" {
		t.Skip("AXIOMMIND_TEST_ROOT names no bucket")
	}
	r, err := tier.OpenRoot(t.Context(), at, Open)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	checkRoot(t, r, "test/"+time.Now().UTC().Format("150405.000000000")+"/MEMORY.md")
}

// checkRoot writes, reads, lists and removes. A bucket refuses to overwrite an object that was changed since it was read.
func checkRoot(t *testing.T, r *tier.Root, path string) {
	t.Helper()
	require.NotContains(t, r.URL(), "?")
	dir := strings.TrimSuffix(path, "/MEMORY.md")
	none, err := r.Read(t.Context(), path)
	require.NoError(t, err)
	require.False(t, none.Exists)
	require.NoError(t, r.Remove(t.Context(), path))
	require.NoError(t, r.Write(t.Context(), path, "- 사과\n", none))
	requireChanged(t, r.Write(t.Context(), path, "ours", none), "it exists now")
	one, err := r.Read(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, "- 사과\n", one.Text)
	names, err := r.List(t.Context(), dir)
	require.NoError(t, err)
	before := names["MEMORY.md"]
	require.NoError(t, r.Write(t.Context(), path, "", one))
	requireChanged(t, r.Write(t.Context(), path, "ours", one), "it is another version now")
	now, err := r.Read(t.Context(), path)
	require.NoError(t, err)
	require.True(t, now.Exists)
	require.Empty(t, now.Text)
	require.NoError(t, r.Write(t.Context(), dir+"/deep/x.md", "deep", none))
	require.NoError(t, r.Write(t.Context(), dir+"/notes.txt", "n", none))
	names, err = r.List(t.Context(), dir)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"MEMORY.md", "notes.txt"}, slices.Collect(maps.Keys(names)))
	require.NotEmpty(t, names["MEMORY.md"])
	require.NotEqual(t, before, names["MEMORY.md"])
	walked := map[string]string{}
	require.NoError(t, r.Walk(t.Context(), func(path, text string) { walked[path] = text }))
	require.Equal(t, "deep", walked[dir+"/deep/x.md"])
	require.NotContains(t, walked, dir+"/notes.txt")
	for _, path := range []string{path, dir + "/deep/x.md", dir + "/notes.txt"} {
		require.NoError(t, r.Remove(t.Context(), path))
	}
	names, err = r.List(t.Context(), dir)
	require.NoError(t, err)
	require.Empty(t, names)
	requireChanged(t, r.Write(t.Context(), path, "ours", now), "it is gone")
}

func requireChanged(t *testing.T, err error, because string) {
	t.Helper()
	var files *tier.FilesError
	require.ErrorAs(t, err, &files, because)
	require.True(t, files.Temporary, because)
	require.ErrorContains(t, err, "changed it just now", because)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(at string) *tier.FilesError {
				_, err := tier.OpenRoot(t.Context(), at, Open)
				var files *tier.FilesError
				require.ErrorAs(t, err, &files)
				return files
			}
			at, _ := store("missing")
			err := open(at)
			require.ErrorContains(t, err, "the bucket does not exist")
			require.Equal(t, schema.ErrorFilesRefused, err.FailureType())

			at, s := store("memory")
			r, openErr := tier.OpenRoot(t.Context(), at, Open)
			require.NoError(t, openErr)
			s.mu.Lock()
			s.refuse = http.StatusForbidden
			s.mu.Unlock()
			err = open(at)
			require.ErrorContains(t, err, "let the worker read and write there")
			require.Equal(t, schema.ErrorFilesRefused, err.FailureType())
			_, readErr := r.Read(t.Context(), "MEMORY.md")
			require.ErrorContains(t, readErr, "let the worker read and write there")

			at = strings.Replace(at, "://", "://user:hush@", 1)
			err = open(strings.Replace(at, "?", "?secret=hush&anonymous=hush&", 1))
			require.ErrorContains(t, err, `unknown query parameter "secret"`)
			require.ErrorContains(t, err, `"anonymous": want true or false`)
			require.NotContains(t, err.Error(), "hush")
		})
	}
}

func TestS3Settings(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"endpoint=ftp://x":                     "want http://host:port",
		"endpoint=http://x/path":               "want http://host:port",
		"ssetype=rot13":                        "want AES256 or aws:kms",
		"kmskeyid=k":                           "belongs to the latter",
		"ssetype=aws:kms&use_path_style=maybe": "want true or false",
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		_, err = Open(t.Context(), &url.URL{Scheme: "s3", Host: "bucket", RawQuery: values.Encode()})
		require.ErrorContains(t, err, want, query)
	}
}
