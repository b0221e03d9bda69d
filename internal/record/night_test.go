package record_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

const (
	project = "acc4b2b514e92462"
	aNight  = "20261125-205338"
)

// sleepDir is a sleep.dir with a night and one run.
func sleepDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sleep")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "sleep"))); err != nil {
		t.Fatal(err)
	}
	runOf(t, filepath.Join(dir, "runs", "one"), "dream", map[string]string{})
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, f record.Folder) []string {
	t.Helper()
	list, err := f.Nights()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, n := range list {
		out = append(out, n.ID())
	}
	return out
}

// What a folder is, is told by what is in it.
func TestFolderOf(t *testing.T) {
	t.Parallel()
	dir := sleepDir(t)
	nights := filepath.Join(dir, "nights")
	runs := filepath.Join(dir, "runs")
	empty := t.TempDir()
	banked := t.TempDir()
	put(t, filepath.Join(banked, "bank.db"), "")
	named := t.TempDir() // runs, one of which is called nights
	runOf(t, filepath.Join(named, "nights"), "dream", map[string]string{})
	for _, c := range []struct {
		path string
		want record.Folder
		ids  []string
	}{
		{dir, record.Folder{Path: dir, Runs: runs, Sleep: true}, []string{project + "/" + aNight}},
		{nights, record.Folder{Path: nights, Runs: nights}, []string{project + "/" + aNight}},
		{filepath.Join(nights, project), record.Folder{Path: filepath.Join(nights, project), Runs: filepath.Join(nights, project)}, []string{project + "/" + aNight}},
		{filepath.Join(nights, project, aNight), record.Folder{Path: filepath.Join(nights, project), Runs: filepath.Join(nights, project), Night: aNight}, []string{project + "/" + aNight}},
		{runs, record.Folder{Path: runs, Runs: runs}, []string{}},
		{filepath.Join(runs, "one"), record.Folder{Path: runs, Runs: runs, Run: "one"}, []string{}},
		{banked, record.Folder{Path: banked, Runs: filepath.Join(banked, "runs"), Sleep: true}, []string{}},
		{named, record.Folder{Path: named, Runs: named}, []string{}},
		{empty, record.Folder{Path: empty, Runs: empty}, []string{}},
		{filepath.Join(empty, "none"), record.Folder{Path: filepath.Join(empty, "none"), Runs: filepath.Join(empty, "none")}, []string{}},
	} {
		got := record.InspectFolder(c.path)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
		if diff := cmp.Diff(c.ids, ids(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
	}
}

// A night is read, and written again it is the same, byte for byte.
func TestANightIsWrittenAgain(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "sleep", "nights", project, aNight)
	for name, v := range map[string]any{"night.json": new(result.Night), "diagnostics.json": new(result.NightDiagnostics), "proposal.json": new(result.NightProposal)} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatal(err)
		}
		again, err := json.MarshalIndent(v, "", "  ")
		if err != nil || !bytes.Equal(append(again, '\n'), text) {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(string(text), string(again)))
		}
	}
	f := record.InspectFolder(sleepDir(t))
	rows, list, err := new(record.NightIndex).Rows(t.Context(), f)
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	row := rows[0]
	want := &result.NightRow{Project: "/srv/desk/project", Outcomes: []result.NightCount{{Outcome: result.NightSuggested, N: 1}}, Tokens: 14499}
	if diff := cmp.Diff(want, row.Night); diff != "" || row.Status != "completed" || row.Kind != "night" || !row.Simulated || !row.Unreviewed || row.CreatedAt == nil || row.EndedAt == nil || row.CostUSD != nil {
		t.Errorf("%+v (-want +got):\n%s", row, diff)
	}
	v, err := list[0].View(t.Context())
	if err != nil || len(v.Problems) > 0 || len(v.Staged) != 1 || v.Discarded {
		t.Fatalf("%v %+v", err, v)
	}
	if d := v.Staged[0].Difference; d.Equal || len(d.Files) != 1 || d.Files[0].Path != "memory:CLAUDE.md" || !strings.HasPrefix(d.Diff, "--- memory:CLAUDE.md (live)\n+++ memory:CLAUDE.md (proposed)\n") {
		t.Errorf("%+v", d)
	}
}

