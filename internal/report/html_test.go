package report

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func rendered(t *testing.T, r *Run) string {
	t.Helper()
	data, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The recorded run as both reports. Look at them after an update, in a browser.
func TestGolden(t *testing.T) {
	t.Parallel()
	r := read(t, filepath.Join("testdata", "run"))
	for name, got := range map[string]string{run.ReportFile: rendered(t, r), run.PullFile: string(Markdown(r))} {
		golden := filepath.Join("testdata", "golden", name)
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s differs; after a look at it: go test ./internal/report -update\n%s", name, diff)
		}
	}
}

// What the page shows of the recorded run.
func TestPage(t *testing.T) {
	t.Parallel()
	p := newPage(read(t, fixture(t)))
	if p.Lead != "0.17 -> 0.67 on 6 test tasks. 9 steps: 2 accepted, 6 rejected, 1 without a decision. The best skill is that of step 9." {
		t.Error(p.Lead)
	}
	if len(p.Arms) != 4+2*5 || p.Arms[0].Name != "no skill" || p.Arms[2].Score != "0.667" || p.Arms[4].Name != "seed skill, due_date" || p.Arms[5].Score != "1.000" {
		t.Errorf("arms %+v", p.Arms)
	}
	gone := 0
	for _, row := range p.Heatmap.Rows {
		for _, c := range row.Cells {
			if c.Class == "gone" {
				gone++
			}
		}
	}
	if gone != 1 || p.Heatmap.Counts != "1 item passed every time, 1 item failed every time" {
		t.Errorf("%d cells without a measurement; %s", gone, p.Heatmap.Counts)
	}
	var lost []string
	for _, l := range p.Lost {
		lost = append(lost, l.Where+": "+l.What+": "+l.Why)
	}
	if diff := cmp.Diff([]string{
		"step 6: not measured: personal-09: server: 503 for two minutes",
		"step 6: 1 reply of the optimizer: no usable answer after all tries",
	}, lost[:2]); diff != "" {
		t.Error(diff)
	}
}

// hostile is a text that would be markup, a link, a script or a table somewhere.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>{{.}}]](javascript:alert(3)) | ` + "```\n<b>x</b>\n~~~ @someone \u202egnp\u2066\x1b[31m\x00\x7f\u009b2J\r\u2028\u200b\ufeff\U000e0041 </style></svg>-->&lt;"

// Texts of models, tasks and users stay texts, wherever they stand.
func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	dir := fixture(t)
	for _, name := range []string{"history.json", "summary.json", "manifest.json", "test_outcomes.json"} {
		poisonJSON(t, filepath.Join(dir, name))
	}
	files, err := filepath.Glob(filepath.Join(dir, "steps", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		poisonJSON(t, name)
	}
	for _, name := range []string{"best_skill.md", "steps/step_0001/candidate_skill.md"} {
		write(name, "# x\n"+hostile+"\n")(t, dir)
	}
	training, err := record.ReadTraining(dir, "runs/"+hostile)
	if err != nil {
		t.Fatal(err)
	}
	r := Of(training)
	text := rendered(t, r)
	checkInert(t, text)
	if !strings.Contains(text, "&lt;script&gt;alert(1)") {
		t.Error("the texts are not shown")
	}
	for _, shown := range []string{text, string(Markdown(r))} {
		if at := strings.IndexFunc(shown, wording.Steers); at >= 0 {
			t.Errorf("%q steers whoever shows it", shown[max(0, at-40):min(len(shown), at+20)])
		}
	}
	checkMarkdown(t, string(Markdown(r)))
}

// poisonJSON puts the hostile text behind every text in a file that the report does
// not branch by.
func poisonJSON(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(poisoned("", v)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func poisoned(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			if key == "faults" || key == "identity" {
				out[k+hostile] = e
			}
			out[k] = poisoned(k, e)
		}
		return out
	case []any:
		for i := range v {
			v[i] = poisoned(key, v[i])
		}
	case string:
		switch key {
		case "action", "status", "source_type", "created_at", "gate_metric", "slow_update", "op":
			return v
		}
		return v + hostile
	}
	return v
}

