package textgame

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is a game of a few lines. What is not set is that of smallDomain, smallProblem and smallGrammar.
type small struct {
	actions         string // besides look
	objects, facts  string
	goal            string
	look            string // the answer to look
	verbs           string // besides look
	rules           string // besides those of lists
	domain, problem string // instead
	grammar         string
}

const (
	smallDomain = `(define (domain d) (:requirements :adl)
(:types agent loc thing - object sub - thing)
(:predicates (at ?a - agent ?l - loc) (here ?t - thing ?l - loc) (seen ?x) (hot ?t - thing) (cold ?t - thing) (can ?t - thing) (lit ?t - thing))
(:action look :parameters (?a - agent ?l - loc) :precondition (and (at ?a ?l)) :effect (and (seen ?a)))
ACTIONS)`
	smallProblem = `(define (problem p) (:domain d)
(:objects a_bar_1 - agent l_bar_1 l_bar_2 - loc t_bar_1 t_bar_2 - thing s_bar_1 - sub OBJECTS)
(:init (at a_bar_1 l_bar_1) (here t_bar_1 l_bar_1) (here t_bar_2 l_bar_2) (here s_bar_1 l_bar_1) FACTS)
(:goal GOAL))`
	smallRules = `"intro":[{"rhs":"start"}],"list_empty":[{"rhs":"nothing"}],"list_separator":[{"rhs":", "}],"list_last_separator":[{"rhs":", and "}]`
	seenGoal   = "(exists (?a - agent) (seen ?a))"
)

func (s small) parse() (*Game, error) {
	fill := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	if s.goal == "" {
		s.goal = seenGoal
	}
	if s.look == "" {
		s.look = "ok"
	}
	rules := smallRules
	if s.rules != "" {
		rules += "," + s.rules
	}
	if s.grammar == "" {
		s.grammar = `grammar :: """{` + rules + `}""";` + "\n" + `action look { template :: "look"; feedback :: "` + s.look + `"; }` + "\n" + s.verbs
	}
	if s.domain == "" {
		s.domain = fill(smallDomain, "ACTIONS", s.actions)
	}
	if s.problem == "" {
		s.problem = fill(smallProblem, "OBJECTS", s.objects, "FACTS", s.facts, "GOAL", s.goal)
	}
	data, err := json.Marshal(map[string]any{"pddl_domain": s.domain, "pddl_problem": s.problem, "grammar": s.grammar})
	if err != nil {
		return nil, err
	}
	return Parse("small", data)
}

const (
	warmUp = "(:action heat :parameters (?t - thing) :precondition (and) :effect (and (hot ?t) (not (cold ?t))))"
	flip   = "(:action flip :parameters (?t - thing) :precondition (and) :effect EFFECT)"
)

func verbFor(name string) string {
	return "action " + name + ` { template :: "` + name + ` {t}"; feedback :: "done"; }`
}

