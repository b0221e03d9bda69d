package acceptance_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/cli"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// sleepEffects: the keys of sleep concern no run. A harvest with the key and one without keep
// different sessions, or keep them elsewhere.
func sleepEffects() map[string]effect {
	out := map[string]effect{}
	for key, to := range map[string]string{
		"projects": "[shop]", "sources": "[claude]", "stores": "{jsonl: none}", "keep": "24h", "disk": "30kB",
	} {
		out["sleep."+key] = effect{test: func(t *testing.T) {
			before, after := slept(t), slept(t, "sleep."+key+"="+to)
			if before == after {
				t.Errorf("with sleep.%s=%s nothing changed: %s", key, to, after)
			}
		}}
	}
	out["sleep.dir"] = effect{test: sleepDirHasAnEffect}
	for key, to := range map[string]string{
		"targets": "[skills]", "default_skill": "near", "memory": "AGENTS.md", "roots": "[far]", "tasks": "1", "recall": "0", "half_life": "24h",
	} {
		out["sleep."+key] = effect{test: func(t *testing.T) {
			before, after := nightAhead(t), nightAhead(t, "sleep."+key+"="+to)
			if before == after {
				t.Errorf("with sleep.%s=%s nothing changed: %s", key, to, after)
			}
		}}
	}
	out["sleep.whole"] = effect{test: wholeHasAnEffect}
	out["sleep.preferences"] = effect{test: preferencesHaveAnEffect}
	out["sleep.own_login"] = effect{test: ownLoginHasAnEffect}
	out["sleep.auto_adopt"] = effect{test: autoAdoptHasAnEffect}
	out["sleep.on_battery"] = effect{test: onBatteryHasAnEffect}
	out["sleep.notify"] = effect{test: notifyHasAnEffect}
	return out
}

// slept harvests sessions of two projects, one of them old, and says
// which are kept.
func slept(t *testing.T, set ...string) string {
	t.Helper()
	dir := t.TempDir()
	now := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	for _, id := range []string{"shop-1", "site-1"} {
		project, _, _ := strings.Cut(id, "-")
		words := strings.Repeat("words of "+id+" ", 700)
		writeStore(t, dir, id, project, words, now.Add(-time.Hour))
	}
	writeStore(t, dir, "shop-old", "shop", "words", now.Add(-50*time.Hour))
	settings := []config.Setting{}
	for _, text := range append([]string{"sleep.projects=[shop, site]", "sleep.stores={jsonl: store}"}, set...) {
		s, err := config.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, s)
	}
	l, err := config.Load(config.Options{Dir: dir, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	return harvested(t, dir, l.Config.Sleep, now)
}

func writeStore(t *testing.T, dir, id, project, words string, at time.Time) {
	t.Helper()
	text := fmt.Sprintf(`{"type":"session","id":%q,"project":%q}`+"\n"+`{"type":"user","id":%q,"time":%q,"text":%q}`+"\n", id, filepath.Join(dir, project), id, at.Format(time.RFC3339), words)
	if err := os.MkdirAll(filepath.Join(dir, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "store", id+".jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func harvested(t *testing.T, dir string, c config.Sleep, now time.Time) string {
	t.Helper()
	b, err := bank.Open(t.Context(), filepath.Join(dir, "kept"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	var projects []string
	for _, p := range c.Projects {
		projects = append(projects, filepath.Join(dir, p))
	}
	in := harvest.Inputs{Places: transcript.Places{Home: dir, OS: "linux", Env: func(string) string { return "" }, Given: map[string]string{}}, Clean: redact.New(), Now: now, Workers: 1}
	for name, path := range c.Stores {
		in.Places.Given[name] = filepath.Join(dir, path)
	}
	for _, src := range transcript.Sources() {
		if len(c.Sources) == 0 || strings.Contains(strings.Join(c.Sources, " "), src.Name()) {
			in.Sources = append(in.Sources, src)
		}
	}
	terms := harvest.Terms{Projects: harvest.NewProjects(projects...), Keep: c.Keep.Std(), Disk: c.Disk.Bytes()}
	if _, err := harvest.Run(t.Context(), b, terms, in); err != nil {
		t.Fatal(err)
	}
	var kept []string
	if err := b.Sessions(t.Context(), bank.Filter{}, func(s bank.Session) error {
		kept = append(kept, s.ID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(kept, " ")
}

// sleepDirHasAnEffect: the command keeps what it keeps where the key says, also from ~.
func sleepDirHasAnEffect(t *testing.T) {
	dir := t.TempDir()
	profile := filepath.Join(dir, "sleep.yaml")
	if err := os.WriteFile(profile, []byte("sleep: {projects: ["+dir+"], sources: [jsonl], dir: here}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	code := cli.Main(t.Context(), []string{"sleep", "harvest", "--profile", profile}, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir}, "test")
	if _, err := os.Stat(filepath.Join(dir, "here", bank.File)); err != nil || code != 0 {
		t.Errorf("exit code %d, %v: %s", code, err, errs.String())
	}
}
