package textgame

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
)

func FuzzNode(f *testing.F) {
	for _, seed := range []string{"(a (b ?c) ; d\n)", "(define (domain d) (:types a - b))", "((", ")", "(é)", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := parseNode(text)
		if err != nil {
			return
		}
		again, err := parseNode(n.String())
		if err != nil || again.String() != n.String() {
			t.Errorf("%q is read as %s and then as %s, %v", text, n, again, err)
		}
	})
}

func FuzzLogic(f *testing.F) {
	f.Add(strings.ReplaceAll(smallDomain, "ACTIONS", warmUp), strings.NewReplacer("OBJECTS", "", "FACTS", "", "GOAL", seenGoal).Replace(smallProblem))
	f.Add("(define (domain d) (:types a - a))", "(define (problem p) (:goal (and)))")
	f.Add("(define (domain d) (:predicates (p ?x)) (:action x :effect (forall (?y - object) (when (p ?y) (not (p ?y))))))", "(define (problem p) (:objects o) (:init (p o)) (:goal (forall (?x) (imply (p ?x) (= ?x o)))))")
	f.Fuzz(func(t *testing.T, domain, problem string) {
		if len(domain)+len(problem) > 2000 {
			return
		}
		l, err := parseLogic(domain, problem)
		if err != nil {
			return
		}
		visits := 10_000
		l.newSolver(l.initial, l.goalVars, false, &visits).holds(l.goal)
	})
}

func FuzzGrammar(f *testing.F) {
	f.Add("# a\ngrammar :: \"\"\"{\"a\": [{\"rhs\": \"b\", \"condition\": \"p(x:t) & q(y)\"}]}\"\"\";\naction go { template :: \"go {x}\"; feedback :: \"#a#\"; grammar :: \"\"\"\n # c\n{}\"\"\"; pddl :: \"\"\"x\"\"\"; }")
	f.Add("action a {")
	f.Add(`grammar :: """{"a": 1}""";`)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = parseGrammar(text) // it ends, and does not panic
	})
}

func FuzzSentence(f *testing.F) {
	for _, seed := range []string{"{o.name + ' ' + a.id or 'x'}[{#a(o)# | p(o:t)}]\n#b#\"c\"", "\t//\n{\t", "{'\\''}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		for _, p := range parseSentence(text) {
			size += len(p.text)
		}
		if size > len(text) {
			t.Errorf("%q is read as more than it is", text)
		}
	})
}

// FuzzGame plays games with one byte changed: they are refused, or played without a panic.
func FuzzGame(f *testing.F) {
	made := textgames.Make(1, textgames.Types[1], true)
	f.Add(uint(100), byte('x'))
	f.Add(uint(9000), byte('('))
	f.Fuzz(func(_ *testing.T, at uint, b byte) {
		data := append([]byte{}, made.Data...)
		data[at%uint(len(data))] = b
		g, err := Parse("fuzz", data)
		if err != nil {
			return
		}
		p, _, err := g.Start()
		if err != nil {
			return
		}
		for _, command := range g.Walkthrough {
			if _, err := p.Act(command); err != nil {
				return
			}
		}
	})
}
