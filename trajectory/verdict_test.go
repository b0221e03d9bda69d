package trajectory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/score"
)

// What a check said comes back from a file as it was, and what was not run has no score.
func TestVerdictsInFiles(t *testing.T) {
	t.Parallel()
	verdicts := VerdictsOf([]score.Component{
		{Check: "form", Type: "regex", Score: 1, Weight: 2, Required: true, Pass: true},
		{Check: "number", Type: "number", Score: 0, Weight: 1, Required: true, Saw: "the number 45", Reason: "off by 2"},
		{Check: "f1", Type: "f1", Score: 0.25, Weight: 0},
		{Check: "command", Type: "command", Weight: 1, Required: true, Reason: "it was ended after 1m0s", NotRun: true},
	})
	data, err := json.Marshal(verdicts)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"check":"form","type":"regex","verdict":"passed","score":1,"weight":2},` +
		`{"check":"number","verdict":"failed","score":0,"weight":1,"saw":"the number 45","why":"off by 2"},` +
		`{"check":"f1","verdict":"failed","score":0.25,"weight":0,"optional":true},` +
		`{"check":"command","verdict":"not_run","score":null,"weight":1,"why":"it was ended after 1m0s"}]`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
	var back []CheckVerdict
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(verdicts, back); d != "" {
		t.Error(d)
	}
}

// However many checks there are and however much they say, what is kept is bounded, and
// what failed is kept before what passed.
func TestVerdictsAreBounded(t *testing.T) {
	t.Parallel()
	var parts []score.Component
	for i := range 1000 {
		parts = append(parts, score.Component{
			Check: strings.Repeat("ä", 1000), Type: "equals", Score: 1, Pass: i < 990, Saw: strings.Repeat("s", 1<<20), Reason: strings.Repeat("w", 1<<20),
		})
	}
	got := VerdictsOf(parts)
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != maxVerdicts || len(data) > maxVerdicts*1200 {
		t.Errorf("%d verdicts in %d bytes", len(got), len(data))
	}
	failed := 0
	for _, v := range got {
		if v.Verdict == Failed {
			failed++
		}
	}
	if failed != 10 {
		t.Error(fmt.Sprint(failed, " of 10 failed ones are kept"))
	}
}
