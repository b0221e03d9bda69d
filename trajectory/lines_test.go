package trajectory

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
)

func TestLines(t *testing.T) {
	a, b := Outcome{ID: "a", Status: score.OK, Hard: 1, Soft: 1}, Outcome{ID: "b\n", Status: score.OK}
	const lineA, lineB = `{"id":"a","status":"ok","hard":1,"soft":1,"usage":{"input":0,"output":0}}`, `{"id":"b\n","status":"ok","hard":0,"soft":0,"usage":{"input":0,"output":0}}`
	for name, tt := range map[string]struct {
		list interface{ Lines() ([]byte, error) }
		want string
	}{
		"no list":     {Outcomes(nil), "null"},
		"none":        {Outcomes{}, "[]"},
		"two":         {Outcomes{a, b}, "[\n" + lineA + ",\n" + lineB + "\n]"},
		"no map":      {Named(nil), "null"},
		"no names":    {Named{}, "{}"},
		"unmeasured":  {Outcomes{{ID: "c", Status: score.Unmeasured, FailReason: "lost"}}, "[\n" + `{"id":"c","status":"unmeasured","fail_reason":"lost","usage":{"input":0,"output":0},"hard":null,"soft":null}` + "\n]"},
		"by name":     {Named{"seed": {b}, "best": {a}}, "{\n\"best\": [\n" + lineA + "\n],\n\"seed\": [\n" + lineB + "\n]\n}"},
		"empty names": {Named{`"`: nil}, "{\n\"\\\"\": null\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tt.list.Lines()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinesNameWhatCannotBeWritten(t *testing.T) {
	bad := []Outcome{{ID: "x", Status: score.OK, Hard: math.NaN()}}
	for _, list := range []interface{ Lines() ([]byte, error) }{Outcomes(bad), Named{"best": bad}} {
		if _, err := list.Lines(); err == nil || !strings.Contains(err.Error(), "outcome of x") {
			t.Errorf("%T: error = %v", list, err)
		}
	}
}

// limited takes so many bytes and then no more.
type limited int

func (l *limited) Write(data []byte) (int, error) {
	if *l -= limited(len(data)); *l < 0 {
		return 0, io.ErrShortWrite
	}
	return len(data), nil
}

// WriteLines writes what Lines returns, and tells of a write that fails.
func TestWriteLines(t *testing.T) {
	list := Named{"b": {{ID: "x", Status: score.OK, Hard: 1}, {ID: "y", Status: score.Unmeasured}}, "a": nil, "c": {}}
	want, err := list.Lines()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := list.WriteLines(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for room := range want {
		limit := limited(room)
		if err := list.WriteLines(&limit); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("room for %d of %d bytes: error = %v", room, len(want), err)
		}
	}
}

// TestLinesAreTheSameJSON: the lines hold what the encoder would write for the
// whole, and each outcome stands on one.
func TestLinesAreTheSameJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Outcome
		for range rapid.IntRange(0, 5).Draw(t, "outcomes") {
			list = append(list, Outcome{
				ID: rapid.String().Draw(t, "id"), Status: score.OK, Hard: rapid.Float64Range(0, 1).Draw(t, "hard"),
				Trajectory: []Turn{{Role: "assistant", Content: rapid.String().Draw(t, "content")}},
			})
		}
		got, err := Outcomes(list).Lines()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(got), "\n"); len(list) > 0 && n != len(list)+1 {
			t.Errorf("%d outcomes on %d lines", len(list), n)
		}
		byName, err := Named{"all": list}.Lines()
		if err != nil {
			t.Fatal(err)
		}
		var one []Outcome
		var all map[string][]Outcome
		if err := json.Unmarshal(got, &one); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(byName, &all); err != nil {
			t.Fatal(err)
		}
		want := plain(t, list)
		if diff := cmp.Diff(want, plain(t, one)); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, plain(t, all["all"])); diff != "" {
			t.Errorf("by name (-want +got):\n%s", diff)
		}
	})
}

// plain is what the encoder writes for a list; none and an empty one are alike.
func plain(t *rapid.T, list []Outcome) string {
	data, err := json.Marshal(append([]Outcome{}, list...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
