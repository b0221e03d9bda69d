// Package prompt holds the texts that the training stages send to models: one
// embedded Markdown file a stage, with typed inputs, replaceable by a
// directory.
//
// In the user messages, the parts that the calls of a batch share come first
// and what differs comes last, so that a provider's prompt cache hits.
//
// It knows nothing about models, replies, skills' structure or the loop: every
// input arrives as finished text. A Set is immutable and safe for concurrent
// use.
package prompt

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/template"
)

//go:embed text/*.md first/*.md
var embedded embed.FS

// Text is a prompt: the system message and the user message.
type Text struct {
	System string
	User   string
}

// Set holds the prompts of all stages.
type Set struct {
	files map[string]file
}

// file is one prompt file: its parts by name.
type file struct {
	parts map[string]*template.Template
	raw   map[string]string
}

// Default returns the built-in prompts for an optimizer that is shown task and
// conversation of rollouts. They are those that there were first: runs that began with
// them continue with them.
func Default() *Set {
	s, first := Whole(), &Set{files: map[string]file{}}
	first.builtIn("first")
	maps.Copy(s.files, first.files) // files as a whole: they have no parts that came later
	return s
}

// Whole returns the built-in prompts for an optimizer that is shown all that the agent
// was, between fences.
func Whole() *Set {
	s := &Set{files: map[string]file{}}
	s.builtIn("text")
	return s
}

// builtIn loads the embedded files of a folder. What is wrong with them is a bug.
func (s *Set) builtIn(folder string) {
	texts, err := fs.Sub(embedded, folder)
	if err == nil {
		err = s.load(texts)
	}
	if err != nil {
		panic(fmt.Sprintf("embedded prompts: %v", err))
	}
}

// Load returns built-in prompts with those parts replaced that the files at
// the root of dir hold. They are not changed. A file that is no prompt, a part that its prompt does
// not have and a template name that it does not know are errors that name the
// file and the line; all of them are joined. Files that begin with a dot are
// passed over.
func Load(builtIn *Set, dir fs.FS) (*Set, error) {
	s := &Set{files: maps.Clone(builtIn.files)}
	if err := s.load(dir); err != nil {
		return nil, err
	}
	return s, nil
}

// Files lists the names of the prompt files, sorted.
func Files() []string {
	var names []string
	for _, sp := range specs() {
		names = append(names, sp.file)
	}
	slices.Sort(names)
	return names
}

// Digests returns a hash of the effective text of each prompt file, by name:
// two sets with equal digests render equal prompts.
func (s *Set) Digests() map[string]string {
	digests := map[string]string{}
	for _, sp := range specs() {
		f, h := s.files[sp.file], sha256.New()
		for _, part := range sp.parts() {
			if _, has := f.raw[part]; !has {
				continue
			}
			fmt.Fprintf(h, "%s\x00%d\x00%s", part, len(f.raw[part]), f.raw[part])
		}
		digests[sp.file] = hex.EncodeToString(h.Sum(nil))[:16]
	}
	return digests
}

func (s *Set) load(dir fs.FS) error {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return fmt.Errorf("read prompts: %w", err)
	}
	var faults []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := s.loadFile(dir, e.Name()); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (s *Set) loadFile(dir fs.FS, name string) error {
	sp, ok := findSpec(name)
	if !ok {
		return fmt.Errorf("%s is no prompt; the files are %s", name, strings.Join(Files(), ", "))
	}
	text, err := fs.ReadFile(dir, path.Clean(name))
	if err != nil {
		return fmt.Errorf("read prompt: %w", err)
	}
	sections, err := split(name, string(text))
	if err != nil {
		return err
	}
	merged := file{parts: map[string]*template.Template{}, raw: map[string]string{}}
	for part, t := range s.files[name].parts {
		merged.parts[part], merged.raw[part] = t, s.files[name].raw[part]
	}
	for _, sec := range sections {
		t, err := sp.parse(sec)
		if err != nil {
			return err
		}
		merged.parts[sec.name], merged.raw[sec.name] = t, sec.text
	}
	s.files[name] = merged
	return nil
}

// render builds the prompt of a stage. values holds its inputs; choices says
// which part is in a slot.
func (s *Set) render(name string, values map[string]any, choices map[string]string) (Text, error) {
	sp, _ := findSpec(name)
	f := s.files[name]
	filled := map[string]any{}
	for in, v := range values {
		filled[in] = v
	}
	for slot, part := range choices {
		if !slices.Contains(sp.choices[slot], part) {
			return Text{}, fmt.Errorf("prompt %s: %s %q: use one of %s", name, slot, part, strings.Join(sp.choices[slot], ", "))
		}
		text, err := f.parts[part].Render(values)
		if err != nil {
			return Text{}, fmt.Errorf("render prompt: %w", err)
		}
		filled[slot] = text
	}
	for _, part := range sp.optional {
		text, err := f.optional(part, values)
		if err != nil {
			return Text{}, fmt.Errorf("render prompt: %w", err)
		}
		filled[part] = text
	}
	return f.text(filled)
}

// optional renders a part that is there only when the input of its name is
// set, with the blank line that divides it from what follows.
func (f file) optional(part string, values map[string]any) (string, error) {
	if f.parts[part] == nil {
		return "", nil
	}
	switch values[part] {
	case "", 0, false:
		return "", nil
	}
	text, err := f.parts[part].Render(values)
	if err != nil {
		return "", err
	}
	return text + "\n\n", nil
}

func (f file) text(values map[string]any) (Text, error) {
	system, err := f.parts["system"].Render(values)
	if err != nil {
		return Text{}, fmt.Errorf("render prompt: %w", err)
	}
	user, err := f.parts["user"].Render(values)
	if err != nil {
		return Text{}, fmt.Errorf("render prompt: %w", err)
	}
	return Text{System: system, User: user}, nil
}
