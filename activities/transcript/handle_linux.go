//go:build linux && !portable

package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// handle holds a file without opening it. The file that was checked is the one that open opens, even if its path
// changes meanwhile.
type handle struct {
	// path is where the file lies, without links.
	path string
	info fs.FileInfo
	// virtual says that the kernel generates the content, as in /proc.
	virtual bool
	// private says that only the file's owner may read it, and that no person gave it: it may be a key.
	private bool
	file    *os.File
}

// resolve finds the file that a path leads to, without opening it: a device does nothing, and a pipe does not
// block. Links of /proc, which lead out of any directory, are not followed.
func resolve(path string) (*handle, error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	fd, err := uninterrupted(func() (int, error) { return unix.Openat2(unix.AT_FDCWD, path, how) })
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // an old kernel, or a container that forbids it
		fd, err = uninterrupted(func() (int, error) { return unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0) })
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := &handle{file: os.NewFile(uintptr(fd), path)}
	var system unix.Statfs_t
	if f.info, err = f.file.Stat(); err == nil {
		f.path, err = os.Readlink(f.link())
	}
	if err == nil {
		err = unix.Fstatfs(fd, &system)
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("inspect %q: %w", path, err)
	}
	f.virtual = slices.Contains(virtualSystems, int64(system.Type)) //nolint:unconvert // its type differs between processors
	return f, nil
}

// virtualSystems are the file systems that show or control the kernel, processes and devices.
var virtualSystems = []int64{
	unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEVPTS_SUPER_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC,
	unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC, unix.SMACK_MAGIC,
	unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.NSFS_MAGIC, unix.BINFMTFS_MAGIC,
}

func (f *handle) link() string { return fmt.Sprintf("/proc/self/fd/%d", f.file.Fd()) }

// open opens the file for reading.
func (f *handle) open() (*os.File, error) {
	fd, err := uninterrupted(func() (int, error) { return unix.Open(f.link(), unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: f.path, Err: err}
	}
	return os.NewFile(uintptr(fd), f.path), nil
}

// openRoot opens the directory. Files opened below it cannot lie outside of it.
func (f *handle) openRoot() (*os.Root, error) { return os.OpenRoot(f.link()) }

// identity returns the device and inode of a file with several names, which all of them share.
func identity(info fs.FileInfo) (id string, several bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Nlink < 2 {
		return "", false
	}
	return fmt.Sprintf("%d/%d", stat.Dev, stat.Ino), true
}

func (f *handle) close() { _ = f.file.Close() }

func uninterrupted(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
