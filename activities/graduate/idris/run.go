package idris

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"
)

// limit is a shell that lowers the limits of its address space, in KiB, and of its processor time, in seconds, and
// becomes the compiler. A limit that the system lacks is skipped. The second limit ends a compiler whose worker has
// died.
const limit = `ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"`

// waitDelay is how long to wait for output after the compiler has ended.
const waitDelay = 5 * time.Second

// run runs the compiler in a directory and reads its output. When the context ends, the compiler and its child
// processes are killed.
func (p process) run(ctx context.Context, dir string, args ...string) (answer, error) {
	memory, seconds := strconv.FormatInt(p.memory>>10, 10), strconv.Itoa(1+int(p.timeout/time.Second))
	args = append([]string{"-c", limit, "sh", memory, seconds, p.path}, args...)
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "NO_COLOR=1")
	var out reader
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = waitDelay
	killTogether(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		return answer{}, context.Cause(ctx)
	}
	a := out.answer()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		a.failed = exit.String()
	} else if err != nil {
		return answer{}, fmt.Errorf("run compiler %q: %w", p.path, err)
	}
	a.accepted = a.failed == "" && len(a.errors) == 0 && !out.cut
	return a, nil
}
