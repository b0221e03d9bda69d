package server

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

const sleptNight = "acc4b2b514e92462/20261125-205338"

// slept is a sleep.dir with a night, of whose two runs one is there, and the user's key.
func slept(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sleep")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "record", "testdata", "sleep"))); err != nil {
		t.Fatal(err)
	}
	from, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "runs", "acc4b2b5-20261125-205338-memory-CLAUDE.md-suggest")
	if err := os.CopyFS(to, os.DirFS(filepath.Join(from, "small-1"))); err != nil {
		t.Fatal(err)
	}
	own(t, to, nil)
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("a key that nobody may see"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func idsOf(list result.Listing) (out []string) {
	for _, r := range list.Runs {
		out = append(out, r.ID)
	}
	slices.Sort(out)
	return out
}

// A sleep.dir shows its runs and its nights; folders of nights show these alone. A night links the runs that are shown.
func TestNights(t *testing.T) {
	t.Parallel()
	dir := slept(t)
	nights := filepath.Join(dir, "nights")
	const run = "acc4b2b5-20261125-205338-memory-CLAUDE.md-suggest"
	named := "runs/" + run
	for _, c := range []struct {
		name    string
		folders []string
		ids     []string
		linked  map[string]string
	}{
		{"sleep.dir", []string{dir}, []string{"sleep:" + run, "sleep:" + sleptNight}, map[string]string{named: "sleep:" + run}},
		{"nights", []string{nights}, []string{"nights:" + sleptNight}, map[string]string{}},
		{"project", []string{filepath.Join(nights, "acc4b2b514e92462")}, []string{"acc4b2b514e92462:" + sleptNight}, map[string]string{}},
		{"night", []string{filepath.Join(nights, filepath.FromSlash(sleptNight))}, []string{"acc4b2b514e92462:" + sleptNight}, map[string]string{}},
		{"nights and runs", []string{nights, filepath.Join(dir, "runs")}, []string{"nights:" + sleptNight, "runs:" + run}, map[string]string{named: "runs:" + run}},
		{"runs", []string{filepath.Join(dir, "runs")}, []string{"runs:" + run}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil, c.folders...)
			var list result.Listing
			s.get("/runs", &list)
			if diff := cmp.Diff(c.ids, idsOf(list)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, f := range list.Folders {
				if f.Error != "" {
					t.Errorf("%+v", f)
				}
			}
			i := slices.IndexFunc(list.Runs, func(r result.RunRow) bool { return r.Kind == result.SleepNight })
			if i < 0 {
				if c.linked != nil {
					t.Fatal("no night is listed")
				}
				return
			}
			var n Night
			s.get("/nights/"+url.PathEscape(list.Runs[i].ID), &n)
			if diff := cmp.Diff(c.linked, n.RunIDs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(list.Runs[i], n.Row); diff != "" || len(n.Staged) != 1 || n.Targets[0].Outcome != result.NightSuggested {
				t.Errorf("%+v (-want +got):\n%s", n, diff)
			}
		})
	}
}

// No address leads out of the folders of nights, to a file that is none of a night's, or to the key of proposals; and a night is
// no run.
func TestNothingButNightsIsShown(t *testing.T) {
	t.Parallel()
	dir := slept(t)
	if err := os.Symlink(filepath.Join(dir, "key"), filepath.Join(dir, "nights", filepath.FromSlash(sleptNight), "diagnostics.json")+".key"); err != nil {
		t.Skip(err)
	}
	s := serve(t, nil, dir, filepath.Join(dir, "nights"))
	night := "/nights/" + url.PathEscape("sleep:"+sleptNight)
	for path, status := range map[string]int{
		night: http.StatusOK, night + "?key=1": http.StatusBadRequest, "/nights/" + url.PathEscape("other:"+sleptNight): http.StatusNotFound,
		"/nights/sleep": http.StatusNotFound, "/nights/sleep:": http.StatusNotFound, "/nights/" + url.PathEscape("sleep:"+sleptNight+"/../../.."): http.StatusNotFound,
		"/nights/" + url.PathEscape("sleep:../key"): http.StatusNotFound, "/nights/" + url.PathEscape("sleep:"+filepath.Dir(sleptNight)): http.StatusNotFound,
		"/runs/" + url.PathEscape("sleep:"+sleptNight): http.StatusNotFound, "/runs/" + url.PathEscape("nights:acc4b2b514e92462"): http.StatusNotFound,
		"/runs/" + url.PathEscape("sleep:"+sleptNight) + "/config": http.StatusNotFound,
	} {
		r := s.ask(http.MethodGet, path, "")
		if r.status != status || strings.Contains(r.text, "nobody may see") {
			t.Errorf("%s: %d %.300s", path, r.status, r.text)
		}
	}
	for _, path := range []string{"/remove", "/stop"} {
		if r := s.ask(http.MethodPost, "/runs/"+url.PathEscape("sleep:"+sleptNight)+path, "{}"); r.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, r.status, r.text)
		}
	}
	if r := s.send(s.request(http.MethodGet, prefix+night, "")); r.status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", r.status)
	}
}

// A damaged night says so where it is asked for, and so does one of another format.
func TestNightThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := slept(t)
	path := filepath.Join(dir, "nights", filepath.FromSlash(sleptNight), "night.json")
	s := serve(t, nil, dir)
	for text, says := range map[string]string{`{"format": 4, "targets": [`: "is damaged", `{"format": 7}`: "use the program that wrote it"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := s.ask(http.MethodGet, "/nights/"+url.PathEscape("sleep:"+sleptNight), "")
		if r.status != http.StatusInternalServerError || r.refusedAs() != "damaged" || !strings.Contains(r.text, says) {
			t.Errorf("%d %s, want %s", r.status, r.text, says)
		}
	}
}

// Each run that a night names can be opened from its page, whatever part of the night names it.
func TestRunsOfANight(t *testing.T) {
	t.Parallel()
	var v record.NightView
	v.Mined.Runs = []string{"runs/mine"}
	v.Joint = &result.NightJoint{Runs: []string{"runs/bundle"}}
	v.Adopted = []result.NightAdopted{{Run: "runs/since"}}
	v.Targets = []result.NightTarget{{
		Runs: []string{"runs/train", "runs/train"}, Confirmed: &result.NightLook{Run: "runs/confirm"}, Test: &result.NightLook{Run: "runs/sealed"},
		Continued: &result.NightContinued{Run: "runs/carried"}, Judge: &result.NightJudging{Run: "runs/judge"},
	}}
	want := []string{"runs/bundle", "runs/carried", "runs/confirm", "runs/judge", "runs/mine", "runs/sealed", "runs/since", "runs/train"}
	if diff := cmp.Diff(want, listNightRuns(v)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
