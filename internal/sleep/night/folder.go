package night

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// live returns the document as it lies, with the other files of a skill's folder as the night has read them.
func (j *job) live() skill.Skill { return j.folder.WithText(j.doc.Text) }

// proposedSkill returns what the night has made of it.
func (j *job) proposedSkill() skill.Skill { return j.made.WithText(j.text) }

// take makes a skill that was trained what is staged for the document.
func (j *job) take(made skill.Skill) { j.text, j.made = made.Text(), made }

// readFolder returns the other files of a skill's folder, after an empty SKILL.md. If an agent carries tasks out they lie next to the
// document as they do in real work; in a chat they are sent only if they are trained.
func (n *night) readFolder(doc target.Target) skill.Skill {
	if doc.Kind != target.Skill || n.Config.Agent.Name == "" && !n.trainsFiles(doc) {
		return skill.Skill{}
	}
	whole, err := skill.Read(os.DirFS(doc.Root), path.Dir(doc.Path))
	if err != nil {
		n.note(fmt.Sprintf("%s is measured without the other files of its folder: %v", doc.ID(), err))
		return skill.Skill{}
	}
	return whole.WithText("")
}

// trainsFiles reports whether other files of a skill's folder may change: sleep.whole names it, and edits.files names files.
func (n *night) trainsFiles(doc target.Target) bool {
	return doc.Kind == target.Skill && n.trainsWhole(doc) && len(n.Config.Edits.Files) > 0
}

// changedFiles returns the other files of a skill that differ from those that lie there, or are new.
func (j *job) changedFiles(made skill.Skill) []string {
	var out []string
	for _, name := range made.Others() {
		was, there := j.folder.File(name)
		if is, _ := made.File(name); !there || is != was {
			out = append(out, name)
		}
	}
	return out
}

// stageFiles writes what is proposed for the other files of a skill's folder.
func stageFiles(folder string, j *job, slug string) ([]result.NightItemFile, error) {
	var out []result.NightItemFile
	for i, name := range j.changedFiles(j.made) {
		text, _ := j.made.File(name)
		was, there := j.folder.File(name)
		f := result.NightItemFile{Path: name, File: slug + ".file" + strconv.Itoa(i) + ".proposed", Original: slug + ".file" + strconv.Itoa(i) + ".live", SHA: target.Digest(text)}
		if there {
			f.LiveSHA = target.Digest(was)
		}
		if err := errors.Join(writeFile(folder, f.File, []byte(text)), writeFile(folder, f.Original, []byte(was))); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// stagedSkill returns what a proposal has for a document, on the other files of its folder as they lie now.
func (p *Proposal) stagedSkill(id string, live skill.Skill) (skill.Skill, error) {
	text, err := p.Text(id)
	if err != nil {
		return skill.Skill{}, err
	}
	out := live.WithText(text)
	files, err := p.Files(id)
	for _, f := range files {
		out = out.WithFile(f.Path, f.Text)
	}
	return out, err
}

// File is another file of a skill's folder, and what a proposal has for it.
type File struct {
	Path string // in the folder
	Text string
	Base string // what the file held
	New  bool   // there was none
}

// Files returns what is proposed for the other files of a skill's folder.
func (p *Proposal) Files(id string) ([]File, error) {
	it, err := p.item(id)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, f := range it.Files {
		if !fs.ValidPath(f.Path) {
			return nil, fmt.Errorf("night %s: %q is no path of a file", p.Night, f.Path)
		}
		text, err := p.read(f.File, f.SHA)
		if err != nil {
			return nil, err
		}
		base, err := p.read(f.Original, f.LiveSHA)
		if err != nil {
			return nil, err
		}
		out = append(out, File{Path: f.Path, Text: text, Base: base, New: f.LiveSHA == ""})
	}
	return out, nil
}
