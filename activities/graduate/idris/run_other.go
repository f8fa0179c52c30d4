//go:build !unix

package idris

import "os/exec"

// killTogether leaves the command as it is: the system has no process groups.
func killTogether(*exec.Cmd) {}
