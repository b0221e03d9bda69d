package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Branch is what a branch is at a moment.
type Branch struct {
	Name   string
	Commit string // that it names; "": there is no such branch
	From   string // the commit that a new one continues from: Commit, or what is checked out
}

// Ref returns the whole name of the branch.
func (b Branch) Ref() string { return "refs/heads/" + b.Name }

// Branch looks at a branch that is to be moved, which need not be there. One that is checked out, or is another name of a branch, is an
// *[Unfit]: moving it would make the files next to it look edited.
func (r *Repo) Branch(ctx context.Context, name string) (Branch, error) {
	b, symbolic, checkedOut, err := r.look(ctx, name)
	if err == nil {
		err = r.checkHooks(ctx)
	}
	switch {
	case err != nil:
		return b, err
	case symbolic != "":
		return b, &Unfit{"branch " + name + " is another name of " + wording.Plain(symbolic) + "; name that"}
	case checkedOut != "":
		return b, &Unfit{"branch " + name + " is checked out in " + wording.Plain(checkedOut) + "; name another branch, or check out another one"}
	}
	if b.From = cmp.Or(b.Commit, r.Head(ctx)); b.From == "" {
		return b, &Unfit{"the repository has no commit that a branch could begin with"}
	}
	return b, nil
}

// checkHooks fails where settings of the repository name hooks: newer versions of git run these wherever core.hooksPath leads.
func (r *Repo) checkHooks(ctx context.Context) error {
	var out bytes.Buffer
	if err := r.Run(ctx, nil, &out, maxListing, "config", "--includes", "--name-only", "--null", "--list"); err != nil {
		return fmt.Errorf("look at the settings of the repository: %w", err)
	}
	for key := range strings.SplitSeq(out.String(), "\x00") {
		if strings.HasPrefix(key, "hook.") {
			return &Unfit{"the settings of the repository name hooks (" + wording.Plain(key) + "), which git would run"}
		}
	}
	return nil
}

// Peek looks at a branch that is not to be moved.
func (r *Repo) Peek(ctx context.Context, name string) (Branch, error) {
	b, _, _, err := r.look(ctx, name)
	return b, err
}

func (r *Repo) look(ctx context.Context, name string) (b Branch, symbolic, checkedOut string, err error) {
	b.Name = name
	if strings.HasPrefix(name, "-") || name == "HEAD" || r.Run(ctx, nil, nil, maxLine, "check-ref-format", b.Ref()) != nil {
		return b, "", "", cmp.Or(ctx.Err(), error(&Unfit{wording.Plain(fmt.Sprintf("%q is no name of a branch", name))}))
	}
	var out bytes.Buffer
	if err := r.Run(ctx, nil, &out, maxListing, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(symref)%00%(worktreepath)", b.Ref()); err != nil {
		return b, "", "", fmt.Errorf("look at branch %s: %w", name, err)
	}
	for line := range strings.Lines(out.String()) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(f) == 4 && f[0] == b.Ref() { // and none below it
			b.Commit, symbolic, checkedOut = f[1], f[2], f[3]
		}
	}
	return b, symbolic, checkedOut, nil
}

const maxLine = 64 << 10

// Mode of what a commit has under a path.
const (
	Plain      = "100644"
	Executable = "100755"
	Link       = "120000"
	Module     = "160000" // a submodule
)

// File is what a commit has under a path.
type File struct {
	There bool
	Text  string
	Mode  string // Plain or Executable
}

// entry is a line of ls-tree: mode, kind, object, and the name behind a tab.
var entry = pattern.New(`(?s)^([0-7]{6}) (\w+) ([0-9a-f]{40,64})\t(.+)$`)

// node is something in a tree.
type node struct{ mode, kind, object, name string }

func (n node) line() string { return n.mode + " " + n.kind + " " + n.object + "\t" + n.name + "\x00" }

// list returns what a tree has, by its hash or a commit's.
func (r *Repo) list(ctx context.Context, tree string) ([]node, error) {
	var out bytes.Buffer
	if err := r.Run(ctx, nil, &out, maxListing, "ls-tree", "-z", "--full-tree", tree); err != nil {
		return nil, fmt.Errorf("list a tree: %w", err)
	}
	var list []node
	for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\x00"), "\x00") {
		if line == "" {
			continue
		}
		m := entry.FindStringSubmatch(line)
		if m == nil {
			return nil, &Unfit{Lost}
		}
		list = append(list, node{m[1], m[2], m[3], m[4]})
	}
	return list, nil
}

// Read reads a file of a commit, at most that many bytes. Links, submodules, folders in its place, and names that same takes for the
// same are an *[Unfit].
func (r *Repo) Read(ctx context.Context, commit, path string, most int64, same func(a, b string) bool) (File, error) {
	parts := strings.Split(path, "/")
	tree := commit
	for i, part := range parts {
		list, err := r.list(ctx, tree)
		if err != nil {
			return File{}, err
		}
		at := slices.IndexFunc(list, func(n node) bool { return n.name == part })
		if k := slices.IndexFunc(list, func(n node) bool { return n.name != part && same(n.name, part) }); k >= 0 {
			return File{}, &Unfit{wording.Plain(fmt.Sprintf("%q next to it differs by case or Unicode form alone; rename one", list[k].name))}
		}
		if at < 0 {
			return File{}, nil
		}
		n := list[at]
		switch last := i == len(parts)-1; {
		case !last && n.kind != "tree":
			return File{}, &Unfit{strings.Join(parts[:i+1], "/") + " is a link or no folder in the commit"}
		case last && n.mode != Plain && n.mode != Executable:
			return File{}, &Unfit{"it is a link or no file in the commit"}
		case last:
			var text bytes.Buffer
			if err := r.Run(ctx, nil, &text, most, "cat-file", "blob", n.object); err != nil {
				return File{}, fmt.Errorf("read what the commit has: %w", err)
			}
			return File{There: true, Text: text.String(), Mode: n.mode}, nil
		}
		tree = n.object
	}
	return File{}, nil
}

