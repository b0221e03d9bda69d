package acceptance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// observedServer is a model server that plays the simulated world over HTTP and keeps
// every request it saw.
type observedServer struct {
	*httptest.Server

	client  model.Client
	latency time.Duration
	broken  bool // answers nothing but 500
	expired bool // answers nothing but 401

	mu       sync.Mutex
	requests []sent
	inFlight int
	peak     int
}

// sent is one request as the server saw it.
type sent struct {
	stage, role, run, auth string
	body                   map[string]any
	messages               []model.Message
}

func watch(t *testing.T, client model.Client) *observedServer {
	w := &observedServer{client: client}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	return w
}

// ServeHTTP implements http.Handler.
func (w *observedServer) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s := sent{stage: r.Header.Get("X-Stage"), role: r.Header.Get("X-Role"), run: r.Header.Get("X-Run"), auth: r.Header.Get("Authorization")}
	var q struct {
		Messages []model.Message `json:"messages"`
		Seed     *int64          `json:"seed"`
	}
	if err := errors.Join(json.Unmarshal(data, &s.body), json.Unmarshal(data, &q)); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	s.messages = q.Messages
	w.arrived(s)
	defer w.left()
	if w.latency > 0 {
		timer := time.NewTimer(w.latency)
		defer timer.Stop()
		<-timer.C
	}
	if w.broken {
		http.Error(rw, `{"error":{"message":"broken"}}`, http.StatusInternalServerError)
		return
	}
	if w.expired {
		http.Error(rw, `{"error":{"message":"the token of sk-test-1234567890abcdef has expired"}}`, http.StatusUnauthorized)
		return
	}
	req := model.Request{Messages: q.Messages, Tags: model.Tags{Stage: s.stage, Role: s.role}}
	req.Seed = q.Seed
	resp, err := w.client.Generate(r.Context(), req)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	err = json.NewEncoder(rw).Encode(map[string]any{
		"id": "x", "object": "chat.completion", "created": 1, "model": "world",
		"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": resp.Text}}},
		"usage":   map[string]any{"prompt_tokens": resp.Usage.Input, "completion_tokens": resp.Usage.Output, "total_tokens": resp.Usage.Input + resp.Usage.Output},
	})
	if err != nil {
		return // the client is gone
	}
}

func (w *observedServer) arrived(s sent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, s)
	w.inFlight++
	w.peak = max(w.peak, w.inFlight)
}

// seen returns the requests so far and the most that were in flight. A request
// whose client gave up may still be under way.
func (w *observedServer) seen() ([]sent, int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests), w.peak
}

func (w *observedServer) left() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight--
}

// sight is all that can be seen of a run.
type sight struct {
	sum      *result.Summary
	err      error
	started  event.RunStarted
	requests []sent
	peak     int
	other    int // requests that reached another server
	history  history
}

// history is what effects are seen by in history.json.
type history struct {
	Steps []struct {
		Action     string             `json:"action"`
		Phase      string             `json:"gate_phase"`
		Budget     *int               `json:"edit_budget"`
		Current    *float64           `json:"current_score"`
		Candidate  *float64           `json:"candidate_gate_score"`
		Curriculum map[string]float64 `json:"curriculum"`
	} `json:"steps"`
	Epochs []struct {
		Slow  string         `json:"slow_update"`
		Pairs map[string]int `json:"pairs"`
	} `json:"epochs"`
	ids [][]string // of the tasks that each step rolled out, sorted
}

// scene is how a run is set up.
type scene struct {
	set     []string // settings over those of every scene
	latency time.Duration
	broken  bool
	stops   bool // the run meets a ceiling with and without the key
}

// common are the settings of every scene: a small run in which every stage has
// something to do.
func common(url string) []string {
	m := `={provider: openai, model: m, api_key_env: "", base_url: "` + url + `/v1", headers: {X-Stage: "{{stage}}", X-Role: "{{role}}", X-Run: "{{run}}"}}`
	return []string{
		"skill=testdata/guarantee/SKILL.md", "tasks.path=testdata/guarantee/tasks.jsonl", "tasks.extract=tag:answer",
		"tasks.checks=[{type: equals, value: $gold}]", "models.target" + m, "models.optimizer" + m,
		"train.epochs=2", "train.stop.perfect=false", "train.batch_size=10", "train.seed=3", "reflect.minibatch_size=3", "slow_update.samples=6", "run.name=effect",
	}
}

