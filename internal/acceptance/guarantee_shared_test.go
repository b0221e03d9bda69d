package acceptance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/cli"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/otlptest"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// keyed writes the tasks and the skill of the guarantees into a folder, with keys in
// every text of them, and in what a program says.
func keyed(t *testing.T, dir, keys string) {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(guaranteeDir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write(t, filepath.Join(dir, "SKILL.md"), read("SKILL.md")+"\n- Keys: "+keys+"\n")
	var tasks strings.Builder
	for line := range strings.Lines(read("tasks.jsonl")) {
		var task map[string]any
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			t.Fatal(err)
		}
		task["prompt"] = fmt.Sprint(task["prompt"], "\n\nKeys: ", keys)
		task["hidden"] = keys
		task["note"] = keys
		text, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		tasks.Write(append(text, '\n'))
	}
	write(t, filepath.Join(dir, "tasks.jsonl"), tasks.String())
	words, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "world.sh"), `n=0; while read -r line; do n=$((n+1)); echo `+"'"+keys+`' >&2
if [ $((n % 9)) = 4 ]; then echo '{"error":'`+"'"+string(words)+"'"+`'}'; else
printf '%s\n' '{"hard":'$((n % 2))',"answer":`+string(words)+`,"feedback":`+string(words)+`,"fail_reason":`+string(words)+`,"trajectory":[{"role":"assistant","content":`+string(words)+`}]}'; fi; done
`)
}

// shown is what a command prints, on both streams.
func shown(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out, Dir: t.TempDir()}, "test")
	return out.String()
}

// Keys that stand in the user's own texts, that models make up and that programs say
// stay where scores and the product depend on them; what is made to be passed on holds
// none of them.
func TestWhatIsPassedOnHoldsNoKeys(t *testing.T) {
	t.Parallel()
	needsShell(t)
	keys := strings.Join(shapesOfKeys, " | ")
	for name, more := range map[string]string{"models": "", "programs": "env: {command: [sh, world.sh]}\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
			t.Cleanup(inner.Close)
			front := httptest.NewServer(saying(inner, func(*http.Request) string { return keys }))
			t.Cleanup(front.Close)
			receiver := otlptest.New(t)
			l := secretConfig(t, front.URL, more+"limits: {concurrency: 1}\ntelemetry: {endpoint: \""+receiver.URL+"\", content: true}\n")
			keyed(t, l.Dir, keys)
			l.Config.Skill, l.Config.Tasks.Path = filepath.Join(l.Dir, "SKILL.md"), filepath.Join(l.Dir, "tasks.jsonl")
			dir := filepath.Join(t.TempDir(), "run")
			var told bytes.Buffer
			_, err := skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
			if err != nil {
				t.Errorf("it ended with %.300s", err)
			}
			fmt.Fprintf(&told, "%v", err)
			texts := map[string]string{"events and error": told.String(), "telemetry": receiver.Text()}
			for _, args := range [][]string{{"runs", "show"}, {"runs", "show", "--json"}, {"runs", "blame"}, {"runs", "blame", "--json"}, {"runs", "list"}} {
				texts[strings.Join(args, " ")] = shown(t, append(args, dir)...)
			}
			texts["runs list"] = shown(t, "runs", "list", filepath.Dir(dir))
			for _, file := range []string{"report.html", "report.md", "config.yaml"} {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Error(err)
				}
				texts[file] = string(text)
			}
			tape := filepath.Join(t.TempDir(), "run.cassette")
			if _, err := skillopt.ExportCassette(t.Context(), dir, tape); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(tape)
			if err != nil {
				t.Fatal(err)
			}
			texts["cassette"] = string(text)
			for where, text := range texts {
				if found := shapesIn([]byte(text)); len(found) > 0 || text == "" {
					t.Errorf("%s holds %d keys in %d bytes: %.2v", where, len(found), len(text), found)
				}
			}
			for _, file := range []string{"best_skill.md", "run.db"} {
				text, err := os.ReadFile(filepath.Join(dir, file))
				if found := shapesIn(text); err != nil || len(found) != len(shapesOfKeys) {
					t.Errorf("%s holds %d keys, want all of them as they were: %v", file, len(found), err)
				}
			}
		})
	}
}
