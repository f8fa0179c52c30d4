package transcript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// taken collects the items of a lister. It fails after breaksOff items.
type taken struct {
	items     []schema.BatchItem
	passed    map[string]string
	cursor    string
	breaksOff int
	// before is called before something is taken.
	before func(name string)
}

var errBrokeOff = errors.New("broke off")

func (l *taken) take(name, cursor string) error {
	if l.before != nil {
		l.before(name)
	}
	if l.breaksOff--; l.breaksOff < 0 {
		return errBrokeOff
	}
	l.cursor = cursor
	return nil
}

func (l *taken) Add(_ context.Context, item schema.BatchItem, cursor string) error {
	err := l.take(item.Name, cursor)
	if err == nil {
		l.items = append(l.items, item)
	}
	return err
}

func (l *taken) PassOver(_ context.Context, p schema.PassedOver, cursor string) error {
	err := l.take(p.Name, cursor)
	if err == nil {
		l.passed[p.Name] = p.Reason
	}
	return err
}

func (l *taken) Flush(context.Context) error { return nil }

// list lists the input's source after the cursor that was taken last.
func (l *taken) list(t *testing.T, a *Access, in schema.ImportSessionsInput) error {
	t.Helper()
	of, err := a.lister(in)
	if err != nil {
		return err
	}
	defer of.source.close()
	of.to = l
	return of.list(t.Context(), parseListCursor(l.cursor))
}

func newTaken() *taken { return &taken{passed: map[string]string{}, breaksOff: 1 << 30} }

func importOf(t *testing.T, path string) schema.ImportSessionsInput {
	t.Helper()
	return schema.ImportSessionsInput{URI: uriOf(t, path).URI, Project: "프로젝트", User: "u", Agent: "a"}
}

func claude(session string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u1","sessionId":%q,"timestamp":"2026-03-01T09:00:00Z","message":{"role":"user","content":"the secret"}}`+"\n", session)
}

// several is a file of two sessions.
func several(ids ...string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf(`{"title":"t","mapping":{"r":{"id":"r","children":["m"]},"m":{"id":"m","parent":"r","message":{"id":"m",
			"author":{"role":"user"},"create_time":1767225600,"content":{"content_type":"text","parts":["hello"]}}}},
			"id":%q,"conversation_id":%q,"create_time":1767225600}`, id, id))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// library is a directory with everything in it that a directory may hold.
func library(t *testing.T, p place) string {
	t.Helper()
	dir := filepath.Join(p.dir, "모든 '것'")
	put(t, filepath.Join(dir, "a", "z.jsonl"), claude("az"))
	put(t, filepath.Join(dir, "a.jsonl"), claude("a"))
	put(t, filepath.Join(dir, "a-b", "\"따옴표\" \n\xff.jsonl"), claude("quoted"))
	put(t, filepath.Join(dir, "b.jsonl"), claude("a"))
	put(t, filepath.Join(dir, "chat.json"), several("c1", "c2", "c3"))
	put(t, filepath.Join(dir, "notes.bin"), "\x00\x01")
	put(t, filepath.Join(dir, "cut.db"), "SQLite format 3\x00 and then nothing")
	put(t, filepath.Join(dir, "skipped.jsonl"), `{"type":"user","sessionId":"s","message":`+"\n")
	put(t, filepath.Join(dir, "long.jsonl"), claude(strings.Repeat("x", 201)))
	link(t, put(t, filepath.Join(p.dir, "outside", "secret.txt"), secret), filepath.Join(dir, "link.txt"))
	link(t, filepath.Join(p.dir, "outside"), filepath.Join(dir, "linked"))
	require.NoError(t, os.Link(filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "y.jsonl")))
	return dir
}

