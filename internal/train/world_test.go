package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// world is a scripted world: a task of type x is solved by a skill with "rule x"
// and without "harm x"; "half x" is worth half of the soft score. What the
// optimizer says stands in its fields.
type world struct {
	data   Data
	seed   string
	fails  func(key string) bool // rollouts that infrastructure keeps from being measured
	says   bool                  // outcomes have the reply
	folder bool                  // the skill has a reference, and what is appended goes to several files

	forgets   func(key string) bool     // rollouts that go as if the skill were empty
	served    func(key string) string   // the model that answers
	words     func(key string) string   // what is answered that solves nothing, instead of "?"
	propose   map[int][]string          // step -> lines that failure analysts want to append
	praise    map[int][]string          // step -> lines that success analysts want to append
	notes     map[int][]string          // step -> appendix notes
	reply     map[string]string         // stage -> reply, instead of the usual one
	lines     func(key string) []string // that a failure analyst wants to append, instead of propose
	undo      map[int]string            // step -> line that failure analysts want to delete
	guidance  map[int]string            // epoch -> slow update
	memory    map[int]string            // epoch -> meta skill
	asking    func(key, stage string)   // is told of each request
	rolling   func(key string)          // is told of each rollout
	breaks    func(key string) error    // what ends a rollout, and the run
	health    error                     // what Health says
	refuse    func(name string) error   // what writing a file says
	askErr    func(stage string) error  // what asking says
	decideErr error
	pace      func(Unit) (int, error)
	before    *result.TestReads // what the ledger says; nil: there is none
	overlap   bool              // begin rollouts of the next part while answers of this one are out
	used      usedRollouts
	analysts  string // how a plan calls their stages

	mu        sync.Mutex
	rollouts  []string            // keys, one a rollout that was sent
	skills    map[string]string   // key -> skill it was made with
	questions []asked             // in order of arrival
	decisions map[string][]string // key -> items it went on without
	recorded  map[string][]byte   // decisions by key
	files     map[string]string
	handed    []handed
	events    []event.Event
}

// handed is a value that a run has handed over to be written, and how it stood then.
type handed struct {
	name, as string
	value    any
}

type asked struct {
	key string
	optimize.Request
}

func newWorld(train, selection, test int) *world {
	w := &world{
		seed: "# Skill\n", skills: map[string]string{}, decisions: map[string][]string{}, recorded: map[string][]byte{}, files: map[string]string{},
		propose: map[int][]string{}, praise: map[int][]string{}, notes: map[int][]string{}, reply: map[string]string{},
		guidance: map[int]string{}, memory: map[int]string{},
	}
	w.data = Data{Train: tasks("t", train), Selection: tasks("s", selection), Test: tasks("x", test)}
	return w
}

// tasks returns tasks of the types a, b, c and d in turn.
func tasks(prefix string, n int) []task.Task {
	out := make([]task.Task, n)
	for i := range out {
		kind := string(rune('a' + i%4))
		out[i] = task.Task{ID: fmt.Sprintf("%s%02d", prefix, i), Type: kind, Prompt: "do " + kind, Gold: []string{kind}}
	}
	return out
}

// standard are options of one epoch with one step over 8 tasks.
func standard() Options {
	return Options{
		Batching: Batching{
			Epochs: 1, BatchSize: 8, Accumulation: 1, Seed: 1,
		},
		Reflection: Reflection{
			Minibatch: 8,
		},
		Editing: Editing{
			FanIn: 8, Mode: "patch", Budget: 4, MinBudget: 2, Schedule: "constant",
		},
		Gating: Gating{
			Gate: "strict", Projection: score.Projection{Metric: "hard"},
		},
		EpochEnd: EpochEnd{
			SlowSamples: 4, SlowGated: true, SlowPairs: "mixed",
		},
	}
}