// album keeps what was seen of scenes: many keys are compared with the same.
type album struct {
	mu     sync.Mutex
	scenes map[string]func() sight
}

func (a *album) look(t *testing.T, sc scene) sight {
	t.Helper()
	a.mu.Lock()
	if a.scenes == nil {
		a.scenes = map[string]func() sight{}
	}
	name := fmt.Sprintf("%+v", sc)
	if a.scenes[name] == nil {
		a.scenes[name] = sync.OnceValue(func() sight { return look(t, sc) })
	}
	once := a.scenes[name]
	a.mu.Unlock()
	return once()
}

// look trains a scene and tells what could be seen.
func look(t *testing.T, sc scene) sight {
	t.Helper()
	client := sim.New(simulated(t))
	server, other := watch(t, client), watch(t, client)
	server.latency, server.broken = sc.latency, sc.broken
	dir := t.TempDir()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	opts := config.Options{Dir: wd, Lookup: func(name string) (string, bool) {
		v, ok := map[string]string{"KEY_ONE": "one", "KEY_TWO": "two", "PATH": os.Getenv("PATH"), "OTHER": other.URL}[name]
		return v, ok
	}}
	for _, text := range append(common(server.URL), sc.set...) {
		s, err := config.ParseSetting(strings.NewReplacer("${DIR}", dir, "${OTHER}", other.URL).Replace(text))
		if err != nil {
			t.Fatal(err)
		}
		opts.Settings = append(opts.Settings, s)
	}
	l, err := config.Load(opts)
	if err != nil {
		return sight{err: err}
	}
	var out sight
	if l.Config.Run.Dir == "runs" {
		l.Config.Run.Dir = filepath.Join(dir, "runs")
	}
	out.sum, out.err = skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithAcceptedSeed(), skillopt.WithEvents(func(e event.Event) {
		if started, ok := e.(event.RunStarted); ok {
			out.started = started
		}
	}))
	out.requests, out.peak = server.seen()
	others, _ := other.seen()
	out.other = len(others)
	if out.sum != nil {
		out.history = readHistory(t, out.sum.RunDir)
	}
	return out
}

func readHistory(t *testing.T, run string) history {
	t.Helper()
	var h history
	data, err := os.ReadFile(filepath.Join(run, "history.json"))
	if err != nil {
		return h // stopped before anything was decided
	}
	if err := json.Unmarshal(data, &h); err != nil {
		t.Fatal(err)
	}
	for n := range len(h.Steps) - 1 {
		var outcomes []struct{ ID string }
		data, err := os.ReadFile(filepath.Join(run, "steps", fmt.Sprintf("step_%04d", n+1), "rollout.json"))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &outcomes); err != nil {
			t.Fatal(err)
		}
		ids := make([]string, len(outcomes))
		for i, o := range outcomes {
			ids[i] = o.ID
		}
		slices.Sort(ids)
		h.ids = append(h.ids, ids)
	}
	return h
}

// stages counts the requests by stage.
func (s sight) stages() map[string]int {
	n := map[string]int{}
	for _, r := range s.requests {
		n[r.stage]++
	}
	return n
}

// field returns the values that a field of the requests of a role had.
func (s sight) field(role, name string) []string {
	values := map[string]bool{}
	for _, r := range s.requests {
		if r.role == role {
			text, err := json.Marshal(r.body[name])
			if err != nil {
				return nil // what was decoded can be encoded
			}
			values[string(text)] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}

// prompts returns the distinct messages of a stage in one chat role.
func (s sight) prompts(stage, chatRole string) []string {
	texts := map[string]bool{}
	for _, r := range s.requests {
		for _, m := range r.messages {
			if r.stage == stage && m.Role == chatRole {
				texts[m.Content] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(texts))
}

// from counts the requests of a role.
func (s sight) from(role string) int {
	n := 0
	for _, r := range s.requests {
		if r.role == role {
			n++
		}
	}
	return n
}

// auth returns the credentials that a role sent.
func (s sight) auth(role string) []string {
	values := map[string]bool{}
	for _, r := range s.requests {
		if r.role == role {
			values[r.auth] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}
