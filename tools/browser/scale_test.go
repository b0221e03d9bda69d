package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A run of 300 steps, 1,000 candidates and 100,000 outcomes. The figures are printed; what
// fails is a page that cannot be used: one that takes ten times what it should.
func TestLargeRun(t *testing.T) {
	large := os.Getenv("SKILLOPT_LARGE")
	if large == "" {
		t.Skip("SKILLOPT_LARGE names no large run: .ci/browser/test.sh writes one")
	}
	name := filepath.Base(large)
	folder := filepath.Base(filepath.Dir(large))
	s := serve(t, t.TempDir(), filepath.Dir(large), "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows(name)
	p.settled()

	begun := time.Now()
	p.goTo("#/run/" + folder + ":" + name)
	p.shows("Did it get better")
	p.settled()
	first := time.Since(begun)

	begun = time.Now()
	p.goTo("#/run/" + folder + ":" + name + "/tasks")
	p.until("the map", `!!document.querySelector("canvas")`)
	p.settled()
	heat := time.Since(begun)

	frames := eval[[]float64](p, scroll)
	slices.Sort(frames)
	long := eval[[]float64](p, `window.__long`)
	slices.Sort(long)
	most := 0.0
	if len(long) > 0 {
		most = long[len(long)-1]
	}
	t.Logf("first view of the run %d ms, map %d ms; scrolling: script of a frame %.1f ms (median of %d), %.1f ms (most); long tasks %d, the longest %.0f ms; server %s",
		first.Milliseconds(), heat.Milliseconds(), frames[len(frames)/2], len(frames), frames[len(frames)-1], len(long), most, memory(s.cmd.Process.Pid))
	if first > 10*time.Second || heat > 10*time.Second || frames[len(frames)/2] > 80 {
		t.Error("the page cannot be used")
	}
	p.shot("large-map")
	p.clean()
}

// scroll scrolls the map for two seconds, and returns how many milliseconds of script each
// frame had: what the handlers of scrolling and of the frame took. Tasks longer than 50 ms are
// noted in __long.
const scroll = `(async () => {
	window.__long = []
	new PerformanceObserver(list => list.getEntries().forEach(e => window.__long.push(e.duration))).observe({entryTypes: ["longtask"]})
	const canvas = document.querySelector("canvas")
	let box = canvas
	while (box && !(box.scrollHeight > box.clientHeight + 10 && getComputedStyle(box).overflowY !== "visible")) box = box.parentElement
	box = box || document.scrollingElement
	const frames = []
	const real = window.requestAnimationFrame
	let spent = 0
	window.requestAnimationFrame = f => real(t => { const at = performance.now(); f(t); spent += performance.now() - at })
	for (let i = 0; i < 120; i++) {
		spent = 0
		const at = performance.now()
		box.scrollTop += 40
		box.scrollLeft += 15
		box.dispatchEvent(new Event("scroll"))
		spent += performance.now() - at
		await new Promise(done => real(() => setTimeout(done, 0)))
		frames.push(spent)
	}
	window.requestAnimationFrame = real
	return frames
})()`

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
