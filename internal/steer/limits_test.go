package steer

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func number(v float64) *float64 { return &v }

func TestParseLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		want Limits
		err  string // part of it
	}{
		{args: "usd=30", want: Limits{USD: number(30)}},
		{args: "usd=$2.50 tokens=2M calls=500 time=1h30m", want: Limits{USD: number(2.5), Tokens: number(2e6), Calls: number(500), Time: number(5400)}},
		{args: "limits.usd=0 calls=0 tokens=1_000", want: Limits{USD: number(0), Calls: number(0), Tokens: number(1000)}},
		{args: "usd=none time=null", want: Limits{USD: nil, Time: nil}},
		{args: "calls=1.5k tokens=0.5M", want: Limits{Calls: number(1500), Tokens: number(500_000)}},
		{args: "", err: "no ceiling is given; write usd=30 or usd=none"},
		{args: "usd", err: "usd: no value; write usd=30"},
		{args: "money=3", err: `"money" is no ceiling that can be changed while a run is at work; allowed: usd, tokens, calls, time`},
		{args: "token=3", err: "did you mean tokens"},
		{args: "usd=1 usd=2", err: "usd is given twice"},
		{args: "usd=-1", err: "usd: found -1, allowed: dollars, 0 or more"},
		{args: "usd=NaN", err: `usd: found "NaN"`},
		{args: "usd=inf", err: `usd: found "inf"`},
		{args: "usd=1e400", err: `usd: found "1e400"`},
		{args: "usd=1e12", err: "usd: found 1000000000000, allowed: up to 1000000000; or none"},
		{args: "usd=0x10", err: `usd: found "0x10"`},
		{args: "usd=2M", err: `usd: found "2M"`},
		{args: "usd=", err: `usd: found ""`},
		{args: "calls=1.5", err: "calls: found 1.5, allowed: a whole number"},
		{args: "calls=99999999999999999999", err: "calls: found 100000000000000000000, allowed: up to 9007199254740992"},
		{args: "tokens=k", err: `tokens: found "k"`},
		{args: "time=5", err: `time: found "5", allowed: a length of time such as 90s`},
		{args: "time=-2h", err: "time: found -2h0m0s"},
		{args: "time=0s", err: "time: found 0s"},
		{args: "time=1ns", err: "time: found 1ns"},
		{args: "time=200000h", err: "time: found 200000h0m0s, allowed: up to"},
	} {
		got, err := ParseLimits(strings.Fields(tt.args))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %q", tt.args, err, tt.err)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", tt.args, err, diff)
		}
	}
}

// What can be a ceiling is the same after it was written and read.
func TestLimitsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(Names()), 1, 4, rapid.ID[string]).Draw(t, "names") {
			if rapid.Bool().Draw(t, "none") {
				l[name] = nil
				continue
			}
			switch name {
			case USD:
				l[name] = number(rapid.Float64Range(0, maxUSD).Draw(t, name))
			case Time:
				l[name] = number(float64(rapid.Int64Range(1, 1e9).Draw(t, name)) / 1000)
			default:
				l[name] = number(float64(rapid.Int64Range(0, maxCount).Draw(t, name)))
			}
		}
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var got Limits
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9*max(1, math.Abs(a)) }
		if diff := cmp.Diff(l, got, cmp.Comparer(same)); diff != "" {
			t.Fatalf("%s:\n%s", data, diff)
		}
	})
}

func TestLimitsOfJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"usd": "30"}`:      `usd: found "30"`,
		`{"time": 7200}`:     "time: found 7200",
		`{"calls": 1e300}`:   "calls: found",
		`{"calls": -1}`:      "calls: found -1",
		`{"USD": 3}`:         "did you mean usd",
		`{}`:                 "no ceiling is given",
		`null`:               "no ceiling is given",
		`[3]`:                "want an object",
		`{"concurrency": 3}`: "is no ceiling that can be changed",
	} {
		var l Limits
		if err := json.Unmarshal([]byte(text), &l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
