package run

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

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
