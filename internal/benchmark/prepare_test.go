package benchmark_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
)

// lay writes files below a fresh folder and returns it.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func dot(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, n, n))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const about = "name: mine\nlicence: none\n"

// rows are n rows with a question and an answer.
func rows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"k": "r%d", "q": "what is %d", "a": "%d", "kind": "%s", "part": "%s"}`+"\n", i, i, i, []string{"even", "odd"}[i%2], []string{"train", "val", "test"}[i%3])
	}
	return b.String()
}

// prepared prepares a benchmark of one's own, and returns the folder.
func prepared(t *testing.T, own, data map[string]string, change func(*benchmark.Options)) (string, benchmark.Report, error) {
	t.Helper()
	f, err := folder.Open(t.Context(), lay(t, own), "")
	if err != nil {
		return "", benchmark.Report{}, err
	}
	o := benchmark.Options{Folder: f, From: lay(t, data), Out: filepath.Join(t.TempDir(), "out"), Name: "./mine"}
	if change != nil {
		change(&o)
	}
	report, err := benchmark.Prepare(t.Context(), o)
	left, lerr := os.ReadDir(filepath.Dir(o.Out))
	if lerr != nil {
		t.Fatal(lerr)
	}
	if err != nil && len(left) > 0 {
		t.Errorf("%d things are left behind after an error", len(left))
	}
	return o.Out, report, err
}

// read returns the ids of a split, in their order.
func read(t *testing.T, dir, split string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "tasks", split+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(string(text)) {
		var task struct{ ID string }
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, task.ID)
	}
	return ids
}

func TestWaysToSplit(t *testing.T) {
	t.Parallel()
	task := "task: {id: '{{k}}', type: '{{kind}}', prompt: '{{q}}', gold: {field: a}}\n"
	tests := []struct {
		name, splits string
		own          map[string]string
		want         map[string]int
		first        []string // of train
	}{
		{"ids, in their order", "splits: {ids: ids}\n", map[string]string{"ids/train.txt": "r3\nr1\n", "ids/selection.txt": "# none but\nr2\n", "ids/test.txt": "r0\n\n"}, map[string]int{"train": 2, "selection": 1, "test": 1}, []string{"r3", "r1"}},
		// The counts, and the order of the shuffle, are those of SkillOpt: random.Random(42).shuffle.
		{"a ratio", "splits: {ratio: '2:1:7'}\n", nil, map[string]int{"train": 2, "selection": 1, "test": 7}, []string{"r7", "r3"}},
		{"each value apart", "splits: {ratio: '2:1:2', stratify: type}\n", nil, map[string]int{"train": 4, "selection": 2, "test": 4}, nil},
		{"a field", "splits: {field: part}\n", nil, map[string]int{"train": 4, "selection": 3, "test": 3}, []string{"r0", "r3", "r6", "r9"}},
		{"the config's affair", "", nil, map[string]int{"": 10}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			own := map[string]string{"benchmark.yaml": about + task + tt.splits}
			for name, text := range tt.own {
				own[name] = text
			}
			dir, report, err := prepared(t, own, map[string]string{"rows/a.jsonl": rows(10)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, report.Tasks); diff != "" {
				t.Error(diff)
			}
			if tt.first != nil {
				if diff := cmp.Diff(tt.first, read(t, dir, "train")); diff != "" {
					t.Error(diff)
				}
			}
			if tt.name == "each value apart" {
				odd := 0
				for _, id := range read(t, dir, "train") {
					odd += int(id[1]-'0') % 2
				}
				if odd != 2 {
					t.Errorf("%d of 4 train tasks are odd, want 2", odd)
				}
			}
		})
	}
}

// TestOneOrderOfChoicesByTheSeed: the choices of a question come in an order of the seed and its id, the same
// however often it is prepared, and gold follows its text.
func TestOneOrderOfChoicesByTheSeed(t *testing.T) {
	t.Parallel()
	f, err := folder.Open(t.Context(), "livemathematicianbench", "")
	if err != nil {
		t.Fatal(err)
	}
	orders := map[string]string{}
	for name, seed := range map[string]int64{"own": 0, "again": 0, "42": 42, "7": 7} {
		out := filepath.Join(t.TempDir(), "out")
		if _, err := benchmark.Prepare(t.Context(), benchmark.Options{Folder: f, Fixture: true, Out: out, Seed: seed}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(out, "tasks", "test.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		orders[name] = string(text)
		for line := range strings.Lines(string(text)) {
			var q struct {
				Gold    string
				Hidden  string
				Choices []struct{ Label, Text string }
			}
			if err := json.Unmarshal([]byte(line), &q); err != nil {
				t.Fatal(err)
			}
			right := slices.IndexFunc(q.Choices, func(c struct{ Label, Text string }) bool { return c.Label == q.Gold })
			// The theorem of the fixture says which of its texts is right: P(0) is the first.
			texts := []string{"Every prime", "Exactly", "No residue", "It holds"}
			at := slices.IndexFunc([]string{"P(0)", "P(1)", "P(2)", "P(3)"}, func(p string) bool { return strings.Contains(q.Hidden, p) })
			if right < 0 || at < 0 || !strings.HasPrefix(q.Choices[right].Text, texts[at]) {
				t.Errorf("gold does not follow its text: %s", line)
			}
		}
	}
	if orders["own"] != orders["again"] || orders["own"] != orders["42"] || orders["own"] == orders["7"] {
		t.Error("the order is not one by the seed")
	}
}

// TestTheSameRowsMakeTheSameBytes: and source.json names each row and file by its content.
func TestTheSameRowsMakeTheSameBytes(t *testing.T) {
	t.Parallel()
	own := map[string]string{"benchmark.yaml": about + "task: {id: '{{k}}', prompt: '{{q}}', gold: {field: a}, images: [{field: pic, name: 'p {{k}}/x.png'}]}\n", "SKILL.md": "# S\n"}
	data := map[string]string{"rows/a.jsonl": `{"k":"a:1","q":"one","a":"1","pic":"b.png"}` + "\n" + `{"k":"../b","q":"two","a":["2","zwei"],"pic":"b.png"}` + "\n", "rows/images/b.png": dot(t, 3)}
	var seen []string
	for range 2 {
		dir, report, err := prepared(t, own, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		if report.Pictures != 2 {
			t.Errorf("%d pictures", report.Pictures)
		}
		var all strings.Builder
		for _, name := range []string{"source.json", "tasks/tasks.jsonl", "config.yaml", "SKILL.md"} {
			text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
		seen = append(seen, all.String())
		names, err := filepath.Glob(filepath.Join(dir, "images", "*"))
		if err != nil || len(names) != 2 || !strings.HasSuffix(names[0], ".png") {
			t.Errorf("%v, %v", names, err)
		}
	}
	if seen[0] != seen[1] {
		t.Error("two preparations of the same rows differ")
	}
	for _, want := range []string{`"id": "a:1"`, `"path": "rows/a.jsonl"`, `"gold":["2","zwei"]`, `"images":["images/p~20a~3a1~2fx.png"]`} {
		if !strings.Contains(seen[0], want) {
			t.Errorf("%s is missing in %s", want, seen[0])
		}
	}
}

// TestFilesAsTheyArePublished: rows lie where the source has them, or next to each other, and name
// their pictures by absolute paths into the folder.
func TestFilesAsTheyArePublished(t *testing.T) {
	t.Parallel()
	own := map[string]string{"benchmark.yaml": about + "source:\n  - {hf: a/b, files: \"data/*.jsonl\", to: rows}\ntask: {id: '{{k}}', prompt: '{{q}}', gold: {field: a}, images: [{field: pic, name: '{{k}}.png'}]}\n", "SKILL.md": "# S\n"}
	for _, place := range []string{"rows/a.jsonl", "data/a.jsonl", "a.jsonl", "set/data/a.jsonl"} {
		data := lay(t, map[string]string{"pages/p.png": dot(t, 3)})
		row := fmt.Sprintf(`{"k":"a","q":"one","a":"1","pic":%q}`+"\n", filepath.ToSlash(filepath.Join(data, "pages", "p.png")))
		path := filepath.Join(data, filepath.FromSlash(place))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(row), 0o600)); err != nil {
			t.Fatal(err)
		}
		_, report, err := prepared(t, own, nil, func(o *benchmark.Options) { o.From = data })
		if err != nil || report.Pictures != 1 {
			t.Errorf("%s: %d pictures, %v", place, report.Pictures, err)
		}
	}
	for pic, want := range map[string]string{"/etc/hostname": "its path leads out of the folder", "p.png": "it is the pointer of Git LFS"} {
		_, _, err := prepared(t, own, map[string]string{"rows/a.jsonl": `{"k":"a","q":"one","a":"1","pic":"` + pic + `"}`, "rows/p.png": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pic, err)
		}
	}
}

// TestWhatIsWrongIsNamed: with file, row and key; and nothing half written is left.
func TestWhatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	task := "task: {id: '{{k}}', prompt: '{{q}}', gold: {field: a}}\n"
	pictured := "task: {id: '{{k}}', prompt: '{{q}}', gold: {field: a}, images: [{field: pic, name: '{{k}}.png'}]}\n"
	ok := `{"k":"a","q":"one","a":"1","pic":"p.png"}` + "\n"
	ids := map[string]string{"ids/train.txt": "a\n"}
	tests := []struct {
		name, about string
		own, data   map[string]string
		want        string
	}{
		{"no rows", task, nil, map[string]string{"readme.txt": "x"}, "no file rows/** is in "},
		{"no file with rows", task, nil, map[string]string{"rows/readme.txt": "x"}, "is one with rows (.parquet, .json, .jsonl, .csv)"},
		{"an id twice", task, nil, map[string]string{"rows/a.jsonl": ok + ok}, `rows/a.jsonl: row 2, id: the id "a" is there twice; the first is rows/a.jsonl, row 1`},
		{"an id in two splits", task + "splits: {ids: ids}\n", map[string]string{"ids/train.txt": "a\n", "ids/test.txt": "a\n"}, map[string]string{"rows/a.jsonl": ok}, "1 id is there in more than one place: a (train and test)"},
		{"ids that no row has", task + "splits: {ids: ids}\n", map[string]string{"ids/train.txt": "a\nb\nc\nd\ne\nf\ng\n"}, map[string]string{"rows/a.jsonl": ok}, "6 of the 7 ids of its published splits are in no row: b, c, d, e, f and 1 more"},
		{"no ids", task + "splits: {ids: ids}\n", map[string]string{"ids/train.txt": "\n"}, map[string]string{"rows/a.jsonl": ok}, "ids holds no ids"},
		{"broken JSON", task, nil, map[string]string{"rows/a.jsonl": ok + "{no\n"}, "rows/a.jsonl:2"},
		{"broken parquet", task, nil, map[string]string{"rows/a.parquet": "PAR1 and nothing"}, "rows/a.parquet"},
		{"a field that is not there", task, nil, map[string]string{"rows/a.jsonl": `{"k":"a","a":"1"}` + "\n"}, "rows/a.jsonl: row 1, task.prompt: task.prompt:1: unknown name {{q}}"},
		{"no gold", task, nil, map[string]string{"rows/a.jsonl": `{"k":"a","q":"x"}` + "\n"}, `row 1, task.gold: the row has no field "a"`},
		{"empty gold", task, nil, map[string]string{"rows/a.jsonl": `{"k":"a","q":"x","a":" "}` + "\n"}, `row 1, task.gold: the field "a" is empty`},
		{"a picture that is missing", pictured, nil, map[string]string{"rows/a.jsonl": ok}, `rows/a.jsonl: row 1, pic: the picture "p.png" of task "a" is missing`},
		{"a picture that is none", pictured, nil, map[string]string{"rows/a.jsonl": ok, "rows/p.png": "<svg/>"}, "is neither png, jpeg, gif nor webp"},
		{"a picture outside", pictured, nil, map[string]string{"rows/a.jsonl": strings.Replace(ok, "p.png", "../../../etc/passwd", 1)}, "its path leads out of the folder"},
		{"an absolute picture", pictured, nil, map[string]string{"rows/a.jsonl": strings.Replace(ok, "p.png", "/etc/passwd", 1)}, "its path leads out of the folder"},
		{"an unknown converter", "task: {convert: serchqa}\n", nil, map[string]string{"rows/a.jsonl": ok}, `there is no converter "serchqa"`},
		{"an unknown split", task + "splits: {field: q}\n", ids, map[string]string{"rows/a.jsonl": ok}, "row 1, q: "},
		{"an unknown key", task + "split: {ids: ids}\n", nil, nil, "benchmark.yaml:4"},
		{"two ways to split", task + "splits: {ids: ids, ratio: '1:1:1'}\n", ids, nil, "give one of ids, ratio and field"},
		{"a source that leads out", task + "source: [{url: 'https://x', to: ../y}]\n", nil, nil, `to: found "../y"`},
		{"two fields of one name", "task: {id: '{{k}}', prompt: '{{q}}', fields: {gold: '{{a}}'}}\n", nil, map[string]string{"rows/a.jsonl": ok}, "task.fields.gold: is a key of task itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			own := map[string]string{"benchmark.yaml": about + tt.about}
			for name, text := range tt.own {
				own[name] = text
			}
			_, _, err := prepared(t, own, tt.data, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("something is there", func(t *testing.T) {
		t.Parallel()
		full := lay(t, map[string]string{"keep.txt": "mine"})
		f, err := folder.Open(t.Context(), lay(t, map[string]string{"benchmark.yaml": about + task}), "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = benchmark.Prepare(t.Context(), benchmark.Options{Folder: f, From: lay(t, map[string]string{"rows/a.jsonl": ok}), Out: full})
		var there *benchmark.ThereError
		if text, rerr := os.ReadFile(filepath.Join(full, "keep.txt")); !errors.As(err, &there) || rerr != nil || string(text) != "mine" {
			t.Errorf("%v, %v", err, rerr)
		}
	})
}

// TestRowsInTheSplitsOfSkillOpt: train, val and test, each with a file, say the split of their rows.
func TestRowsInTheSplitsOfSkillOpt(t *testing.T) {
	t.Parallel()
	own := map[string]string{"benchmark.yaml": about + "task: {id: '{{k}}', prompt: '{{q}}', gold: {field: a}, images: [{field: pic, name: '{{k}}.png'}]}\nsplits: {ids: ids}\n", "ids/train.txt": "zzz\n"}
	project := lay(t, map[string]string{"data/images/p.png": dot(t, 2)})
	for split, id := range map[string]string{"train": "a", "val": "b", "test": "c"} {
		dir := filepath.Join(project, "data", "splits", split)
		text := "k,q,a,pic\n" + id + ",what " + id + ",1,data/images/p.png\n"
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "x.csv"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	dir, report, err := prepared(t, own, nil, func(o *benchmark.Options) { o.From = filepath.Join(project, "data", "splits") })
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Concat(read(t, dir, "train"), read(t, dir, "selection"), read(t, dir, "test"))
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" || report.Pictures != 3 {
		t.Errorf("%s, %d pictures", diff, report.Pictures)
	}
}
