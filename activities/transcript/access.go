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
	"axiommind/activities/transcript/format"
	"axiommind/schema"
)

// Access decides which files the inputs of workflows may name: anyone who reaches Temporal can start one,
// and what is read is kept for ever. A file may be read when it lies in a root, or when the input carries
// a [Grant]. Devices, pipes, and files of /proc, /sys and /dev are never read.
type Access struct{ options AccessOptions }

// AccessOptions say what may be read.
type AccessOptions struct {
	// Roots are directories, or single files. A relative one is taken from the current directory. One that
	// does not exist yet may come to be.
	Roots []string
	// AgentsOf is a home in which the directories where agents keep their sessions are roots too. Default: none.
	AgentsOf string
	// KeyFile holds the key of grants. Default: no grant holds.
	KeyFile string
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

// Roots lists the roots there are now.
func (a *Access) Roots() []string {
	roots := slices.Clone(a.options.Roots)
	if a.options.AgentsOf != "" {
		roots = append(roots, format.AgentDirs(a.options.AgentsOf)...)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// ReadSource reads the sessions that the input names, when it may.
func (a *Access) ReadSource(ctx context.Context, in schema.ProcessSessionInput) ([]*Session, schema.Source, error) {
	return readSource(ctx, in.URI, in.Format, func(path string) (*found, error) { return a.look(path, in) })
}

// look finds the file that the input's path leads to. The answer does not tell whether there is a file
// where the input may not read.
func (a *Access) look(path string, in schema.ProcessSessionInput) (*found, error) {
	f, err := lookAnywhere(path)
	var refused *forbidden
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		if within(path, a.Roots()) || a.holds(path, in) {
			return nil, err
		}
		return nil, a.outside(path, "", in)
	}
	if a.allows(f.path, in) {
		return f, nil
	}
	defer f.close()
	if f.path != path && within(path, a.Roots()) {
		return nil, a.outside(path, f.path, in)
	}
	return nil, a.outside(path, "", in)
}

func (a *Access) allows(real string, in schema.ProcessSessionInput) bool {
	if within(real, realPaths([]string{a.options.KeyFile})) {
		return false
	}
	return within(real, realPaths(a.Roots())) || a.holds(real, in)
}

// realPaths returns where those of the paths lie that there are, without links.
func realPaths(paths []string) []string {
	var out []string
	for _, path := range paths {
		if f, err := look(path); err == nil {
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

func (a *Access) outside(path, leadsTo string, in schema.ProcessSessionInput) error {
	what, dir := fmt.Sprintf("%q is", path), filepath.Dir(path)
	if leadsTo != "" {
		what, dir = fmt.Sprintf("%q leads to %q, which is", path, leadsTo), filepath.Dir(leadsTo)
	}
	reason := what + " outside the directories that the worker may read: start the worker with --source-root " +
		quoteArgument(dir) + ", or give the file to starter process on the worker's machine, as the worker's user"
	if in.Grant != "" {
		reason += " (this input comes from a starter, but of another user, machine or project, or the path has come to lead elsewhere)"
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

// lookAnywhere finds the regular file that a path leads to, unless it is one that is never read.
func lookAnywhere(path string) (*found, error) {
	if systemPath(path) {
		return nil, &forbidden{fmt.Sprintf("%q is of the system: such files are never read", path)}
	}
	f, err := look(path)
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

// kindOf says what a file is that cannot be read; empty for a regular one.
func kindOf(mode fs.FileMode) string {
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
		return "a link"
	}
	return "no regular file"
}

// openRegular opens what was found when it is a regular file. A pipe could be read only once, but a source
// is read by the starter, by the worker, and by each retry.
func openRegular(f *found, err error) (file *os.File, _ error) {
	if err == nil {
		if kind := kindOf(f.info.Mode()); kind != "" {
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
