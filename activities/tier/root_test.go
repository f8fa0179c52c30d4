package tier

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// openMemory returns a root in memory.
func openMemory(t *testing.T) *Root {
	t.Helper()
	return &Root{url: "mem://", bucket: &memoryBucket{objects: map[string]memoryObject{}}}
}

// memoryBucket is a bucket in memory.
type memoryBucket struct {
	mu      sync.Mutex
	objects map[string]memoryObject
	puts    int
}

type memoryObject struct {
	text    string
	version string
}

func (b *memoryBucket) Get(_ context.Context, name string) (Object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.objects[name]
	if !ok {
		return Object{}, fs.ErrNotExist
	}
	return Object{Body: io.NopCloser(strings.NewReader(o.text)), Size: int64(len(o.text)), Version: o.version}, nil
}

func (b *memoryBucket) Put(_ context.Context, name string, text []byte, over string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.objects[name].version != over {
		return ErrChanged
	}
	b.puts++
	b.objects[name] = memoryObject{string(text), strconv.Itoa(b.puts)}
	return nil
}

func (b *memoryBucket) List(_ context.Context, prefix string, deep bool) iter.Seq2[ListedObject, error] {
	b.mu.Lock()
	defer b.mu.Unlock()
	objects := maps.Clone(b.objects)
	return func(yield func(ListedObject, error) bool) {
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			rest, ok := strings.CutPrefix(name, prefix)
			if !ok || !deep && strings.Contains(rest, "/") {
				continue
			}
			if !yield(ListedObject{Name: name, Size: int64(len(objects[name].text)), Version: objects[name].version}, nil) {
				return
			}
		}
	}
}

func (b *memoryBucket) Delete(_ context.Context, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.objects, name)
	return nil
}

func (b *memoryBucket) Close() error { return nil }

func openDir(t *testing.T, dir string) *Root {
	t.Helper()
	r, err := OpenRoot(t.Context(), dir, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestRoot(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "기억 #1 ?%20", "deep")
	for name, r := range map[string]*Root{"directory": openDir(t, dir), "bucket": openMemory(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := "memory/users/alice/2026-06-07.md"
			none, err := r.Read(t.Context(), path)
			require.NoError(t, err)
			require.Equal(t, File{}, none)
			require.NoError(t, r.Write(t.Context(), path, "one\n", none))
			one, err := r.Read(t.Context(), path)
			require.NoError(t, err)
			require.True(t, one.Exists)
			require.Equal(t, "one\n", one.Text)
			require.NoError(t, r.Write(t.Context(), path, "", one))
			empty, err := r.Read(t.Context(), path)
			require.NoError(t, err)
			require.True(t, empty.Exists)
			require.Empty(t, empty.Text)
			require.NoError(t, r.Write(t.Context(), "memory/users/alice/dreams/2026-06-07.md", "d", none))
			names, err := r.List(t.Context(), "memory/users/alice")
			require.NoError(t, err)
			require.Equal(t, []string{"2026-06-07.md"}, slices.Collect(maps.Keys(names)))
			names, err = r.List(t.Context(), "memory/users/bob")
			require.NoError(t, err)
			require.Empty(t, names)
		})
	}
}

// A change that was made since the file was read is not overwritten.
func TestRootWriteRefusesOlder(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, path string){
		"made":    func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("by hand"), 0o600)) },
		"emptied": func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := openDir(t, dir)
			before, err := r.Read(t.Context(), "MEMORY.md")
			require.NoError(t, err)
			change(t, filepath.Join(dir, "MEMORY.md"))
			err = r.Write(t.Context(), "MEMORY.md", "ours", before)
			var files *FilesError
			require.ErrorAs(t, err, &files)
			require.True(t, files.Temporary)
			require.ErrorContains(t, err, "changed it just now")
			now, err := r.Read(t.Context(), "MEMORY.md")
			require.NoError(t, err)
			require.NotEqual(t, "ours", now.Text)
		})
	}
	// A bucket refuses a file that was made meanwhile.
	r := openMemory(t)
	require.NoError(t, r.Write(t.Context(), "MEMORY.md", "by hand", File{}))
	require.ErrorContains(t, r.Write(t.Context(), "MEMORY.md", "ours", File{}), "changed it just now")
}

