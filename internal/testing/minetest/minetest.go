// Package minetest has sessions of agents in which it is known what there is to be found, and a
// miner that proposes a task for each of them, whatever it is shown. All of it is made up, from a
// seed: it is a simulation.
//
// It knows nothing about how tasks are found.
package minetest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// Plant is a session, and what is known of it.
type Plant struct {
	Session transcript.Transcript
	Family  string // such as "date", or "chatter: thanks"

	// Wish names what the user wanted, the same in other words in other sessions; "": there is no
	// task in the session. Trust and Gold are those of its task.
	Wish  string
	Trust wish.Trust
	Gold  string

	// Payload is an instruction that somebody else than the user has put in, or that the user has
	// given and that nobody should follow unseen; "": none.
	Payload string
	Held    bool // the payload is of others

	tasks []map[string]any // that the miner proposes
	sloth uint64           // how sloppily
}

// Reply is what the miner says of the one session that a request shows, "" if it shows none: of
// those all of whose words stand in the request the longest.
func Reply(plants []Plant, request string) string {
	best := -1
	for i := range plants {
		if (best < 0 || len(plants[i].Session.Turns) > len(plants[best].Session.Turns)) && shown(&plants[i], request) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	return plants[best].reply()
}

func shown(p *Plant, request string) bool {
	for _, t := range p.Session.Turns {
		for _, said := range []string{t.User, t.Agent} {
			text, err := json.Marshal(said)
			if err != nil || said != "" && !strings.Contains(request, plain(text)) {
				return false
			}
		}
	}
	return true
}

// plain is JSON as it stands where HTML is not escaped.
func plain(text []byte) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}

// Plants are 200 sessions in the order of time, 60 of which have a task.
func Plants(seed uint64) []Plant {
	g := &garden{Rand: rand.New(rand.NewPCG(seed, 0x736c656570)), at: time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)}
	g.wishes()
	g.bystanders()
	g.Shuffle(len(g.plants), func(i, j int) { g.plants[i], g.plants[j] = g.plants[j], g.plants[i] })
	for i := range g.plants {
		g.date(&g.plants[i], i)
	}
	return g.plants
}

// garden makes plants.
type garden struct {
	*rand.Rand

	at     time.Time
	plants []Plant
	n      int
}

func pick[T any](g *garden, list ...T) T { return list[g.IntN(len(list))] }

func (g *garden) number(from, to int) int { return from + g.IntN(to-from+1) }

// turn is what is said in one turn.
type turn struct {
	user, agent string
	files       []string
	stopped     bool
	failed      string
	commands    []transcript.Command
}

func (g *garden) session(turns ...turn) transcript.Transcript {
	g.n++
	t := transcript.Transcript{
		Source: pick(g, "claude", "codex", "pi", "gemini"), ID: fmt.Sprintf("s%03d", g.n), Origin: transcript.Interactive,
		Project: pick(g, "/projects/books", "/projects/shop", "/projects/site"),
	}
	for i, said := range turns {
		ok := said.failed == ""
		one := transcript.Turn{
			ID: fmt.Sprintf("%s-%d", t.ID, i), User: said.user, Agent: said.agent, Files: said.files, Interrupted: said.stopped,
			Failed: said.failed, Commands: said.commands,
		}
		if len(said.files)+len(said.commands) > 0 {
			one.Tools = []transcript.Tool{{Name: pick(g, "bash", "edit", "write"), OK: &ok}}
		}
		t.Turns = append(t.Turns, one)
	}
	return t
}

// date gives the turns of a session their times, and its project a commit.
func (g *garden) date(p *Plant, n int) {
	t := &p.Session
	at := g.at.Add(time.Duration(n) * 3 * time.Hour)
	t.Started = at
	for i := range t.Turns {
		t.Turns[i].Started, t.Turns[i].Ended = at, at.Add(time.Minute)
		at = at.Add(2 * time.Minute)
	}
	t.Ended = at
	t.Commit = strings.Repeat(fmt.Sprintf("%04x", n/20), 10)
}

