package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// Bounds of what is sent for a new config, in bytes.
const (
	maxTasks = 20 << 20
	maxSkill = 1 << 20
	maxForm  = maxTasks + 2*maxSkill // files, and what is around them
	inMemory = 1 << 20               // of a form; the rest is in a temporary file
)

// newName is the name of a folder that a page may make.
var newName = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// wanted is a config that a page asks for.
type wanted struct {
	name, example     string
	project           string // whose sessions the tasks are found in
	target, optimizer string
	columns           map[string]any
	files             map[string][]byte // in the new folder
	tasks             string            // the name of the file of tasks
}

// create writes a new folder with a config, as init does.
func (s *Server) create(w http.ResponseWriter, r *http.Request) (any, error) {
	root, err := s.configs()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // what was written is synced
	want, err := s.readForm(w, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := extend(w, r)
	defer cancel()
	s.writes.Lock()
	err = root.Mkdir(want.name, 0o755)
	s.writes.Unlock()
	if errors.Is(err, fs.ErrExist) {
		return nil, conflict("there is a folder "+want.name+" already", "choose another name: nothing is overwritten")
	}
	if err != nil {
		return nil, err
	}
	doc, err := s.fill(r.WithContext(ctx), root, want)
	if err == nil {
		return doc, nil
	}
	if _, there := root.Stat(path.Join(want.name, want.tasks)); want.project != "" && there == nil { // these sessions are mined once
		return nil, fmt.Errorf("the tasks that were found are in %s: %w", path.Join(want.name, want.tasks), err)
	}
	return nil, errors.Join(err, root.RemoveAll(want.name))
}

// mine reads what is new in sessions and writes the tasks that are found in those of a project into the new folder, as sleep
// harvest and sleep mine do.
func (s *Server) mine(r *http.Request, want wanted) error {
	if want.project == "" {
		return nil
	}
	var found []struct {
		Sessions int `json:"sessions"`
		Written  int `json:"written"`
	}
	if err := s.sleep(r, &struct{}{}, "harvest"); err != nil {
		return err
	}
	file := filepath.Join(s.options.Configs, want.name, want.tasks)
	if err := s.sleep(r, &found, "mine", "--project="+want.project, "--out="+file); err != nil {
		return err
	}
	if len(found) == 1 && found[0].Written > 0 {
		return nil
	}
	sessions := 0
	for _, f := range found {
		sessions += f.Sessions
	}
	return conflict(fmt.Sprintf("no task was found: %s of %s had not been mined yet", wording.Plural(sessions, "session", "sessions"), quoteText(want.project)), "tasks come from what you correct in sessions; skillopt sleep status shows what was read")
}

// fill writes what belongs into a new folder.
func (s *Server) fill(r *http.Request, root *os.Root, want wanted) (result.ConfigFile, error) {
	if err := s.mine(r, want); err != nil {
		return result.ConfigFile{}, err
	}
	for name, data := range want.files {
		if err := disk.WriteIn(root, path.Join(want.name, name), data, 0o644); err != nil {
			return result.ConfigFile{}, err
		}
	}
	if _, err := s.options.Program.Do(r.Context(), want.words()...); err != nil {
		return result.ConfigFile{}, err
	}
	at := configAt{id: want.name, dir: want.name}
	doc, err := s.readConfig(r.Context(), root, at)
	if err != nil || len(want.columns) == 0 {
		return doc, err
	}
	was := doc
	doc, err = s.editConfig(r.Context(), at, doc.Text, map[string]any{"tasks.columns": want.columns})
	if err = cmp.Or(err, checkSave(was, doc)); err != nil {
		return doc, err
	}
	return doc, disk.WriteIn(root, at.path(), []byte(doc.Text), 0o644)
}

// words returns the command line that writes the config.
func (w wanted) words() []string {
	switch w.example {
	case "quickstart":
		return []string{"init", "--no-try", "--", w.name}
	case "world":
		return []string{"init", "--world=default", "--", w.name}
	case "":
	default:
		return []string{"bench", "prepare", "--fixture", "--plain", "--out=" + w.name, "--", w.example}
	}
	words := []string{"init", "--no-try", "--tasks=" + path.Join(w.name, w.tasks), "--target=" + w.target}
	if w.optimizer != "" {
		words = append(words, "--optimizer="+w.optimizer)
	}
	if _, own := w.files["SKILL.md"]; own {
		words = append(words, "--skill="+w.name)
	}
	return append(words, "--", w.name)
}

// readForm reads what a page asks for.
func (s *Server) readForm(w http.ResponseWriter, r *http.Request) (wanted, error) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(answerTime)) // a writer without deadlines has none to set
	err := r.ParseMultipartForm(inMemory)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return wanted{}, tooBig("what is sent", maxTasks)
	case err != nil:
		return wanted{}, wrong("the body has to be a form with files, with Content-Type: multipart/form-data")
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }() // temporary files
	f := r.MultipartForm
	want := wanted{files: map[string][]byte{}}
	for key, into := range map[string]*string{"name": &want.name, "example": &want.example, "project": &want.project, "target": &want.target, "optimizer": &want.optimizer} {
		*into = r.PostFormValue(key)
	}
	if !newName.MatchString(want.name) || want.name == "runs" {
		return want, wrong("name %s: allowed are letters, digits, - and _, at most 64, and not runs", quoteText(want.name))
	}
	if text := r.PostFormValue("columns"); text != "" {
		if err := json.Unmarshal([]byte(text), &want.columns); err != nil {
			return want, wrong("columns: want the column of each field, such as {\"prompt\": \"Question\", \"gold\": \"Answer\"}")
		}
	}
	if want.example != "" {
		if !slices.ContainsFunc(s.examples(), func(e Example) bool { return e.Name == want.example }) {
			return want, wrong("there is no example %s", quoteText(want.example))
		}
		return want, nil
	}
	if err := s.checkModels(want); err != nil {
		return want, err
	}
	if want.project != "" {
		want.tasks = "tasks.jsonl"
	} else if err := readTasks(f, &want); err != nil {
		return want, err
	}
	if len(f.File["skill"]) > 0 {
		want.files["SKILL.md"], _, err = formFile(f, "skill", maxSkill)
	}
	return want, err
}

