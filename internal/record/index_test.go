package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// folderOf is a folder with runs of which each is a copy of one, with a change.
func folderOf(t *testing.T, changes map[string]func(dir string)) string {
	t.Helper()
	folder := t.TempDir()
	from := smallRun(t)
	for name, change := range changes {
		dir := filepath.Join(folder, name)
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		change(dir)
	}
	return folder
}

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rowsOf(t *testing.T, folder string) map[string]result.RunRow {
	t.Helper()
	var x Index
	rows, err := x.Rows(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	again, err := x.Rows(t.Context(), folder)
	if diff := cmp.Diff(rows, again); err != nil || diff != "" {
		t.Errorf("asked again: %v\n%s", err, diff)
	}
	out := map[string]result.RunRow{}
	for _, r := range rows {
		out[r.Name] = r
	}
	return out
}

// Damaged runs are named with what is wrong, and others shown.
func TestRowsOfRunsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, map[string]func(string){
		"whole":   func(string) {},
		"history": func(dir string) { putFile(t, filepath.Join(dir, run.HistoryFile), "{") },
		"cut":     func(dir string) { putFile(t, filepath.Join(dir, run.ManifestFile), "{") },
		"other":   func(dir string) { putFile(t, filepath.Join(dir, run.ManifestFile), `{"format": 99}`) },
		"killed": func(dir string) {
			setStatus(t, dir, result.Running)
			_ = os.Remove(filepath.Join(dir, run.SummaryFile))
		},
		"stopped": func(dir string) { setStatus(t, dir, result.Stopped) },
		"none":    func(dir string) { _ = os.Remove(filepath.Join(dir, run.ManifestFile)) },
	})
	rows := rowsOf(t, folder)
	for name, want := range map[string][2]string{
		"whole": {"completed", ""}, "history": {RowDamaged, "history.json"}, "cut": {RowDamaged, "manifest.json"}, "other": {RowFormat, "use the program that wrote it"},
		"killed": {RowKilled, ""}, "stopped": {"stopped", ""},
	} {
		if r := rows[name]; r.Status != want[0] || !strings.Contains(r.Reason, want[1]) {
			t.Errorf("%s: status %q, reason %q", name, r.Status, r.Reason)
		}
	}
	if _, listed := rows["none"]; listed || len(rows) != 6 {
		t.Errorf("%d rows", len(rows))
	}
	if !rows["killed"].Resumable || !rows["stopped"].Resumable || rows["whole"].Resumable || rows["cut"].Resumable {
		t.Error("killed and stopped runs can go on, and no others")
	}
	if r := rows["killed"]; r.Calls != rows["whole"].Calls || r.Score == nil || r.Split != "selection" {
		t.Errorf("killed: %+v", r)
	}
}

func setStatus(t *testing.T, dir string, status result.Status) {
	t.Helper()
	m, _, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Status = status
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, filepath.Join(dir, run.ManifestFile), string(data))
}

// An index that is deleted, damaged, of another program or made up changes nothing but the
// time, and one that is a link is left alone.
func TestIndexIsNeverTrusted(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, map[string]func(string){"a": func(string) {}, "b": func(string) {}})
	want, path := rowsOf(t, folder), filepath.Join(folder, IndexFile)
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"none": "", "garbage": "{", "no object": "[]", "another format": strings.Replace(string(written), `"format":1`, `"format":7`, 1), "other stamps": strings.ReplaceAll(string(written), ",", ", "),
		"as written": string(written),
	} {
		putFile(t, path, text)
		if diff := cmp.Diff(want, rowsOf(t, folder)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	putFile(t, filepath.Join(folder, "a", run.SummaryFile), `{"status":"completed","best":{"step":0},"test":{"seed":{"hard":0.5,"n":4}},"calls":{"total":3}}`)
	if r := rowsOf(t, folder)["a"]; r.Score == nil || *r.Score != 0.5 || r.Calls != 3 {
		t.Errorf("another summary: %+v", r)
	}
	if runtime.GOOS == "windows" {
		return // where links need a right of their own
	}
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	putFile(t, elsewhere, "mine")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, folder); len(rows) != 2 {
		t.Errorf("%d rows", len(rows))
	}
	if data, err := os.ReadFile(elsewhere); err != nil || string(data) != "mine" {
		t.Errorf("a link was followed: %q, %v", data, err)
	}
}

// A run that is at work is looked at each time, also one that was killed when it was indexed.
func TestIndexOfARunThatGoesOn(t *testing.T) {
	t.Parallel()
	folder := folderOf(t, map[string]func(string){"run": func(dir string) { setStatus(t, dir, result.Running) }})
	if r := rowsOf(t, folder)["run"]; r.Status != RowKilled {
		t.Fatalf("%+v", r)
	}
	lock := flock.New(filepath.Join(folder, "run", ".lock"))
	if ok, err := lock.TryLock(); err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer func() { _ = lock.Close() }()
	if r := rowsOf(t, folder)["run"]; r.Status != string(result.Running) || r.Resumable {
		t.Errorf("%+v", r)
	}
	data, err := os.ReadFile(filepath.Join(folder, IndexFile))
	if err == nil && strings.Contains(string(data), `"running"`) {
		t.Errorf("the index has a run at work: %s", data)
	}
}

// A link below a folder of runs is not followed, nor one in a run that leads out of it.
func TestRowsReadNothingElsewhere(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a right of their own")
	}
	secret := filepath.Join(t.TempDir(), "summary.json")
	putFile(t, secret, `{"status":"completed","reason":"SECRET","test":{}}`)
	folder := folderOf(t, map[string]func(string){"run": func(dir string) {
		path := filepath.Join(dir, run.SummaryFile)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(secret, path); err != nil {
			t.Fatal(err)
		}
	}})
	if err := os.Symlink(filepath.Join(folder, "run"), filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, folder)
	if r := rows["run"]; len(rows) != 1 || r.Status != RowDamaged || strings.Contains(r.Reason, "SECRET") {
		t.Errorf("%+v", rows)
	}
}
