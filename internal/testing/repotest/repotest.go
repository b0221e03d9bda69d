// Package repotest builds repositories with known histories: 40 commits of which 15 are tasks, in several languages.
package repotest

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-f4525e22/skillopt/internal/testing/treetest"
)

//go:embed testdata
var testdata embed.FS

// Languages are those in which there is a repository.
func Languages() []string { return []string{"go", "python", "node", "rust"} }

// Repository is a repository with a known history.
type Repository struct {
	Dir     string
	Usable  []string          // subjects of the commits that are tasks, oldest first
	Kinds   map[string]string // what each commit is, by its subject
	Commits int
}

// Build makes the repository of a language. Its package of tolls has that many functions, which no commit changes.
func Build(t testing.TB, language string, tolls int) Repository {
	t.Helper()
	data, err := testdata.ReadFile("testdata/" + language + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	b := &builder{parts: map[string]string{}, state: map[string]string{}, extra: map[string]string{}, tolls: tolls}
	for _, f := range txtar.Parse(data).Files {
		b.parts[f.Name] = string(f.Data)
		if name, ok := strings.CutPrefix(f.Name, "file/"); ok {
			b.extra[name] = string(f.Data)
		}
	}
	b.order(txtar.Parse(data))
	b.made.Kinds = map[string]string{}
	b.scenario()
	b.made.Dir = t.TempDir()
	treetest.Git(t, b.made.Dir, "", "init", "-q", "-b", "main")
	treetest.Git(t, b.made.Dir, b.stream.String(), "fast-import", "--quiet", "--date-format=raw")
	treetest.Git(t, b.made.Dir, "", "reset", "-q", "--hard", "main")
	return b.made
}

// builder writes a history for git fast-import.
type builder struct {
	parts map[string]string // of the description
	names []string          // of functions, as module/function, in order
	state map[string]string // of functions: "", "fixed" or "more", which is fixed with another test
	extra map[string]string // other files
	tolls int
	needs bool // the dependency that is not there

	stream strings.Builder
	made   Repository
}

func (b *builder) order(a *txtar.Archive) {
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, "code/"); ok {
			b.names = append(b.names, name)
			b.state[name] = ""
		}
	}
}

// path returns where the description says that a file lies.
func (b *builder) path(kind, module string) string {
	for line := range strings.Lines(b.parts["path"]) {
		if name, path, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == kind {
			return strings.ReplaceAll(path, "{{m}}", module)
		}
	}
	return ""
}

// files are those of the state that the functions are in.
func (b *builder) files() map[string]string {
	out := maps.Clone(b.extra)
	for _, name := range b.names {
		module, _, _ := strings.Cut(name, "/")
		code, test := b.path("code", module), b.path("test", module)
		if out[code] == "" {
			out[code], out[test] = b.parts["head/"+module], b.parts["testhead/"+module]
			if b.needs && module == "paint" {
				out[code] = b.parts["needs/head"]
			}
		}
		body := b.parts["code/"+name]
		if b.state[name] != "" {
			body = b.parts["fixed/"+name]
		}
		out[code] += body
		out[test] += b.parts["test/"+name]
		if b.state[name] == "more" {
			out[test] += b.parts["more/"+name]
		}
	}
	b.addTolls(out)
	return out
}

func (b *builder) addTolls(out map[string]string) {
	code, test := b.parts["head/tolls"], b.parts["testhead/tolls"]
	for n := range b.tolls {
		number := strconv.Itoa(n + 10)
		code += strings.ReplaceAll(b.parts["toll/code"], "{{n}}", number)
		test += strings.ReplaceAll(b.parts["toll/test"], "{{n}}", number)
	}
	out[b.path("code", "tolls")], out[b.path("test", "tolls")] = code, test
}

// commit adds a commit of the files as they are, on the main branch.
func (b *builder) commit(kind, subject string) { b.on("main", kind, subject) }

func (b *builder) on(branch, kind, subject string, merge ...int) {
	b.made.Commits++
	n := b.made.Commits
	if b.made.Kinds[subject] = kind; kind == "usable" {
		b.made.Usable = append(b.made.Usable, subject)
	}
	who := fmt.Sprintf("A Person <a@example.com> %d +0000", 1767225600+n*86400)
	fmt.Fprintf(&b.stream, "commit refs/heads/%s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n", branch, n, who, who, len(subject), subject)
	if branch != "main" {
		fmt.Fprintf(&b.stream, "from :%d\n", n-1)
	}
	for _, m := range merge {
		fmt.Fprintf(&b.stream, "merge :%d\n", m)
	}
	b.stream.WriteString("deleteall\n")
	files := b.files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b.stream, "M 100644 inline %s\ndata %d\n%s\n", name, len(files[name]), files[name])
	}
	b.stream.WriteString("\n")
}
