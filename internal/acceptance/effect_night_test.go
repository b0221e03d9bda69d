package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/cli"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// noMiner finds nothing.
type noMiner struct{}

func (noMiner) Way() string { return "none" }

func (noMiner) Mine(context.Context, config.Config, []bank.Session, []wish.Task, ...skillopt.Option) ([]wish.Task, *result.Mine, error) {
	return nil, nil, nil
}

func (noMiner) Same([]wish.Task, *wish.Task) int { return -1 }

func (noMiner) Suspicious(string, []bank.Session) string { return "" }

// nightAhead says what a night would do with tasks of two skills and of none, some of them of the day before and some
// two months old.
func nightAhead(t *testing.T, set ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	project := filepath.Join(dir, "shop")
	for _, file := range []string{"shop/CLAUDE.md", "shop/.claude/skills/near/SKILL.md", "far/away/SKILL.md"} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("# Title\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := bank.Open(t.Context(), filepath.Join(dir, "kept"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	var tasks []wish.Task
	for i := range 20 {
		at := now.Add(-time.Hour)
		if i%2 == 0 {
			at = now.Add(-60 * 24 * time.Hour)
		}
		tasks = append(tasks, wish.Task{
			Task: task.Task{ID: fmt.Sprintf("t%02d", i), Prompt: fmt.Sprintf("answer question %d", i), Gold: []string{"g"}}, Trust: wish.ByCorrection,
			Project: project, Skill: []string{"", "away"}[i/15], At: at, Seen: []wish.Ref{{Source: "claude", Session: fmt.Sprint(i), Turn: "1"}},
		})
	}
	if _, err := b.Take(t.Context(), "earlier", tasks, noMiner{}.Same, now, 30*24*time.Hour); err != nil {
		t.Fatal(err)
	}
	before := bank.Night{ID: "earlier", Project: project, Started: now.Add(-24 * time.Hour), Ended: now.Add(-23 * time.Hour), Data: json.RawMessage(`{"mined":{"sessions":20}}`)}
	if err := b.PutNight(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	settings := []config.Setting{}
	for _, text := range set {
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
	places := target.Places{Project: project}
	for _, root := range l.Config.Sleep.Roots {
		places.Roots = append(places.Roots, filepath.Join(dir, root))
	}
	r, err := night.Run(t.Context(), night.Options{
		Bank: b, Dir: filepath.Join(dir, "kept"), Config: l.Config, Project: project, Places: places, Miner: noMiner{}, DryRun: true, Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), dir, "DIR")
}

// sleepRun carries out a night of the example's first day with settings, and returns its exit code and what it said.
func sleepRun(t *testing.T, set ...string) (code int, said string) {
	t.Helper()
	return sleepRunIn(t, t.TempDir(), set...)
}

func sleepRunIn(t *testing.T, dir string, set ...string) (code int, said string) {
	t.Helper()
	for _, part := range []string{"project", "day-1", "sleep.yaml", "world.yaml"} {
		from, to := filepath.Join("..", "..", "examples", "sleep", part), filepath.Join(dir, part)
		if part == "day-1" {
			to = filepath.Join(dir, "store")
		}
		info, err := os.Stat(from)
		switch {
		case err == nil && info.IsDir():
			err = os.CopyFS(to, os.DirFS(from))
		case err == nil:
			var data []byte
			if data, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"sleep", "run", "--profile", "sleep.yaml"}
	for _, s := range set {
		args = append(args, "--set", s)
	}
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir}, "test")
	return code, errs.String()
}

// ownLoginHasAnEffect: a seat with a login of its own is refused without it, and goes on to consent with it.
func ownLoginHasAnEffect(t *testing.T) {
	seat := "models.target={provider: claude-cli, model: m}"
	code1, refused := sleepRun(t, seat)
	code2, consent := sleepRun(t, seat, "sleep.own_login=true")
	if code1 != 2 || code2 != 2 || !strings.Contains(refused, "sleep.own_login") || strings.Contains(consent, "sleep.own_login") {
		t.Errorf("%d: %s\n%d: %s", code1, refused, code2, consent)
	}
}

// wholeHasAnEffect: all of the document may change, and it gets no learned region.
func wholeHasAnEffect(t *testing.T) {
	for set, region := range map[string]bool{"[]": true, "[CLAUDE.md]": false} {
		dir := t.TempDir()
		if code, said := sleepRunIn(t, dir, "sleep.whole="+set); code != 0 {
			t.Fatalf("%d: %s", code, said)
		}
		staged, err := filepath.Glob(filepath.Join(dir, "state", night.StagingDir, "*", "*", "*.proposed.md"))
		if err != nil || len(staged) != 1 {
			t.Fatalf("%v %v", staged, err)
		}
		text, err := os.ReadFile(staged[0])
		if err != nil || strings.Contains(string(text), "LEARNED START") != region {
			t.Errorf("sleep.whole=%s: %v: %s", set, err, text)
		}
	}
}

// preferencesHaveAnEffect: the analysts of a night are told of them, behind the words that those of any run are told.
func preferencesHaveAnEffect(t *testing.T) {
	for set, told := range map[string]string{`sleep.preferences=""`: "Answer in one line.", "sleep.preferences=Name no customer.": "Answer in one line.\n\nName no customer."} {
		dir := t.TempDir()
		if code, said := sleepRunIn(t, dir, set, "reflect.guide=Answer in one line."); code != 0 {
			t.Fatalf("%d: %s", code, said)
		}
		runs, err := filepath.Glob(filepath.Join(dir, "state", night.RunsDir, "*-suggest"))
		if err != nil || len(runs) != 1 {
			t.Fatalf("%v %v", runs, err)
		}
		var out, errs bytes.Buffer
		args := []string{"runs", "calls", runs[0], "--key", "e1/s1/mb0/analyst_error/0/attempt0/turn1", "--json"}
		if code := cli.Main(t.Context(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir}, "test"); code != 0 {
			t.Fatalf("%d: %s", code, errs.String())
		}
		end, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		if want := `\n\n` + strings.TrimPrefix(string(end), `"`); !strings.Contains(out.String(), want) { // the last words of a message
			t.Errorf("%s: analysts are not told %s last", set, want)
		}
	}
	c := config.Default()
	c.Reflect.Guide, c.Sleep.Preferences = strings.Repeat("a", config.MaxGuide-10), "more than nine"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "sleep.preferences: found 4102 bytes with reflect.guide") {
		t.Error(err)
	}
}

// notifyHasAnEffect: the program is started when the night is over.
func notifyHasAnEffect(t *testing.T) {
	touch, err := exec.LookPath("touch")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "over")
	if code, said := sleepRun(t, fmt.Sprintf("sleep.notify=[%s, %q]", touch, file)); code != 0 {
		t.Fatalf("%d: %s", code, said)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
