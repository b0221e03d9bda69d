package browser

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// The bounds of a large run: no task of the page is longer, and a frame of the heat map has less
// script. Both are processor times of a trace, so they hold on a busy machine as well; that what
// runs beside the tests takes the caches is why one measurement may be repeated.
const (
	longestTask = 50 * time.Millisecond
	mostScript  = 8 * time.Millisecond
	tries       = 3
)

// A run of 300 steps, 1,000 candidates, 100,000 outcomes and as many events.
func TestLargeRun(t *testing.T) {
	t.Parallel()
	s, p := openLarge(t)
	_, run := large(t, "")

	begun := time.Now()
	p.goTo(run)
	p.shows("Did it get better")
	p.settled()
	first := time.Since(begun)

	begun = time.Now()
	p.goTo(run + "/tasks")
	p.until("the map", `!!document.querySelector("canvas")`)
	p.settled()
	heat := time.Since(begun)
	t.Logf("first view of the run %d ms, map %d ms; server %s", first.Milliseconds(), heat.Milliseconds(), memory(s.cmd.Process.Pid))
	if first > 10*time.Second || heat > 10*time.Second {
		t.Error("the page cannot be used")
	}
	p.holds("scrolling the map to its end and back", mostScript, func() { // each try begins where the last one did
		p.scroll(-1500, -4000)
		p.scroll(1500, 4000)
	})
	p.shot("large-map")
	p.clean()
}

// Every view of a large run is opened in short tasks, and so is the page itself.
func TestLargeViews(t *testing.T) {
	t.Parallel()
	s, p := openLarge(t)
	_, run := large(t, "")
	home, _, _ := strings.Cut(s.Link, "#")
	for _, v := range []struct{ name, hash, seen string }{
		{"start, list of runs", "#/", "table.runs"},
		{"start, a run", run, ".plot canvas"},
		{"start, the map", run + "/tasks", "canvas"},
	} {
		p.holds(v.name, 0, func() {
			p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(home+v.hash))
			p.seen(v.seen)
		})
	}
	_, skill := large(t, "-skill")
	for _, v := range []struct{ name, hash, seen string }{
		{"steps", run + "/steps", "tbody tr:nth-child(20)"},
		{"a step", run + "/steps/150", "tr[aria-current]"},
		{"map", run + "/tasks", "canvas"},
		{"table of tasks", run + "/tasks?view=table", "table"},
		{"a task with 301 answers", run + "/tasks/sel-0004", ".answers tr:nth-child(5)"},
		{"calls", run + "/calls", "table"},
		{"log", run + "/log", ".log li:nth-child(20)"},
		{"cost", run + "/cost", "table"},
		{"overview", run, ".plot canvas"},
		{"a skill of 250 kB", skill + "/skill", ".line:nth-child(20)"},
		{"a difference of skills", skill + "/skill?version=best&diff=0", "td.t"},
	} {
		p.holds(v.name, 0, func() {
			p.goTo("#/nowhere")
			p.goTo(v.hash)
			p.seen(v.seen)
		})
	}
	p.holds("the log from its beginning", 0, func() {
		p.goTo("#/")
		p.goTo(run + "/log")
		p.press("Read it from the beginning")
		p.until("all lines of 100,000 events", `[...document.querySelectorAll("span.muted")].some(e => e.textContent.startsWith("602 lines"))`)
		p.seen(".log li:nth-child(300)")
	})
	p.clean()
}

// The list of 3,000 runs is opened, sorted and searched in short tasks.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, "train", filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart"), "--yes", "--run", "runs/quick-0000")
	copyRuns(t, filepath.Join(dir, "runs"), 3000)
	s := serve(t, dir, "runs", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows("3000 runs")
	home, _, _ := strings.Cut(s.Link, "#")
	p.holds("start with 3,000 runs", 0, func() {
		p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(home+"#/"))
		p.seen("table.runs tr:nth-child(100)")
	})
	p.holds("sorting them", 0, func() {
		p.press("Run")
		p.seen("th[aria-sort]")
	})
	p.holds("searching them", 0, func() {
		p.fill("Search runs", "quick-2")
		p.fill("Search runs", "")
		p.seen("table.runs tr:nth-child(100)")
	})
	p.clean()
}

