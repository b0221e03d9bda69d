// Package textgames makes text games of our own by seed, in the format of those that are released with
// ALFWorld, each with commands that win it: six types of tasks in two generations of the format.
//
// It knows nothing about the engine that plays them.
package textgames

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"text/template"
)

//go:embed domain.pddl
var domainText string

//go:embed grammar.twl2
var grammarText string

// Types are the types of tasks, as published games name them.
var Types = []string{
	"pick_and_place_simple", "look_at_obj_in_light", "pick_clean_then_place_in_recep",
	"pick_heat_then_place_in_recep", "pick_cool_then_place_in_recep", "pick_two_obj_and_place",
}

// Game is one game.
type Game struct {
	Name        string // of its file
	Type        string
	Data        []byte
	Walkthrough []string
}

// Make returns a game. The same seed gives the same bytes.
func Make(seed uint64, kind string, old bool) Game {
	f := &flat{rand: rand.New(rand.NewPCG(seed, 49)), old: old}
	f.furnish(6+f.rand.IntN(4), 8+f.rand.IntN(5))
	task, goal := f.plan(kind)
	return f.game(fmt.Sprintf("%s-%04d-%s.tw-pddl", kind, seed, map[bool]string{true: "old", false: "new"}[old]), kind, task, goal)
}

// MakeLarge returns a game in a room of many fixtures and objects.
func MakeLarge(seed uint64, fixtures, objects int) Game {
	f := &flat{rand: rand.New(rand.NewPCG(seed, 50))}
	f.furnish(fixtures, objects)
	task, goal := f.plan(Types[0])
	return f.game("large.tw-pddl", Types[0], task, goal)
}

// MakeAll returns a number of games: all types in turn, in both generations.
func MakeAll(n int) []Game {
	games := make([]Game, n)
	for i := range games {
		games[i] = Make(uint64(i), Types[i%len(Types)], i/len(Types)%2 == 1)
	}
	return games
}

// thing is a fixture or an object.
type thing struct {
	id, kind, name string
	spot           string // of a fixture
	hinged         bool
	in             *thing // of an object
}

// flat is a game that is being made.
type flat struct {
	rand     *rand.Rand
	old      bool
	fixtures []*thing
	objects  []*thing
	moves    []string
	at       string // the spot of the tenant
	open     *thing
}

// id returns an identifier like those of published games: a name and coordinates.
func (f *flat) id(kind string) string {
	axis := func() string {
		return fmt.Sprintf("%s%02d_dot_%02d", []string{"_plus_", "_minus_"}[f.rand.IntN(2)], f.rand.IntN(10), f.rand.IntN(100))
	}
	return fmt.Sprintf("%s_bar_%s_bar_%s_bar_%s", kind, axis(), axis(), axis())
}

// furnish makes fixtures, of which some share a spot, and objects in them.
func (f *flat) furnish(fixtures, objects int) {
	kinds := []string{"shelf", "cupboard", "basin", "oven", "icebox", "desk", "cupboard", "drawer", "shelf", "stove"}
	for i := range fixtures {
		kind := kinds[i%len(kinds)]
		t := &thing{id: f.id(kind), kind: kind, hinged: slices.Contains([]string{"cupboard", "drawer", "oven", "icebox"}, kind)}
		if kind == "basin" {
			t.id = strings.Replace(t.id, "basin", "sink", 1) + "_bar_sinkbasin"
		}
		t.spot = fmt.Sprintf("spot_bar_%d_bar_%d", i, f.rand.IntN(60))
		if i > 5 && f.rand.IntN(4) == 0 {
			t.spot = f.fixtures[f.rand.IntN(i)].spot
		}
		f.fixtures = append(f.fixtures, t)
	}
	things := []string{"cup", "plum", "cup", "lamp", "knife", "plum", "spoon", "towel", "book"}
	for i := range objects {
		kind := things[i%len(things)]
		t := &thing{id: f.id(kind), kind: kind, in: f.fixtures[f.rand.IntN(len(f.fixtures))]}
		if kind == "lamp" {
			t.in = f.fixtures[0]
		}
		f.objects = append(f.objects, t)
	}
	f.name()
}

// name calls things by their kind and a number that counts down in the order of their identifiers.
func (f *flat) name() {
	all := append(slices.Clone(f.fixtures), f.objects...)
	slices.SortFunc(all, func(a, b *thing) int { return strings.Compare(b.id, a.id) })
	counts := map[string]int{}
	for _, t := range all {
		word := t.kind
		if word == "basin" {
			word = "sinkbasin"
		}
		counts[word]++
		t.name = fmt.Sprintf("%s %d", word, counts[word])
	}
}

