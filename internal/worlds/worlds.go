// Package worlds makes simulated worlds from a few numbers: a world file for the
// provider sim, tasks with their expected answers, a starting skill and a config
// that trains it as it is.
//
// A world is a card file. Each card holds a few values, a task asks for one of
// them, and house rules that neither the card nor the starting skill states say
// in which form the answer is expected. What is expected is what the world's own
// target answers when its skill states every rule, so that tasks and world agree
// by construction.
//
// Everything is drawn from a seed. The package knows nothing about training,
// gates, runs or terminals.
package worlds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
)

// Bounds of what can be asked for.
const (
	MaxTasks = 20_000
	MaxDepth = 3
)

// Params describe a world. Rates and shares are from 0 to 1.
type Params struct {
	Name  string `json:"name"` // a word
	Seed  uint64 `json:"seed"` // of tasks and of everything that the world draws
	Tasks int    `json:"tasks"`
	Rules int    `json:"rules"` // harmless rules that are to be learnt
	Depth int    `json:"depth"` // rules of one kind of task, at most; an answer needs all of them

	Plain float64 `json:"plain"` // share of tasks that no rule concerns: always solved
	Skew  float64 `json:"skew"`  // kind number i comes in proportion to i^-skew: 0 is all alike, above it some rules are rare

	Noise  float64 `json:"noise"`  // share of tasks that can never be solved
	Flip   float64 `json:"flip"`   // share of answers in which the target forgets the skill
	Harm   float64 `json:"harm"`   // share of failure analyses that propose a harmful rule as well
	Fooled float64 `json:"fooled"` // share of harmful proposals that ranking takes for good ones
	Note   float64 `json:"note"`   // share of success analyses that propose a useless note

	Examples int `json:"examples,omitempty"` // worked examples that show the target a rule; 0: it learns of none

	Optimizer string `json:"optimizer"` // a name of Mixture; "": perfect
}

// Default returns a world of the size of the quick start.
func Default() Params {
	return Params{
		Name: "cards", Seed: 1, Tasks: 200, Rules: 12, Depth: 2, Plain: 0.25, Skew: 0.5,
		Noise: 0.03, Flip: 0.02, Harm: 0.2, Fooled: 0.3, Note: 0.3, Optimizer: "perfect",
	}
}

// Validate reports every number that no world can be made of, by the name of the
// parameter.
func (p Params) Validate() error {
	for _, n := range []struct {
		name             string
		got, least, most int
	}{
		{"tasks", p.Tasks, 10, MaxTasks},
		{"rules", p.Rules, 1, MaxRules(p.Depth)},
		{"depth", p.Depth, 1, MaxDepth},
		{"examples", p.Examples, 0, 1000},
	} {
		if n.got < n.least || n.got > n.most {
			return fmt.Errorf("%s: found %d, allowed is %d to %d", n.name, n.got, n.least, n.most)
		}
	}
	for _, r := range []struct {
		name string
		got  float64
		most float64
	}{
		{"plain", p.Plain, 1},
		{"skew", p.Skew, 3},
		{"noise", p.Noise, 1},
		{"flip", p.Flip, 1},
		{"harm", p.Harm, 1},
		{"fooled", p.Fooled, 1},
		{"note", p.Note, 1},
	} {
		if !(r.got >= 0 && r.got <= r.most) {
			return fmt.Errorf("%s: found %v, allowed is 0 to %v", r.name, r.got, r.most)
		}
	}
	if p.Name == "" || strings.ContainsAny(p.Name, " \t\r\n:/\\\"'") {
		return fmt.Errorf("name: found %q, a word without spaces, colons, quotes and slashes is needed", p.Name)
	}
	_, err := p.optimizer()
	return err
}

// MaxRules returns how many rules a world of a depth can have.
func MaxRules(depth int) int { return len(nouns()) * min(max(1, depth), MaxDepth) }

// Item is a task of a world.
type Item struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Prompt string `json:"prompt"`
	Gold   string `json:"gold"`
}

// World is a world as it was made.
type World struct {
	Params  Params
	YAML    []byte   // world file
	Skill   []byte   // the starting skill: states no rule
	Perfect string   // a skill that states every rule
	Again   []string // the rules in other words, in the same order
	Items   []Item
}