// checkModels refuses models that a page may not name.
func (s *Server) checkModels(want wanted) error {
	for _, name := range []string{want.target, want.optimizer} {
		known := slices.ContainsFunc(s.models, func(m ServedModel) bool { return m.Name == name })
		if name != "" && !known && !strings.HasPrefix(name, "sim/") {
			return &door.Refusal{Status: http.StatusForbidden, Kind: door.Forbidden, Message: "the model " + quoteText(name) + " is not one that a page may name", Help: "start skillopt serve with --model " + name}
		}
	}
	if want.target == "" {
		return wrong("target: name the model that carries out the tasks, as PROVIDER/MODEL")
	}
	return nil
}

// readTasks reads the tasks of a form.
func readTasks(f *multipart.Form, want *wanted) error {
	tasks, name, err := formFile(f, "tasks", maxTasks)
	if err != nil {
		return err
	}
	ext := strings.ToLower(path.Ext(name))
	switch ext {
	case ".csv", ".jsonl":
	case ".xlsx":
		if tasks, err = readSheet(tasks); err != nil {
			return err
		}
		ext = ".csv"
	default:
		return wrong("the tasks are in %s: allowed are .csv, .jsonl and .xlsx", quoteText(name))
	}
	want.tasks = "tasks" + ext
	want.files[want.tasks] = tasks
	return nil
}

// formFile reads a file of a form.
func formFile(f *multipart.Form, key string, limit int64) (data []byte, name string, err error) {
	if len(f.File[key]) != 1 {
		return nil, "", wrong("%s: one file is wanted, and %d are here", key, len(f.File[key]))
	}
	header := f.File[key][0]
	if header.Size > limit {
		return nil, "", tooBig(quoteText(header.Filename), limit)
	}
	file, err := header.Open()
	if err != nil {
		return nil, "", fmt.Errorf("read a file that was sent: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err = io.ReadAll(file)
	return data, header.Filename, err
}

func tooBig(what string, limit int64) error {
	return &door.Refusal{Status: http.StatusRequestEntityTooLarge, Kind: door.TooLarge, Message: what + " is larger than " + disk.Size(limit), Help: "take fewer tasks, or copy the file into the folder yourself and name it in tasks.path"}
}
