package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Document is what is laid next to the trained document, the same in each episode: a document
// under a path of the workspace, or a skill in its folder.
type Document struct {
	Path  string      // slash-separated; "" = a skill
	Name  string      // of the skill's folder
	Skill skill.Skill // the skill, or the document as its text
}

// maxFilePath bounds the path of a document in a workspace, in bytes.
const maxFilePath = 200

// documents returns the endings of files in which agents read instructions. None of them are
// settings, which can name programs to run.
func documents() []string { return []string{".md", ".mdc", ".markdown"} }

// CheckFile reports why a path cannot be that of a document in a workspace: it is relative
// and slash-separated, leads nowhere else, not into a repository, and names a Markdown file.
func CheckFile(name string) error {
	parts := strings.Split(name, "/")
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`\<>:"|?*`, r) }
	switch {
	case !fs.ValidPath(name) || name == "." || len(name) > maxFilePath || strings.ContainsFunc(name, odd):
		return fmt.Errorf("%q: want the path of a file in the workspace, with / and without .., of at most %d bytes", name, maxFilePath)
	case slices.ContainsFunc(parts, func(p string) bool { return strings.EqualFold(p, ".git") || strings.TrimRight(p, " .") != p }):
		return fmt.Errorf("%q: no document can lie there", name)
	case !slices.Contains(documents(), strings.ToLower(path.Ext(name))):
		return fmt.Errorf("%q: want a Markdown file: a name that ends in %s", name, strings.Join(documents(), ", "))
	}
	return nil
}

// ReadsError says that an agent does not read a file of its workspace by itself.
type ReadsError struct {
	Agent, File string
	Reads       []string // what it reads; none: nothing that was measured
}

func (e *ReadsError) Error() string {
	if len(e.Reads) == 0 {
		return fmt.Sprintf("%s is not known to read any document of its workspace by itself", e.Agent)
	}
	return fmt.Sprintf("%s does not read %s by itself, only %s", e.Agent, e.File, strings.Join(e.Reads, ", "))
}

// Reads lists the documents at the root of a workspace, and below it, that the agent reads by
// itself when it begins; nil: whatever it is asked to read.
func (a *Agent) Reads() []string {
	if a.adapter.name == BuiltinName || a.adapter.name == CustomName {
		return nil
	}
	return slices.Clone(a.adapter.reads)
}

// Shows lists what of a user's home the agent shows its model in addition to the workspace,
// when it uses their login: documents, and the skills that are there.
func (a *Agent) Shows(home string) []string {
	var all []string
	for _, name := range a.adapter.shows {
		switch entries, err := os.ReadDir(filepath.Join(home, filepath.FromSlash(name))); {
		case err != nil && isFile(filepath.Join(home, filepath.FromSlash(name))):
			all = append(all, "~/"+name)
		default:
			for _, e := range entries {
				if !strings.HasPrefix(e.Name(), ".") { // its own
					all = append(all, "~/"+path.Join(name, e.Name()))
				}
			}
		}
	}
	return all
}

// CheckReads reports why the document at a path of the workspace would not reach the
// agent's model: an error of CheckFile, or a *ReadsError. What an agent of somebody's own
// reads is not known, and allowed.
func (a *Agent) CheckReads(file string) error {
	if err := CheckFile(file); err != nil {
		return err
	}
	if a.adapter.name == BuiltinName || a.adapter.name == CustomName || slices.Contains(a.adapter.reads, file) {
		return nil
	}
	return &ReadsError{Agent: a.adapter.name, File: file, Reads: a.adapter.reads}
}

// Hidden returns a file of a workspace next to which the named agent does not read the document at
// file, "" if there is none.
func Hidden(workspace fs.FS, agent, file string) string {
	for _, a := range adapters() {
		if a.name != agent {
			continue
		}
		for _, over := range a.hidden[file] {
			if _, err := fs.Stat(workspace, over); err == nil {
				return over
			}
		}
	}
	return ""
}