// A directory is listed in the order of its paths. Unreadable files are refused, files that are no transcripts are
// passed over, and links are not followed.
func TestListDirectory(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := library(t, p)
	in := importOf(t, dir)
	in.IncludeTools, in.Notify, in.Flush, in.Date = true, "w", schema.FlushTrim, "2026-01-01"
	o := p.options()
	o.Roots = append(o.Roots, dir)
	got := newTaken()
	require.NoError(t, got.list(t, access(t, o), in))
	var names []string
	for _, item := range got.items {
		name, err := filepath.Rel(dir, item.Name)
		require.NoError(t, err)
		if item.Refused != "" {
			name += " refused as " + item.RefusedType
		}
		names = append(names, name+" "+item.Input.SessionID[:min(8, len(item.Input.SessionID))])
		require.Empty(t, item.Input.Grant, "a root needs no grant")
		require.Equal(t, []any{in.Project, in.User, in.Agent, true, "w", schema.FlushTrim, "2026-01-01"}, []any{
			item.Input.Project, item.Input.User, item.Input.Agent, item.Input.IncludeTools, item.Input.Notify, item.Input.Flush, item.Input.Date})
	}
	require.Equal(t, []string{
		"a/z.jsonl az", "a-b/\"따옴표\" \n\xff.jsonl quoted", "a.jsonl a", "b.jsonl a", "chat.json c1", "chat.json c2", "chat.json c3",
		"cut.db refused as " + schema.ErrorSourceUnreadable + " ", "long.jsonl refused as " + schema.ErrorInvalidInput + " xxxxxxxx",
	}, names)
	for name, reason := range map[string]string{
		"link.txt": "is a symbolic link, which is not followed; give it by name", "linked": "is a symbolic link, which is not followed; give it by name",
		"y.jsonl": "is the same file as " + filepath.Join(dir, "a.jsonl"),
	} {
		require.Equal(t, reason, got.passed[filepath.Join(dir, name)])
	}
	unknown := got.passed[filepath.Join(dir, "notes.bin")]
	require.Equal(t, "cannot tell the format; if it is a transcript, give it by name with --format", unknown)
	in.Format = "no such format"
	wrong := newTaken()
	require.NoError(t, wrong.list(t, access(t, o), in))
	require.Contains(t, wrong.passed[filepath.Join(dir, "notes.bin")], `no format is called "no such format"; formats are `)
	require.NotContains(t, fmt.Sprint(got), "the secret")
}

// Wherever an attempt breaks off, the next one continues: together they list the same items as one whole attempt.
func TestListGoesOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := library(t, p)
	o := p.options()
	o.Roots = append(o.Roots, dir)
	whole := newTaken()
	require.NoError(t, whole.list(t, access(t, o), importOf(t, dir)))
	for step := 1; step < 6; step++ {
		parts := newTaken()
		for {
			parts.breaksOff = step
			err := parts.list(t, access(t, o), importOf(t, dir))
			if err == nil {
				break
			}
			require.ErrorIs(t, err, errBrokeOff)
		}
		require.Equal(t, whole.items, parts.items)
		require.Equal(t, whole.passed, parts.passed)
	}
}

