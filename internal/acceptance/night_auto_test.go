package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// autoAdoptHasAnEffect: a night adopts what it has certified, says so, and it can be taken back.
func autoAdoptHasAnEffect(t *testing.T) {
	for _, on := range []bool{false, true} {
		d := newDesk(t)
		d.sessions(50)
		d.accepted()
		profile, err := os.ReadFile(filepath.Join(d.dir, "sleep.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		told := filepath.Join(d.dir, "told")
		d.write("tell.sh", "#!/bin/sh\necho $SKILLOPT_ADOPTED > '"+told+"'\n")
		if err := os.Chmod(filepath.Join(d.dir, "tell.sh"), 0o700); err != nil {
			t.Fatal(err)
		}
		add := "sleep:\n  notify: [./tell.sh]\n"
		if on {
			add += "  auto_adopt: certified\n"
		}
		d.write("sleep.yaml", strings.Replace(string(profile), "sleep:\n", add, 1))
		file := filepath.Join(d.dir, "project", "CLAUDE.md")
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code, r, errs := d.night()
		if code != 0 || r == nil || r.Targets[0].Outcome != night.Certified {
			t.Fatalf("%d: %+v: %s", code, r, errs)
		}
		after, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(after), "LEARNED START") != on || strings.Contains(errs, "adopted by sleep.auto_adopt as number 1: wrote "+file) != on {
			t.Errorf("auto_adopt %v: %s: %s", on, errs, after)
		}
		if count, err := os.ReadFile(told); err != nil || strings.TrimSpace(string(count)) != map[bool]string{false: "0", true: "1"}[on] {
			t.Errorf("auto_adopt %v: it was told of %q, %v", on, count, err)
		}
		if !on {
			continue
		}
		if code, _, errs := d.sleep("rollback", "1", "--yes"); code != 0 {
			t.Errorf("%d: %s", code, errs)
		}
		if back, err := os.ReadFile(file); err != nil || string(back) != string(before) {
			t.Errorf("taken back: %q, %v", back, err)
		}
	}
}

// Only the user's own profile says that nights adopt by themselves: not the command line, a file that it extends, one that others can
// write, a link, or one in a project. What is not certified, or rests on a task that nobody reviewed, is not adopted.
func TestOnlyTheUserLetsNightsAdopt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(d *desk, profile string)
		code int
		want string
	}{
		"the command line": {func(d *desk, _ string) { d.set = append(d.set, "sleep.auto_adopt=certified") }, 2, "it comes from --set"},
		"what it extends": {func(d *desk, p string) {
			d.write("base.yaml", "sleep:\n  auto_adopt: certified\n")
			d.write("sleep.yaml", "extends: base.yaml\n"+p)
		}, 2, "it comes from base.yaml"},
		"what it extends, of the same name": {func(d *desk, p string) {
			d.write("project/sleep.yaml", "sleep:\n  auto_adopt: certified\n")
			d.write("sleep.yaml", "extends: project/sleep.yaml\n"+p)
		}, 2, "only the profile itself may say it"},
		"others can write it": {func(d *desk, p string) {
			d.write("sleep.yaml", strings.Replace(p, "sleep:\n", "sleep:\n  auto_adopt: certified\n", 1))
			if err := os.Chmod(filepath.Join(d.dir, "sleep.yaml"), 0o666); err != nil {
				d.t.Fatal(err)
			}
		}, 2, "others may write the profile"},
		"a link": {func(d *desk, p string) {
			d.write("elsewhere.yaml", strings.Replace(p, "sleep:\n", "sleep:\n  auto_adopt: certified\n", 1))
			at := filepath.Join(d.dir, "sleep.yaml")
			if err := os.Remove(at); err != nil {
				d.t.Fatal(err)
			}
			if err := os.Symlink("elsewhere.yaml", at); err != nil {
				d.t.Skip(err)
			}
		}, 2, "is a link"},
		"in a project": {func(d *desk, p string) {
			d.write("sleep.yaml", strings.Replace(strings.Replace(p, "[project]", "[.]", 1), "sleep:\n", "sleep:\n  auto_adopt: certified\n", 1))
		}, 2, "lies in a project"},
		"not reviewed": {func(d *desk, p string) {
			d.sessions(14)
			d.write("sleep.yaml", strings.Replace(p, "sleep:\n", "sleep:\n  auto_adopt: certified\n", 1))
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			profile, err := os.ReadFile(filepath.Join(d.dir, "sleep.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			c.set(d, string(profile))
			code, _, errs := d.night()
			if code != c.code || !strings.Contains(errs, c.want) {
				t.Errorf("%d: %s", code, errs)
			}
			text, err := os.ReadFile(filepath.Join(d.dir, "project", "CLAUDE.md"))
			if err != nil || strings.Contains(string(text), "LEARNED") {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}
