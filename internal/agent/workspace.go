package agent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
)

// DefaultSkillName is what the skill's folder is called if neither the job nor
// the skill has a name for it.
const DefaultSkillName = "task-skill"

// Where agents look for skills. All seven that were measured look into one of
// these, none into both with different results.
const (
	agentsSkills = ".agents/skills"
	claudeSkills = ".claude/skills"
)

// attachments is the folder for images that an agent cannot be given otherwise.
const attachments = ".attachments"

// Agents leave a skill out whose name has another form, or is not its folder's.
var skillNameForm = pattern.New(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

func goodSkillName(name string) bool { return len(name) <= 64 && skillNameForm.MatchString(name) }

// GoodSkillName reports whether a skill's folder may have that name.
func GoodSkillName(name string) bool { return goodSkillName(name) }

func skillName(s skill.Skill) string {
	doc, err := skill.Parse(s.Text())
	if err == nil && goodSkillName(doc.Name) {
		return doc.Name
	}
	return DefaultSkillName
}

// SkillPath returns the path of the skill of that name in a workspace, slash-separated. Agents that
// discover skills find a copy of it.
func SkillPath(name string) string { return path.Join(agentsSkills, name, skill.Main) }

// SkillFolders returns the folders where the skill goes in a workspace, slash-separated. name is
// that of its folder, "" for the one that it has itself.
func SkillFolders(s skill.Skill, name string) []string {
	if name == "" {
		name = skillName(s)
	}
	return []string{path.Join(agentsSkills, name), path.Join(claudeSkills, name)}
}

// Bounds of what is looked at of skills that a workspace brings.
const (
	maxOwnSkills = 1000
	maxOwnHead   = 64 << 10 // bytes of a SKILL.md
)

// SameSkill returns the folder of a skill in a workspace that agents would take for the given one,
// slash-separated, "" if there is none. Such a skill is in the folder "skills" of any folder whose
// name begins with a dot. It has the name of the given one as a folder or in its front matter. name
// is as in SkillFolders.
func SameSkill(workspace fs.FS, s skill.Skill, name string) string {
	if name == "" {
		name = skillName(s)
	}
	roots, err := fs.Glob(workspace, ".*/skills")
	if err != nil {
		return ""
	}
	looked := 0
	for _, root := range roots {
		entries, err := fs.ReadDir(workspace, root)
		if err != nil {
			continue // no folder
		}
		for _, e := range entries {
			dir := path.Join(root, e.Name())
			if looked++; strings.EqualFold(e.Name(), name) || looked <= maxOwnSkills && nameIn(workspace, dir) == name {
				return dir
			}
		}
	}
	return ""
}

// nameIn returns the name in the front matter of a skill in a workspace, "" if it has none that can
// be read.
func nameIn(workspace fs.FS, dir string) string {
	name := path.Join(dir, skill.Main)
	if info, err := fs.Stat(workspace, name); err != nil || !info.Mode().IsRegular() {
		return "" // a pipe would be waited for
	}
	f, err := workspace.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxOwnHead))
	if err != nil {
		return ""
	}
	doc, _ := skill.Parse(string(text)) // what cannot be read has no name
	return doc.Name
}

// instructions returns the files and folders by which a workspace speaks to agents itself. They are
// a task's own affair, but the reader of a result must know.
func instructions() []string {
	return []string{
		"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", ".cursorrules", ".github/copilot-instructions.md",
		".agents", ".claude", ".codex", ".gemini", ".qwen", ".opencode", ".pi", ".cursor", ".github/skills", ".mcp.json", "opencode.json",
	}
}

// workspace is the folder of a task, to which files are added. Nothing in it
// can lead a write outside.
type workspace struct {
	root    *os.Root
	written []string
	notes   []string
}

// openWorkspace opens a folder, and notes what instructions it brings but the document at
// file.
func openWorkspace(dir, file string) (*workspace, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	w := &workspace{root: root}
	var own []string
	for _, name := range instructions() {
		if _, err := root.Lstat(name); err == nil && name != file {
			own = append(own, name)
		}
	}
	if len(own) > 0 {
		w.notes = append(w.notes, "the workspace brings instructions of its own: "+strings.Join(own, ", "))
	}
	return w, nil
}

func (w *workspace) write(name, content string, mode os.FileMode) error {
	if err := w.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s into the workspace: %w", name, err)
	}
	if err := w.root.WriteFile(name, []byte(content), mode); err != nil {
		return fmt.Errorf("write %s into the workspace: %w", name, err)
	}
	w.written = append(w.written, name)
	return nil
}

// prepare writes what the job brings into the workspace, and returns the prompt
// that goes with it.
func prepare(a adapter, j Job) (*workspace, string, error) {
	w, err := openWorkspace(j.Workspace, j.File)
	if err != nil {
		return nil, "", err
	}
	prompt, err := w.fill(a, j)
	if err = errors.Join(err, w.root.Close()); err != nil {
		return nil, "", err
	}
	return w, prompt, nil
}

