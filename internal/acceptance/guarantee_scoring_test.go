package acceptance_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// scoring is a way to score a set of tasks whose target knows the right answers and
// writes them between tags, below a sentence.
type scoring struct {
	extract   any
	checks    []any
	threshold float64
	change    func(t *task.Task) // of each task
	say       func(n string) string
	env       task.Env
	told      string // in what lint, a run before its first step, or its warning says
}

type rule map[string]any

func rightAnswer(n string) string {
	return "It was counted.\n<answer>" + n + " pieces</answer>"
}

// waysToBeWrong were written down before what finds them.
func waysToBeWrong() map[string]scoring {
	equals := rule{"type": "equals", "value": "$gold"}
	of := func(c ...any) []any { return c }
	return map[string]scoring{
		"a reference is misspelt":                 {checks: of(rule{"type": "equals", "value": "$golden"}), told: `"$golden" is compared as it is`},
		"a reference of another tool":             {checks: of(rule{"type": "equals", "value": "{{expected}}"}), told: `"{{expected}}" is compared as it is`},
		"a reference within a list":               {checks: of(rule{"type": "one-of", "values": []any{"$gold", "none"}}), told: `checks[0].values: "$gold"`},
		"the tag has another name":                {extract: "tag:result", told: "tasks.extract finds no answer"},
		"the pattern expects another form":        {extract: "regex:Answer: (.*)", told: "tasks.extract finds no answer"},
		"JSON is expected where none is":          {extract: "json_path:answer", told: "tasks.extract finds no answer"},
		"all of the reply is compared":            {extract: "all", told: "hold an accepted answer word for word and score 0"},
		"the first line is the answer":            {extract: "regex:^(.*)$", say: func(n string) string { return n + " pieces\nThat is all." }, told: "hold an accepted answer word for word and score 0"},
		"what is long enough for an essay":        {checks: of(equals, rule{"type": "word-count", "min": 50}), told: "does not pass word-count"},
		"what is too short for gold":              {checks: of(equals, rule{"type": "char-count", "max": 5}), told: "does not pass char-count"},
		"the check is turned round":               {checks: of(rule{"type": "not-contains", "value": "$gold"}, rule{"type": "char-count", "min": 1}), told: "does not pass not-contains"},
		"an empty answer passes":                  {checks: of(rule{"type": "not-equals", "value": "x"}), told: "an empty answer passes"},
		"a number is wanted of words":             {checks: of(rule{"type": "number", "value": "$gold"}), change: func(t *task.Task) { t.Gold = []string{"many"} }, told: "gold does not suit check number"},
		"a schema is wanted of a word":            {checks: of(equals, rule{"type": "is-json"}), told: "does not pass is-json"},
		"a pattern looks for what extract strips": {checks: of(equals, rule{"type": "regex", "value": "^<answer>"}), told: "does not pass regex"},
		"labels that gold is not among":           {checks: of(rule{"type": "one-of", "values": []any{"few", "many"}}), told: "does not pass one-of"},
		"a threshold that gold does not reach":    {checks: of(equals, rule{"type": "word-count", "min": 5, "required": false}), threshold: 0.9, told: "0.9 is needed"},
		"gold of several lines, one is taken":     {extract: "last_line", change: func(t *task.Task) { t.Gold = []string{"a\n" + t.Gold[0]} }, told: "tasks.extract would take"},
		"gold is empty":                           {change: func(t *task.Task) { t.Gold = []string{""} }, told: "gold holds an empty answer"},
		"gold is the id":                          {change: func(t *task.Task) { t.Gold = []string{t.ID} }, told: "scores 0"},
		"gold has a remark":                       {change: func(t *task.Task) { t.Gold[0] += " (counted twice)" }, told: "scores 0"},
		"every answer contains it":                {checks: of(rule{"type": "contains", "value": "e"}), told: "each of 16 replies scores 1"},
		"an environment that looks at nothing":    {env: constEnv{0.5}, told: "it does not look at the answers"},
		"an environment that is always content":   {env: constEnv{1}, told: "each of 16 replies scores 1"},
	}
}

// soundFromNothing are set-ups in which the seed skill scores 0 and training may go on.
func soundFromNothing() map[string]scoring {
	return map[string]scoring{
		"the unit has to be learned":     {say: func(n string) string { return "<answer>" + n + "</answer>" }},
		"a wrong number":                 {say: func(n string) string { return "<answer>9" + n + " pieces</answer>" }},
		"letter case has to be learned":  {say: func(n string) string { return "<answer>" + n + " PIECES</answer>" }},
		"the target does not know":       {say: func(string) string { return "<answer>unknown</answer>" }},
		"an environment that begins low": {env: constEnv{0}},
		"a long text around gold": {
			checks: []any{rule{"type": "contains", "value": "$gold"}, rule{"type": "word-count", "min": 50}},
			say:    func(n string) string { return "<answer>" + n + "</answer>" },
		},
	}
}

// tell trains with a way of scoring and returns all that is said of it before the first
// step, and whether that was an error.
func (w scoring) tell(t *testing.T) (told string, ended bool) {
	t.Helper()
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Split.CrossFit = 0
	cfg.Train.Epochs, cfg.Tasks.Threshold, cfg.Tasks.Extract = 1, w.threshold, w.extract
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "$gold"}}
	if w.extract == nil {
		cfg.Tasks.Extract = "tag:answer"
	}
	if w.checks != nil {
		cfg.Tasks.Checks = nil
		for _, c := range w.checks {
			cfg.Tasks.Checks = append(cfg.Tasks.Checks, map[string]any(c.(rule)))
		}
	}
	tasks := seedTasks()
	for i := range tasks {
		if w.change != nil {
			w.change(&tasks[i])
		}
	}
	say := w.say
	if say == nil {
		say = rightAnswer
	}
	var lines []string
	opts := []skillopt.Option{
		skillopt.WithTasks(tasks), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")),
		skillopt.WithClient(model.Target, "target", answering(func(q string) string { return say(number(q)) })),
		skillopt.WithClient(model.Optimizer, "world", sim.New(simulated(t))),
		skillopt.WithEvents(func(e event.Event) {
			if w, ok := e.(event.Warning); ok {
				lines = append(lines, w.Text)
			}
		}),
	}
	if w.env != nil {
		opts = append(opts, skillopt.WithEnv(fmt.Sprint(w.env), w.env))
	}
	sum, err := skillopt.Train(t.Context(), cfg, opts...)
	if err != nil {
		if kind(err) != skillopt.BadInput || sum != nil && sum.Steps > 0 {
			t.Errorf("%v (%s)", err, kind(err))
		}
		lines = append(lines, err.Error())
	}
	return strings.Join(lines, "\n"), err != nil
}

// Scoring that cannot be what was meant is named before the first step, with what to
// change; what may begin at 0 trains.
func TestWaysToGetScoringWrong(t *testing.T) {
	t.Parallel()
	for name, w := range waysToBeWrong() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if told, _ := w.tell(t); !strings.Contains(told, w.told) {
				t.Errorf("nobody says %q: %s", w.told, told)
			}
		})
	}
	for name, w := range soundFromNothing() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if told, ended := w.tell(t); ended {
				t.Errorf("it does not train: %s", told)
			}
		})
	}
}
