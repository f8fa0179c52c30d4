//go:build !linux

package stack

import "syscall"

// attributes give a child a process group of its own, so that a terminal's
// Ctrl-C reaches only the stack, which then stops its servers in order.
func attributes(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// supervisor runs "$@" and kills it when the standard input of the shell, held
// by the stack's process, is closed.
const supervisor = `exec 3<&0 </dev/null
"$@" 3<&- & pid=$!
trap 'kill -TERM $pid' TERM
(cat <&3 >/dev/null; kill -KILL $pid 2>/dev/null) & watch=$!
exec 3<&-
wait $pid; status=$?
while kill -0 $pid 2>/dev/null; do wait $pid; status=$?; done
kill $watch 2>/dev/null
exit $status`

func supervised(path string, args []string) (string, []string) {
	return "/bin/sh", append([]string{"-c", supervisor, "sh", path}, args...)
}
