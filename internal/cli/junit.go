package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// This file writes an evaluation as JUnit XML, which servers of continuous integration
// read: a suite for each split, a case for each task. A task that could not be measured is
// skipped, and never failed.

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Skipped *junitSkipped `xml:"skipped,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// maxOutcomes is the size of the largest outcomes.json that is read, in bytes.
const maxOutcomes = 1 << 30

// writeJUnit writes the outcomes of an evaluation to a file, as a whole or not at all.
func writeJUnit(ctx context.Context, a *app, path string, e *result.Evaluation) error {
	data, err := disk.Read(ctx, filepath.Join(e.RunDir, "outcomes.json"), maxOutcomes)
	if err != nil {
		return fmt.Errorf("read outcomes for --junit: %w", err)
	}
	var outcomes trajectory.Named
	if err := json.Unmarshal(data, &outcomes); err != nil {
		return fmt.Errorf("read outcomes for --junit: %w", err)
	}
	report, err := junit(outcomes, e)
	if err != nil {
		return err
	}
	return disk.Replace(a.absolute(path), report, 0o644)
}

// canHold refuses the file of a flag that could not be written once all is paid for: one
// without a folder, or a folder.
func (a *app) canHold(flag, path string) error {
	if path == "" {
		return nil
	}
	if path == "-" {
		return usagef("%s -: allowed: the name of a file; standard output has the scores", flag)
	}
	at := a.absolute(path)
	if st, err := os.Stat(at); err == nil && st.IsDir() {
		return usagef("%s %s: it is a folder; give the name of a file in it", flag, path)
	}
	switch st, err := os.Stat(filepath.Dir(at)); {
	case err != nil:
		return fmt.Errorf("look at the folder of %s, before anything is asked: %w", flag, err)
	case !st.IsDir():
		return usagef("%s %s: %s is no folder", flag, path, filepath.Dir(path))
	}
	return nil
}

// junit returns an evaluation as JUnit XML. Characters that XML cannot hold become U+FFFD.
func junit(outcomes trajectory.Named, e *result.Evaluation) ([]byte, error) {
	all := junitSuites{Name: "skillopt"}
	for _, split := range slices.Sorted(maps.Keys(outcomes)) {
		s := junitSplit(split, outcomes[split])
		s.Properties = append(s.Properties, junitProperty{"skill_hash", e.Skill}, junitProperty{"simulated", fmt.Sprint(e.Simulated)})
		if score, ok := e.Splits[split]; ok {
			s.Properties = append(s.Properties, junitProperty{"hard", fmt.Sprintf("%.4f", score.Hard)}, junitProperty{"soft", fmt.Sprintf("%.4f", score.Soft)})
		}
		all.Suites = append(all.Suites, s)
		all.Tests, all.Failures, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Skipped+s.Skipped
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(redact.Strings(redact.Text, all)); err != nil {
		return nil, fmt.Errorf("write JUnit: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// junitSplit returns a split as a suite. Several passes over a task are one case, which fails if
// one of them does.
func junitSplit(split string, outcomes []trajectory.Outcome) junitSuite {
	s := junitSuite{Name: split}
	passes, order := map[string][]trajectory.Outcome{}, []string(nil)
	for _, o := range outcomes {
		if _, known := passes[o.ID]; !known {
			order = append(order, o.ID)
		}
		passes[o.ID] = append(passes[o.ID], o)
	}
	for _, id := range order {
		c := junitTask(split, passes[id])
		s.Cases = append(s.Cases, c)
		s.Tests++
		if c.Failure != nil {
			s.Failures++
		}
		if c.Skipped != nil {
			s.Skipped++
		}
	}
	return s
}

func junitTask(split string, passes []trajectory.Outcome) junitCase {
	c := junitCase{Name: passes[0].ID, Class: split}
	if passes[0].Type != "" {
		c.Class += "." + passes[0].Type
	}
	var failed []trajectory.Outcome
	measured := 0
	for _, o := range passes {
		switch {
		case !o.Status.Measured():
			continue
		case o.Hard < 1:
			failed = append(failed, o)
		}
		measured++
	}
	switch {
	case measured == 0:
		c.Skipped = &junitSkipped{Message: "not measured: " + firstLine(passes[0].FailReason, "no answer")}
	case len(failed) > 0:
		c.Failure = junitFailed(failed[0])
		if measured > 1 {
			c.Failure.Message += fmt.Sprintf(" (in %d of %s)", len(failed), wording.Plural(measured, "pass", "passes"))
		}
	}
	return c
}

// maxJUnitText bounds what is said of one part of a failure, in bytes.
const maxJUnitText = 4000

func junitFailed(o trajectory.Outcome) *junitFailure {
	f := &junitFailure{Message: firstLine(o.FailReason, fmt.Sprintf("scored %.3f", o.Hard)), Type: junitType(o)}
	var b strings.Builder
	for _, part := range []struct{ name, text string }{
		{"answer", o.Answer}, {"expected", strings.TrimPrefix(o.Reference, "expected: ")}, {"why", o.FailReason}, {"feedback", o.Feedback},
	} {
		if text := strings.TrimSpace(part.text); text != "" && (part.name != "feedback" || part.text != o.FailReason) {
			fmt.Fprintf(&b, "%s: %s\n", part.name, strings.ToValidUTF8(wording.Cut(text, maxJUnitText), "\uFFFD"))
		}
	}
	f.Text = printable(b.String())
	return f
}

// junitType says what kind of failure one is: an answer that was scored, or what else came
// of the task.
func junitType(o trajectory.Outcome) string {
	if o.Status == score.OK {
		return "score"
	}
	return string(o.Status)
}
