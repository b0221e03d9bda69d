package rollout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
	"github.com/seed-f4525e22/skillopt/world"
)

// shelf is a world with one tool: take returns what lies at a place.
type shelf struct {
	open, act error
	slow      time.Duration
}

func (w *shelf) Pure() bool { return true }

func (w *shelf) Open(context.Context, world.Setting) (world.Episode, error) { return w, w.open }

func (w *shelf) Start(context.Context) (world.Scene, error) {
	return world.Scene{Text: "The shelf has places 1 to 3.", Tools: []model.Tool{{Name: "take"}}}, nil
}

func (w *shelf) Act(ctx context.Context, a world.Action) (world.Observation, error) {
	if w.slow > 0 {
		<-ctx.Done()
		return world.Observation{}, ctx.Err()
	}
	switch {
	case a.Call == nil && strings.HasPrefix(a.Text, "done"):
		return world.Observation{Done: true}, w.act
	case a.Call == nil && a.Text == "give up":
		return world.Observation{Failure: "exec: nothing ran"}, nil
	case a.Call == nil:
		return world.Observation{Text: "Say done."}, w.act
	case a.Call.Name != "take":
		return world.Observation{Text: "there is no tool " + a.Call.Name, Failed: true}, nil
	}
	return world.Observation{Text: "at " + string(a.Call.Arguments)}, w.act
}

func (w *shelf) Close() error { return nil }

// talker answers turns from a list, and keeps what it was asked.
type talker struct {
	replies  []model.Response
	diverges map[int]bool // turns that are recorded with another input
	recorded map[int]bool
	base     caller.Call
	asked    []model.Request
	turns    []int
}

func (k *talker) Bind(base caller.Call) model.Client {
	k.base = base
	return &bound{k, base.Turn}
}

func (k *talker) StepRecorded(_ string, turn int) bool { return k.recorded[turn] }

type bound struct {
	*talker
	turn int
}

func (b *bound) Generate(_ context.Context, req model.Request) (model.Response, error) {
	turn := b.turn
	b.turn++
	b.turns = append(b.turns, turn)
	if b.diverges[turn] {
		return model.Response{}, &caller.DivergedError{Key: fmt.Sprintf("k/attempt0/turn%d", turn)}
	}
	b.asked = append(b.asked, req)
	return b.replies[(turn-1)%maxTurns], nil
}

func said(text string, calls ...string) model.Response {
	r := model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 2}}
	for i, args := range calls {
		name := "take"
		if args == "steal" {
			name, args = "steal", "1"
		}
		r.Parts = append(r.Parts, model.Part{Call: &model.ToolCall{ID: fmt.Sprint(i), Name: name, Arguments: json.RawMessage(args)}})
	}
	return r
}

func newDialogue(t *testing.T, w world.World, k *talker) *Dialogue {
	t.Helper()
	return &Dialogue{
		Talk:  Talk{World: w, Prompt: &ChatPrompt{System: parsed(t, "{{skill}}"), User: parsed(t, "{{prompt}}")}, Turns: 3},
		Model: k, Warn: func(error) {},
		Assess: assessed(func(reply string, t task.Task) (string, score.Score) {
			return exact(strings.TrimPrefix(reply, "done: "), t)
		}),
	}
}

func TestDialogue(t *testing.T) {
	for _, c := range []struct {
		name    string
		replies []model.Response
		tokens  int64
		status  score.Status
		hard    float64
		reason  string
		turns   int
	}{
		{name: "a call, then the answer", replies: []model.Response{said("I look.", "1"), said("done: 4")}, status: score.OK, hard: 1, turns: 2},
		{name: "two calls, one unknown", replies: []model.Response{said("", "1", "steal"), said("done: 5")}, status: score.OK, reason: "wrong", turns: 2},
		{name: "words are answered", replies: []model.Response{said("hm"), said("done: 4")}, status: score.OK, hard: 1, turns: 2},
		{name: "no end", replies: []model.Response{said("hm"), said("hm"), said("hm")}, status: score.AgentError, reason: "turns: no end after 3 replies", turns: 3},
		{name: "failed", replies: []model.Response{said("give up")}, status: score.AgentError, reason: "exec: nothing ran", turns: 1},
		{name: "cut", replies: []model.Response{{Text: "done", Finish: model.FinishLength}}, status: score.AgentError, reason: "length: ", turns: 1},
		{name: "too many tokens", replies: []model.Response{said("", "1"), said("done: 4")}, tokens: 12, status: score.AgentError, reason: "tokens: 24 were used, allowed: 12", turns: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &talker{replies: c.replies}
			d := newDialogue(t, &shelf{}, k)
			d.Tokens = c.tokens
			out, err := d.Run(t.Context(), Place{Prefix: "p"}, sum, skill.New("Add."))
			if err != nil {
				t.Fatal(err)
			}
			if out.Status != c.status || out.Hard != c.hard || !strings.HasPrefix(out.FailReason, c.reason) || len(k.asked) != c.turns {
				t.Errorf("got %+v after %d requests", out, len(k.asked))
			}
			if out.Question != "2+2?\n\nThe shelf has places 1 to 3." || out.Usage.Input != int64(10*c.turns) && c.name != "cut" {
				t.Errorf("question %q, usage %+v", out.Question, out.Usage)
			}
		})
	}
}

