package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
)

// benchEffects are the keys of a benchmark: its folder sets others beneath the config.
func benchEffects() map[string]effect {
	return map[string]effect{
		"bench.name":     {test: benchSets("bench.name=searchqa", "bench.name=docvqa", func(c config.Config) string { return c.Tasks.System })},
		"bench.data":     {test: benchSets("bench.data=one", "bench.data=two", func(c config.Config) string { return c.Tasks.Path })},
		"bench.scoring":  {test: benchSets("bench.scoring=reference", "bench.scoring=robust", func(c config.Config) string { return fmt.Sprint(c.Tasks.Checks) })},
		"tasks.pictures": {test: picturesAreMarked},
	}
}

// benchSets proves that a key changes what another one is.
func benchSets(one, two string, see func(config.Config) string) func(t *testing.T) {
	return func(t *testing.T) {
		var seen []string
		for _, text := range []string{one, two} {
			settings := []config.Setting{{Key: "bench.name", Value: "livemathematicianbench"}}
			set, err := config.ParseSetting(text)
			if err != nil {
				t.Fatal(err)
			}
			l, err := config.Load(config.Options{Dir: t.TempDir(), Settings: append(settings, set), Lookup: func(string) (string, bool) { return "", false }})
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, see(l.Config))
		}
		if seen[0] == seen[1] || seen[0] == "" {
			t.Errorf("%s and %s both give %q", one, two, seen[0])
		}
	}
}

// picturesAreMarked: the picture of a task stands where its prompt marks it, with the key, and behind it without.
func picturesAreMarked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "pics", "a.png")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, file, picture(t, 8))
	var shown []string
	for _, where := range []string{"", config.PicturesMarked} {
		client := &heard{}
		err := pictured(t, dir, filepath.Join(dir, "run"+where), client, func(c *config.Config) {
			c.Tasks.Pictures, c.Tasks.Prompt = where, "See {image#1}: {{prompt}}"
		})
		if err != nil {
			t.Fatal(err)
		}
		parts := ""
		for _, p := range client.reqs[0].Messages[len(client.reqs[0].Messages)-1].Parts {
			if p.Image != nil {
				parts += "<>"
			}
			parts += p.Text
		}
		shown = append(shown, parts)
	}
	if diff := cmp.Diff([]string{"See {image#1}: What is it?<>", "See <>: What is it?"}, shown); diff != "" {
		t.Error(diff)
	}
}