// Files are their owner's alone, unless a person gave them to others, and nothing half-written stays.
func TestRootModes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "root")
	r := openDir(t, dir)
	path := filepath.Join(dir, "memory", "users", "a", "MEMORY.md")
	write := func(text string) {
		file, err := r.Read(t.Context(), "memory/users/a/MEMORY.md")
		require.NoError(t, err)
		require.NoError(t, r.Write(t.Context(), "memory/users/a/MEMORY.md", text, file))
	}
	mode := func(path string) os.FileMode {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	write("one")
	require.Equal(t, os.FileMode(0o600), mode(path))
	for _, dir := range []string{dir, filepath.Join(dir, "memory"), filepath.Dir(path)} {
		require.Equal(t, os.FileMode(0o700), mode(dir))
	}
	require.NoError(t, os.Chmod(path, 0o640)) //nolint:gosec // a person gives the file to a group
	stranded, young, other := path+".18a.tmp", path+".18b.tmp", filepath.Join(filepath.Dir(path), "notes.tmp")
	dated := filepath.Join(filepath.Dir(path), "2026-11-24.md.7.tmp") // Its file may never be written again.
	for _, name := range []string{stranded, young, other, dated} {
		require.NoError(t, os.WriteFile(name, []byte("x"), 0o600))
	}
	old := time.Now().Add(-2 * strandedAfter)
	require.NoError(t, os.Chtimes(stranded, old, old))
	require.NoError(t, os.Chtimes(other, old, old))
	require.NoError(t, os.Chtimes(dated, old, old))
	write("two")
	require.Equal(t, os.FileMode(0o640), mode(path))
	require.NoFileExists(t, stranded)
	require.NoFileExists(t, dated)
	require.FileExists(t, young)
	require.FileExists(t, other)
}

// Temporary files of a killed writer are searched, and erased with the files of the memory, also if the file is gone, and
// in the directory of a link's target.
func TestRootForgetsTemporaryFiles(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	r := openDir(t, dir)
	memory := filepath.Join(dir, "memory", "users", "a")
	linked := filepath.Join(elsewhere, "MEMORY.md")
	temps := []string{
		filepath.Join(memory, "MEMORY.md.1.tmp"), filepath.Join(memory, "2026-11-24.md.2.tmp"), filepath.Join(memory, "dreams", "2026-11-25.md.3.tmp"),
		linked + ".4.tmp",
	}
	for _, name := range append(temps, linked) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("the code of the door"), 0o600))
	}
	require.NoError(t, os.Symlink(linked, filepath.Join(memory, "MEMORY.md")))
	other := filepath.Join(dir, "memory", "users", "b", "MEMORY.md.1.tmp")
	require.NoError(t, os.MkdirAll(filepath.Dir(other), 0o700))
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	var seen []string
	require.NoError(t, r.Walk(t.Context(), func(path, text string) {
		if text != "" {
			seen = append(seen, filepath.Join(dir, filepath.FromSlash(path)))
		}
	}))
	require.ElementsMatch(t, append(temps[:3:3], filepath.Join(memory, "MEMORY.md")), seen)
	paths, err := r.FilesOf(t.Context(), "a", "")
	require.NoError(t, err)
	require.Len(t, paths, 4)
	for _, path := range paths {
		require.NoError(t, r.Remove(t.Context(), path))
	}
	for _, name := range append(temps, linked) {
		require.NoFileExists(t, name)
	}
	require.FileExists(t, other, "it is of another user")
}

