package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func someFiles() []file {
	return []file{{name: "skillopt", data: bytes.Repeat([]byte("program "), 1000), program: true}, {name: "LICENSE", data: []byte("free\n")}}
}

// What is packed can be read, has no owner and no time of its own, and is the same
// whatever the order of the files was.
func TestTarball(t *testing.T) {
	t.Parallel()
	to := target{"v1.2.3", "linux", "amd64"}
	packed, err := to.pack(someFiles())
	if err != nil {
		t.Fatal(err)
	}
	turned := someFiles()
	slices.Reverse(turned)
	if again, err := to.pack(turned); err != nil || !bytes.Equal(packed, again) {
		t.Errorf("in another order: %v, equal %v", err, bytes.Equal(packed, again))
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("gzip tells %v %q", z.ModTime, z.Name)
	}
	modes := map[string]int64{}
	for a := tar.NewReader(z); ; {
		h, err := a.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(epoch()) {
			t.Errorf("%s: %+v", h.Name, h)
		}
		modes[h.Name] = h.Mode
	}
	if len(modes) != 2 || modes["skillopt_v1.2.3_linux_amd64/skillopt"] != 0o755 || modes["skillopt_v1.2.3_linux_amd64/LICENSE"] != 0o644 {
		t.Errorf("in the archive: %v", modes)
	}
}

func TestZip(t *testing.T) {
	t.Parallel()
	to := target{"v1.2.3", "windows", "arm64"}
	packed, err := to.pack([]file{{name: "skillopt.exe", data: []byte("program"), program: true}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil || len(a.File) != 1 {
		t.Fatal(err, a)
	}
	if f := a.File[0]; f.Name != "skillopt_v1.2.3_windows_arm64/skillopt.exe" || !f.Modified.Equal(epoch()) {
		t.Errorf("in the archive: %q of %v", f.Name, f.Modified)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	all, err := targets("v1.0.0", systems)
	if err != nil || len(all) != 6 {
		t.Fatalf("%d targets, %v", len(all), err)
	}
	names := map[string]bool{}
	for _, one := range all {
		names[one.archive()] = true
	}
	if len(names) != 6 || !names["skillopt_v1.0.0_linux_amd64.tar.gz"] || !names["skillopt_v1.0.0_windows_arm64.zip"] {
		t.Errorf("archives: %v", names)
	}
	for _, bad := range []string{"linux/386", "linux", ""} {
		if _, err := targets("v1.0.0", bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	for _, v := range []string{"1.2.3", "v1.2", "v1.2.3 x", "v1.2.3-$(id)", "../v1.2.3", ""} {
		if err := run(context.Background(), []string{"-version", v, "-to", t.TempDir()}); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("version %q: %v", v, err)
		}
	}
}

// sha256sum itself reads the checksums, and finds a changed archive.
func TestChecksums(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.tar.gz", []byte("a"))
	write("checksums.txt", checksums([]sum{newSum("a.tar.gz", []byte("a"), 1)}))
	check := func() error {
		c := exec.CommandContext(t.Context(), "sha256sum", "--check", "checksums.txt")
		c.Dir = dir
		return c.Run()
	}
	if err := check(); err != nil {
		t.Errorf("as it was written: %v", err)
	}
	write("a.tar.gz", []byte("b"))
	if check() == nil {
		t.Error("a changed archive passes")
	}
}

// The compiler sees nothing that somebody has set for builds of their own.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	to := target{"v1.0.0", "darwin", "arm64"}
	got := to.environment([]string{"PATH=/bin", "GOFLAGS=-tags=x", "CGO_ENABLED=1", "GOAMD64=v4", "GOOS=plan9"})
	want := []string{"PATH=/bin", "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GOWORK=off", "CGO_ENABLED=0", "GOOS=darwin", "GOARCH=arm64"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A program that the system would have to load libraries for is refused.
func TestStatic(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("reads programs of linux")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	program, err := os.ReadFile(sh)
	if err != nil {
		t.Fatal(err)
	}
	if err := static(program); err == nil {
		t.Skip("the shell is static")
	} else if !strings.Contains(err.Error(), "not static") {
		t.Error(err)
	}
	if err := static([]byte("text")); err == nil {
		t.Error("text passes as a program")
	}
}
