package transcript

import (
	"fmt"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/transcript/grant"
	"axiommind/schema"
)

// Grant signs the input's file, project, user and agent with the key, which it makes if there is none. The grant lets a
// worker with the same key read the file, although it lies outside the worker's roots. Such a worker runs as the same
// user on the same machine. A grant is void once the URI leads to another path, and after 90 days.
func Grant(keyFile string, in schema.ProcessSessionInput) (string, error) {
	path, err := absolutePath(in.URI)
	if err != nil {
		return "", err
	}
	key, err := grant.Key(keyFile)
	if err != nil {
		return "", fmt.Errorf("grant access to %q: %w", path, err)
	}
	f, err := resolve(path)
	if err != nil {
		return "", fmt.Errorf("grant access to %q: %w", path, err)
	}
	defer f.close()
	return grant.Of(key, f.path, in, time.Now()), nil
}

// grantBelow returns the grant for a file of a directory that the worker may read, none if it lies in a root. There, only a private
// file of a directory that a person gave needs one.
func (a *Access) grantBelow(f *handle, in schema.ProcessSessionInput, given bool) (string, error) {
	if within(f.path, realPaths(a.Roots())) && !(given && f.info.Mode().Perm()&0o077 == 0) {
		return "", nil
	}
	key, err := grant.ReadKey(a.options.KeyFile)
	if err != nil {
		return "", boundary.Invalid(schema.ErrorSourceForbidden, err)
	}
	return grant.Of(key, f.path, in, time.Now()), nil
}

// granted reports whether the input carries a grant for the file. The key is read each time, because the
// starter makes a new one when the old one is gone.
func (a *Access) granted(real string, in schema.ProcessSessionInput) bool {
	if in.Grant == "" || a.options.KeyFile == "" {
		return false
	}
	key, err := grant.ReadKey(a.options.KeyFile)
	return err == nil && grant.Admits(key, real, in, time.Now())
}
