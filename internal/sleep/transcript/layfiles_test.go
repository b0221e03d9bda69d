package transcript_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// readHome reads a source's stores in a home folder with these files; NAME.sql is a database.
func readHome(t *testing.T, source transcript.Source, files map[string]string) transcripttest.Result {
	t.Helper()
	c := transcripttest.Case{Source: source}
	return c.All(t, layFiles(t, files), nil)
}

func layFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	from := t.TempDir()
	for name, text := range files {
		path := filepath.Join(from, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return transcripttest.Lay(t, from, func(_, text string) string { return text })
}

// brief is what most tests look at of a session.
type brief struct {
	ID, Project string
	Origin      transcript.Origin
	Turns       []briefTurn
}

type briefTurn struct {
	ID, User, Agent, Failed string
	Interrupted             bool
	Tools                   int
}

func briefs(res transcripttest.Result) []brief {
	out := []brief{}
	for _, t := range res.Transcripts {
		b := brief{ID: t.ID, Project: t.Project, Origin: t.Origin}
		for _, turn := range t.Turns {
			b.Turns = append(b.Turns, briefTurn{turn.ID, turn.User, turn.Agent, turn.Failed, turn.Interrupted, len(turn.Tools)})
		}
		out = append(out, b)
	}
	return out
}

func no() *bool { ok := false; return &ok }