// run trains in the world.
func (w *world) run(ctx context.Context, o Options) (*Result, error) {
	seed, scope := w.skillOf()
	d := Deps{
		Data: w.data, Skill: seed, Scope: scope, Roller: &rollout.Runner{Episode: w, Extra: 2}, Ask: w.ask, Record: w,
		Prompts: prompt.Default(), Files: w, Events: w.event, Health: w.healthy,
		Usage: func() event.Progress { return event.Progress{Calls: 1} }, Overlap: overlaps(w.overlap), Pace: w.pace, Ahead: w.used.ahead,
	}
	if w.before != nil {
		d.Before = func(context.Context, int, bool) (result.TestReads, error) { return *w.before, nil }
	}
	r, err := Run(ctx, o, d)
	return r, errors.Join(err, w.unchanged())
}

// unchanged checks that values stay as they were when they were handed to Files.
func (w *world) unchanged() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range w.handed {
		if now, err := json.Marshal(h.value); err != nil || string(now) != h.as {
			return fmt.Errorf("%s has changed after it was handed over (%v)\nwas %s\nis  %s", h.name, err, h.as, now)
		}
	}
	return nil
}

func (w *world) must(t *testing.T, o Options) *Result {
	t.Helper()
	r, err := w.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Run implements rollout.Episode.
func (w *world) Run(ctx context.Context, p rollout.Place, tk task.Task, s skill.Skill) (trajectory.Outcome, error) {
	key := p.Key(tk)
	if w.rolling != nil {
		w.rolling(key)
	}
	w.mu.Lock()
	w.rollouts = append(w.rollouts, key)
	w.skills[key] = textsOf(s)
	w.mu.Unlock()
	w.used.add(ctx, key)
	if w.breaks != nil {
		if err := w.breaks(key); err != nil {
			return trajectory.Outcome{}, err
		}
	}
	if w.fails != nil && w.fails(key) {
		return trajectory.Outcome{}, caller.Unmeasurable(errors.New("the line is dead"))
	}
	out := trajectory.Outcome{ID: tk.ID, Type: tk.Type, Status: score.OK, Question: tk.Prompt, Answer: "?", FailReason: "wrong: no rule"}
	if w.words != nil {
		out.Answer = w.words(key)
	}
	if w.served != nil {
		out.Served = w.served(key)
	}
	if w.forgets != nil && w.forgets(key) {
		return out, nil
	}
	told := textsOf(s)
	if strings.Contains(told, "half "+tk.Type) {
		out.Soft = 0.5
	}
	if strings.Contains(told, "rule "+tk.Type) && !strings.Contains(told, "harm "+tk.Type) {
		out.Hard, out.Soft, out.Answer, out.FailReason = 1, 1, tk.Type, ""
	}
	if w.says {
		out.Trajectory = []trajectory.Turn{{Role: model.Assistant, Content: out.Answer}}
	}
	return out, nil
}

func (w *world) ask(prefix string) optimize.Ask {
	return func(_ context.Context, q optimize.Request) (string, error) {
		key := prefix + "/" + q.Key
		if w.asking != nil {
			w.asking(key, q.Stage)
		}
		w.mu.Lock()
		w.questions = append(w.questions, asked{key, q})
		w.mu.Unlock()
		if w.askErr != nil {
			if err := w.askErr(q.Stage); err != nil {
				return "", err
			}
		}
		text := w.answer(key, q.Stage)
		if w.folder {
			text = spread(text)
		}
		if q.Accept != nil && q.Accept(text) != nil {
			return "", optimize.ErrLost
		}
		return text, nil
	}
}

// textsOf are the texts of a skill, one behind the other.
func textsOf(s skill.Skill) string {
	text := s.Text()
	for _, name := range s.Others() {
		content, _ := s.File(name)
		text += content
	}
	return text
}

// spread has appends of a reply go to several files, each always to the same.
func spread(reply string) string {
	files := []string{"", "references/a.md", "references/new.md"}
	return regexp.MustCompile(`"content":"([^"]*)","op":"append"`).ReplaceAllStringFunc(reply, func(edit string) string {
		sum := 0
		for _, c := range []byte(edit) {
			sum += int(c)
		}
		return fmt.Sprintf(`"file":%q,%s`, files[(sum+1)%len(files)], edit)
	})
}

// skillOf is the seed skill with the scope of edits.
func (w *world) skillOf() (skill.Skill, skill.Scope) {
	s := skill.New(w.seed)
	if !w.folder {
		return s, skill.Scope{}
	}
	s = s.WithFile("references/a.md", "# A\n")
	scope, err := skill.NewScope(s, []string{skill.Main, "references/*.md"}, 1)
	if err != nil {
		panic(err)
	}
	return s, scope
}

func (w *world) answer(key, stage string) string {
	if text, ok := w.reply[stage]; ok {
		return text
	}
	var epoch, step int
	if _, err := fmt.Sscanf(key, "e%d/s%d", &epoch, &step); err != nil {
		_, _ = fmt.Sscanf(key, "e%d/end", &epoch) // 0 if the key is of neither form
	}
	switch stage {
	case model.StageAnalystError, model.StageContrast:
		if w.lines != nil {
			return encode(map[string]any{"patch": appends(w.lines(key)), "failure_summary": []any{}})
		}
		if line, ok := w.undo[step]; ok {
			edit := map[string]any{"op": "delete", "target": line}
			return encode(map[string]any{"patch": map[string]any{"reasoning": "because", "edits": []any{edit}}, "failure_summary": []any{}})
		}
		return encode(map[string]any{"patch": appends(w.propose[step]), "appendix_notes": w.notes[step], "failure_summary": []any{}})
	case model.StageAnalystSuccess:
		return encode(map[string]any{"patch": appends(w.praise[step]), "success_patterns": []any{}})
	case model.StageMerge, model.StageMergeFinal:
		return encode(appends(w.propose[step], w.praise[step]...))
	case model.StageRanking:
		return `{"reasoning": "", "selected_indices": [0, 1, 2, 3]}`
	case model.StageLRAutonomous:
		return `{"learning_rate": 1, "reasoning": "", "confidence": "low", "risk_notes": []}`
	case model.StageSlowUpdate:
		return encode(map[string]any{"reasoning": "", "slow_update_content": w.guidance[epoch]})
	case model.StageMetaSkill:
		return encode(map[string]any{"reasoning": "", "meta_skill_content": w.memory[epoch]})
	}
	return ""
}

func appends(lines []string, more ...string) map[string]any {
	edits := []any{}
	for _, line := range append(slices.Clone(lines), more...) {
		edits = append(edits, map[string]any{"op": "append", "content": line})
	}
	return map[string]any{"reasoning": "because", "edits": edits}
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// Unmeasured implements Recorder.
func (w *world) Unmeasured(_ context.Context, key string, _ []byte, keys []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.decisions[key]; ok {
		return fmt.Errorf("decision %s was made twice", key)
	}
	w.decisions[key] = keys
	return w.decideErr
}

// Decided implements Recorder.
func (w *world) Decided(key string) ([]byte, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	data, ok := w.recorded[key]
	return data, ok
}

// Decision implements Recorder.
func (w *world) Decision(_ context.Context, key string, compute func() ([]byte, error)) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if data, ok := w.recorded[key]; ok {
		return data, nil
	}
	data, err := compute()
	if err == nil {
		w.recorded[key] = data
	}
	return data, err
}

// WriteFile implements Files.
func (w *world) WriteFile(name string, data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		if err := w.refuse(name); err != nil {
			return err
		}
	}
	w.files[name] = string(data)
	return nil
}

// WriteJSON implements Files.
func (w *world) WriteJSON(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.handed = append(w.handed, handed{name, string(data), v})
	w.mu.Unlock()
	return w.WriteFile(name, data)
}

func (w *world) event(e event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, e)
}

// rolled counts the rollouts whose keys begin with a prefix.
func (w *world) rolled(prefix string) int {
	n := 0
	for _, key := range w.rollouts {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}

// asked returns the requests of a stage.
func (w *world) asked(stage string) []asked {
	var out []asked
	for _, q := range w.questions {
		if q.Stage == stage {
			out = append(out, q)
		}
	}
	return out
}

// actions lists what was decided, step 0 included.
func actions(r *Result) []string {
	var out []string
	for _, s := range r.History.Steps {
		out = append(out, s.Action)
	}
	return out
}

// value is the text of a score that may be missing.
func value(f *float64) string {
	if f == nil {
		return "null"
	}
	return fmt.Sprintf("%.3g", *f)
}

// overlaps is whether rollouts may be prefetched, to a run's end.
func overlaps(always bool) func() bool { return func() bool { return always } }
