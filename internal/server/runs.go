package server

import (
	"net/http"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/result"
)

// About is what the server says of itself.
type About struct {
	Version  result.Build    `json:"version"`
	ReadOnly bool            `json:"read_only"` // nothing can be changed
	Starts   bool            `json:"starts"`    // runs can be begun, resumed and continued
	Sleep    bool            `json:"sleep"`     // tasks of sessions can be reviewed: it has a profile of sleep
	Adopt    bool            `json:"adopt"`     // pages may write into the documents that agents read
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

func (s *Server) session(w http.ResponseWriter, r *http.Request) (any, error) {
	var t Token
	if err := body(r, &t); err != nil {
		return nil, err
	}
	return nil, s.door.Enter(w, r, t.Token)
}

func (s *Server) about(http.ResponseWriter, *http.Request) (any, error) {
	out := About{Version: s.build, ReadOnly: s.readOnly, Starts: !s.readOnly && s.canStart() == nil, Sleep: s.options.Sleep != nil, Adopt: s.options.Adopt, Folders: []result.Folder{}, Now: s.now().UTC(), Limits: Limits{BodyBytes: 64 << 10, Streams: mostStreams, Calls: mostCalls}}
	for _, f := range s.folders {
		out.Folders = append(out.Folders, f.toResult())
	}
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
	return Run{View: v, Row: readRunRow(r.Context(), at)}, nil
}

func (s *Server) progress(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	l := s.lookers.of(at.dir, s.now)
	for {
		p, err := l.Look(r.Context())
		if err != nil || p.Unread == 0 { // a long record is read in parts
			return p, err
		}
	}
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
	a, err := ask.ListFailures(from, at.dir, at.id, ask.FailuresQuestion{Step: or(q.Get("step"), "best"), Type: q.Get("type"), Test: q.flag("test")})
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

// candidates returns the skills that were put to the gate.
func (s *Server) candidates(_ http.ResponseWriter, r *http.Request) (any, error) {
	_, from, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	return asAnswer(from.Candidates())
}

// grid returns the result of all tasks with all skills.
func (s *Server) grid(w http.ResponseWriter, r *http.Request) (any, error) {
	at, from, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	q := query{r.URL.Query(), nil}
	g, ofTest, err := ask.Grid(r.Context(), from, q.flag("test"))
	if q.err != nil {
		return nil, q.err
	}
	if err == nil && ofTest {
		s.noteLook(w, r, at, from, "serve: grid")
	}
	return masked{g}, err
}

// Config is the configuration of a run as it is kept.
type Config struct {
	Text string   `json:"text"` // YAML, without secrets
	Set  []string `json:"set"`  // keys that are not at their defaults
}

func (s *Server) config(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	text, set, err := record.KeptConfig(at.dir)
	if err == nil && text == "" {
		return nil, notFoundError("the run keeps no configuration")
	}
	return Config{Text: redact.Text(text), Set: set}, err
}

// spend returns what was paid for.
func (s *Server) spend(_ http.ResponseWriter, r *http.Request) (any, error) {
	at, from, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // it was only read
	return asAnswer(ask.SumSpending(r.Context(), from, at.dir, r.URL.Query().Get("by")))
}
