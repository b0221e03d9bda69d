package runner

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// Targets returns what is run for files of tests: packages of Go, else files. For Go also packages that import what has changed,
// by way of others too. Paths are of the tree; targets are relative to the folder in which tests run.
func (s Suite) Targets(tests, changed []string, root *os.Root) ([]string, error) {
	out := map[string]bool{}
	for _, name := range tests {
		if t := s.target(name, root); t != "" {
			out[t] = true
		}
	}
	if s.Kind == Go {
		importers, err := s.importers(root, slices.Concat(tests, changed))
		if err != nil {
			return nil, fmt.Errorf("find packages that import what has changed: %w", err)
		}
		for _, dir := range importers {
			out[goTarget(dir)] = true
		}
	}
	return slices.Sorted(maps.Keys(out)), nil
}

// runnable says which files of tests a runner is given.
var runnable = map[Kind]pattern.Pattern{
	Pytest: pattern.New(`(^|/)(test_[^/]*|[^/]*_test)\.py$`),
	Node:   pattern.New(testNames + `|(^|/)tests?/[^.][^/]*\.[cm]?[jt]s$`),
	Vitest: pattern.New(`[._-](test|spec)s?\.[cm]?[jt]sx?$`),
	Jest:   pattern.New(`[._-](test|spec)s?\.[cm]?[jt]sx?$|(^|/)__tests__/.*\.[cm]?[jt]sx?$`),
	Mocha:  pattern.New(testNames + `|(^|/)(test|spec)s?/.*\.[cm]?[jt]s$`),
	Cargo:  pattern.New(`\.rs$`),
}

// target returns what is run for one file of tests, "" for one that no run is about.
func (s Suite) target(name string, root *os.Root) string {
	rel, inside := s.inFolder(name)
	if s.Kind == Go && inside {
		dir, _, _ := strings.Cut("/"+path.Dir(rel)+"/", "/testdata/")
		return goTarget(strings.Trim(dir, "/"))
	}
	p, ok := runnable[s.Kind]
	if _, err := root.Stat(name); err != nil || !ok || !inside || !p.MatchString(rel) {
		return ""
	}
	return rel
}

// inFolder returns a path as it is in the folder in which tests run.
func (s Suite) inFolder(name string) (string, bool) {
	if s.Folder == "" {
		return name, true
	}
	return strings.CutPrefix(name, s.Folder+"/")
}

func goTarget(dir string) string {
	if dir == "" || dir == "." {
		return "."
	}
	return "./" + dir
}

