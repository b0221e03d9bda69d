package textgame

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The texts in a game.
const (
	partDomain  = "pddl_domain"
	partProblem = "pddl_problem"
	partGrammar = "grammar"
)

// Refusal is the answer to a command that is not possible.
const Refusal = "Nothing happens."

// Game is a text game. It does not change, and is safe for concurrent use.
type Game struct {
	Walkthrough []string // commands that win it; nil: unknown

	*logic
	file    string
	grammar *grammar
	names   []string // of the objects; "": one that is in no fact
}

// gameFile is how a game is stored.
type gameFile struct {
	Domain      string   `json:"pddl_domain"`
	Problem     string   `json:"pddl_problem"`
	Grammar     string   `json:"grammar"`
	Walkthrough []string `json:"walkthrough"`
}

// Parse reads a game. file is its name in messages. What is wrong with it is an *Error.
func Parse(file string, data []byte) (*Game, error) {
	var stored gameFile
	if err := json.Unmarshal(data, &stored); err != nil {
		return nil, &Error{Game: file, Line: 1 + strings.Count(string(data[:min(errorOffset(err), int64(len(data)))]), "\n"), Msg: "it is no JSON object of texts: " + err.Error()}
	}
	l, err := parseLogic(stored.Domain, stored.Problem)
	if err != nil {
		return nil, locate(err, file, "")
	}
	g := &Game{Walkthrough: stored.Walkthrough, logic: l, file: file}
	if g.grammar, err = parseGrammar(stored.Grammar); err != nil {
		return nil, locate(err, file, partGrammar)
	}
	g.names = l.displayNames()
	g.nameObjects(g.Walkthrough)
	return g, nil
}

// displayNames returns what the objects are called: the first part of their identifiers, and a number that
// counts down in the order of the identifiers.
func (l *logic) displayNames() []string {
	inFact := make([]bool, len(l.objects))
	for _, t := range l.initial {
		for _, row := range t.rows {
			for _, o := range row {
				inFact[o] = true
			}
		}
	}
	decode := strings.NewReplacer("_bar_", "|", "_minus_", "-", "_plus_", "+", "_dot_", ".", "_comma_", ",")
	names, counts := make([]string, len(l.objects)), map[string]int{}
	for o, id := range slices.Backward(l.objects) {
		if !inFact[o] {
			continue
		}
		name, _, numbered := strings.Cut(decode.Replace(id), "|")
		if !numbered {
			names[o] = name + " "
			continue
		}
		if strings.Contains(id, "basin") {
			name += "basin"
		}
		counts[name]++
		names[o] = name + " " + strconv.Itoa(counts[name])
	}
	return names
}

// nameObjects replaces identifiers of objects in commands: some games are published with those.
func (g *Game) nameObjects(commands []string) {
	var pairs []string
	for o, id := range slices.Backward(g.objects) { // one that begins with another comes first
		if strings.Contains(id, "_bar_") && g.names[o] != "" {
			pairs = append(pairs, id, g.names[o])
		}
	}
	names := strings.NewReplacer(pairs...)
	for i, c := range commands {
		commands[i] = names.Replace(c)
	}
}

// Play is one time that a game is played. Its methods are called one after the other.
type Play struct {
	game       *Game
	state      state
	moves      []move
	commands   []string // of the moves
	admissible []string
	won        bool
}

// Start begins to play, and returns what a player sees first.
func (g *Game) Start() (p *Play, intro string, err error) {
	p = &Play{game: g, state: state{g.initial, g.initial, make(facts, len(g.initial))}}
	for i := range g.initial {
		p.state.gone[i] = newTable(g.predicates[i].arity, nil)
	}
	intro, err = g.sentence(p.state, []part{{text: "intro", symbol: true}}, nil)
	if err == nil {
		err = p.update()
	}
	return p, intro, g.fail(err)
}

// fail returns an error with the name of the game.
func (g *Game) fail(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("game %s: %w", g.file, err)
}

// update finds what is possible now.
func (p *Play) update() (err error) {
	g := p.game
	if p.moves, err = g.logic.moves(p.state.facts); err != nil {
		return err
	}
	p.commands = make([]string, len(p.moves))
	for i, m := range p.moves {
		v, known := g.grammar.verbs[m.action.name]
		if !known {
			return fmt.Errorf("the grammar has no action %s, which is possible now", m.action.name)
		}
		if p.commands[i], err = g.sentence(p.state, v.command, g.bindings(m)); err != nil {
			return err
		}
	}
	p.admissible = slices.Clone(p.commands)
	slices.Sort(p.admissible)
	p.admissible = slices.Compact(p.admissible)
	p.won = g.goalHolds(p.state.facts)
	return nil
}

// bindings returns the names that the sentences of a move use. A parameter has its own type here.
func (g *Game) bindings(m move) []binding {
	names := make([]binding, len(m.args))
	for i, o := range m.args {
		k := m.action.vars[i]
		names[i] = binding{holder{m.action.params[i], g.kinds[k].name}, o, k}
	}
	return names
}

// Act carries out a command, and returns the answer.
func (p *Play) Act(command string) (answer string, err error) {
	at := slices.Index(p.commands, strings.TrimSpace(command))
	if at < 0 {
		return Refusal, nil
	}
	g, m := p.game, p.moves[at]
	if p.state, err = g.logic.apply(m, p.state); err != nil {
		return "", g.fail(err)
	}
	if answer, err = g.sentence(p.state, g.grammar.verbs[m.action.name].answer, g.bindings(m)); err == nil {
		err = p.update()
	}
	return answer, g.fail(err)
}

// Admissible returns the commands that are possible now, sorted.
func (p *Play) Admissible() []string { return p.admissible }

// IsWon reports whether the goal holds.
func (p *Play) IsWon() bool { return p.won }

// Score returns 1 when the game is won, else 0.
func (p *Play) Score() float64 {
	if p.won {
		return 1
	}
	return 0
}
