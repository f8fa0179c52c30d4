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

	"axiommind/activities/boundary"
	"axiommind/activities/session/keyring"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// Access decides which files the inputs of workflows may name. Anyone who reaches Temporal can start a workflow, and
// sources are kept for ever. A file may be read if it lies in a root, or if the input carries a [Grant]. Devices,
// pipes, and files of /proc, /sys and /dev are never read.
type Access struct{ options AccessOptions }

// AccessOptions configures which sources an [Access] may read.
type AccessOptions struct {
	// Roots are directories or single files. A relative root starts at the current directory. A root may be
	// created later.
	Roots []string
	// AgentsOf is a home directory. The places in it where agents keep their sessions are roots too.
	// Default: none.
	AgentsOf string
	// KeyFile holds the key that grants are signed with. Default: no grant is accepted.
	KeyFile string
	// Secrets are other files of keys and passwords. Like KeyFile they are never read as sources.
	Secrets []string
	// Ingested is called with each source that a build has read, once the log holds it. Default: no call.
	Ingested func(buildID, uri string)
	// RawKeys encrypt the text that redaction takes out of messages, to keep it. Default: that text is dropped.
	RawKeys *keyring.Ring
}

// NewAccess returns the access that the options describe.
func NewAccess(o AccessOptions) (*Access, error) {
	o.Roots = slices.Clone(o.Roots)
	for i, root := range o.Roots {
		if root == "" {
			return nil, errors.New("set up access to sources: a root is empty")
		}
		abs, err := filepath.Abs(root)
		if err != nil {
			return nil, fmt.Errorf("set up access to sources: %w", err)
		}
		o.Roots[i] = abs
	}
	return &Access{o}, nil
}

// keepsRaw reports whether the text that redaction takes out is kept.
func (a *Access) keepsRaw() bool { return a.options.RawKeys != nil && a.options.RawKeys.Encrypts() }

// Roots returns the roots that exist or were named, sorted.
func (a *Access) Roots() []string {
	roots := slices.Clone(a.options.Roots)
	if a.options.AgentsOf != "" {
		roots = append(roots, format.AgentDirs(a.options.AgentsOf)...)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// ReadSource reads the sessions of the input's file, if the input may name it.
func (a *Access) ReadSource(ctx context.Context, in schema.ProcessSessionInput) ([]*Session, schema.Source, error) {
	opts := format.Options{Format: in.Format, User: in.User, KeepTakenOut: a.keepsRaw()}
	return readSource(ctx, in.URI, opts, func(path string) (*handle, error) { return a.resolve(path, in) })
}

// resolve finds the file that the input's path leads to. Where the input may not read, the error does not reveal
// whether there is a file.
func (a *Access) resolve(path string, in schema.ProcessSessionInput) (*handle, error) {
	f, err := resolveAnywhere(path)
	var refused *forbidden
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		if within(path, a.Roots()) || a.granted(path, in) {
			return nil, err
		}
		return nil, a.refusal(path, "", in)
	}
	granted := a.granted(f.path, in)
	allowed := granted || within(f.path, realPaths(a.Roots()))
	if allowed && !a.isSecret(f) {
		f.private = !granted && f.info.Mode().Perm()&0o077 == 0
		return f, nil
	}
	defer f.close()
	if allowed {
		return nil, &forbidden{fmt.Sprintf("%q holds keys or passwords: such files are never read", path)}
	}
	if f.path != path && within(path, a.Roots()) {
		return nil, a.refusal(path, f.path, in)
	}
	return nil, a.refusal(path, "", in)
}

// isSecret reports whether the file is the key file or one of Secrets, under any name.
func (a *Access) isSecret(f *handle) bool {
	for _, name := range append([]string{a.options.KeyFile}, a.options.Secrets...) {
		if info, err := os.Stat(name); err == nil && os.SameFile(info, f.info) {
			return true
		}
	}
	return false
}

// realPaths returns the paths that exist, with their links resolved.
func realPaths(paths []string) []string {
	var out []string
	for _, path := range paths {
		if f, err := resolve(path); err == nil {
			f.close()
			out = append(out, f.path)
		}
	}
	return out
}

// forbidden is the refusal to read a file.
type forbidden struct{ reason string }

func (f *forbidden) Error() string       { return f.reason }
func (f *forbidden) FailureType() string { return schema.ErrorSourceForbidden }
func (f *forbidden) Retryable() bool     { return false }

func (a *Access) refusal(path, leadsTo string, in schema.ProcessSessionInput) error {
	what, dir := fmt.Sprintf("%q is", path), filepath.Dir(path)
	if leadsTo != "" {
		what, dir = fmt.Sprintf("%q leads to %q, which is", path, leadsTo), filepath.Dir(leadsTo)
	}
	reason := what + " outside the directories that the worker may read: start the worker with --source-root " +
		quoteArgument(dir) + ", or give the file to starter process on the worker's machine, as the worker's user"
	if in.Grant != "" {
		reason += " (this input comes from a starter, but of another user, machine or project, more than 90 days ago, or the path has come to lead elsewhere)"
	}
	return &forbidden{reason}
}

// quoteArgument writes a path so that it can be pasted into a command line.
func quoteArgument(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-") == "" {
		return path
	}
	return fmt.Sprintf("%q", path)
}

// resolveAnywhere finds the file that a path leads to, unless it is one that is never read.
func resolveAnywhere(path string) (*handle, error) {
	if systemPath(path) {
		return nil, &forbidden{fmt.Sprintf("%q is of the system: such files are never read", path)}
	}
	f, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if f.virtual || systemPath(f.path) {
		f.close()
		return nil, &forbidden{fmt.Sprintf("%q leads to a file of the system: such files are never read", path)}
	}
	return f, nil
}

func systemPath(path string) bool {
	return within(path, []string{"/proc", "/sys", "/dev"}) && !within(path, []string{"/dev/shm"})
}

// within reports whether a clean path is one of the roots, or lies in one.
func within(path string, roots []string) bool {
	for _, root := range roots {
		if path == root || strings.HasPrefix(path, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// KindOf describes a file that cannot be read, such as "a pipe"; it is empty for a regular file.
func KindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "no regular file"
}

// openRegular opens the file if it is a regular one. A pipe can be read only once, but a source is read by
// the starter, by the worker, and by each retry.
func openRegular(f *handle, err error) (file *os.File, _ error) {
	if err == nil {
		if kind := KindOf(f.info.Mode()); kind != "" {
			err = fmt.Errorf("%q is %s, not a regular file", f.path, kind)
		} else {
			file, err = f.open()
		}
	}
	var refused *forbidden
	if err != nil && !errors.As(err, &refused) {
		err = boundary.Invalid(schema.ErrorSourceUnreadable, err)
	}
	return file, err
}