// around puts turns of small talk before and behind those of a plant, and moves what is proposed.
func (g *garden) around(turns []turn, tasks []map[string]any) []turn {
	before, behind := g.IntN(3), 1+g.IntN(2)
	var out []turn
	for range before {
		out = append(out, g.smallTalk())
	}
	out = append(out, turns...)
	for i := range behind {
		if i == 0 {
			out = append(out, turn{user: pick(g, "Thanks!", "Great, that is it.", "Perfect, thank you.", "Danke, passt.", "Merci."), agent: "You are welcome."})
			continue
		}
		out = append(out, g.smallTalk())
	}
	for _, t := range tasks {
		shift(t, before)
	}
	return out
}

func shift(task map[string]any, by int) {
	for _, key := range []string{"asked", "corrected", "accepted"} {
		switch v := task[key].(type) {
		case int:
			task[key] = v + by
		case []int:
			for i := range v {
				v[i] += by
			}
		}
	}
}

func (g *garden) smallTalk() turn {
	return pick(g,
		turn{user: fmt.Sprintf("What does HTTP status %d mean?", pick(g, 404, 418, 503, 302)), agent: "It is one of the codes of the protocol; the number says how the request ended."},
		turn{user: "How do I list hidden files?", agent: "Give ls the flag for all entries."},
		turn{user: "Good morning", agent: "Good morning! What can I do for you?"},
		turn{user: fmt.Sprintf("Remind me: how many minutes are %d hours?", g.number(2, 9)), agent: "Multiply the hours by sixty."},
		turn{user: "Explain what a monad is in one sentence.", agent: "A way to chain computations that carry a context."},
	)
}

// task is what a miner proposes.
func task(asked []int, corrected any, accepted int, prompt, input, gold string, checks []any, rubric, quote string) map[string]any {
	golds := []any{}
	if gold != "" {
		golds = append(golds, gold)
	}
	if checks == nil {
		checks = []any{}
	}
	return map[string]any{
		"asked": asked, "corrected": corrected, "accepted": accepted, "prompt": prompt, "input": input, "gold": golds, "checks": checks,
		"rubric": rubric, "quote": quote,
	}
}

func checkOf(kind string, values ...string) map[string]any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return map[string]any{"type": kind, "values": list, "normalize": "", "abs": nil, "min": nil, "max": nil, "feedback": "what the user wants"}
}

// reply is what the miner says of a session, more or less tidily.
func (p *Plant) reply() string {
	r := rand.New(rand.NewPCG(p.sloth, 7))
	tasks := make([]any, 0, 3)
	for _, t := range p.tasks {
		tasks = append(tasks, t)
	}
	if r.IntN(4) == 0 && len(p.tasks) > 0 {
		tasks = append(tasks, wrong(r, p.tasks[0]))
	}
	text, err := json.Marshal(map[string]any{"tasks": tasks})
	if err != nil {
		return err.Error()
	}
	if p.Wish != "" && r.IntN(25) == 0 {
		return "I could not find anything [in {this} session]."
	}
	switch r.IntN(5) {
	case 0:
		return "Looking at turns [0, 1] and the object {user, agent}, I found this:\n\n" + string(text)
	case 1:
		return "```json\n" + string(text) + "\n```\nLet me know if {anything} is unclear."
	case 2:
		return "Here you go {1}: " + string(text) + " [end]"
	}
	return string(text)
}

// wrong is a proposal that is wrong in one way.
func wrong(r *rand.Rand, like map[string]any) map[string]any {
	t := map[string]any{}
	for k, v := range like {
		t[k] = v
	}
	switch r.IntN(6) {
	case 0:
		t["accepted"] = 40
	case 1:
		t["corrected"], t["asked"] = 0, []int{3}
	case 2:
		t["prompt"] = "Compose a ballad about lighthouses and their keepers in winter"
	case 3:
		t["checks"], t["rubric"], t["gold"] = []any{checkOf("regex", "(")}, nil, []any{}
	case 4:
		t["checks"], t["rubric"], t["gold"] = []any{checkOf("char-count")}, "", []any{}
	case 5:
		t["checks"], t["rubric"] = []any{}, 3
	}
	return t
}

// naive is what the miner proposes of a session without a task: something that looks like one.
func (g *garden) naive(turns []turn, corrected any, accepted int) map[string]any {
	words := strings.Fields(turns[accepted].agent)
	gold := strings.Join(words[:min(len(words), 4)], " ")
	return task([]int{0}, corrected, accepted, turns[0].user, "", gold, []any{checkOf("icontains", gold)}, "", turns[min(len(turns)-1, 1)].user)
}
