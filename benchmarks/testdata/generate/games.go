package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
)

// gamesOfType is how many games each type has in a split.
const gamesOfType = 2

// alfworld writes games, and a world whose target knows where everything is and leaves a step out.
func alfworld(dir folder) error {
	plans, right := map[string]string{}, map[string]string{}
	number := 0
	for _, split := range []string{"train", "selection", "test"} {
		var ids []string
		for _, kind := range textgames.Types {
			for range gamesOfType {
				number++
				g, plan := gameWithStep(uint64(number)*1000, kind, number%5 == 0)
				plans[fmt.Sprint(number)], right[plan] = plan, strings.Join(g.Walkthrough, "; ")
				id := fmt.Sprintf("%s/%s-%02d/trial_%04d", map[string]string{"train": "train", "selection": "valid_seen", "test": "valid_unseen"}[split], kind, number, number)
				data := bytes.ReplaceAll(g.Data, []byte("What is to be done: "), fmt.Appendf(nil, "What is to be done in flat %d: ", number))
				if err := dir.write("json_2.1.1/"+id+"/game.tw-pddl", data); err != nil {
					return err
				}
				ids = append(ids, id)
			}
		}
		if err := dir.write("ids/"+split+".txt", []byte(strings.Join(ids, "\n")+"\n")); err != nil {
			return err
		}
	}
	if err := dir.write("config.yaml", []byte("env: {turns: 14}\n")); err != nil {
		return err
	}
	return dir.write("world.yaml", []byte(gamesWorld(plans, right)))
}

// gameWithStep returns the first game from a seed on that cannot be won without the step that its type is about, and the
// commands of somebody who leaves this step out.
func gameWithStep(seed uint64, kind string, old bool) (textgames.Game, string) {
	for ; ; seed++ {
		g := textgames.Make(seed, kind, old)
		plan := withoutStep(kind, g.Walkthrough)
		if len(plan) < len(g.Walkthrough) && len(g.Walkthrough) <= 13 {
			return g, strings.Join(plan, "; ")
		}
	}
}

// withoutStep leaves a step out: doors are not opened, a thing is not treated, one of two is brought, a lamp is not used.
func withoutStep(kind string, walk []string) []string {
	verb := map[string]string{"pick_clean_then_place_in_recep": "clean ", "pick_heat_then_place_in_recep": "heat ", "pick_cool_then_place_in_recep": "cool ", "look_at_obj_in_light": "use ", "pick_and_place_simple": "open "}[kind]
	if kind == "pick_two_obj_and_place" {
		first := slices.IndexFunc(walk, func(c string) bool { return strings.HasPrefix(c, "move ") || strings.HasPrefix(c, "put ") })
		return walk[:first+1]
	}
	return slices.DeleteFunc(slices.Clone(walk), func(c string) bool { return strings.HasPrefix(c, verb) })
}

func gamesWorld(plans, right map[string]string) string {
	table := func(entries map[string]string) string {
		var b strings.Builder
		var keys []string
		for key := range entries {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			fmt.Fprintf(&b, "    %q: %q\n", key, entries[key])
		}
		return b.String()
	}
	return `# A SIMULATED WORLD. No model runs here. The target knows where everything is (table plans) and leaves the step out
# that a task is about, until its skill says it: it lets the whole way of a benchmark be watched without a key.
name: alfworld
seed: 12
reply: "My plan: {{answer}}"
rates: {harm: 0.2, fooled: 0.4}
tables:
  plans:
` + table(plans) + "  right:\n" + table(right) + `kinds:
  - {type: pick_and_place, match: 'in flat (?P<no>\d+): some ', answer: "lookup('plans', no)"}
  - {type: look_at_obj_in_light, match: 'in flat (?P<no>\d+): look at ', answer: "lookup('plans', no)"}
  - {type: pick_clean_then_place_in_recep, match: 'in flat (?P<no>\d+): a clean ', answer: "lookup('plans', no)"}
  - {type: pick_heat_then_place_in_recep, match: 'in flat (?P<no>\d+): a hot ', answer: "lookup('plans', no)"}
  - {type: pick_cool_then_place_in_recep, match: 'in flat (?P<no>\d+): a cool ', answer: "lookup('plans', no)"}
  - {type: pick_two_obj_and_place, match: 'in flat (?P<no>\d+): two of ', answer: "lookup('plans', no)"}
rules:
  - id: open-doors
    task_types: [pick_and_place]
    states: [[open, shut|closed|door]]
    say: ['Open what is shut before you take something out or put something in.', A closed place must be opened first.]
    transform: {kind: lookup, table: right}
  - id: use-lamp
    task_types: [look_at_obj_in_light]
    states: [[lamp|light, use|switch|turn]]
    say: ['To look at a thing in the light, take it to the lamp and use the lamp.', Switch the lamp on while you carry the thing.]
    transform: {kind: lookup, table: right}
  - id: clean-first
    task_types: [pick_clean_then_place_in_recep]
    states: [clean|wash]
    say: ['A clean thing is cleaned at the basin before it is put down.', Wash the thing at the basin first.]
    transform: {kind: lookup, table: right}
  - id: heat-first
    task_types: [pick_heat_then_place_in_recep]
    states: [heat|warm]
    say: ['A hot thing is heated in the oven before it is put down.', Heat the thing with the oven first.]
    transform: {kind: lookup, table: right}
  - id: cool-first
    task_types: [pick_cool_then_place_in_recep]
    states: [cool|chill]
    say: ['A cool thing is cooled in the icebox before it is put down.', Chill the thing with the icebox first.]
    transform: {kind: lookup, table: right}
  - id: both
    task_types: [pick_two_obj_and_place]
    states: [both|two|second]
    say: ['Two things are brought one after the other: go back for the second.', 'Bring both, one at a time.']
    transform: {kind: lookup, table: right}
  - id: leave-lamp
    harmful: true
    task_types: [look_at_obj_in_light]
    states: [[never, lamp]]
    say: [Never touch a lamp that burns.]
    transform: {kind: replace, pattern: '; use lamp \d+$', with: ''}
notes: [Read what the task wants before the first command.]
`
}
