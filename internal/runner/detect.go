package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
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
	dirs     []string // to be read
	hidden   []string // what is not to be read of them: other versions of the project
	clash    string   // another version that would be read nevertheless
}

// Detect finds the test runner of a tree and what it reads of the machine. It fails with an *Unfit where there is none, where a
// dependency is missing, and where another version of the project could be read.
func Detect(ctx context.Context, root *os.Root, m Machine, o Options) (Suite, []Finding, error) {
	d := &detector{root: root, machine: m, options: o, suite: Suite{Folder: o.Folder, Command: o.Command, Links: map[string]string{}}}
	find, err := d.chooseDetection()
	if err == nil {
		err = find(ctx)
	}
	if o.Deps != "" {
		d.read(o.Deps)
		d.suite.Env = append(d.suite.Env, "DEPS="+o.Deps, "PATH="+filepath.Join(o.Deps, "bin"))
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
	for _, dir := range d.dirs {
		d.suite.Read = append(d.suite.Read, listVisible(dir, d.hidden)...)
	}
	slices.Sort(d.suite.Read)
	d.suite.Read = slices.Compact(d.suite.Read)
	return d.suite, d.findings, nil
}

// chooseDetection returns the function that finds out about the runner of the tree.
func (d *detector) chooseDetection() (func(context.Context) error, error) {
	if len(d.options.Command) > 0 {
		return d.detectCommand, nil
	}
	if found := d.languages(); len(found) > 0 {
		return found[0], nil
	}
	return nil, &Unfit{Why: "it has no go.mod, Cargo.toml, package.json or settings of pytest; --test COMMAND runs tests that write JUnit XML to $REPORT"}
}

// languages returns what finds out about each language of the tree, the one first whose tests are run where no command is given.
func (d *detector) languages() (found []func(context.Context) error) {
	if d.has("go.mod") {
		found = append(found, d.detectGo)
	}
	if d.has("Cargo.toml") {
		found = append(found, d.detectCargo)
	}
	node, project := d.has("package.json"), d.has("pyproject.toml")
	if node && !project {
		found = append(found, d.detectNode)
	}
	if project || d.has("setup.py", "setup.cfg", "pytest.ini", "tox.ini", "conftest.py", "requirements.txt") {
		found = append(found, d.detectPython)
	}
	if node && project {
		found = append(found, d.detectNode)
	}
	return found
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

func (d *detector) addFinding(format string, args ...any) {
	d.findings = append(d.findings, Finding(fmt.Sprintf(format, args...)))
}

// program finds a program in the folders of the user's PATH, that of Options.Deps first.
func (d *detector) program(name string) (string, error) {
	folders, _ := d.machine.Lookup("PATH")
	for _, dir := range append([]string{filepath.Join(d.options.Deps, "bin")}, filepath.SplitList(folders)...) {
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

// ask returns what a program of a toolchain prints, which runs confined in an empty folder and reads where it is installed.
func (d *detector) ask(ctx context.Context, name string, args ...string) (said string, err error) {
	if !filepath.IsAbs(name) {
		if name, err = d.program(name); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp("", disk.Check)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(dir)) }()
	s := Suite{Read: prefixes(name), Env: []string{"PATH=" + filepath.Dir(name), "GOTOOLCHAIN=local"}}
	for variable, at := range managers(d.machine.Lookup) {
		s.Env, s.Read = append(s.Env, variable+"="+at), append(s.Read, at)
	}
	c, err := newCell(s, dir, dir)
	if err != nil {
		return "", fmt.Errorf("ask %s: %w", name, err)
	}
	return c.must(ctx, time.Minute, append([]string{name}, args...)...)
}

// prefixes returns the folders that a program is installed in, by its name and after all links.
func prefixes(program string) []string {
	out := []string{filepath.Dir(filepath.Dir(program))}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		out = append(out, filepath.Dir(filepath.Dir(real)))
	}
	return out
}

// read has agents and tests read folders, but for what is hidden in them.
func (d *detector) read(dirs ...string) {
	d.dirs = append(d.dirs, slices.DeleteFunc(dirs, func(dir string) bool { return dir == "/usr" || dir == "/usr/local" })...) // of the system all is read anyway
}

// hide keeps other versions of the project from agents and tests, as far as they are there. In what agents read anyway none can be
// hidden.
func (d *detector) hide(paths ...string) {
	for _, p := range paths {
		at, err := filepath.EvalSymlinks(filepath.Dir(p))
		if _, there := os.Lstat(p); err != nil || there != nil {
			continue
		}
		d.hidden = append(d.hidden, filepath.Join(at, filepath.Base(p)))
		if real, err := filepath.EvalSymlinks(p); err == nil {
			d.hidden = append(d.hidden, real)
		}
		if slices.ContainsFunc(append(d.toolchains(), sandbox.SystemFolders()...), func(dir string) bool { return isWithin(p, dir) }) {
			d.clash = cmp.Or(d.clash, p)
		}
		d.addFinding("out of reach: %s", p)
	}
}

// toolchains returns the folders with libraries next to those of PATH, which agents may read with a program of theirs. Where
// several versions are managed they may read all of them.
func (d *detector) toolchains() (dirs []string) {
	folders, _ := d.machine.Lookup("PATH")
	for _, dir := range filepath.SplitList(folders) {
		dirs = append(dirs, glob(filepath.Dir(dir), "lib")...)
	}
	for name, libraries := range map[string]string{"go": "src", "node": "lib", "python3": "lib"} {
		if at, err := d.program(name); err == nil {
			for _, prefix := range prefixes(at) {
				dirs = append(dirs, glob(prefix, libraries, "versions/*/"+libraries, "installs/*/*/"+libraries)...)
			}
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// listVisible lists what a folder holds so that nothing hidden is in it: the folder itself when it hides nothing. A link to where
// something hidden lies is left out, since the right to read a folder is that to read what links lead to.
func listVisible(dir string, hidden []string) []string {
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
			out = append(out, listVisible(at, hidden)...)
		} else if real, err := filepath.EvalSymlinks(at); err == nil && !holds(real, hidden) {
			out = append(out, at)
		}
	}
	return out
}

// holds reports whether something hidden is in a folder, or is it, or holds it.
func holds(dir string, hidden []string) bool {
	return slices.ContainsFunc(hidden, func(p string) bool { return isWithin(p, dir) || isWithin(dir, p) })
}

// isWithin reports whether a path is dir or lies in it.
func isWithin(p, dir string) bool {
	return p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// detectCommand takes the command of the user's. It reads what is in Options.Deps and, of each language of the tree, the toolchain
// and dependencies without other versions of the project.
func (d *detector) detectCommand(ctx context.Context) error {
	for _, find := range d.languages() {
		d.suite.Project = nil
		var unfit *Unfit
		if err := find(ctx); errors.As(err, &unfit) {
			d.addFinding("not for the command: %v", unfit) // it may need nothing of that language
		} else if err != nil {
			return err
		}
	}
	d.suite.Kind, d.suite.Project, d.suite.Caches = Command, nil, nil
	d.addFinding("tests by %s", strings.Join(d.options.Command, " "))
	return nil
}

// linkModules shows packages of npm in the workspace.
func (d *detector) linkModules(modules string) {
	if isFolder(modules) {
		d.read(modules)
		d.suite.Links[path.Join(d.options.Folder, "node_modules")] = modules
	}
}

// Lock returns the digest of the lock files of a tree.
func Lock(root *os.Root) (string, error) {
	sum, s := sha256.New(), Suite{Kind: Command}
	err := disk.Walk(root, func(dir *os.Root, name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !s.IsLock(name) {
			return err
		}
		text, err := disk.ReadIn(context.Background(), dir, e.Name(), 64<<20)
		fmt.Fprintf(sum, "%q %x\n", name, sha256.Sum256(text))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read lock files: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
