package draft_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/draft"
)

const twoTriggers = `{"id":"should-1","prompt":"Add up","trigger":"should","reviewed":false}` + "\n" +
	`{"id":"should-not-2","prompt":"Draw","trigger":"should_not","reviewed":false}` + "\n"

func TestAddKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	lines := strings.SplitAfter(twoTriggers, "\n")
	for name, tt := range map[string]struct {
		before, rejected string
		want             string
		added            int
	}{
		"no file":             {"", "", twoTriggers, 2},
		"no line break":       {`{"id":"a","gold":"1"}`, "", `{"id":"a","gold":"1"}` + "\n" + twoTriggers, 2},
		"line breaks of DOS":  {"{\"id\":\"a\"}\r\n\r\n", "", "{\"id\":\"a\"}\r\n\r\n" + twoTriggers, 2},
		"a byte order mark":   {"\ufeff{}\n", "", "\ufeff{}\n" + twoTriggers, 2},
		"one is there":        {`{"reviewed":true, "id":"should-1"}` + "\n", "", `{"reviewed":true, "id":"should-1"}` + "\n" + lines[1], 1},
		"one was rejected":    {"", lines[1], lines[0], 1},
		"both are":            {twoTriggers, "", twoTriggers, 0},
		"a broken rejection":  {"", "nothing\n", twoTriggers, 2},
		"an id of its number": {`{"id":7,"prompt":"p"}` + "\n", "", `{"id":7,"prompt":"p"}` + "\n" + twoTriggers, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"rejected.jsonl": tt.rejected}
			if tt.before != "" {
				files["tasks.jsonl"] = tt.before
			}
			path := filepath.Join(put(t, files), "tasks.jsonl")
			f, err := draft.OpenTriggerFile(path)
			if err != nil {
				t.Fatal(err)
			}
			added, err := f.Add([]byte(twoTriggers))
			if err != nil || added != tt.added {
				t.Errorf("added %d, %v", added, err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTriggerFileTellsWhatItHolds(t *testing.T) {
	t.Parallel()
	dir := put(t, map[string]string{"tasks.jsonl": twoTriggers + `{"id":"c","prompt":"no trigger"}` + "\n" + `{"query":"Sum","should_trigger":true,"split":"train"}` + "\n"})
	f, err := draft.OpenTriggerFile(filepath.Join(dir, "tasks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Add up", "Draw", "Sum"}, f.Prompts); diff != "" || f.Tasks != 4 || !f.Splits {
		t.Errorf("%d tasks, splits %v\n%s", f.Tasks, f.Splits, diff)
	}
}

func TestAddRefuses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(put(t, map[string]string{"tasks.jsonl": twoTriggers + "[1]\n"}), "tasks.jsonl")
	if _, err := draft.OpenTriggerFile(path); err == nil || !strings.Contains(err.Error(), "tasks.jsonl:3: the line is no JSON object") {
		t.Errorf("a line that is no object: %v", err)
	}
	path = filepath.Join(t.TempDir(), "tasks.jsonl")
	f, err := draft.OpenTriggerFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add([]byte(twoTriggers)); !errors.Is(err, draft.ErrChanged) {
		t.Errorf("somebody else has written it: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "{}\n" {
		t.Errorf("%v: %q", err, got)
	}
	if _, err := draft.OpenTriggerFile(t.TempDir()); err == nil {
		t.Error("a folder can be opened as a file")
	}
}
