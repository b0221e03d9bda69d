package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/queue"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Queued is an entry of the queue, and the id of its run if that is shown.
type Queued struct {
	queue.Entry

	RunID string `json:"run_id,omitempty"`
	Log   string `json:"log,omitempty"` // the file with what its command printed
}

// Queue are the entries in the order in which they were added.
type Queue struct {
	Entries []Queued `json:"entries"`
}

// ContinueRequest says for how long a run continues.
type ContinueRequest struct {
	Epochs string `json:"epochs"` // +3: three more; 8: up to eight in all
}

// ForkRequest names the step whose skill is trained from.
type ForkRequest struct {
	Step int `json:"step"`
}

// Forked names a new config.
type Forked struct {
	Config string `json:"config"`
}

func (s *Server) showQueue(http.ResponseWriter, *http.Request) (any, error) {
	out := Queue{Entries: []Queued{}}
	if s.queue == nil {
		return out, nil
	}
	list, err := s.queue.List()
	for _, e := range list {
		out.Entries = append(out.Entries, s.answerEntry(e))
	}
	return out, err
}

// exitStopped is the code of a command that the user has stopped.
const exitStopped = 130

// countOpen counts the entries that a person would look at: all but those that have ended well, or as asked. What is wrong with the
// folder is answered to those who look at the queue.
func (s *Server) countOpen() (n int) {
	if s.queue == nil {
		return 0
	}
	list, _ := s.queue.List()
	for _, e := range list {
		if e.State != queue.Ended || e.Error != "" && (e.Exit == nil || *e.Exit != exitStopped) {
			n++
		}
	}
	return n
}

// answerEntry returns an entry as an answer.
func (s *Server) answerEntry(e queue.Entry) Queued {
	out := Queued{Entry: e}
	if _, err := os.Stat(s.queue.Log(e.ID)); err == nil {
		out.Log = s.queue.Log(e.ID)
	}
	for _, f := range s.folders {
		if at, err := f.find(filepath.Base(e.Run)); err == nil && at.dir == e.Run {
			out.RunID = at.id
		}
	}
	return out
}

// removeEntry takes an entry out of the queue that is not at work.
func (s *Server) removeEntry(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := s.canStart(); err != nil {
		return nil, err
	}
	if err := s.queue.Remove(r.PathValue("entry")); err != nil {
		return nil, refuseEntry(err)
	}
	return s.showQueue(w, r)
}

// startRun trains with a config as a new run.
func (s *Server) startRun(_ http.ResponseWriter, r *http.Request) (any, error) {
	doc, err := s.startable(r)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.options.Configs, filepath.Dir(doc.Path))
	name, _ := doc.Values["run.name"].(string)
	return s.beginRun(cmp.Or(name, filepath.Base(dir)), "Train "+filepath.Base(dir), "train", s.shownPath(dir))
}

// beginRun puts a command into the queue that begins a new run of a name.
func (s *Server) beginRun(name, title string, words ...string) (any, error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	list, err := s.queue.List()
	if err != nil {
		return nil, err
	}
	same := func(e queue.Entry) bool {
		return e.State != queue.Ended && len(e.Words) > len(words) && slices.Equal(e.Words[:len(words)], words)
	}
	if i := slices.IndexFunc(list, same); i >= 0 {
		return nil, conflict("the same is in the queue already: "+filepath.Base(list[i].Run)+" is "+list[i].State, "wait for its end, or take it out of the queue")
	}
	to, err := s.freeRun(name)
	if err != nil {
		return nil, err
	}
	return s.add(append(words, "--run", s.shownPath(to), "--yes"), to, title)
}

// add puts a command into the queue.
func (s *Server) add(words []string, run, title string) (any, error) {
	e, err := s.enqueue(words, run, title)
	if err != nil {
		return nil, err
	}
	return s.answerEntry(e), nil
}

// checkConfig holds a config, that of a run too, to what pages may say, before it waits.
func (s *Server) checkConfig(ctx context.Context, file string) (doc result.ConfigFile, err error) {
	text, err := disk.Read(ctx, file, maxConfig)
	if err != nil {
		return doc, err
	}
	dir, err := filepath.Rel(s.options.Configs, filepath.Dir(file))
	if err != nil || !filepath.IsLocal(dir) {
		return doc, conflict("the run is not in the folder with configs, "+s.options.Configs, "start skillopt serve in the folder that it was begun in")
	}
	if doc, err = s.editConfig(ctx, configAt{id: dir, dir: dir}, string(text), nil); err == nil {
		err = unfit(doc)
	}
	return doc, err
}

// shownPath returns a path as a person types it in the folder with configs. It never begins like a flag.
func (s *Server) shownPath(path string) string {
	rel, err := filepath.Rel(s.options.Configs, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	if rel = filepath.ToSlash(rel); strings.HasPrefix(rel, "-") {
		return "./" + rel
	}
	return rel
}

// own finds the run of a request that this server can start something of.
func (s *Server) own(r *http.Request) (found, run.Manifest, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return at, run.Manifest{}, err
	}
	if err := s.canStart(); err != nil {
		return at, run.Manifest{}, err
	}
	if err := steerable(r.Context(), at); err != nil {
		return at, run.Manifest{}, err
	}
	m, _, err := run.ReadManifest(at.dir)
	if err != nil {
		return at, m, run.Unreadable(at.dir, err)
	}
	works, err := run.InUse(at.dir)
	if err == nil && works {
		err = conflict("the run is at work", "wait for its end, or stop it")
	}
	return at, m, err
}

