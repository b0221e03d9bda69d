package reach

import (
	"errors"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tree is a file system: a path is a folder, a file with a text, or a link ("-> x").
type tree struct {
	nodes map[string]string
	ids   map[string]string // of folders that are mounted twice
}

const folder = "/"

// newTree makes a file system with the folders above each path.
func newTree(nodes map[string]string) tree {
	t := tree{nodes: map[string]string{"/": folder}, ids: map[string]string{}}
	for p, what := range nodes {
		for dir := path.Dir(p); dir != "/"; dir = path.Dir(dir) {
			t.nodes[dir] = folder
		}
		if t.nodes[p] == "" {
			t.nodes[p] = what
		}
	}
	return t
}

func (t tree) Look(p string) Node {
	what, ok := t.nodes[p]
	n := Node{Kind: File, Runs: true, ID: p}
	switch target, link := strings.CutPrefix(what, "-> "); {
	case !ok:
		return Node{}
	case link:
		n.Kind, n.Target = Link, target
	case what == folder:
		n.Kind = Folder
	}
	if id := t.ids[p]; id != "" {
		n.ID = id
	}
	return n
}

func (t tree) Text(p string) string { return t.nodes[p] }

// ground is what all cases have: a project below the user's home folder.
func ground(more map[string]string) tree {
	nodes := map[string]string{
		"/bin": "-> usr/bin", "/usr/bin/env": "elf", "/usr/bin/sh": "elf", "/usr/lib/x": "", "/tmp/x": "",
		"/u/me/p/config.yaml": "", "/u/me/p/.env": "", "/u/me/p/tasks.jsonl": "", "/u/me/p/runs/1/run.db": "",
	}
	for p, what := range more {
		nodes[p] = what
	}
	return newTree(nodes)
}

func guard() Guard {
	return Guard{
		Home: "/u/me", Config: "/u/me/p",
		Kept: []Path{
			{"/u/me/p/config.yaml", "the config"},
			{"/u/me/p/.env", ".env"},
			{"/u/me/p/tasks.jsonl", "tasks.path"},
			{"/u/me/p/runs", "run.dir"},
			{"/data/questions", "models.target.folder"},
		},
		Bases:  []Path{{"/tmp", "the folder of temporary files"}},
		System: []string{"/bin", "/usr/bin", "/usr/lib", "/usr/local/go"},
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		files   map[string]string
		program string
		path    string
		entries []string
		login   []string
		want    []string
		env     []string
		narrow  string
		fails   string
	}{
		{name: "of the system", program: "/bin/sh"},
		{name: "in the project", files: map[string]string{"/u/me/p/bin/a": "elf"}, program: "/u/me/p/bin/a", want: []string{"/u/me/p/bin/a"}, narrow: "/u/me/p/bin"},
		{
			name: "in the project by a link", files: map[string]string{"/u/me/.local/bin/a": "-> ../../p/tools/a", "/u/me/p/tools/a": "elf"},
			program: "/u/me/.local/bin/a", want: []string{"/u/me/.local/bin/a", "/u/me/p/tools/a"}, narrow: "/u/me/p/tools",
		},
		{
			name: "in the project with its package", files: map[string]string{"/u/me/p/node_modules/.bin/a": "-> ../a/a.js", "/u/me/p/node_modules/a/a.js": "js"},
			program: "/u/me/p/node_modules/.bin/a", want: []string{"/u/me/p/node_modules/.bin/a", "/u/me/p/node_modules/a/a.js"}, narrow: "/u/me/p/node_modules",
		},
		{
			name: "in the project with its package allowed", files: map[string]string{"/u/me/p/node_modules/.bin/a": "-> ../a/a.js", "/u/me/p/node_modules/a/a.js": "js"},
			program: "/u/me/p/node_modules/.bin/a", entries: []string{"/u/me/p/node_modules"},
			want: []string{"/u/me/p/node_modules", "/u/me/p/node_modules/.bin/a", "/u/me/p/node_modules/a/a.js"},
		},
		{name: "among the runs", files: map[string]string{"/u/me/p/runs/a": "elf"}, program: "/u/me/p/runs/a", fails: "lies in run.dir (/u/me/p/runs)"},
		{name: "that is the tasks", program: "/u/me/p/tasks.jsonl", fails: "contains tasks.path"},
		{
			name: "nvm", files: map[string]string{"/u/me/.nvm/v22/bin/node": "elf", "/u/me/.nvm/v22/bin/codex": "-> ../lib/node_modules/@o/codex/c.js", "/u/me/.nvm/v22/lib/node_modules/@o/codex/c.js": "#!/usr/bin/env node\n", "/u/me/.nvm/secret": "x"},
			program: "/u/me/.nvm/v22/bin/codex", path: "/u/me/.nvm/v22/bin", want: []string{
				"/u/me/.nvm/v22/bin", "/u/me/.nvm/v22/bin/codex", "/u/me/.nvm/v22/bin/node", "/u/me/.nvm/v22/lib", "/u/me/.nvm/v22/lib/node_modules", "/u/me/.nvm/v22/lib/node_modules/@o/codex/c.js",
			},
		},
		{
			name: "npm-global", files: map[string]string{"/u/me/.npm-global/bin/pi": "-> ../lib/node_modules/pi/pi.js", "/u/me/.npm-global/lib/node_modules/pi/pi.js": "js"},
			program: "/u/me/.npm-global/bin/pi", want: []string{"/u/me/.npm-global/bin/pi", "/u/me/.npm-global/lib/node_modules", "/u/me/.npm-global/lib/node_modules/pi/pi.js"},
		},
		{
			name: "a file in ~/.local", files: map[string]string{"/u/me/.local/bin/a": "elf", "/u/me/.local/share/keyring": "secret"},
			program: "/u/me/.local/bin/a", want: []string{"/u/me/.local/bin/a"},
		},
		{
			name: "of versions in ~/.local", files: map[string]string{"/u/me/.local/bin/claude": "-> ../share/claude/versions/2.1", "/u/me/.local/share/claude/versions/2.1": "elf"},
			program: "/u/me/.local/bin/claude", want: []string{"/u/me/.local/bin/claude", "/u/me/.local/share/claude/versions", "/u/me/.local/share/claude/versions/2.1"},
		},
		{name: "pipx", files: map[string]string{
			"/u/me/.local/bin/a": "-> ../share/pipx/venvs/a/bin/a", "/u/me/.local/share/pipx/venvs/a/bin/a": "#!/u/me/.local/share/pipx/venvs/a/bin/python\n",
			"/u/me/.local/share/pipx/venvs/a/bin/python": "-> /u/me/.local/share/uv/python/3.12/bin/python3", "/u/me/.local/share/pipx/venvs/a/pyvenv.cfg": "home = /u/me/.local/share/uv/python/3.12/bin\n",
			"/u/me/.local/share/uv/python/3.12/bin/python3": "elf", "/u/me/.local/share/uv/python/3.12/lib/os.py": "",
		}, program: "/u/me/.local/bin/a", want: []string{
			"/u/me/.local/bin/a", "/u/me/.local/share/pipx/venvs/a", "/u/me/.local/share/pipx/venvs/a/bin/a", "/u/me/.local/share/pipx/venvs/a/bin/python",
			"/u/me/.local/share/uv/python/3.12/bin", "/u/me/.local/share/uv/python/3.12/bin/python3", "/u/me/.local/share/uv/python/3.12/lib",
		}},
		{
			name: "a venv of the project", files: map[string]string{"/u/me/p/.venv/bin/a": "#!/u/me/p/.venv/bin/python\n", "/u/me/p/.venv/bin/python": "-> /usr/bin/python3", "/usr/bin/python3": "elf", "/u/me/p/.venv/pyvenv.cfg": "home = /usr/bin\n"},
			program: "/u/me/p/.venv/bin/a", want: []string{"/u/me/p/.venv/bin/a", "/u/me/p/.venv/bin/python"}, narrow: "/u/me/p/.venv",
		},
		{
			name: "pyenv", files: map[string]string{"/u/me/.pyenv/shims/python3": "#!/usr/bin/env sh\n", "/u/me/.pyenv/versions/3/bin/python3": "elf", "/u/me/.pyenv/libexec/pyenv": "", "/u/me/.pyenv/version": "3", "/u/me/.pyenv/.git/config": ""},
			program: "/u/me/.pyenv/shims/python3", want: []string{"/u/me/.pyenv/libexec", "/u/me/.pyenv/shims", "/u/me/.pyenv/shims/python3", "/u/me/.pyenv/version", "/u/me/.pyenv/versions"},
		},
		{
			name: "volta", files: map[string]string{"/u/me/.volta/bin/node": "-> volta-shim", "/u/me/.volta/bin/volta-shim": "elf", "/u/me/.volta/tools/image/node/22/bin/node": "elf"},
			program: "/u/me/.volta/bin/node", want: []string{"/u/me/.volta/bin", "/u/me/.volta/bin/node", "/u/me/.volta/bin/volta-shim", "/u/me/.volta/tools"}, env: []string{"VOLTA_HOME=/u/me/.volta"},
		},
		{
			name: "mise", files: map[string]string{"/u/me/.local/share/mise/shims/node": "-> /u/me/.local/bin/mise", "/u/me/.local/bin/mise": "elf", "/u/me/.local/share/mise/installs/node/22/bin/node": "elf"},
			program: "/u/me/.local/share/mise/shims/node", want: []string{"/u/me/.local/bin/mise", "/u/me/.local/share/mise/installs", "/u/me/.local/share/mise/shims", "/u/me/.local/share/mise/shims/node"}, env: []string{"MISE_DATA_DIR=/u/me/.local/share/mise"},
		},
		{
			name: "rustup", files: map[string]string{"/u/me/.cargo/bin/cargo": "-> rustup", "/u/me/.cargo/bin/rustup": "elf", "/u/me/.cargo/credentials.toml": "secret", "/u/me/.rustup/toolchains/x": "", "/u/me/.rustup/settings.toml": ""},
			program: "/u/me/.cargo/bin/cargo", want: []string{"/u/me/.cargo/bin", "/u/me/.cargo/bin/cargo", "/u/me/.cargo/bin/rustup", "/u/me/.rustup/settings.toml", "/u/me/.rustup/toolchains"}, env: []string{"RUSTUP_HOME=/u/me/.rustup"},
		},
		{
			name: "Homebrew", files: map[string]string{"/h/brew/bin/a": "-> ../Cellar/a/1/bin/a", "/h/brew/Cellar/a/1/bin/a": "elf", "/h/brew/var/db": "", "/h/brew/lib/x": ""},
			program: "/h/brew/bin/a", want: []string{"/h/brew/Cellar", "/h/brew/Cellar/a/1/bin/a", "/h/brew/bin", "/h/brew/bin/a", "/h/brew/lib"},
		},
		{
			name: "conda", files: map[string]string{"/u/me/conda/bin/python": "elf", "/u/me/conda/conda-meta/x": "", "/u/me/conda/lib/x": ""},
			program: "/u/me/conda/bin/python", want: []string{"/u/me/conda", "/u/me/conda/bin/python"},
		},
		{
			name: "a toolchain of Go", files: map[string]string{"/u/me/go1.26/bin/go": "elf", "/u/me/go1.26/VERSION": "", "/u/me/go1.26/pkg/tool/x": "", "/u/me/go1.26/src/runtime/x": ""},
			program: "/u/me/go1.26/bin/go", want: []string{"/u/me/go1.26", "/u/me/go1.26/bin/go"},
		},
		{name: "a project beside the installation", files: map[string]string{"/u/me/bin/a": "elf", "/u/me/lib/x": ""}, program: "/u/me/bin/a", want: []string{"/u/me/bin/a"}},
		{name: "in a folder with the project", files: map[string]string{"/u/me/a": "elf"}, program: "/u/me/a", want: []string{"/u/me/a"}},
		{
			name: "a package with the cache in it", files: map[string]string{"/data/node_modules/a/a.js": "js"}, program: "/data/node_modules/a/a.js",
			want: []string{"/data/node_modules", "/data/node_modules/a/a.js"},
		},
		{name: "an entry that contains home", entries: []string{"/u"}, fails: "contains the home folder (/u/me)"},
		{name: "an entry that is home", entries: []string{"/u/me/x/.."}, fails: "contains the home folder"},
		{name: "an entry for everything", entries: []string{"/"}, fails: "agent.read: / contains "},
		{name: "an entry above temporary files", entries: []string{"/tmp"}, fails: "contains the folder of temporary files"},
		{name: "an entry among temporary files", entries: []string{"/tmp/x"}, want: []string{"/tmp/x"}},
		{name: "an entry in the project", files: map[string]string{"/u/me/p/data/x": ""}, entries: []string{"/u/me/p/data"}, fails: "lies in the folder of the config"},
		{name: "an entry with the project's program", files: map[string]string{"/u/me/p/bin/a": "elf"}, program: "/u/me/p/bin/a", entries: []string{"/u/me/p/bin"}, want: []string{"/u/me/p/bin", "/u/me/p/bin/a"}},
		{name: "an entry with a link to the program", files: map[string]string{"/u/me/p/bin/a": "-> /usr/bin/sh"}, program: "/u/me/p/bin/a", entries: []string{"/u/me/p/bin"}, fails: "lies in the folder of the config"},
		{name: "an entry that is the project", files: map[string]string{"/u/me/p/bin/a": "elf"}, program: "/u/me/p/bin/a", entries: []string{"/u/me/p"}, fails: "agent.read: /u/me/p contains "},
		{name: "a link to the project", files: map[string]string{"/srv/l": "-> /u/me/p/runs"}, entries: []string{"/srv/l"}, fails: "/srv/l (which is /u/me/p/runs) contains run.dir"},
		{name: "a login", files: map[string]string{"/u/me/.claude/auth": ""}, login: []string{"/u/me/.claude"}},
		{name: "a login with a link to the project", files: map[string]string{"/u/me/.pi": "-> p"}, login: []string{"/u/me/.pi"}, fails: "the agent's login: /u/me/.pi (which is /u/me/p) contains the folder of the config"},
		{name: "a login that is a link to the runs", files: map[string]string{"/u/me/.pi": "-> p/runs/x"}, login: []string{"/u/me/.pi"}, fails: "lies in run.dir"},
		{name: "a tool's folder", files: map[string]string{"/srv/tool/x": ""}, entries: []string{"/srv/tool"}, want: []string{"/srv/tool"}},
		{name: "not there", entries: []string{"/srv/none"}, want: []string{"/srv/none"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := guard().Plan(ground(tt.files), Request{Search: tt.path, Program: tt.program, Entries: tt.entries, Login: tt.login})
			if tt.fails != "" {
				var c *ConflictError
				if !errors.As(err, &c) || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("want %q, got %v and %v", tt.fails, err, got)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Read); diff != "" {
				t.Errorf("it reads (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.env, got.Env); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
			if has := slices.ContainsFunc(got.Narrowed, func(n Narrowed) bool { return n.Own && n.Path == tt.narrow }); has != (tt.narrow != "") || !has && len(got.Narrowed) > 0 && tt.name != "in a folder with the project" {
				t.Errorf("narrowed to %v, want %q", got.Narrowed, tt.narrow)
			}
		})
	}
}

// A package that cannot be opened without something that is kept refuses the run, and
// a tool is left out.
func TestPackageAroundWhatIsKept(t *testing.T) {
	t.Parallel()
	g := guard()
	g.Kept = append(g.Kept, Path{"/srv/node_modules/a/gold", "tasks.path"})
	files := ground(map[string]string{"/srv/node_modules/a/a.js": "js", "/srv/node_modules/a/gold": "", "/srv/b/a": "-> ../node_modules/a/a.js"})
	_, err := g.Plan(files, Request{Program: "/srv/b/a"})
	if err == nil || !strings.Contains(err.Error(), "/srv/node_modules contains tasks.path (/srv/node_modules/a/gold)") {
		t.Errorf("the program: %v", err)
	}
	got, err := g.Plan(files, Request{Search: "b:/srv/b", Tools: []string{"a", "none"}})
	if err != nil || len(got.Narrowed) != 1 || got.Narrowed[0].Own {
		t.Errorf("a tool: %+v, %v", got, err)
	}
	g.Kept[len(g.Kept)-1].Path = "/srv/node_modules/b/gold"
	if got, err := g.Plan(files, Request{Program: "/srv/b/a"}); err != nil || !slices.Contains(got.Read, "/srv/node_modules/a") {
		t.Errorf("beside it: %+v, %v", got, err)
	}
}

// What every program reads must hold nothing that is kept.
func TestSystem(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Guard){
		"/usr/lib contains tasks.path (/usr/lib/gold)":          func(g *Guard) { g.Kept = []Path{{"/usr/lib/gold", "tasks.path"}} },
		"/usr/lib contains the home folder (/usr/lib/svc)":      func(g *Guard) { g.Home = "/usr/lib/svc" },
		"contains the folder of the config":                     func(g *Guard) { g.Config = "/usr/bin/p" },
		"/usr/lib contains the folder of temporary files":       func(g *Guard) { g.Bases = []Path{{"/usr/lib/tmp", "the folder of temporary files"}} },
		"/bin (which is /usr/bin) contains the home folder (/u": func(g *Guard) { g.Home = "/u/link" },
	} {
		g := guard()
		change(&g)
		files := ground(map[string]string{"/u/link": "-> /usr/bin/svc"})
		if _, err := g.Plan(files, Request{}); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "move ") {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}

// HOME may be anything.
func TestHomes(t *testing.T) {
	t.Parallel()
	for _, home := range []string{"", "/", "relative", "/nowhere", "/l"} {
		g := guard()
		g.Home, g.Config, g.Kept = home, "/w", []Path{{"/w/tasks", "tasks.path"}}
		files := ground(map[string]string{"/l": "-> /u/me", "/w/tasks": "", "/u/me/t/bin/a": "elf", "/u/me/t/lib/x": "", "/a": "elf"})
		got, err := g.Plan(files, Request{Program: "/u/me/t/bin/a", Entries: []string{"/u/me/t/lib"}})
		if want := []string{"/u/me/t/bin", "/u/me/t/bin/a", "/u/me/t/lib"}; err != nil || !slices.Equal(got.Read, want) {
			t.Errorf("HOME %q: %v, %v", home, got, err)
		}
		if got, err := g.Plan(files, Request{Program: "/a"}); err != nil || !slices.Equal(got.Read, []string{"/a"}) {
			t.Errorf("HOME %q: %v, %v", home, got, err)
		}
		if _, err := g.Plan(files, Request{Entries: []string{"/u/me"}}); (err != nil) != (home == "/l") {
			t.Errorf("HOME %q: %v", home, err)
		}
	}
}

// A folder that is mounted twice is known by what it is.
func TestMounts(t *testing.T) {
	t.Parallel()
	files := ground(map[string]string{"/mnt/p/tasks.jsonl": "", "/mnt/p/x/y": ""})
	files.ids["/mnt/p"] = "/u/me/p"
	for _, entry := range []string{"/mnt/p", "/mnt/p/x"} {
		if _, err := guard().Plan(files, Request{Entries: []string{entry}}); err == nil {
			t.Errorf("%s is allowed", entry)
		}
	}
}

// TestNothingKeptIsAllowed draws file systems with links, and whatever is asked for in
// them.
func TestNothingKeptIsAllowed(t *testing.T) {
	t.Parallel()
	names := []string{"bin", "lib", "node_modules", "shims", "versions", ".local", "p", "a", "pyvenv.cfg"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string {
			parts := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(t, label)
			return "/" + strings.Join(parts, "/")
		}
		nodes := map[string]string{}
		for range rapid.IntRange(0, 12).Draw(t, "files") {
			nodes[draw("file")] = rapid.SampledFrom([]string{"elf", "#!/bin/a\n", "#!/usr/bin/env a\n", "home = /p/bin\n", folder, "-> " + draw("target"), "-> ../a", "-> .."}).Draw(t, "what")
		}
		files := newTree(nodes)
		g := Guard{Home: draw("home"), Config: draw("config"), Bases: []Path{{draw("base"), "base"}}, System: []string{draw("system")}}
		for range rapid.IntRange(0, 3).Draw(t, "kept") {
			g.Kept = append(g.Kept, Path{draw("kept"), "kept"})
		}
		r := Request{Search: draw("search") + ":" + draw("search"), Tools: []string{"a", "p"}}
		if rapid.Bool().Draw(t, "with a program") {
			r.Program = draw("program")
		}
		if rapid.Bool().Draw(t, "with entries") {
			r.Entries = []string{draw("entry")}
		}
		plan, err := g.Plan(files, r)
		if err != nil {
			return
		}
		for _, p := range append(plan.Read, g.System...) {
			if why := breach(files, g, r, p); why != "" {
				t.Fatalf("%s: %s", p, why)
			}
		}
	})
}

// breach says by plain means what is wrong with a path that is allowed.
func breach(files tree, g Guard, r Request, allowed string) string {
	real := func(p string) string { return resolve(files, p) }
	in := func(p, dir string) bool { return dir == "/" || p == dir || strings.HasPrefix(p, dir+"/") }
	at := real(allowed)
	if files.Look(at).Kind == Nothing {
		return ""
	}
	for _, p := range append(append([]Path{{g.Home, "home"}, {g.Config, "config"}}, g.Bases...), g.Kept...) {
		if in(real(p.Path), at) {
			return "it contains " + p.Name + " " + p.Path
		}
	}
	if slices.Contains(g.System, allowed) {
		return ""
	}
	for _, p := range g.Kept {
		if in(at, real(p.Path)) {
			return "it lies in " + p.Path
		}
	}
	if in(at, real(g.Config)) && files.Look(at).Kind == Folder && (r.Program == "" || !in(real(r.Program), at)) {
		return "it is a folder of the config's"
	}
	return ""
}
