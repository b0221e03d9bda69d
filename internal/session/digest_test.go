package session

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/task"
)

// The sum is that of the JSON of the whole list.
func TestDigestOfTasks(t *testing.T) {
	t.Parallel()
	one := rapid.Custom(func(t *rapid.T) task.Task {
		text := rapid.String()
		return task.Task{
			ID: text.Draw(t, "id"), Type: text.Draw(t, "type"), Prompt: text.Draw(t, "prompt"), Hidden: text.Draw(t, "hidden"),
			Gold: rapid.SliceOfN(text, 0, 2).Draw(t, "gold"), Split: rapid.SampledFrom([]task.Split{"", task.Train}).Draw(t, "split"),
			Checks:     rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(` [{"type": "equals"} ] `), json.RawMessage(`{"a":"<&>"}`)}).Draw(t, "checks"),
			Data:       rapid.MapOfN(text, rapid.OneOf(rapid.Map(text, func(s string) any { return s }), rapid.Just[any](json.Number("1.50")), rapid.Just[any]([]any{nil, true})), 0, 3).Draw(t, "data"),
			Unreviewed: rapid.Bool().Draw(t, "unreviewed"), Origin: text.Draw(t, "origin"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.OneOf(rapid.Just[[]task.Task](nil), rapid.SliceOfN(one, 1, 4)).Draw(t, "tasks")
		whole, err := json.Marshal(tasks)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DigestTasks(tasks, false)
		if want := Digest(whole); err != nil || got != want {
			t.Fatalf("got %s, %v, want %s", got, err, want)
		}
	})
}
