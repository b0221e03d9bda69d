package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// writeTask writes a task whose prompt has a word that says how it is answered.
func writeTask(w io.Writer, split string, i int, word string) {
	fmt.Fprintf(w, `{"id":"%[1]s%[2]d","prompt":"%[3]s %[1]s %[2]d","gold":["right"],"split":"%[1]s"}`+"\n", split, i, word)
}

// refusedRuns trains, evaluates and compares in a folder: of each split 3 of 20 tasks are
// refused; with
// broken.jsonl none is, and one has no score: ever, or on the selection split every second time
// (an answer, then six failures, after which a task is given up). It returns what a command prints.
func refusedRuns(t *testing.T, dir string) func(args ...string) string {
	t.Helper()
	var flaky atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		asked := string(body)
		w.Header().Set("Content-Type", "application/json")
		text := "right"
		switch {
		case err != nil || strings.Contains(asked, "forbidden"):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no","code":"content_filter"}}`)
			return
		case strings.Contains(asked, "broken") || strings.Contains(asked, "flaky") && flaky.Add(1)%7 != 1:
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no such thing"}}`)
			return
		case strings.Contains(asked, "hard"):
			text = "wrong"
		}
		_, _ = fmt.Fprintf(w, `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, text)
	}))
	t.Cleanup(s.Close)
	var tasks, broken strings.Builder
	for _, split := range []string{"train", "selection", "test"} {
		for i := range 20 {
			word := map[bool]string{true: "hard", false: "allowed"}[i > 15]
			writeTask(&tasks, split, i, map[bool]string{true: "forbidden", false: word}[i < 3])
			if i == 19 {
				word = map[bool]string{true: "flaky", false: "broken"}[split == "selection"]
			}
			writeTask(&broken, split, i, word)
		}
	}
	for name, text := range map[string]string{
		"skill.md": "answer\n", "other.md": "answer well\n", "tasks.jsonl": tasks.String(), "broken.jsonl": broken.String(),
		"config.yaml": "skill: skill.md\nrun: {dir: " + filepath.Join(dir, "runs") + "}\ntasks: {path: tasks.jsonl, checks: [{type: equals}]}\ntrain: {epochs: 1, batch_size: 20}\nprices: {m: {input: 0, output: 0}}\n" +
			"models:\n  target: &m {provider: compatible, api: chat, base_url: \"" + s.URL + "/v1\", api_key_env: \"\", model: m}\n  optimizer: *m\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		if code := Main(t.Context(), args, Streams{In: bytes.NewReader(nil), Out: &out, Err: &out, Dir: dir}, "test"); code != 0 {
			t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), code, &out)
		}
		return out.String()
	}
}

// The number of refusals by cause is next to a score in every window.
func TestEveryWindowCountsRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := refusedRuns(t, dir)
	file := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, "runs", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const words, member = `\b3 refused \(content\\?_filter 3\)`, `"refused":\s*\{\s*"content_filter":\s*3\s*\}`
	train := command("train", ".", "--yes", "--run", "runs/t")
	eval := command("eval", ".", "--yes", "--run", "runs/e", "--split", "all", "--repeat", "2")
	noise := command("doctor", "--noise", ".", "--yes")
	compare := command("compare", "skill.md", "other.md", "--config", ".", "--yes", "--run", "runs/c", "--split", "selection", "--passes", "1")
	ablate := command("ablate", "skill.md", "--config", ".", "--yes", "--run", "runs/a", "--passes", "1")
	command("prune", "skill.md", "--config", ".", "--yes", "--run", "runs/p", "--passes", "1", "--seed-lines", "--to", "pruned.md")
	const sides = `not all answered: with it: ` + words + `; without it: 3\s+refused \(content_filter 3\)`
	for _, w := range []struct{ name, shows, want string }{
		{"ablate", ablate, sides},
		{"ablation.json", file("a/ablation.json"), `"unanswered":\s*\{\s*"old":\s*\{\s*` + member},
		{"runs show: ablation", command("runs", "show", "runs/a"), sides},
		{"prune", command("runs", "show", "runs/p"), sides},
		{"pruning.json", file("p/pruning.json"), `"unanswered":\s*\{\s*"old":\s*\{\s*` + member},
		{"train: seed", train, `seed  selection 0\.650, ` + words},
		{"train: step", train, `step 1/.* train: ` + words},
		{"train: last line", train, `the seed skill: 0\.65 on 20 tasks never used before; seed: ` + words},
		{"train: warning", train, `warning: 1\d % of \d+ replies of the target are refusals.*content_filter`},
		{"eval", eval, `test +hard 0\.650.*\b6 refused \(content_filter 6\)`},
		{"doctor --noise", noise, `means 0\.650 and 0\.650, 0 changed, 6 refused \(content_filter 6\)`},
		{"compare", compare, `A +hard .*` + words + `(?s:.*)B +hard .*` + words},
		{"runs show", command("runs", "show", "runs/t"), `baseline.*candidate: ` + words},
		{"runs show: best", command("runs", "show", "runs/t"), `best: step 0, hard 0\.650 .* on a fresh pass over 20 selection tasks, ` + words},
		{"runs show: test", command("runs", "show", "runs/t"), `test seed .*` + words},
		{"runs show --json", command("runs", "show", "runs/t", "--json"), `"selection_unanswered":\s*\{\s*` + member},
		{"runs list", command("runs", "list", "runs"), `t .*` + words},
		{"runs list --json", command("runs", "list", "runs", "--json"), member},
		{"runs show: step", command("runs", "show", "runs/t", "1"), `train +0\.650 on 20 tasks, ` + words},
		{"runs watch", command("runs", "watch", "runs/t", "--once"), words},
		{"runs skill", command("runs", "skill", "runs/t", "--list"), words},
		{"runs compare", command("runs", "compare", "runs/t", "runs/e"), words},
		{"runs tasks --json", command("runs", "tasks", "runs/t", "--json"), member},
		{"report.md, head", file("t/report.md"), `test split \|.*` + words},
		{"report.md, steps", file("t/report.md"), `\| seed \| 0\.650 .*` + words},
		{"report.md, lost", file("t/report.md"), `test split, seed \| ` + words},
		{"report.html", file("t/report.html"), words},
		{"summary.json", file("t/summary.json"), `"test":(?s:.*)` + member},
		{"evaluation.json", file("e/evaluation.json"), `"refused":\s*\{\s*"content_filter":\s*6\s*\}`},
		{"comparison.json", file("c/comparison.json"), member},
	} {
		if !regexp.MustCompile(w.want).MatchString(w.shows) {
			t.Errorf("%s: want %s in\n%s", w.name, w.want, w.shows[:min(len(w.shows), 3000)])
		}
	}
	if strings.Contains(file("t/report.md"), "every item was measured") {
		t.Error("the report says that nothing was lost")
	}
}
