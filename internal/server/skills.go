package server

import (
	"mime"
	"net/http"
	"path"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/skill"
)

// versions lists the skills that a run has made.
func (s *Server) versions(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	return asAnswer(ask.Versions(at.dir, at.id))
}

// skill shows the files of a version.
func (s *Server) skill(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	return asAnswer(ask.Files(at.dir, at.id, r.URL.Query().Get("version")))
}

// skillFile gives a file of a version as it is, to be kept and not to be shown: whatever it
// holds, it is text to a browser.
func (s *Server) skillFile(w http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	whole, err := wholeSkill(at.dir, at.id, or(q.Get("version"), "best"))
	if err != nil {
		return nil, err
	}
	name := or(q.Get("path"), skill.Main)
	text, there := whole.File(name)
	if !there {
		return nil, notFoundError("this version of the skill has no file " + quoteText(name))
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write([]byte(text)) // who asked may have gone
	return nil, nil
}

// wholeSkill returns a version with all its files: those that edits may not change are those of the best skill.
func wholeSkill(dir, id, version string) (skill.Skill, error) {
	s, err := ask.Skill(dir, id, version)
	if err != nil {
		return s, err
	}
	best, err := ask.Skill(dir, id, "best")
	if err != nil {
		return s, nil // it trains nothing: the version has all of its files
	}
	whole, err := record.Best(dir)
	for _, name := range whole.Others() {
		if _, changes := best.File(name); changes {
			continue
		}
		text, _ := whole.File(name)
		if s = s.WithFile(name, text); whole.Executable(name) {
			s = s.WithExecutable(name)
		}
	}
	return s, err
}

// diff says how one version differs from another, of the same run or of two.
func (s *Server) diff(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	q, to := r.URL.Query(), at
	from := or(q.Get("from"), "0")
	if other := q.Get("other"); other != "" {
		if to, err = s.find(other); err != nil {
			return nil, err
		}
		from = or(q.Get("from"), "best")
	}
	return asAnswer(ask.Diff(ask.Side{Dir: at.dir, Path: at.id, Version: from}, ask.Side{Dir: to.dir, Path: to.id, Version: or(q.Get("to"), "best")}))
}

// blame says who wrote each line.
func (s *Server) blame(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	return asAnswer(ask.Blame(at.dir, at.id, or(r.URL.Query().Get("version"), "best")))
}

// step shows what a step saw, proposed and decided.
func (s *Server) step(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 0 {
		return nil, wrong("step %s: want a whole number, 0 or more", quoteText(r.PathValue("n")))
	}
	return asAnswer(ask.Step(at.dir, at.id, n))
}

// asAnswer returns a value of any type as an answer.
func asAnswer[T any](v T, err error) (any, error) { return v, err }