// resume continues a run that was stopped or killed, by the command that began it if the queue knows that.
func (s *Server) resume(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, m, err := s.own(r)
	if err != nil {
		return nil, err
	}
	if m.Status == result.Completed {
		return nil, conflict("the run has ended", "continue it for more epochs, as a new run")
	}
	words := s.findCommand(at.dir)
	switch {
	case words != nil:
	case m.Kind != result.Train:
		return nil, conflict("only the command that began this run resumes it", "give that command again in the terminal")
	default:
		words = []string{"train", s.shownPath(filepath.Join(at.dir, run.ConfigFile)), "--run", s.shownPath(at.dir), "--yes"}
	}
	if _, err := s.checkConfig(r.Context(), s.findConfigFile(words)); err != nil {
		return nil, err
	}
	return s.add(words, at.dir, "Resume "+filepath.Base(at.dir))
}

// findCommand returns the command of the queue that has begun a run with a config that has not changed since; nil: none.
func (s *Server) findCommand(dir string) []string {
	list, err := s.queue.List()
	if err != nil {
		return nil
	}
	for _, e := range slices.Backward(list) {
		text, err := disk.Read(context.Background(), e.Config, maxConfig)
		if e.Run == dir && err == nil && hashText(text) == e.SHA256 {
			return e.Words
		}
	}
	return nil
}

// continueRun trains on from a finished run, as a new one.
func (s *Server) continueRun(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b ContinueRequest
	if err := body(r, &b); err != nil {
		return nil, err
	}
	if n, err := strconv.Atoi(strings.TrimPrefix(b.Epochs, "+")); err != nil || n < 1 {
		return nil, wrong("epochs: found %s, allowed are +N and N, with N from 1 up", quoteText(b.Epochs))
	}
	at, m, err := s.own(r)
	switch {
	case err != nil:
		return nil, err
	case m.Kind != result.Train || m.Status != result.Completed:
		return nil, conflict("only a training that has ended continues as a new one", "resume it first")
	}
	file := filepath.Join(at.dir, run.ConfigFile)
	if _, err := s.checkConfig(r.Context(), file); err != nil {
		return nil, err
	}
	return s.beginRun(runBase(at.dir), "Continue "+filepath.Base(at.dir), "train", s.shownPath(file), "--continue", s.shownPath(at.dir), "--epochs", b.Epochs)
}

// runBase returns the name of a run without its number.
func runBase(dir string) string {
	base := filepath.Base(dir)
	if at := strings.LastIndexByte(base, '-'); at > 0 {
		if _, err := strconv.Atoi(base[at+1:]); err == nil {
			return base[:at]
		}
	}
	return base
}

// fork makes a folder with the configuration of a run and the skill of one of its steps, to be changed and started.
func (s *Server) fork(_ http.ResponseWriter, r *http.Request) (any, error) {
	var b ForkRequest
	if err := body(r, &b); err != nil {
		return nil, err
	}
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	if err := s.canStart(); err != nil {
		return nil, err
	}
	doc, err := s.checkConfig(r.Context(), filepath.Join(at.dir, run.ConfigFile))
	if err != nil {
		return nil, err
	}
	whole, err := wholeSkill(at.dir, at.id, strconv.Itoa(b.Step))
	if err != nil {
		return nil, err
	}
	set := changedValues(doc)
	delete(set, "run.dir")
	delete(set, "run.name")
	set["skill"] = skill.Main
	if doc, err = s.options.Editor.Edit(r.Context(), filepath.Dir(doc.Path), "", set); err != nil {
		return nil, err
	}
	name, err := s.newConfig(runBase(at.dir)+"-step-"+strconv.Itoa(b.Step), []byte(doc.Text), whole)
	return Forked{Config: name}, err
}

// changedValues returns the keys of a config with other values than the default; nothing is none.
func changedValues(doc result.ConfigFile) map[string]any {
	out := map[string]any{}
	for key, v := range doc.Values {
		text, err := json.Marshal(v)
		if err == nil && !slices.Contains([]string{"null", `""`, "[]", "{}", string(doc.Defaults[key])}, string(text)) {
			out[key] = v
		}
	}
	return out
}

// newConfig writes a config and its skill into a new folder, of this name or with a number behind it.
func (s *Server) newConfig(name string, text []byte, whole skill.Skill) (string, error) {
	dir := filepath.Join(s.options.Configs, name)
	err := os.Mkdir(dir, 0o755)
	for i := 2; errors.Is(err, fs.ErrExist); i++ {
		dir = filepath.Join(s.options.Configs, name+"-"+strconv.Itoa(i))
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		err = run.ExportFolder(dir, whole)
	}
	if err == nil {
		err = disk.WriteFile(filepath.Join(dir, configName), text, 0o644)
	}
	return filepath.Base(dir), err
}
