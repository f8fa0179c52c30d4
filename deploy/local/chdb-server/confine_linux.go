package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confinedVariable marks the second start of the program, which runs in its confinement.
const confinedVariable = "AXIOMMIND_CHDB_CONFINED"

// Access to files and directories that Landlock can deny, and the versions that added more.
const (
	readFiles  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	execute    = unix.LANDLOCK_ACCESS_FS_EXECUTE
	writeFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	versionRefer, versionTruncate, versionNetwork, versionDevices, versionScopes = 2, 3, 4, 5, 6
)

// ownThreads is the directory in which the engine reads the usage of its threads, whenever a statement takes or releases
// one. If that is denied, it throws and catches an exception each time, which costs more than a short statement.
const ownThreads = "/proc/self/task"

// readable lists the paths that the program and the engine read outside the data directory, without /proc: it shows the
// environment of other processes. Its own files in [ownThreads] are readable. They show its token, which every client has.
var readable = []string{
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/localtime", "/etc/ld.so.cache",
	"/dev/null", "/dev/urandom", "/dev/random", "/sys/fs/cgroup", "/sys/devices/system/cpu",
	"/proc/meminfo", "/proc/cpuinfo", "/proc/stat",
}

// confine limits the process to its data directory and the files that it needs to run. It opens no TCP connection and, where
// the kernel supports it, reaches no abstract socket, signals no other process and controls no device. Landlock leaves UDP
// and sockets with a path open, which no query reaches. It restarts the program, because Landlock's rules apply to the
// calling thread and the program that it executes. It returns false where the kernel has no Landlock.
func confine(library, dir string) (bool, error) {
	if os.Getenv(confinedVariable) != "" {
		return true, os.Unsetenv(confinedVariable)
	}
	version := landlockVersion()
	if version == 0 {
		return false, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	runtime.LockOSThread()
	if err := restrict(version, library, dir, self); err != nil {
		runtime.UnlockOSThread()
		return false, fmt.Errorf("confine the server: %w", err)
	}
	return false, unix.Exec(self, os.Args, append(os.Environ(), confinedVariable+"=1"))
}

// landlockVersion is the version of Landlock that the kernel has, or 0.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

func restrict(version int, library, dir, self string) error {
	write := uint64(writeFiles)
	if version >= versionRefer {
		write |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= versionTruncate {
		write |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: readFiles | execute | write}
	size := unsafe.Offsetof(attr.Handled_access_net)
	if version >= versionNetwork {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size = unsafe.Offsetof(attr.Scoped)
	}
	if version >= versionDevices { // No ioctl of a device is allowed by any rule.
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= versionScopes {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size = unsafe.Sizeof(attr)
	}
	rules, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(int(rules)) }()
	errs := []error{
		allow(int(rules), dir, readFiles|write), allow(int(rules), library, readFiles|execute), allow(int(rules), self, readFiles|execute),
		allowThreads(int(rules)),
	}
	for _, path := range readable {
		if err := allow(int(rules), path, readFiles|execute); !errors.Is(err, unix.ENOENT) {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// allowThreads lets the program read about its own threads. A rule applies to an inode, and /proc makes another one once
// it is not in use: an open file keeps it.
func allowThreads(rules int) error {
	fd, err := unix.Open(ownThreads, unix.O_PATH, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EACCES): // It is slower then, and works.
		return nil
	case err != nil:
		return fmt.Errorf("open %q: %w", ownThreads, err)
	}
	return allowFile(rules, fd, ownThreads, unix.LANDLOCK_ACCESS_FS_READ_FILE)
}

// allow lets a path, and all beneath it, be used.
func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(filepath.Clean(path), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %q: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	return allowFile(rules, fd, path, access)
}

func allowFile(rules, fd int, path string, access uint64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("open %q: %w", path, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	}
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("allow %q: %w", path, errno)
	}
	return nil
}
