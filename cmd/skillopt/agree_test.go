package main

import (
	"encoding/json"
	"math"
	"path/filepath"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-f4525e22/skillopt/result"
)

// spending is what one command says a run has used: the same, whoever is asked.
type spending struct {
	Calls, Taken, Unknown, Failed, Input, Output int64
	NanoUSD                                      int64 // -1: not known
}

// part is what commands that list parts of a run say of one.
type part struct {
	Calls   int64    `json:"calls"`
	Taken   int64    `json:"taken_over"`
	Unknown int64    `json:"usage_unknown"`
	Failed  int64    `json:"failed_attempts"`
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	USD     *float64 `json:"usd"`
}

// agrees checks that all that shows calls, tokens and money of a run of train says the
// same: agrees runs/small-1. The summary is what they are compared with.
func agrees(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: agrees RUN")
	}
	var want result.Summary
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filepath.Join(args[0], "summary.json"))), &want))
	sum := spending{Calls: want.Calls.Total, Taken: want.Calls.Inherited, Input: want.Tokens.Input, Output: want.Tokens.Output, NanoUSD: nanoUSD(want.CostUSD)}
	if want.Unknown != nil {
		sum.Unknown = want.Unknown.Calls
	}
	for _, n := range want.Calls.Faults {
		sum.Failed += n
	}

	var live struct {
		Calls     int64            `json:"calls"`
		Inherited int64            `json:"inherited"`
		Unknown   int64            `json:"usage_unknown"`
		Failed    map[string]int64 `json:"failed"`
		Tokens    result.Tokens    `json:"tokens"`
		USD       *float64         `json:"cost_usd"`
	}
	documentOf(ts, &live, "runs", "watch", "--once", args[0])
	seen := spending{Calls: live.Calls, Taken: live.Inherited, Unknown: live.Unknown, Input: live.Tokens.Input, Output: live.Tokens.Output, NanoUSD: nanoUSD(live.USD)}
	for _, n := range live.Failed {
		seen.Failed += n
	}
	same(ts, "runs watch", seen, sum)

	var spent struct {
		Parts []part `json:"parts"`
	}
	for _, by := range []string{"stage", "part", "model"} {
		documentOf(ts, &spent, "runs", "calls", args[0], "--by", by)
		same(ts, "runs calls --by "+by, added(spent.Parts), sum)
	}
}

// documentOf runs a command of skillopt and reads the document that it prints.
func documentOf(ts *testscript.TestScript, doc any, command ...string) {
	ts.Check(ts.Exec("skillopt", append(command, "--json")...))
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), doc))
}

// same compares. Money of a simulation is none in the summary and zero elsewhere.
func same(ts *testscript.TestScript, who string, got, want spending) {
	if want.NanoUSD <= 0 {
		got.NanoUSD, want.NanoUSD = 0, 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		ts.Fatalf("%s says another thing than summary.json (-summary +%s):\n%s", who, who, diff)
	}
}

// added adds up parts. What a part has used that nobody paid for is no money.
func added(parts []part) spending {
	var sum spending
	for _, p := range parts {
		sum.Calls, sum.Taken, sum.Unknown, sum.Failed = sum.Calls+p.Calls, sum.Taken+p.Taken, sum.Unknown+p.Unknown, sum.Failed+p.Failed
		sum.Input, sum.Output = sum.Input+p.Input, sum.Output+p.Output
		if p.USD != nil {
			sum.NanoUSD += nanoUSD(p.USD)
		}
	}
	return sum
}

func nanoUSD(usd *float64) int64 {
	if usd == nil {
		return -1
	}
	return int64(math.Round(*usd * 1e9))
}
