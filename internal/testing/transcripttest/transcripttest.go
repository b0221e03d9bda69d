// Package transcripttest is the suite that every source of transcripts passes: what it makes
// of a store, that no secret gets through, that stores stay as they are, and that damaged and
// half-written stores do no harm.
//
// It knows nothing about what a store looks like: a case lays one out.
package transcripttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/internal/testing/memfolder"
	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
)

// Here is what a case's files have in the place of a text: in every field that a source
// could take one from, and in those that it must not read.
const Here = "@@HERE@@"

// Bare is Here in a column of a database that is no JSON.
const Bare = "@@BARE@@"

// Case is a source with a store of its agent.
type Case struct {
	Source transcript.Source
	// Home is a folder of testdata that stands for the user's home folder. A file NAME.sql is
	// made the SQLite database NAME.
	Home string
	// Want is what is read from it.
	Want []transcript.Transcript
	// TakenBack are words of the user that are there until later ones take them back.
	TakenBack []string
	// Filled is a folder like Home whose files have Here in the fields; "": not tried.
	Filled string
	// Scenario are the files of a home folder, by name, in which an agent does what [Scenario] says; nil:
	// not tried.
	Scenario map[string]string
	// Given is what the profile names for the source, relative to Home; usually "".
	Given string
	// Env are variables of the environment; values are relative to Home.
	Env map[string]string
}

// Run runs the suite.
func Run(t *testing.T, c Case) {
	t.Helper()
	t.Run("what is read", func(t *testing.T) { t.Parallel(); read(t, c) })
	t.Run("missing", func(t *testing.T) { t.Parallel(); missing(t, c) })
	t.Run("not wanted", func(t *testing.T) { t.Parallel(); notWanted(t, c) })
	t.Run("cut anywhere", func(t *testing.T) { t.Parallel(); cut(t, c) })
	t.Run("damaged", func(t *testing.T) { t.Parallel(); damaged(t, c) })
	if c.Scenario != nil {
		t.Run("scenario", func(t *testing.T) { t.Parallel(); scenario(t, c) })
	}
	if c.Filled != "" {
		t.Run("secrets", func(t *testing.T) { t.Parallel(); secrets(t, c) })
		t.Run("hostile", func(t *testing.T) { t.Parallel(); hostile(t, c) })
	}
}

// Scenario is what the turn of a case's scenario tells: in the project /p the agent reads a.txt ("first
// line", a blank one, "second line"), runs "make test", which ends with 2, makes "third line" of the
// second, reads a.txt once more, runs "make test", which ends with 0, and "cat b.txt", which prints
// "only line". A last call, "make deploy", is refused by the user, where the store tells of it.
func Scenario() transcript.Turn {
	failed, passed, printed := 2, 0, 0
	return transcript.Turn{
		Files: []string{"a.txt"}, Read: []string{"a.txt", "b.txt"},
		Commands: []transcript.Command{{Text: "make test", Exit: &failed}, {Text: "make test", Exit: &passed}, {Text: "cat b.txt", Exit: &printed}},
		Lines: map[string][]uint32{
			"a.txt": {transcript.LineDigest("first line"), transcript.LineDigest("second line")},
			"b.txt": {transcript.LineDigest("only line")},
		},
	}
}

func scenario(t *testing.T, c Case) {
	home := laid(t, c.Scenario)
	got := c.All(t, home, nil)
	if got.Err != nil || len(got.Problems) > 0 || len(got.Transcripts) != 1 || len(got.Transcripts[0].Turns) != 1 {
		t.Fatalf("not one session of one turn: %+v", got)
	}
	turn := got.Transcripts[0].Turns[0]
	turn.Commands = slices.DeleteFunc(slices.Clone(turn.Commands), func(c transcript.Command) bool { return strings.HasSuffix(c.Text, " a.txt") }) // of agents that read by commands
	turn = transcript.Turn{Files: turn.Files, Read: turn.Read, Commands: turn.Commands, Lines: turn.Lines}
	if diff := cmp.Diff(Scenario(), turn); diff != "" {
		t.Errorf("the scenario (-want +got):\n%s", diff)
	}
	without(t, c, home, got)

	// Records of which the middle is passed over where nobody asks for lines.
	long := map[string]string{}
	for name, text := range c.Scenario {
		for _, line := range []string{"first line", "only line"} {
			text = strings.ReplaceAll(text, line, line+strings.Repeat(" that goes on", 400))
		}
		long[name] = text
	}
	home = laid(t, long)
	without(t, c, home, c.All(t, home, nil))
}

