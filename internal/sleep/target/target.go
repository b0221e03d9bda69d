// Package target finds the documents that nights train: skills by their names in the folders in which agents look
// for them, and the memory file of a project. A name means exactly one file, or none.
//
// What it finds depends on the project, the user's home and what the caller names, never on what an earlier
// night wrote down. It reads files, and knows nothing about models, tasks, nights or adoption.
package target

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Kind says what a document is to agents.
type Kind string

// The kinds.
const (
	Skill  Kind = "skill"  // SKILL.md of a folder of its own
	Memory Kind = "memory" // a file that agents read with every session in a project
)

// MaxDocument is how large a document may be.
const MaxDocument = 1 << 20

// Target is a document.
type Target struct {
	Kind Kind
	Name string // of the skill, or of the memory file
	Root string // the folder that it was found in by name, absolute, without links
	Path string // of the document below Root, with slashes
	Text string // "" where it is not there: a memory file need not be
	New  bool   // it is not there
}

// ID names a target within a project.
func (t Target) ID() string { return string(t.Kind) + ":" + t.Name }

// File returns the document's path.
func (t Target) File() string { return filepath.Join(t.Root, filepath.FromSlash(t.Path)) }

// Digest returns the digest of the document's bytes; "" where the document does not exist yet.
func (t Target) Digest() string {
	if t.New {
		return ""
	}
	return Digest(t.Text)
}

// Digest returns the SHA-256 of a text.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Places are where documents are looked for.
type Places struct {
	Project string   // absolute
	Home    string   // absolute; "": none
	Roots   []string // further folders of skills, absolute
}

// Error says why a name means no document.
type Error struct{ Name, Reason string }

func (e *Error) Error() string { return e.Name + ": " + e.Reason }

// ErrorKind says whose business the error is.
func (*Error) ErrorKind() string { return "bad_input" }

// folders returns the folders in which agents look for skills, below a project or the user's home.
func folders() []string {
	return []string{".agents/skills", ".claude/skills", ".codex/skills", ".copilot/skills", ".cursor/skills", ".devin/skills", ".gemini/skills", ".github/skills", ".opencode/skills", ".pi/skills", ".qwen/skills", "skills"}
}

// FindSkill finds the one skill of a name. An *Error says that there is none, or several, or one that cannot be
// trained.
func FindSkill(at Places, name string) (Target, error) {
	if reason := badName(name); reason != "" {
		return Target{}, &Error{Name: strconv.Quote(name), Reason: reason}
	}
	var found []Target
	var problem error
	for _, root := range at.roots() {
		t, err := skillIn(root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			problem = cmp.Or(problem, err)
		case !slices.ContainsFunc(found, func(f Target) bool { return f.Root == t.Root && f.Path == t.Path }):
			found = append(found, t)
		}
	}
	switch {
	case len(found) > 1:
		var names []string
		for _, f := range found {
			names = append(names, f.File())
		}
		return Target{}, &Error{Name: name, Reason: "several skills have this name: " + strings.Join(names, ", ") + "; rename or remove all but one"}
	case problem != nil: // one that cannot be trained may be the one that is meant
		return Target{}, problem
	case len(found) == 0:
		return Target{}, &Error{Name: name, Reason: "no skill of this name is in the project, in the home folder, or under sleep.roots"}
	}
	return found[0], nil
}

