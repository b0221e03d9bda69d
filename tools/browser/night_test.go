package browser

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// nights makes three simulated nights of the example, and returns their folders, the first night first.
func nights(t *testing.T, dir string) []string {
	t.Helper()
	run(t, dir, "sleep", "demo", "nights")
	work := filepath.Join(dir, "nights")
	found, err := filepath.Glob(filepath.Join(work, "state", "nights", "*", "*"))
	if err != nil || len(found) != 3 {
		t.Fatal(found, err)
	}
	return found
}

// nightHash is the address of a night within the page.
func nightHash(folder, dir string) string {
	return "#/night/" + url.PathEscape(folder+":"+filepath.Base(filepath.Dir(dir))+"/"+filepath.Base(dir))
}

// shownNight is what `sleep show --json` says, as far as it is compared here.
type shownNight struct {
	Targets []struct {
		Outcome string
		Reason  string
		Groups  map[string]int
		Can     struct {
			Level  float64
			Needed int
		} `json:"can_show"`
		Baseline *struct {
			Hard float64
			N    int
		}
		Confirmed *struct {
			Wins, Losses, Ties, N int
			Difference            *float64
		}
		Continued *struct {
			Wins, Losses, Pairs int
			Evidence            *float64
		}
	}
	Spent struct {
		Calls  int64
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

// A sleep.dir: its nights are in the list beside its runs, and a night opens: what it came to, what it would change, what was
// answered, and from there its runs. Every figure is one of `sleep show --json`.
func TestNight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found := nights(t, dir)
	work, last := filepath.Join(dir, "nights"), found[2]
	name := filepath.Base(last)
	s := serve(t, work, "state", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows(name, "3 nights", "1 supported", "1 suggested", "simulated", filepath.Join(work, "project"))
	p.fill("Kind", "night")
	p.until("nights alone", `document.querySelectorAll("table.runs tbody tr").length === 3`)
	p.press(name)
	p.shows("memory:CLAUDE.md", "supported", "exploratory", "What would change of memory:CLAUDE.md", "Convert a weight to grams", "What was answered", "From sessions to tasks", "the server does not read")
	p.settled()
	text := run(t, work, "sleep", "show", name, "--json", "--profile", "sleep.yaml")
	var of shownNight
	if err := json.Unmarshal([]byte(text), &of); err != nil {
		t.Fatal(err)
	}
	p.has("the night", of.figures()...)
	p.shows(of.Targets[0].Reason)
	p.figuresAreOf(text, filepath.Join(last, "diagnostics.json"))
	p.fill("Which tasks", "lost")
	p.shows("No task is like that")
	p.fill("Which tasks", "")
	for _, look := range []struct {
		name, theme   string
		width, height int64
	}{{"light", "light", 1280, 900}, {"dark", "dark", 1280, 900}, {"phone", "light", 360, 740}} {
		p.size(look.width, look.height)
		p.theme(look.theme)
		for _, v := range []view{{"nights", "#/", []string{"3 nights"}}, {"night", nightHash("state", last), []string{"What would change"}}} {
			p.goTo(v.hash)
			p.settled()
			p.shows(v.says...)
			p.accessible(v.name)
			p.fits(v.name, look.width)
			p.shot(v.name + "-" + look.name)
		}
	}
	p.size(1280, 900)
	p.press("the proposal of night " + filepath.Base(found[1]))
	p.shows("Night "+filepath.Base(found[1]), "this page shows what is in the night's folder")
	p.press(filepath.Base(filepath.Dir(found[1]))[:8] + "-" + filepath.Base(found[1]) + "-memory-CLAUDE.md-confirm")
	p.shows("comparison", "pairs")
	p.goTo(nightHash("state", found[0]))
	p.shows("suggested", "observes")
	run(t, work, "sleep", "adopt", "--discard", filepath.Base(found[0]), "--profile", "sleep.yaml", "--yes")
	p.goTo("#/")
	p.shows("3 nights")
	p.goTo(nightHash("state", found[0]))
	p.shows("it was discarded")
	p.allow("status of 404")
	p.goTo("#/night/state:0000000000000000%2Fnobody")
	p.shows("is not there")
	p.clean()
}

// Tasks of sessions are reviewed in the page: accepted, edited, where the edit still separates the answers of the session,
// and dropped; and a proposal is looked at whole, next to the user's own words, and adopted by its hash. Without --allow-adopt
// its command is shown.
func TestReviewAndAdoption(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found := nights(t, dir)
	work, last := filepath.Join(dir, "nights"), found[2]
	name := filepath.Base(last)
	shows := serve(t, work, "state", "--addr", "127.0.0.1:0", "--profile", "sleep.yaml")
	p := open(t, openBrowser(t), shows.Link)
	p.shows("3 nights", "Review tasks of sessions")
	p.until("nights alone", `document.querySelectorAll("table.runs tbody tr").length === 3`)
	p.press("of night " + name)
	p.until("the runs of a night below it", `document.querySelectorAll("table.runs tr.inside").length > 1`)
	p.shot("nights-open")
	p.press("of night " + name)
	p.until("nights alone", `document.querySelectorAll("table.runs tr.inside").length === 0`)
	p.goTo(nightHash("state", last))
	p.shows("To adopt it:", "skillopt sleep adopt "+name, "--expect", "Copy the command", "What you said", "not how we write dates")
	if found := eval[bool](p, `[...document.querySelectorAll("button")].some(b => b.innerText.includes("Adopt"))`); found {
		t.Error("a server without --allow-adopt offers to adopt")
	}
	if n := eval[int](p, `[...document.querySelectorAll("main .step")].filter(e => e.innerText.includes("+100.0")).length`); n < 1 {
		t.Error("the worth of the step is not shown")
	}

	p.allow("status of 400") // the profile does not know the second text, which its key has not signed
	proposeAnother(t, found[1])
	p.goTo(nightHash("state", found[1]))
	p.shows("What would change of skill:desk", "What would change of memory:CLAUDE.md", "skill:desk/references/a.md", "What it proposes cannot be adopted from here", "sleep adopt --discard")
	if n := eval[int](p, `document.querySelectorAll("#proposals .list li").length`); n != 2 {
		t.Errorf("%d texts are listed", n)
	}
	p.looksWell("proposals")
	p.clean()

	s := serve(t, work, "state", "--addr", "127.0.0.1:0", "--profile", "sleep.yaml", "--allow-adopt")
	p = open(t, openBrowser(t), s.Link)
	p.press("Review tasks of sessions")
	p.shows("24 tasks wait", "What you said of the first answer", "The answer that was corrected", "1 of 24")
	p.looksWell("review")
	p.press("Edit")
	p.looksWell("review-edit")
	p.allow("status of 400")
	p.fill("Expected", "something else")
	p.press("Save and accept")
	p.shows("the answer that was accepted does not pass them any more")
	p.press("Leave it as it was")
	p.key("e")
	p.until("the focus in the form", `document.activeElement.tagName === "TEXTAREA"`)
	p.fill("What analysts get", "In the ledger dates have the year first.")
	p.press("Save and accept")
	p.shows("23 tasks wait", "1 accepted, 0 dropped")
	p.key("a")
	p.shows("22 tasks wait", "2 accepted")
	p.key("x")
	p.shows("21 tasks wait", "2 accepted, 1 dropped")
	var left []struct{ ID string }
	if err := json.Unmarshal([]byte(run(t, work, "sleep", "review", "--json", "--profile", "sleep.yaml")), &left); err != nil || len(left) != 21 {
		t.Errorf("%d tasks are left: %v", len(left), err)
	}

	p.goTo(nightHash("state", last))
	p.shows("What is proposed", "Adopt", "In the ledger dates have the year first")
	p.press("whole documents")
	p.shows("You answer questions about documents of the desk")
	p.looksWell("proposal")
	p.press("Adopt")
	p.shows("It is written into the document that agents read", "not reviewed")
	p.accessible("adopt")
	p.shot("adopt-light")
	p.press("Write it")
	p.shows("Adopted as number 1")
	text, err := os.ReadFile(filepath.Join(work, "project", "CLAUDE.md"))
	if err != nil || !strings.Contains(string(text), "Convert a weight to grams") {
		t.Errorf("%v: %s", err, text)
	}
	p.clean()
}

// proposeAnother has a night propose a text for a skill and for another file of its folder, too.
func proposeAnother(t *testing.T, night string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(night, "proposal.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p map[string]any
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	items := p["items"].([]any)
	other := maps.Clone(items[0].(map[string]any))
	other["target"] = "skill:desk"
	other["files"] = []any{map[string]any{"path": "references/a.md", "file": other["file"], "original": other["original"], "live_sha": other["live_sha"], "proposed_sha": other["proposed_sha"]}}
	p["items"] = append(items, other)
	if text, err = json.Marshal(p); err != nil {
		t.Fatal(err)
	}
	write(t, night, "proposal.json", string(text))
}

// key presses a key.
func (p *tab) key(name string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: %s, bubbles: true, cancelable: true})), true)`, quoted(name)))
}

// figures are those that the view of a night has to show.
func (n shownNight) figures() (out []string) {
	for _, t := range n.Targets {
		out = append(out, fmt.Sprintf("%d independent tasks open (%d tonight, %d recalled), %d fresh", t.Groups["open"], t.Groups["tonight"], t.Groups["recalled"], t.Groups["fresh"]),
			fmt.Sprintf("%d fresh independent tasks, all won, certify at level %.3g", t.Can.Needed, t.Can.Level))
		if b := t.Baseline; b != nil {
			out = append(out, fmt.Sprintf("%s of %d tasks solved", share(b.Hard), b.N))
		}
		if c := t.Confirmed; c != nil {
			out = append(out, fmt.Sprintf("won %d, lost %d, %d alike of %d", c.Wins, c.Losses, c.Ties, c.N), inPoints(*c.Difference))
		}
		if c := t.Continued; c != nil {
			out = append(out, fmt.Sprintf("won %d and lost %d of %d new tasks", c.Wins, c.Losses, c.Pairs), fmt.Sprintf("evidence %.3g of", *c.Evidence))
		}
	}
	return append(out, fmt.Sprint(n.Spent.Calls), fmt.Sprint(n.Spent.Input), fmt.Sprint(n.Spent.Output))
}

// figuresAreOf fails for a figure of the page that no document has.
func (p *tab) figuresAreOf(text, file string) {
	p.t.Helper()
	var known []float64
	more, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, t := range []string{text, string(more)} {
		var v any
		if err := json.Unmarshal([]byte(t), &v); err != nil {
			p.t.Fatal(err)
		}
		known = append(known, numbersIn(v)...)
	}
	shown := eval[[]string](p, `[...document.querySelectorAll("main data")].map(e => e.value)`)
	if len(shown) < 50 {
		p.t.Errorf("the page has %d figures", len(shown))
	}
	for _, s := range shown {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !slices.ContainsFunc(known, func(k float64) bool { return math.Abs(k-v) < 1e-12 }) {
			p.t.Errorf("the page shows %q, which no document has", s)
		}
	}
}

func numbersIn(v any) (out []float64) {
	switch v := v.(type) {
	case float64:
		return []float64{v}
	case []any:
		for _, x := range v {
			out = append(out, numbersIn(x)...)
		}
	case map[string]any:
		for _, x := range v {
			out = append(out, numbersIn(x)...)
		}
	}
	return out
}

// Nights whose every text is hostile are shown as text; one that is damaged, and one of another format, are named
// and hide no other.
func TestHostileNightIsShownAsText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	found := nights(t, dir)
	state := filepath.Join(dir, "nights", "state")
	for _, name := range []string{"night.json", "diagnostics.json", "proposal.json"} {
		spoilDocument(t, filepath.Join(found[2], name))
	}
	write(t, found[0], "night.json", `{"format": 4, "targets": [`)
	write(t, found[1], "night.json", `{"format": 99, "targets": "of another kind"}`)
	write(t, filepath.Dir(found[0]), `<img src=x onerror=ran=1>/night.json`, `{"format": 4, "targets": null, "mined": {"runs": null}}`)
	s := serve(t, state, ".", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows("4 nights", "damaged", "another format", "use the program that wrote it", `<img src=x onerror=ran=1>`)
	p.allow("status of 500") // of the damaged ones
	odd := filepath.Join(filepath.Dir(found[0]), `<img src=x onerror=ran=1>`)
	for at, says := range map[string]string{found[0]: "cannot be read", found[1]: "use the program that wrote it", found[2]: "What was answered", odd: "no new session"} {
		p.goTo(nightHash("state", at))
		p.shows(says)
		p.settled()
		eval[any](p, `document.querySelectorAll("details").forEach(d => { d.open = true }), null`)
		if ran := eval[string](p, `String(window.ran)`); ran != "undefined" {
			t.Errorf("%s: a text ran: %s", at, ran)
		}
		if markup := eval[string](p, `[...document.querySelectorAll("script:not([src]), iframe, img, object, embed, svg script, [onerror], [onload], a[href^='javascript']")].map(e => e.outerHTML).join(" ").slice(0, 500)`); markup != "" {
			t.Errorf("%s: a text became markup: %s", at, markup)
		}
		if text := p.text(); strings.ContainsAny(text, "\u202e\u2066\x1b\u200b\a") {
			t.Errorf("%s: a character that steers or hides is shown as it is", at)
		}
		p.fits("a hostile night", 1280)
	}
	p.clean()
}

// spoilDocument makes every text of a document hostile, but for those that say what it is.
func spoilDocument(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	n := 0
	if text, err = json.Marshal(spoiled(v, "", &n)); err != nil || n < 3 {
		t.Fatal(n, err)
	}
	write(t, filepath.Dir(path), filepath.Base(path), string(text))
}

func spoiled(v any, key string, n *int) any {
	switch v := v.(type) {
	case string:
		if strings.HasSuffix(key, "_at") || slices.Contains([]string{"since", "made", "file", "original", "live_sha", "proposed_sha", "arm"}, key) {
			return v
		}
		*n++
		return hostile[*n%len(hostile)] + strings.Repeat("w", 300)
	case []any:
		for i := range v {
			v[i] = spoiled(v[i], key, n)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			v[k] = spoiled(v[k], k, n)
		}
	}
	return v
}

func sortedKeys(m map[string]any) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
