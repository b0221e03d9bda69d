package reach

import (
	"path/filepath"
	"slices"
	"strings"
)

// want is a folder that a program needs.
type want struct {
	path  string
	parts []string // of it, for when path is too much
	vital bool     // without any of it the program cannot run
}

// finding is what belongs to a program.
type finding struct {
	*planner
	singles []string
	wants   []want
	env     []string
	seen    []string
}

// maxChain bounds how many programs lead to one another: a script, its interpreter,
// the one that this was made from.
const maxChain = 4

// program collects what belongs to a program: its file, the links that lead there, its
// package, and its interpreter.
func (f *finding) program(path string) {
	if len(f.seen) >= maxChain || slices.Contains(f.seen, path) {
		return
	}
	f.seen = append(f.seen, path)
	chain := hops(f.files, path)
	real := chain[len(chain)-1]
	for _, hop := range append([]string{path}, chain...) {
		if !f.ofSystem(hop) && !slices.Contains(f.singles, hop) {
			f.singles = append(f.singles, hop)
		}
	}
	for _, hop := range chain {
		f.shim(hop, real)
		f.venv(filepath.Dir(filepath.Dir(hop)))
	}
	f.pack(real)
	f.interpreter(real)
}

// pack adds the package of a file that is no link.
func (f *finding) pack(real string) {
	if f.ofSystem(real) {
		return
	}
	if root, pkg, ok := nodePackage(real); ok {
		f.wants = append(f.wants, want{root, []string{pkg}, true})
		return
	}
	if at := findBrewPrefix(real); at >= 0 {
		f.addParts(real[:at], brewParts())
		return
	}
	dir := filepath.Dir(real)
	if slices.Contains([]string{"bin", "sbin"}, filepath.Base(dir)) {
		f.installation(filepath.Dir(dir))
		return
	}
	if !f.isShared(dir) {
		f.wants = append(f.wants, want{path: dir})
	}
}

// nodePackage returns the outermost node_modules that holds a file, and the package
// in it.
func nodePackage(real string) (root, pkg string, ok bool) {
	const name = separator + "node_modules" + separator
	at := strings.Index(real, name)
	if at < 0 {
		return "", "", false
	}
	root = real[:at+len(name)-1]
	rest := parts(real[at+len(name)-1:])
	n := 1
	if strings.HasPrefix(rest[0], "@") && len(rest) > 1 {
		n = 2
	}
	return root, filepath.Join(append([]string{root}, rest[:n]...)...), true
}

// findBrewPrefix returns where the prefix of Homebrew ends in a path, -1 if the path is none of Homebrew's.
func findBrewPrefix(real string) int {
	for _, name := range []string{"Cellar", "Caskroom"} {
		if at := strings.Index(real, separator+name+separator); at >= 0 {
			return at
		}
	}
	return -1
}

// installParts returns the parts of a folder with programs that hold no more than programs and what
// they come with.
func installParts() []string {
	return []string{"bin", "sbin", "lib", "lib32", "lib64", "libexec", "share", "include"}
}

func brewParts() []string {
	return append(installParts(), "opt", "Cellar", "Caskroom", "etc/openssl@3", "etc/ca-certificates")
}

func shimParts() []string {
	return append(installParts(), "shims", "versions", "installs", "plugins", "completions", "pyenv.d", "rbenv.d", "version")
}

// addParts adds the parts of a folder that are there.
func (f *finding) addParts(root string, names []string) {
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		switch kind(f.files, path) {
		case Folder:
			f.wants = append(f.wants, want{path: path})
		case File:
			f.singles = append(f.singles, path)
		}
	}
}

// installation adds the folder above a bin. Whole it is wanted only where something
// shows that nothing else lies there.
func (f *finding) installation(prefix string) {
	switch {
	case f.hasAll(prefix, "pyvenv.cfg"): // done already
	case f.hasAll(prefix, "conda-meta"), f.hasAll(prefix, "VERSION", "pkg/tool", "src/runtime"), f.hasAll(prefix, "release", "lib/modules"):
		f.wants = append(f.wants, want{prefix, joinNames(prefix, installParts()), true})
	case f.isShared(prefix):
	case f.local(prefix):
		f.addParts(prefix, []string{"lib"})
	default:
		f.addParts(prefix, installParts())
	}
}

