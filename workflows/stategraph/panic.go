package stategraph

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// panicOrigin finds the frame that panicked, called from a deferred function
// that recovered: the first frame below the runtime's own.
func panicOrigin() (runtime.Frame, string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	panicking := false
	for {
		f, more := frames.Next()
		switch {
		case f.Function == "runtime.gopanic":
			panicking = true
		case panicking && !strings.HasPrefix(f.Function, "runtime."):
			return f, string(debug.Stack())
		}
		if !more {
			return runtime.Frame{}, string(debug.Stack())
		}
	}
}
