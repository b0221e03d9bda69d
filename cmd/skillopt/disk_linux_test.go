package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// canMount reports whether the tests may mount file systems: full and read-only
// disks cannot be had otherwise by root, who may write anywhere.
func canMount(t *testing.T) bool {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		return false
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	return true
}

// mount mounts a file system of some bytes, or one that cannot be written to, at
// a folder: mount DIR size=256k, mount DIR ro.
func mount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mount DIR OPTIONS")
	}
	dir, options := ts.MkAbs(args[0]), args[1]
	ts.Check(os.MkdirAll(dir, 0o755))
	var flags uintptr
	if options == "ro" {
		flags, options = syscall.MS_RDONLY, ""
	}
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", flags, options))
	ts.Defer(func() { ts.Check(syscall.Unmount(dir, 0)) })
}
