package sandboxtest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// paths are ways to read a file, and to learn what there is.
func paths() []Probe {
	return group(
		"paths",
		Probe{Name: "read gold", Try: func(t *Target) (bool, string) { return t.read(t.Files[Gold]) }},
		Probe{Name: "read .env", Try: func(t *Target) (bool, string) { return t.read(t.Files[DotEnv]) }},
		Probe{Name: "read config", Try: func(t *Target) (bool, string) { return t.read(t.Files[Config]) }},
		Probe{Name: "read run.db", Try: func(t *Target) (bool, string) { return t.read(t.Files[RunDB]) }},
		Probe{Name: "read another workspace", Try: func(t *Target) (bool, string) { return t.read(t.Files[Other]) }},
		Probe{Name: "read script", Try: func(t *Target) (bool, string) { return t.read(t.Files[Script]) }},
		Probe{Name: "list the project", Try: func(t *Target) (bool, string) {
			entries, err := os.ReadDir(t.Dir)
			return did(noneOf(len(entries), err))
		}},
		Probe{Name: "list where temporary files are", Try: func(*Target) (bool, string) {
			entries, err := os.ReadDir("/tmp")
			return did(noneOf(len(entries), err))
		}},
		Probe{Name: "by way of dots", Try: func(t *Target) (bool, string) {
			return t.read(strings.Repeat("../", 40) + t.Files[Gold][1:])
		}},
		Probe{Name: "by way of dots in the own folder", Try: func(t *Target) (bool, string) {
			_ = os.Mkdir(own("d"), 0o700)
			return t.read(own("d") + strings.Repeat("/..", 40) + t.Files[Gold])
		}},
		Probe{Name: "by way of /proc/self/root", Try: func(t *Target) (bool, string) {
			return first(
				func() (bool, string) { return t.read("/proc/self/root" + t.Files[Gold]) },
				func() (bool, string) { return t.read("/proc/thread-self/root" + t.Files[Gold]) },
				func() (bool, string) { return t.read("/proc/self/task/1/root" + t.Files[Gold]) },
			)
		}},
		Probe{Name: "by way of /proc/self/cwd", Try: func(t *Target) (bool, string) {
			return t.read("/proc/self/cwd" + strings.Repeat("/..", 40) + t.Files[Gold])
		}},
		Probe{Name: "change folder, then read", Try: func(t *Target) (bool, string) {
			back, err := os.Getwd()
			if err == nil {
				defer func() { _ = os.Chdir(back) }()
			}
			if err := os.Chdir(t.Dir); err != nil {
				return false, err.Error()
			}
			return t.read(filepath.Base(t.Files[Gold]))
		}},
		Probe{Name: "change folder by descriptor", Try: func(t *Target) (bool, string) {
			back, err := os.Getwd()
			if err == nil {
				defer func() { _ = os.Chdir(back) }()
			}
			return t.at(t.Dir, func(fd int) (int, error) {
				if err := unix.Fchdir(fd); err != nil {
					return -1, err
				}
				return unix.Open(filepath.Base(t.Files[Gold]), unix.O_RDONLY, 0)
			})
		}},
		Probe{Name: "O_PATH of the folder, then openat", Try: func(t *Target) (bool, string) {
			return t.at(t.Dir, func(fd int) (int, error) { return unix.Openat(fd, filepath.Base(t.Files[Gold]), unix.O_RDONLY, 0) })
		}},
		Probe{Name: "O_PATH of the root, then openat", Try: func(t *Target) (bool, string) {
			return t.at("/", func(fd int) (int, error) { return unix.Openat(fd, t.Files[Gold][1:], unix.O_RDONLY, 0) })
		}},
		Probe{Name: "openat2 in another root", Try: func(t *Target) (bool, string) {
			return t.at(t.Dir, func(fd int) (int, error) {
				return unix.Openat2(fd, "/"+filepath.Base(t.Files[Gold]), &unix.OpenHow{Resolve: unix.RESOLVE_IN_ROOT})
			})
		}},
		Probe{Name: "openat2 beneath", Try: func(t *Target) (bool, string) {
			return t.at("/", func(fd int) (int, error) {
				return unix.Openat2(fd, t.Files[Gold][1:], &unix.OpenHow{Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
			})
		}},
		Probe{Name: "O_PATH, then open it again", Try: func(t *Target) (bool, string) {
			return t.at(t.Files[Gold], func(fd int) (int, error) { return unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY, 0) })
		}},
		Probe{Name: "O_PATH, then read and map", Try: func(t *Target) (bool, string) {
			return t.at(t.Files[Gold], func(fd int) (int, error) {
				data, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE)
				if err == nil && len(t.Holds(data)) > 0 {
					return -1, errors.New("a file without rights was mapped")
				}
				return unix.Dup(fd)
			})
		}},
	)
}

