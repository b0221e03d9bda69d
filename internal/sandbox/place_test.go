package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSeen(t *testing.T) {
	t.Parallel()
	p := Places{{Dir: "/var/tmp/.ABC/task", As: "/workspace"}, {Dir: "/var/tmp/.ABC/account", As: "/agent"}}
	for path, want := range map[string]string{
		"/var/tmp/.ABC/task": "/workspace", "/var/tmp/.ABC/task/src/a.go": "/workspace/src/a.go", "/var/tmp/.ABC/account/tmp": "/agent/tmp",
		"/var/tmp/.ABC/taskshop": "/var/tmp/.ABC/taskshop", "/var/tmp/.ABC": "/var/tmp/.ABC", "/usr/bin/env": "/usr/bin/env",
	} {
		if got := p.Seen(filepath.FromSlash(path)); got != filepath.FromSlash(want) {
			t.Errorf("%s is seen at %s, want %s", path, got, want)
		}
	}
	if got := Places(nil).Seen("/x"); got != "/x" {
		t.Errorf("without places: %s", got)
	}
}

func TestVacant(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]string{{}, {"relative"}, {"/a/b"}, {"/"}, {"/tmp/.."}, {os.TempDir()}} {
		if got := Vacant(paths...); got != "" {
			t.Errorf("of %v %q is vacant", paths, got)
		}
	}
	if got := Vacant(os.TempDir(), "/no-such-folder-1", "/no-such-folder-2"); got != "/no-such-folder-1" && filepath.Separator == '/' {
		t.Errorf("%q is vacant", got)
	}
}
