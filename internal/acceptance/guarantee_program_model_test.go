package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// programRun is an evaluation of an environment in Python that asks its model.
type programRun struct {
	mode     string
	provider string // "" is openai
	tasks    int    // 0: four
	change   func(*config.Config)
	dir      string // "" is another one
	flag     string
	origins  map[string]string // of keys that somebody chose
}

// realKey is the key of the provider, which no program may see.
const realKey = "sk-real-provider-key-1234567890"

func (a programRun) config(t testing.TB, url string) (config.Config, []skillopt.Option) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	cfg := worldConfig(url + "/v1")
	program, err := filepath.Abs("testdata/envmodel/asks.py")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Env.Command, cfg.Env.Timeout = []string{"python3", program}, config.Duration(time.Minute)
	cfg.Extras = map[string]any{"mode": a.mode, "flag": a.flag}
	cfg.Tasks.Extract = "all"
	cfg.Tasks.Checks = []any{map[string]any{"type": "contains", "value": "answer>"}}
	cfg.Models.Target.MaxTokens, cfg.Models.Optimizer = 100, config.Default().Models.Optimizer
	key := "REAL_KEY"
	cfg.Models.Target.APIKeyEnv = &key
	if a.provider != "" {
		cfg.Models.Target.Provider = a.provider
	}
	if a.provider == "anthropic" {
		cfg.Models.Target.BaseURL = url
	}
	if a.change != nil {
		a.change(&cfg)
	}
	l, err := config.Load(config.Options{Dir: t.TempDir(), Lookup: func(name string) (string, bool) {
		if name == key {
			return realKey, true
		}
		return os.Getenv(name), name == "PATH"
	}})
	if err != nil {
		t.Fatal(err)
	}
	l.Config = cfg
	if a.origins != nil {
		l.Origins = a.origins
	}
	n := a.tasks
	if n == 0 {
		n = 4
	}
	var tasks []task.Task
	for i := range n {
		tasks = append(tasks, task.Task{ID: fmt.Sprintf("t%02d", i), Prompt: fmt.Sprintf("question %d", i), Gold: []string{"<answer>x"}, Split: task.Test})
	}
	return cfg, []skillopt.Option{skillopt.WithLoaded(l), skillopt.WithTasks(tasks)}
}

// ask evaluates against a server, and returns outcomes and where they are.
func (a programRun) ask(t testing.TB, url string) (*result.Evaluation, map[string]trajectory.Outcome, string, error) {
	t.Helper()
	cfg, opts := a.config(t, url)
	if a.dir == "" {
		a.dir = filepath.Join(t.TempDir(), "run")
	}
	e, err := skillopt.Evaluate(t.Context(), cfg, "test", append(opts, skillopt.WithRunDir(a.dir))...)
	tt, ok := t.(*testing.T)
	if !ok {
		return e, nil, a.dir, err
	}
	return e, outcomesIn(tt, a.dir), a.dir, err
}

// Whatever protocol a program speaks and whichever its model's server does, in streams
// or not, the ledger holds each call with the very tokens that the server counted, and
// the conversation is the trajectory.
func TestALedgerOfAProgramIsThatOfTheServer(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"openai", "anthropic"} {
		for _, mode := range []string{"chat", "chat-stream", "messages", "messages-stream", "variables"} {
			t.Run(provider+"/"+mode, func(t *testing.T) {
				t.Parallel()
				s := &cashier{}
				e, out, dir, err := programRun{mode: mode, provider: provider}.ask(t, s.serve(t))
				if err != nil {
					t.Fatal(err)
				}
				if s.seen().requests != 8 || e.Calls.Total != 8 || e.Tokens.Input != s.seen().input || e.Tokens.Output != s.seen().output || e.Unknown != nil {
					t.Errorf("the server counted %d requests, %d and %d tokens, the ledger has %+v, %+v (unknown: %+v)", s.seen().requests, s.seen().input, s.seen().output, e.Calls, e.Tokens, e.Unknown)
				}
				if kinds := recordedKinds(t, dir); kinds[journal.Inner] != 8 || kinds[journal.Episode] != 4 || kinds[journal.Fault] != 0 {
					t.Errorf("recorded: %v", kinds)
				}
				if len(s.models) != 1 || s.models["world"] != 8 || len(s.keys) != 1 {
					t.Errorf("asked for the models %v with the keys %v", s.models, s.keys)
				}
				var used trajectory.Usage
				for _, o := range out {
					used = used.Add(o.Usage)
					if len(o.Trajectory) != 4 || o.Trajectory[2].Content != "Are you sure?" || o.Hard != 1 || o.Served == "" {
						t.Errorf("outcome %+v", o)
					}
				}
				if used.Input != s.seen().input || used.Output != s.seen().output {
					t.Errorf("the outcomes say %+v", used)
				}
			})
		}
	}
}