// morePaths are the rarer ways.
func morePaths() []Probe {
	return group(
		"paths",
		Probe{Name: "by handle", Try: func(t *Target) (bool, string) { return t.byHandle() }},
		Probe{Name: "by a clone of the tree", Try: func(t *Target) (bool, string) {
			fd, err := unix.OpenTree(unix.AT_FDCWD, t.Dir, unix.OPEN_TREE_CLOEXEC|unix.OPEN_TREE_CLONE)
			if err != nil {
				return false, err.Error()
			}
			defer unix.Close(fd)
			gold, err := unix.Openat(fd, filepath.Base(t.Files[Gold]), unix.O_RDONLY, 0)
			return t.readFD(gold, err)
		}},
		Probe{Name: "copy by the kernel", Try: func(t *Target) (bool, string) {
			from, err := unix.Open(t.Files[Gold], unix.O_PATH, 0)
			if err != nil {
				return false, err.Error()
			}
			defer unix.Close(from)
			to, err := unix.Open(own("copied"), unix.O_RDWR|unix.O_CREAT, 0o600)
			if err != nil {
				return false, err.Error()
			}
			defer unix.Close(to)
			_, err1 := unix.CopyFileRange(from, nil, to, nil, 4096, 0)
			_, err2 := unix.Sendfile(to, from, nil, 4096)
			err3 := unix.IoctlFileClone(to, from)
			reached, detail := t.read(own("copied"))
			return reached, fmt.Sprint(detail, err1, err2, err3)
		}},
		Probe{Name: "watch names come and go", Try: func(t *Target) (bool, string) { return watch(t.Dir) }},
		Probe{Name: "crawl what can be listed", Try: func(t *Target) (bool, string) { return t.crawl() }},
		Probe{Name: "workspaces of the run, by pattern", Try: func(t *Target) (bool, string) {
			for _, pattern := range []string{
				filepath.Join(t.Dir, "runs", "*", "workspaces", "*", "work", "*"), filepath.Join("/tmp", ".*", "*", "work", "*"), "/workspace*/../*/*",
			} {
				found, err := filepath.Glob(pattern)
				for _, path := range found {
					if reached, detail := t.read(path); reached {
						return true, detail
					}
				}
				if err != nil {
					return false, err.Error()
				}
			}
			return false, "no pattern matches"
		}},
		Probe{Name: "bring files into the page cache", Try: func(t *Target) (bool, string) {
			return t.at(t.Files[Gold], func(fd int) (int, error) {
				return -1, errors.Join(unix.Fadvise(fd, 0, 0, unix.FADV_WILLNEED), errors.New("no file came of it"))
			})
		}},
	)
}

// at opens a path without any right, and reads what open makes of that.
func (t *Target) at(path string, open func(fd int) (int, error)) (bool, string) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	return t.readFD(open(fd))
}

func (t *Target) readFD(fd int, err error) (bool, string) {
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	data := make([]byte, 64<<10)
	n, err := unix.Read(fd, data)
	return t.judge(data[:max(n, 0)], err)
}

