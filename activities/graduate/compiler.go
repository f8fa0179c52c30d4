package graduate

import (
	"cmp"
	"context"
	"os/exec"

	"axiommind/activities/graduate/idris"
)

// NoCompiler is the recorded version if there is no compiler.
const NoCompiler = "unavailable"

// installed is the compiler of this machine, if there is one.
type installed struct{ *idris.Checker }

func newCompiler(path string) installed { return installed{&idris.Checker{Path: path}} }

// Available reports whether there is a compiler now: it may be installed while the worker runs.
func (c installed) Available() bool {
	_, err := exec.LookPath(cmp.Or(c.Path, idris.DefaultCommand))
	return err == nil
}

// CompilerVersion returns the version of the compiler at the path, or of idris2 on the PATH if that is empty. It is
// [NoCompiler] if none works, and reason explains it.
func CompilerVersion(ctx context.Context, path string) (version, reason string, err error) {
	result, err := newCompiler(path).Check(ctx, idris.NewModule(nil))
	switch {
	case err != nil:
		return "", "", err
	case result.Status != idris.Passed:
		return NoCompiler, result.Reason, nil
	default:
		return result.Version, "", nil
	}
}
