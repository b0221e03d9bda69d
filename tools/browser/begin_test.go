package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Bounds of what is loaded, compressed, and of the work of the page until the form is there.
const (
	firstBytes   = 40_000
	formBytes    = 60_000
	formRequests = 3
	formWork     = 100 * time.Millisecond
)

// still keeps the page from fetching views before they are asked for.
const still = `window.requestIdleCallback = () => 0`

// From an empty folder to a certified skill, without a terminal and without a mouse.
func TestBegin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, home := beginIn(t, dir)
	p.shows("There is no run yet", "New run")
	first := p.loaded()
	if sum := total(first); sum > firstBytes {
		t.Errorf("the first view takes %d bytes, more than %d: %v", sum, firstBytes, first)
	} else {
		t.Logf("the first view takes %d bytes", sum)
	}
	p.looksWell("begin-list")

	p.tabTo("New run")
	p.keys("\r")
	p.shows("Begin with", "quickstart")
	p.tabTo("Name of the folder")
	p.keys("my-skill")
	p.tabTo("Continue")
	p.keys("\r")
	p.shows("config.yaml", "Settings", "Look before it begins")

	// What is wrong is said while it is typed, and the text shows the same.
	p.tabTo("train.epochs")
	p.keys("many")
	p.until("the problem at the field", `[...document.querySelectorAll(".field.wrong")].some(e => e.innerText.includes("train.epochs") && e.innerText.includes("many"))`)
	p.until("the text to say it too", `document.querySelector("#yaml").value.includes("epochs: many")`)
	p.looksWell("begin-problem")
	p.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(2))) // Control
	p.keys("2")
	p.until("no problem", `!document.querySelector(".field.wrong") && document.querySelector("#yaml").value.includes("epochs: 2")`)
	p.tabTo("config.yaml")
	p.until("the text to be reached", `document.activeElement.id === "yaml"`)
	p.do(chromedp.KeyEvent("\u0305", chromedp.KeyModifiers(2))) // to its end
	p.keys("# by hand\n")

	for _, step := range [][2]string{{"Check tasks and skill", "80 to learn from"}, {"Try three tasks", "answered"}, {"Doctor", "model target"}, {"Plan and price", "the models are simulated"}} {
		p.tabTo(step[0])
		p.keys(" ")
		p.shows(step[1])
		p.settled()
	}
	p.looksWell("begin-plan", ".steps")
	text, err := os.ReadFile(filepath.Join(dir, "work", "my-skill", "config.yaml"))
	if err != nil || !strings.Contains(string(text), "epochs: 2") || !strings.Contains(string(text), "# by hand") {
		t.Errorf("the file is not what the page shows: %v\n%s", err, text)
	}
	p.tabTo("Start")
	p.keys("\r")
	p.until("the run to be opened", `location.hash.startsWith("#/run/")`)
	p.shows("finished", "certif")
	p.goTo("#/")
	p.shows("my-skill", "finished", "✓ yes")
	p.clean()

	// The form by itself.
	address, _, _ := strings.Cut(home, "#")
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#/config/my-skill"))
	p.shows("Settings")
	form := p.loaded()
	for name := range first {
		delete(form, name)
	}
	if sum := total(form); sum > formBytes {
		t.Errorf("the form takes %d bytes more, and %d are allowed: %v", sum, formBytes, form)
	} else {
		t.Logf("the form takes %d bytes more", sum)
	}
	asked := eval[[]string](p, `performance.getEntriesByType("resource").map(e => e.name).filter(n => n.includes("/api/v1/") && !n.endsWith("/server"))`)
	if len(asked) > formRequests {
		t.Errorf("the form asks the server %d times: %v", len(asked), asked)
	}
}

// The form of a config is there at once, also next to 200 runs.
func TestFormNextToRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, _ := beginIn(t, dir)
	p.shows("There is no run yet")
	p.goTo("#/new")
	p.press("Continue")
	p.shows("Settings")
	p.goTo("#/")
	run(t, filepath.Join(dir, "work"), "train", "quickstart", "--yes", "--run", "runs/quick-0000")
	copyRuns(t, filepath.Join(dir, "work", "runs"), 200)
	p.shows("200 runs")
	p.goTo("#/config/quickstart")
	p.shows("Settings")
	best := time.Hour
	for range tries {
		p.goTo("#/nowhere")
		p.shows("nothing")
		var work time.Duration
		for _, task := range p.traced(func() { p.goTo("#/config/quickstart"); p.shows("Look before it begins") }) {
			work += task.cpu
		}
		best = min(best, work)
	}
	t.Logf("the form is there after %v of the processor", best)
	if best > formWork {
		t.Errorf("the form takes %v of the processor, more than %v", best, formWork)
	}
}

