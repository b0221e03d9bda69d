package draft_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

const skillText = `# Desk

## Dates
- Write dates as YYYY-MM-DD.
- The year comes first.

## Money
- Put EUR before amounts.

## People
- Names are written in capitals.
`

// author plays the optimizer: it writes sums with made-up stories, and adds up.
type author struct {
	mu     sync.Mutex
	asked  []draft.Request
	write  func(key string, n int) string        // overrides the nth task of a call, "" = its own
	solve  func(key, own string) (string, error) // overrides an answer
	writes func(key string) error
}

var (
	asksFor = regexp.MustCompile(`(?m)^- (\d+) tasks? on lines (\d+)-(\d+) of (\S+)`)
	sum     = regexp.MustCompile(`(\d+) and (\d+)`)
)

var templates = []string{
	"%d and %d crates of figs arrived at the quay before the storm; tell the clerk how many there were.",
	"Auntie knits %d and %d scarves a season. What does she sell at the fair when everything goes?",
	"Somebody counted %d and %d gulls over the harbour wall. Report the total to the warden, please.",
	"The choir rehearsed %d and %d minutes. Which figure goes into the caretaker's book?",
	"From two sheds come %d and %d barrels of tar; the painter needs one number.",
	"A ledger lists %d and %d unpaid fares. Add them for the conductor.",
	"Under the bridge stand %d and %d bicycles without an owner: how many will the city collect?",
}

func (a *author) Ask(_ context.Context, q draft.Request) (string, error) {
	a.mu.Lock()
	a.asked = append(a.asked, q)
	a.mu.Unlock()
	if q.Stage == model.StageDraftCheck {
		m := sum.FindStringSubmatch(q.User)
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		own := fmt.Sprintf("I add.\n<answer>%d EUR</answer>", x+y)
		if a.solve != nil {
			return a.solve(q.Key, own)
		}
		return own, nil
	}
	if a.writes != nil {
		if err := a.writes(q.Key); err != nil {
			return "", err
		}
	}
	text := `{"tasks":[` + strings.Join(a.tasks(q), ",") + `]}`
	if q.Accept(text) != nil {
		return "", draft.ErrLost
	}
	return text, nil
}

func (a *author) tasks(q draft.Request) []string {
	var tasks []string
	for _, m := range asksFor.FindAllStringSubmatch(q.User, -1) {
		n, _ := strconv.Atoi(m[1])
		from, _ := strconv.Atoi(m[2])
		for range n {
			i := len(tasks)
			own := ""
			if a.write != nil {
				own = a.write(q.Key, i)
			}
			if own == "" {
				own = taskJSON(from+1, hash(q.Key)*7+i)
			}
			tasks = append(tasks, own)
		}
	}
	return tasks
}

func hash(key string) int {
	n := 0
	for _, r := range key {
		n = (n*31 + int(r)) % 97
	}
	return n
}

