package evals_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/seed-f4525e22/skillopt/internal/importer/evals"
	"github.com/seed-f4525e22/skillopt/task"
)

// imported imports a file or folder of testdata.
func imported(t *testing.T, path string, o evals.Options) (evals.Folder, evals.Report) {
	t.Helper()
	dir, file := filepath.Join("testdata", filepath.FromSlash(path)), "."
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir, file = filepath.Split(dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folder, report, err := evals.Import(t.Context(), evals.Source{FS: root.FS(), Root: root, File: file}, o)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return folder, report
}

// written are the tasks of a folder.
func written(t *testing.T, f evals.Folder) (tasks []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(f.Files["tasks.jsonl"]) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		tasks = append(tasks, m)
	}
	return tasks
}

// fixtures are sources of each format, with how they are imported.
var fixtures = map[string]evals.Options{
	"promptfoo/inline": {}, "promptfoo/table": {}, "promptfoo/sets": {},
	"inspect/samples/samples.jsonl": {}, "inspect/table/samples.csv": {}, "inspect/log/2026-11-20T10-00-00_due-dates.json": {},
	"openai/registry": {}, "openai/fuzzy": {}, "openai/samples/due.jsonl": {},
	"huggingface/lines/train.jsonl": {Map: map[string]string{"prompt": "{{context}} {{query}}", "gold": "answers.text"}},
	"huggingface/server/rows.json":  {}, "huggingface/table/due.csv": {},
	"agent-skills/skill": {}, "agent-skills/older": {}, "agent-skills/files": {},
}

// Every fixture becomes twelve tasks that each have checks or an accepted answer, and loses
// nothing.
func TestFixtures(t *testing.T) {
	t.Parallel()
	for path, o := range fixtures {
		folder, report := imported(t, path, o)
		format, _, _ := strings.Cut(path, "/")
		if report.Format != format || report.Tasks != 12 || report.Lost != 0 {
			t.Errorf("%s: %s, %d tasks, %d lost: %+v", path, report.Format, report.Tasks, report.Lost, report.Rows)
		}
		for _, one := range written(t, folder) {
			if one["checks"] == nil && one["gold"] == nil || one["prompt"] == "" || one["id"] == "" {
				t.Errorf("%s: %v", path, one)
			}
		}
		for _, name := range []string{"config.yaml", "tasks.jsonl"} {
			if len(folder.Files[name]) == 0 {
				t.Errorf("%s: no %s", path, name)
			}
		}
	}
}

// What is said of an import is the same each time.
func TestImportIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	for path, o := range fixtures {
		folder, report := imported(t, path, o)
		again, reported := imported(t, path, o)
		if diff := cmp.Diff(folder, again); diff != "" {
			t.Errorf("%s (-first +second):\n%s", path, diff)
		}
		if diff := cmp.Diff(report, reported); diff != "" {
			t.Errorf("%s (-first +second):\n%s", path, diff)
		}
	}
}