// A skill and a table that are dropped become a config; the page looks well in both themes and on a phone.
func TestBeginWithFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, _ := beginIn(t, dir, "--model", "openai/gpt-5-mini")
	examples := filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart")
	p.shows("New run")
	p.press("New run")
	p.press("my own files")
	p.drop("Tasks", "questions.csv", "No.;What is asked;Solution\n"+strings.Repeat("1;How many parcels?;3\n", 12))
	p.shows("questions.csv", "Column with the question")
	p.fill("Column with the question", "What is asked")
	p.fill("Column with the expected answer", "Solution")
	p.do(chromedp.SetUploadFiles(`input[accept=".md"]`, []string{filepath.Join(examples, "SKILL.md")}))
	p.shows("SKILL.md,")
	p.fill("Model that carries out the tasks", "openai/gpt-5-mini")
	p.looksWell("begin-files")
	p.press("Continue")
	p.shows("Settings")
	p.until("the columns in field and text", `["#yaml", ".field textarea"].every(s => document.querySelector(s).value.includes("prompt: What is asked"))`)
	p.press("All settings")
	p.fill("Search settings", "seed")
	p.shows("split.seed")
	p.looksWell("begin-form")
	p.clean()

	// With tasks and a skill of the simulated world a run comes of it.
	p.goTo("#/new")
	p.press("an example")
	p.press("Continue")
	p.shows("Settings")
	p.goTo("#/new")
	p.press("my own files")
	p.do(chromedp.SetUploadFiles(`input[accept=".md"]`, []string{filepath.Join(examples, "SKILL.md")}),
		chromedp.SetUploadFiles(`input[accept^=".csv"]`, []string{filepath.Join(examples, "tasks.jsonl")}))
	p.shows("SKILL.md,", "tasks.jsonl,")
	p.fill("Model that carries out the tasks", "sim/quickstart/world.yaml")
	p.press("Continue")
	p.shows("Settings")
	p.goTo("#/config/tasks")
	p.until("the form", `!!document.querySelector("#yaml")?.value.includes("tasks.jsonl")`)
	text := eval[string](p, `document.querySelector("#yaml").value`)
	p.fill("config.yaml", strings.Replace(text, "path: tasks.jsonl", "path: tasks.jsonl\n  extract: {tag: answer}\n  checks:\n    - {type: equals, value: $gold, normalize: trim}", 1))
	p.press("Plan and price")
	p.shows("the models are simulated")
	p.press("Start")
	p.until("the run to be opened", `location.hash.startsWith("#/run/")`)
	p.shows("finished", "certif")
	p.clean()
}

// The sessions of a project that the profile allows become tasks and a config; a server without a profile says what helps.
func TestBeginWithSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	nights := filepath.Join(dir, "nights")
	if err := os.CopyFS(nights, os.DirFS(filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "sleep"))); err != nil {
		t.Fatal(err)
	}
	for _, day := range []string{"day-1", "day-2", "day-3"} {
		if err := os.CopyFS(filepath.Join(nights, "store"), os.DirFS(filepath.Join(nights, day))); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := beginIn(t, dir, "--model", "openai/gpt-5-mini", "--profile", filepath.Join(nights, "sleep.yaml"))
	p.goTo("#/new")
	p.press("sessions with an agent")
	p.shows("Project whose sessions may be read", "Choose a project first.")
	p.fill("Project whose sessions may be read", filepath.Join(nights, "project"))
	p.fill("Model that carries out the tasks", "openai/gpt-5-mini")
	p.shows("Models are asked")
	p.looksWell("begin-sessions")
	p.press("Continue")
	p.shows("Settings")
	p.clean()
	p.goTo("#/new")
	p.press("sessions with an agent")
	p.fill("Project whose sessions may be read", filepath.Join(nights, "project"))
	p.fill("Model that carries out the tasks", "openai/gpt-5-mini")
	p.press("Continue")
	p.shows("no task was found: 0 sessions")

	bare, _ := beginIn(t, t.TempDir())
	bare.goTo("#/new")
	bare.press("sessions with an agent")
	bare.shows("has no profile of sleep", "--profile")
}

