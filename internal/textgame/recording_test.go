package textgame

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
)

// compareRecording compares a recording with the games of a folder.
func compareRecording(t *testing.T, dir string, recording io.Reader) Comparison {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }() // it was only read
	c, err := Compare(t.Context(), root, bufio.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Differences[:min(10, len(c.Differences))] {
		t.Error(d)
	}
	return c
}

// TestRecording compares 300 games of our own with what the Python package did, alfworld 0.4.2 with textworld
// 1.7.0: their walkthroughs, and 15 random commands. It was made by TestWriteGames and
// tools/record_alfworld.py --steps 15.
func TestRecording(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/recording.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeGames(t, dir)
	if c := compareRecording(t, dir, text); c.Games != 300 || c.Runs != 600 || c.Refused > 0 {
		t.Errorf("%d games were compared, %d refused", c.Games, c.Refused)
	}
}

// TestWholeRecording compares the recording that SKILLOPT_ALFWORLD_RECORDING names, of the games in the folder that
// SKILLOPT_TEXTGAMES names.
func TestWholeRecording(t *testing.T) {
	t.Parallel()
	name, dir := os.Getenv("SKILLOPT_ALFWORLD_RECORDING"), os.Getenv("SKILLOPT_TEXTGAMES")
	if name == "" || dir == "" {
		t.Skip("SKILLOPT_ALFWORLD_RECORDING and SKILLOPT_TEXTGAMES are not set: a recording of tools/record_alfworld.py, and its games")
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	c := compareRecording(t, dir, f)
	t.Logf("%d games, %d runs, %d moments, %d refused, %d differ", c.Games, c.Runs, c.Moments, c.Refused, len(c.Differences))
}

// TestDifferences: each field of a recording that is not what the game does is reported, the first of a run.
func TestDifferences(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeGames(t, dir)
	const game = `"game":"pick_and_place_simple-0000-new.tw-pddl"`
	lines := `{` + game + `,"run":"a","step":0,"obs":"Hello","admissible":[],"won":true}
{` + game + `,"run":"a","step":1,"action":"look","obs":"not compared","admissible":[]}
{"game":"other","run":"error","error":"refused"}`
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }() // it was only read
	c, err := Compare(t.Context(), root, strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, d := range c.Differences {
		fields = append(fields, d.Field)
	}
	if got := strings.Join(fields, " "); got != "obs admissible won" || c.Moments != 1 || c.Refused != 1 {
		t.Errorf("%q differ in %+v", got, c)
	}
	for _, broken := range []string{"{", `{"game":"missing","run":"a"}`} {
		if _, err := Compare(t.Context(), root, strings.NewReader(broken)); err == nil || !strings.Contains(err.Error(), "recording, line 1") {
			t.Errorf("%s: %v", broken, err)
		}
	}
}