// A log as an archive, packed the old way and the new one, is the log as JSON.
func TestArchivedLogs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/inspect/log/2026-11-20T10-00-00_due-dates.json")
	if err != nil {
		t.Fatal(err)
	}
	var log map[string]any
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	plain, _, err := evals.Import(t.Context(), evals.Source{FS: fstest.MapFS{"log.json": {Data: text}}, File: "log.json"}, evals.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples := log["samples"].([]any)
	delete(log, "samples")
	for _, method := range []uint16{zip.Store, zip.Deflate, 93} {
		var packed bytes.Buffer
		w := zip.NewWriter(&packed)
		w.RegisterCompressor(93, zstd.ZipCompressor())
		add := func(name string, v any) {
			f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
			if err == nil {
				err = json.NewEncoder(f).Encode(v)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		add("_journal/start.json", log)
		for _, s := range samples {
			m := s.(map[string]any)
			add(fmt.Sprintf("samples/%v_epoch_%v.json", m["id"], m["epoch"]), m)
		}
		add("../../etc/passwd", "not read") // nothing is unpacked anywhere
		add("header.json", log)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, _, err := evals.Import(t.Context(), evals.Source{FS: fstest.MapFS{"log.eval": {Data: packed.Bytes()}}, File: "log.eval"}, evals.Options{})
		if err != nil {
			t.Fatalf("method %d: %v", method, err)
		}
		if diff := cmp.Diff(string(plain.Files["tasks.jsonl"]), string(got.Files["tasks.jsonl"])); diff != "" {
			t.Errorf("method %d (-json +archive):\n%s", method, diff)
		}
	}
}

// Rows of Parquet, nested columns and pictures too, are read as those of JSON are.
func TestParquet(t *testing.T) {
	t.Parallel()
	type answers struct {
		Text []string `parquet:"text,list"`
	}
	type line struct {
		ID      int64   `parquet:"id"`
		Query   string  `parquet:"query"`
		Answers answers `parquet:"answers"`
	}
	var rows []line
	for i := range 12 {
		rows = append(rows, line{int64(i), fmt.Sprintf("What is %d + 1?", i), answers{[]string{fmt.Sprint(i + 1)}}})
	}
	dir := t.TempDir()
	if err := parquet.WriteFile(filepath.Join(dir, "train.parquet"), rows); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folder, report, err := evals.Import(t.Context(), evals.Source{FS: root.FS(), Root: root, File: "."}, evals.Options{Map: map[string]string{"gold": "answers.text"}})
	if err != nil {
		t.Fatal(err)
	}
	tasks := written(t, folder)
	if report.Tasks != 12 || tasks[3]["gold"] != "4" || tasks[3]["id"] != "3" || tasks[3]["prompt"] != "What is 3 + 1?" {
		t.Errorf("%d tasks: %v", report.Tasks, tasks[3])
	}
	for _, broken := range []string{"PAR1", "", "PAR1 and no end PAR1"} {
		_, _, err := importText(t, "x.parquet", broken, evals.Options{})
		if err == nil {
			t.Errorf("%q is read", broken)
		}
	}
}

// importText imports a file that is all there is.
func importText(t *testing.T, name, text string, o evals.Options) (evals.Folder, evals.Report, error) {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	return evals.Import(t.Context(), evals.Source{FS: root.FS(), Root: root, File: name}, o)
}

// Links that lead out of the folder, and paths that do, are refused whatever names them.
func TestNothingOutsideIsRead(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), []byte("do not read: {{q}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(dir, "link.txt")); err != nil {
		t.Skip("no links here")
	}
	for _, name := range []string{"file://link.txt", "file://../secret.txt", "file://" + outside + "/secret.txt", `file://..\secret.txt`, "file://a/../../secret.txt", "file:///etc/passwd", "file://~/x.txt"} {
		for _, config := range []map[string]any{
			{"prompts": []any{name}, "tests": []any{map[string]any{"assert": []any{map[string]any{"type": "equals", "value": "x"}}}}},
			{"prompts": []any{"{{q}}"}, "tests": []any{map[string]any{"vars": map[string]any{"q": name}, "assert": []any{map[string]any{"type": "equals", "value": "x"}}}}},
			{"prompts": []any{"{{q}}"}, "tests": []any{map[string]any{"vars": map[string]any{"q": "x"}, "assert": []any{map[string]any{"type": "equals", "value": name}}}}},
			{"prompts": []any{"{{q}}"}, "tests": name},
		} {
			text, err := json.Marshal(config)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "promptfooconfig.json"), text, 0o600); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			folder, report, err := evals.Import(t.Context(), evals.Source{FS: root.FS(), File: "promptfooconfig.json"}, evals.Options{})
			if err == nil || strings.Contains(fmt.Sprint(folder, report, err), "do not read") {
				t.Errorf("%s in %s: %v", name, text, err)
			}
			if err := root.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What nothing here judges by is named with its place, and only then.
func TestLost(t *testing.T) {
	t.Parallel()
	for name, assertion := range map[string]string{
		"code": `{"type": "javascript", "value": "output.length > 3"}`, "a script": `{"type": "python", "value": "file://x.py"}`, "bleu": `{"type": "bleu", "value": "x"}`,
		"rouge": `{"type": "not-rouge-n", "value": "x"}`, "similar": `{"type": "similar:cosine", "value": "x"}`, "latency": `{"type": "latency", "threshold": 5}`,
		"a transform": `{"type": "equals", "value": "x", "transform": "output.trim()"}`, "of no kind": `{"type": "contians", "value": "x"}`, "a filter": `{"type": "equals", "value": "{{q | replace('a', 'b')}}"}`,
		"the environment": `{"type": "equals", "value": "{{env.HOME}}"}`, "a script for a value": `{"type": "equals", "value": "file://x.js"}`, "a package": `{"type": "equals", "value": "package:x:y"}`,
		"a format": `{"type": "is-json", "value": {"type": "string", "format": "date"}}`, "a set in a set": `{"type": "assert-set", "assert": [{"type": "assert-set", "assert": [{"type": "equals", "value": "x"}]}, {"type": "equals", "value": "y"}]}`,
	} {
		text := fmt.Sprintf(`{"prompts": ["{{q}}"], "defaultTest": {"assert": [{"type": "contains", "value": "z"}]}, "tests": [{"vars": {"q": ["a", "b", "c"]}, "assert": [%s]}]}`, assertion)
		folder, report, err := importText(t, "promptfooconfig.json", text, evals.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if report.Lost != 3 || report.Tasks != 3 || len(folder.Files) == 0 {
			t.Errorf("%s: %d lost, %d tasks", name, report.Lost, report.Tasks)
		}
		for _, row := range report.Rows {
			if row.Lost && (row.File != "promptfooconfig.json" || !strings.HasPrefix(row.Key, "tests[0].vars#") || row.State != evals.NoCounterpart || row.Note == "") {
				t.Errorf("%s: %+v", name, row)
			}
		}
	}
	_, report, err := importText(t, "promptfooconfig.json", `{"prompts": ["{{q}} {{env.USER}}"], "env": {"A": "b"}, "tests": [{"vars": {"q": ["a", "b", "c"]}, "assert": [{"type": "equals", "value": "x"}], "assertScoringFunction": "file://s.js"}]}`, evals.Options{})
	if err != nil || report.Lost < 3 {
		t.Errorf("%v: %+v", err, report)
	}
}

// A task that others ask too, or that has no name, does not come twice.
func TestSameTasksAreJoined(t *testing.T) {
	t.Parallel()
	folder, report, err := importText(t, "promptfooconfig.yaml", `
prompts: ["{{q}}"]
tests:
  - {vars: {q: a}, assert: [{type: contains, value: x}]}
  - {vars: {q: a}, assert: [{type: contains, value: y}]}
  - {vars: {q: b}, assert: [{type: contains, value: x}]}
  - {vars: {q: c}, assert: [{type: not-contains, value: x}]}
`, evals.Options{})
	if err != nil || report.Tasks != 3 {
		t.Fatalf("%v: %+v", err, report)
	}
	tasks := written(t, folder)
	if checks := tasks[0]["checks"].([]any); len(checks) != 2 {
		t.Errorf("joined: %v", checks)
	}
	if first := tasks[2]["checks"].([]any)[0].(map[string]any); first["empty"] != "pass" {
		t.Errorf("an empty answer passes: %v", first)
	}
	_, report, err = importText(t, "x.jsonl", `{"input": "a", "ideal": "1"}
{"input": "a", "ideal": "1"}
{"input": "a", "ideal": "2"}
{"input": "b", "ideal": "2"}
{"input": "c", "ideal": "2"}
`, evals.Options{})
	if err != nil || report.Tasks != 3 {
		t.Errorf("%v: %+v", err, report)
	}
}

// Everything that cannot be read is told with its file, its row and its key, and with what helps.
func TestMalformed(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, tt := range malformed() {
		seen[tt.format]++
		folder, _, err := importText(t, tt.file, tt.text, evals.Options{Format: tt.format, Map: tt.columns})
		var told *task.Error
		if !errors.As(err, &told) || len(folder.Files) > 0 {
			t.Errorf("%s %s: %v", tt.file, tt.text, err)
			continue
		}
		first := told.Problems[0]
		if first.Origin != tt.origin || !strings.Contains(first.Msg, tt.msg) || !strings.Contains(first.Msg, "; ") {
			t.Errorf("%s %.200s:\n got %s: %s\nwant %s: %s", tt.file, tt.text, first.Origin, first.Msg, tt.origin, tt.msg)
		}
	}
	for _, format := range evals.Formats() {
		if seen[format] < 10 {
			t.Errorf("%s: %d malformed sources", format, seen[format])
		}
	}
}

// FuzzImport: whatever a file holds, the import ends, and what it writes is whole.
func FuzzImport(f *testing.F) {
	for _, tt := range malformed() {
		f.Add(tt.file, tt.text)
	}
	f.Add("promptfooconfig.yaml", "prompts: ['{{q}}']\ntests:\n- vars: {q: [a, b, c]}\n  assert: [{type: contains-all, value: 'x, \"y, z\"'}]\n")
	f.Add("x.csv", "question,answer\na,1\nb,2\nc,3\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		exts := []string{".yaml", ".json", ".jsonl", ".csv", ".eval", ".parquet"}
		if ext := filepath.Ext(name); !slices.Contains(exts, ext) || len(text) > 1<<16 {
			t.Skip()
		}
		name = "x" + filepath.Ext(name)
		for _, format := range append(evals.Formats(), "") {
			folder, report, err := evals.Import(context.Background(), evals.Source{FS: fstest.MapFS{name: {Data: []byte(text)}}, File: name}, evals.Options{Format: format})
			if err != nil {
				if len(folder.Files) > 0 {
					t.Errorf("%v, and a folder", err)
				}
				continue
			}
			if len(written(t, folder)) != report.Tasks || report.Tasks < 3 || len(folder.Files["config.yaml"]) == 0 {
				t.Errorf("%d tasks: %v", report.Tasks, folder.Files)
			}
		}
	})
}
