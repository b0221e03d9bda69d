package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
)

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
		"e2/s4/null/cand":              {"null control", "cand"},
		"final/test/best":              {"test", "best"},
		"final/test/open1/seed":        {"test", "seed"},
		"final/fresh":                  {"fresh pass", ""},
		"final/pool":                   {"rest of the pool", ""},
		"final/selection":              {"selection", ""},
		"final/reselect/1/abc":         {"reselect", "abc"},
		"eval/test":                    {"eval test", ""},
		"noise":                        {"noise", ""},
		"compare/A":                    {"compare", "A"},
		"text/0123":                    {"text", "0123"},
		"final/triggers/test":          {"triggers test", ""},
		"e1/s2/triggers/selection":     {"triggers selection", ""},
		"something/that/nobody/writes": {"writes", ""},
		"":                             {"", ""},
	} {
		stage, arm := PlaceOf(key).Stage()
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
