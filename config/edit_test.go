package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// repoConfigs are the configs of the repository, by their places: files, and those in scripts of tests.
func repoConfigs(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	add := func(name string, text []byte) {
		if w, err := ReadWritten(text); err == nil && len(w.Values) > 0 && isConfig(w) && !strings.Contains(string(text), ".nan") {
			out[name] = string(text)
		}
	}
	root := filepath.Join("..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		ext := filepath.Ext(path)
		if ext != ".yaml" && ext != ".txtar" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if ext == ".yaml" {
			add(path, text)
			return nil
		}
		for _, f := range txtar.Parse(text).Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				add(path+"/"+f.Name, f.Data)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// isConfig reports whether a file has keys of a config and no others.
func isConfig(w Written) bool {
	known := map[string]bool{}
	for _, k := range Default().Keys() {
		known[k.Path] = true
	}
	for key := range w.Values {
		if !known[key] && key != "extends" && key != "prices.file" {
			return false
		}
	}
	return true
}

// Each config of the repository can be read, each of its keys can be set, and what is not set stays as it is written.
func TestEditKeepsConfigs(t *testing.T) {
	t.Parallel()
	all := repoConfigs(t)
	if len(all) < 50 {
		t.Errorf("%d configs", len(all))
	}
	for name, text := range all {
		w, err := ReadWritten([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range w.Values {
			out, err := Edit([]byte(text), map[string]any{key: value})
			if err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
				continue
			}
			again, err := ReadWritten(out)
			if diff := cmp.Diff(w.Values, again.Values); diff != "" || err != nil {
				t.Errorf("%s: %s: %v\n%s", name, key, err, diff)
			}
			if a, b := strings.Count(text, "#"), strings.Count(string(out), "#"); a != b && reflect.TypeOf(value).Kind() != reflect.Slice && reflect.TypeOf(value).Kind() != reflect.Map {
				t.Errorf("%s: %s: %d and %d comments\n%s", name, key, a, b, out)
			}
		}
		if _, set := w.Values["train.curriculum.strategy"]; set {
			continue
		}
		out, err := Edit([]byte(text), map[string]any{"train.curriculum.strategy": "uniform"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if out, err = Edit(out, map[string]any{"train.curriculum.strategy": nil}); err != nil || strings.TrimRight(string(out), "\n") != strings.TrimRight(text, "\n") {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, cmp.Diff(text, string(out)))
		}
	}
}
