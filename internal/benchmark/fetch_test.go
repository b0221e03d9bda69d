package benchmark_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/fetch"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// hub serves one data set as Hugging Face does.
type hub struct {
	mu    sync.Mutex
	files map[string]string
	asked []string
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, r.URL.Path)
	at := "/datasets/own/set/resolve/" + commit + "/"
	switch {
	case r.URL.Path == "/api/datasets/own/set/revision/main":
		_, _ = w.Write([]byte(`{"sha": "` + commit + `", "id": "own/set"}`))
	case strings.HasPrefix(r.URL.Path, "/api/datasets/own/set/tree/"+commit):
		var list []map[string]any
		for name, text := range h.files {
			sum := sha256.Sum256([]byte(text))
			list = append(list, map[string]any{"type": "file", "path": name, "size": len(text), "oid": strings.Repeat("0", 40), "lfs": map[string]any{"oid": hex.EncodeToString(sum[:]), "size": len(text)}})
		}
		_ = json.NewEncoder(w).Encode(list)
	case strings.HasPrefix(r.URL.Path, at) && h.files[strings.TrimPrefix(r.URL.Path, at)] != "":
		_, _ = w.Write([]byte(h.files[strings.TrimPrefix(r.URL.Path, at)]))
	default:
		http.NotFound(w, r)
	}
}

func zipped(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestFromTheServerToTasks: a source without a commit is fixed at the one it is at, archives are unpacked,
// and what was fetched is what is prepared; a second time nothing is fetched.
func TestFromTheServerToTasks(t *testing.T) {
	t.Parallel()
	h := &hub{files: map[string]string{
		"data/a.jsonl": `{"k":"a","q":"one","a":"1","pic":"set/p.png"}` + "\n",
		"images.zip":   zipped(t, map[string]string{"set/p.png": dot(t, 4)}),
		"other.bin":    "not wanted",
	}}
	server := httptest.NewServer(h)
	defer server.Close()
	own := lay(t, map[string]string{"benchmark.yaml": about + `source:
  - {hf: own/set, files: "data/*.jsonl", to: rows}
  - {hf: own/set, files: images.zip, to: rows, unpack: true}
task: {id: '{{k}}', prompt: '{{q}}', gold: {field: a}, images: [{field: pic, name: '{{k}}'}]}
`})
	f, err := folder.Open(t.Context(), own, "")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	get := func() benchmark.Fetched {
		t.Helper()
		got, err := benchmark.Fetch(t.Context(), benchmark.Fetching{Folder: f, Dir: dir, Options: fetch.Options{HFBase: server.URL}})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := get()
	if diff := cmp.Diff([]string{"own/set@main at " + commit}, first.Fixed); diff != "" || first.New != 2 {
		t.Errorf("%s, %d new", diff, first.New)
	}
	out := filepath.Join(t.TempDir(), "out")
	report, err := benchmark.Prepare(t.Context(), benchmark.Options{Folder: f, From: dir, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if report.Pictures != 1 || report.Tasks[""] != 1 {
		t.Errorf("%+v", report)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows", "images", "mark"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.asked = nil
	if second := get(); second.New != 0 || len(second.Fixed) != 0 {
		t.Errorf("the second time %d new, %v fixed", second.New, second.Fixed)
	}
	for _, path := range h.asked {
		if strings.Contains(path, "/resolve/") || strings.Contains(path, "/revision/") {
			t.Errorf("the second time %s was asked for", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "rows", "images", "mark")); err != nil {
		t.Error("what was unpacked was unpacked again")
	}
}