// A program that asks nothing costs nothing. Without a target, or with env.gateway false,
// it is told of no model.
func TestAProgramThatAsksNothingIsAsBefore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*config.Config)
		told   string
	}{
		"a target":   {nil, `[["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "SKILLOPT_API_KEY"], true]`},
		"no target":  {func(c *config.Config) { c.Models.Target = config.Default().Models.Target }, `[[], false]`},
		"no gateway": {func(c *config.Config) { c.Env.Gateway = false }, `[[], false]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &cashier{}
			e, out, _, err := programRun{mode: "silent", tasks: 2, change: tt.change}.ask(t, s.serve(t))
			if err != nil {
				t.Fatal(err)
			}
			if s.seen().requests != 0 || e.Tokens != (result.Tokens{}) || out["t00"].Feedback != tt.told {
				t.Errorf("%d requests, %+v, told %s", s.seen().requests, e.Tokens, out["t00"].Feedback)
			}
		})
	}
}

// A program gets neither the key of the provider nor its address, and what it repeats of
// the keys that it gets is nowhere in the run.
func TestAProgramNeverSeesTheProvidersKey(t *testing.T) {
	t.Parallel()
	s := &cashier{}
	url := s.serve(t)
	_, out, dir, err := programRun{mode: "tells"}.ask(t, url)
	if err != nil {
		t.Fatal(err)
	}
	if s.keys["Bearer "+realKey] != 4 {
		t.Errorf("the server was asked with %v", s.keys)
	}
	for _, o := range out {
		if !strings.Contains(o.Feedback, "OPENAI_BASE_URL") || strings.Contains(o.Feedback, url) {
			t.Errorf("the program was told %s", o.Feedback)
		}
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, secret := range []string{realKey, "sk-skillopt-"} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%s holds %s", path, secret)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Keys of tasks that are done are refused, calls count for the task whose key they have,
// and a model by another name is that of the config.
func TestKeysOfAProgramAreThoseOfItsTask(t *testing.T) {
	t.Parallel()
	s := &cashier{}
	e, out, _, err := programRun{mode: "late", change: func(c *config.Config) { c.Limits.Concurrency = 1 }}.ask(t, s.serve(t))
	if err != nil {
		t.Fatal(err)
	}
	late := 0
	for _, o := range out {
		late += strings.Count(o.Feedback, "401")
		if strings.Contains(o.Feedback, "200") || o.Hard != 1 {
			t.Errorf("%s: %s", o.ID, o.Feedback)
		}
	}
	if late != 0+1+2+3 || s.seen().requests != 4 || e.Calls.Total != 4 {
		t.Errorf("%d late calls were refused, the server had %d requests, the ledger has %d", late, s.seen().requests, e.Calls.Total)
	}
	other := &cashier{}
	if _, _, _, err := (programRun{mode: "model"}).ask(t, other.serve(t)); err != nil || len(other.models) != 1 || other.models["world"] != 4 {
		t.Errorf("asked for %v, %v", other.models, err)
	}
}

// What keeps an answer of its model from a program measures nothing, whatever the program
// makes of it: a wrong key, a wrong address, a request that is none, a server that fails.
func TestNoAnswerOfItsModelIsNoScoreOfAProgram(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		programRun
		status int // of the server
		says   string
	}{
		"a wrong key":        {programRun{mode: "wrong-key"}, 0, "refused a key that it has given to no one"},
		"a wrong address":    {programRun{mode: "wrong-path"}, 0, "asked the gateway for what it does not serve: POST /v1/v2/chat/completions"},
		"no request":         {programRun{mode: "malformed"}, 0, "the gateway refused a request of the wire chat: messages"},
		"a server that ends": {programRun{mode: "swallows"}, 500, "500"},
		"it crashes at that": {programRun{mode: "crashes", tasks: 24}, 500, "500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.change = func(c *config.Config) { c.Limits.Patience = config.Duration(300 * time.Millisecond) }
			_, out, _, err := tt.ask(t, (&cashier{status: tt.status}).serve(t))
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "broke off") {
				t.Errorf("error %v, want %q", err, tt.says)
			}
			for _, o := range out {
				if o.Status == score.OK {
					t.Errorf("scored: %+v", o)
				}
			}
		})
	}
}

// A prompt that is too long is a limit of the task also for a program that crashes at it.
func TestALimitOfTheTaskIsAScoreOfAProgram(t *testing.T) {
	t.Parallel()
	s := &cashier{refuses: "question 1"}
	_, out, _, err := programRun{mode: "crashes"}.ask(t, s.serve(t))
	if err != nil {
		t.Fatal(err)
	}
	if o := out["t01"]; o.Status != score.AgentError || !strings.HasPrefix(o.FailReason, "context_length") || out["t02"].Hard != 1 {
		t.Errorf("%+v", out)
	}
}

// One request in five fails and is made again, unseen by the program; a server without
// usage leaves the most that calls can have taken, told as an estimate.
func TestServersOfProgramsMayFail(t *testing.T) {
	t.Parallel()
	s := &cashier{every: 5}
	e, out, _, err := programRun{mode: "chat", tasks: 12}.ask(t, s.serve(t))
	if err != nil || e.Splits["test"].Hard != 1 || len(out) != 12 {
		t.Fatalf("%+v, %v", e, err)
	}
	if e.Calls.Total != 24 || s.seen().answered != 24 || e.Tokens.Input != s.seen().input || e.Tokens.Output != s.seen().output || e.Calls.Faults["server"] != int64(s.seen().requests-24) {
		t.Errorf("the server answered %d of %d, %d + %d tokens; the ledger has %+v, %+v", s.seen().answered, s.seen().requests, s.seen().input, s.seen().output, e.Calls, e.Tokens)
	}
	for _, mode := range []string{"chat", "chat-stream"} {
		quiet := &cashier{mute: true}
		if e, _, _, err = (programRun{mode: mode}).ask(t, quiet.serve(t)); err != nil {
			t.Fatal(err)
		}
		if e.Unknown == nil || e.Unknown.Calls != 8 || e.Calls.Total != 8 || e.Unknown.Tokens < quiet.input+quiet.output {
			t.Errorf("%s: unknown usage %+v of %+v", mode, e.Unknown, e.Calls)
		}
	}
}

// Ceilings hold inside of episodes, and a larger one goes on without paying for a
// finished episode again.
func TestCeilingsHoldInsideOfPrograms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		set   func(*config.Config)
		holds func(s *cashier) bool
	}{
		"limits.calls":  {func(c *config.Config) { n := int64(9); c.Limits.Calls = &n }, func(s *cashier) bool { return s.seen().requests <= 9 }},
		"limits.tokens": {func(c *config.Config) { n := int64(2000); c.Limits.Tokens = &n }, func(s *cashier) bool { return s.seen().input+s.seen().output <= 2000 }},
		"limits.usd": {func(c *config.Config) { n := 0.02; c.Limits.USD = &n }, func(s *cashier) bool {
			return float64(10*s.seen().input+40*s.seen().output)/1e6 <= 0.02
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &cashier{}
			url := s.serve(t)
			a := programRun{mode: "chat", tasks: 12, dir: filepath.Join(t.TempDir(), "run"), change: func(c *config.Config) {
				c.Prices = map[string]config.Price{"world": {Input: 10, Output: 40}}
				c.Limits.Concurrency = 3
				tt.set(c)
			}}
			_, _, _, err := a.ask(t, url)
			var over *caller.BudgetError
			if !errors.As(err, &over) || over.Limit != name {
				t.Fatalf("%v, want the ceiling", err)
			}
			if s.seen().requests == 0 || !tt.holds(s) {
				t.Errorf("%d requests and %d + %d tokens", s.seen().requests, s.seen().input, s.seen().output)
			}
			finished := recordedKinds(t, a.dir)[journal.Episode]
			before := s.seen().first
			a.change = func(c *config.Config) {
				c.Prices = map[string]config.Price{"world": {Input: 10, Output: 40}}
				c.Limits.Concurrency = 3
			}
			e, _, _, err := a.ask(t, url)
			if err != nil || e.Splits["test"].Hard != 1 {
				t.Fatalf("%+v, %v", e, err)
			}
			if again := s.seen().first - before; again != 12-finished {
				t.Errorf("%d episodes were begun after the ceiling, %d of 12 were finished", again, finished)
			}
			if e.Tokens.Input != s.seen().input || e.Tokens.Output != s.seen().output || e.CostUSD == nil {
				t.Errorf("the server counted %d + %d, the ledger has %+v, $%v", s.seen().input, s.seen().output, e.Tokens, e.CostUSD)
			}
		})
	}
}

// A flood of calls is answered within limits.concurrency, and a ceiling holds in it.
func TestAFloodOfAProgramIsBounded(t *testing.T) {
	t.Parallel()
	s := &cashier{}
	e, out, _, err := programRun{mode: "flood", tasks: 2, change: func(c *config.Config) { c.Limits.Concurrency = 5 }}.ask(t, s.serve(t))
	if err != nil {
		t.Fatal(err)
	}
	if out["t00"].Hard != 1 || s.seen().requests != 120 || s.seen().peak > 5 || e.Tokens.Input != s.seen().input {
		t.Errorf("%+v; %d requests, at most %d at a time", out["t00"], s.seen().requests, s.seen().peak)
	}
	if n := len(out["t00"].Trajectory); n != 0 {
		t.Errorf("calls beside each other made a trajectory of %d turns", n)
	}
	limited := &cashier{}
	calls := int64(50)
	_, _, _, err = programRun{mode: "flood", tasks: 2, change: func(c *config.Config) { c.Limits.Calls = &calls }}.ask(t, limited.serve(t))
	var over *caller.BudgetError
	if !errors.As(err, &over) || limited.requests != 50 {
		t.Errorf("%d requests, %v", limited.requests, err)
	}
}

// A program that dies in the middle of a call, or answers while one is under way, costs
// what was asked and nothing else: its call is ended, the tasks beside it are measured.
func TestCallsEndWithTheirTask(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"dies", "leaves"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			flag := filepath.Join(t.TempDir(), "flag")
			var once sync.Once
			s := &cashier{}
			s.on = func(ctx context.Context, last string) {
				if strings.Contains(last, "SLOW") {
					once.Do(func() { write(t, flag, "") })
					<-ctx.Done() // until it is given up
				}
			}
			e, out, dir, err := programRun{mode: mode, flag: flag}.ask(t, s.serve(t))
			if err != nil {
				t.Fatal(err)
			}
			want := 4
			if mode == "dies" {
				want = 3
				if e.Calls.Faults["environment_died"] == 0 || len(e.Splits["test"].Unmeasured) != 1 {
					t.Errorf("%+v, %+v", e.Calls, e.Splits)
				}
			}
			if n := recordedKinds(t, dir)[journal.Episode]; n != want || out["t02"].Hard != 1 || e.Calls.Faults["cancelled"] == 0 {
				t.Errorf("%d episodes, %+v, %+v", n, out, e.Calls)
			}
		})
	}
}
