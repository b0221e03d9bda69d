package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A person reads what fails, edits a line, scores and compares it, corrects a task, looks at versions and runs, and writes
// the best skill to its place: all on the page.
func TestDecide(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	if err := os.CopyFS(filepath.Join(work, "desk"), os.DirFS(filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart"))); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(work, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const steps = "train.epochs=1"
	run(t, work, "train", "desk", "--set", steps, "--yes")
	run(t, work, "train", "desk", "--set", steps, "--set", "train.seed=7", "--yes", "--accept-seed")
	s := serve(t, work, "--addr", "127.0.0.1:0", "--allow-adopt")
	p := open(t, openBrowser(t), s.Link)
	p.shows("desk-1", "desk-2")

	// A line is edited, scored on failing tasks, and compared.
	p.goTo("#/run/runs:desk-1/skill")
	p.shows("Edit by hand")
	p.press("Edit by hand")
	p.shows("Score it on tasks that fail", "selection (")
	best := read("runs/desk-1/best_skill.md")
	edited := strings.Replace(best, "- Take the answer", "- Always take the answer", 1)
	p.fill("edited by hand", edited)
	p.until("tasks that fail", `[...document.querySelectorAll("fieldset li")].length > 0`)
	p.shows("1 line is changed")
	p.looksWell("decide-editor")
	p.press("Score on ")
	p.shows("edited by hand, from best of desk-1", "finished", "of selection")
	if got := read("runs/desk-eval-1/tuned/SKILL.md"); got != edited {
		t.Errorf("the edited skill is\n%s", got)
	}
	p.press("Compare both on all selection tasks")
	p.shows("best of desk-1 against tuned of desk-eval-1")
	p.until("the comparison to end", `[...document.querySelectorAll("section[role=status]")].length === 2 && [...document.querySelectorAll("section[role=status] a")].length === 2 && !document.body.innerText.includes("running")`)
	p.looksWell("decide-edited")
	p.goTo("#/run/runs:desk-eval-1")
	p.shows("Tuned by hand, from the best skill of desk-1", "tuned by hand", "Skill")
	p.looksWell("decide-tuned")
	p.goTo("#/run/runs:desk-eval-1/skill")
	p.shows("Always take the answer")

	// Versions, with the run that began with one of them.
	p.goTo("#/run/runs:desk-1/skill?tree=1")
	p.shows("Runs that began with it", "desk-eval-1", "scores the best skill, edited by hand")
	p.looksWell("decide-tree")

	// Two versions on selection.
	p.goTo("#/run/runs:desk-1/skill?diff=0&version=1")
	p.press("Compare on selection tasks")
	p.shows("0 of desk-1 against 1 of desk-1")

	// A task is corrected, and recorded answers are scored by it.
	id, row := taskOf(t, read("desk/tasks.jsonl"), "phone-11")
	p.goTo("#/run/runs:desk-1/tasks/" + id)
	p.press("The task is wrong")
	p.shows("Correct the task", "desk/tasks.jsonl, line")
	gold := regexp.MustCompile(`"gold": ?"[^"]*"`)
	corrected := gold.ReplaceAllString(row, `"gold":"0190 000 0000"`)
	p.fill("The row of the task", corrected)
	p.looksWell("decide-task")
	p.press("Save and rescore")
	p.shows("The row is saved", "What recorded answers are worth now")
	p.looksWell("decide-rescored")
	if got := read("desk/tasks.jsonl"); !strings.Contains(got, corrected) || strings.Contains(got, row) {
		t.Error("the row was not written")
	}

	// Runs over each other.
	p.goTo("#/compare/runs:desk-1/runs:desk-2")
	p.shows("Best skill by step, on selection", "Tasks that flip", "both have measured")
	p.looksWell("decide-runs")

	// By what a candidate failed.
	for _, name := range []string{"desk-1", "desk-2"} {
		if n := rejected(read("runs/" + name + "/history.json")); n != "" {
			p.goTo(fmt.Sprintf("#/run/runs:%s/steps/%s", name, n))
			p.shows("failed by", "Cause")
			p.looksWell("decide-causes")
			break
		}
	}

	// The best skill to its place.
	before := read("desk/SKILL.md")
	p.goTo("#/run/runs:desk-1")
	p.shows("The best skill to its place")
	p.press("Write it there")
	p.shows("Agents that use this skill read the new text")
	p.looksWell("decide-place")
	eval[bool](p, `([...document.querySelectorAll("dialog[open] button")].find(b => b.innerText.trim() === "Write it there").click(), true)`)
	p.shows("What was there is in")
	if read("desk/SKILL.md") != best || read("runs/desk-1/replaced/1/SKILL.md") != before {
		t.Error("the best skill is not at its place, or what was there is not kept")
	}
	p.clean()
}

// taskOf is a row of a file of tasks.
func taskOf(t *testing.T, text, id string) (string, string) {
	t.Helper()
	for row := range strings.Lines(text) {
		if strings.Contains(row, `"`+id+`"`) {
			return id, strings.TrimSuffix(row, "\n")
		}
	}
	t.Fatalf("there is no task %s", id)
	return "", ""
}

// rejected is the number of a step whose candidate failed tasks; "": there is none.
func rejected(history string) string {
	at := strings.Index(history, `"failures"`)
	if at < 0 {
		return ""
	}
	steps := regexp.MustCompile(`"step": ?(\d+)`).FindAllStringSubmatch(history[:at], -1)
	if len(steps) == 0 {
		return ""
	}
	return steps[len(steps)-1][1]
}