// Commit makes a commit with other files, and returns its hash. Nothing names it yet.
func (r *Repo) Commit(ctx context.Context, from string, files map[string]File, message string) (string, error) {
	tree := from
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f, object := files[path], ""
		if f.There {
			var err error
			if object, err = r.answer(ctx, f.Text, "hash-object", "-w", "--no-filters", "--stdin", "-t", "blob"); err != nil {
				return "", err
			}
		}
		made, err := r.with(ctx, tree, strings.Split(path, "/"), node{f.Mode, "blob", object, ""})
		if err != nil {
			return "", err
		}
		tree = made
	}
	who, err := r.who(ctx)
	if err != nil {
		return "", err
	}
	by := &Repo{Dir: r.Dir, env: append(slices.Clone(r.env), who...)}
	return by.answer(ctx, message, "commit-tree", "--no-gpg-sign", "-p", from, "-F", "-", tree)
}

// with makes a tree with another file below it, or without: object is "". An empty folder is none: its tree is "".
func (r *Repo) with(ctx context.Context, tree string, parts []string, file node) (string, error) {
	var list []node
	if tree != "" {
		var err error
		if list, err = r.list(ctx, tree); err != nil {
			return "", err
		}
	}
	at := slices.IndexFunc(list, func(n node) bool { return n.name == parts[0] })
	inner := ""
	if at >= 0 {
		inner = list[at].object
		list = slices.Delete(list, at, at+1)
	}
	file.name = parts[0]
	if len(parts) > 1 {
		below, err := r.with(ctx, inner, parts[1:], file)
		if err != nil {
			return "", err
		}
		file = node{"040000", "tree", below, parts[0]}
	}
	if file.object != "" {
		list = append(list, file)
	}
	var in strings.Builder
	for _, n := range list {
		in.WriteString(n.line())
	}
	return r.answer(ctx, in.String(), "mktree", "-z", "--missing")
}

// answer returns the one line that a command prints.
func (r *Repo) answer(ctx context.Context, in string, args ...string) (string, error) {
	var out bytes.Buffer
	if err := r.Run(ctx, strings.NewReader(in), &out, maxLine, args...); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// who returns the variables that name who commits, as the user's own settings of git say. No program is run by these settings.
func (r *Repo) who(ctx context.Context) ([]string, error) {
	own := &Repo{Dir: r.Dir}
	for _, v := range r.env {
		if !strings.HasPrefix(v, "GIT_CONFIG_GLOBAL=") {
			own.env = append(own.env, v)
		}
	}
	own.env = append(own.env, r.home...)
	names := []string{"skillopt", "skillopt@localhost"}
	for i, key := range []string{"user.name", "user.email"} {
		text, err := own.answer(ctx, "", "config", "--get", key)
		var unset *Unfit
		switch {
		case err != nil && !errors.As(err, &unset):
			return nil, err
		case err == nil && strings.TrimSpace(wording.Plain(text)) != "":
			names[i] = wording.Plain(text)
		}
	}
	return []string{"GIT_AUTHOR_NAME=" + names[0], "GIT_AUTHOR_EMAIL=" + names[1], "GIT_COMMITTER_NAME=" + names[0], "GIT_COMMITTER_EMAIL=" + names[1]}, nil
}

// ErrMoved says that a branch is not where it was seen.
var ErrMoved = errors.New("somebody else has moved the branch meanwhile; it was left where it is")

// Move has a branch name a commit, or with "" takes it away, if it is where it was seen ([Branch.Commit]).
func (r *Repo) Move(ctx context.Context, b Branch, commit, why string) error {
	args := []string{"update-ref", "--no-deref", "-m", why, b.Ref(), commit, cmp.Or(b.Commit, strings.Repeat("0", len(commit)))}
	if commit == "" {
		args = []string{"update-ref", "--no-deref", "-m", why, "-d", b.Ref(), b.Commit}
	}
	err := r.Run(ctx, nil, nil, maxLine, args...)
	if err == nil {
		return nil
	}
	if now, looked := r.Branch(ctx, b.Name); looked == nil && now.Commit != b.Commit {
		return ErrMoved
	}
	return fmt.Errorf("move branch %s: %w", b.Name, err)
}

// Contains reports whether a commit is another one, or comes before it.
func (r *Repo) Contains(ctx context.Context, commit, in string) bool {
	return in != "" && commit != "" && r.Run(ctx, nil, nil, maxLine, "merge-base", "--is-ancestor", commit, in) == nil
}

// homeVariables returns the variables by which git finds the user's own settings.
func homeVariables(env Env) []string {
	var out []string
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "USERPROFILE"} {
		if v := env(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	return append(out, "GIT_CONFIG_SYSTEM="+os.DevNull)
}