// TestDialogueTellsResults checks what the model sees of its calls, and what is kept.
func TestDialogueTellsResults(t *testing.T) {
	k := &talker{replies: []model.Response{said("I look.", "1", "steal"), said("done: 4")}}
	out, err := newDialogue(t, &shelf{}, k).Run(t.Context(), Place{Prefix: "p"}, sum, skill.New("Add."))
	if err != nil {
		t.Fatal(err)
	}
	last := k.asked[1].Messages
	want := model.Message{Role: model.ToolRole, Parts: []model.Part{
		{Result: &model.ToolResult{CallID: "0", Name: "take", Content: "at 1"}},
		{Result: &model.ToolResult{CallID: "1", Name: "steal", Content: "there is no tool steal", IsError: true}},
	}}
	if diff := cmp.Diff(want, last[len(last)-1]); diff != "" {
		t.Error(diff)
	}
	turns := []trajectory.Turn{
		{Role: model.Assistant, Content: "I look."},
		{Kind: trajectory.ToolCall, Action: "take 1", Observation: "at 1"},
		{Kind: trajectory.ToolCall, Action: "steal 1", Observation: "error: there is no tool steal"},
		{Role: model.Assistant, Content: "done: 4"},
	}
	if diff := cmp.Diff(turns, out.Trajectory); diff != "" {
		t.Error(diff)
	}
	if k.base.Turn != 1 || k.base.Role != model.Target || k.base.Seed == nil {
		t.Errorf("the conversation begins with %+v", k.base)
	}
}

// TestDialogueOfAnotherWorld checks that a world that answers otherwise than recorded has the task played from the
// start, and that the next session takes up that play.
func TestDialogueOfAnotherWorld(t *testing.T) {
	replies := []model.Response{said("", "1"), said("done: 4")}
	for _, c := range []struct {
		name     string
		diverges map[int]bool
		recorded map[int]bool
		turns    []int
		err      bool
	}{
		{name: "as recorded", turns: []int{1, 2}},
		{name: "other at turn 2", diverges: map[int]bool{2: true}, turns: []int{1, 2, 1001, 1002}},
		{name: "taken up again", diverges: map[int]bool{2: true}, recorded: map[int]bool{1: true, 1001: true}, turns: []int{1001, 1002}},
		{name: "twice", diverges: map[int]bool{2: true, 1002: true}, turns: []int{1, 2, 1001, 1002, 2001, 2002}},
		{name: "another question", diverges: map[int]bool{1: true}, turns: []int{1}, err: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := &talker{replies: replies, diverges: c.diverges, recorded: c.recorded}
			_, err := newDialogue(t, &shelf{}, k).Run(t.Context(), Place{Prefix: "p"}, sum, skill.New("Add."))
			if (err != nil) != c.err {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.turns, k.turns); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDialogueNotMeasured checks that a fault of a world is no score.
func TestDialogueNotMeasured(t *testing.T) {
	broken := errors.New("the disk is gone")
	for name, w := range map[string]*shelf{"open": {open: broken}, "act": {act: broken}} {
		_, err := newDialogue(t, w, &talker{replies: []model.Response{said("done")}}).Run(t.Context(), Place{Prefix: "p"}, sum, skill.New("Add."))
		if !errors.Is(err, caller.ErrUnmeasured) || !errors.Is(err, broken) {
			t.Errorf("%s became %v", name, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDialogue(t, &shelf{slow: time.Hour}, &talker{replies: []model.Response{said("done")}})
		d.Timeout = time.Minute
		if _, err := d.Run(t.Context(), Place{Prefix: "p"}, sum, skill.New("Add.")); !errors.Is(err, caller.ErrUnmeasured) {
			t.Errorf("a task beyond its time became %v", err)
		}
	})
}
