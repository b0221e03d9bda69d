package server

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Tune edits lines of a version of a skill, and says by which tasks the result is scored.
type Tune struct {
	Version string     `json:"version"`        // as elsewhere: a step, best, tuned
	File    string     `json:"file,omitempty"` // missing: SKILL.md
	Lines   []LineEdit `json:"lines"`
	Split   string     `json:"split"` // train or selection, never test
	Tasks   []string   `json:"tasks"` // of the split
}

// LineEdit replaces a line of a file.
type LineEdit struct {
	Line int     `json:"line"` // from 1, of the file as it was
	Was  string  `json:"was"`
	Text *string `json:"text"` // one line or several; null takes the line out
}

// Versus names a version of the same run, or of another one, that is compared as B.
type Versus struct {
	Version string `json:"version"`         // A
	Other   string `json:"other,omitempty"` // run of B; missing: the same
	To      string `json:"to"`              // version of B
}

// mostTuned is how many tasks a skill that was edited by hand is scored on at once.
const mostTuned = 500

// tune edits a skill by hand and has it scored. The text is kept in the folder of the new run before the command is in
// the queue: after a kill in between there is a folder that no one asks for, and no run without its skill.
func (s *Server) tune(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b Tune
	if err := body(r, &b); err != nil {
		return nil, err
	}
	switch {
	case b.Split != "train" && b.Split != "selection":
		return nil, wrong("split %s: allowed are train and selection; a skill that is tuned by its test tasks has no test", quoteText(b.Split))
	case len(b.Tasks) == 0 || len(b.Tasks) > mostTuned:
		return nil, wrong("%d tasks: 1 to %d are scored", len(b.Tasks), mostTuned)
	}
	at, c, err := s.findDecided(r)
	if err != nil {
		return nil, err
	}
	whole, err := wholeSkill(at.dir, at.id, b.Version)
	if err != nil {
		return nil, err
	}
	edited, err := b.apply(whole)
	if err != nil {
		return nil, err
	}
	words := []string{"eval", "", "--config", c.dir, "--split", b.Split, "--tuned-from", c.run + "@" + b.Version, "--yes"}
	for _, id := range b.Tasks {
		words = append(words, "--task="+id)
	}
	return s.begin(c, "eval", words, "edited by hand, from "+b.Version+" of "+filepath.Base(at.dir), map[string]skill.Skill{run.TunedFolder: edited})
}

// apply returns the skill with the edited lines.
func (b Tune) apply(s skill.Skill) (skill.Skill, error) {
	name := or(b.File, skill.Main)
	text, there := s.File(name)
	if !there {
		return s, notFoundError("this version of the skill has no file " + quoteText(name))
	}
	lines := strings.Split(text, "\n")
	now := map[int]*string{}
	for _, e := range b.Lines {
		switch {
		case e.Line < 1 || e.Line > len(lines):
			return s, wrong("line %d: the file has %d", e.Line, len(lines))
		case lines[e.Line-1] != e.Was:
			return s, conflict(fmt.Sprintf("line %d is not what it was when it was edited", e.Line), "load the page again")
		}
		now[e.Line-1] = e.Text
	}
	var kept []string
	for i, line := range lines {
		if text, edited := now[i]; !edited {
			kept = append(kept, line)
		} else if text != nil {
			kept = append(kept, *text)
		}
	}
	edited := strings.Join(kept, "\n")
	switch {
	case edited == text:
		return s, wrong("no line was changed")
	case name == skill.Main:
		return s.WithText(edited), nil
	}
	return s.WithFile(name, edited), nil
}

// versus compares two versions on the selection tasks.
func (s *Server) versus(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b Versus
	if err := body(r, &b); err != nil {
		return nil, err
	}
	at, c, err := s.findDecided(r)
	if err != nil {
		return nil, err
	}
	to := at
	if b.Other != "" {
		if to, err = s.find(b.Other); err != nil {
			return nil, err
		}
	}
	skills := map[string]skill.Skill{}
	for name, side := range map[string]struct {
		at      found
		version string
	}{"given/a": {at, b.Version}, "given/b": {to, b.To}} {
		if skills[name], err = wholeSkill(side.at.dir, side.at.id, side.version); err != nil {
			return nil, err
		}
	}
	if skills["given/a"].Equal(skills["given/b"]) {
		return nil, wrong("the two versions are the same text")
	}
	title := fmt.Sprintf("%s of %s against %s of %s", b.Version, filepath.Base(at.dir), b.To, filepath.Base(to.dir))
	return s.begin(c, "compare", []string{"compare", "", "", "--config", c.dir, "--split", "selection", "--yes"}, title, skills)
}

// begin puts a command about skills into the queue. They are written into the folder of its run, whose paths take the
// places of the empty words, in their order.
func (s *Server) begin(c runConfig, command string, words []string, title string, skills map[string]skill.Skill) (any, error) {
	name := filepath.Base(filepath.Join(s.options.Configs, c.dir))
	s.starting.Lock()
	defer s.starting.Unlock()
	dir, err := s.freeRun(name + "-" + command)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.runsDir(), 0o755); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o755); err != nil { // another server may have made it
		return nil, err
	}
	for _, folder := range slices.Sorted(maps.Keys(skills)) {
		if err := run.ExportFolder(filepath.Join(dir, folder), skills[folder]); err != nil {
			return nil, err
		}
		words[slices.Index(words, "")] = s.shownPath(filepath.Join(dir, folder))
	}
	out, err := s.add(append(words, "--run", s.shownPath(dir)), dir, title)
	if err != nil {
		_ = os.RemoveAll(dir) // nothing but what was written just now
	}
	return out, err
}
