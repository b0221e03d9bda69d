package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// What is handed in may change afterwards: the file holds what it was.
func TestFilesHoldWhatWasHandedIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := opened(t, options(dir))
	want := map[string]string{}
	for i := range 200 {
		name := fmt.Sprintf("steps/%d", i)
		v, text := map[string]int{"n": i}, []byte(fmt.Sprint(i))
		if err := r.WriteJSON(name+".json", v); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteFile(name+".md", text); err != nil {
			t.Fatal(err)
		}
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		want[name+".json"], want[name+".md"] = string(data)+"\n", string(text)
		v["n"], v["later"] = -1, 1
		copy(text, "xxx")
	}
	if err := r.Settle(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name := range want {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of a file that is handed in again before it was written only the newest content
// waits, and what waits is bounded.
func TestOnlyTheNewestContentWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &writer{dir: t.TempDir()}
		w.changed = sync.NewCond(&w.mu)
		for i := range 100 {
			if err := w.add(file{name: "a", data: pieces{make([]byte, 1+i)}}); err != nil {
				t.Fatal(err)
			}
			if err := w.add(file{name: "b", data: pieces{[]byte("b")}}); err != nil {
				t.Fatal(err)
			}
		}
		if len(w.queue) != 2 || w.bytes != 101 {
			t.Errorf("%d files with %d bytes wait, want 2 with 101", len(w.queue), w.bytes)
		}
		added := false
		go func() {
			_ = w.add(file{name: "c", data: pieces{make([]byte, maxWaitingBytes)}})
			added = true
		}()
		synctest.Wait()
		if added {
			t.Error("more than allowed waits")
		}
		for range 2 {
			if _, ok := w.next(); !ok {
				t.Fatal("nothing waits")
			}
		}
		synctest.Wait()
		if !added || len(w.queue) != 1 || w.queue[0].name != "c" {
			t.Errorf("a long file was not taken once there was room: %d wait", len(w.queue))
		}
	})
}

func TestIndentedSize(t *testing.T) {
	t.Parallel()
	for _, v := range []any{
		nil, 1, "a\"b\\",
		[]int{},
		map[string]any{},
		[]any{[]int{}, map[string]int{}},
		[]int{1, 2, 3},
		map[string]any{"a": []any{1, "x,y:{[", map[string]any{"b": nil, "c\\": []any{[]any{"]"}}}}, "z": true},
	} {
		compact, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		indented, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if got := indentedSize(compact); got != len(indented) {
			t.Errorf("%s: %d bytes, want %d", compact, got, len(indented))
		}
	}
}
