package rollout

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// stairs is a world of commands: up and down, and "leap", which is no command. Its episode ends on the third step, or
// with a failure at "jump".
type stairs struct {
	at    int
	score func(at int) *float64
}

func (*stairs) Pure() bool { return true }

func (w *stairs) Open(context.Context, world.Setting) (world.Episode, error) {
	return &stairs{score: w.score}, nil
}

func (*stairs) Start(context.Context) (world.Scene, error) {
	return world.Scene{Text: "You are at the foot of the stairs.", Acts: true, Choices: []string{"up"}, Scores: true}, nil
}

func (w *stairs) Act(_ context.Context, a world.Action) (world.Observation, error) {
	switch a.Text {
	case "up":
		w.at++
	case "down":
		w.at--
	case "jump":
		return world.Observation{Failure: "fall: broke a leg"}, nil
	default:
		return world.Observation{Text: "Nothing happens.", Choices: []string{"up", "down"}, Score: w.score(w.at)}, nil
	}
	return world.Observation{Text: fmt.Sprintf("Step %d.", w.at), Choices: []string{"up", "down"}, Done: w.at == 3, Score: w.score(w.at)}, nil
}

func (*stairs) Close() error { return nil }

func third(at int) *float64 {
	v := float64(at) / 3
	return &v
}

func tagged(command string) model.Response {
	return said("I think.\n<action> " + command + " </action>")
}

func TestCommands(t *testing.T) {
	act := func(arguments string) model.Response { return said("", arguments) }
	for _, c := range []struct {
		name    string
		replies []model.Response
		form    Form
		score   func(int) *float64
		status  score.Status
		hard    float64
		reason  string
		err     string
	}{
		{name: "done", replies: []model.Response{tagged("up"), tagged("up"), tagged("up")}, status: score.OK, hard: 1},
		{name: "turns end with the last score", replies: []model.Response{tagged("up"), tagged("leap"), said("up")}, status: score.OK, hard: 1. / 3, reason: "turns: no end after 3 replies"},
		{name: "failure", replies: []model.Response{tagged("up"), tagged("jump")}, status: score.AgentError, reason: "fall: broke a leg"},
		{name: "no command at all", replies: []model.Response{said("up"), said("<action></action>"), said("<action>up")}, status: score.AgentError, reason: "turns: no end after 3 replies"},
		{name: "tool", form: FormTool, replies: []model.Response{act(`{"command":"up"}`), said("", `{"command":"up"}`, `{"command":"up"}`), act(`{"command":" up "}`)}, status: score.OK, hard: 1},
		{name: "bad calls", form: FormTool, replies: []model.Response{act(`{"command":"up"}`), act(`{"command":7}`), said("", "steal")}, status: score.OK, hard: 1. / 3, reason: "turns: no end after 3 replies"},
		{name: "no score", replies: []model.Response{tagged("up"), tagged("up"), tagged("up")}, score: func(int) *float64 { return nil }, err: "ended without a score"},
		{name: "score is no number", replies: []model.Response{tagged("up"), tagged("up"), tagged("up")}, score: func(int) *float64 { v := math.NaN(); return &v }, err: "scored NaN"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &stairs{score: third}
			if c.score != nil {
				w.score = c.score
			}
			for i := range c.replies {
				for j := range c.replies[i].Parts {
					if call := c.replies[i].Parts[j].Call; call.Name == "take" {
						call.Name = ToolAct
					}
				}
			}
			k := &talker{replies: c.replies}
			d := newDialogue(t, w, k)
			d.Form = c.form
			out, err := d.Run(t.Context(), Place{}, task.Task{ID: "t", Prompt: "Climb."}, skill.New("s"))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if out.Status != c.status || out.Hard != c.hard || out.Soft != c.hard || out.FailReason != c.reason {
				t.Errorf("outcome %s %v %v %q, want %s %v %q", out.Status, out.Hard, out.Soft, out.FailReason, c.status, c.hard, c.reason)
			}
		})
	}
}

func TestRequestShowsLastTurns(t *testing.T) {
	k := &talker{replies: []model.Response{tagged("up"), tagged("…"), tagged("up")}}
	d := newDialogue(t, &stairs{score: third}, k)
	d.History = 1
	if _, err := d.Run(t.Context(), Place{}, task.Task{ID: "t", Prompt: "Climb."}, skill.New("s")); err != nil {
		t.Fatal(err)
	}
	const first, rule = "Climb.\n\nYou are at the foot of the stairs.", "\n\nGive one command a turn, written as <action>…</action>. You may think first."
	want := []string{
		first + "\n\nPossible commands:\n- up" + rule,
		first + "\n\nYou have played 1 turn. The last of them, and what was seen then:\n\n<action>up</action>\nStep 1.\n\nPossible commands:\n- up\n- down" + rule,
		first + "\n\nYou have played 2 turns. The last of them, and what was seen then:\n\nThe reply has no command. Write one as <action>…</action>.\n\nPossible commands:\n- up\n- down" + rule,
	}
	var got []string
	for _, req := range k.asked {
		if n := len(req.Messages); n != 2 {
			t.Errorf("%d messages, want system and user", n)
		}
		got = append(got, req.Messages[len(req.Messages)-1].Text())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
