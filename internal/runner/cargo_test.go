package runner

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func cargoTree(t *testing.T) (string, Machine) {
	dir := tree(t, map[string]string{
		"Cargo.toml":   "[package]\nname = \"calc\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"Cargo.lock":   "version = 3\n\n[[package]]\nname = \"calc\"\nversion = \"0.1.0\"\n",
		"src/lib.rs":   "pub fn div(a: i32, b: i32) -> Option<i32> {\n    if b == 0 { None } else { Some(a / b) }\n}\n\n#[cfg(test)]\nmod tests;\n",
		"src/tests.rs": "use super::*;\n\n#[test]\nfn halves() {\n    assert_eq!(div(6, 2), Some(3));\n}\n",
		"tests/it.rs":  "use calc::div;\n\n#[test]\nfn rounds() {\n    println!(\"to be seen\");\n    assert_eq!(div(7, 2), Some(4));\n}\n\nmod inner {\n    #[test]\n    #[should_panic]\n    fn zero() {\n        super::div(1, 0).unwrap();\n    }\n\n    #[test]\n    #[ignore]\n    fn later() {}\n}\n",
	})
	m := thisMachine(t, dir)
	if _, err := (&detector{machine: m}).program("cargo"); err != nil {
		t.Skip(err)
	}
	return dir, m
}

func TestCargo(t *testing.T) {
	t.Parallel()
	dir, m := cargoTree(t)
	s := detect(t, dir, m, Options{})
	if !slices.Equal(s.Project, []string{"calc"}) {
		t.Errorf("the project is %v", s.Project)
	}
	targets, err := s.Targets([]string{"tests/it.rs", "src/tests.rs", "tests/data.txt"}, []string{"src/lib.rs"}, open(t, dir))
	if err != nil || !slices.Equal(targets, []string{"src/tests.rs", "tests/it.rs"}) {
		t.Fatal(targets, err)
	}
	want := canaries(t, s, dir, targets)
	maps.Copy(want, map[string]Status{"calc::tests::halves": Passed, "it::rounds": Failed, "it::inner::zero": Passed, "it::inner::later": Skipped})
	r := run(t, s, Job{Dir: dir, Targets: targets})
	check(t, r, want)
	if m := r.Tests["it::rounds"].Message; !strings.Contains(m, "left: Some(3)") || !strings.Contains(m, "to be seen") || strings.Contains(m, "failures:") {
		t.Errorf("the message is %q", m)
	}
	put(t, dir, "tests/new.rs", "#[test]\nfn modulo() {\n    assert_eq!(calc::modulo(7, 2), 1);\n}\n")
	broken := run(t, s, Job{Dir: dir, Targets: []string{"tests/new.rs"}})
	if len(broken.Tests) > 0 || !strings.Contains(broken.Unbuilt, "cannot find function `modulo`") {
		t.Errorf("got %+v", broken)
	}
}

func TestCargoWarm(t *testing.T) {
	t.Parallel()
	dir, m := cargoTree(t)
	s, base := detect(t, dir, m, Options{}), t.TempDir()
	run(t, s, Job{Dir: dir, Base: base, Warm: true})
	found := 0
	err := filepath.WalkDir(filepath.Join(base, "cache"), func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			found++
			if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), "halves") {
				t.Errorf("%s holds something of the project (%v)", path, err)
			}
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("%d files in the cache, %v", found, err)
	}
}