// roots returns the folders of skills, without links, each once.
func (p Places) roots() []string {
	var out []string
	for _, dir := range p.skillFolders() {
		if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// skillFolders returns the folders of skills as they are named.
func (p Places) skillFolders() []string {
	var out []string
	for _, base := range []string{p.Project, p.Home} {
		for _, dir := range folders() {
			if base != "" && (dir != "skills" || base == p.Project) {
				out = append(out, filepath.Join(base, filepath.FromSlash(dir)))
			}
		}
	}
	out = append(out, p.Roots...)
	if p.Home != "" {
		out = append(out, pluginRoots(filepath.Join(p.Home, ".claude", "plugins", "cache"))...)
	}
	return out
}

// Plain reports whether a document is reached without a link: its folder is one of those that are named, as it is.
func (p Places) Plain(t Target) bool {
	if t.Kind == Memory {
		return t.Root == filepath.Clean(p.Project)
	}
	return slices.Contains(p.skillFolders(), t.Root)
}

// maxPlugins bounds what is looked at of plugins.
const maxPlugins = 1000

// pluginRoots returns the folders of the skills of the newest version of each plugin: MARKETPLACE/PLUGIN/VERSION/skills.
func pluginRoots(cache string) []string {
	var out []string
	plugins, _ := filepath.Glob(filepath.Join(escapeGlob(cache), "*", "*"))
	for _, plugin := range plugins[:min(len(plugins), maxPlugins)] {
		entries, err := os.ReadDir(plugin)
		if err != nil {
			continue
		}
		newest := ""
		for _, e := range entries {
			if e.IsDir() && (newest == "" || compareVersions(e.Name(), newest) > 0) {
				newest = e.Name()
			}
		}
		if newest != "" {
			out = append(out, filepath.Join(plugin, newest, "skills"))
		}
	}
	return out
}

// escapeGlob returns a path with its wildcards escaped.
func escapeGlob(p string) string {
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]").Replace(p)
}

// skillIn finds a skill in a folder of skills. fs.ErrNotExist: it has none of the name.
func skillIn(root, name string) (Target, error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return Target{}, err
	}
	defer func() { _ = r.Close() }() // it was only read
	entries, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return Target{}, err
	}
	var same []string
	for _, e := range entries {
		if FoldName(e.Name()) == FoldName(name) {
			same = append(same, e.Name())
		}
	}
	if len(same) > 1 {
		return Target{}, &Error{Name: name, Reason: fmt.Sprintf("%s in %s differ by case or Unicode form alone; rename one", strings.Join(same, " and "), root)}
	}
	if !slices.Contains(same, name) {
		return Target{}, fs.ErrNotExist
	}
	file := path.Join(name, "SKILL.md")
	for _, at := range []string{name, file} {
		info, err := r.Lstat(at)
		if err != nil {
			return Target{}, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return Target{}, &Error{Name: name, Reason: filepath.Join(root, filepath.FromSlash(at)) + " is a link; nights train what lies where it is named"}
		}
	}
	text, err := read(r, root, file)
	return Target{Kind: Skill, Name: name, Root: root, Path: file, Text: text}, err
}

// FindMemory finds the memory file of a project by its name, such as AGENTS.md; it need not be there.
func FindMemory(at Places, name string) (Target, error) {
	if !IsMemory(name) {
		return Target{}, &Error{Name: strconv.Quote(name), Reason: "allowed: " + strings.Join(MemoryFiles(), ", ") + ", and " + rulesDir + "/NAME.mdc"}
	}
	real, err := filepath.EvalSymlinks(at.Project)
	if err != nil {
		return Target{}, &Error{Name: name, Reason: "the project cannot be read: " + err.Error()}
	}
	r, err := os.OpenRoot(real)
	if err != nil {
		return Target{}, &Error{Name: name, Reason: "the project cannot be read: " + err.Error()}
	}
	defer func() { _ = r.Close() }() // it was only read
	t := Target{Kind: Memory, Name: name, Root: real, Path: name}
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		at := name[:i]
		switch info, err := r.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist) && path.Ext(name) == ruleExt:
			return Target{}, &Error{Name: name, Reason: t.File() + " is not there; write the rule first: its front matter says when it is read"}
		case errors.Is(err, fs.ErrNotExist):
			t.New = true
			return t, nil
		case err != nil:
			return Target{}, &Error{Name: name, Reason: err.Error()}
		case info.Mode()&fs.ModeSymlink != 0:
			return Target{}, &Error{Name: name, Reason: filepath.Join(real, filepath.FromSlash(at)) + " is a link; name the file that it leads to by sleep.memory"}
		}
	}
	t.Text, err = read(r, real, name)
	return t, err
}

// Names of memory files that do not lie at the root of a project.
const (
	copilotFile = ".github/copilot-instructions.md"
	rulesDir    = ".cursor/rules"
	ruleExt     = ".mdc"
)

// MemoryFiles returns the names that a memory file may have, those at the root of a project first. Rules of Cursor
// are memory files too, under any name ([IsMemory]).
func MemoryFiles() []string { return append(rootFiles(), copilotFile) }