// kindName is the name of a kind in the problem.
func kindName(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] + "Kind" }

func (f *flat) find(kind string) *thing {
	for _, t := range append(slices.Clone(f.fixtures), f.objects...) {
		if t.kind == kind {
			return t
		}
	}
	return nil
}

// plan chooses a task, and plays it.
func (f *flat) plan(kind string) (task, goal string) {
	things := f.choose(kind)
	to := f.target(things)
	placed := func(condition string) string {
		return fmt.Sprintf("(exists (?f - fixture ?o - object) (and %s (objectKind ?o %s) (fixtureKind ?f %s) (inside ?o ?f)))", condition, kindName(things[0].kind), kindName(to.kind))
	}
	switch kind {
	case "look_at_obj_in_light":
		lamp := f.find("lamp")
		f.fetch(things[0])
		f.walk(lamp.in)
		f.do("use " + lamp.name)
		return "look at " + things[0].kind + " under the lamp", fmt.Sprintf("(exists (?l ?o - object ?t - tenant ?s - spot ?f - fixture) (and (electric ?l) (used ?l) (inside ?l ?f) (placed ?f ?s) (standing ?t ?s) (carries ?t ?o) (objectKind ?o %s)))", kindName(things[0].kind))
	case "pick_two_obj_and_place":
		for _, t := range things {
			f.fetch(t)
			f.put(t, to)
		}
		return "two of " + things[0].kind + " into " + to.kind, fmt.Sprintf("(exists (?f - fixture) (and (fixtureKind ?f %[2]s) (exists (?o1 - object) (and (objectKind ?o1 %[1]s) (inside ?o1 ?f) (exists (?o2 - object) (and (not (= ?o1 ?o2)) (objectKind ?o2 %[1]s) (inside ?o2 ?f)))))))", kindName(things[0].kind), kindName(to.kind))
	}
	f.fetch(things[0])
	word, condition := f.treat(kind, things[0])
	f.put(things[0], to)
	return word + things[0].kind + " into " + to.kind, placed(condition)
}

// choose returns the objects of a task: of a kind that the treatment suits, and in none of the fixtures that could be its target.
func (f *flat) choose(kind string) []*thing {
	wanted := map[string]string{"pick_heat_then_place_in_recep": "plum", "pick_cool_then_place_in_recep": "plum"}[kind]
	if wanted == "" {
		wanted = []string{"cup", "plum"}[f.rand.IntN(2)]
	}
	var things []*thing
	for _, o := range f.objects {
		if o.kind == wanted {
			things = append(things, o)
		}
	}
	if kind == "pick_two_obj_and_place" {
		return things[:2]
	}
	return things[:1]
}

// target returns a fixture of a kind that holds no object of the kind yet.
func (f *flat) target(things []*thing) *thing {
	full := map[string]bool{"basin": true, "oven": true, "icebox": true, "stove": true}
	for _, o := range f.objects {
		if o.kind == things[0].kind {
			full[o.in.kind] = true
		}
	}
	var free []*thing
	for _, t := range f.fixtures {
		if !full[t.kind] {
			free = append(free, t)
		}
	}
	if len(free) == 0 { // they are moved out of the way
		for _, o := range f.objects {
			if o.kind == things[0].kind {
				o.in = f.fixtures[0]
			}
		}
		return f.find("desk")
	}
	return free[f.rand.IntN(len(free))]
}

// treat carries an object to the fixture of a treatment.
func (f *flat) treat(kind string, o *thing) (word, condition string) {
	for _, t := range []struct{ kind, word, fixture, condition, verb string }{
		{"pick_clean_then_place_in_recep", "a clean ", "basin", "(washable ?o) (washed ?o)", "clean"},
		{"pick_heat_then_place_in_recep", "a hot ", "oven", "(warmable ?o) (warm ?o)", "heat"},
		{"pick_cool_then_place_in_recep", "a cool ", "icebox", "(chillable ?o) (chilled ?o)", "cool"},
	} {
		if t.kind == kind {
			fixture := f.find(t.fixture)
			f.walk(fixture)
			f.do(t.verb + " " + o.name + " with " + fixture.name)
			return t.word, t.condition
		}
	}
	return "some ", ""
}

func (f *flat) do(command string) { f.moves = append(f.moves, command) }

// walk goes to a fixture, and shuts the door that is open before: in the old format one alone is.
func (f *flat) walk(to *thing) {
	if to.spot == f.at {
		return
	}
	f.shut()
	name := to.name
	if f.old {
		name = f.neighbours(to)
	}
	f.do("go to " + name)
	f.at = to.spot
}