// checkInert parses a page as a browser does: it must load, run and send nothing.
func checkInert(t *testing.T, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "img", "iframe", "object", "embed", "link", "base", "form", "input", "video", "audio", "image", "use", "foreignobject":
			t.Errorf("the page has a <%s>", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case strings.HasPrefix(a.Key, "on"), a.Key == "src", a.Key == "srcset", a.Key == "action":
				t.Errorf("<%s> has %s", n.Data, a.Key)
			case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("<%s> leads to %q", n.Data, a.Val)
			case a.Key == "style" && strings.ContainsAny(a.Val, "(<"):
				t.Errorf("<%s> has the style %q", n.Data, a.Val)
			}
		}
	}
	if !strings.Contains(text, `content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"`) {
		t.Error("the page does not forbid to load things")
	}
}

// checkMarkdown looks for markup outside of code blocks.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch ticks := regexp.MustCompile("^`{3,}").FindString(line); {
		case fence == "" && ticks != "":
			fence = ticks
		case fence != "" && line == fence:
			fence = ""
		case fence == "":
			bare := regexp.MustCompile(`\\.`).ReplaceAllString(line, "")
			if bad := regexp.MustCompile("<|`|\\]\\(|@").FindString(bare); bad != "" {
				t.Errorf("%q is markup in: %s", bad, line)
			}
		}
	}
	if fence != "" {
		t.Error("a code block does not end")
	}
}