func (t *Target) byHandle() (bool, string) {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, t.Files[Gold], 0)
	if err != nil {
		return false, err.Error()
	}
	return t.at(t.Dir, func(int) (int, error) {
		root, err := unix.Open("/usr", unix.O_RDONLY, 0)
		if err != nil {
			return -1, err
		}
		defer unix.Close(root)
		here, err := unix.Open(".", unix.O_RDONLY, 0)
		if err != nil {
			return -1, err
		}
		defer unix.Close(here)
		fd, err := unix.OpenByHandleAt(here, handle, unix.O_RDONLY)
		if err != nil {
			fd, err = unix.OpenByHandleAt(root, handle, unix.O_RDONLY)
		}
		return fd, err
	})
}

// watch has the system tell the names of files.
func watch(dir string) (bool, string) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, dir, unix.IN_ALL_EVENTS)
	return did(err)
}

// crawl reads whatever can be read where people keep files.
func (t *Target) crawl() (bool, string) {
	until, files, found := time.Now().Add(5*time.Second), 0, ""
	for _, root := range []string{filepath.Dir(t.Dir), t.Dir, "/tmp", "/var/tmp", "/dev/shm", "/run", "/home", "/root", "/opt", "/usr/src", "/srv", "/mnt", "/var", "/etc", "/"} {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (path == "/proc" || path == "/sys" || path == "/usr" || path == "/lib") {
				return fs.SkipDir
			}
			if time.Now().After(until) || found != "" {
				return fs.SkipAll
			}
			if info, err := d.Info(); err == nil && d.Type().IsRegular() && info.Size() < 1<<20 {
				files++
				if reached, detail := t.read(path); reached {
					found = path + ": " + detail
				}
			}
			return nil
		})
	}
	return found != "", fmt.Sprintf("%d files were tried: %s", files, found)
}

