package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// runOf writes a run of a kind with some files.
func runOf(t *testing.T, dir, kind string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf(`{"format": 2, "run_id": %q, "name": %q, "kind": %q, "created_at": "2026-01-02T03:04:05Z", "status": "completed", "identity": {"library.draft": "7"}}`, filepath.Base(dir), filepath.Base(dir), kind)
	for name, text := range map[string]string{"manifest.json": manifest} {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// What a noise run, a draft and a run of an unknown kind hold is read; what is damaged,
// too large or no figure is named, and the other runs are listed.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		name, kind string
		files      map[string]string
		damaged    string // part of the reason; "": it is read
	}{
		{"noise", "noise", map[string]string{"noise.json": `{"items": 4, "first": 0.5, "second": 0.25, "flips": ["a"], "within": 0.35, "minimum_detectable_effect": 0.7}`, "run.db": ""}, ""},
		{"noise-wild", "noise", map[string]string{"noise.json": `{"items": 4, "first": 1e308, "second": 1e308}`}, "1e+308 is no share"},
		{"noise-odd", "noise", map[string]string{"noise.json": `{"items": 1, "flips": ["a", "b"]}`}, "the scores of 2 tasks have changed, of 1"},
		{"draft-cut", "draft", map[string]string{"tasks.jsonl": `{"id": "a"}` + "\n{"}, "tasks.jsonl is damaged: line 2"},
		{"draft-type", "draft", map[string]string{"tasks.jsonl": `{"id": 5}`}, "line 1"},
		{"draft-fell", "draft", map[string]string{"tasks.jsonl": "", "fell.json": `{}`}, "fell.json is damaged"},
		{"night", "night", map[string]string{"night.json": "{}"}, ""},
	} {
		at := filepath.Join(dir, c.name)
		runOf(t, at, c.kind, c.files)
		_, err := record.ReadView(at, at)
		if c.damaged == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if c.damaged != "" && (err == nil || !strings.Contains(err.Error(), c.damaged)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.damaged)
		}
	}
	rows, err := new(record.Index).Rows(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range rows {
		got[r.Name] = r.Status
	}
	want := map[string]string{
		"noise": "completed", "noise-wild": "damaged", "noise-odd": "damaged",
		"draft-cut": "damaged", "draft-type": "damaged", "draft-fell": "damaged", "night": "completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if v, err := record.ReadView(filepath.Join(dir, "night"), "night"); err != nil || !cmp.Equal(v.Files, []result.RunFile{{Name: "manifest.json", Bytes: v.Files[0].Bytes}, {Name: "night.json", Bytes: 2}}) {
		t.Errorf("files: %v, %v", v.Files, err)
	}
}

// A draft is read as text, bounded, with what fell counted by reason.
func TestDrafted(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "draft")
	var lines strings.Builder
	for i := range 501 {
		fmt.Fprintf(&lines, `{"id": "t%d", "prompt": "p", "gold": ["1"], "checks": [{"type":  "equals"}], "doubts": %s, "reviewed": false}`+"\n", i, []string{"null", `["why?"]`}[i%2])
	}
	runOf(t, dir, "draft", map[string]string{"tasks.jsonl": lines.String(), "fell.json": `[{"reason": "a"}, {"reason": "b", "detail": "d"}, {"reason": "b"}]`})
	v, err := record.ReadView(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	d := *v.Drafted
	first := d.Tasks[0]
	n := len(d.Tasks)
	d.Tasks = nil
	want := result.Drafted{
		Asked: 7, Kept: 501, Doubtful: 250, LeftOut: 1,
		Fell: []result.Dropped{{Reason: "b", N: 2, Example: "d"}, {Reason: "a", N: 1}}, Fallen: []result.FallenDraft{{Reason: "a"}, {Reason: "b", Detail: "d"}, {Reason: "b"}},
	}
	if diff := cmp.Diff(want, d); diff != "" || n != 500 {
		t.Errorf("%d tasks (-want +got):\n%s", n, diff)
	}
	if diff := cmp.Diff(result.DraftedTask{ID: "t0", Prompt: "p", Gold: []string{"1"}, Checks: []string{`{"type":"equals"}`}, Doubts: []string{}}, first); diff != "" {
		t.Error(diff)
	}
}

// The floor of the noise lies within its interval, whatever two passes came to.
func TestNoiseFloor(t *testing.T) {
	t.Parallel()
	f := func(x float64) *float64 { return &x }
	for _, n := range []result.Noise{
		{Items: 80, First: 0.3, Second: 0.325, Flips: []string{"a", "b"}, Within: f(0.11180339887498948), Detectable: f(0.04952549764499181)},
		{Items: 12, Within: f(0), Detectable: f(1.0 / 12)},
		{Items: 40, Flips: make([]string, 40), Within: f(0.7071067811865476), Detectable: f(0.4429)},
		{Items: 50, Flips: []string{"a"}, Within: f(0.02), Detectable: f(0.02)},
	} {
		f := record.NewNoiseFloor(n)
		if *f.DetectableLow > *n.Detectable+1e-9 || *f.DetectableHigh < *n.Detectable-1e-3 || *f.ChangedLow > *f.Changed || *f.ChangedHigh < *f.Changed || *f.DetectableLow < 1/float64(n.Items) {
			t.Errorf("%d of %d: %v in [%v, %v], %v in [%v, %v]", len(n.Flips), n.Items, *n.Detectable, *f.DetectableLow, *f.DetectableHigh, *f.Changed, *f.ChangedLow, *f.ChangedHigh)
		}
	}
	one := record.NewNoiseFloor(result.Noise{Items: 1, TooSmall: true})
	if one.DetectableLow != nil || one.Changed == nil {
		t.Errorf("of one task: %+v", one)
	}
	if floor := record.NewNoiseFloor(result.Noise{Items: 30}); floor.DetectableLow != nil || floor.DetectableHigh != nil {
		t.Errorf("where the skill cannot show it: %+v", floor)
	}
	if none := record.NewNoiseFloor(result.Noise{}); none.Changed != nil || none.ChangedLow != nil {
		t.Errorf("of none: %+v", none)
	}
}