// Runs that have little to show, or are of an odd kind.
func TestOddRuns(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	seed := result.StepRecord{Action: result.ActionBaseline, CurrentOrigin: "seed", SkillHash: skill.Hash("# S\n")}
	scored := seed
	scored.Current, scored.Best, scored.SelectionN = number(0), number(0), 4
	off := result.StepRecord{Step: 1, Epoch: 1, Action: "accept", BestStep: 1, SkillHash: skill.Hash("# S\n\n- a\n")}
	refused := result.StepRecord{Step: 1, Epoch: 1, Action: result.ActionRefused, Refused: "too large", Current: number(0), Best: number(0)}
	tests := []struct {
		name string
		run  *Run
		want []string
		not  []string
	}{
		{"nothing at all", Of(&record.Training{}), []string{"No step is done yet", "No candidate was scored", "There is no best skill yet", "This run has not ended yet", "No outcomes of single items"}, []string{"0.000"}},
		{"only the seed skill, at 0", Of(&record.Training{History: result.History{Steps: []result.StepRecord{scored}}, Steps: make([]record.Step, 1), HasBest: true}), []string{"No step is done yet", "0.000", "no change was better"}, nil},
		{
			"off: no scores", Of(&record.Training{
				History: result.History{Steps: []result.StepRecord{seed, off}}, Steps: []record.Step{{}, {Candidate: skill.New("# S\n\n- a\n"), Made: true}}, Seed: skill.New("# S\n"), Best: skill.New("# S\n\n- a\n"), HasBest: true,
				Summary: &result.Summary{Status: "completed", Stages: []result.Stage{{Stage: "check", CostUSD: number(0)}}}, // no model was asked
			}),
			[]string{"No candidate was scored", "1 step: 1 accepted", "not measured", "The test split was not opened", "nothing was scored"},
			[]string{"0.000", "Not finished"},
		},
		{"refused", Of(&record.Training{History: result.History{Steps: []result.StepRecord{scored, refused}}, Steps: make([]record.Step, 2)}), []string{"refused", "too large"}, nil},
		{
			"certified", Of(&record.Training{Summary: &result.Summary{Status: "completed", Test: result.Test{Seed: &result.Score{Hard: 0.25, N: 40}, Best: &result.Score{Hard: 0.75, N: 40}}, Certificate: &result.Certificate{
				TestComparison: result.TestComparison{N: 40, Difference: number(0.5), Low: number(0.3), High: number(0.7), Wins: 22, Losses: 2, Ties: 16},
				Test:           gate.LookBound, Reading: 1, Alpha: 0.05, Level: number(0.04), Certified: true, AtLeast: number(0.2499), Words: "certified better than the seed skill",
			}}}),
			[]string{"better by at least 0.249", "certified at the 4 % level on 40 test items; bound for one look; reading 1 of these tasks", "&#43;0.500", "&#43;0.300 to &#43;0.700", "22 items better, 2 worse, 16 alike"},
			[]string{"not certified"},
		},
		{
			"not certified, opened twice, drifted, noisy", Of(&record.Training{Summary: &result.Summary{
				Status: "budget", Reason: "limits.usd is reached", Exploratory: true, Warnings: []string{"a warning"},
				Test: result.Test{Openings: 2}, Certificate: &result.Certificate{Alpha: 0.05, Words: "not certified: opened for the second time"},
				Drift: []result.Drift{{At: "step 3", From: []string{"m-1"}, To: []string{"m-2"}}}, Noise: &result.SeedNoise{Advice: "add items"},
			}}),
			[]string{"not certified", "opened 2 times", "m-2 instead of m-1", "add items", "Exploratory", "a warning", "Not finished: budget", "limits.usd is reached"},
			nil,
		},
		{
			"a race", Of(&record.Training{
				History: result.History{Steps: []result.StepRecord{scored, {Step: 1, Epoch: 1, Action: "reject_early", Reason: "too far behind", Candidate: number(0.1), Current: number(0.5), Difference: number(-0.25), SE: number(0.125)}}},
				Steps:   make([]record.Step, 2),
				Summary: &result.Summary{Status: "completed", Test: result.Test{Best: &result.Score{Hard: 0.5, N: 4}}, Best: result.Best{Selection: &result.Score{Hard: 0.625, N: 8}, Reported: &result.Reported{Metric: "hard", Evaluations: 12}}},
				Score:   result.NewRunScore(0.5, "hard", 4, 4, "test", score.Unanswered{}),
			}),
			[]string{"rejected early", "too far behind", "−0.250 ± 0.125", "one standard error", "0.625", "on 12 answers to 8 selection tasks"},
			nil,
		},
		{"the test stayed closed", Of(&record.Training{Summary: &result.Summary{Status: "completed", Test: result.Test{Refused: true}}}), []string{"stayed closed"}, nil},
		{"a replay of a fork", Of(&record.Training{Manifest: run.Manifest{ForkedOf: "abc", Identity: map[string]string{"library.replay": "x"}}}), []string{"Replay", "forked of"}, []string{"Simulated"}},
		{
			"costs that are known in part", Of(&record.Training{Summary: &result.Summary{Status: "completed", Stages: []result.Stage{
				{Stage: "rollout", Role: "target", Calls: 1200, Input: 1_000_000, CostUSD: number(1.5)}, {Stage: "merge", Role: "optimizer", Calls: 1, Input: 10},
			}}}),
			[]string{"$1.5000", "not known", "1\u202f200"},
			[]string{"$0.0000"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := rendered(t, tt.run)
			checkInert(t, text)
			checkMarkdown(t, string(Markdown(tt.run)))
			_, body, _ := strings.Cut(text, "</head>")
			for _, want := range tt.want {
				if !strings.Contains(body, want) {
					t.Errorf("%q is missing", want)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(body, not) {
					t.Errorf("it says %q", not)
				}
			}
		})
	}
}

// An item that was not measured, one that failed and one that was not asked look
// different, with and without colours.
func TestCells(t *testing.T) {
	t.Parallel()
	c := column{unmeasured: []string{"a"}}
	for want, item := range map[cell]record.Item{
		{"gone", "?"}:   {ID: "a", Status: score.Unmeasured},
		{"", ""}:        {ID: "b", Status: score.Unmeasured},
		{"fail", "✗"}:   {ID: "a", Status: score.OK},
		{"pass", "✓"}:   {ID: "a", Status: score.OK, Hard: 1},
		{"part", ".50"}: {ID: "a", Status: score.AgentError, Hard: 0.5},
		{"part", ".99"}: {ID: "a", Status: score.OK, Hard: 0.999},
	} {
		if got := newCell(item, c); got != want {
			t.Errorf("%+v: %+v, want %+v", item, got, want)
		}
	}
}

// A long run stays a page that can be opened.
func TestLongRun(t *testing.T) {
	t.Parallel()
	r := Of(&record.Training{})
	for step := range 60 {
		v := float64(step) / 60
		s := result.StepRecord{Step: step, Epoch: 1 + (step-1)/20, Action: "accept", Candidate: &v, Current: &v, Best: &v}
		var f record.Step
		for i := range 400 {
			f.Selection = append(f.Selection, record.Item{ID: strings.Repeat("x", 200) + string(rune('a'+i%26)) + string(rune('a'+i/26)), Status: score.OK, Hard: float64((i + step) % 2)})
		}
		r.History.Steps, r.Steps = append(r.History.Steps, s), append(r.Steps, f)
	}
	text := rendered(t, r)
	if len(text) > 2<<20 || !strings.Contains(text, "150 more items are left out here") {
		t.Errorf("%d bytes", len(text))
	}
	if n := strings.Count(text, `dy="20"`); n > mostLabels {
		t.Errorf("%d labels under the chart", n)
	}
}
