package benchmark_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
)

const aboutFiles = "name: mine\nlicence: none\nsource:\n  - {hf: a/b, files: q.jsonl, to: rows}\n  - {hf: a/b, files: 'parsed/**', to: docs}\ntask: {id: '{{k}}', prompt: '{{q}}', gold: {field: a}}\nfiles: ['docs/**']\n"

// list returns the files of a folder, with their texts.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, rerr := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)] = string(text)
		return errors.Join(err, rerr)
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

// TestFilesAsTheyAre checks what a prepared folder brings: files where bench fetch lays them, or as they are
// published, and neither rows nor what is hidden. Those of JSON are no rows.
func TestFilesAsTheyAre(t *testing.T) {
	t.Parallel()
	row := `{"k":"a","q":"one","a":"1"}` + "\n"
	want := map[string]string{"parsed/texts/a.txt": "one", "parsed/pages/a.json": "[{}]"}
	for name, data := range map[string]map[string]string{
		"fetched":   {"rows/q.jsonl": row, "docs/parsed/texts/a.txt": "one", "docs/parsed/pages/a.json": "[{}]", "docs/.cache": "no", "notes.txt": "no"},
		"published": {"q.jsonl": row, "parsed/texts/a.txt": "one", "parsed/pages/a.json": "[{}]", "README.md": "no"},
	} {
		dir, report, err := prepared(t, map[string]string{"benchmark.yaml": aboutFiles}, data, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if diff := cmp.Diff(want, list(t, filepath.Join(dir, "docs"))); diff != "" || report.Tasks[""] != 1 {
			t.Errorf("%s: %s %v", name, diff, report.Tasks)
		}
	}
	dir, _, err := prepared(t, map[string]string{"benchmark.yaml": aboutFiles}, map[string]string{"rows/q.jsonl": row}, nil)
	if got := list(t, filepath.Join(dir, "docs")); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	// Files alone are no rows, whatever they end in.
	if _, _, err := prepared(t, map[string]string{"benchmark.yaml": aboutFiles}, map[string]string{"parsed/pages/a.json": "[{}]"}, nil); err == nil || !strings.Contains(err.Error(), "no file rows/** is in") {
		t.Error(err)
	}
}

// TestFilesAreLinked checks that files which may be large are there once, and those of a fixture are not lost.
func TestFilesAreLinked(t *testing.T) {
	t.Parallel()
	data := lay(t, map[string]string{"rows/q.jsonl": `{"k":"a","q":"one","a":"1"}`, "docs/a.txt": "one"})
	own := map[string]string{"benchmark.yaml": aboutFiles, "fixture/rows/q.jsonl": `{"k":"a","q":"one","a":"1"}`, "fixture/docs/b.txt": "two", "fixture/world.yaml": "name: w\n"}
	dir, _, err := prepared(t, own, nil, func(o *benchmark.Options) { o.From = data })
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(filepath.Join(data, "docs", "a.txt"))
	is, ierr := os.Stat(filepath.Join(dir, "docs", "a.txt"))
	if err != nil || ierr != nil {
		t.Fatal(err, ierr)
	}
	probe := os.Link(filepath.Join(data, "docs", "a.txt"), filepath.Join(dir, "probe"))
	if probe == nil && !os.SameFile(was, is) {
		t.Error("the file was copied although it can be linked")
	}
	dir, _, err = prepared(t, own, nil, func(o *benchmark.Options) { o.Fixture = true })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"b.txt": "two"}, list(t, filepath.Join(dir, "docs"))); diff != "" {
		t.Error(diff)
	}
}

// TestLinksAreNotBrought checks that no link among the files is followed or copied.
func TestLinksAreNotBrought(t *testing.T) {
	t.Parallel()
	outside := lay(t, map[string]string{"secret.txt": "sk-secret", "more/b.txt": "sk-secret"})
	data := lay(t, map[string]string{"rows/q.jsonl": `{"k":"a","q":"one","a":"1"}`, "docs/a.txt": "one"})
	for name, to := range map[string]string{"docs/out.txt": filepath.Join(outside, "secret.txt"), "docs/more": filepath.Join(outside, "more"), "docs/in.txt": "a.txt"} {
		if err := os.Symlink(to, filepath.Join(data, filepath.FromSlash(name))); err != nil {
			t.Skip("no links here:", err)
		}
	}
	dir, _, err := prepared(t, map[string]string{"benchmark.yaml": aboutFiles}, nil, func(o *benchmark.Options) { o.From = data })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a.txt": "one"}, list(t, filepath.Join(dir, "docs"))); diff != "" {
		t.Error(diff)
	}
}