// changes are ways to change what is outside.
func changes() []Probe {
	return group(
		"changes",
		Probe{Name: "open gold for writing", Try: func(t *Target) (bool, string) { return opens(t.Files[Gold], unix.O_WRONLY) }},
		Probe{Name: "append to run.db", Try: func(t *Target) (bool, string) { return opens(t.Files[RunDB], unix.O_WRONLY|unix.O_APPEND) }},
		Probe{Name: "make a file", Try: func(t *Target) (bool, string) { return opens(t.Dir+"/made", unix.O_WRONLY|unix.O_CREAT) }},
		Probe{Name: "make a file without a name", Try: func(t *Target) (bool, string) { return opens(t.Dir, unix.O_WRONLY|unix.O_TMPFILE) }},
		Probe{Name: "truncate", Try: func(t *Target) (bool, string) { return did(unix.Truncate(t.Files[Config], 1<<20)) }},
		Probe{Name: "make a folder", Try: func(t *Target) (bool, string) { return did(os.Mkdir(t.Dir+"/folder", 0o700)) }},
		Probe{Name: "make a pipe", Try: func(t *Target) (bool, string) { return did(unix.Mkfifo(t.Dir+"/pipe", 0o600)) }},
		Probe{Name: "make a symbolic link", Try: func(t *Target) (bool, string) { return did(os.Symlink("x", t.Dir+"/link")) }},
		Probe{Name: "remove a file", Try: func(t *Target) (bool, string) { return did(unix.Unlink(t.Files[Gold])) }},
		Probe{Name: "remove a folder", Try: func(t *Target) (bool, string) { return did(unix.Rmdir(t.Dir + "/empty")) }},
		Probe{Name: "take a file by renaming", Try: func(t *Target) (bool, string) { return did(os.Rename(t.Files[Gold], own("taken"))) }},
		Probe{Name: "put a file in its place", Try: func(t *Target) (bool, string) {
			return did(errors.Join(os.WriteFile(own("mine"), nil, 0o600), os.Rename(own("mine"), t.Files[Gold])))
		}},
		Probe{Name: "exchange files", Try: func(t *Target) (bool, string) {
			_ = os.WriteFile(own("mine"), nil, 0o600)
			return did(unix.Renameat2(unix.AT_FDCWD, own("mine"), unix.AT_FDCWD, t.Files[Gold], unix.RENAME_EXCHANGE))
		}},
		Probe{Name: "leave a file where temporary files are", Try: func(t *Target) (bool, string) {
			return first(
				func() (bool, string) { return opens("/tmp/"+t.Token, unix.O_WRONLY|unix.O_CREAT) },
				func() (bool, string) { return opens("/var/tmp/"+t.Token, unix.O_WRONLY|unix.O_CREAT) },
				func() (bool, string) { return opens("/run/"+t.Token, unix.O_WRONLY|unix.O_CREAT) },
				func() (bool, string) { return opens("/var/lock/"+t.Token, unix.O_WRONLY|unix.O_CREAT) },
			)
		}},
		Probe{Name: "write beside the own folder", Try: func(t *Target) (bool, string) { return opens("../"+t.Token, unix.O_WRONLY|unix.O_CREAT) }},
		Probe{Name: "write the system", Try: func(t *Target) (bool, string) {
			return first(
				func() (bool, string) { return opens("/etc/hosts", unix.O_WRONLY) },
				func() (bool, string) { return opens("/etc/ld.so.preload", unix.O_WRONLY|unix.O_CREAT) },
				func() (bool, string) { return opens("/usr/bin/"+t.Token, unix.O_WRONLY|unix.O_CREAT) },
			)
		}},
		Probe{Name: "fallocate outside", Try: func(t *Target) (bool, string) {
			fd, err := unix.Open(t.Files[Gold], unix.O_PATH, 0)
			if err != nil {
				return false, err.Error()
			}
			defer unix.Close(fd)
			return did(unix.Fallocate(fd, 0, 0, 1<<20))
		}},
		Probe{Name: "mode", Try: func(t *Target) (bool, string) { return did(unix.Chmod(t.Files[Gold], 0o604)) }},
		Probe{Name: "mode by descriptor", Try: func(t *Target) (bool, string) {
			return onFD(t.Files[Gold], func(_ int, path string) error { return unix.Chmod(path, 0o604) })
		}},
		Probe{Name: "owner", Try: func(t *Target) (bool, string) { return did(unix.Lchown(t.Files[Gold], os.Getuid(), os.Getgid())) }},
		Probe{Name: "times", Try: func(t *Target) (bool, string) {
			return did(os.Chtimes(t.Files[Gold], time.Unix(1, 0), time.Unix(2, 0)))
		}},
		Probe{Name: "extended attributes", Try: func(t *Target) (bool, string) { return did(unix.Setxattr(t.Files[Gold], "user.probe", []byte("x"), 0)) }},
		Probe{Name: "extended attributes by descriptor", Try: func(t *Target) (bool, string) {
			return onFD(t.Files[Gold], func(_ int, path string) error { return unix.Setxattr(path, "user.probe", []byte("x"), 0) })
		}},
		Probe{Name: "extended attributes, the newer call", Try: func(t *Target) (bool, string) {
			value := []byte("x")
			args := struct {
				value       uint64
				size, flags uint32
			}{uint64(uintptr(unsafe.Pointer(&value[0]))), 1, 0}
			path, name := cstring(t.Files[Gold]), cstring("user.probe")
			const setxattrat, at = 463, -100
			dir := at
			_, _, errno := unix.Syscall6(setxattrat, uintptr(dir), ptr(path), 0, ptr(name), uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args))
			return didNo(errno)
		}},
		Probe{Name: "attributes of inodes, by name", Try: func(t *Target) (bool, string) {
			const fileGetattr, fileSetattr, at = 468, 469, -100
			dir, path, attr := at, cstring(t.Files[Gold]), make([]byte, 24)
			_, _, errno := unix.Syscall6(fileGetattr, uintptr(dir), ptr(path), ptr(attr), uintptr(len(attr)), 0, 0)
			if errno == 0 {
				_, _, errno = unix.Syscall6(fileSetattr, uintptr(dir), ptr(path), ptr(attr), uintptr(len(attr)), 0, 0)
			}
			return didNo(errno)
		}},
		Probe{Name: "attributes of inodes", Try: func(t *Target) (bool, string) {
			fd, err := unix.Open(t.Files[Gold], unix.O_RDONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				return false, err.Error()
			}
			defer unix.Close(fd)
			flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			return did(errors.Join(err, unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags)))
		}},
	)
}

