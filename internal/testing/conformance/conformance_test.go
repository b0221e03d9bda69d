// Package conformance holds the packages against the golden vectors: input and
// output pairs of the reference implementations' pure functions.
//
// The vectors are read from $SKILLOPT_VECTORS, or from the compressed copy in
// testdata. Every case of every family is compared, or counted by a name: as not
// built yet, with the feature that it waits for (gaps_test.go), or as a deliberate
// difference, a predicate on the input with our own expectation and its reason
// (differences_test.go). With -v the table of all families is printed at the end.
package conformance

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
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

	// named says that only the name of a result differs, by a rule that another oracle
	// holds every recorded case against: it is no departure that a cap limits.
	named bool
}

// comparison compares the result of our code on in with out and reports what differs,
// "" if nothing.
type comparison func(in, out map[string]any) string

// run holds check against every case of a family that is built, and tells how many
// cases were compared, were not, or differ on purpose.
func run(t *testing.T, name string, check comparison) {
	t.Helper()
	f := family{
		name: name, cases: load(t, name), cap: differenceCap(name), few: 5, // 5 % of 100
		differences: differences[name], gaps: gaps[name],
	}
	got, faults := f.compare(check)
	for _, fault := range faults {
		t.Error(fault)
	}
	for reason, n := range got.reasons {
		t.Logf("%s: %d of %d cases differ on purpose: %s", name, n, len(f.cases), reason)
	}
	t.Log(got)
	account(got)
}

// differenceCap is the share of a family that may differ on purpose.
func differenceCap(family string) float64 {
	switch family {
	case "edits_skillopt", "edits_skillrl":
		// A tenth of the recorded cases have a document with CRLF. TestEditOracle holds
		// all cases against the rules of the reference.
		return 0.20
	case "eval_batch":
		return 0.20
	}
	return 0.05
}