// Other files of a skill are adopted with it: they are shown with it, and one that is not as the night has written it hides both.
func TestOtherFilesOfAProposal(t *testing.T) {
	t.Parallel()
	dir := sleepDir(t)
	at := filepath.Join(dir, "nights", project, aNight)
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	var p result.NightProposal
	text, err := os.ReadFile(filepath.Join(at, result.NightProposalFile))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Items[0].Files = []result.NightItemFile{{Path: "references/a.md", File: "f0.proposed", Original: "f0.live", LiveSHA: digest("# A\n"), SHA: digest("# B\n")}}
	if text, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(at, result.NightProposalFile), string(text))
	put(t, filepath.Join(at, "f0.live"), "# A\n")
	view := func() record.NightView {
		list, err := record.InspectFolder(dir).Nights()
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		v, err := list[0].View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	put(t, filepath.Join(at, "f0.proposed"), "# B\n")
	v := view()
	if len(v.Staged) != 1 || len(v.Staged[0].Difference.Files) != 2 {
		t.Fatalf("%+v", v)
	}
	name := p.Items[0].Target + "/references/a.md"
	if s := v.Staged[0]; s.Difference.Files[1].Path != name || s.Before[name] != "# A\n" || s.Difference.Equal || !strings.Contains(s.Difference.Diff, "+# B\n") {
		t.Errorf("%+v", s)
	}
	put(t, filepath.Join(at, "f0.proposed"), "# C\n")
	if v := view(); len(v.Staged) != 0 || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], "is not as the night has written it") {
		t.Errorf("%+v", v)
	}
}

// A night that cannot be read is a row that says why, and the others are listed.
func TestNightsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := sleepDir(t)
	f := record.InspectFolder(dir)
	at := func(name string) string { return filepath.Join(dir, "nights", project, name) }
	for name, text := range map[string]string{
		"a-cut": `{"format": 4, "targets": [`, "b-other": `{"format": 99, "targets": 5}`, "c-none": `{}`, "d-shape": `{"format": 4, "targets": 5}`,
		"e-large": `{"format": 4}` + strings.Repeat(" ", 8<<20), "f-open": `{"format": 4, "night": "x", "started_at": "2026-01-02T03:04:05Z", "targets": null}`,
	} {
		put(t, filepath.Join(at(name), "night.json"), text)
	}
	if err := os.MkdirAll(filepath.Join(at("g-folder"), "night.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	x := new(record.NightIndex)
	for range 2 { // the second time by what is remembered
		rows, list, err := x.Rows(t.Context(), f)
		if err != nil || len(rows) != 8 || len(list) != 8 {
			t.Fatalf("%v %+v", err, rows)
		}
		got := map[string]result.RunRow{}
		for _, r := range rows {
			got[r.Name] = r
		}
		for name, want := range map[string][2]string{
			aNight: {"completed", ""}, "a-cut": {record.RowDamaged, "night.json is damaged"}, "b-other": {record.RowFormat, "it has format 99, and this program reads format 4: use the program that wrote it"},
			"c-none": {record.RowFormat, "it has format 0"}, "d-shape": {record.RowDamaged, "is damaged"}, "e-large": {record.RowDamaged, "8 MB"},
			"f-open": {record.RowUnfinished, ""}, "g-folder": {record.RowDamaged, "night.json is damaged: it is a directory, not a regular file"},
		} {
			if r := got[name]; r.Status != want[0] || !strings.Contains(r.Reason, want[1]) {
				t.Errorf("%s: %s %q, want %s %q", name, r.Status, r.Reason, want[0], want[1])
			}
		}
	}
	put(t, filepath.Join(at("f-open"), "night.json"), `{"format": 4, "night": "x", "ended_at": "2026-01-02T03:04:05Z", "targets": null} `)
	if rows, _, _ := x.Rows(t.Context(), f); rows[len(rows)-2].Status != "completed" {
		t.Errorf("what has changed is read again: %+v", rows[len(rows)-2])
	}
}

// What belongs to a night and cannot be used is named; nothing else than the night has written is taken for it.
func TestDocumentsOfANight(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret.md")
	put(t, secret, "a secret")
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		says   string
		staged int
	}{
		{"diagnostics", func(t *testing.T, dir string) { put(t, filepath.Join(dir, "diagnostics.json"), "{") }, "diagnostics.json is damaged", 1},
		{"newer proposal", func(t *testing.T, dir string) { put(t, filepath.Join(dir, "proposal.json"), `{"format": 9}`) }, "it has format 9", 0},
		{"another night's", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "proposal.json"), `{"format": 4, "night": "other"}`)
		}, "another night or project", 0},
		{"changed text", func(t *testing.T, dir string) {
			put(t, filepath.Join(dir, "memory-CLAUDE.md.proposed.md"), "do as I say")
		}, "is not as the night has written it", 0},
		{"no text", func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, "memory-CLAUDE.md.proposed.md")); err != nil {
				t.Fatal(err)
			}
		}, "cannot be read", 0},
		{"a link", func(t *testing.T, dir string) {
			path := filepath.Join(dir, "memory-CLAUDE.md.live.md")
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(secret, path); err != nil {
				t.Skip(err)
			}
		}, "cannot be read", 0},
		{"a path", func(t *testing.T, dir string) { rename(t, dir, "../../../../secret.md") }, "is no name of a file", 0},
		{"the parent", func(t *testing.T, dir string) { rename(t, dir, "..") }, "is no name of a file", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := sleepDir(t)
			c.change(t, filepath.Join(dir, "nights", project, aNight))
			list, err := record.InspectFolder(dir).Nights()
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			v, err := list[0].View(t.Context())
			if err != nil || len(v.Problems) != 1 || !strings.Contains(v.Problems[0], c.says) || len(v.Staged) != c.staged {
				t.Errorf("%v %q, staged %d", err, v.Problems, len(v.Staged))
			}
			if text, err := json.Marshal(v); err != nil || bytes.Contains(text, []byte("a secret")) {
				t.Errorf("%v: what lies elsewhere is shown", err)
			}
		})
	}
}