// importers returns the folders of packages that import those of the given files, directly or not, with these.
func (s Suite) importers(root *os.Root, files []string) ([]string, error) {
	by, err := s.imports(root)
	seen := map[string]bool{}
	var queue []string
	for _, name := range files {
		if rel, inside := s.inFolder(name); inside && strings.HasSuffix(rel, ".go") {
			queue = append(queue, path.Dir(rel))
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		if importers, here := by[queue[0]]; here && !seen[queue[0]] {
			seen[queue[0]] = true
			queue = append(queue, importers...)
		}
	}
	return slices.Sorted(maps.Keys(seen)), err
}

// imports reads, for each folder with a package, which folders import it.
func (s Suite) imports(root *os.Root) (map[string][]string, error) {
	by, all := map[string][]string{}, map[[2]string]bool{}
	err := disk.Walk(root, func(dir *os.Root, name string, e fs.DirEntry, err error) error {
		rel, inside := s.inFolder(name)
		switch {
		case e != nil && e.IsDir() && inside && ofOther(dir, e.Name()):
			return fs.SkipDir
		case err != nil || !inside || !e.Type().IsRegular() || !strings.HasSuffix(name, ".go"):
			return err
		}
		text, _ := disk.ReadIn(context.Background(), dir, e.Name(), mostSource) // what is too large is no source
		if by[path.Dir(rel)] == nil {
			by[path.Dir(rel)] = []string{}
		}
		for _, imported := range goImports(text) {
			if rest, is := strings.CutPrefix(imported, s.Project[0]); is && (rest == "" || rest[0] == '/') {
				all[[2]string{path.Clean("./" + rest), path.Dir(rel)}] = true
			}
		}
		return nil
	})
	for edge := range all {
		if _, here := by[edge[0]]; here {
			by[edge[0]] = append(by[edge[0]], edge[1])
		}
	}
	return by, err
}

// mostSource is the size of the largest source that is read, in bytes.
const mostSource = 16 << 20

// ofOther reports whether a folder holds no packages of the module.
func ofOther(dir *os.Root, name string) bool {
	if name == "vendor" || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := dir.Stat(name + "/go.mod")
	return err == nil
}

func goImports(text []byte) (paths []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if f == nil || err != nil && len(f.Imports) == 0 {
		return nil
	}
	for _, i := range f.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// Canaries returns files to lay in before tests of targets run, by their paths in the tree: each has two tests with drawn names, one
// that passes and one that fails. For Go they are files of their own, else files of tests with both at the end: what a process says
// of its own tests it says of these.
func (s Suite) Canaries(root *os.Root, targets []string, draw func() string) (files map[string][]byte, pass, fail []string, err error) {
	files = map[string][]byte{}
	for _, target := range targets {
		good, bad := draw(), draw()
		var c canary
		if s.Kind == Go {
			c, err = s.goCanary(root, target, good, bad)
		} else {
			c, err = s.fileCanary(root, target, good, bad)
		}
		if err != nil {
			return nil, nil, nil, fmt.Errorf("lay tests with drawn names next to those of %s: %w", target, err)
		}
		if c.path == "" {
			continue
		}
		files[c.path] = c.text
		pass, fail = append(pass, c.pass), append(fail, c.fail)
	}
	return files, pass, fail, nil
}

type canary struct {
	path       string
	text       []byte
	pass, fail string
}

// goCanary returns a file in the package of a target that has tests.
func (s Suite) goCanary(root *os.Root, target, good, bad string) (canary, error) {
	dir := path.Join(s.Folder, target)
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return canary{}, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") || !e.Type().IsRegular() {
			continue
		}
		text, err := disk.ReadIn(context.Background(), root, path.Join(dir, e.Name()), mostSource)
		if err != nil {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
		if err != nil {
			continue
		}
		body := "package %s\n\nimport \"testing\"\n\nfunc Test%s(t *testing.T) {}\n\nfunc Test%s(t *testing.T) { t.Fatal(\"as it should\") }\n"
		pkg := path.Join(s.Project[0], target)
		return canary{
			path: path.Join(dir, strings.ToLower(good)+"_test.go"), text: fmt.Appendf(nil, body, f.Name.Name, good, bad),
			pass: pkg + ".Test" + good, fail: pkg + ".Test" + bad,
		}, nil
	}
	return canary{}, nil
}

// endings are the two tests at the end of a file: good and bad are their names.
var endings = map[Kind]string{
	Pytest: "\n\ndef test_%[1]s():\n    pass\n\n\ndef test_%[2]s():\n    assert False, \"as it should\"\n",
	Node:   "\n;import('node:test').then(({ test }) => { test('%[1]s', () => {}); test('%[2]s', () => { throw new Error('as it should'); }); });\n",
	Vitest: "\n;import { test as _%[1]s } from 'vitest';\n_%[1]s('%[1]s', () => {}); _%[1]s('%[2]s', () => { throw new Error('as it should'); });\n",
	Jest:   "\n;test('%[1]s', () => {}); test('%[2]s', () => { throw new Error('as it should'); });\n",
	Mocha:  "\n;(globalThis.it || globalThis.test)('%[1]s', () => {}); (globalThis.it || globalThis.test)('%[2]s', () => { throw new Error('as it should'); });\n",
	Cargo:  "\n#[test]\nfn canary_%[1]s() {}\n\n#[test]\nfn canary_%[2]s() { panic!(\"as it should\") }\n",
}

// fileCanary returns a file of tests with two more at its end.
func (s Suite) fileCanary(root *os.Root, target, good, bad string) (canary, error) {
	ending, ok := endings[s.Kind]
	if !ok {
		return canary{}, nil // what the command of the user's collects is not known
	}
	good, bad = strings.ToLower(good), strings.ToLower(bad)
	at := path.Join(s.Folder, target)
	text, err := disk.ReadIn(context.Background(), root, at, mostSource)
	if err != nil {
		return canary{}, err
	}
	c := canary{path: at, text: append(bytes.TrimRight(text, "\n"), fmt.Sprintf(ending, good, bad)...)}
	switch s.Kind {
	case Pytest:
		c.pass, c.fail = target+"::test_"+good, target+"::test_"+bad
	case Cargo:
		prefix := s.rustModule(root, target)
		c.pass, c.fail = prefix+"canary_"+good, prefix+"canary_"+bad
	default:
		c.pass, c.fail = joinParts(target, good), joinParts(target, bad)
	}
	return c, nil
}
