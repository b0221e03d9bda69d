package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestJUnit(t *testing.T) {
	t.Parallel()
	outcomes := trajectory.Named{"test": {
		{ID: "a", Type: "sum", Status: score.OK, Hard: 1},
		{ID: "b", Status: score.OK, Answer: "x\x1b[31m <&>]]>", Reference: "y", FailReason: "equals: not \"y\""},
		{ID: "c", Status: score.Unmeasured, FailReason: "network: refused"},
		{ID: "a", Type: "sum", Status: score.AgentError, FailReason: "timeout"},
		{ID: "c", Status: score.Unmeasured},
	}}
	data, err := junit(outcomes, &result.Evaluation{Skill: "h", Splits: map[string]result.SplitScore{"test": {}}})
	if err != nil {
		t.Fatal(err)
	}
	var got junitSuites
	if err := xml.Unmarshal(data, &got); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	got.XMLName = xml.Name{}
	got.Suites[0].Properties = nil
	want := junitSuites{Name: "skillopt", Tests: 3, Failures: 2, Skipped: 1, Suites: []junitSuite{{Name: "test", Tests: 3, Failures: 2, Skipped: 1, Cases: []junitCase{
		{Name: "a", Class: "test.sum", Failure: &junitFailure{Message: "timeout (in 1 of 2 passes)", Type: "agent_error", Text: "why: timeout\n"}},
		{Name: "b", Class: "test", Failure: &junitFailure{Message: `equals: not "y"`, Type: "score", Text: "answer: x\\u001b[31m <&>]]>\nexpected: y\nwhy: equals: not \"y\"\n"}},
		{Name: "c", Class: "test", Skipped: &junitSkipped{Message: "not measured: network: refused"}},
	}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Whatever a model answers, the report is XML with one case for each task.
func TestJUnitIsAlwaysXML(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		o := trajectory.Outcome{ID: text.Draw(t, "id"), Type: text.Draw(t, "type"), Status: score.OK, Answer: text.Draw(t, "answer"), Reference: text.Draw(t, "gold"), FailReason: text.Draw(t, "why")}
		data, err := junit(trajectory.Named{"test": {o}}, &result.Evaluation{})
		if err != nil {
			t.Fatal(err)
		}
		cases := 0
		for d := xml.NewDecoder(bytes.NewReader(data)); ; {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in %q", err, data)
			}
			if s, ok := tok.(xml.StartElement); ok && s.Name.Local == "testcase" {
				cases++
			}
		}
		if cases != 1 || strings.ContainsRune(string(data), 0x1b) {
			t.Fatalf("%d cases in %q", cases, data)
		}
	})
}
