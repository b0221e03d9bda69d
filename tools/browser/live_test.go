package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// spy notes the numbers of the events that the page gets, by the stream that brought them. A
// stream that does not go on from another one is asked for the last events of the run.
const spy = `(() => {
	const Real = window.EventSource
	window.__streams = []
	window.EventSource = class extends Real {
		constructor(url, ...args) {
			super(url, ...args)
			const mine = {after: Number(new URL(url, location.href).searchParams.get("after")), numbers: []}
			window.__streams.push(mine)
			super.addEventListener("events", m => JSON.parse(m.data).forEach(e => mine.numbers.push(e.n)))
		}
	}
})()`

// stream is what one stream brought.
type stream struct {
	After   int64   `json:"after"` // this event; below 0: so many of the last ones
	Numbers []int64 `json:"numbers"`
}

// A run that is at work is opened, followed, steered, killed and resumed, while the server
// is killed too. The page shows what happens, and loses or doubles no event.
func TestLiveRun(t *testing.T) {
	t.Parallel()
	dir := slowRun(t, 400)
	const name = "runs:live-1"
	train := []string{"train", "slow", "--yes", "--run", "runs/live-1", "--set", "limits.concurrency=6"}
	trainer := begin(t, dir, append(train, "--set", "limits.calls=2000")...)
	waitFor(t, filepath.Join(dir, "runs", "live-1", "manifest.json"))
	s := serve(t, dir, "runs", "--addr", "127.0.0.1:8791")
	p := open(t, openBrowser(t), "about:blank")
	if _, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: spy}); err != nil {
		t.Fatal(err)
	}
	p.listenAt(s.Link)

	// Opened from the list, it moves.
	p.shows("live-1", "running")
	p.press("live-1")
	p.shows("wins", "losses")
	course := `[...document.querySelectorAll("[aria-label^=\"Gate of\"]")].map(e => e.getAttribute("aria-label")).join()`
	before := eval[string](p, course)
	p.until("the gate to read on", fmt.Sprintf(`%s !== %s`, course, quoted(before)))
	p.shot("live-light")

	// Reloaded in the middle, without the token in the address.
	if link := eval[string](p, "location.href"); strings.Contains(link, "token") {
		t.Errorf("the address still has the token: %s", link)
	}
	p.do(chromedp.Reload())
	p.shows("wins", "losses")

	// Its ceilings are raised and it is stopped softly.
	p.press("Ceilings")
	p.fill("Model calls", "5000")
	p.press("Set them")
	p.shows("5000")
	p.press("Stop")
	p.press("Stop softly")
	if code := trainer.wait(); code != 130 {
		t.Errorf("stopped from the browser the trainer ended with %d: %s", code, trainer.out)
	}
	p.shows("stopped")

	// Resumed in the terminal it goes on in the page; the ceiling that was raised holds.
	trainer = begin(t, dir, append(train, "--set", "limits.calls=2000")...)
	p.goTo("#/")
	p.shows("running")
	p.press("live-1")
	p.shows("continues", "5000")

	// Killed, it is shown as one that can be resumed.
	trainer.kill()
	p.shows("killed")
	p.goTo("#/")
	p.shows("killed")

	// The server is killed as well; the page says so and goes on when it is back.
	p.allow("ERR_CONNECTION_REFUSED")
	p.allow("ERR_INCOMPLETE_CHUNKED_ENCODING")
	p.allow("ERR_CONNECTION_RESET")
	trainer = begin(t, dir, append(train, "--set", "limits.calls=2000")...)
	p.goTo("#/run/" + name)
	p.shows("wins")
	s.kill()
	p.shows("server")
	serve(t, dir, "runs", "--addr", "127.0.0.1:8791")
	p.until("the page to follow again", `!document.body.innerText.includes("no longer answers")`)
	p.press("Stop")
	p.press("Stop softly")
	trainer.wait()
	p.shows("stopped")

	wanted := eventNumbers(t, filepath.Join(dir, "runs", "live-1", "events"))
	last := wanted[len(wanted)-1]
	p.until("the last event", fmt.Sprintf(`window.__streams.some(s => s.numbers.includes(%d))`, last))
	followed(t, eval[[]stream](p, `window.__streams`), last)
	p.clean()
}

// followed fails for an event that was lost or came twice: a stream brings numbers without a
// gap, and one that goes on from another begins with the next.
func followed(t *testing.T, streams []stream, last int64) {
	t.Helper()
	var at int64
	resumed := 0
	for _, s := range streams {
		if s.After > 0 {
			resumed++
			if s.After != at {
				t.Errorf("a stream goes on after event %d, where %d was the last that came", s.After, at)
			}
			at = s.After
		} else if len(s.Numbers) > 0 {
			at = s.Numbers[0] - 1
		}
		for _, n := range s.Numbers {
			if n != at+1 {
				t.Errorf("after event %d came %d", at, n)
			}
			at = n
		}
	}
	if resumed == 0 {
		t.Error("no stream went on from another one")
	}
	if at != last {
		t.Errorf("the last event that came is %d, of %d", at, last)
	}
}

// slowRun is a folder with the quick start, whose answers take so many milliseconds.
func slowRun(t *testing.T, milliseconds int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "slow"), os.DirFS(filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "slow", "world.yaml")
	world, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	slow := bytes.Replace(world, []byte("latency_ms: 8"), fmt.Appendf(nil, "latency_ms: %d", milliseconds), 1)
	if bytes.Equal(slow, world) {
		t.Fatal("the world of the quick start has no latency_ms: 8 any more")
	}
	if err := os.WriteFile(path, slow, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// waitFor waits for a file.
func waitFor(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	t.Fatalf("%s does not come", path)
}

// eventNumbers are the numbers of all events of a run, which have no gap.
func eventNumbers(t *testing.T, dir string) []int64 {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("no events in %s: %v", dir, err)
	}
	var out []int64
	for _, path := range segments {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var e struct {
				N int64 `json:"n"`
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if e.N == 0 {
				continue // the header
			}
			if want := int64(len(out) + 1); e.N != want {
				t.Fatalf("%s: event %d where %d should be", path, e.N, want)
			}
			out = append(out, e.N)
		}
	}
	return out
}