// CheckDocumentPath reports why no document can be at a path of a workspace: something other than
// a file is there or on the way, or a name that differs by upper and lower case alone.
func CheckDocumentPath(workspace fs.FS, file string) error {
	at := "."
	parts := strings.Split(file, "/")
	for i, name := range parts {
		entries, err := fs.ReadDir(workspace, at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for %s in the workspace: %w", file, err)
		}
		at = path.Join(at, name)
		for _, e := range entries {
			switch {
			case e.Name() != name && strings.EqualFold(e.Name(), name):
				return fmt.Errorf("the workspace brings %s, which differs from %s by upper and lower case alone: take it out", path.Join(path.Dir(at), e.Name()), at)
			case e.Name() != name:
			case i < len(parts)-1 && !e.IsDir():
				return fmt.Errorf("the workspace brings %s, which is no folder: %s cannot lie in it", at, file)
			case i == len(parts)-1 && !e.Type().IsRegular():
				return fmt.Errorf("the workspace brings %s, which is no regular file: the document cannot replace it", at)
			}
		}
	}
	return nil
}

// writeDocument puts the trained document at its place, unchanged. An empty one is
// not written: a file that the workspace brings under its name is taken out, or it would be
// measured.
func (w *workspace) writeDocument(a adapter, j Job) error {
	if over := Hidden(w.root.FS(), a.name, j.File); over != "" {
		return fmt.Errorf("the workspace brings %s, with which %s does not read %s: take it out of the workspace", over, a.name, j.File)
	}
	if strings.TrimSpace(j.Skill.Text()) == "" {
		return w.clear(j.File)
	}
	return w.place(j.File, j.Skill.Text())
}

// place writes a document, and replaces one that is there.
func (w *workspace) place(name, text string) error {
	if err := CheckDocumentPath(w.root.FS(), name); err != nil {
		return err
	}
	was, err := w.root.ReadFile(name)
	if err == nil && !bytes.Equal(was, []byte(text)) {
		w.notes = append(w.notes, "the workspace brings "+name+", which another text replaces")
	}
	if err := w.root.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write %s into the workspace: %w", name, err)
	}
	return w.write(name, text, 0o644)
}

// clear takes a document out that the workspace brings.
func (w *workspace) clear(name string) error {
	if err := CheckDocumentPath(w.root.FS(), name); err != nil {
		return err
	}
	switch err := w.root.Remove(name); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("take %s out of the workspace: %w", name, err)
	}
	w.written = append(w.written, name)
	w.notes = append(w.notes, "the workspace brings "+name+", which was taken out: the document is empty")
	return nil
}

// writeDocuments lays what goes with the trained document. It replaces what the
// workspace brings under the same names.
func (w *workspace) writeDocuments(documents []Document) error {
	for _, b := range documents {
		if b.Path != "" {
			if err := w.place(b.Path, b.Skill.Text()); err != nil {
				return err
			}
			continue
		}
		for _, dir := range SkillFolders(b.Skill, b.Name) {
			if _, err := w.root.Lstat(dir); err == nil {
				w.notes = append(w.notes, "the workspace brings "+dir+", which another skill replaces")
			}
			if err := w.root.RemoveAll(dir); err != nil {
				return fmt.Errorf("lay %s into the workspace: %w", dir, err)
			}
		}
		if err := w.writeSkill(b.Skill, b.Name); err != nil {
			return err
		}
	}
	return nil
}

// checkFile checks the document of a job, and what lies next to it.
func (j Job) checkFile() error {
	var faults []error
	switch {
	case j.Mode != File && j.File != "":
		faults = append(faults, fmt.Errorf("file %q: want the mode %s", j.File, File))
	case j.Mode == File:
		faults = append(faults, CheckFile(j.File))
		if len(j.Skill.Others()) > 0 {
			faults = append(faults, fmt.Errorf("mode %s: the document has other files, such as %s: they have no place in the workspace", File, j.Skill.Others()[0]))
		}
	}
	for _, b := range j.Documents {
		switch {
		case b.Path == "" && !goodSkillName(b.Name):
			faults = append(faults, fmt.Errorf("agent.documents: skill name %q: want up to 64 small letters, digits and -", b.Name))
		case b.Path == "" && j.Mode != File && b.Name == j.SkillName:
			faults = append(faults, fmt.Errorf("agent.documents: %q is the skill that is trained", b.Name))
		case b.Path != "":
			if err := CheckFile(b.Path); err != nil {
				faults = append(faults, fmt.Errorf("document: %w", err))
			}
			if strings.EqualFold(b.Path, j.File) {
				faults = append(faults, fmt.Errorf("agent.documents: %q is the document that is trained", b.Path))
			}
		}
	}
	return errors.Join(faults...)
}