// A write that does not succeed leaves the file as it was.
func TestRootWriteIsAtomic(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openDir(t, dir)
	require.NoError(t, r.Write(t.Context(), "MEMORY.md", "one", File{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, replaceFile(ctx, filepath.Join(dir, "MEMORY.md"), strings.Repeat("two", 1<<20)))
	now, err := r.Read(t.Context(), "MEMORY.md")
	require.NoError(t, err)
	require.Equal(t, "one", now.Text)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestOpenRootRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for url, says := range map[string]string{
		"":                                   "want a directory",
		"a\x00b":                             "want a directory",
		"ftp://host/x":                       "want a directory",
		"s3://":                              "want a directory",
		"mem://":                             "want a directory",
		"s3://buck et?x":                     "want a directory",
		"file://relative/path":               "want an absolute path",
		"file:///srv/memory?create_dir=1":    "want an absolute path",
		file:                                 "not a directory",
		filepath.Join(file, "below"):         "not a directory",
		"s3://user:hush@bucket?secret=hush2": "this program opens directories only",
	} {
		_, err := OpenRoot(t.Context(), url, nil)
		var files *FilesError
		require.ErrorAs(t, err, &files, "%q", url)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "hush")
	}
}

func TestRootURL(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"s3://user:hush@bucket/pre/fix?endpoint=http://hush": "s3://bucket/pre/fix",
		"gs://bucket?access_id=hush":                         "gs://bucket",
		"file:///srv/my%20memory/":                           "file:///srv/my%20memory",
	} {
		u, err := parseRoot(raw)
		require.NoError(t, err)
		require.Equal(t, want, publicURL(u))
	}
}

// rootAnswered is an error with the status of a bucket's answer.
type rootAnswered int

func (a rootAnswered) Error() string       { return http.StatusText(int(a)) }
func (a rootAnswered) HTTPStatusCode() int { return int(a) }

func TestFilesError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err         error
		failureType string
		hint        string
	}{
		{&os.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, schema.ErrorFilesRefused, "let the worker read and write there"},
		{syscall.EROFS, schema.ErrorFilesRefused, "let the worker read and write there"},
		{rootAnswered(403), schema.ErrorFilesRefused, "let the worker read and write there"},
		{rootAnswered(401), schema.ErrorFilesRefused, "let the worker read and write there"},
		{rootAnswered(503), schema.ErrorFilesUnavailable, ""},
		{syscall.ENOTDIR, schema.ErrorFilesRefused, ""},
		{syscall.ENOSPC, schema.ErrorFilesUnavailable, "make room"},
		{syscall.EIO, schema.ErrorFilesUnavailable, ""},
		{context.DeadlineExceeded, schema.ErrorFilesUnavailable, ""},
		{ErrNoBucket, schema.ErrorFilesRefused, "make it"},
		{errors.New("who knows"), schema.ErrorFilesUnavailable, ""},
	} {
		err := filesError("write", "/srv/MEMORY.md", tt.err)
		var files *FilesError
		require.ErrorAs(t, err, &files)
		require.Equal(t, tt.failureType, files.FailureType(), "%v", tt.err)
		require.Equal(t, tt.failureType == schema.ErrorFilesUnavailable, files.Retryable())
		require.ErrorContains(t, err, `write "/srv/MEMORY.md": `)
		require.ErrorContains(t, err, tt.hint)
		require.ErrorIs(t, err, tt.err)
	}
}

// A file that is too large is refused by name.
func TestRootReadRefusesLarge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openDir(t, dir)
	file, err := os.Create(filepath.Join(dir, "MEMORY.md"))
	require.NoError(t, err)
	require.NoError(t, file.Truncate(MaxFileBytes+1))
	require.NoError(t, file.Close())
	_, err = r.Read(t.Context(), "MEMORY.md")
	require.ErrorContains(t, err, "MEMORY.md")
	require.ErrorContains(t, err, "make it smaller")
}

