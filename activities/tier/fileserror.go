package tier

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"syscall"

	"axiommind/schema"
)

// FilesError says which file or root could not be used, and why.
type FilesError struct {
	// Op is a verb, and Where names the file or the root.
	Op, Where string
	// Temporary is true if the error may go away by itself. Otherwise a person has to fix the cause first.
	Temporary bool
	Err       error
}

// Error implements error.
func (e *FilesError) Error() string {
	return fmt.Sprintf("%s %q: %v%s", e.Op, e.Where, e.Err, e.hint())
}

// Unwrap returns the cause.
func (e *FilesError) Unwrap() error { return e.Err }

// FailureType implements boundary.Failure.
func (e *FilesError) FailureType() string {
	if e.Temporary {
		return schema.ErrorFilesUnavailable
	}
	return schema.ErrorFilesRefused
}

// Retryable implements boundary.Failure.
func (e *FilesError) Retryable() bool { return e.Temporary }

// hint returns a remedy to append to the message, or "".
func (e *FilesError) hint() string {
	switch {
	case isDenied(e.Err):
		return ": let the worker read and write there, or give it another --memory-root"
	case errors.Is(e.Err, syscall.ENOSPC), errors.Is(e.Err, syscall.EDQUOT):
		return ": make room there"
	case errors.Is(e.Err, ErrNoBucket):
		return ": make it, let the worker list, read and write it, or give the worker another --memory-root"
	}
	return ""
}

func filesError(op, where string, err error) error {
	return &FilesError{Op: op, Where: where, Temporary: isTemporary(err), Err: err}
}

// isDenied reports whether the worker may not do it. Wrong keys of a bucket are known by the status of the answer alone.
func isDenied(err error) bool {
	var answer interface{ HTTPStatusCode() int }
	if errors.As(err, &answer) && (answer.HTTPStatusCode() == http.StatusUnauthorized || answer.HTTPStatusCode() == http.StatusForbidden) {
		return true
	}
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// isTemporary reports whether the same call may succeed later by itself. An error that is not known to be permanent
// counts as temporary: networks and disks fail in many ways.
func isTemporary(err error) bool {
	if isDenied(err) || errors.Is(err, ErrNoBucket) || errors.Is(err, errNoBuckets) || errors.Is(err, fs.ErrInvalid) {
		return false
	}
	for _, wrong := range []error{syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EEXIST} {
		if errors.Is(err, wrong) {
			return false
		}
	}
	return true
}
