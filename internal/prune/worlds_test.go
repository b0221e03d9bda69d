package prune_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/prune"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// world is a simulated world with a skill in which useless rules are planted.
type world struct {
	client *sim.Client
	skill  string
	fate   map[string]fate // of every rule, by its text
	judge  []question      // tasks that rules are judged on
	test   []question      // tasks for the certificate
	calls  atomic.Int64
	flip   float64
}

// fate is what should become of a rule.
type fate string

const (
	useful  fate = "useful"
	useless fate = "useless"
	harmful fate = "harmful"
	twice   fate = "said twice" // one of the two has to stay, and one to go
)

type question struct{ id, kind, text, gold string }

// makeWorld draws a world: 3 to 8 kinds of tasks with a rule that the target needs
// for them, two that it can do by itself, 2 to 6 useless rules (some for a kind of
// task that never comes), at most one that does harm, and in every other world a
// useful rule that is said twice.
func makeWorld(t testing.TB, seed uint64, flips ...float64) *world {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x70727565))
	kinds, padding := 3+rng.IntN(6), 2+rng.IntN(5)
	w := &world{fate: map[string]fate{}, flip: flips[rng.IntN(len(flips))]}
	var file, rules strings.Builder
	fmt.Fprintf(&file, "name: planted\nseed: %d\nreply: '<answer>{{answer}}</answer>'\nunsure: no idea\nrates: {noise: %v, flip: %v}\nkinds:\n", seed, []float64{0, 0.02, 0.05}[rng.IntN(3)], w.flip)
	for k := range kinds + 3 { // two without a rule, and one that never comes
		fmt.Fprintf(&file, "  - {type: k%d, match: 'Case k%d: (?P<x>\\w+)', answer: x}\n", k, k)
	}
	for k := range kinds {
		fmt.Fprintf(&rules, "  - {id: r%d, task_types: [k%d], states: [mark%d], say: [Use mark%d.], transform: {kind: prefix, text: 'm%d-'}}\n", k, k, k, k, k)
		w.fate[fmt.Sprintf("- Answers to cases of kind k%d begin with mark%d.", k, k)] = useful
	}
	if seed%2 == 0 {
		w.fate["- Answers to cases of kind k0 begin with mark0."] = twice
		w.fate["For a case of kind k0 write mark0 in front."] = twice
	}
	for n := range padding {
		w.fate[fmt.Sprintf("- Take care number %d: %s.", n, []string{"read the whole case first", "check the answer twice", "be brief and kind", "never guess without a reason"}[rng.IntN(4)])] = useless
	}
	fmt.Fprintf(&rules, "  - {id: absent, task_types: [k%d], states: [footnote], say: [Add a footnote.], transform: {kind: prefix, text: 'f-'}}\n", kinds+2)
	w.fate["Close reports with a footnote."] = useless
	fmt.Fprintf(&rules, "  - {id: wrong, harmful: true, task_types: [k%d], states: [courtesy], say: [Begin with a courtesy.], transform: {kind: prefix, text: 'Certainly '}}\n", kinds)
	if rng.IntN(2) == 0 {
		w.fate["Begin every answer with a courtesy."] = harmful
	}
	loaded, err := sim.Parse("planted.yaml", []byte(file.String()+"rules:\n"+rules.String()))
	if err != nil {
		t.Fatal(err)
	}
	w.client, w.skill = sim.New(loaded), document(rng, w.fate)
	n := 60 + 20*rng.IntN(4)
	w.judge, w.test = questions(rng, "s", n, kinds), questions(rng, "t", n, kinds)
	for !every(w.judge, kinds) {
		w.judge = questions(rng, "s", n, kinds)
	}
	return w
}

