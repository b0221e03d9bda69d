package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// draftable is a simulated world that tasks can be drafted from.
const draftable = `name: drafts
seed: 3
kinds:
  - {type: sum, match: 'Add (?P<a>\d+) and (?P<b>\d+)', answer: a + b}
rules:
  - id: points
    task_types: [sum]
    states: [points]
    say: ['Write sums with the unit, as in 5 points.']
    transform: {kind: suffix, text: ' points'}
draft: ['{{Ann|Bo|Cy|Di}} of the {{red|blue|green|black}} team asks: Add {{100..999}} and {{100..999}} for round {{1..90}} of {{1000..9999}}.']
`

// otherKinds makes runs of the kinds that train nothing, and one of a kind that the program
// does not know.
func otherKinds(t *testing.T, dir, quick string) {
	t.Helper()
	run(t, dir, "doctor", quick, "--noise", "--yes", "--set", "run.dir="+filepath.Join(dir, "noise"))
	found, err := filepath.Glob(filepath.Join(dir, "noise", "*-noise-*"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	write(t, dir, "skill/SKILL.md", "---\nname: sums\ndescription: How to answer.\n---\n# Sums\n- Write sums with the unit, as in 5 points.\n")
	write(t, dir, "world.yaml", draftable)
	run(t, dir, "init", "work", "--skill", "skill", "--generate", "6", "--optimizer", "sim/world.yaml", "--yes")
	for from, to := range map[string]string{found[0]: "noise-1", filepath.Join(dir, "work", "draft"): "draft-1"} {
		if err := os.Rename(from, filepath.Join(dir, "runs", to)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "ablate", "runs/quick-1", "--run", "runs/ablate-1", "--yes")
	run(t, dir, "prune", "runs/quick-1", "--to", "pruned.md", "--run", "runs/prune-1", "--yes")
	write(t, dir, "runs/dream-1/manifest.json", `{"format": 2, "run_id": "dream", "name": "dream-1", "kind": "dream", "created_at": "2026-01-02T03:04:05Z", "version": "9.9.9", "status": "completed"}`)
	write(t, dir, "runs/dream-1/dreams.json", "{}")
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Noise, drafts and unknown kinds whose every text is hostile are shown as text, those
// whose files are damaged are named, and the other runs are there.
func TestHostileKindsAreShownAsText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	evil := func(i int) string { return hostile[i%len(hostile)] }
	for name, kind := range map[string]string{"noise": "noise", "draft": "draft", "odd": evil(1), "broken": "noise", "uneven": "draft", "wild": "noise"} {
		document(t, dir, "runs/"+name+"/manifest.json", map[string]any{
			"format": 2, "run_id": name, "name": evil(0), "kind": kind, "created_at": "2026-01-02T03:04:05Z", "version": evil(2), "status": "completed",
		})
	}
	document(t, dir, "runs/noise/noise.json", map[string]any{"items": 40, "first": 0.1, "second": 1, "flips": hostile, "within": 1, "minimum_detectable_effect": 0.5, "between": 0, "advice": hostile, "unmeasured": hostile})
	var lines strings.Builder
	for i := range 40 {
		text, err := json.Marshal(map[string]any{"id": evil(i), "type": evil(i + 1), "prompt": strings.Repeat(evil(i+2), 2000), "gold": hostile, "checks": hostile, "source": evil(i), "doubts": hostile})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", text)
	}
	write(t, dir, "runs/draft/tasks.jsonl", lines.String())
	document(t, dir, "runs/draft/fell.json", []any{map[string]any{"reason": evil(0), "detail": evil(1), "prompt": evil(2)}})
	write(t, dir, "runs/odd/"+`<img src=x onerror=ran=1>`, "")
	write(t, dir, "runs/broken/noise.json", `{"items": [`)
	write(t, dir, "runs/uneven/tasks.jsonl", `{"id": 5}`)
	write(t, dir, "runs/wild/noise.json", `{"items": 1, "first": 1.7e308, "second": 1.7e308}`)
	s := serve(t, dir, "runs", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows("uneven", "wild", "damaged")
	p.allow("status of 500") // of the damaged ones
	for name, says := range map[string]string{"noise": "noise floor", "draft": "asked for", "odd": "does not know", "broken": "damaged", "uneven": "damaged", "wild": "damaged"} {
		p.goTo("#/run/runs:" + name)
		p.shows(name, says)
		p.settled()
		if ran := eval[string](p, `String(window.ran)`); ran != "undefined" {
			t.Errorf("%s: a text ran: %s", name, ran)
		}
		if found := eval[string](p, `[...document.querySelectorAll("script:not([src]), iframe, img, object, embed, svg script, [onerror], [onload], a[href^='javascript']")].map(e => e.outerHTML).join(" ").slice(0, 500)`); found != "" {
			t.Errorf("%s: a text became markup: %s", name, found)
		}
		if text := p.text(); strings.ContainsAny(text, "\u202e\u2066\x1b\u200b\a") {
			t.Errorf("%s: a character that steers or hides is shown as it is", name)
		}
		p.fits(name, 1280)
	}
	p.clean()
}

func document(t *testing.T, dir, name string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, name, string(text))
}
