package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// This file finds the config that a run is of, and writes its best skill to where that config has its skill.

// Decision says what can be decided on a run here.
type Decision struct {
	Config string   `json:"config"`          // name of the folder of its config, "." of that in the folder with configs; "": there is none
	Why    string   `json:"why,omitempty"`   // why nothing of the run can be scored, compared or written here
	Skill  string   `json:"skill,omitempty"` // where the best skill goes
	Words  []string `json:"words,omitempty"` // of the command line that writes it there
	Adopt  bool     `json:"adopt"`           // a request writes it, too
}

// Placed says where the best skill was written, and where that is which it has replaced.
type Placed struct {
	File     string   `json:"file,omitempty"`
	Dir      string   `json:"dir,omitempty"`
	Files    []string `json:"files"`
	Replaced string   `json:"replaced,omitempty"`
}

// Rescored names tasks whose recorded answers are scored again.
type Rescored struct {
	Tasks []string `json:"tasks"`
}

// runConfig is the config of the folder with configs that a run is of.
type runConfig struct {
	id      string
	dir     string // of the config, as a command names it
	run     string // of the run, as a command names it
	skill   string // absolute; "": it names none
	tasks   string // absolute
	columns map[string]string
}

// refuseDecision says why nothing can be decided on a run here.
func refuseDecision(format string, args ...any) error {
	return conflict(fmt.Sprintf(format, args...), "the command line does the same for any run: skillopt eval, compare, rescore and runs export")
}

// findRunConfig finds the config that a run is of: its skill and its tasks are those of the run. Which config that was is
// not recorded, and its text may be another one since.
func (s *Server) findRunConfig(ctx context.Context, at found) (runConfig, error) {
	root, err := s.configs()
	if err != nil {
		return runConfig{}, err
	}
	defer func() { _ = root.Close() }() // it was only read
	if rel, err := filepath.Rel(s.options.Configs, at.dir); err != nil || !filepath.IsLocal(rel) {
		return runConfig{}, refuseDecision("the run is not in the folder with configs, %s", s.options.Configs)
	}
	text, _, err := record.KeptConfig(at.dir)
	if err != nil {
		return runConfig{}, err
	}
	var kept struct {
		Skill string
		Tasks struct{ Path string }
	}
	if _, err := yamlx.Decode([]byte(text), &kept); err != nil {
		return runConfig{}, damageError("the configuration that the run keeps cannot be read: " + err.Error())
	}
	list, err := configList(root)
	if err != nil {
		return runConfig{}, err
	}
	for _, c := range list {
		doc, err := s.readConfig(ctx, root, c)
		if err != nil {
			continue // it is none
		}
		out := s.newRunConfig(c, doc)
		if sameFile(out.skill, kept.Skill) && sameFile(out.tasks, kept.Tasks.Path) {
			out.run = s.shownPath(at.dir)
			return out, unfit(doc)
		}
	}
	return runConfig{}, refuseDecision("no config in %s has the skill and the tasks of this run (%s, %s)", s.options.Configs, or(kept.Skill, "no skill"), or(kept.Tasks.Path, "no tasks"))
}

// newRunConfig returns what is needed of a config.
func (s *Server) newRunConfig(c configAt, doc result.ConfigFile) runConfig {
	dir := filepath.Join(s.options.Configs, c.dir)
	path := func(key string) string {
		text, _ := doc.Values[key].(string)
		if text == "" || filepath.IsAbs(text) {
			return text
		}
		return filepath.Join(dir, filepath.FromSlash(text))
	}
	out := runConfig{id: c.id, dir: s.shownPath(dir), skill: path("skill"), tasks: path("tasks.path"), columns: map[string]string{}}
	columns, _ := doc.Values["tasks.columns"].(map[string]any)
	for field, name := range columns {
		out.columns[field], _ = name.(string)
	}
	return out
}

// findDecided finds the run of a request, and its config.
func (s *Server) findDecided(r *http.Request) (found, runConfig, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return at, runConfig{}, err
	}
	c, err := s.findRunConfig(r.Context(), at)
	return at, c, err
}

// refuseAdopt returns the answer of a server that was started without --allow-adopt.
func refuseAdopt(help string) error {
	return &door.Refusal{Status: http.StatusForbidden, Kind: door.Forbidden, Message: "pages of this server may not write into documents that agents read", Help: help}
}

// sameFile reports whether two paths are of the same file or folder, or equal where there is none.
func sameFile(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	if errA != nil || errB != nil {
		return a == b
	}
	return os.SameFile(x, y)
}

// decision says what can be decided on a run here.
func (s *Server) decision(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	c, err := s.findRunConfig(r.Context(), at)
	if err != nil {
		return Decision{Why: refusal(err).Message}, nil
	}
	out := Decision{Config: c.id, Adopt: s.options.Adopt && !s.readOnly}
	if to, err := s.findPlace(at, c); err == nil {
		out.Skill, out.Words = to, exportWords(c, to)
	}
	return out, nil
}

// findPlace returns where the best skill of a run goes, relative to the folder with configs: to the skill of its config.
func (s *Server) findPlace(at found, c runConfig) (string, error) {
	best, err := record.Best(at.dir)
	if err != nil {
		return "", err
	}
	if c.skill == "" || best.Equal(skill.Skill{}) {
		return "", refuseDecision("the config names no skill, or the run has no best one")
	}
	to := s.shownPath(c.skill)
	if filepath.Base(to) == skill.Main && len(best.Others()) > 0 {
		return path.Dir(to) + "/", nil
	}
	return to, nil
}

func exportWords(c runConfig, to string) []string {
	return []string{"runs", "export", c.run, "--to", to}
}

// place writes the best skill to where the config of its run has its skill.
func (s *Server) place(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, c, err := s.findDecided(r)
	if err != nil {
		return nil, err
	}
	to, err := s.findPlace(at, c)
	if err != nil {
		return nil, err
	}
	if !s.options.Adopt {
		return nil, refuseAdopt("start skillopt serve with --allow-adopt, or use skillopt runs export")
	}
	return s.do(r.Context(), exportWords(c, to)...)
}

// rescore scores recorded answers by the tasks as they are now.
func (s *Server) rescore(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b Rescored
	if err := body(r, &b); err != nil {
		return nil, err
	}
	_, c, err := s.findDecided(r)
	if err != nil {
		return nil, err
	}
	words := []string{"rescore", c.run, "--config", c.dir}
	for _, id := range b.Tasks {
		words = append(words, "--task="+id)
	}
	return s.do(r.Context(), words...)
}
