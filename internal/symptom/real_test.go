package symptom_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed-f4525e22/skillopt/internal/symptom"
)

var update = flag.Bool("update", false, "write the golden files")

// record reads what a runner reported: the files of testdata are outputs of real runs, of which only
// folders were renamed.
func record(t *testing.T, name string) symptom.Source {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var s symptom.Source
	for _, f := range archive.Files {
		switch text := string(f.Data); {
		case f.Name == "path":
			s.Path = strings.TrimSpace(text)
		case f.Name == "base":
			s.BaseText = text
		case f.Name == "tests":
			s.TestText = text
		case f.Name == "diff":
			s.Diff = text
		default:
			s.Failing = append(s.Failing, symptom.Failing{Name: strings.TrimPrefix(f.Name, "test "), Message: text})
		}
	}
	return s
}

// TestReal words what runners of all languages really report, one test at a time.
func TestReal(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d recorded outputs, %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			s := record(t, name)
			var b strings.Builder
			for _, f := range s.Failing {
				one := s
				one.Failing = []symptom.Failing{f}
				text, ok := symptom.Write(one)
				if leaks := symptom.Leaks(text, one); len(leaks) > 0 {
					t.Errorf("%s gives away %q", f.Name, leaks)
				}
				if !ok {
					text = "no symptom: " + f.Name + "\n"
				}
				_, report, _ := strings.Cut(text, "report it:\n\n")
				if report == "" {
					report = text
				}
				b.WriteString(report)
			}
			golden := strings.TrimSuffix(name, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), b.String()); d != "" {
				t.Errorf("-want +got (go test -update writes it):\n%s", d)
			}
		})
	}
}