func rootFiles() []string { return []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", "QWEN.md"} }

// IsMemory reports whether a memory file may have a name: one of [MemoryFiles], or that of a rule of Cursor.
func IsMemory(name string) bool {
	rule, is := strings.CutPrefix(name, rulesDir+"/")
	rule, ends := strings.CutSuffix(rule, ruleExt)
	if !is || !ends {
		return slices.Contains(MemoryFiles(), name)
	}
	for part := range strings.SplitSeq(rule, "/") {
		if badName(part) != "" {
			return false
		}
	}
	return true
}

// MemoryIn returns the memory file that a project has: the only one at its root, or Copilot's if there is none at the root. It
// returns "" where that does not decide. The result there counts those at the root.
func MemoryIn(project string) (name string, there int) {
	has := func(name string) bool {
		info, err := os.Lstat(filepath.Join(project, filepath.FromSlash(name)))
		return err == nil && info.Mode().IsRegular()
	}
	for _, file := range rootFiles() {
		if has(file) {
			name, there = file, there+1
		}
	}
	switch {
	case there == 0 && has(copilotFile):
		return copilotFile, 0
	case there != 1:
		return "", there
	}
	return name, there
}

// AgentMemory returns the memory file that an agent reads in a project; "" for a chat. Copilot reads two, and has its own only where
// that is the one that is there.
func AgentMemory(agent, project string) string {
	switch agent {
	case "":
		return ""
	case "copilot":
		if name, there := MemoryIn(project); there == 0 && name != "" {
			return name
		}
	case "claude":
		return "CLAUDE.md"
	case "gemini":
		return "GEMINI.md"
	case "qwen":
		return "QWEN.md"
	}
	return "AGENTS.md"
}

// read reads a document that is a regular file.
func read(r *os.Root, root, name string) (string, error) {
	full := filepath.Join(root, filepath.FromSlash(name))
	info, err := r.Lstat(name)
	if err != nil {
		return "", err
	}
	switch {
	case !info.Mode().IsRegular():
		return "", &Error{Name: full, Reason: "it is not a regular file"}
	case info.Size() > MaxDocument:
		return "", &Error{Name: full, Reason: fmt.Sprintf("it has %d bytes, and %d are allowed", info.Size(), MaxDocument)}
	}
	f, err := r.Open(name)
	if err != nil {
		return "", &Error{Name: full, Reason: err.Error()}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxDocument+1))
	err = errors.Join(err, f.Close())
	switch {
	case err != nil:
		return "", &Error{Name: full, Reason: err.Error()}
	case len(data) > MaxDocument:
		return "", &Error{Name: full, Reason: fmt.Sprintf("it has more than %d bytes", MaxDocument)}
	case !utf8.Valid(data):
		return "", &Error{Name: full, Reason: "it is not UTF-8"}
	}
	return string(data), nil
}

// badName says why a text is no name of a skill; "" if it is one.
func badName(name string) string {
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return "a name has no spaces around it, and is not empty"
	case name == "." || name == ".." || strings.HasPrefix(name, "~") || strings.HasSuffix(name, "."):
		return "it is no name of a folder"
	case strings.ContainsAny(name, `/\:*?"<>|`):
		return `a name has none of / \ : * ? " < > |`
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return "a name has no characters that cannot be seen"
	case len(name) > 255:
		return "it is longer than 255 bytes"
	}
	return ""
}

// FoldName returns a name as file systems that ignore case and Unicode forms take it.
func FoldName(name string) string { return norm.NFC.String(cases.Fold().String(norm.NFC.String(name))) }

// Collide names two of the targets that are one file, by case, Unicode form or links; "" if none are.
func Collide(list []Target) string {
	seen := map[string]string{}
	var infos []fs.FileInfo
	var names []string
	for _, t := range list {
		key := FoldName(t.File())
		if other, ok := seen[key]; ok {
			return other + " and " + t.File()
		}
		seen[key] = t.File()
		if info, err := os.Stat(t.File()); err == nil {
			for i := range infos {
				if os.SameFile(infos[i], info) {
					return names[i] + " and " + t.File()
				}
			}
			infos, names = append(infos, info), append(names, t.File())
		}
	}
	return ""
}