// hasAll reports whether a folder has all of these.
func (f *finding) hasAll(dir string, names ...string) bool {
	for _, name := range names {
		if kind(f.files, filepath.Join(dir, name)) == Nothing {
			return false
		}
	}
	return true
}

func joinNames(dir string, names []string) []string {
	var out []string
	for _, name := range names {
		out = append(out, filepath.Join(dir, name))
	}
	return out
}

// isShared reports whether a folder is one in which all sorts of things lie.
func (f *finding) isShared(prefix string) bool {
	if slices.Contains([]string{separator, "/usr", "/usr/local", "/opt", "/srv"}, prefix) {
		return true
	}
	return f.home != nil && (prefix == f.home.path || prefix == f.home.real)
}

// local reports whether a folder is ~/.local, where programs are next to what they
// have written.
func (f *finding) local(prefix string) bool {
	return filepath.Base(prefix) == ".local"
}

// venv adds a virtual environment of Python, whose programs are links to those of
// another place, and the interpreter that it was made from.
func (f *finding) venv(prefix string) {
	if !f.hasAll(prefix, "pyvenv.cfg") {
		return
	}
	f.wants = append(f.wants, want{prefix, joinNames(prefix, installParts()), true})
	for line := range strings.Lines(f.text(filepath.Join(prefix, "pyvenv.cfg"))) {
		key, value, _ := strings.Cut(line, "=")
		dir := strings.TrimSpace(value)
		if strings.TrimSpace(key) != "home" || !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range []string{"python3", "python"} {
			if f.hasAll(dir, name) {
				f.program(filepath.Join(dir, name))
				return
			}
		}
	}
}

func (f *finding) text(path string) string {
	path = resolve(f.files, path)
	if f.files.Look(path).Kind != File {
		return ""
	}
	return f.files.Text(path)
}

// interpreter adds what the first line of a script names.
func (f *finding) interpreter(real string) {
	line, _, _ := strings.Cut(f.text(real), "\n")
	line, ok := strings.CutPrefix(line, "#!")
	words := strings.Fields(line)
	if !ok || len(words) == 0 {
		return
	}
	if filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
		if len(words) == 0 {
			return
		}
		if path, ok := f.find(words[0]); ok {
			f.program(path)
		}
		return
	}
	if filepath.IsAbs(words[0]) {
		f.program(words[0])
	}
}

// shim adds what a program needs that looks another one up and becomes it: pyenv and
// its kin, asdf, mise, volta and rustup. The home folder of a confined program is a new
// one, so that shims have to learn where theirs is.
func (f *finding) shim(hop, real string) {
	dir := filepath.Dir(hop)
	root := filepath.Dir(dir)
	switch base := filepath.Base(dir); {
	case base == "shims" && f.hasAll(root, "installs"):
		f.addParts(root, shimParts())
		name := "ASDF_DATA_DIR"
		if filepath.Base(real) == "mise" {
			name = "MISE_DATA_DIR"
		}
		f.env = append(f.env, name+"="+root)
	case base == "shims" && f.hasAll(root, "versions"):
		f.addParts(root, shimParts())
	case base == "bin" && f.hasAll(root, "tools", "tools/image"):
		f.addParts(root, []string{"bin", "tools", "hooks.json"})
		f.env = append(f.env, "VOLTA_HOME="+root)
	case base == "bin" && f.hasAll(dir, "rustup"):
		f.rustup(filepath.Dir(root))
	}
}

// rustup adds the toolchains next to a folder of cargo.
func (f *finding) rustup(beside string) {
	for _, name := range []string{".rustup", "rustup"} {
		if root := filepath.Join(beside, name); f.hasAll(root, "toolchains") {
			f.addParts(root, []string{"toolchains", "settings.toml"})
			f.env = append(f.env, "RUSTUP_HOME="+root)
			return
		}
	}
}
