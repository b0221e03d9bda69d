package commands

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestApart: what a trusted step inherits leads to nothing in the workspace.
func TestApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	work, link := filepath.Join(dir, "work"), filepath.Join(dir, "link")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(work, link); err != nil {
		t.Skip(err)
	}
	list := func(folders ...string) string {
		text := folders[0]
		for _, f := range folders[1:] {
			text += string(filepath.ListSeparator) + f
		}
		return text
	}
	got := filterEnviron([]string{
		"PATH=" + list("", dir, ".", "bin", work, filepath.Join(work, "bin"), link, filepath.Join(link, "bin"), work+"2"),
		"HOME=" + dir, "PYTHONPATH=x", "PYTHONHOME=x", "VIRTUAL_ENV=x", "LANG=C",
	}, work)
	if d := cmp.Diff([]string{"PATH=" + list(dir, work+"2"), "HOME=" + dir, "LANG=C"}, got); d != "" {
		t.Error(d)
	}
}

// TestWithout: a folder but for what lies in it.
func TestWithout(t *testing.T) {
	t.Parallel()
	dir := real(t.TempDir())
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, p := range []string{at("a"), at("runs", "one", "work"), at("runs", "two")} {
		if err := os.MkdirAll(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		dir, other string
		want       []string
	}{
		{at(), at("runs", "one"), []string{at("a"), at("runs", "two")}},
		{at("a"), at("runs", "one"), []string{at("a")}},
		{at("runs", "one", "work"), at("runs", "one"), nil},
		{at("runs", "one"), at("runs", "one"), nil},
		{at("none"), at("runs", "one"), []string{at("none")}},
	} {
		got := excludeFolder(tt.dir, tt.other)
		slices.Sort(got)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s without %s: %s", tt.dir, tt.other, d)
		}
	}
}
