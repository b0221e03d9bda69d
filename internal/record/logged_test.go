package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/eventlog"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
)

// TestOldOutcomesAreReadBack: what the log has shortened is whole again with what the record
// says, but for what only the log knew.
func TestOldOutcomesAreReadBack(t *testing.T) {
	t.Parallel()
	dir, began := t.TempDir(), time.Unix(1_700_000_000, 0)
	if err := os.WriteFile(filepath.Join(dir, run.ManifestFile), []byte(`{"format": 2, "kind": "train","run_id":"r","name":"n","status":"completed"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log, err := eventlog.Open(dir, eventlog.Options{SegmentBytes: 600, Whole: 1})
	if err != nil {
		t.Fatal(err)
	}
	var want []event.OutcomeDone
	for i := range 400 {
		key := fmt.Sprintf("e1/s2/gate/cand/task-%d/sample1", i)
		if err := j.Append(t.Context(), journal.Record{
			Kind: journal.Call, Key: key + "/attempt0/turn1", Input: journal.Input{Own: []byte(`{}`)}, Result: []byte(`{"text":"x"}`),
			Spend: journal.Spend{Stage: "rollout", Role: "target", Model: "m", StartedAt: began, Took: 1500 * time.Millisecond},
		}); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			continue // of somebody else
		}
		row, _ := j.Row(key + "/attempt0/turn1")
		hard, soft := float64(i%2), 0.5
		e := event.OutcomeDone{
			Row: row, Key: key, Epoch: 1, Step: 2, Stage: "gate", Arm: "cand", Task: fmt.Sprint("task-", i), Sample: 1,
			Status: "ok", Hard: &hard, Soft: &soft, Seconds: 1.5,
		}
		log.Add(e, began.Add(1500*time.Millisecond))
		want = append(want, e)
	}
	log.Close()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	lines, err := NewEventReader(r).After(t.Context(), 0, 10_000)
	if err != nil || len(lines) != len(want) {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i, l := range lines {
		var got struct {
			event.OutcomeDone

			Time time.Time
		}
		if err := json.Unmarshal(l.JSON, &got); err != nil || !got.Time.Equal(began.Add(1500*time.Millisecond)) {
			t.Fatalf("%s, %v", l.JSON, err)
		}
		if diff := cmp.Diff(want[i], got.OutcomeDone); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestStagesOfPlaces(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][2]string{
		"seed/selection":               {"baseline", "seed"},
		"seed/selection/again":         {"baseline again", "seed"},
		"e1/s3/rollout":                {"rollout", ""},
		"e1/s3/mb0/rollout":            {"rollout", ""},
		"e1/s3/gate/cand":              {"gate", "cand"},
		"e1/s3/p2/gate/inc":            {"gate", "inc"},
		"e1/s3/gate/drift/gate/cand":   {"gate", "cand"},
		"e1/s3/gate/again":             {"asked again", ""},
		"e1/s3/gate":                   {"gate", ""},
		"e1/end/gate/cand":             {"gate", "cand"},
		"e1/end/compare/now":           {"compare epochs", "now"},
		"final/test/best":              {"test", "best"},
		"final/test/open1/seed":        {"test", "seed"},
		"final/fresh":                  {"fresh pass", ""},
		"final/pool":                   {"rest of the pool", ""},
		"final/selection":              {"selection", ""},
		"eval/test":                    {"eval test", ""},
		"noise":                        {"noise", ""},
		"compare/A":                    {"compare", "A"},
		"text/0123":                    {"text", "0123"},
		"final/triggers/test":          {"triggers test", ""},
		"e1/s2/triggers/selection":     {"triggers selection", ""},
		"something/that/nobody/writes": {"writes", ""},
		"":                             {"", ""},
	} {
		stage, arm := ParsePlace(key).Stage()
		if got := [2]string{stage, arm}; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

func TestOutcomesByTheKeysOfReplies(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]event.OutcomeDone{
		"e1/s3/gate/cand/a%2Fb/sample2/attempt1/turn1": {Key: "e1/s3/gate/cand/a%2Fb/sample2", Epoch: 1, Step: 3, Stage: "gate", Arm: "cand", Task: "a/b", Sample: 2, Seconds: 1.5},
		"final/test/best/t1/sample0":                   {Key: "final/test/best/t1/sample0", Stage: "test", Arm: "best", Task: "t1", Seconds: 1.5},
	} {
		if diff := cmp.Diff(want, outcomeAt(key, 1.5)); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}
