package cli

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
	"github.com/seed-f4525e22/skillopt/internal/testing/transcripttest"
)

// TestNoSecretOfASessionGetsThrough puts a secret into every field of a store of every agent, and
// looks for it in what is kept, in the events, in what could be sent, and in all that is printed.
// With SKILLOPT_LONG=1 it does so for every shape of a secret, else for some.
func TestNoSecretOfASessionGetsThrough(t *testing.T) {
	homes, err := filepath.Glob(filepath.Join("..", "sleep", "transcript", "testdata", "*-filled"))
	if err != nil || len(homes) < 11 {
		t.Fatalf("stores of %d agents: %v", len(homes), err)
	}
	planted := redacttest.Planted()
	shapes := slices.Sorted(maps.Keys(planted))
	for i, shape := range shapes {
		if i%15 != 0 && os.Getenv("SKILLOPT_LONG") == "" {
			continue
		}
		t.Run(shape, func(t *testing.T) {
			text, parts := redacttest.Plain(planted[shape])
			u := newSleeper(t)
			t.Setenv("XDG_DATA_HOME", "")
			for _, from := range homes {
				transcripttest.Fill(t, u.home, from, text)
			}
			u.write("sleep: {projects: [/], keep: 36500d}\n")
			said := u.printed()
			if !strings.Contains(said, "[redacted]") {
				t.Fatalf("nothing was masked:\n%s", said)
			}
			for _, part := range parts {
				if len(part) < 4 {
					continue // it stands in other words as well
				}
				for where, all := range map[string]string{"printed": said, "kept": u.bytesKept()} {
					if strings.Contains(all, part) || strings.Contains(all, jsonString(t, part)) {
						t.Errorf("%q is in what is %s", part, where)
					}
				}
			}
		})
	}
}

// printed is all that the commands print of the sessions, and the events.
func (u sleeper) printed() string {
	u.t.Helper()
	events := filepath.Join(u.home, "events.jsonl")
	var all strings.Builder
	add := func(args ...string) string {
		out, errs := u.must("", args...)
		all.WriteString(out + errs)
		return out
	}
	add("harvest", "--headless", "--events", events, "--json")
	add("harvest", "--headless", "--dry-run")
	add("status")
	add("doctor", "--json")
	add("harvest", "--show-outbound")
	add("sessions")
	var list []listedSession
	if err := json.Unmarshal([]byte(add("sessions", "--json")), &list); err != nil {
		u.t.Fatal(err)
	}
	sources := map[string]bool{}
	for _, s := range list {
		if !sources[s.Source] { // one of each agent is enough
			sources[s.Source] = true
			add("sessions", "--", s.ID) // a name may begin with a dash
			add("sessions", "--json", "--", s.ID)
		}
	}
	if len(sources) < 11 {
		u.t.Errorf("sessions of %d agents alone: %v", len(sources), sources)
	}
	data, err := os.ReadFile(events)
	if err != nil {
		u.t.Fatal(err)
	}
	return all.String() + string(data)
}

// bytesKept are the bytes of all files that are kept.
func (u sleeper) bytesKept() string {
	u.t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(u.kept(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return all.String()
}

func jsonString(t *testing.T, text string) string {
	t.Helper()
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(data[1 : len(data)-1])
}
