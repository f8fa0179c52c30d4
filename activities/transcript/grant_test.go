package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/transcript/grant"
	"axiommind/schema"
)

// A grant opens the one file it was made for, to the one scope, for who can read the key.
func TestGrant(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	file := put(t, filepath.Join(p.dir, "여기", "s.txt"), secret)
	in := uriOf(t, link(t, file, filepath.Join(p.dir, "my session")))
	in.Project, in.User, in.Agent = "프로젝트", "u", "a"
	var err error
	in.Grant, err = Grant(o.KeyFile, in)
	require.NoError(t, err)
	info, err := os.Stat(o.KeyFile)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	a := access(t, o)
	requireRead(t, a, in)
	put(t, file, secret+"User: it has grown\n")
	_, _, err = a.ReadSource(t.Context(), in)
	require.NoError(t, err)

	key, err := grant.ReadKey(o.KeyFile)
	require.NoError(t, err)
	made := func(days int) string { return grant.Of(key, file, in, time.Now().AddDate(0, 0, -days)) }
	old := in
	old.Grant = made(89)
	_, _, err = a.ReadSource(t.Context(), old)
	require.NoError(t, err)

	other := put(t, filepath.Join(p.dir, "other.txt"), secret)
	for name, change := range map[string]func(*schema.ProcessSessionInput){
		"another file":    func(in *schema.ProcessSessionInput) { in.URI = uriOf(t, other).URI },
		"another project": func(in *schema.ProcessSessionInput) { in.Project = "other" },
		"another user":    func(in *schema.ProcessSessionInput) { in.User = "ua" },
		"another agent":   func(in *schema.ProcessSessionInput) { in.User, in.Agent = "ua", "" },
		"a made-up grant": func(in *schema.ProcessSessionInput) { in.Grant = strings.Repeat("0", len(in.Grant)) },
		"a part of it":    func(in *schema.ProcessSessionInput) { in.Grant = in.Grant[:8] },
		"an ended grant":  func(in *schema.ProcessSessionInput) { in.Grant = made(91) },
		"another end": func(in *schema.ProcessSessionInput) {
			_, mac, _ := strings.Cut(in.Grant, ".")
			in.Grant = "99999." + mac
		},
	} {
		changed := in
		change(&changed)
		reason := requireRefused(t, a, changed, schema.ErrorSourceForbidden)
		require.Contains(t, reason, "this input comes from a starter", name)
	}
	elsewhere := o
	elsewhere.KeyFile = filepath.Join(p.dir, "elsewhere", "source.key")
	_, err = Grant(elsewhere.KeyFile, in)
	require.NoError(t, err)
	requireRefused(t, access(t, elsewhere), in, schema.ErrorSourceForbidden)
	elsewhere.KeyFile = ""
	requireRefused(t, access(t, elsewhere), in, schema.ErrorSourceForbidden)

	require.NoError(t, os.Remove(filepath.Join(p.dir, "my session")))
	link(t, other, filepath.Join(p.dir, "my session"))
	requireRefused(t, a, in, schema.ErrorSourceForbidden)
}

// Files of keys are no sources, under any name. Neither are files that only their owner may read and that show no
// format, unless a person gives them.
func TestSecretsAreNoSources(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	keys := put(t, filepath.Join(p.root, "raw.keys"), secret)
	o.Secrets = []string{"", filepath.Join(p.root, "missing"), keys}
	a := access(t, o)
	other := filepath.Join(p.root, "same")
	require.NoError(t, os.Link(keys, other))
	for _, path := range []string{keys, link(t, keys, filepath.Join(p.root, "열쇠 \"'")), other} {
		in := uriOf(t, path)
		var err error
		in.Grant, err = Grant(o.KeyFile, in)
		require.NoError(t, err)
		require.Contains(t, requireRefused(t, a, in, schema.ErrorSourceForbidden), "holds keys or passwords")
	}
	outside := uriOf(t, put(t, filepath.Join(p.dir, "payload.keys"), secret))
	o.Secrets = append(o.Secrets, filepath.Join(p.dir, "payload.keys"))
	require.NotContains(t, requireRefused(t, access(t, o), outside, schema.ErrorSourceForbidden), "holds keys", "whether there is a file is not told")

	token := put(t, filepath.Join(p.root, "token.txt"), strings.Repeat("0f1e", 16)+"\n")
	in := uriOf(t, token)
	in.Format = "text"
	require.Contains(t, requireRefused(t, a, in, schema.ErrorSourceForbidden), "may be a key")
	forged := in
	forged.Grant = strings.Repeat("0", 64)
	requireRefused(t, a, forged, schema.ErrorSourceForbidden)
	var err error
	in.Grant, err = Grant(o.KeyFile, in)
	require.NoError(t, err)
	_, _, err = a.ReadSource(t.Context(), in)
	require.NoError(t, err, "a person gave it")
	in.Grant = ""
	require.NoError(t, os.Chmod(token, 0o644)) //nolint:gosec // others may read it
	_, _, err = a.ReadSource(t.Context(), in)
	require.NoError(t, err)

	// A file that a person gives by its directory is read, too.
	all := importOf(t, p.root)
	all.Format = "text"
	all.Grant, err = Grant(o.KeyFile, all.Source())
	require.NoError(t, err)
	require.NoError(t, os.Chmod(token, 0o600))
	got := newTaken()
	require.NoError(t, got.list(t, a, all))
	require.Contains(t, got.passed[keys], "holds keys or passwords")
	require.Len(t, got.items, 1)
	_, _, err = a.ReadSource(t.Context(), got.items[0].Input)
	require.NoError(t, err)
}

// The key is protected like the sources: it is never a source itself, and one that others can read permits nothing.
func TestGrantKey(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	o := p.options()
	o.Roots = append(o.Roots, filepath.Dir(o.KeyFile))
	file := uriOf(t, put(t, filepath.Join(p.dir, "s.txt"), secret))
	var err error
	file.Grant, err = Grant(o.KeyFile, file)
	require.NoError(t, err)
	a := access(t, o)
	requireRead(t, a, file)
	for _, path := range []string{o.KeyFile, link(t, o.KeyFile, filepath.Join(p.root, "key"))} {
		in := uriOf(t, path)
		in.Format = "text"
		requireRefused(t, a, in, schema.ErrorSourceForbidden)
	}
	require.NoError(t, os.Chmod(o.KeyFile, 0o640))
	requireRefused(t, a, file, schema.ErrorSourceForbidden)
	_, err = Grant(o.KeyFile, file)
	require.ErrorContains(t, err, "others can read")
	require.NoError(t, os.Chmod(o.KeyFile, 0o600))
	requireRead(t, a, file)
	put(t, o.KeyFile, "")
	_, err = Grant(o.KeyFile, file)
	require.ErrorContains(t, err, "holds none")
	requireRefused(t, a, file, schema.ErrorSourceForbidden)
	_, err = Grant("", file)
	require.Error(t, err)
}

// Starters that make the key at the same time agree on it.
func TestGrantKeyMadeAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	in := uriOf(t, put(t, filepath.Join(p.dir, "s.txt"), secret))
	grants := make([]string, 16)
	var group sync.WaitGroup
	for i := range grants {
		group.Go(func() { grants[i], _ = Grant(p.options().KeyFile, in) })
	}
	group.Wait()
	for _, g := range grants {
		require.Equal(t, grants[0], g)
		require.NotEmpty(t, g)
	}
	left, err := os.ReadDir(filepath.Dir(p.options().KeyFile))
	require.NoError(t, err)
	require.Len(t, left, 1)
}