func taskJSON(line, n int) string {
	x, y := 100+n*13, 200+n*29
	prompt := fmt.Sprintf(templates[n%len(templates)], x, y) + fmt.Sprintf(" It was in the %dth week, %s.", n, strings.Repeat(fmt.Sprintf("w%d ", n), 1)+fmt.Sprintf("m%d k%d z%d", n, n+1, n+2))
	text, err := json.Marshal(map[string]any{
		"line": line, "prompt": prompt, "gold": []string{fmt.Sprintf("%d EUR", x+y)},
		"checks": []any{map[string]any{"type": "number", "values": []string{}, "abs": 0.5}},
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func run(t *testing.T, a *author, n int) draft.Result {
	t.Helper()
	r, err := draft.Run(t.Context(), draft.Options{Material: desk(t), Tasks: n, Seed: 1, Ask: a.Ask})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func desk(t *testing.T) draft.Material {
	t.Helper()
	m, err := draft.Read(put(t, map[string]string{"SKILL.md": skillText, "references/codes.md": "# Codes\nA code has four letters.\n"}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func reasons(r draft.Result) map[draft.Reason]int {
	out := map[draft.Reason]int{}
	for _, f := range r.Fell {
		out[f.Reason]++
	}
	return out
}

func TestRunSpreadsTasksOverTheSkill(t *testing.T) {
	t.Parallel()
	a := &author{}
	r := run(t, a, 12)
	if len(r.Tasks) != 12 || len(r.Fell) != 0 {
		t.Fatalf("%d tasks, %d fell: %+v", len(r.Tasks), len(r.Fell), r.Fell)
	}
	types := map[string]int{}
	for _, one := range r.Tasks {
		types[one.Type]++
		if one.Reviewed || len(one.Doubts) > 0 {
			t.Errorf("%s: reviewed %v, doubts %q", one.ID, one.Reviewed, one.Doubts)
		}
	}
	if diff := cmp.Diff(map[string]int{"dates": 4, "money": 3, "people": 3, "codes": 2}, types); diff != "" {
		t.Logf("%v", types)
		if len(types) != 4 {
			t.Error(diff)
		}
	}
	if got, want := r.Tasks[0].Source, "SKILL.md:4: - Write dates as YYYY-MM-DD."; got != want {
		t.Errorf("source %q, want %q", got, want)
	}
	for _, q := range a.asked {
		if strings.Contains(q.User, "(Codes)") != strings.Contains(q.User, "## File references/codes.md") {
			t.Errorf("%s: a reference is shown to those who are asked about it, and to no others", q.Key)
		}
		if !strings.Contains(q.User+q.System, "- Put EUR before amounts.") {
			t.Errorf("%s: the skill is not shown", q.Key)
		}
		if q.Stage == model.StageDraftCheck && !strings.HasSuffix(q.User, "between <answer> and </answer>.") {
			t.Errorf("%s: the author is asked otherwise than the target will be: %q", q.Key, q.User)
		}
	}
}

// TestWhatIsWrittenCanBeTrainedOn loads the tasks as training does.
func TestWhatIsWrittenCanBeTrainedOn(t *testing.T) {
	t.Parallel()
	r := run(t, &author{}, 25)
	lines, err := draft.Encode(r.Tasks)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tasks.jsonl")
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	suite, err := check.Compile(nil, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := task.Load(path, task.Rules{Prompt: draft.AnswerRequest, Checker: suite})
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 25 || set.Unreviewed() != 25 {
		t.Errorf("%d tasks, %d unreviewed, want 25 of both", set.Len(), set.Unreviewed())
	}
}

func TestRunReplacesWhatFell(t *testing.T) {
	t.Parallel()
	a := &author{write: func(key string, n int) string {
		if strings.HasPrefix(key, "r1/") && n == 0 {
			return `{"line":4,"prompt":"p"}`
		}
		return ""
	}}
	r := run(t, a, 12)
	if len(r.Tasks) != 12 {
		t.Errorf("%d tasks, want 12: the second round replaces them", len(r.Tasks))
	}
	if got := reasons(r)[draft.NotWhole]; got == 0 || len(r.Fell) != got {
		t.Errorf("fell: %v", reasons(r))
	}
	last := slices.IndexFunc(a.asked, func(q draft.Request) bool { return strings.HasPrefix(q.Key, "r2/c") })
	if last < 0 || strings.Contains(a.asked[last].User, "(none)") {
		t.Error("the second round is not told which tasks there are already")
	}
}

func TestRunTellsAShortfall(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		a    *author
		want draft.Reason
	}{
		{"the same task again and again", &author{write: func(string, int) string { return taskJSON(4, 1) }}, draft.AlmostEqual},
		{"lost replies", &author{writes: func(string) error { return draft.ErrLost }}, draft.NotWritten},
		{"checks that run programs", &author{write: func(string, int) string {
			return `{"line":4,"prompt":"p","gold":["g"],"checks":[{"type":"command","argv":["true"]}]}`
		}}, draft.NotWhole},
		{"no line of the skill", &author{write: func(string, int) string { return taskJSON(4000, 1) }}, draft.NoSource},
		{"answers that differ", &author{solve: func(string, string) (string, error) { return "<answer>0 EUR</answer>", nil }}, draft.Disagreed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tt.a, 8)
			if len(r.Tasks) > 1 || reasons(r)[tt.want] < 7 {
				t.Errorf("%d tasks kept, fell: %v", len(r.Tasks), reasons(r))
			}
		})
	}
}

func TestSecondAnswers(t *testing.T) {
	t.Parallel()
	second := &author{solve: func(key, own string) (string, error) {
		if strings.HasSuffix(key, "/answer1") {
			return "<answer>0 EUR</answer>", nil
		}
		return own, nil
	}}
	r := run(t, second, 3)
	if len(r.Tasks) != 3 || !strings.Contains(strings.Join(r.Tasks[0].Doubts, ""), `answered otherwise at first: "0 EUR"`) {
		t.Errorf("an answer that agrees at the second attempt: %+v", r.Tasks)
	}
	silent := &author{solve: func(string, string) (string, error) { return "", draft.ErrLost }}
	r = run(t, silent, 3)
	if len(r.Tasks) != 3 || !strings.Contains(strings.Join(r.Tasks[0].Doubts, ""), "no usable answer") {
		t.Errorf("no answer is no disagreement: %+v", r.Tasks)
	}
}

func TestMoreThanAskedForIsCut(t *testing.T) {
	t.Parallel()
	a := &author{}
	ask := func(ctx context.Context, q draft.Request) (string, error) {
		text, err := a.Ask(ctx, q)
		if q.Stage == model.StageDraft {
			text = strings.Replace(text, `{"tasks":[`, `{"tasks":[`+taskJSON(4, 500)+","+taskJSON(4, 501)+",", 1)
		}
		return text, err
	}
	r, err := draft.Run(t.Context(), draft.Options{Material: desk(t), Tasks: 4, Seed: 1, Ask: ask})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tasks) > 4 || reasons(r)[draft.Surplus] == 0 {
		t.Errorf("%d tasks, fell: %v", len(r.Tasks), reasons(r))
	}
}

// TestOrderOfArrivalDoesNotMatter runs a draft with replies that come one at a
// time, in the order of the requests or against it.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	t.Parallel()
	broken := func(key string, n int) string {
		if hash(key)%3 == n%3 {
			return taskJSON(4, 7)
		}
		return ""
	}
	want := run(t, &author{write: broken}, 20)
	for range 5 {
		a := &author{write: broken}
		gate := make(chan struct{}, 1)
		r, err := draft.Run(t.Context(), draft.Options{Material: desk(t), Tasks: 20, Seed: 1, Ask: func(ctx context.Context, q draft.Request) (string, error) {
			gate <- struct{}{}
			defer func() { <-gate }()
			return a.Ask(ctx, q)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestPlanIsAnUpperBound(t *testing.T) {
	t.Parallel()
	worst := &author{
		solve: func(string, string) (string, error) { return "<answer>0</answer>", nil },
	}
	var group errgroup.Group
	for _, n := range []int{1, 2, 7, 30} {
		group.Go(func() error {
			a := &author{solve: worst.solve}
			if _, err := draft.Run(t.Context(), draft.Options{Material: desk(t), Tasks: n, Seed: 1, Ask: a.Ask}); err != nil {
				return err
			}
			write, solve := draft.Plan(desk(t), n, 1)
			used := map[string]int{}
			for _, q := range a.asked {
				used[q.Stage]++
			}
			if used[model.StageDraft] > write || used[model.StageDraftCheck] > solve {
				return fmt.Errorf("%d tasks: %v calls, planned at most %d and %d", n, used, write, solve)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

func TestErrorsEndTheDraft(t *testing.T) {
	t.Parallel()
	down := errors.New("the server is down")
	for name, a := range map[string]*author{
		"while writing":   {writes: func(string) error { return down }},
		"while answering": {solve: func(string, string) (string, error) { return "", down }},
	} {
		if _, err := draft.Run(t.Context(), draft.Options{Material: desk(t), Tasks: 5, Seed: 1, Ask: a.Ask}); !errors.Is(err, down) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m, err := draft.Read(put(t, map[string]string{"SKILL.md": "# Only a heading\n"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := draft.Run(t.Context(), draft.Options{Material: m, Tasks: 5, Ask: (&author{}).Ask}); !errors.Is(err, draft.ErrNothingToTest) {
		t.Errorf("a skill that states nothing: %v", err)
	}
	for _, n := range []int{0, -1, draft.MaxTasks + 1} {
		if _, err := draft.Run(t.Context(), draft.Options{Material: desk(t), Tasks: n, Ask: (&author{}).Ask}); err == nil {
			t.Errorf("%d tasks can be asked for", n)
		}
	}
}

// later is the error of a request whose answer somebody writes when they like.
type later struct{}

func (later) Error() string { return "waits for an answer" }
func (later) ComesLater()   {}

// Whoever answers by hand finds all requests of a round at once.
func TestAllQuestionsOfARoundArePut(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]string{"while writing": model.StageDraft, "while answering": model.StageDraftCheck} {
		a := &author{}
		put, cancelled := map[string]int{}, 0
		ask := func(ctx context.Context, q draft.Request) (string, error) {
			text, err := a.Ask(ctx, q)
			a.mu.Lock()
			defer a.mu.Unlock()
			put[q.Stage]++
			if ctx.Err() != nil {
				cancelled++
			}
			if q.Stage == waits {
				return "", later{}
			}
			return text, err
		}
		_, err := draft.Run(t.Context(), draft.Options{Material: desk(t), Tasks: 12, Seed: 1, Ask: ask})
		if !errors.Is(err, later{}) || cancelled > 0 {
			t.Errorf("%s: error %v, %d questions were cancelled", name, err, cancelled)
		}
		if want := map[string]int{model.StageDraft: 3, model.StageDraftCheck: 12}[waits]; put[waits] != want {
			t.Errorf("%s: put %v, want %d of %s", name, put, want, waits)
		}
	}
}