// New makes a world. Equal parameters give equal bytes.
func New(p Params) (*World, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	optimizer, err := p.optimizer()
	if err != nil {
		return nil, err
	}
	kinds := newKinds(p)
	w := &World{Params: p, YAML: worldFile(p, optimizer, kinds), Skill: []byte(startingSkill(p))}
	w.Perfect = string(w.Skill)
	for _, k := range kinds {
		for _, r := range k.rules {
			w.Perfect += "- " + r.say[0] + "\n"
			w.Again = append(w.Again, r.say[1])
		}
	}
	calm := p
	calm.Noise, calm.Flip = 0, 0
	solver, err := sim.Parse("world.yaml", worldFile(calm, optimizer, kinds))
	if err != nil {
		return nil, fmt.Errorf("make world: %w", err)
	}
	w.Items = draw(p, kinds)
	client := sim.New(solver)
	for i := range w.Items {
		if w.Items[i].Gold, err = solve(client, w.Perfect, w.Items[i].Prompt); err != nil {
			return nil, fmt.Errorf("solve task %s: %w", w.Items[i].ID, err)
		}
	}
	return w, nil
}

// solve asks the world itself.
func solve(c model.Client, skill, prompt string) (string, error) {
	resp, err := c.Generate(context.Background(), model.Request{
		Messages: []model.Message{{Role: model.System, Content: skill}, {Role: model.User, Content: prompt}},
		Tags:     model.Tags{Stage: model.StageRollout, Role: model.Target},
	})
	answer, _ := Answer(resp.Text)
	return answer, err
}

// Answer takes the answer out of a reply of the target; false if there is none.
func Answer(reply string) (string, bool) {
	_, rest, _ := strings.Cut(reply, "<answer>")
	answer, _, ok := strings.Cut(rest, "</answer>")
	return strings.TrimSpace(answer), ok
}

// draw makes the tasks, without their answers. No two are alike.
func draw(p Params, kinds []kind) []Item {
	r := rand.New(rand.NewPCG(p.Seed, 0x776f726c6473))
	items := make([]Item, 0, p.Tasks)
	weights := kindWeights(p, kinds)
	seen := map[string]bool{}
	for len(items) < p.Tasks {
		k := kinds[pickBy(r, weights)]
		prompt := card(r, k)
		if seen[prompt] {
			continue
		}
		seen[prompt] = true
		items = append(items, Item{ID: fmt.Sprintf("%s-%03d", k.noun, len(items)+1), Type: k.noun, Prompt: prompt})
	}
	return items
}

// kindWeights returns how often each kind is drawn: the plain kinds share p.Plain.
func kindWeights(p Params, kinds []kind) []float64 {
	weights := make([]float64, len(kinds))
	ruled, plain, nth := 0.0, 0.0, 0
	for i, k := range kinds {
		if len(k.rules) == 0 {
			weights[i] = 1
			plain++
			continue
		}
		nth++
		weights[i] = math.Pow(float64(nth), -p.Skew)
		ruled += weights[i]
	}
	for i, k := range kinds {
		if len(k.rules) == 0 {
			weights[i] *= p.Plain / plain
		} else {
			weights[i] *= (1 - p.Plain) / ruled
		}
	}
	return weights
}

func pickBy(r *rand.Rand, weights []float64) int {
	at := r.Float64()
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1 // rounding
}

// TasksJSONL returns the tasks as a file.
func (w *World) TasksJSONL() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, it := range w.Items {
		if err := e.Encode(it); err != nil {
			return nil, fmt.Errorf("encode task %s: %w", it.ID, err)
		}
	}
	return b.Bytes(), nil
}

// Files returns the files of the world by name: world.yaml, tasks.jsonl, SKILL.md
// and config.yaml. The last one trains in the world as it is.
func (w *World) Files() (map[string][]byte, error) {
	tasks, err := w.TasksJSONL()
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"world.yaml": w.YAML, "tasks.jsonl": tasks, "SKILL.md": w.Skill, "config.yaml": []byte(config(w.Params)),
	}, nil
}
