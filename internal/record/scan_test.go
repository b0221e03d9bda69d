package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// emptyRun is a run that has recorded nothing.
func emptyRun(t *testing.T) (*Run, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, run.ManifestFile), []byte(`{"format": 2, "kind": "train","run_id":"r","name":"n","status":"completed"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r, dir
}

// ids are easily taken for one another, or for the end of a text.
var ids = []string{"a", "ab", "a/b", `a"b`, `a\`, `\"a`, "ä", "a\u2028", "<a>", "A", "{", "]", "a\n", "id"}

func drawOutcome(t *rapid.T) trajectory.Outcome {
	id := rapid.SampledFrom(ids)
	text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf(`"id": %q, {"id":%q}]}\`, id.Draw(t, "named"), id.Draw(t, "named"))
	}), rapid.StringMatching(`[\\"]{0,6}`))
	o := trajectory.Outcome{
		ID: id.Draw(t, "id"), Status: score.OK, Hard: float64(rapid.IntRange(0, 9).Draw(t, "hard")) / 9, Soft: 1, Answer: text.Draw(t, "answer"), Question: text.Draw(t, "question"),
	}
	for range rapid.IntRange(0, 2).Draw(t, "turns") {
		o.Trajectory = append(o.Trajectory, trajectory.Turn{Role: "assistant", Content: text.Draw(t, "content")})
	}
	if rapid.IntRange(0, 5).Draw(t, "lost") == 0 {
		o.Status, o.Hard, o.Soft = score.Unmeasured, 0, 0
	}
	return o
}

// drawFile is a file of lists by name, or of one list, in one of the forms that programs and
// people write.
func drawFile(t *rapid.T, named bool) []byte {
	list := func() any {
		some := func() trajectory.Outcomes { return rapid.SliceOfN(rapid.Custom(drawOutcome), 0, 5).Draw(t, "outcomes") }
		if rapid.Bool().Draw(t, "in passes") {
			return []trajectory.Outcomes{some(), some()}
		}
		return some()
	}
	all := map[string]any{}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"seed", "best", "selection", "", `a"`, "ä"}), rapid.ID).Draw(t, "names") {
		all[name] = list()
	}
	var v any = all
	if !named {
		v = list()
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	switch rapid.SampledFrom([]string{"lines", "compact", "indented", "spaced"}).Draw(t, "form") {
	case "lines":
		lines := trajectory.Named{}
		for name := range all {
			lines[name] = rapid.SliceOfN(rapid.Custom(drawOutcome), 0, 5).Draw(t, "lines")
		}
		if data, err = lines.Lines(); !named {
			data, err = trajectory.Outcomes(rapid.SliceOfN(rapid.Custom(drawOutcome), 0, 5).Draw(t, "lines")).Lines()
		}
	case "compact":
		err = json.Compact(&out, data)
	case "indented":
		err = json.Indent(&out, data, "", "  ")
	case "spaced":
		err = json.Indent(&out, data, "\t", " \r\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		data = out.Bytes()
	}
	return edited(t, data)
}

// edited is what a hand makes of a file.
func edited(t *rapid.T, data []byte) []byte {
	text := string(data)
	switch rapid.IntRange(0, 12).Draw(t, "edit") {
	case 0:
		text = strings.ReplaceAll(text, `"id":`, `"ID" : `)
	case 1:
		text = strings.ReplaceAll(text, `"id"`, `"\u0069d"`)
	case 2:
		text = strings.Replace(text, `"id":`, `"hard":0,"id":"a","id":`, 1)
	case 3:
		text = strings.ReplaceAll(text, `"a"`, `"\u0061"`)
	case 4:
		text = strings.Replace(text, `"id":`, `"new":{"id":"ab","x":[{"id":"a"},[]]},"id":`, 1)
	case 5:
		text = strings.Replace(text, `"id":`, `"id":null,"x":`, 1)
	case 6:
		text = strings.Replace(text, "[", "[null,", 1)
	case 7:
		text = strings.Replace(text, "{", `{"best":null,"best":[{"id":"a"}],`, 1)
	case 8:
		text = text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]
	case 9:
		text = strings.ReplaceAll(text, "ä", "\xff")
	case 10:
		text += rapid.SampledFrom([]string{"\n\n", "x", "[]", "\x00"}).Draw(t, "behind")
	case 11:
		text = strings.Replace(text, `"hard":`, `"hard":"`, 1)
	}
	return []byte(text)
}

// What is found of one task, and the names, without decoding the rest are those that decoding
// all of it gives, however the file was written. Of a file that cannot be decoded as a whole
// other outcomes may be found, and what is cut off is an error both ways.
func TestScanFindsWhatDecodingGives(t *testing.T) {
	t.Parallel()
	r, dir := emptyRun(t)
	rapid.Check(t, func(t *rapid.T) {
		named := rapid.Bool().Draw(t, "named")
		file := map[bool]string{true: "outcomes.json", false: "some.json"}[named]
		data := drawFile(t, named)
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o600); err != nil {
			t.Fatal(err)
		}
		task := rapid.SampledFrom(append(ids, "a\ufffd", "\ufffd")).Draw(t, "task")
		want, werr := decodedWhole(r, file, named, task)
		got, gerr := scannedOnly(r, file, named, task)
		if werr != nil {
			if !json.Valid(data) && json.Valid(append(slices.Clone(data), closing(data)...)) && gerr == nil {
				t.Fatalf("cut off, and no error:\n%s", data)
			}
			return
		}
		if gerr != nil {
			t.Fatalf("%v:\n%s", gerr, data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("task %q (-decoded +found):\n%s\n%s", task, diff, data)
		}
		if !named {
			return
		}
		names, err := namesIn(r, file)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), names); err != nil || diff != "" {
			t.Fatalf("names: %v %s", err, diff)
		}
		all, _ := listsIn(r, file)
		for name, list := range all {
			if got, err := readList(r, Sheet{file: file, name: name}); err != nil || string(got) != string(list) {
				t.Fatalf("list %q: %v\n%s\n%s", name, err, got, list)
			}
		}
	})
}