// TestPatternsOfFiles checks what a folder may name.
func TestPatternsOfFiles(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"../docs/**", "/etc/*", "docs//a", "[a", `docs\a`} {
		_, err := folder.Open(t.Context(), lay(t, map[string]string{"benchmark.yaml": about + "task: {prompt: p}\nfiles: ['" + pattern + "']\n"}), "")
		if err == nil || !strings.Contains(err.Error(), "files[0]: found") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	// What the program writes itself is not replaced.
	_, _, err := prepared(t, map[string]string{"benchmark.yaml": about + "task: {id: '{{k}}', prompt: '{{q}}'}\nfiles: ['*.yaml']\n"}, map[string]string{"rows/q.jsonl": `{"k":"a","q":"one"}`, "config.yaml": "models: {}"}, nil)
	if err == nil || !strings.Contains(err.Error(), "bring config.yaml") {
		t.Error(err)
	}
}

// TestOfficeQA checks the rows and documents of the fixture, and both ways to score.
func TestOfficeQA(t *testing.T) {
	t.Parallel()
	f, err := folder.Open(t.Context(), "officeqa", "")
	if err != nil {
		t.Fatal(err)
	}
	for split, want := range map[string]int{"train": 50, "selection": 24, "test": 172} {
		text, err := f.Read("ids/" + split + ".txt")
		if n := strings.Count(string(text), "UID"); err != nil || n != want {
			t.Errorf("%s: %d ids, %v", split, n, err)
		}
	}
	figures, err := benchmark.ReadPublished(f)
	if err != nil || len(figures.Rows) != 16 {
		t.Errorf("%+v, %v", figures, err)
	}
	out := filepath.Join(t.TempDir(), "out")
	report, err := benchmark.Prepare(t.Context(), benchmark.Options{Folder: f, Fixture: true, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"train": 12, "selection": 8, "test": 10}, report.Tasks); diff != "" || len(report.Vanished) > 0 {
		t.Errorf("%s %v", diff, report.Vanished)
	}
	if docs := list(t, filepath.Join(out, "docs")); len(docs) != 5 {
		t.Errorf("%d documents", len(docs))
	}
}

// TestOfficeQAScores holds both ways to score against replies with the grades that they have to have.
func TestOfficeQAScores(t *testing.T) {
	t.Parallel()
	header := "uid,question,answer,source_docs,source_files,difficulty\n"
	golds := []string{"1234.5", "2602", "1.20", "\"[1, 2]\"", "12.5%", "1977 march", "-5", "5 billion", "March 1977"}
	replies := []struct {
		gold       int
		reply      string
		hard, soft float64 // of the reference
		robust     float64
		robustSoft float64
	}{
		{0, "So <answer>$1,234.5 million</answer>", 1, 1, 1, 1},
		{0, "<answer>1234.5</answer> or <answer>7</answer>", 1, 1, 0, 0}, // the reference takes the first, robust the last
		{0, "1234.5", 0, 0, 0, 0},
		{0, "<answer>\n1234.5", 1, 1, 0, 0}, // not closed: the last line
		{1, "<answer>2,602 million dollars</answer>", 1, 1, 1, 1},
		{2, "<answer>(1.20)</answer>", 1, 1, 1, 1},
		{3, "<answer>1 2</answer>", 1, 1, 1, 1},
		{4, "<answer>12.50%</answer>", 0, 0, 1, 0},
		{5, "<answer>March 1977</answer>", 0, 1, 0, 1},
		{6, "<answer>−5</answer>", 0, 0, 1, 0},
		{7, "<answer>5 million</answer>", 1, 1, 1, 1}, // words for units do not count
		{8, "<answer>march 1977.</answer>", 0, 0.5, 1, 0.5},
		{8, "<answer></answer>", 0, 0, 0, 0},
	}
	for _, way := range []string{"reference", "robust"} {
		for i, r := range replies {
			data := lay(t, map[string]string{"rows/officeqa_full.csv": header + "UID1,q," + golds[r.gold] + ",d,f.txt,easy\n"})
			f, err := folder.Open(t.Context(), "officeqa", "")
			if err != nil {
				t.Fatal(err)
			}
			f.Splits.IDs = ""
			out := filepath.Join(t.TempDir(), "out")
			if _, err := benchmark.Prepare(t.Context(), benchmark.Options{Folder: f, From: data, Out: out, Scoring: way}); err != nil {
				t.Fatal(err)
			}
			l, err := config.Load(config.Options{Path: filepath.Join(out, "config.yaml"), Dir: out, Lookup: func(string) (string, bool) { return "", false }})
			if err != nil {
				t.Fatal(err)
			}
			hard, soft := r.hard, r.soft
			if way == "robust" {
				hard, soft = r.robust, r.robustSoft
			}
			line, err := json.Marshal(map[string]any{"id": "UID1", "response": r.reply, "hard": hard, "soft": soft})
			if err != nil {
				t.Fatal(err)
			}
			against := filepath.Join(lay(t, map[string]string{"results.jsonl": string(line)}), "results.jsonl")
			got, err := benchmark.Verify(t.Context(), benchmark.Verification{Config: l.Config.Tasks, Dir: out, Against: against})
			if err != nil || got.Same != 1 {
				t.Errorf("%s, reply %d %q against %s: %+v, %v", way, i, r.reply, golds[r.gold], got.Differences, err)
			}
		}
	}
}
