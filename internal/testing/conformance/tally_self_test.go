package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// doubled is a family of a program that doubles: sleep does something else, and
// ours refuses what is above 100.
func doubled(results ...string) family {
	f := family{
		name: "doubled", cap: 0.5,
		gaps: []gap{{feature: "sleep", in: ofSleep}},
		differences: []difference{{
			reason: "too large",
			holds:  func(in map[string]any) bool { return wholeNumber(in["n"]) > 100 },
			want:   func(_, _ map[string]any) map[string]any { return map[string]any{"error": "too large"} },
		}},
	}
	for i, n := range []string{"1", "2", "101", "3"} {
		f.cases = append(f.cases, vector{
			line: i + 1,
			in:   map[string]any{"n": json.Number(n)},
			out:  map[string]any{"ok": json.Number(results[i])},
		})
	}
	f.cases[3].in["impl"] = "sleep"
	return f
}

func double(in, out map[string]any) string {
	n := wholeNumber(in["n"])
	if n > 100 {
		return diffRecorded(nil, cmpError("too large"), out)
	}
	return diffRecorded(2*n, nil, out)
}

type cmpError string

func (e cmpError) Error() string { return string(e) }

func TestHoldCountsEveryCaseOnce(t *testing.T) {
	got, faults := doubled("2", "4", "202", "5").compare(double)
	if len(faults) > 0 {
		t.Errorf("faults: %q", faults)
	}
	want := "doubled                      2 compared,   1 deliberate,   1 not built (sleep 1)"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Error(diff)
	}
	table := summary([]tally{got, got})
	if !strings.HasSuffix(table, "all families                 4 compared,   2 deliberate,   2 not built (sleep 2)\n") {
		t.Error(table)
	}
}

func TestHoldFindsFaults(t *testing.T) {
	tests := []struct {
		name  string
		with  func(*family)
		check comparison
		want  []string
	}{
		{"a wrong result", func(f *family) { f.cases[1].out["ok"] = json.Number("5") }, double, []string{"line 2"}},
		{
			"a check that reads nothing", nil, func(_, _ map[string]any) string { return "" },
			[]string{"line 1 ():\npassed unread", "line 2 ():\npassed unread"},
		},
		{
			"a check that returns early", nil, func(in, out map[string]any) string {
				if wholeNumber(in["n"]) == 2 {
					return ""
				}
				return double(in, out)
			}, []string{"line 2 ():\npassed unread"},
		},
		{"a difference that is none", func(f *family) {
			f.differences[0].want = func(_, out map[string]any) map[string]any { return out }
		}, double, []string{"line 3"}},
		{"too many differences", func(f *family) { f.cap = 0.3 }, double, []string{"33.3 %"}},
		{"cases that are not built leave the share as it is", func(f *family) {
			f.cap = 0.3
			f.cases = append(f.cases, f.cases[3], f.cases[3], f.cases[3])
		}, double, []string{"33.3 %"}},
		{"a small family may have a few", func(f *family) { f.cap, f.few = 0.3, 1 }, double, nil},
		{"faults of the reference leave it too", func(f *family) {
			f.cap = 0.3
			f.cases[2].tag = "ref_bug_large"
		}, double, nil},
	}
	for _, tt := range tests {
		f := doubled("2", "4", "202", "5")
		if tt.with != nil {
			tt.with(&f)
		}
		_, faults := f.compare(tt.check)
		if len(faults) != len(tt.want) {
			t.Errorf("%s: %d faults, want %d: %q", tt.name, len(faults), len(tt.want), faults)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(faults[i], want) {
				t.Errorf("%s: %q does not say %q", tt.name, faults[i], want)
			}
		}
	}
}

func TestFalsified(t *testing.T) {
	n := func(s string) json.Number { return json.Number(s) }
	tests := []struct{ in, want any }{
		{"a", "afalsified"},
		{true, false},
		{n("0"), n("7")},
		{n("-1"), n("-17")},
		{n("0.5"), n("2")},
		{n("1e300"), n("5e+299")},
		{nil, "falsified"},
		{[]any{}, []any{"falsified"}},
		{[]any{n("1")}, []any{n("17")}},
		{map[string]any{"error": "ValueError", "message": "m"}, map[string]any{"ok": "falsified"}},
		{map[string]any{"has": map[string]any{"ok": false}}, map[string]any{"has": map[string]any{"ok": true}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, falsified(tt.in)); diff != "" {
			t.Errorf("%v: %s", tt.in, diff)
		}
	}
}
