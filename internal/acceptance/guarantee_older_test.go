package acceptance_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// testdata/older/agent.tar.gz is a project with three runs of the build of commit
// 9b62c4b, which knew no namespaces, no limits of an episode, no steps of a check that
// are told nothing, and worked in the run directory: one that is finished and two
// that were killed, among the rollouts of a step and while its gate asked.

// unpackOlder unpacks a project of an older build.
func unpackOlder(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	packed, err := os.Open(filepath.Join("testdata/older", name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }() // it was only read
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		unpackFile(t, filepath.Join(dir, filepath.FromSlash(h.Name)), h, files)
	}
}

func unpackFile(t *testing.T, path string, h *tar.Header, from io.Reader) {
	t.Helper()
	if h.Typeflag == tar.TypeDir {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return
	}
	var content bytes.Buffer
	if _, err := io.Copy(&content, from); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content.Bytes(), h.FileInfo().Mode().Perm()|0o600); err != nil {
		t.Fatal(err)
	}
}

// recordOf returns what the results of a run depend on, by their keys.
func recordOf(t *testing.T, dir string) map[string]journal.Digest {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(dir, "run.db"), journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }() // it was only read
	of := map[string]journal.Digest{}
	for r, err := range j.Results(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		of[r.Key] = r.Digest
	}
	return of
}

// filesOf reads what a run came to: what does not tell of times and costs.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	of := map[string]string{}
	for _, pattern := range []string{"best_skill.md", "history.json", "test_outcomes.json", "skills/*"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", pattern, paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			of[filepath.Base(path)] = string(text)
		}
	}
	return of
}

// TestRunsOfAnOlderBuild: those that were killed end as the one that was not, under the
// same keys with the same digests, and the finished one makes no call.
func TestRunsOfAnOlderBuild(t *testing.T) {
	t.Parallel()
	dir := unpackOlder(t, "agent.tar.gz")
	done := filepath.Join(dir, "runs", "done")
	record, files := recordOf(t, done), filesOf(t, done)
	for _, name := range []string{"cut1", "cut2", "done"} {
		l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: os.LookupEnv})
		if err != nil {
			t.Fatal(err)
		}
		run := filepath.Join(dir, "runs", name)
		s, err := skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(run))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s.Status != "completed" {
			t.Errorf("%s ended as %s", name, s.Status)
		}
		if diff := cmp.Diff(record, recordOf(t, run)); diff != "" {
			t.Errorf("%s: the record (-of the older build, +now):\n%s", name, diff)
		}
		if diff := cmp.Diff(files, filesOf(t, run)); diff != "" {
			t.Errorf("%s: the files (-of the older build, +now):\n%s", name, diff)
		}
	}
	to := filepath.Join(dir, "runs", "fork")
	l, err := config.Load(config.Options{Path: dir, Dir: dir, Lookup: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	s, err := skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(done), skillopt.WithFork(to))
	if err != nil || s.Calls.Total-s.Calls.Inherited > 0 {
		t.Errorf("a fork of the finished run made calls of its own: %+v, %v", s, err)
	}
	if diff := cmp.Diff(files, filesOf(t, to)); diff != "" {
		t.Errorf("the fork (-of the older build, +now):\n%s", diff)
	}
}
