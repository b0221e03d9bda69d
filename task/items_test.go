package task_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestItemLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		content string
		want    []int
	}{
		{"[\n1,\n\n2, 3\n]", []int{2, 4, 4}},
		{"\n\n{\"data\":\n[1,\n2]}", []int{4, 5}},
		{"{\"a\":1,\n\"b\":\n2}", []int{1, 3}},
		{"1\n\n 2\r\n3", []int{1, 3, 4}},
		{"\n\n7", []int{3}},
		{`{"data":[1],"data":[2,3]}`, []int{1, 1}},
		{`{"data":[1],"data":4}`, []int{1}},
	}
	for _, tt := range tests {
		items, err := task.Items([]byte(tt.content))
		if err != nil {
			t.Errorf("%q: %v", tt.content, err)
			continue
		}
		var got []int
		for _, it := range items {
			got = append(got, it.Line)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%q: %s", tt.content, diff)
		}
	}
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	long := `{"id":"a","prompt":"` + strings.Repeat("x", task.MaxLine) + `"}`
	if _, msg := load(t, "t.jsonl", "\n"+long, task.Rules{}); !strings.Contains(msg, "t.jsonl:2: the line has 167") {
		t.Errorf("got %.200s", msg)
	}
}

func TestHugeFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, task.MaxFile+1); err != nil { // sparse: takes no room on disk
		t.Fatal(err)
	}
	if _, err := task.Load(path, task.Rules{}); err == nil || !strings.Contains(err.Error(), "larger than 256 MB") {
		t.Errorf("got %v", err)
	}
}

// TestItemsRoundTrip: what is written as JSON, in either layout, is read back.
func TestItemsRoundTrip(t *testing.T) {
	t.Parallel()
	value := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return rapid.String().Draw(t, "s")
		case 1:
			return rapid.Float64Range(-1e9, 1e9).Draw(t, "f")
		case 2:
			return rapid.Bool().Draw(t, "b")
		case 3:
			return nil
		}
		return []any{rapid.String().Draw(t, "in list")}
	})
	object := rapid.MapOfN(rapid.String(), value, 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		objects := rapid.SliceOfN(object, 2, 5).Draw(t, "objects")
		var lines bytes.Buffer
		enc := json.NewEncoder(&lines)
		for _, o := range objects {
			if err := enc.Encode(o); err != nil {
				t.Fatal(err)
			}
		}
		list, err := json.MarshalIndent(objects, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{lines.Bytes(), list} {
			items, err := task.Items(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			var got []any
			for _, it := range items {
				got = append(got, it.Value)
			}
			want, err := json.Marshal(objects)
			if err != nil {
				t.Fatal(err)
			}
			have, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if !sameJSON(want, have) {
				t.Fatalf("got %s, want %s", have, want)
			}
		}
	})
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
}

// FuzzItems: what our parser accepts as one JSON document is what encoding/json
// accepts, but for NaN and infinities.
func FuzzItems(f *testing.F) {
	for _, s := range []string{`[1,{"a":2}]`, "{\"a\":1}\n{\"a\":2}", `{"data":[1,2]}`, `{"x":NaN,"y":-Infinity}`, `"s"`, ` `, `[1.5e-3,-0]`, `["\ud800","\u00e9"]`, "\x1c1", `{"a":1,"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := task.Items(data)
		if json.Valid(data) && err != nil && bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) < 1000 {
			t.Fatalf("valid JSON is refused: %v", err)
		}
		for _, it := range items {
			if it.Line < 1 || it.Line > bytes.Count(data, []byte("\n"))+1 {
				t.Fatalf("line %d", it.Line)
			}
		}
	})
}

// FuzzLoad feeds every reader with arbitrary bytes: no crash, no task without an
// id or an origin, no error without a problem.
func FuzzLoad(f *testing.F) {
	f.Add(uint8(0), []byte(`{"id":"a","prompt":"p","gold":"g"}`))
	f.Add(uint8(1), []byte(`[{"prompt":"p","answers":[1,true]}]`))
	f.Add(uint8(2), []byte("tasks:\n- &x {prompt: p, gold: g}\n- <<: *x\n  id: !!str 1\n"))
	f.Add(uint8(2), []byte("- prompt: |\n    a\n  gold: 0x1F\n  n: .inf\n"))
	f.Add(uint8(3), []byte("prompt,gold,checks\n\"a\nb\",\"[1]\",{}\n"))
	f.Add(uint8(3), []byte("prompt;gold\na;b\n"))
	extensions := []string{"jsonl", "json", "yaml", "csv"}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		path := filepath.Join(t.TempDir(), "t."+extensions[int(kind)%len(extensions)])
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := task.Load(path, task.Rules{})
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a word")
			}
			return
		}
		for _, tk := range s.Tasks() {
			if tk.ID == "" || tk.Prompt == "" || !strings.HasPrefix(tk.Origin, path+":") {
				t.Fatalf("accepted %+v", tk)
			}
		}
	})
}