func (f *flat) shut() {
	if f.old && f.open != nil {
		f.do("close " + f.open.name)
		f.open.hinged, f.open = true, nil
	}
}

// neighbours lists the fixtures of a spot as the grammar does.
func (f *flat) neighbours(to *thing) string {
	var here []*thing
	for _, t := range f.fixtures {
		if t.spot == to.spot {
			here = append(here, t)
		}
	}
	slices.SortFunc(here, func(a, b *thing) int { return strings.Compare(a.id, b.id) })
	var text strings.Builder
	for i, t := range here {
		switch {
		case i > 0 && i == len(here)-1:
			text.WriteString(", as well as ")
		case i > 0:
			text.WriteString(", ")
		}
		text.WriteString(t.name)
	}
	return text.String()
}

func (f *flat) enter(t *thing) {
	f.walk(t)
	if t.hinged && t != f.open && !slices.Contains(f.moves, "open "+t.name) || t.hinged && f.old && t != f.open {
		f.shut()
		f.do("open " + t.name)
		f.open = t
	}
}

func (f *flat) fetch(o *thing) {
	f.enter(o.in)
	f.do("take " + o.name + " from " + o.in.name)
}

func (f *flat) put(o, to *thing) {
	f.enter(to)
	f.do(map[bool]string{true: "put " + o.name + " in/on " + to.name, false: "move " + o.name + " to " + to.name}[f.old])
}

// game writes the file.
func (f *flat) game(name, kind, task, goal string) Game {
	fill := func(text string) string {
		var out bytes.Buffer
		data := map[string]bool{"Old": f.old, "Notes": len(f.objects)%2 == 0}
		if err := template.Must(template.New("").Parse(text)).Execute(&out, data); err != nil {
			panic(err) // the texts are ours
		}
		return out.String()
	}
	data, err := json.MarshalIndent(map[string]any{
		"pddl_domain": fill(domainText), "pddl_problem": f.problem(goal), "solvable": true, "walkthrough": f.moves,
		"grammar": strings.ReplaceAll(fill(grammarText), "UNKNOWN GOAL", task),
	}, "", " ")
	if err != nil {
		panic(err) // texts alone
	}
	return Game{Name: name, Type: kind, Data: append(data, '\n'), Walkthrough: f.moves}
}

// problem writes the objects, the facts and the goal.
func (f *flat) problem(goal string) string {
	objects := []string{"tenant1 - tenant", "spot_bar_start - spot"}
	facts := []string{"(= (total-cost) 0)", "(standing tenant1 spot_bar_start)"}
	add := func(list *[]string, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, t := range f.fixtures {
		add(&objects, "%s - fixture", t.id)
		add(&objects, "%s - spot", t.spot)
		add(&objects, "%s - fkind", kindName(t.kind))
		add(&facts, "(placed %s %s)", t.id, t.spot)
		add(&facts, "(fixtureKind %s %s)", t.id, kindName(t.kind))
		add(&facts, "(= (distance spot_bar_start %s) %d)", t.spot, len(t.spot))
		if slices.Contains([]string{"cupboard", "drawer", "oven", "icebox"}, t.kind) {
			add(&facts, "(hinged %s)", t.id)
		}
	}
	abilities := map[string][]string{
		"cup": {"portable", "washable", "warmable", "chillable"}, "plum": {"portable", "washable", "warmable", "chillable", "divisible"},
		"lamp": {"electric"}, "knife": {"portable", "washable"}, "spoon": {"portable", "washable"}, "towel": {"portable"}, "book": {"portable"},
	}
	for _, o := range f.objects {
		add(&objects, "%s - object", o.id)
		add(&objects, "%s - okind", kindName(o.kind))
		add(&facts, "(inside %s %s)", o.id, o.in.id)
		add(&facts, "(lies %s %s)", o.id, o.in.spot)
		add(&facts, "(objectKind %s %s)", o.id, kindName(o.kind))
		for _, ability := range abilities[o.kind] {
			add(&facts, "(%s %s)", ability, o.id)
		}
		for _, t := range f.fixtures {
			if o.kind != "book" || t.kind != "oven" {
				add(&facts, "(accepts %s %s)", kindName(t.kind), kindName(o.kind))
			}
		}
	}
	return fmt.Sprintf("(define (problem flat)\n (:domain flat)\n (:objects\n  %s)\n (:init\n  %s)\n (:goal %s)\n (:metric minimize (total-cost)))\n",
		strings.Join(objects, "\n  "), strings.Join(facts, "\n  "), goal)
}
