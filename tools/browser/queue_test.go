package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Two trainings wait for each other in the page; one is taken out, the other is stopped, resumed, continued and forked.
func TestQueue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, _ := beginIn(t, dir)
	p.shows("New run")
	work := filepath.Join(dir, "work")
	for _, name := range []string{"slow", "second"} {
		to := filepath.Join(work, name)
		if err := os.CopyFS(to, os.DirFS(filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart"))); err != nil {
			t.Fatal(err)
		}
		replace(t, filepath.Join(to, "world.yaml"), "latency_ms: 8", "latency_ms: 400")
		replace(t, filepath.Join(to, "config.yaml"), "epochs: 3", "epochs: 1")
		eval[bool](p, `(fetch("/api/v1/configs/`+name+`/start", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}), true)`)
		p.shows("Train " + name)
	}
	p.shows("Queue", "Train slow", "at work, began", "Train second", "waits, added")
	p.looksWell("queue")
	eval[bool](p, `(document.querySelector('section[aria-label="Queue"] li:nth-child(2) button').click(), true)`)
	p.until("one entry to be left", `document.querySelectorAll('section[aria-label="Queue"] li').length === 1`)
	p.press("Train slow")
	p.shows("Stop")
	p.press("Stop")
	p.press("Stop softly")
	p.shows("stopped", "Resume")
	p.looksWell("run-stopped")
	p.press("Resume")
	p.shows("Resume slow-1 is in the queue", "running")
	p.shows("finished", "Continue")
	p.press("Continue")
	p.fill("More epochs", "1")
	p.accessible("dialog of more epochs")
	eval[bool](p, `(document.querySelector("dialog[open] form").requestSubmit(), true)`)
	p.shows("Continue slow-1 is in the queue")
	p.press("Fork")
	p.fill("After step", "1")
	p.accessible("dialog of a fork")
	p.press("Make it")
	p.until("the form of the fork", `location.hash === "#/config/slow-step-1"`)
	p.shows("Settings")
	p.goTo("#/")
	p.until("the end of all", `location.hash === "#/" && !document.querySelector('section[aria-label="Queue"]') && document.body.innerText.includes("slow-2")`)
	p.clean()
}

// replace changes a text in a file.
func replace(t *testing.T, path, old, now string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %s (%v)", path, old, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, now, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}
