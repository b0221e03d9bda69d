// Package workspace reports whether the files that a session worked on were those of a commit.
//
// It knows trees, and what transcripts report of files; nothing about models, tasks, banks or nights.
package workspace

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// Touched is what a session says about the files that a task of it needs.
type Touched struct {
	Before []string            // that the session had changed before the task: what it reads of them later is not reported
	Read   []string            // that it read, before it changed them
	Wrote  []string            // that it changed
	Lines  map[string][]uint32 // what it was shown of them before it changed them, see [transcript.Turn]
}

// TouchedIn returns what the turns of a session from one on, up to another one, report; to is beyond the
// last. Names are relative to the project with slashes, or absolute. The turns are all of a store's, with
// their Lines, as harvest.ReadSession reads them. Turns that are kept have no Lines, and without Lines
// nothing is recorded of what files held.
func TouchedIn(turns []transcript.Turn, from, to int) Touched {
	out := Touched{Lines: map[string][]uint32{}}
	for i := range turns[:to] {
		turn := &turns[i]
		if i < from {
			out.Before = add(out.Before, turn.Files)
			continue
		}
		out.Read, out.Wrote = add(out.Read, turn.Read), add(out.Wrote, turn.Files)
	}
	// What was shown before the task was shown of the same files.
	for i := range turns[:to] {
		for name, lines := range turns[i].Lines {
			out.Lines[name] = append(out.Lines[name], lines...)
		}
	}
	return out
}

func add(list, more []string) []string {
	for _, name := range more {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// maxCompared is the size of a file above which it is not compared, in bytes.
const maxCompared = 32 << 20

// Check says why the files that a session worked on were not those of the commit, or cannot be
// said to have been: "dirty tree: FILE", with more behind the name where there is more to say. "":
// they were, as far as the session shows.
//
// A file was another one where any line that the session was shown of it, or replaced in it,
// is not in the commit's; where it is not in the commit, though the session read it before it wrote
// it. A session that had changed files before the task worked on other files than the commit's. A file that only the session made is
// none. Where nothing is recorded of what a file held, one that was only read counts as the
// commit's if the project's folder still has that commit checked out and the file holds the same
// now; one that was changed does not. What lies outside of the project counts as another one,
// but for agents' own folders and temporary ones that were only written. What was run by a
// command, and what a search has shown, is not known.
func Check(ctx context.Context, t *tree.Tree, seen Touched) (reason string, err error) {
	if len(seen.Before) > 0 {
		return "dirty tree: " + seen.Before[0] + ": the session had changed it before", nil
	}
	c := &check{tree: t, seen: seen}
	if err := c.load(ctx); err != nil {
		return "", fmt.Errorf("compare with commit %.12s: %w", t.Commit, err)
	}
	for _, name := range add(slices.Clone(seen.Read), seen.Wrote) {
		why, dirty := c.file(ctx, name)
		switch {
		case dirty && why == "":
			return "dirty tree: " + name, nil
		case dirty:
			return "dirty tree: " + name + ": " + why, nil
		}
	}
	return "", nil
}

// check is a comparison of what a session reports with a commit.
type check struct {
	tree *tree.Tree
	seen Touched
	held map[string]map[uint32]bool // of files of the commit of which something is known
	same map[string][]byte          // content of those that were only read, and of which nothing is

	head string // what is checked out now
}

// load reads the files that are compared.
func (c *check) load(ctx context.Context) error {
	c.held, c.same = map[string]map[uint32]bool{}, map[string][]byte{}
	var files []tree.File
	for _, name := range add(slices.Clone(c.seen.Read), c.seen.Wrote) {
		f, there := c.tree.Find(name)
		if !there || f.Size > maxCompared || len(c.seen.Lines[name]) == 0 && slices.Contains(c.seen.Wrote, name) {
			continue
		}
		files = append(files, f)
	}
	return c.tree.Read(ctx, files, func(f tree.File, data []byte) error {
		if len(c.seen.Lines[f.Path]) == 0 {
			c.same[f.Path] = bytes.Clone(data)
			return nil
		}
		lines := map[uint32]bool{}
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			lines[transcript.LineDigest(string(line))] = true
		}
		c.held[f.Path] = lines
		return nil
	})
}

const notRecorded = "what it held is not recorded"

// file says whether a file was another one than the commit's, and why, where that is not its lines.
func (c *check) file(ctx context.Context, name string) (why string, dirty bool) {
	read, wrote, lines := slices.Contains(c.seen.Read, name), slices.Contains(c.seen.Wrote, name), c.seen.Lines[name]
	_, there := c.tree.Find(name)
	switch {
	case strings.Contains(name, redact.Mask):
		return "its name is not kept", true
	case isOutside(name):
		if agents(name) || temporary(name) && !read {
			return "", false
		}
		return "it lies outside of the project", true
	case c.tree.MissingReason(name) != "":
		return "a workspace does not have it: " + c.tree.MissingReason(name), true
	case c.tree.Holds(name):
		return "", false
	case !there && read:
		return "the commit does not have it", true
	case !there:
		return "", false // the session made it
	case len(lines) > 0:
		held, compared := c.held[name]
		if !compared {
			return fmt.Sprintf("it is larger than %d MB", maxCompared>>20), true
		}
		return "", slices.ContainsFunc(lines, func(sum uint32) bool { return !held[sum] })
	case !wrote && c.isUnchanged(ctx, name):
		return "", false
	}
	return notRecorded, true
}

// isUnchanged reports whether the project has the commit checked out, and the file holds what the
// commit has, but for the ends of lines.
func (c *check) isUnchanged(ctx context.Context, name string) bool {
	want, there := c.same[name]
	if !there {
		return false
	}
	if c.head == "" {
		if c.head = c.tree.Head(ctx); c.head == "" {
			c.head = "none"
		}
	}
	if c.head != c.tree.Commit {
		return false
	}
	root, err := os.OpenRoot(c.tree.Project)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // it was only read
	data, err := disk.ReadIn(ctx, root, filepath.FromSlash(name), maxCompared)
	if err != nil {
		return false
	}
	unix := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }
	return bytes.Equal(unix(data), unix(want))
}

// isOutside reports whether a file lies outside of the project.
func isOutside(name string) bool {
	slashed := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return filepath.IsAbs(name) || path.IsAbs(slashed) || slashed == ".." || strings.HasPrefix(slashed, "../") ||
		strings.HasPrefix(slashed, "~") || len(slashed) > 1 && slashed[1] == ':'
}

// agents reports whether a file lies in a folder of an agent's own: skills, plans, memory.
func agents(name string) bool {
	for part := range strings.SplitSeq(strings.ReplaceAll(name, `\`, "/"), "/") {
		switch part {
		case ".claude", ".codex", ".agents", ".gemini", ".qwen", ".pi", ".copilot", ".cursor", ".opencode", ".devin", ".openclaw":
			return true
		}
	}
	return false
}

// temporary reports whether a file lies in a folder for temporary ones.
func temporary(name string) bool {
	for _, dir := range []string{"/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/var/tmp/", "/dev/shm/"} {
		if strings.HasPrefix(name, dir) {
			return true
		}
	}
	return strings.Contains(strings.ReplaceAll(name, `\`, "/"), "/AppData/Local/Temp/")
}
