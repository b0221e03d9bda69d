package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// mostSettings is the size of the largest file of settings that is read, in bytes.
const mostSettings = 4 << 20

// detector finds out about one tree.
type detector struct {
	root     *os.Root
	machine  Machine
	options  Options
	suite    Suite
	findings []Finding
	clash    string // another version of the project that every program can read
}

// Detect finds the test runner of a tree and what it reads of the machine. It fails with an *Unfit where there is none, where a
// dependency is missing, and where another version of the project could be read.
func Detect(ctx context.Context, root *os.Root, m Machine, o Options) (Suite, []Finding, error) {
	d := &detector{root: root, machine: m, options: o, suite: Suite{Folder: o.Folder, Command: o.Command}}
	find, err := d.chosen()
	if err == nil {
		err = find(ctx)
	}
	if err == nil && d.clash != "" {
		err = &Unfit{Why: "another version of the project would be within reach of agents and tests; remove it, or install it in a way that leads to the repository, such as pip install -e", Path: d.clash}
	}
	if err == nil {
		d.suite.Deps, err = Lock(root)
	}
	if err != nil {
		return Suite{}, d.findings, fmt.Errorf("find the tests of the repository: %w", err)
	}
	d.withDeps()
	slices.Sort(d.suite.Read)
	d.suite.Read = slices.Compact(d.suite.Read)
	return d.suite, d.findings, nil
}

// chosen returns what finds out about the runner of the tree.
func (d *detector) chosen() (func(context.Context) error, error) {
	switch {
	case len(d.options.Command) > 0:
		return d.detectCommand, nil
	case d.has("go.mod"):
		return d.detectGo, nil
	case d.has("Cargo.toml"):
		return d.detectCargo, nil
	case d.has("package.json") && !d.has("pyproject.toml"):
		return d.detectNode, nil
	case d.has("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "conftest.py", "requirements.txt"):
		return d.detectPython, nil
	case d.has("package.json"):
		return d.detectNode, nil
	}
	return nil, &Unfit{Why: "it has no go.mod, Cargo.toml, package.json or settings of pytest; --test COMMAND runs tests that write JUnit XML to $REPORT"}
}

func (d *detector) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := d.root.Stat(path.Join(d.options.Folder, name))
		return err == nil
	})
}

// text reads a file of the tree, "" if it is not there or too large.
func (d *detector) text(name string) string {
	text, err := disk.ReadIn(context.Background(), d.root, path.Join(d.options.Folder, name), mostSettings)
	if err != nil {
		return ""
	}
	return string(text)
}

func (d *detector) found(format string, args ...any) {
	d.findings = append(d.findings, Finding(fmt.Sprintf(format, args...)))
}

// program finds a program in the folders of the user's PATH, those of Options.Deps first.
func (d *detector) program(name string) (string, error) {
	folders, _ := d.machine.Lookup("PATH")
	list := filepath.SplitList(folders)
	if d.options.Deps != "" {
		list = slices.Insert(list, 0, filepath.Join(d.options.Deps, "bin"))
	}
	for _, dir := range list {
		if at := filepath.Join(dir, name); filepath.IsAbs(dir) && runs(at) {
			return at, nil
		}
	}
	return "", &Unfit{Why: name + " is in no folder of PATH"}
}

func runs(at string) bool {
	info, err := os.Stat(at)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// ask returns what a program of a toolchain prints.
func (d *detector) ask(ctx context.Context, argv ...string) (string, error) {
	ask := d.machine.Confined
	if ask == nil {
		ask = d.confined
	}
	said, err := ask(ctx, argv)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", argv[0], err)
	}
	return said, nil
}

// confined runs a program in an empty folder. It reads where it is installed.
func (d *detector) confined(ctx context.Context, argv []string) (said string, err error) {
	dir, err := os.MkdirTemp("", disk.Check)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(dir)) }()
	c := &cell{dir: dir, home: dir, read: prefixes(argv[0])}
	c.suite.Env = []string{"PATH=" + filepath.Dir(argv[0]), "GOTOOLCHAIN=local"}
	for name, at := range managers(d.machine.Lookup) {
		c.suite.Env, c.read = append(c.suite.Env, name+"="+at), append(c.read, at)
	}
	out := &lines{each: func([]byte) {}}
	r, err := c.run(ctx, argv, nil, out, time.Minute)
	switch {
	case err != nil:
		return "", err
	case r.Reason != sandbox.Exited || r.Code != 0:
		return "", fmt.Errorf("it ended with %s, code %d: %s", r.Reason, r.Code, strings.TrimSpace(r.Stderr))
	}
	return out.tail.String(), nil
}