// laid is a home folder with files.
func laid(t *testing.T, files map[string]string) string {
	t.Helper()
	home := folder(t)
	for name, text := range files {
		to := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(to, ".sql") {
			if err := makeDatabase(t.Context(), strings.TrimSuffix(to, ".sql"), text); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// Lay lays a folder of testdata out as a home folder and returns it.
func Lay(t *testing.T, from string, edit func(name, text string) string) string {
	t.Helper()
	home := folder(t)
	layIn(t, home, from, edit)
	return home
}

// Fill lays a folder of testdata out in a home folder, with text in the place of Here.
func Fill(t *testing.T, home, from, text string) {
	t.Helper()
	layIn(t, home, from, func(name, file string) string { return fill(name, file, text) })
}

func layIn(t *testing.T, home, from string, edit func(name, text string) string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(home, rel)
		text := edit(rel, string(data))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if strings.HasSuffix(to, ".sql") {
			return makeDatabase(t.Context(), strings.TrimSuffix(to, ".sql"), text)
		}
		return os.WriteFile(to, []byte(text), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// folder is a folder of the test, in memory where there is room: the suite writes many files.
func folder(t *testing.T) string {
	t.Helper()
	dir, remove := memfolder.New()
	if dir == "" {
		return t.TempDir()
	}
	t.Cleanup(remove)
	return dir
}

func makeDatabase(ctx context.Context, path, text string) error {
	db := sqlstore.Open(path, "?mode=rwc&_pragma=synchronous(OFF)")
	if _, err := db.ExecContext(ctx, text); err != nil {
		_ = db.Close() // the first error counts
		return err
	}
	return db.Close()
}

func same(_, text string) string { return text }

// Places are the places of a home folder.
func (c Case) Places(home string) transcript.Places {
	p := transcript.Places{Home: home, OS: "linux", Env: func(name string) string {
		if v := c.Env[name]; v != "" {
			return filepath.Join(home, v)
		}
		return ""
	}}
	if c.Given != "" {
		p.Given = map[string]string{c.Source.Name(): filepath.Join(home, c.Given)}
	}
	return p
}

// Result is what reading a home folder came to.
type Result struct {
	Transcripts []transcript.Transcript
	Problems    []transcript.Problem
	Err         error // of stores as a whole
}

// All reads all stores of a source below a home folder, with what files held.
func (c Case) All(t *testing.T, home string, wanted func(string) bool) Result {
	t.Helper()
	return c.all(t, home, wanted, true)
}

func (c Case) all(t *testing.T, home string, wanted func(string) bool, lines bool) Result {
	t.Helper()
	stores, err := c.Source.Stores(t.Context(), c.Places(home))
	if err != nil {
		t.Fatal(err)
	}
	res := Result{Transcripts: []transcript.Transcript{}}
	for _, s := range stores {
		r := &transcript.Reading{Clean: redact.New(), Wanted: wanted, Temp: folder(t), Lines: lines, Each: func(tr transcript.Transcript) error {
			res.Transcripts = append(res.Transcripts, tr)
			return nil
		}}
		if err := c.Source.Read(t.Context(), s, r); err != nil {
			res.Err = err
			continue
		}
		res.Problems = append(res.Problems, r.Problems...)
		if mark, err := transcript.Peek(t.Context(), s); err != nil || mark != r.Mark {
			t.Errorf("%s: the mark %+v of the reading is not that of the store, %+v (%v)", s.Path(), r.Mark, mark, err)
		}
	}
	return res
}

// without compares a reading with one that does not ask for lines: it tells the same but them.
func without(t *testing.T, c Case, home string, full Result) {
	t.Helper()
	butLines := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Lines" }, cmp.Ignore())
	got := c.all(t, home, nil, false)
	if diff := cmp.Diff(full, got, butLines); diff != "" {
		t.Errorf("read without lines (-with +without):\n%s", diff)
	}
	for _, tr := range got.Transcripts {
		for i := range tr.Turns {
			if tr.Turns[i].Lines != nil {
				t.Errorf("lines that nobody asked for: %v", tr.Turns[i].Lines)
			}
		}
	}
}

func read(t *testing.T, c Case) {
	home := Lay(t, c.Home, same)
	before := tree(t, home)
	first := c.All(t, home, nil)
	if first.Err != nil || len(first.Problems) > 0 {
		t.Errorf("problems: %v %v", first.Err, first.Problems)
	}
	if diff := cmp.Diff(c.Want, first.Transcripts); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(first, c.All(t, home, nil)); diff != "" {
		t.Errorf("read twice:\n%s", diff)
	}
	without(t, c, home, first)
	if diff := cmp.Diff(before, tree(t, home)); diff != "" {
		t.Errorf("the store was changed:\n%s", diff)
	}
}

// tree has the digest of every file below dir, and the names of folders.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			out[path] = "folder"
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		out[path] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func missing(t *testing.T, c Case) {
	stores, err := c.Source.Stores(t.Context(), c.Places(t.TempDir()))
	if err != nil || len(stores) > 0 {
		t.Errorf("in an empty home folder: %v, %v", stores, err)
	}
}

func notWanted(t *testing.T, c Case) {
	if got := c.All(t, Lay(t, c.Home, same), func(string) bool { return false }); len(got.Transcripts) > 0 || got.Err != nil {
		t.Errorf("sessions of projects that nobody wants: %v (%v)", got.Transcripts, got.Err)
	}
}

// cut cuts each file of lines at many places, as one that is being written: what is read of it
// is a part of what is read of the whole, and nothing is a problem of a line but the last.
func cut(t *testing.T, c Case) {
	whole := words(c.Want)
	for _, text := range c.TakenBack {
		whole[text] = true
	}
	for i := range 60 {
		home := Lay(t, c.Home, func(name, text string) string {
			if !strings.HasSuffix(name, ".jsonl") {
				return text
			}
			return text[:len(text)*i/60]
		})
		for text := range words(c.All(t, home, nil).Transcripts) {
			if !whole[text] {
				t.Errorf("cut at %d/60: words that nobody said: %q", i, text)
			}
		}
	}
}

// words are the texts of users.
func words(list []transcript.Transcript) map[string]bool {
	out := map[string]bool{}
	for _, tr := range list {
		for _, turn := range tr.Turns {
			out[turn.User] = true
		}
	}
	return out
}

// damaged turns bytes of the files over: nothing panics and nothing hangs.
func damaged(t *testing.T, c Case) {
	for i := range 40 {
		home := Lay(t, c.Home, func(name, text string) string {
			if text == "" || strings.HasSuffix(name, ".sql") {
				return text
			}
			b := []byte(text)
			for j := 0; j < 5; j++ {
				b[(i*7919+j*104729)%len(b)] ^= byte(1 << (i % 8))
			}
			return string(b)
		})
		stores, err := c.Source.Stores(t.Context(), c.Places(home))
		if err != nil {
			continue
		}
		for _, s := range stores {
			r := &transcript.Reading{Clean: redact.New(), Temp: folder(t), Each: func(transcript.Transcript) error { return nil }}
			_ = c.Source.Read(t.Context(), s, r) // whatever it says, it says it
		}
	}
}

// secrets puts every shape of a secret into every field, and looks for it in all that was read.
func secrets(t *testing.T, c Case) {
	for shape, marked := range redacttest.Planted() {
		text, parts := redacttest.Plain(marked)
		home := Lay(t, c.Filled, func(name, file string) string { return fill(name, file, text) })
		got := c.All(t, home, nil)
		if len(got.Transcripts) == 0 {
			t.Fatalf("%s: nothing was read: %v %v", shape, got.Err, got.Problems)
		}
		out, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if len(part) > 3 && strings.Contains(string(out), quoted(".jsonl", part)) {
				t.Errorf("%s: %q got through:\n%s", shape, part, out)
			}
		}
	}
}

// hostile puts what steers a terminal into every field.
func hostile(t *testing.T, c Case) {
	const text = "a\x1b[31mb\u202ec\x00d\u200be\x07"
	home := Lay(t, c.Filled, func(name, file string) string {
		return fill(name, file, strings.ReplaceAll(text, "\x00", ""))
	})
	got := c.All(t, home, nil)
	if len(got.Transcripts) == 0 {
		t.Fatalf("nothing was read: %v %v", got.Err, got.Problems)
	}
	out, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`\u001b`, "\u202e", `\u202e`, `\u0000`, "\u200b", `\u200b`, `\u0007`} {
		if strings.Contains(string(out), bad) {
			t.Errorf("%q got through:\n%s", bad, out)
		}
	}
}

// fill puts a text into a file.
func fill(name, file, text string) string {
	file = strings.ReplaceAll(file, Here, quoted(name, text))
	return strings.ReplaceAll(file, Bare, strings.ReplaceAll(text, "'", "''"))
}

// quoted is a text as it stands within a string of JSON, in a file of the kind; in SQL within
// a string of SQL.
func quoted(name, text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return ""
	}
	in := string(data[1 : len(data)-1])
	if strings.HasSuffix(name, ".sql") {
		in = strings.ReplaceAll(in, "'", "''")
	}
	return in
}
