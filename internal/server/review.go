package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/result"
)

// Review is the tasks that wait for a review.
type Review struct {
	Tasks []result.MinedTask `json:"tasks"`
}

// ReviewRequest says which tasks are accepted, rejected or edited. An edited one is accepted.
type ReviewRequest struct {
	Accept []string           `json:"accept,omitempty"`
	Reject []string           `json:"reject,omitempty"`
	Edit   []result.MinedEdit `json:"edit,omitempty"`
}

// Proposal is what is known of a night's texts where its profile is.
type Proposal struct {
	Words []result.NightWords `json:"words"`
	Texts []Adoptable         `json:"texts"` // those that can be adopted as they are
}

// Adoptable is a text that can be adopted.
type Adoptable struct {
	Target  string `json:"target"`
	Hash    string `json:"hash"`
	Command string `json:"command"` // that adopts it in a terminal
}

// AdoptRequest names a text of a night by the hash that it was shown with.
type AdoptRequest struct {
	Target string `json:"target"`
	Hash   string `json:"hash"`
}

// Adopted is an adoption.
type Adopted struct {
	Number int `json:"number"` // by which sleep rollback takes it back
}

// sleep carries out a sleep command of the profile that is served, and reads its document.
func (s *Server) sleep(r *http.Request, doc any, words ...string) error {
	if s.options.Sleep == nil {
		return &door.Refusal{
			Status: http.StatusForbidden, Kind: door.Forbidden, Message: "this server has no profile of sleep for what it shows",
			Help: "serve the sleep.dir of your profile, or name another profile: skillopt serve --profile FILE",
		}
	}
	text, err := s.options.Sleep.Do(r.Context(), append([]string{"sleep"}, words...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, doc); err != nil {
		return fmt.Errorf("read the answer of a sleep command: %w", err)
	}
	return nil
}

// Projects is those whose sessions may be read.
type Projects struct {
	Projects []string `json:"projects"`
}

// projects shows the projects that the profile allows.
func (s *Server) projects(_ http.ResponseWriter, r *http.Request) (any, error) {
	var out Projects
	err := s.sleep(r, &out, "status")
	return out, err
}

// listWaiting shows the tasks that wait for a review.
func (s *Server) listWaiting(_ http.ResponseWriter, r *http.Request) (any, error) {
	var out Review
	err := s.sleep(r, &out.Tasks, "review")
	return out, err
}

// review notes what the user says of tasks.
func (s *Server) review(_ http.ResponseWriter, r *http.Request) (any, error) {
	var said ReviewRequest
	if err := body(r, &said); err != nil {
		return nil, err
	}
	words := []string{"review"}
	for _, id := range said.Accept {
		words = append(words, "--accept="+id)
	}
	for _, id := range said.Reject {
		words = append(words, "--reject="+id)
	}
	for _, e := range said.Edit {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, wrong("edit: %v", err)
		}
		words = append(words, "--edit="+string(text))
	}
	if len(words) == 1 {
		return nil, wrong("accept, reject and edit are empty: name tasks")
	}
	var out result.Reviewed
	err := s.sleep(r, &out, words...)
	return out, err
}

// proposal shows what adopting the texts of a night needs.
func (s *Server) proposal(_ http.ResponseWriter, r *http.Request) (any, error) {
	words, err := s.nightWords(r)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Words []result.NightWords
		Diffs []struct{ Target, Hash string }
		Adopt map[string]string `json:"adopt_by"`
	}
	if err := s.sleep(r, &doc, append([]string{words[0], "show", "--"}, words[1])...); err != nil {
		return nil, err
	}
	out := Proposal{Words: doc.Words}
	for _, d := range doc.Diffs {
		if command := doc.Adopt[d.Target]; command != "" {
			out.Texts = append(out.Texts, Adoptable{Target: d.Target, Hash: d.Hash, Command: command})
		}
	}
	return out, nil
}

// adopt writes a text of a night into its document.
func (s *Server) adopt(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b AdoptRequest
	if err := body(r, &b); err != nil {
		return nil, err
	}
	words, err := s.nightWords(r)
	switch {
	case !s.options.Adopt:
		return nil, refuseAdopt("copy the command, or start skillopt serve with --allow-adopt")
	case err != nil:
		return nil, err
	case b.Hash == "":
		return nil, wrong("hash is empty: what is adopted is named by the hash that it was shown with")
	}
	var out struct{ N int }
	err = s.sleep(r, &out, words[0], "adopt", "--target="+b.Target, "--expect="+b.Hash, "--", words[1])
	return Adopted{Number: out.N}, err
}

// nightWords returns the project and the name of the night of a request, as words of a command. The night has to be one of
// the profile: another one of the same name could propose something else than what is shown.
func (s *Server) nightWords(r *http.Request) ([2]string, error) {
	_, at, err := findNight(s.folders, r.PathValue("night"))
	if err != nil {
		return [2]string{}, err
	}
	v, err := at.View(r.Context())
	if err != nil {
		return [2]string{}, err
	}
	shown, err := os.Stat(filepath.Join(at.Dir(), "..", "..", ".."))
	if err != nil {
		return [2]string{}, err
	}
	if own, err := os.Stat(s.options.SleepDir); s.options.Sleep != nil && (err != nil || !os.SameFile(own, shown)) {
		return [2]string{}, conflict("the night is not one of the profile of sleep that is served", "name its profile: skillopt serve --profile FILE")
	}
	return [2]string{"--project=" + v.Project, at.Name}, nil
}
