package correction

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// TestSentences measures how many labelled sentences are seen as what they are. Who wrote the rules has
// read seen.jsonl and more.jsonl, and has not read held.jsonl.
func TestSentences(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		hits, falsely := 0.92, 0.02
		if filepath.Base(file) == "held.jsonl" {
			hits, falsely = 0.80, 0.05
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		count, seen := map[bool]int{}, map[bool]int{}
		for line := range strings.Lines(string(data)) {
			var s struct {
				Before, Said string
				Correction   bool
			}
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			count[s.Correction]++
			if got := Rejects(s.Before, s.Said); got {
				seen[s.Correction]++
			} else if s.Correction {
				t.Logf("%s: missed: %s", file, s.Said)
			}
			if !s.Correction && Rejects(s.Before, s.Said) {
				t.Logf("%s: taken for one: %s", file, s.Said)
			}
		}
		t.Logf("%s: %d of %d seen, %d of %d others taken for one", file, seen[true], count[true], seen[false], count[false])
		if count[true] == 0 || count[false] == 0 || float64(seen[true]) < hits*float64(count[true]) || float64(seen[false]) > falsely*float64(count[false]) {
			t.Errorf("%s: want at least %.0f %% seen and at most %.0f %% of others", file, 100*hits, 100*falsely)
		}
	}
}

// What two real sessions held.
func TestCorrectionsOfSessions(t *testing.T) {
	t.Parallel()
	const did = "The header is done. All values were checked."
	for said, want := range map[string]bool{
		"what about the footer and the sidebar??":                                     true,
		"level off is now brighter than level low, please make them different enough": true,
		"hmm, the totals are off by one day":                                          true,
		"actually let's do the sidebar next":                                          false,
		"/them":                                                                       false,
		"great. what about deploying next?":                                           false,
		"Traceback (most recent call last): KeyError in load(), still the same as before": true,
	} {
		if got := Rejects(did, said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

// A command that was mistyped and stopped at once is no work that one could correct, and what is said
// after it is of the turn before.
func TestMistypedCommands(t *testing.T) {
	t.Parallel()
	marks := func(turns ...transcript.Turn) (out []int) {
		for _, m := range Marks(turns) {
			out = append(out, m.Turn)
		}
		return out
	}
	work := transcript.Turn{User: "write it", Agent: "Written.", Files: []string{"a"}}
	slash := transcript.Turn{User: "/them", Interrupted: true}
	review := transcript.Turn{User: "/review", Agent: "I have looked at", Tools: []transcript.Tool{{Name: "Read"}}, Interrupted: true}
	wrong := transcript.Turn{User: "no, wrong date", Agent: "Mended."}
	for name, c := range map[string]struct{ got, want []int }{
		"stopped at once": {marks(work, slash, work), nil},
		"then a word":     {marks(work, slash, wrong), []int{0}},
		"work is stopped": {marks(work, review, work), []int{1}},
		"only typed":      {marks(slash), nil},
	} {
		if len(c.got) != len(c.want) || len(c.got) == 1 && c.got[0] != c.want[0] {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
}