// closing is what closes the brackets that a text leaves open, if that is all it lacks.
func closing(data []byte) []byte {
	for _, end := range []string{"]", "]]", "}", "]}", "]]}", "}]", "}]}", "}]]}", "\"}]", "\"}]}"} {
		if json.Valid(append(slices.Clone(data), end...)) {
			return []byte(end)
		}
	}
	return nil
}

// decodedWhole are the outcomes of a task by name, "" of a list, by decoding the file.
func decodedWhole(r *Run, file string, named bool, task string) (map[string][]trajectory.Outcome, error) {
	var list json.RawMessage
	all, err := map[string]json.RawMessage{}, error(nil)
	if named {
		all, err = listsIn(r, file)
	} else if _, err = r.decode(file, &list); err == nil {
		all[""] = list
	}
	out := map[string][]trajectory.Outcome{}
	for name, list := range all {
		outcomes, perr := passes(file, list)
		if perr != nil {
			return nil, perr
		}
		out[name] = nil
		for _, o := range outcomes {
			if o.ID == task {
				out[name] = append(out[name], o)
			}
		}
	}
	return out, err
}

func scannedOnly(r *Run, file string, named bool, task string) (out map[string][]trajectory.Outcome, err error) {
	found := newOfTask(r, task)
	if named {
		out, err = found.lists(file)
	} else {
		out = map[string][]trajectory.Outcome{}
		out[""], err = found.of(Sheet{file: file})
	}
	for name, list := range out {
		if len(list) == 0 {
			out[name] = nil
		}
	}
	return out, err
}

// Wherever the chunks end, the same is found. Of damage in an outcome that nobody asked for it
// depends on them whether it is seen.
func TestScanInAnyChunks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		data, task := drawFile(t, false), rapid.SampledFrom(ids).Draw(t, "task")
		find := func(s *scanner) ([]trajectory.Outcome, error) {
			out, err := s.list(task)
			if err == nil {
				err = s.end()
			}
			return out, err
		}
		whole, werr := find(&scanner{in: bytes.NewReader(data), keep: -1})
		parts, perr := find(&scanner{in: iotest.OneByteReader(bytes.NewReader(data)), keep: -1})
		if !json.Valid(data) && werr == nil {
			return
		}
		if diff := cmp.Diff(whole, parts); diff != "" || (werr == nil) != (perr == nil) {
			t.Fatalf("%v, %v: %s", werr, perr, diff)
		}
	})
}

// The files that programs of this version write are scanned, and not decoded.
func TestScanKnowsItsWriters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Custom(drawOutcome), 0, 5).Draw(t, "outcomes")
		lines, err := trajectory.Named{"best": list, "seed": nil}.Lines()
		if err != nil {
			t.Fatal(err)
		}
		indented, err := json.MarshalIndent(map[string][]trajectory.Outcomes{"a": {list, list}, "b": {}}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range [][]byte{lines, indented} {
			s := &scanner{in: bytes.NewReader(data), keep: -1}
			err := s.lists(func(string) error {
				_, err := s.list("a")
				return err
			})
			if err != nil {
				t.Fatalf("%v:\n%s", err, data)
			}
		}
	})
}