// rename has the proposal name another file.
func rename(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "proposal.json"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "proposal.json"), strings.ReplaceAll(string(text), "memory-CLAUDE.md.proposed.md", name))
}

// Answers are bounded, each and together.
func TestAnswersOfANightAreBounded(t *testing.T) {
	t.Parallel()
	dir := sleepDir(t)
	var tasks []string
	for i := range 2003 {
		tasks = append(tasks, fmt.Sprintf(`{"id": "%d", "head": %q}`, i, strings.Repeat("ä", 800)))
	}
	put(t, filepath.Join(dir, "nights", project, aNight, "diagnostics.json"), fmt.Sprintf(`{"format": %d, "tasks": [`, result.NightFormat)+strings.Join(tasks, ",")+`]}`)
	list, err := record.InspectFolder(dir).Nights()
	if err != nil {
		t.Fatal(err)
	}
	v, err := list[0].View(t.Context())
	if err != nil || len(v.Answers) != 2000 || v.LeftOut != 3 || len(v.Answers[0].Head) > 1026 || strings.Trim(v.Answers[0].Head, "ä") != "" {
		t.Errorf("%v: %d answers, %d left out, %d bytes", err, len(v.Answers), v.LeftOut, len(v.Answers[0].Head))
	}
	if v.Answers[0].Hard != nil {
		t.Error("what is unmeasured is a score")
	}
}

// Links are not followed: what lies elsewhere is no night of the folder.
func TestNightsBehindLinks(t *testing.T) {
	t.Parallel()
	elsewhere, dir := sleepDir(t), t.TempDir()
	put(t, filepath.Join(dir, "a", "bank.db"), "")
	put(t, filepath.Join(dir, "b", "bank.db"), "")
	put(t, filepath.Join(dir, "b", "nights", "keep"), "")
	put(t, filepath.Join(dir, "b", "nights", "0123456789abcdef", "keep"), "")
	for from, to := range map[string]string{
		filepath.Join(dir, "a", "nights"):                             filepath.Join(elsewhere, "nights"),
		filepath.Join(dir, "a", "runs"):                               filepath.Join(elsewhere, "runs"),
		filepath.Join(dir, "b", "nights", project):                    filepath.Join(elsewhere, "nights", project),
		filepath.Join(dir, "b", "nights", "0123456789abcdef", aNight): filepath.Join(elsewhere, "nights", project, aNight),
	} {
		if err := os.Symlink(to, from); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"a", "b"} {
		f := record.InspectFolder(filepath.Join(dir, name))
		if got := ids(t, f); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
		if err := f.CheckRuns(); (err != nil) != (name == "a") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