// copyRuns makes n runs of the run quick-0000 of a folder.
func copyRuns(t *testing.T, runs string, n int) {
	t.Helper()
	for i := 1; i < n; i++ {
		name := fmt.Sprintf("quick-%04d", i)
		to := filepath.Join(runs, name)
		if err := os.Mkdir(to, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"manifest.json", "summary.json", "history.json"} {
			data, err := os.ReadFile(filepath.Join(runs, "quick-0000", file))
			if err == nil {
				err = os.WriteFile(filepath.Join(to, file), []byte(strings.ReplaceAll(string(data), "quick-0000", name)), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// large is the large run, or the one beside it that is called so: its directory and its address
// within the page.
func large(t *testing.T, beside string) (dir, hash string) {
	t.Helper()
	dir = os.Getenv("SKILLOPT_LARGE")
	if dir == "" {
		t.Skip("SKILLOPT_LARGE names no large run: .ci/browser/test.sh writes one")
	}
	dir += beside
	return dir, "#/run/" + filepath.Base(filepath.Dir(dir)) + ":" + filepath.Base(dir)
}

// openLarge serves the large run and opens the list of runs.
func openLarge(t *testing.T) (served, *tab) {
	t.Helper()
	dir, _ := large(t, "")
	s := serve(t, t.TempDir(), filepath.Dir(dir), "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows(filepath.Base(dir))
	p.settled()
	return s, p
}

// holds fails if what is carried out has the page work in tasks that are too long, or in frames
// with too much script (0: nobody asks), in each of so many tries.
func (p *tab) holds(name string, most time.Duration, what func()) {
	p.t.Helper()
	for try := 1; ; try++ {
		tasks := p.traced(what)
		long, wall := longest(tasks)
		text := fmt.Sprintf("%s: %d tasks, the longest %.1f ms of the processor (%s), %.0f ms by the clock", name, len(tasks), ms(long.cpu), long.what, ms(wall))
		good := long.cpu <= longestTask
		if most > 0 {
			frames := scripts(tasks)
			text += fmt.Sprintf("; script of a frame %.1f ms, median of %d, most %.1f ms", ms(median(frames)), len(frames), ms(slices.Max(append(frames, 0))))
			good = good && len(frames) > 20 && median(frames) < most
		}
		p.t.Log(text)
		if good {
			return
		}
		if try == tries {
			p.t.Errorf("%s: a task longer than %v, or frames with %v of script or more, in each of %d tries", name, longestTask, most, tries)
			return
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// seen waits until the page has an element, and has drawn what came with it. Looking for it
// costs the page nothing that it would not do by itself.
func (p *tab) seen(selector string) {
	p.t.Helper()
	p.until(selector, fmt.Sprintf(`!!document.querySelector(%s)`, quoted(selector)))
	eval[bool](p, `new Promise(done => requestIdleCallback(() => requestAnimationFrame(() => requestIdleCallback(() => done(true)))))`)
}

// scroll scrolls what is in the middle of the window as a hand does, so many pixels: the browser
// itself, not a script.
func (p *tab) scroll(x, y float64) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.Call(ctx, input.SynthesizeScrollGesture, input.SynthesizeScrollGestureParams{X: 600, Y: 450, XDistance: x, YDistance: y, Speed: 1500}); err != nil {
		p.t.Fatalf("scroll: %v", err)
	}
}

// memory is the most memory that a process has had, where the system tells.
func memory(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "of unknown memory"
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(rest) + " at most"
		}
	}
	return "of unknown memory"
}
