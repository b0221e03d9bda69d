package main

import (
	"bytes"
	"crypto/x509"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// maxImage is how large the files of the image may be together, in bytes.
const maxImage = 120 << 20

// TestContainer carries out what the Containerfile says without an engine: its last stage
// is the folder that container/root.sh lays out, and its program trains in there as the
// user of the image, with nothing of this system in sight.
func TestContainer(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the program")
	}
	for _, program := range []string{"bash", "go"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	if _, err := os.Stat("/etc/ssl/certs/ca-certificates.crt"); err != nil {
		t.Skip(err)
	}
	last := lastStage(t)
	want := map[string]string{
		"FROM": "scratch", "COPY": "--from=build /root-of-image/ /", "USER": "65532:65532", "WORKDIR": "/work",
		"ENV": "HOME=/tmp PATH=/usr/bin", "ENTRYPOINT": `["/usr/bin/skillopt"]`, "CMD": `["--help"]`,
	}
	if diff := cmp.Diff(want, last); diff != "" {
		t.Fatalf("the last stage (-want +got):\n%s", diff)
	}
	root := t.TempDir()
	lay := exec.CommandContext(t.Context(), "bash", "container/root.sh", root)
	lay.Dir = "../.."
	lay.Env = append(os.Environ(), "TAGS=cloud", "VERSION=v9.8.7")
	if out, err := lay.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	holds(t, root)
	if os.Getuid() != 0 {
		t.Skip("only root may change what the root folder is: what is in the image was looked at, not run")
	}
	if err := os.CopyFS(filepath.Join(root, "work", "small"), os.DirFS("testdata/small")); err != nil {
		t.Fatal(err)
	}
	// The temporary folder of a test is closed to others.
	for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if out := inImage(t, root, last, "--version"); !strings.HasPrefix(out, "skillopt v9.8.7 cloud (") {
		t.Errorf("version: %s", out)
	}
	var summary struct{ Status string }
	if err := json.Unmarshal([]byte(inImage(t, root, last, "train", "small", "--yes", "--json")), &summary); err != nil || summary.Status != "completed" {
		t.Errorf("train: %+v, %v", summary, err)
	}
}

// lastStage returns the instructions behind the last FROM, each with what follows it.
func lastStage(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	var stage map[string]string
	for _, m := range regexp.MustCompile(`(?m)^([A-Z]+) (.*)$`).FindAllStringSubmatch(string(data), -1) {
		if m[1] == "FROM" {
			stage = map[string]string{}
		}
		stage[m[1]] = strings.TrimSpace(stage[m[1]] + " " + m[2])
	}
	return stage
}

// holds checks what is in the image: a program that needs nothing of a system, usable
// certificates, and not too much of anything.
func holds(t *testing.T, root string) {
	t.Helper()
	size := int64(0)
	err := filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil || size > maxImage {
		t.Errorf("%d bytes in the image, at most %d, %v", size, maxImage, err)
	}
	t.Logf("%d MB in the image", size>>20)
	program, err := elf.Open(filepath.Join(root, "usr/bin/skillopt"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program wants a loader")
		}
	}
	data, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && c.IsCA {
			n++
		}
	}
	if n < 50 {
		t.Errorf("%d certificates", n)
	}
}

// inImage runs the program as the image would.
func inImage(t *testing.T, root string, stage map[string]string, args ...string) string {
	t.Helper()
	var entry []string
	if err := json.Unmarshal([]byte(stage["ENTRYPOINT"]), &entry); err != nil || len(entry) != 1 {
		t.Fatalf("entrypoint %s: %v", stage["ENTRYPOINT"], err)
	}
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), entry[0], args...)
	c.Dir, c.Env = stage["WORKDIR"], strings.Fields(stage["ENV"])
	c.Stdout, c.Stderr = &out, &errs
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	if err := c.Run(); err != nil {
		t.Fatalf("%q: %v\n%s%s", args, err, out.String(), errs.String())
	}
	return out.String()
}