// What a page may not say is shown, is not edited, stays as it stands, and keeps the config from starting.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := filepath.Join(dir, "work", "mine")
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart"))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "config.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const foreign = "telemetry: {endpoint: http://127.0.0.1:1} # where it is sent"
	if err := os.WriteFile(path, append(text, foreign+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, "work", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.press("mine")
	p.shows("what a page may not say", "telemetry.endpoint")
	p.press("All settings")
	p.fill("Search settings", "telemetry.endpoint")
	p.shows("Only the file says this")
	if eval[bool](p, `[...document.querySelectorAll(".field")].some(e => e.innerText.includes("telemetry.endpoint") && e.querySelector("input, select, textarea"))`) {
		t.Error("a key that a page may not set has a field")
	}
	p.fill("train.epochs", "5")
	p.until("the text to say it", `document.querySelector("#yaml").value.includes("epochs: 5")`)
	p.press("Save")
	p.until("it to be saved", `document.querySelector("[role=status].small")?.innerText !== "not saved yet"`)
	p.allow("400 (Bad Request)")
	p.allow("403 (Forbidden)")
	p.press("Plan and price")
	p.shows("failed")
	if after, err := os.ReadFile(path); err != nil || !strings.Contains(string(after), foreign) || !strings.Contains(string(after), "epochs: 5") {
		t.Errorf("the file: %v\n%s", err, after)
	}
	p.accessible("foreign keys")
	p.clean()
}

// beginIn opens the page of a server over an empty folder.
func beginIn(t *testing.T, dir string, flags ...string) (*tab, string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "work"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, append([]string{"work", "--addr", "127.0.0.1:0"}, flags...)...)
	p := open(t, openBrowser(t), "about:blank")
	if _, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: still}); err != nil {
		t.Fatal(err)
	}
	p.listenAt(s.Link)
	return p, s.Link
}

// loaded are the files of the page that were loaded, with their sizes as they were sent; so is the schema.
func (p *tab) loaded() map[string]int {
	p.t.Helper()
	return eval[map[string]int](p, `Object.fromEntries([...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(e => [new URL(e.name).pathname, e.encodedBodySize]).filter(([n]) => !n.startsWith("/api/") || n.endsWith("/schema")))`)
}

func total(files map[string]int) (sum int) {
	for _, n := range files {
		sum += n
	}
	return sum
}

// keys presses keys.
func (p *tab) keys(text string) {
	p.t.Helper()
	p.do(chromedp.KeyEvent(text))
}

// tabTo presses Tab until what is called so has the focus.
func (p *tab) tabTo(name string) {
	p.t.Helper()
	called := fmt.Sprintf(`(() => { const e = document.activeElement; return !!e && e !== document.body && ((e.labels && e.labels[0] ? e.labels[0].innerText : "") || e.getAttribute("aria-label") || e.innerText || "").trim().startsWith(%s) })()`, quoted(name))
	p.until(name+" to be there and enabled", fmt.Sprintf(`[...document.querySelectorAll("a, button, input, select, textarea")].some(e => !e.disabled && ((e.labels && e.labels[0] ? e.labels[0].innerText : "") || e.innerText).trim().startsWith(%s))`, quoted(name)))
	for range 150 {
		p.keys("\t")
		if eval[bool](p, called) {
			return
		}
	}
	p.t.Fatalf("Tab does not reach %q; the page says:\n%s", name, p.text())
}

// drop drops a file onto the place with this label.
func (p *tab) drop(label, name, content string) {
	p.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(".pick")].find(e => e.innerText.startsWith(%s))`, quoted(label))
	p.until("a place for "+label, "!!"+find)
	eval[bool](p, fmt.Sprintf(`(() => { const all = new DataTransfer(); all.items.add(new File([%s], %s)); return !%s.dispatchEvent(new DragEvent("drop", {dataTransfer: all, bubbles: true, cancelable: true})) })()`, quoted(content), quoted(name), find))
}