// A grant for a directory opens the files in it, to one scope, and each file under a grant of its own. It opens neither
// the target of a link nor a replacement of the directory.
func TestListGranted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir, o := library(t, p), p.options()
	in := importOf(t, dir)
	a := access(t, o)
	refused := func(in schema.ImportSessionsInput) {
		t.Helper()
		err := newTaken().list(t, a, in)
		var failure boundary.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, schema.ErrorSourceForbidden, failure.FailureType())
		require.False(t, failure.Retryable())
	}
	refused(in)
	var err error
	in.Grant, err = Grant(o.KeyFile, in.Source())
	require.NoError(t, err)
	got := newTaken()
	require.NoError(t, got.list(t, a, in))
	for _, item := range got.items {
		if item.Refused == "" {
			_, _, err := a.ReadSource(t.Context(), item.Input)
			require.NoError(t, err, item.Name)
			item.Input.Project = "other"
			requireRefused(t, a, item.Input, schema.ErrorSourceForbidden)
		}
	}
	for _, change := range []func(*schema.ImportSessionsInput){
		func(in *schema.ImportSessionsInput) { in.Project = "other" },
		func(in *schema.ImportSessionsInput) { in.URI = uriOf(t, filepath.Join(p.dir, "outside")).URI },
		func(in *schema.ImportSessionsInput) { in.URI = uriOf(t, p.dir).URI },
		func(in *schema.ImportSessionsInput) { in.URI = uriOf(t, filepath.Join(dir, "a")).URI },
		func(in *schema.ImportSessionsInput) { in.URI = "/proc" },
	} {
		changed := in
		change(&changed)
		refused(changed)
	}
	// The key of grants is in no list.
	keys := importOf(t, filepath.Dir(o.KeyFile))
	keys.Grant, err = Grant(o.KeyFile, keys.Source())
	require.NoError(t, err)
	got = newTaken()
	require.NoError(t, got.list(t, a, keys))
	require.Equal(t, map[string]string{o.KeyFile: "holds keys or passwords: such files are never read"}, got.passed)
	// The grant of the directory opens no file to process_session.
	one := in.Source()
	one.URI = uriOf(t, filepath.Join(dir, "a.jsonl")).URI
	requireRefused(t, a, one, schema.ErrorSourceForbidden)

	require.NoError(t, os.Rename(dir, dir+" moved"))
	link(t, filepath.Join(p.dir, "outside"), dir)
	refused(in)
}

// deadly is taken by workers that die of some files, with all that was not stored.
type deadly struct {
	taken
	files  []string
	deaths map[string]int
	// stored is how many items are, up to the cursor after.
	stored int
	after  string
}

func (d *deadly) Add(ctx context.Context, item schema.BatchItem, cursor string) error {
	if name := filepath.Base(item.Name); item.Refused == "" && slices.Contains(d.files, name) {
		d.deaths[name]++
		return errBrokeOff
	}
	return d.taken.Add(ctx, item, cursor)
}

func (d *deadly) Flush(context.Context) error {
	d.stored, d.after = len(d.items), d.cursor
	return nil
}

// A file that ends the workers that list it is refused after three of them, and another one too. The others are listed once.
func TestListRefusesFilesThatKill(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		put(t, filepath.Join(p.root, name+".jsonl"), claude(name))
	}
	d := &deadly{taken: *newTaken(), files: []string{"b.jsonl", "d.jsonl"}, deaths: map[string]int{}}
	killed := 0
	list := func() error {
		of, err := access(t, p.options()).lister(importOf(t, p.root))
		require.NoError(t, err)
		defer of.source.close()
		of.to, of.killed = d, killed
		d.items = d.items[:d.stored]
		return of.list(t.Context(), parseListCursor(d.after))
	}
	for err := list(); err != nil; err = list() {
		require.ErrorIs(t, err, errBrokeOff)
		killed++
	}
	var names []string
	for _, item := range d.items {
		names = append(names, filepath.Base(item.Name)+" "+item.RefusedType)
	}
	require.Equal(t, []string{"a.jsonl ", "b.jsonl SourceKills", "c.jsonl ", "d.jsonl SourceKills", "e.jsonl "}, names)
	require.Equal(t, map[string]int{"b.jsonl": 3, "d.jsonl": 3}, d.deaths)
}