// links are games with names for the same file.
func links() []Probe {
	return group(
		"links",
		Probe{Name: "symbolic link", Try: func(t *Target) (bool, string) {
			_ = os.Symlink(t.Files[Gold], own("sym"))
			return t.read(own("sym"))
		}},
		Probe{Name: "symbolic link to the folder", Try: func(t *Target) (bool, string) {
			_ = os.Symlink(t.Dir, own("symdir"))
			return t.read(own("symdir/" + filepath.Base(t.Files[Gold])))
		}},
		Probe{Name: "write through a symbolic link", Try: func(t *Target) (bool, string) {
			_ = os.Symlink(t.Dir+"/through", own("symnew"))
			return opens(own("symnew"), unix.O_WRONLY|unix.O_CREAT)
		}},
		Probe{Name: "symbolic link into /proc", Try: func(t *Target) (bool, string) {
			_ = os.Symlink(t.Victim.proc("cwd"), own("symproc"))
			return t.read(own("symproc/" + filepath.Base(t.Files[Gold])))
		}},
		Probe{Name: "link", Try: func(t *Target) (bool, string) {
			if err := os.Link(t.Files[Gold], own("hard")); err != nil {
				return false, err.Error()
			}
			return t.read(own("hard"))
		}},
		Probe{Name: "link to a descriptor", Try: func(t *Target) (bool, string) {
			return onFD(t.Files[Gold], func(fd int, path string) error {
				if unix.Linkat(unix.AT_FDCWD, path, unix.AT_FDCWD, own("hardfd"), unix.AT_SYMLINK_FOLLOW) == nil {
					return nil
				}
				return unix.Linkat(fd, "", unix.AT_FDCWD, own("hardfd2"), unix.AT_EMPTY_PATH)
			})
		}},
		Probe{Name: "link out", Try: func(t *Target) (bool, string) {
			_ = os.WriteFile(own("toplant"), []byte("x"), 0o600)
			return did(os.Link(own("toplant"), t.Dir+"/planted"))
		}},
		Probe{Name: "swap a folder for a link while it is opened", Try: func(t *Target) (bool, string) { return t.swap() }},
		Probe{Name: "move a folder of the own up", Try: func(t *Target) (bool, string) {
			_ = os.MkdirAll(own("a/b"), 0o700)
			return did(os.Rename(own("a/b"), own("../"+t.Token)))
		}},
	)
}

// swap has one path be a folder and a link to the project by turns.
func (t *Target) swap() (bool, string) {
	name := filepath.Base(t.Files[Gold])
	_ = os.Mkdir(own("s1"), 0o700)
	_ = os.WriteFile(own("s1/"+name), []byte("own"), 0o600)
	_ = os.Symlink(t.Dir, own("s2"))
	done := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, own("s1"), unix.AT_FDCWD, own("s2"), unix.RENAME_EXCHANGE)
			}
		}
	}()
	defer func() { close(stop); <-done }()
	for range 2000 {
		if reached, detail := t.read(own("s1/" + name)); reached {
			return true, detail
		}
	}
	return false, "never in 2000 times"
}

func opens(path string, flags int) (bool, string) {
	fd, err := unix.Open(path, flags|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0o600)
	if err == nil {
		_ = unix.Close(fd)
	}
	return did(err)
}

// onFD does something by a descriptor that gives no right.
func onFD(path string, do func(fd int, path string) error) (bool, string) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, err.Error()
	}
	defer unix.Close(fd)
	return did(do(fd, fmt.Sprintf("/proc/self/fd/%d", fd)))
}

func didNo(errno unix.Errno) (bool, string) {
	if errno != 0 {
		return false, errno.Error()
	}
	return true, "it worked"
}

func cstring(s string) []byte { return append([]byte(s), 0) }

func ptr(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// noneOf is an error when nothing came of a call that worked.
func noneOf(n int, err error) error {
	if err == nil && n == 0 {
		return errors.New("nothing is there")
	}
	return err
}
