package server

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/server/openapi"
	"github.com/seed-f4525e22/skillopt/result"
)

// About is what the server says of itself.
type About struct {
	Version  result.Build    `json:"version"`
	ReadOnly bool            `json:"read_only"` // nothing can be changed
	Folders  []result.Folder `json:"folders"`
	Now      time.Time       `json:"now"` // of the server's clock
	Limits   Limits          `json:"limits"`
}

// Limits are those of the API.
type Limits struct {
	BodyBytes int `json:"body_bytes"` // of a request
	Streams   int `json:"streams"`    // that are open at once
	Calls     int `json:"calls"`      // of a page of them
}

// Run is what `skillopt runs show --json` prints, and the run's row of the list.
type Run struct {
	record.View
	Row result.RunRow `json:"row"`
}

// Token is what a page trades for a session.
type Token struct {
	Token string `json:"token"`
}

func (s *Server) routes() []route {
	session := change(http.MethodPost, "/session", "Trade the token for a session: a cookie", Token{}, nil, s.session)
	session.open, session.changes = true, false
	events := get("/runs/{run}/events", "Follow a run: its events and how far it is, as server-sent events", nil, s.follow, number("after", "begin behind the event with this number; -N: with the last N of them"))
	events.stream, events.Kind = true, "text/event-stream"
	return []route{
		session,
		get("/server", "What the server is, and what it shows", About{}, s.about),
		get("/runs", "All runs", result.Listing{}, s.runs, text("folder", "of this folder alone, by its name")),
		get("/runs/{run}", "What the files of a run say", Run{}, s.run),
		get("/runs/{run}/progress", "How far a run is", record.Progress{}, s.progress),
		events,
		get("/runs/{run}/blame", "Who wrote each line of the skill, and on what grounds", record.Blame{}, s.blame, version),
		get("/runs/{run}/tasks/{id}", "What was answered to a task. A look at an answer to a test task is noted", ask.TaskAnswer{}, s.task,
			text("step", "of this step, or of the best skill (best)"), text("arm", "whose answers: current, candidate, seed, best or final"), number("sample", "of several passes this one, from 0"), flag("prompt", "with what the model was sent")),
		get("/runs/{run}/failures", "The tasks that fail. A look at those of the test split is noted", ask.Failures{}, s.failures,
			text("step", "whose candidate is looked at, or best, which it is by default"), text("type", "tasks of this type alone"), flag("lost", "those alone that the seed skill had solved"), flag("test", "those of the test split")),
	}
}

var version = text("version", "a step, 0 for the seed skill, or best, which it is by default")

func text(name, what string) openapi.Parameter {
	return openapi.Parameter{Name: name, Kind: "string", Text: what}
}

func number(name, what string) openapi.Parameter {
	return openapi.Parameter{Name: name, Kind: "integer", Text: what}
}

func flag(name, what string) openapi.Parameter {
	return openapi.Parameter{Name: name, Kind: "boolean", Text: what}
}

func (s *Server) session(w http.ResponseWriter, r *http.Request) (any, error) {
	var t Token
	if err := body(r, &t); err != nil {
		return nil, err
	}
	return nil, s.door.Enter(w, r, t.Token)
}

func (s *Server) about(http.ResponseWriter, *http.Request) (any, error) {
	out := About{Version: s.build, ReadOnly: s.readOnly, Folders: []result.Folder{}, Now: s.now().UTC(), Limits: Limits{BodyBytes: 64 << 10, Streams: mostStreams, Calls: mostCalls}}
	for _, f := range s.folders {
		out.Folders = append(out.Folders, f.listed())
	}
	return out, nil
}

func (s *Server) runs(_ http.ResponseWriter, r *http.Request) (any, error) {
	out := result.Listing{Folders: []result.Folder{}, Runs: []result.RunRow{}}
	only := r.URL.Query().Get("folder")
	for _, f := range s.folders {
		if only != "" && only != f.name {
			continue
		}
		at := f.listed()
		rows, err := s.rows(r.Context(), f)
		if err != nil && at.Error == "" {
			at.Error = err.Error()
		}
		out.Folders, out.Runs = append(out.Folders, at), append(out.Runs, rows...)
	}
	if only != "" && len(out.Folders) == 0 {
		return nil, missing("there is no folder " + quoted(only))
	}
	sortRows(out.Runs)
	return out, nil
}

func (s *Server) run(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	v, err := record.ReadView(at.dir, at.id)
	if err != nil {
		return nil, err
	}
	return Run{View: v, Row: s.row(r.Context(), at)}, nil
}

func (s *Server) progress(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	return lookOnce(r.Context(), at.dir, s.now)
}

// lookOnce reads a record to its end.
func lookOnce(ctx context.Context, dir string, now func() time.Time) (record.Progress, error) {
	w := record.Watch(dir, now)
	for {
		p, err := w.Look(ctx)
		if err != nil || p.Unread == 0 {
			return p, err
		}
	}
}

func (s *Server) blame(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	return ask.Blame(at.dir, at.id, or(r.URL.Query().Get("version"), "best"))
}

func (s *Server) task(w http.ResponseWriter, r *http.Request) (any, error) {
	at, from, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	q := query{r.URL.Query(), nil}
	a, err := ask.Task(r.Context(), from, at.dir, at.id, r.PathValue("id"), ask.TaskQuestion{Step: q.Get("step"), Arm: q.Get("arm"), Sample: q.number("sample", -1), Prompt: q.flag("prompt")})
	if q.err != nil {
		return nil, q.err
	}
	if err == nil && a.OfTest {
		s.noteLook(w, r, at, from, "serve: task")
	}
	return a, err
}

func (s *Server) failures(w http.ResponseWriter, r *http.Request) (any, error) {
	at, from, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	q := query{r.URL.Query(), nil}
	a, err := ask.Failing(from, at.dir, at.id, ask.FailuresQuestion{Step: or(q.Get("step"), "best"), Type: q.Get("type"), Lost: q.flag("lost"), Test: q.flag("test")})
	if q.err != nil {
		return nil, q.err
	}
	if err == nil && a.OfTest {
		s.noteLook(w, r, at, from, "serve: failures")
	}
	return a, err
}

// open finds the run that a request is about, and opens it.
func (s *Server) open(r *http.Request) (found, *record.Run, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return at, nil, err
	}
	from, err := ask.Open(r.Context(), at.dir, at.id)
	return at, from, err
}

// noteLook notes that answers to test tasks are looked at. A ledger that cannot be used is no
// reason to show nothing: then a header says it.
func (s *Server) noteLook(w http.ResponseWriter, r *http.Request, at found, from *record.Run, command string) {
	if err := ask.NoteLook(r.Context(), at.dir, from, command, s.now()); err != nil {
		w.Header().Set("Skillopt-Warning", "the look at answers to test tasks could not be noted")
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
