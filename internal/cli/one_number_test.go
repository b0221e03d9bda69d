package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// What is not known of a run is marked wherever its figures are shown.
func TestWatchMarksUnknownUsage(t *testing.T) {
	t.Parallel()
	p := progressOf(time.Now())
	p.Simulated, p.Ceilings = false, record.Ceilings{}
	p.Tokens = result.Tokens{Input: 2000, Output: 30}
	usd := p.USD
	for _, tt := range []struct {
		unknown       int64
		usd           *float64
		tokens, money string
	}{
		{0, usd, "tokens    2000 in, 30 out", "money     $1.2500"},
		{2, usd, "tokens    ~2000 in, ~30 out; usage unknown for 2 calls", "money     ~$1.2500"},
		{1, nil, "tokens    ~2000 in, ~30 out; usage unknown for 1 call", "money     not known"},
	} {
		p.Unknown, p.USD = tt.unknown, tt.usd
		got := strings.Join(watchText{path: "r"}.frame(p, 120), "\n") + "\n"
		if !strings.Contains(got, tt.tokens+"\n") || !strings.Contains(got, tt.money+"\n") {
			t.Errorf("want %q and %q in\n%s", tt.tokens, tt.money, got)
		}
	}
}

// A run has one status, by one word, on every screen.
func TestWatchHasTheWordOfTheList(t *testing.T) {
	t.Parallel()
	for _, s := range []result.Status{result.Running, result.Completed, result.Stopped, result.OverBudget, result.Waiting, result.Failed, result.Undecided} {
		for _, killed := range []bool{false, true} {
			if got, want := statusWords(record.Progress{Status: s, Killed: killed}), statusText(string(s), killed); !strings.HasPrefix(got, want) {
				t.Errorf("watch says %q, the list %q", got, want)
			}
		}
	}
}

// The score of a run is one number, of the same answers, in every window, whatever its kind.
func TestEveryWindowHasTheSameScore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := refusedRuns(t, dir)
	may := func(args ...string) { // end as it will: at a ceiling it is no success
		_ = Main(t.Context(), args, Streams{In: bytes.NewReader(nil), Out: io.Discard, Err: io.Discard, Dir: dir}, "test")
	}
	train := func(name string, sets ...string) {
		args := []string{"train", ".", "--yes", "--run", "runs/" + name}
		for _, s := range sets {
			args = append(args, "--set", s)
		}
		may(args...)
	}
	train("test")
	train("untested", "eval.test=false")
	train("folds", "eval.test=false", "split.cross_fit=3", "train.batch_size=10")
	train("off", "eval.test=false", "gate.mode=off")
	train("soft", "eval.test=false", "gate.metric=soft")
	train("first", "eval.test=false", "gate.fresh=false")
	train("ceiling", "eval.test=false", "limits.calls=75")
	train("killed", "eval.test=false")
	at := filepath.Join(dir, "runs", "killed")
	data, err := os.ReadFile(filepath.Join(at, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.Replace(data, []byte(`"status": "completed"`), []byte(`"status": "running"`), 1)
	if err := errors.Join(os.WriteFile(filepath.Join(at, "manifest.json"), data, 0o600), os.Remove(filepath.Join(at, "summary.json"))); err != nil {
		t.Fatal(err)
	}
	may("eval", ".", "--yes", "--run", "runs/eval", "--split", "selection", "--repeat", "2")
	may("compare", "skill.md", "other.md", "--config", ".", "--yes", "--run", "runs/compare", "--split", "selection", "--passes", "1")
	var rows []result.RunRow
	if err := json.Unmarshal([]byte(command("runs", "list", "runs", "--json")), &rows); err != nil {
		t.Fatal(err)
	}
	table := command("runs", "list", "runs")
	scored := 0
	for _, row := range rows {
		var v record.View
		if err := json.Unmarshal([]byte(command("runs", "show", "runs/"+row.Name, "--json")), &v); err != nil {
			t.Fatal(err)
		}
		want := row.RunScore
		windows := map[string]result.RunScore{"runs show --json": v.Score}
		if v.Summary != nil {
			windows["summary.json"] = v.Summary.Score
		}
		for name, got := range windows {
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, %s: %s", row.Name, name, diff)
			}
		}
		if want.Score == nil {
			continue
		}
		scored++
		figure := fmt.Sprintf("%.3f", *want.Score)
		if want.NumRefused() == 0 {
			t.Errorf("%s: no refusal is counted in %+v", row.Name, want)
		}
		texts := map[string][2]string{"runs list": {table, `(?m)/` + row.Name + ` .* ` + figure + ` ` + want.Split + ` .*` + regexp.QuoteMeta(want.Words())}, "runs show": {command("runs", "show", "runs/"+row.Name), figure}}
		if row.Kind == result.Train {
			texts["runs watch"] = [2]string{command("runs", "watch", "runs/"+row.Name, "--once"), `best +` + figure + `.* on ` + want.Over()}
			may("runs", "report", "runs/"+row.Name)
			page, err := os.ReadFile(filepath.Join(dir, "runs", row.Name, "report.md"))
			if err != nil {
				t.Fatal(err)
			}
			texts["report"] = [2]string{string(page), `Best skill, ` + want.Split + ` split \| ` + figure + ` .* on ` + want.Over()}
		}
		for name, w := range texts {
			if !regexp.MustCompile(w[1]).MatchString(w[0]) {
				t.Errorf("%s, %s: want %s in\n%s", row.Name, name, w[1], w[0])
			}
		}
	}
	if len(rows) != 10 || scored < 9 {
		t.Errorf("%d runs, %d of them with a score:\n%s", len(rows), scored, table)
	}
}