// document writes the rules down in random order, lists and paragraphs.
func document(rng *rand.Rand, fates map[string]fate) string {
	var texts []string
	for text := range fates {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	doc := "---\nname: planted\n---\n\n# Rules\n\n"
	for i, text := range texts {
		doc += text + "\n"
		if !strings.HasPrefix(text, "-") || i+1 < len(texts) && !strings.HasPrefix(texts[i+1], "-") {
			doc += "\n"
		}
	}
	return doc
}

// questions draws tasks of all kinds but the last.
func questions(rng *rand.Rand, prefix string, n, kinds int) []question {
	out := make([]question, n)
	for i := range out {
		k, x := rng.IntN(kinds+2), fmt.Sprintf("%s%d", prefix, i)
		out[i] = question{id: x, kind: fmt.Sprintf("k%d", k), text: fmt.Sprintf("Case k%d: %s", k, x), gold: x}
		if k < kinds {
			out[i].gold = fmt.Sprintf("m%d-%s", k, x)
		}
	}
	return out
}

// every reports whether each rule concerns at least three tasks: what hardly any
// task needs nobody can know to be useful.
func every(qs []question, kinds int) bool {
	count := map[string]int{}
	for _, q := range qs {
		count[q.kind]++
	}
	for k := range kinds {
		if count[fmt.Sprintf("k%d", k)] < 3 {
			return false
		}
	}
	return true
}

func (w *world) bench(name string, qs []question, first int) *prune.Bench {
	b := &prune.Bench{Name: name, Projection: score.Projection{Metric: score.Hard}, Seed: 7, First: first}
	for _, q := range qs {
		b.Items, b.Types = append(b.Items, q.id), append(b.Types, q.kind)
	}
	b.Measure = func(ctx context.Context, sk skill.Skill, item, sample int) (trajectory.Outcome, error) {
		w.calls.Add(1)
		q, seed := qs[item], int64(sample)
		resp, err := w.client.Generate(ctx, model.Request{
			Messages: []model.Message{{Role: model.System, Content: sk.Text()}, {Role: model.User, Content: q.text}},
			Sampling: model.Sampling{Seed: &seed}, Tags: model.Tags{Stage: model.StageRollout, Role: model.Target},
		})
		if err != nil {
			return trajectory.Outcome{}, err
		}
		out := trajectory.Outcome{ID: q.id, Status: score.OK}
		if resp.Text == "<answer>"+q.gold+"</answer>" {
			out.Hard, out.Soft = 1, 1
		}
		return out, nil
	}
	return b
}

var settings = prune.Settings{Margin: 0.05, Level: 0.95, Passes: 10, Deterministic: true, Joint: true}

// TestPlantedRules is the promise of the command: in at least 95 of 100 simulated
// worlds every planted useless or harmful rule goes, and every useful one stays.
// It prints the figure; -v shows the worlds that failed.
func TestPlantedRules(t *testing.T) {
	t.Parallel()
	const worlds = 100
	good, certified, noisy, rules, kept, lost := 0, 0, 0, 0, 0, 0
	var calls int64
	for seed := range uint64(worlds) {
		w := makeWorld(t, seed, 0, 0, 0.01, 0.02, 0.03)
		p := prune.Pruner{Skill: skill.New(w.skill), Bench: w.bench("judge", w.judge, 0), Settings: settings}
		got, err := p.Prune(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wrong, again := []string{}, 0
		for _, f := range got.Findings {
			rules++
			removed := slices.ContainsFunc(got.RemovedRules(), func(r prune.Rule) bool { return r.Number == f.Number })
			switch want := w.fate[f.Text]; {
			case want == "":
				t.Fatalf("world %d: %q is no rule of it", seed, f.Text)
			case want == twice && !removed:
				again++
				continue
			case want == twice:
				continue
			case removed && want == useful:
				lost++
			case !removed && want != useful:
				kept++
			default:
				continue
			}
			wrong = append(wrong, fmt.Sprintf("%s %q: %s, %+.3f [%+.3f, %+.3f] on %d pairs", w.fate[f.Text], f.Text, f.Verdict, *f.Difference, *f.Low, *f.High, f.Pairs))
		}
		if seed%2 == 0 && again != 1 {
			wrong = append(wrong, fmt.Sprintf("of the rule that is said twice %d are left", again))
			lost, kept = lost+max(0, 1-again), kept+max(0, again-1)
		}
		if len(got.Findings) != len(w.fate) {
			t.Fatalf("world %d: %d rules were found of %d", seed, len(got.Findings), len(w.fate))
		}
		c, err := prune.Certify(t.Context(), w.bench("certificate", w.test, 1000), settings, got.Skill, skill.New(w.skill))
		if err != nil {
			t.Fatal(err)
		}
		calls += w.calls.Load()
		if c.NotWorse {
			certified++
		}
		if !got.Deterministic {
			noisy++
		}
		if len(wrong) == 0 {
			good++
			continue
		}
		t.Logf("world %d, %d tasks, flip %v:\n  %s", seed, len(w.judge), w.flip, strings.Join(wrong, "\n  "))
	}
	t.Logf("%d of %d worlds: all planted rules removed, all useful ones kept; %d of %d rules judged wrong (%d useful removed, %d others kept); %d results certified not worse; %d worlds noisy; %.0f answers a world",
		good, worlds, kept+lost, rules, lost, kept, certified, noisy, float64(calls)/worlds)
	if good < 95 {
		t.Errorf("%d of %d worlds, want at least 95", good, worlds)
	}
}

// TestPlantedRulesInNoise: with targets that forget the skill in 5 to 20 % of their answers
// no useful rule goes, more than half of the useless ones do, none that is unclear by itself, and it takes no more than
// twice the evaluations that one rule after the other takes. `lab prune` measures it.
func TestPlantedRulesInNoise(t *testing.T) {
	t.Parallel()
	var lost, gone, others, certified, worlds, before, after int
	for seed := range uint64(18) {
		w := makeWorld(t, 1000+seed, []float64{0.05, 0.1, 0.2}[seed%3])
		single := settings
		single.Joint = false
		took := map[bool]int{}
		for _, s := range []prune.Settings{single, settings} {
			b := w.bench("judge", w.judge, 0)
			p := prune.Pruner{Skill: skill.New(w.skill), Bench: b, Settings: s}
			got, err := p.Prune(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			took[s.Joint] = b.Evaluations()
			if !s.Joint {
				continue
			}
			worlds++
			for _, r := range got.RemovedRules() {
				at := slices.IndexFunc(got.Findings, func(f prune.Finding) bool { return f.Number == r.Number })
				if !got.Findings[at].Verdict.Removable() {
					t.Errorf("world %d: rule %d went, which is %s by itself", seed, r.Number, got.Findings[at].Verdict)
				}
			}
			left := 0
			for _, r := range prune.Rules(w.skill) {
				stays := strings.Contains(got.Skill.Text(), r.Text)
				switch w.fate[r.Text] {
				case useful:
					lost += count(!stays)
				case useless, harmful:
					others, gone = others+1, gone+count(!stays)
				case twice:
					left += count(stays)
				}
			}
			if seed%2 == 0 {
				lost, others, gone = lost+count(left == 0), others+1, gone+count(left < 2)
			}
			s.Deterministic, s.Variance = got.Deterministic, got.Variance
			c, err := prune.Certify(t.Context(), w.bench("certificate", w.test, 1000), s, got.Skill, skill.New(w.skill))
			if err != nil {
				t.Fatal(err)
			}
			certified += count(c.NotWorse)
		}
		before, after = before+took[false], after+took[true]
	}
	t.Logf("%d useful rules removed; %d of %d others; %d of %d certified; %d evaluations, one by one %d", lost, gone, others, certified, worlds, after, before)
	if lost > 0 || 2*gone < others || after > 2*before {
		t.Error("not as promised")
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
