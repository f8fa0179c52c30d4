package stategraph

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// panicOrigin returns the frame that panicked: the first one below the runtime's own frames. It must be called from a
// deferred function that recovered.
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
