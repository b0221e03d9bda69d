package browser

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	devtools "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// view is an address within the page, and words that it has to show.
type view struct {
	name, hash string
	says       []string
}

// Every view, in both themes and at the width of a phone: it loads, says what it is about,
// writes no error to the console, asks no other host, and axe-core finds nothing serious.
func TestViews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	examples := os.Getenv("SKILLOPT_EXAMPLES")
	quick := filepath.Join(examples, "quickstart")
	run(t, dir, "train", quick, "--yes", "--run", "runs/quick-1")
	run(t, dir, "train", quick, "--yes", "--run", "runs/quick-2", "--set", "train.seed=7")
	run(t, dir, "eval", quick, "--yes", "--run", "runs/eval-1")
	run(t, dir, "compare", filepath.Join(quick, "SKILL.md"), "runs/quick-1/best_skill.md", "--config", quick, "--run", "runs/compare-1")
	otherKinds(t, dir, quick)
	s := serve(t, dir, "runs", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows("quick-1", "quick-2")
	task := aTask(t, dir)
	for _, look := range []struct {
		name, theme   string
		width, height int64
	}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"phone", "light", 360, 740}} {
		t.Run(look.name, func(t *testing.T) {
			p.t = t
			p.size(look.width, look.height)
			p.theme(look.theme)
			for _, v := range views(task) {
				p.goTo(v.hash)
				p.settled()
				p.shows(v.says...)
				p.accessible(v.name)
				p.fits(v.name, look.width)
				p.shot(v.name + "-" + look.name)
			}
			p.clean()
		})
	}
}

func views(task string) []view {
	run := "#/run/runs:quick-1"
	return []view{
		{"runs", "#/", []string{"quick-1", "quick-2", "eval-1", "compare-1"}},
		{"overview", run, []string{"quick-1", "certif"}},
		{"skill", run + "/skill?version=best", []string{"Harbourline desk", "step 1, edit 2"}},
		{"diff", run + "/skill?version=best&diff=0", []string{"24-hour clock"}},
		{"step", run + "/steps/1", []string{"step 1"}},
		{"tasks", run + "/tasks", []string{task[:4]}},
		{"task", run + "/tasks/" + task, []string{task}},
		{"task-two-steps", run + "/tasks/" + task + "?left=0&right=best", []string{task}},
		{"certificate", run + "/certificate", []string{"certif", "noise"}},
		{"cost", run + "/cost", []string{"calls"}},
		{"config", run + "/config", []string{"skill"}},
		{"log", run + "/log", []string{"step"}},
		{"eval", "#/run/runs:eval-1", []string{"eval-1"}},
		{"comparison", "#/run/runs:compare-1", []string{"compare-1"}},
		{"noise", "#/run/runs:noise-1", []string{"noise floor", "95 % interval", "80 selection tasks were asked twice"}},
		{"draft", "#/run/runs:draft-1", []string{"asked for", "write sums with the unit", "expected"}},
		{"ablation", "#/run/runs:ablate-1", []string{"what each rule is worth"}},
		{"pruning", "#/run/runs:prune-1", []string{"what is left"}},
		{"unknown", "#/run/runs:dream-1", []string{"does not know runs of the kind", "dreams.json"}},
		{"compare", "#/compare/runs:quick-1/runs:quick-2", []string{"quick-1", "quick-2"}},
		{"compare-kinds", "#/compare/runs:quick-1/runs:draft-1", []string{"drafts", "needed to set skills side by side"}},
	}
}

// aTask is the id of a task that judged the run.
func aTask(t *testing.T, dir string) string {
	t.Helper()
	var grid struct {
		Tasks []struct {
			ID    string `json:"id"`
			Split string `json:"split"`
		} `json:"tasks"`
	}
	if err := json.Unmarshal([]byte(run(t, dir, "runs", "tasks", "runs/quick-1", "--json")), &grid); err != nil {
		t.Fatal(err)
	}
	for _, task := range grid.Tasks {
		if task.Split == "selection" {
			return task.ID
		}
	}
	t.Fatal("the run has no selection task")
	return ""
}

// accessible has axe-core look at the view; serious and critical findings fail.
func (p *tab) accessible(name string) {
	p.t.Helper()
	path := os.Getenv("SKILLOPT_AXE")
	if path == "" {
		p.t.Logf("axe-core is not installed: %s was not looked at", name)
		return
	}
	if !eval[bool](p, `!!window.axe`) {
		axe, err := os.ReadFile(path)
		if err != nil {
			p.t.Fatal(err)
		}
		eval[any](p, string(axe)+"; null")
	}
	found := eval[[]struct {
		ID     string   `json:"id"`
		Impact string   `json:"impact"`
		Help   string   `json:"help"`
		Nodes  []string `json:"nodes"`
	}](p, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + (n.any[0] ? n.any[0].message : ""))})))`)
	for _, f := range found {
		p.t.Errorf("%s: axe-core, %s: %s (%s): %s", name, f.Impact, f.Help, f.ID, strings.Join(f.Nodes, "; "))
	}
}

// looksWell looks at what is shown in both themes and on a phone, and keeps pictures of it, or of an element.
func (p *tab) looksWell(name string, of ...string) {
	p.t.Helper()
	for _, look := range []struct {
		name, theme   string
		width, height int64
	}{{"phone", "light", 360, 740}, {"dark", "dark", 1280, 900}, {"light", "light", 1280, 900}} {
		p.size(look.width, look.height)
		p.theme(look.theme)
		p.settled()
		p.accessible(name + " " + look.name)
		p.fits(name, look.width)
		eval[bool](p, `(scrollTo(0, 0), true)`)
		p.shot(name+"-"+look.name, of...)
	}
}

// fits fails for a view that is wider than the window.
func (p *tab) fits(name string, width int64) {
	p.t.Helper()
	if got := eval[int64](p, `document.documentElement.scrollWidth`); got > width {
		p.t.Errorf("%s: the page is %d px wide in a window of %d", name, got, width)
	}
}

// shot keeps a picture of the view, or of an element of it, where somebody wants one: as WebP, which is small, or as
// SKILLOPT_SHOTS_AS says.
func (p *tab) shot(name string, of ...string) {
	p.t.Helper()
	dir := os.Getenv("SKILLOPT_SHOTS")
	if dir == "" {
		return
	}
	as := devtools.CaptureScreenshotFormat(cmp.Or(os.Getenv("SKILLOPT_SHOTS_AS"), "webp"))
	beyond := true
	box := eval[[]float64](p, fmt.Sprintf(`(e => { const b = e.getBoundingClientRect(); return [b.left + scrollX, b.top + scrollY, e.clientWidth, Math.min(1600, e.scrollHeight)] })(document.querySelector(%s))`, quoted(cmp.Or(strings.Join(of, ""), "html"))))
	params := devtools.CaptureScreenshotParams{Format: as, CaptureBeyondViewport: &beyond, Clip: &devtools.Viewport{X: box[0], Y: box[1], Width: box[2], Height: box[3], Scale: 1}}
	if as != "png" {
		quality := int64(35)
		params.Quality = &quality
	}
	shot, err := chromedp.Call(p.ctx, devtools.CaptureScreenshot, params)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s.%s", name, as)), shot.Data, 0o600)
	}
	if err != nil {
		p.t.Errorf("picture of %s: %v", name, err)
	}
}
