package harvest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
)

// Trap 72: what this program began is told by the folder, whatever was said there.
func TestTrap72OwnReplaysAreToldByTheirFolder(t *testing.T) {
	t.Parallel()
	run := t.TempDir()
	for _, name := range []string{"manifest.json", "run.db"} {
		if err := os.WriteFile(filepath.Join(run, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]bool{
		filepath.Join(run, "workspaces", "a"): true,
		run:                                   true,
		filepath.Dir(run):                     false,
		filepath.Join(os.TempDir(), disk.Seat+"123", "empty"):     true,
		filepath.Join(os.TempDir(), disk.Agent+"9"):               true,
		filepath.Join(os.TempDir(), disk.Proof+"77", "work"):      true,
		filepath.Join(os.TempDir(), disk.Check+"5", "x", "y"):     true,
		filepath.Join("/srv/src", disk.Agent+"demo", "cmd"):       false,
		filepath.Join("/srv/src", "about-"+disk.Seat+"1", "docs"): false,
	} {
		if got := harvest.IsReplay(dir); got != want {
			t.Errorf("%s: %v, want %v", dir, got, want)
		}
	}
}

// What a link leads to decides whether a folder is allowed.
func TestAllowedFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, dir := range []string{"shop/cmd", "shop-old", "secret"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{"shop": "alias", "secret": "shop/out"} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, from)); err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
	}
	p := harvest.NewProjects(filepath.Join(root, "alias"))
	for dir, want := range map[string]bool{"shop": true, "alias": true, "alias/cmd": true, "shop/gone": true, "shop-old": false, "secret": false, "shop/out": false, "shop/out/gone": false, "alias/gone": true, "": false} {
		if got := p.Allow(filepath.Join(root, dir)); got != want {
			t.Errorf("%s: %v, want %v", dir, got, want)
		}
	}
	if p.Allow("shop") || p.Allow("") || harvest.NewProjects().Allow(root) {
		t.Error("a relative folder, none, or a folder by an empty list is allowed")
	}
}