func (w *workspace) fill(a adapter, j Job) (prompt string, err error) {
	prompt = j.Prompt
	if err := w.withhold(a, j); err != nil {
		return "", err
	}
	if err := w.writeDocuments(j.Documents); err != nil {
		return "", err
	}
	if j.Mode == File {
		if err := w.writeDocument(a, j); err != nil {
			return "", err
		}
	} else if strings.TrimSpace(j.Skill.Text()) != "" {
		if err := w.writeSkill(j.Skill, j.SkillName); err != nil {
			return "", err
		}
		if j.Mode == Read {
			prompt = readFirst(j.SkillName) + "\n\n" + prompt
		} else if !a.abilities.Skills {
			w.notes = append(w.notes, fmt.Sprintf("%s does not discover skills: use the mode %s", a.name, Read))
		}
	}
	if len(j.Images) > 0 && !a.abilities.Images {
		note, err := w.writeImages(j.Images)
		if err != nil {
			return "", err
		}
		prompt += "\n\n" + note
		w.notes = append(w.notes, a.name+" cannot be handed pictures: they lie in the workspace, and it has to open them by itself")
	}
	return prompt, nil
}

// withhold takes files out of the workspace by which the agent would start what is not to
// start.
func (w *workspace) withhold(a adapter, j Job) error {
	for _, name := range a.starts {
		if _, err := w.root.Lstat(name); j.WorkspaceTools || err != nil {
			continue
		}
		if err := w.root.RemoveAll(name); err != nil {
			return fmt.Errorf("take %s out of the workspace: %w", name, err)
		}
		w.written = append(w.written, name)
		w.notes = append(w.notes, "the workspace brings "+name+", which was taken out: "+a.name+" would start what it names (agent.workspace_tools)")
	}
	return nil
}

// readFirst returns the text by which the mode Read informs an agent about the skill.
func readFirst(name string) string {
	return fmt.Sprintf("Open %s first and read all of it. It tells you how tasks like the one below are done here; follow it. "+
		"Files that it mentions are in the same folder.", SkillPath(name))
}

func (w *workspace) writeSkill(s skill.Skill, folder string) error {
	if dir := SameSkill(w.root.FS(), s, folder); dir != "" {
		return &SkillThereError{Path: dir}
	}
	for _, dir := range SkillFolders(s, folder) {
		switch _, err := w.root.Lstat(dir); {
		case err == nil: // another skill of that name must not mix with ours
			return &SkillThereError{Path: dir}
		case !errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("look for %s in the workspace: %w", dir, err)
		}
		for _, name := range s.Files() {
			content, _ := s.File(name)
			if name == skill.Main {
				content = withFrontMatter(content, folder)
			}
			mode := os.FileMode(0o644)
			if s.Executable(name) {
				mode = 0o755
			}
			if err := w.write(path.Join(dir, name), content, mode); err != nil {
				return err
			}
		}
	}
	return nil
}

// SkillThereError says that a workspace brings a skill under the name of the one that is
// trained.
type SkillThereError struct {
	Path string // of its folder in the workspace, slash-separated
}

func (e *SkillThereError) Error() string {
	return fmt.Sprintf("the workspace brings %s, a skill of the name of the one that is trained: take it out of the workspace, or name the skill otherwise with agent.skill_name", e.Path)
}

func (w *workspace) writeImages(images []model.Image) (note string, err error) {
	var names []string
	for i, img := range images {
		name, err := imageName(i, img)
		if err != nil {
			return "", err
		}
		name = path.Join(attachments, name)
		if err := w.write(name, string(img.Data), 0o644); err != nil {
			return "", err
		}
		names = append(names, name)
	}
	return "The images that belong to this task are in these files: " + strings.Join(names, ", "), nil
}

const defaultDescription = "How tasks in this workspace are done. Read it before starting on any of them."

// withFrontMatter returns the document with a front matter that has the name of
// its folder and a description. What else is in it stays, and the body is not
// touched.
func withFrontMatter(text, name string) string {
	doc, err := skill.Parse(text)
	if err != nil {
		return text // no load lets it come so far
	}
	if doc.Head == "" {
		return "---\nname: " + name + "\ndescription: " + defaultDescription + "\n---\n\n" + doc.Body
	}
	head := doc.Head
	if doc.Name != name {
		head = setField(head, "name", name)
	}
	if strings.TrimSpace(doc.Description) == "" {
		head = setField(head, "description", defaultDescription)
	}
	return head + doc.Body
}

// setField gives a top-level field of a front matter another value.
func setField(head, key, value string) string {
	lines := strings.SplitAfter(head, "\n")
	kept := lines[:1:1]
	kept = append(kept, key+": "+value+"\n")
	inside := false
	for _, line := range lines[1:] {
		own := strings.HasPrefix(line, key+":")
		if inside = own || inside && strings.HasPrefix(line, " "); !inside {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