// A file that vanishes, grows or is replaced by a link during the listing does not hold it up, and opens nothing.
func TestListWhileItChanges(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	dir := filepath.Join(p.dir, "changes")
	for _, name := range []string{"1.jsonl", "2.jsonl", "3.jsonl", "4/x.jsonl", "5/x.jsonl", "6.jsonl"} {
		put(t, filepath.Join(dir, name), claude(name))
	}
	outside := put(t, filepath.Join(p.dir, "outside", "x.jsonl"), claude("the secret session"))
	o := p.options()
	o.Roots = append(o.Roots, dir)
	got := newTaken()
	got.before = func(name string) {
		if filepath.Base(name) != "1.jsonl" {
			return
		}
		require.NoError(t, os.Remove(filepath.Join(dir, "2.jsonl")))
		require.NoError(t, os.Remove(filepath.Join(dir, "3.jsonl")))
		link(t, outside, filepath.Join(dir, "3.jsonl"))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "4")))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "5")))
		link(t, filepath.Dir(outside), filepath.Join(dir, "5"))
		put(t, filepath.Join(dir, "6.jsonl"), claude("6.jsonl")+claude("6.jsonl"))
	}
	require.NoError(t, got.list(t, access(t, o), importOf(t, dir)))
	var ids []string
	for _, item := range got.items {
		ids = append(ids, item.Input.SessionID)
	}
	require.Equal(t, []string{"1.jsonl", "6.jsonl"}, ids)
	require.Equal(t, "is gone", got.passed[filepath.Join(dir, "2.jsonl")])
	require.Contains(t, got.passed[filepath.Join(dir, "3.jsonl")], "is a symbolic link")
}

// A session with too long an id is refused under the beginning of its id. The list continues after it, also from the
// cursor of an attempt that broke off there.
func TestListLongIDs(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, p.options())
	giants := []string{strings.Repeat("긴", 30_000), strings.Repeat("긴", 30_001), strings.Repeat("y", 201), strings.Repeat("x", 200)}
	in := importOf(t, put(t, filepath.Join(p.root, "chat.json"), several(append(giants, "beside")...)))
	in.Format = "chatgpt"
	got := newTaken()
	for range giants {
		got.breaksOff = 1
		require.ErrorIs(t, got.list(t, a, in), errBrokeOff)
		require.Less(t, len(got.cursor), 1000)
	}
	got.breaksOff = 1
	require.NoError(t, got.list(t, a, in))
	require.Len(t, got.items, 5)
	for i, item := range got.items {
		require.LessOrEqual(t, len(item.Input.SessionID), schema.MaxNameBytes+len("…"))
		require.Equal(t, item.Refused != "", i < 3, "%v", item)
		require.Equal(t, item.Refused != "", item.Input.Key().Validate() != nil)
	}
	require.Contains(t, got.items[1].Refused, "has 90003 bytes, more than 200")
	require.Equal(t, "beside", got.items[4].Input.SessionID)
}

// A file that is named itself is listed as it is, and is an error if it is no transcript.
func TestListFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	a := access(t, p.options())
	got := newTaken()
	require.NoError(t, got.list(t, a, importOf(t, put(t, filepath.Join(p.root, "chat.json"), several("c1", "c2")))))
	require.Len(t, got.items, 2)
	require.Equal(t, "c2", got.items[1].Input.SessionID)
	require.ErrorIs(t, newTaken().list(t, a, importOf(t, put(t, filepath.Join(p.root, "n.bin"), "\x00"))), ErrUnknownFormat)
	err := newTaken().list(t, a, importOf(t, filepath.Join(p.root, "gone")))
	var failure boundary.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, schema.ErrorSourceUnreadable, failure.FailureType())
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// Directories that cannot be read are refused by name.
func TestListUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read every file")
	}
	p := newPlace(t)
	closed := filepath.Dir(put(t, filepath.Join(p.root, "closed", "x.jsonl"), claude("x")))
	require.NoError(t, os.Chmod(closed, 0))
	t.Cleanup(func() { _ = os.Chmod(closed, 0o700) })
	require.NoError(t, os.Chmod(put(t, filepath.Join(p.root, "y.jsonl"), claude("y")), 0))
	got := newTaken()
	require.NoError(t, got.list(t, access(t, p.options()), importOf(t, p.root)))
	require.Len(t, got.items, 2)
	for _, item := range got.items {
		require.Equal(t, []string{"permission denied", schema.ErrorSourceUnreadable}, []string{item.Refused, item.RefusedType})
	}
}
