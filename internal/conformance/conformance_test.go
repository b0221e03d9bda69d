// Package conformance holds the packages against the golden vectors: input and
// output pairs of the reference implementations' pure functions.
//
// The vectors are read from $SKILLOPT_VECTORS, or from the compressed copy in
// testdata. A deliberate difference is a predicate on the input with our own
// expectation and its reason, in differences_test.go.
package conformance

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vector is one line of a family. Numbers are json.Number.
type vector struct {
	line int
	tag  string
	in   map[string]any
	out  map[string]any
}

// load returns the cases of a family. A missing file fails the test.
func load(t *testing.T, family string) []vector {
	t.Helper()
	var cases []vector
	sc := bufio.NewScanner(bytes.NewReader(familyBytes(t, family)))
	sc.Buffer(nil, 64<<20)
	for line := 1; sc.Scan(); line++ {
		var v struct {
			In  map[string]any `json:"in"`
			Out map[string]any `json:"out"`
			Tag string         `json:"tag"`
		}
		dec := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%s line %d: %v", family, line, err)
		}
		cases = append(cases, vector{line: line, tag: v.Tag, in: v.In, out: v.Out})
	}
	if err := sc.Err(); err != nil {
		t.Fatalf("%s: %v", family, err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no cases", family)
	}
	return cases
}

func familyBytes(t *testing.T, family string) []byte {
	t.Helper()
	if dir := os.Getenv("SKILLOPT_VECTORS"); dir != "" {
		b, err := os.ReadFile(filepath.Join(dir, family+".jsonl"))
		if err != nil {
			t.Fatalf("vectors of family %s: %v", family, err)
		}
		return b
	}
	f, err := os.Open(filepath.Join("testdata", family+".jsonl.gz"))
	if err != nil {
		t.Fatalf("vectors of family %s: %v", family, err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatalf("vectors of family %s: %v", family, err)
	}
	b, err := io.ReadAll(zr)
	if err != nil {
		t.Fatalf("vectors of family %s: %v", family, err)
	}
	return b
}

// difference is a deliberate departure from the reference: when holds says so
// of an input, want gives our expectation instead of the recorded one (nil: the
// case is only required not to panic).
type difference struct {
	reason string
	holds  func(in map[string]any) bool
	want   func(in, out map[string]any) map[string]any
}

// run holds check against every case of a family. check compares the result of
// our code on in with out and reports what differs, "" if nothing.
func run(t *testing.T, family string, check func(in, out map[string]any) string) {
	t.Helper()
	cases := load(t, family)
	hits := map[string]int{}
	failed, total := 0, 0
	for _, c := range cases {
		out := c.out
		if d, ok := differenceFor(family, c.in); ok {
			hits[d.reason]++
			if !strings.HasPrefix(c.tag, "ref_bug_") { // marked as a fault of the reference: does not count
				total++
			}
			if d.want == nil {
				check(c.in, out)
				continue
			}
			out = d.want(c.in, out)
		}
		if diff := check(c.in, out); diff != "" {
			failed++
			if failed <= 5 {
				in, _ := json.Marshal(c.in)
				t.Errorf("%s line %d (%s):\n%s\nin: %.1500s", family, c.line, c.tag, diff, in)
			}
		}
	}
	if failed > 5 {
		t.Errorf("%s: %d of %d cases differ", family, failed, len(cases))
	}
	for reason, n := range hits {
		t.Logf("%s: %d of %d cases differ on purpose: %s", family, n, len(cases), reason)
	}
	if share := float64(total) / float64(len(cases)); share > differenceCap(family) {
		t.Errorf("%s: %.1f %% of the cases are deliberate differences, at most %.0f %% are allowed", family, 100*share, 100*differenceCap(family))
	}
}

func differenceFor(family string, in map[string]any) (difference, bool) {
	for _, d := range differences[family] {
		if d.holds(in) {
			return d, true
		}
	}
	return difference{}, false
}

// differenceCap is the share of a family that may differ on purpose.
func differenceCap(family string) float64 {
	switch family {
	case "edits_skillopt", "edits_skillrl", "eval_batch":
		return 0.20
	}
	return 0.05
}
