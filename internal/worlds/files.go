package worlds

import (
	"fmt"
	"strings"
)

// worldFile writes the world file.
func worldFile(p Params, o Optimizer, kinds []kind) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `# A SIMULATED WORLD, made by "skillopt init --world". No model runs here: this file
# tells the provider "sim" how to play the target and the optimizer. Scores from it
# say nothing about any real model. docs/environments.md describes the keys.
name: %s
seed: %d
reply: <answer>{{answer}}</answer>
rates:
  noise: %v    # tasks that can never be solved
  flip: %v     # answers in which the target forgets the skill
  harm: %v     # failure analyses that propose a harmful rule as well
  fooled: %v   # harmful proposals that ranking takes for good ones
  note: %v     # success analyses that propose a useless note
  examples: %v # worked examples that show the target a rule; 0: it learns of none
%s
kinds:
`, p.Name, p.Seed, p.Noise, p.Flip, max(p.Harm, o.Harm), p.Fooled, p.Note, p.Examples, o.keys())
	for _, k := range kinds {
		fmt.Fprintf(&b, "  - type: %s\n    match: '(?s)\\n- %s: (?P<value>[^\\n]+)\\n.*Question: What is the %s\\?'\n    answer: %s\n",
			k.noun, k.noun, k.noun, k.form.answer)
	}
	b.WriteString("\nrules:\n")
	for _, k := range kinds {
		for _, r := range k.rules {
			fmt.Fprintf(&b, "  - id: %s\n    task_types: [%s]\n    states: [[%s, %s]]\n    say:\n      - '%s'\n      - '%s'\n    transform: %s\n",
				r.id, k.noun, k.noun, r.word, r.say[0], r.say[1], r.transform)
		}
	}
	b.WriteString("  # Wrong conclusions that the optimizer sometimes draws.\n")
	for i, h := range harms() {
		fmt.Fprintf(&b, "  - id: %s\n    harmful: true\n    task_types: [%s]\n    states: [%s]\n    say: ['%s']\n    transform: %s\n",
			h.id, strings.Join(everySecond(kinds, i), ", "), h.word, h.say[0], h.transform)
	}
	b.WriteString(`
# What a success analyst may add: harmless, and of no use.
notes:
  - Read the whole card before you answer.
  - Give the answer without repeating the question.
  - Check the card number a second time.
`)
	return []byte(b.String())
}

// harms returns the harmful rules. The first concerns the even kinds, the second the odd ones.
func harms() []ruleDef {
	return []ruleDef{
		{id: "courtesy", word: "courtesy", say: []string{"Begin the answer with a courtesy."}, transform: "{kind: prefix, text: 'Certainly: '}"},
		{id: "full-stop", word: "full stop", say: []string{"End the answer with a full stop."}, transform: "{kind: suffix, text: .}"},
	}
}

// everySecond returns the types of the kinds from number first, or of all if
// there are too few.
func everySecond(kinds []kind, first int) []string {
	var types []string
	for i, k := range kinds {
		if i%2 == first%2 || len(kinds) == 1 {
			types = append(types, k.noun)
		}
	}
	return types
}

func startingSkill(p Params) string {
	return fmt.Sprintf(`---
name: %s
description: How to answer questions about the cards of the file room. A simulated world.
---

# File room

You are given one card and one question about it.

- Take the answer from the card only.
`, p.Name)
}

func config(p Params) string {
	return fmt.Sprintf(`# Trains SKILL.md on tasks.jsonl in a SIMULATED world: no key, no network, no cost.
# Made by "skillopt init --world" with tasks=%d,rules=%d,depth=%d,plain=%v,skew=%v,noise=%v,
# flip=%v,harm=%v,fooled=%v,note=%v,optimizer=%s,seed=%d.
skill: SKILL.md

tasks:
  path: tasks.jsonl
  extract: {tag: answer}
  checks:
    - {type: equals, value: $gold, normalize: trim}

split: {ratio: "2:2:1", seed: 42}

models:
  target:    {provider: sim, world: world.yaml}
  optimizer: {provider: sim, world: world.yaml}

train: {epochs: 4, seed: 42}
`, p.Tasks, p.Rules, p.Depth, p.Plain, p.Skew, p.Noise, p.Flip, p.Harm, p.Fooled, p.Note, p.Optimizer, p.Seed)
}
