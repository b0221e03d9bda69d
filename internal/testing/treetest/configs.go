package treetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Configs returns the YAML files of the repository whose root is given, by their places: examples, benchmarks, test
// data, what imports have made, and files in the scripts of tests. What runs have left in it is none of it.
func Configs(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || path == filepath.Join(root, "runs")):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		ext := filepath.Ext(path)
		if ext != ".yaml" && ext != ".txtar" && d.Name() != "config.golden" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if ext != ".txtar" {
			out[path] = string(text)
			return nil
		}
		for _, f := range txtar.Parse(text).Files {
			if strings.HasSuffix(f.Name, ".yaml") {
				out[path+"/"+f.Name] = string(f.Data)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
