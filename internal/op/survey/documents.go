package survey

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// Documents that agents read by themselves, by their name anywhere, and folders of such.
var (
	documentNames   = []string{"claude.md", "claude.local.md", "agents.md", "agents.override.md", "gemini.md", "qwen.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", "skill.md"}
	documentFolders = []string{".claude/", ".cursor/", ".codex/", ".agents/", ".gemini/", ".qwen/", ".opencode/", ".github/instructions/", ".github/skills/", ".pi/"}
)

// isDocument reports whether agents read a file by themselves.
func isDocument(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(documentNames, path.Base(lower)) ||
		slices.ContainsFunc(documentFolders, func(f string) bool { return strings.HasPrefix(lower, f) || strings.Contains(lower, "/"+f) })
}

// documents are those of HEAD, by their paths.
type documents map[string]tree.Change

func readDocuments(ctx context.Context, head *tree.Tree) (documents, error) {
	all, err := contents(ctx, head, isDocument)
	out := documents{}
	for _, c := range all {
		out[c.Path] = c
	}
	return out, err
}

// contents returns the files of a tree whose paths are wanted, as changes that lay them.
func contents(ctx context.Context, t *tree.Tree, want func(name string) bool) ([]tree.Change, error) {
	var out []tree.Change
	var files []tree.File
	for _, f := range t.Files() {
		switch {
		case !want(f.Path):
		case f.Link != "":
			out = append(out, tree.Change{Path: f.Path, Link: f.Link})
		default:
			files = append(files, f)
		}
	}
	err := t.Read(ctx, files, func(f tree.File, data []byte) error {
		out = append(out, tree.Change{Path: f.Path, Data: slices.Clone(data), Exec: f.Exec})
		return nil
	})
	return out, err
}

// withDocuments returns a tree of the store with the documents of HEAD, which are the same in all workspaces.
func (s *surveyor) withDocuments(ctx context.Context, hash string) (string, error) {
	t, err := tree.OpenTree(ctx, s.out.Store().Repo(), hash, tree.Bounds{})
	if err != nil {
		return "", err
	}
	var changes []tree.Change
	for _, f := range t.Files() {
		if _, there := s.docs[f.Path]; !there && isDocument(f.Path) {
			changes = append(changes, tree.Change{Path: f.Path, Gone: true})
		}
	}
	for _, c := range s.docs {
		changes = append(changes, c)
	}
	slices.SortFunc(changes, func(a, b tree.Change) int { return strings.Compare(a.Path, b.Path) })
	return s.out.Store().Tree(ctx, hash, changes)
}

// seedNames are documents that a skill can be trained as, the preferred one first.
var seedNames = []string{"CLAUDE.md", "AGENTS.md"}

// seed returns the document that is trained, and what HEAD has of it.
func (s *surveyor) seed() (name string, text []byte) {
	for _, name := range seedNames {
		if c, there := s.docs[name]; there && c.Link == "" {
			return name, c.Data
		}
	}
	return seedNames[1], nil
}