// TestLikeThePackage plays games of a few lines. What is wanted was recorded from alfworld 0.4.2 with textworld 1.7.0.
func TestLikeThePackage(t *testing.T) {
	t.Parallel()
	things := "[{x.name | lit(x:thing)}] not [{x.name | not_lit(x:thing)}]"
	effect := func(text string) string { return strings.ReplaceAll(flip, "EFFECT", text) }
	for name, test := range map[string]struct {
		game     small
		commands []string
		want     string // the last answer; "" the refusal
		offered  string // at the end
	}{
		"types below": {
			small{look: "[{t.name | here(t:thing, l:loc)}]"}, []string{"look"}, "t 2, and s 1", "look",
		},
		"names are of different objects": {
			small{look: "[{t.name | here(t:object, m:object)}]"}, []string{"look"}, "t 1", "look",
		},
		"objects and fields": {
			small{look: "{a} {a.id} {a.indefinite} {a.definite} {'' or l.name} {'x' + a.name or a.id} { 'it\\'s' }"}, []string{"look"}, "a 1 a_bar_1 a the l 2 xa 1 it's", "look",
		},
		"an unknown fact": {
			small{look: "-{a.name | nope(a:agent)}-"}, []string{"look"}, "--", "look",
		},
		"an unknown type in a condition never holds": {
			small{actions: "(:action peek :parameters (?t - thing) :precondition (or (exists (?l - loc,) (here ?t ?l)) (can ?t)) :effect (seen ?t))", facts: "(can t_bar_2)", verbs: verbFor("peek")},
			nil, "start", "look; peek t 1",
		},
		"an object of other games": {
			small{actions: "(:action peek :parameters (?t - thing) :precondition (or (here ?t cellar) (can ?t)) :effect (seen ?t))", facts: "(can t_bar_2)", verbs: verbFor("peek")},
			nil, "start", "look; peek t 1",
		},
		"removed is only what can become true": {
			small{actions: warmUp, verbs: verbFor("heat"), look: "[{x.name | not_cold(x:thing)}] [{x.name | hot(x:thing)}]"}, []string{"heat t 1", "heat s 1", "look"}, "nothing t 1, and s 1", "heat s 1; heat t 1; heat t 2; look",
		},
		"what is removed was there at the start": {
			small{actions: warmUp, verbs: verbFor("heat"), facts: "(cold t_bar_1)", look: "[{x.name | not_cold(x:thing)}]"}, []string{"heat t 1", "heat t 2", "look"}, "t 2", "heat s 1; heat t 1; heat t 2; look",
		},
		"sentences know the effects of all conditions": {
			small{actions: effect("(and (when (lit ?t) (not (lit ?t))) (when (not (lit ?t)) (lit ?t)))"), verbs: verbFor("flip"), look: things}, []string{"flip t 1", "look"}, "nothing not t 1", "flip s 1; flip t 1; flip t 2; look",
		},
		"also for all objects": {
			small{actions: effect("(forall (?x - thing) (when (and (can ?x) (not (hot ?t))) (lit ?x)))"), verbs: verbFor("flip"), facts: "(can t_bar_2) (hot t_bar_1)", look: things}, []string{"flip t 1", "look"}, "t 1 not nothing", "flip s 1; flip t 1; look",
		},
		"an effect that never does anything": {
			small{actions: effect("(and (not (lit ?t)) (when (can ?t) (lit ?t)))"), verbs: verbFor("flip"), facts: "(can t_bar_2) (lit s_bar_1)", look: things}, []string{"flip t 1", "flip s 1", "look"}, "t 1 not s 1", "flip s 1; flip t 1; look",
		},
		"a removal that is demanded": {
			small{actions: "(:action flip :parameters (?t - thing) :precondition (not (lit ?t)) :effect (not (lit ?t)))", verbs: verbFor("flip"), facts: "(lit t_bar_2)"}, nil, "start", "look",
		},
		"an addition that one alternative demands": {
			small{actions: "(:action flip :parameters (?t - thing) :precondition (or (hot ?t) (can ?t)) :effect (hot ?t))", verbs: verbFor("flip"), facts: "(hot t_bar_1) (can t_bar_2)"}, []string{"flip t 1"}, "done", "flip t 1; look",
		},
		"forall in a condition": {
			small{actions: "(:action flip :parameters (?t - thing) :precondition (forall (?l - loc) (or (here ?t ?l) (not (can ?t)))) :effect (hot ?t))", verbs: verbFor("flip"), facts: "(can t_bar_1)"}, nil, "start", "flip s 1; flip t 1; look",
		},
		"a name without a number": {
			small{actions: warmUp, verbs: verbFor("heat"), objects: "lone - thing", facts: "(here lone l_bar_1)"}, []string{"heat lone "}, "", "heat lone ; heat s 1; heat t 1; heat t 2; look",
		},
		"either has no objects, and constants are objects": {
			small{domain: strings.NewReplacer("(:predicates", "(:constants k_bar_1 - loc) (:predicates", "ACTIONS", "(:action flip :parameters (?t - (either sub loc)) :precondition (seen ?t) :effect (seen k_bar_1)) (:action heat :parameters (?t - sub) :precondition (not (seen k_bar_1)) :effect (hot ?t))").Replace(smallDomain), facts: "(seen s_bar_1) (seen l_bar_2) (seen t_bar_1)", verbs: verbFor("flip") + verbFor("heat")},
			nil, "start", "heat s 1; look",
		},
		"an action that is never possible needs no grammar": {
			small{actions: "(:action flip :parameters (?t - thing) :precondition (cold ?t) :effect (hot ?t))"}, nil, "start", "look",
		},
		"the start of a sentence, and its end": {
			small{look: "\n\n//x\n  {a.name} (in {l.name})} and more"}, []string{"look"}, "a 1 (in l 2)", "look",
		},
		"empty sentences": {small{look: "#none#", rules: `"none":[{"rhs":""}]`}, []string{"look"}, "", "look"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, err := test.game.parse()
			if err != nil {
				t.Fatal(err)
			}
			scenes := follow(t, g, test.commands...)
			last := scenes[len(scenes)-1]
			if test.want == "" && test.game.rules == "" {
				test.want = Refusal
			}
			if diff := cmp.Diff([]string{test.want, test.offered}, []string{last.seen, last.admissible}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestGoals: a goal that can never hold is refused, and one that holds at the start is won.
func TestGoals(t *testing.T) {
	t.Parallel()
	pair := "(exists (?x ?y - thing) (and (hot ?x) (hot ?y) (not (= ?x ?y))))"
	for goal, test := range map[string]struct{ commands, want string }{
		"(exists (?x - thing ?l - loc) (here ?x ?l))": {"look", "true true"},
		pair: {"heat t 1,heat t 1,heat s 1", "false false false true"},
		"(and (exists (?a - agent) (seen ?a)) (not (here t_bar_1 l_bar_1)))":                       {"look", "false false"},
		"(forall (?x - thing) (hot ?x))":                                                           {"heat t 1,heat t 2,heat s 1", "false false false true"},
		"(imply (hot s_bar_1) (seen a_bar_1))":                                                     {"heat s 1,look", "true false true"},
		"(not (exists (?x - sub) (not (hot ?x))))":                                                 {"heat t 1,heat s 1", "false false true"},
		"(exists (?x - thing) (and (hot ?x) (forall (?y - thing) (or (= ?x ?y) (not (hot ?y))))))": {"heat t 1,heat s 1", "false true false"},
	} {
		g, err := small{actions: warmUp, verbs: verbFor("heat"), goal: goal}.parse()
		if err != nil {
			t.Error(err)
			continue
		}
		var won []string
		for _, s := range follow(t, g, strings.Split(test.commands, ",")...) {
			won = append(won, map[bool]string{true: "true", false: "false"}[s.won])
		}
		if got := strings.Join(won, " "); got != test.want {
			t.Errorf("%s: won is %s, want %s", goal, got, test.want)
		}
	}
}

// doubling returns rules that write nothing in 2 to the power of n parts.
func doubling(n int) string {
	var rules []string
	for i := range n {
		rules = append(rules, fmt.Sprintf(`"x%d":[{"rhs":"#x%d##x%d#"}]`, i, i+1, i+1))
	}
	return strings.Join(rules, ",") + fmt.Sprintf(`,"x%d":[{"rhs":""}]`, n)
}

// TestErrors: what is wrong with a game is named with its place, at once or when a sentence is written.
func TestErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		game small
		want string
	}{
		"parenthesis":       {small{domain: "(define (domain d)\n(:types a b"}, "game small, pddl_domain, line 2: a parenthesis of this line is not closed"},
		"after the end":     {small{problem: "(define (problem p))\n)"}, "pddl_problem, line 2: a parenthesis closes no list"},
		"no definition":     {small{domain: "(domain d)"}, "pddl_domain, line 1: it does not begin with (define (domain NAME)"},
		"unknown part":      {small{actions: "\n(:durative-action x)"}, "pddl_domain, line 6: unknown part :durative-action; allowed: :requirements, :types"},
		"unknown condition": {small{actions: "(:action x :parameters (?t - thing)\n:precondition (preference (hot ?t)) :effect (hot ?t))"}, "pddl_domain, line 6: found (preference (hot ?t)); allowed: and, or, not, imply, exists, forall, ="},
		"derived":           {small{actions: "(:derived (can ?t - thing) (hot ?t)) (:action x :parameters (?t - thing) :precondition (can ?t) :effect (hot ?t))"}, "can is defined by :derived"},
		"variable":          {small{actions: "(:action x :parameters (?t - thing) :precondition (hot ?u) :effect (hot ?t))"}, "found ?u, which is no variable here"},
		"arity":             {small{goal: "(hot)"}, "pddl_problem, line 4: (hot) has 0 arguments, and takes 1"},
		"type of an object": {small{objects: "u_bar_1 - foo"}, "the object u_bar_1 has the type foo, which the domain does not declare"},
		"twice":             {small{objects: "a_bar_1 - agent"}, "the object a_bar_1 is declared twice"},
		"no object":         {small{facts: "(hot stove)"}, "the fact (hot stove) names stove, which is no object"},
		"no goal":           {small{problem: "(define (problem p) (:objects a_bar_1 - agent))"}, "the problem has no (:goal CONDITION)"},
		"goal":              {small{goal: "(exists (?x - thing) (hot ?x))"}, "pddl_problem: the goal can never hold"},
		"alternatives":      {small{goal: "(and" + strings.Repeat(" (or (hot t_bar_1) (hot t_bar_2))", 12) + ")"}, "more than 1024 alternatives"},
		"depth":             {small{goal: strings.Repeat("(not ", 200)}, "or lists are nested more than 100 deep"},
		"block":             {small{grammar: "\ngrammars :: \"\"\"{}\"\"\";"}, `grammar, line 2: found "grammars", expected a block: grammar, action`},
		"rules":             {small{grammar: "grammar :: \"\"\"{\n\"a\": [}\"\"\";"}, "grammar, line 2: the rules cannot be read"},
		"rhs":               {small{rules: `"x":[{"condition":"a(b)"}]`}, `a rule of "x" has no rhs`},
		"verb":              {small{verbs: `action x { template :: "x"; }`}, "the action x needs a template, a feedback and a } at its end"},
		"comment in rules":  {small{rules: "\n# a comment\n\"x\":[]"}, "the rules cannot be read"},
		"symbol":            {small{look: "#nowhere#"}, "the grammar has no rule for #nowhere# whose condition holds, of 0"},
		"no rule":           {small{look: "#x#", rules: `"x":[{"condition":"seen(q:loc)","rhs":"X"}]`}, "no rule for #x# whose condition holds, of 1"},
		"loop":              {small{look: "#x#", rules: `"x":[{"rhs":"a#x#"}]`}, "its rules are nested more than 100 deep"},
		"endless":           {small{look: "#x0#", rules: doubling(40)}, "looks at more than 1000000 facts"},
		"expression":        {small{look: "{a.name.upper()}"}, `the expression "a.name.upper()" cannot be read`},
		"name":              {small{look: "{zzz}"}, `the expression "zzz": there is no "zzz" here`},
		"field":             {small{look: "{a.weight}"}, `an object has no "weight"`},
		"plus":              {small{look: "{a + 'x'}"}, "a is an object, which + does not take"},
		"query":             {small{look: "{a.name | at(a : agent, l:loc) & }"}, `cannot be read at " "`},
		"query type":        {small{look: "{a.name | at(a, l:loc)}"}, `names the type "a", which the domain does not declare`},
		"missing verb":      {small{actions: warmUp}, "the grammar has no action heat, which is possible now"},
		"unnamed":           {small{actions: warmUp, verbs: verbFor("heat"), objects: "u_bar_1 - thing"}, "the object u_bar_1 is in no fact and has no name"},
	} {
		g, err := test.game.parse()
		if err == nil {
			var p *Play
			if p, _, err = g.Start(); err == nil {
				_, err = p.Act("look")
			}
		}
		var e *Error
		if err == nil || !strings.Contains(err.Error(), test.want) || g == nil && !errors.As(err, &e) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := Parse("x", []byte("{\n]")); err == nil || !strings.Contains(err.Error(), "game x, line 2: it is no JSON object") {
		t.Error(err)
	}
}