// A link stays a link, and the file to which it leads is replaced, at once or not at all.
func TestRootFollowsLinks(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	r := openDir(t, dir)
	mine := filepath.Join(home, "dot files", "기억%20.md")
	require.NoError(t, os.MkdirAll(filepath.Dir(mine), 0o700))
	require.NoError(t, os.WriteFile(mine, []byte("one"), 0o600))
	require.NoError(t, os.Chmod(mine, 0o640)) //nolint:gosec // a person gives the file to a group
	between, link := filepath.Join(home, "between"), filepath.Join(dir, "MEMORY.md")
	require.NoError(t, os.Symlink(mine, between))
	require.NoError(t, os.Symlink(between, link))
	one, err := r.Read(t.Context(), "MEMORY.md")
	require.NoError(t, err)
	require.Equal(t, "one", one.Text)
	require.NoError(t, r.Write(t.Context(), "MEMORY.md", "two", one))
	text, err := os.ReadFile(mine)
	require.NoError(t, err)
	require.Equal(t, "two", string(text))
	for _, path := range []string{link, between} {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.NotZero(t, info.Mode()&os.ModeSymlink)
	}
	info, err := os.Stat(mine)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	entries, err := os.ReadDir(filepath.Dir(mine))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.ErrorContains(t, r.Write(t.Context(), "MEMORY.md", "three", one), "changed it just now")

	require.NoError(t, os.Remove(mine))
	err = r.Write(t.Context(), "MEMORY.md", "three", File{})
	requireRefused(t, err, link, "a link to a file that does not exist")
	_, err = os.Lstat(link)
	require.NoError(t, err)
}

func requireRefused(t *testing.T, err error, says ...string) {
	t.Helper()
	var files *FilesError
	require.ErrorAs(t, err, &files)
	require.Equal(t, schema.ErrorFilesRefused, files.FailureType())
	for _, s := range says {
		require.ErrorContains(t, err, s)
	}
}

// Anything other than a file is refused by name, whether it is read or written, and stays.
func TestRootRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openDir(t, dir)
	for name, build := range map[string]func(path string) error{
		"directory":           func(path string) error { return os.Mkdir(path, 0o700) },
		"link to a directory": func(path string) error { return os.Symlink(t.TempDir(), path) },
		"pipe":                func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, build(path))
		_, err := r.Read(t.Context(), name)
		requireRefused(t, err, path, "it is not a file", "move it away")
		requireRefused(t, r.Write(t.Context(), name, "x", File{}), path, "it is not a file")
		_, err = os.Lstat(path)
		require.NoError(t, err)
	}
}

// A listing shows whether a file was changed, or nothing if it can't.
func TestRootListTellsChanges(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := openDir(t, dir)
	path, target := filepath.Join(dir, "2026-06-07.md"), filepath.Join(t.TempDir(), "mine")
	old := time.Now().Add(-time.Hour)
	listed := func(r *Root, name string) string {
		files, err := r.List(t.Context(), "")
		require.NoError(t, err)
		require.Contains(t, files, name)
		return files[name]
	}
	put := func(path, text string, at time.Time) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	put(path, "one", old)
	one := listed(r, "2026-06-07.md")
	require.NotEmpty(t, one)
	put(path, "four", old)
	four := listed(r, "2026-06-07.md")
	require.NotEqual(t, one, four, "the size")
	put(path, "five", old.Add(time.Nanosecond))
	require.NotEqual(t, four, listed(r, "2026-06-07.md"), "the time")
	put(path, "nine", time.Now())
	require.Empty(t, listed(r, "2026-06-07.md"), "it may be changed again within the clock's resolution")

	put(target, "one", old)
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "link.md")))
	linked := listed(r, "link.md")
	require.NotEmpty(t, linked)
	put(target, "two", old.Add(time.Second))
	require.NotEqual(t, linked, listed(r, "link.md"))
	require.NoError(t, os.Remove(target))
	files, err := r.List(t.Context(), "")
	require.NoError(t, err)
	require.NotContains(t, files, "link.md")

	bucket := openMemory(t)
	require.NoError(t, bucket.Write(t.Context(), "MEMORY.md", "one", File{}))
	one = listed(bucket, "MEMORY.md")
	require.NotEmpty(t, one)
	read, err := bucket.Read(t.Context(), "MEMORY.md")
	require.NoError(t, err)
	require.NoError(t, bucket.Write(t.Context(), "MEMORY.md", "two", read))
	require.NotEqual(t, one, listed(bucket, "MEMORY.md"))
}
