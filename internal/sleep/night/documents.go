package night

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/skill"
)

// documentsDir is where the documents lie, below a night's folder, that workspaces are given next to the one that is
// trained: as the night found them, and as it has staged them.
const (
	documentsDir = "documents"
	liveDir      = "live"
	stagedDir    = "staged"
)

// others says where the other documents of a night lie, by the names of agent.documents. It is empty for a chat: nothing
// but the document itself and the task is sent to its model, so documents do not see each other there.
type others struct {
	staged map[string]string // with the texts that the night has staged before
	live   map[string]string // all as the night found them
}

// lay writes the documents that lie next to a target: those of the night, whichever have tasks, and the project's memory
// file. Of the first ones, up to a number, that have something confirmed and staged it is what is staged.
func (n workshop) lay(jobs []job, at, upTo int) error {
	if n.Config.Agent.Name == "" {
		return nil
	}
	b := others{staged: map[string]string{}, live: map[string]string{}}
	for k, doc := range n.listDocuments(jobs) {
		if doc.ID() == jobs[at].doc.ID() {
			continue
		}
		name := documentName(doc)
		if name == "" {
			n.note(doc.ID() + " is next to no other document: agents know no skill of this name")
			continue
		}
		if !doc.New {
			file, err := n.layDocument(liveDir, doc, liveSkill(jobs, k, doc))
			if err != nil {
				return err
			}
			b.live[name], b.staged[name] = file, file
		}
		if k < upTo && k < len(jobs) && jobs[k].isBundled() {
			file, err := n.layDocument(stagedDir, doc, jobs[k].proposedSkill())
			if err != nil {
				return err
			}
			b.staged[name] = file
		}
	}
	jobs[at].others = b
	return nil
}

// liveSkill returns the document at a place of the listed ones: after those of the night is the memory file.
func liveSkill(jobs []job, at int, doc target.Target) skill.Skill {
	if at < len(jobs) {
		return jobs[at].live()
	}
	return skill.New(doc.Text)
}

// note puts words into the report, once.
func (n *night) note(text string) {
	if !slices.Contains(n.report.Notes, text) {
		n.report.Notes = append(n.report.Notes, text)
	}
}

// listDocuments lists the documents of the night in its order, and after them the project's memory file, if it has
// no tasks of its own.
func (n workshop) listDocuments(jobs []job) []target.Target {
	var out []target.Target
	for i := range jobs {
		out = append(out, jobs[i].doc)
	}
	name, err := settler(n).memoryFile()
	if err != nil || slices.ContainsFunc(out, func(t target.Target) bool { return t.Kind == target.Memory }) {
		return out
	}
	if doc, err := target.FindMemory(n.Places, name); err == nil && !doc.New {
		out = append(out, doc)
	}
	return out
}

// documentName returns the name of a document in agent.documents, "" if it cannot have one there.
func documentName(doc target.Target) string {
	if doc.Kind == target.Memory {
		return doc.Name
	}
	odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	if len(doc.Name) > 64 || strings.ContainsFunc(doc.Name, odd) || strings.Contains("-"+doc.Name+"-", "--") {
		return ""
	}
	return doc.Name
}

// layDocument writes a document into the night's folder: a memory file, or the folder of a skill. The path is that of the file or folder.
func (n workshop) layDocument(state string, doc target.Target, sk skill.Skill) (string, error) {
	base := filepath.Join(n.folder(), documentsDir, state)
	if doc.Kind == target.Memory {
		return filepath.Join(base, filepath.FromSlash(doc.Name)), writeDocument(base, doc.Name, sk.Text(), false)
	}
	dir := filepath.Join(base, doc.Name)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("lay %s next to others: %w", doc.ID(), err)
	}
	for _, name := range sk.Files() {
		content, _ := sk.File(name) // it has all that it lists
		if err := writeDocument(dir, name, content, sk.Executable(name)); err != nil {
			return "", fmt.Errorf("lay %s next to others: %w", doc.ID(), err)
		}
	}
	return dir, nil
}

// writeDocument writes a file of a skill.
func writeDocument(dir, name, content string, executable bool) error {
	if !fs.ValidPath(name) {
		return errors.New(name + " is no path of a file")
	}
	at := filepath.Join(dir, filepath.FromSlash(path.Dir(name)))
	if err := writeFile(at, path.Base(name), []byte(content)); err != nil || !executable {
		return err
	}
	return os.Chmod(filepath.Join(at, path.Base(name)), 0o700)
}

// over returns the documents that the profile lays next to the trained one, which is left out. The documents of the night replace those of the profile.
func over(profile, documents map[string]string, trained target.Target) map[string]string {
	out := map[string]string{}
	maps.Copy(out, profile)
	maps.Copy(out, documents)
	delete(out, documentName(trained))
	return out
}
