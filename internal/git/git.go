// Package git runs git on a repository of which nothing is believed: what its settings, hooks, filters and monitors name is not
// run, nothing is fetched, and no settings of the user's are read, with a short list of variables and a deadline.
//
// It knows repositories, and nothing about sessions, workspaces or documents.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Unfit says why a repository cannot be used for what was asked: it is no failure of this program.
type Unfit struct{ Reason string }

func (e *Unfit) Error() string { return e.Reason }

// ErrNoGit says that git is not installed.
var ErrNoGit = errors.New("git is not installed, or not in PATH: the files of commits are read by it")

// Bounds of what git is given and of what it may print apart from the files.
const (
	gitTimeout = 2 * time.Minute
	maxListing = 64 << 20
	maxUp      = 64 // parents that are looked at for a repository
)

// MaxListing bounds what git may print of a tree.
const MaxListing = maxListing

// Repo is a repository. Its methods may be called concurrently.
type Repo struct {
	Dir     string        // of the repository: .git, or what a file .git names, or a bare one
	Timeout time.Duration // of a command; 0: two minutes
	env     []string

	home []string // where the user's own settings lie
}

// Env reads a variable of the environment; "" where it is not set.
type Env func(name string) string

// settings take what a repository or a user may have set out of the way of a command.
var settings = []string{
	"--no-pager", "--no-replace-objects",
	"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.commitGraph=false",
	"-c", "protocol.allow=never", "-c", "credential.helper=", "-c", "core.askPass=", "-c", "core.sshCommand=false",
	"-c", "submodule.recurse=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "commit.gpgSign=false", "-c", "gpg.program=false", "-c", "i18n.commitEncoding=UTF-8", "-c", "core.logAllRefUpdates=true",
	"-c", "core.packedGitWindowSize=16m", "-c", "core.packedGitLimit=128m", "-c", "core.deltaBaseCacheLimit=64m", // so that it takes little memory
}

// New returns a repository by its folder, see [Find]. It reads nothing.
func New(dir string, env Env) *Repo {
	g := &Repo{Dir: dir, home: homeVariables(env), env: []string{
		"LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1",
	}}
	for _, name := range []string{"PATH", "SystemRoot", "TMPDIR", "TEMP"} {
		if v := env(name); v != "" {
			g.env = append(g.env, name+"="+v)
		}
	}
	return g
}

// Run runs a command of git. What it prints goes to out as it comes, at most that many bytes.
func (g *Repo) Run(ctx context.Context, in io.Reader, out io.Writer, most int64, args ...string) error {
	argv := append(append([]string{"git", "--git-dir=" + g.Dir}, settings...), args...)
	res, err := sandbox.Run(ctx, sandbox.Spec{Argv: argv, Dir: g.Dir, Env: g.env, Stdin: in, Stdout: out, MaxOutput: most, Timeout: cmp.Or(g.Timeout, gitTimeout)})
	var start *sandbox.StartError
	switch {
	case errors.As(err, &start):
		return fmt.Errorf("%w (%v)", ErrNoGit, err)
	case err != nil:
		return fmt.Errorf("run git %s: %w", args[0], err)
	case ctx.Err() != nil:
		return ctx.Err()
	case res.Reason != sandbox.Exited:
		return &Unfit{fmt.Sprintf("git %s was ended: %s", args[0], res.Reason)}
	case res.Code != 0:
		return &Unfit{why(args[0], res.Code, res.Stderr)}
	}
	return nil
}

// Lost says that a repository has not all objects of a commit.
const Lost = "objects of the commit are not in the repository: it is a partial or damaged clone"

// why returns what a failure of git means.
func why(command string, code int, said string) string {
	said = wording.Plain(strings.TrimSpace(said))
	for _, lost := range []string{"promisor", "lazy fetching", "transport '", "unable to read", "could not get object info", "missing", "unable to find"} {
		if strings.Contains(said, lost) {
			return Lost
		}
	}
	for _, no := range []string{"Not a valid object name", "not a tree object", "bad object", "does not exist in", "exists on disk, but not in"} {
		if strings.Contains(said, no) {
			return "the commit, or the project's folder in it, is not in the repository"
		}
	}
	const most = 200
	return fmt.Sprintf("git %s ended with %d: %s", command, code, said[:min(len(said), most)])
}

// Find finds the repository that a project lies in, and the project's folder in it, with
// slashes; "" for all of it.
func Find(ctx context.Context, project string) (dir, prefix string, err error) {
	if !filepath.IsAbs(project) {
		return "", "", &Unfit{"the project is no absolute path"}
	}
	project, err = filepath.EvalSymlinks(project)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", &Unfit{"the project's folder is gone"}
	}
	if err != nil {
		return "", "", fmt.Errorf("look at the project: %w", err)
	}
	at := project
	for range maxUp {
		dir, err := repositoryAt(ctx, at)
		if err != nil {
			return "", "", err
		}
		if dir != "" {
			prefix, err := filepath.Rel(at, project)
			if err != nil {
				return "", "", fmt.Errorf("look at the project: %w", err)
			}
			if prefix = filepath.ToSlash(prefix); prefix == "." {
				prefix = ""
			}
			return dir, prefix, nil
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at = up
	}
	return "", "", &Unfit{"the project is in no git repository"}
}

// repositoryAt returns the repository of a working tree, or a bare one; "" for none.
func repositoryAt(ctx context.Context, at string) (string, error) {
	dot := filepath.Join(at, ".git")
	info, err := os.Stat(dot)
	switch {
	case err == nil && info.IsDir():
		return dot, nil
	case err == nil:
		data, err := disk.Read(ctx, dot, 4<<10)
		if err != nil {
			return "", &Unfit{"the file .git of the project cannot be read"}
		}
		name, is := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
		if !is || name == "" || strings.ContainsAny(name, "\n\x00") {
			return "", &Unfit{"the file .git of the project names no repository"}
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(at, name)
		}
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			return "", &Unfit{"the repository that the file .git of the project names is gone"}
		}
		return name, nil
	case bare(at):
		return at, nil
	}
	return "", nil
}

// bare reports whether a folder is a repository without a working tree.
func bare(at string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(at, name)); err != nil {
			return false
		}
	}
	return true
}

// Head returns the commit that is checked out now; "" where it cannot be found.
func (g *Repo) Head(ctx context.Context) string {
	var out bytes.Buffer
	if err := g.Run(ctx, nil, &out, 4<<10, "rev-parse", "--verify", "--end-of-options", "HEAD^{commit}"); err != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}