// prefixes are the folders that a program is installed in, by its name and after all links.
func prefixes(program string) []string {
	out := []string{filepath.Dir(filepath.Dir(program))}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		out = append(out, filepath.Dir(filepath.Dir(real)))
	}
	return out
}

// reads has agents and tests read a folder, but for what is hidden in it. What is hidden where every program may read is a clash.
func (d *detector) reads(dir string, hidden ...string) {
	there := slices.DeleteFunc(slices.Clone(hidden), func(p string) bool {
		_, err := os.Lstat(p)
		return err != nil
	})
	for _, p := range there {
		if slices.ContainsFunc(sandbox.SystemFolders(), func(system string) bool { return below(p, system) }) {
			d.clash = cmp.Or(d.clash, p)
		} else {
			d.found("out of reach: %s", p)
		}
	}
	for _, p := range there {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			there = append(there, real)
		}
		if at, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
			there = append(there, filepath.Join(at, filepath.Base(p)))
		}
	}
	if dir != "" {
		d.suite.Read = append(d.suite.Read, around(dir, there)...)
	}
}

// around lists what a folder holds so that nothing hidden is in it: the folder itself when it hides nothing. A link to where
// something hidden lies is left out, since the right to read a folder is that to read what links lead to.
func around(dir string, hidden []string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if slices.Contains(hidden, dir) {
		return nil
	}
	if !holds(dir, hidden) {
		return []string{dir}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // what cannot be listed cannot be read either
	}
	var out []string
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if e.Type()&fs.ModeSymlink == 0 {
			out = append(out, around(at, hidden)...)
		} else if real, err := filepath.EvalSymlinks(at); err == nil && !holds(real, hidden) {
			out = append(out, at)
		}
	}
	return out
}

// holds reports whether something hidden is in a folder, or is it, or holds it.
func holds(dir string, hidden []string) bool {
	return slices.ContainsFunc(hidden, func(p string) bool { return below(p, dir) || below(dir, p) })
}

// below reports whether a path is dir or lies in it.
func below(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// withDeps adds what Setup has filled.
func (d *detector) withDeps() {
	deps := d.options.Deps
	if deps == "" {
		return
	}
	d.reads(deps)
	d.suite.Env = append(d.suite.Env, "DEPS="+deps)
	if i := slices.IndexFunc(d.suite.Env, func(v string) bool { return strings.HasPrefix(v, "PATH=") }); i >= 0 {
		d.suite.Env[i] = "PATH=" + filepath.Join(deps, "bin") + string(filepath.ListSeparator) + strings.TrimPrefix(d.suite.Env[i], "PATH=")
	} else {
		d.suite.Env = append(d.suite.Env, "PATH="+filepath.Join(deps, "bin"))
	}
}

// detectCommand takes the command of the user's. What its toolchain is nobody has said: the system's folders, and the folders of
// PATH that are the user's own.
func (d *detector) detectCommand(context.Context) error {
	d.suite.Kind = Command
	if d.options.Deps != "" {
		d.linkModules(filepath.Join(d.options.Deps, "node_modules"))
	}
	d.found("tests by %s", strings.Join(d.options.Command, " "))
	return nil
}

// Lock returns the digest of the lock files of a tree, "" if it has none.
func Lock(root *os.Root) (string, error) {
	locks := map[string][]byte{}
	s := Suite{Kind: Command}
	err := disk.Walk(root, func(dir *os.Root, name string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && (e.Name() == "node_modules" || e.Name() == ".git") {
			return fs.SkipDir
		}
		if err != nil || !e.Type().IsRegular() || !s.IsLock(name) || len(locks) > 1000 {
			return err
		}
		text, err := disk.ReadIn(context.Background(), dir, e.Name(), 64<<20)
		locks[name] = text
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read lock files: %w", err)
	}
	if len(locks) == 0 {
		return "", nil
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(locks)) {
		each := sha256.Sum256(locks[name])
		fmt.Fprintf(sum, "%q %x\n", name, each)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
