package browser

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostile are texts that would run, load, hide or steer if they were more than text.
var hostile = []string{
	`<script>window.ran="script"</script>`, `<img src=x onerror="window.ran='img'">`, `<svg onload="window.ran='svg'"><script>window.ran="svg"</script></svg>`,
	`"><iframe srcdoc="<script>parent.ran='iframe'</script>"></iframe>`, `javascript:window.ran="link"`, `[a](javascript:window.ran="markdown")`,
	"\u202eevil\u202c and \u2066hidden\u2069 and zero\u200bwidth", "\x1b[31mred\x1b[0m \x1b]0;title\a", `{{constructor.constructor('window.ran=1')()}}`, `</style><style>body{display:none}</style>`,
}

// A run whose skill, tasks, ids, types, answers and name are hostile is shown as text.
func TestHostileRunIsShownAsText(t *testing.T) {
	t.Parallel()
	dir, examples := t.TempDir(), filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart")
	to := filepath.Join(dir, "evil")
	if err := os.CopyFS(to, os.DirFS(examples)); err != nil {
		t.Fatal(err)
	}
	spoil(t, to)
	const name = `<img src=x onerror=ran=1>`
	run(t, dir, "train", "evil", "--yes", "--run", filepath.Join("runs", name), "--set", "train.epochs=1")
	tasks := chosen(t, dir, filepath.Join("runs", name))
	run(t, dir, "runs", "note", filepath.Join("runs", name), "--text", strings.Join(hostile[:6], "\n"), "--tag", `<b>tag</b>`)
	s := serve(t, dir, "runs", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows(name, "<b>tag</b>")
	at := "#/run/" + url.PathEscape("runs:"+name)
	for _, hash := range []string{
		"#/", at, at + "/skill?version=best", at + "/skill?version=best&diff=0", at + "/skill?version=0", at + "/steps/1", at + "/tasks", at + "/tasks/" + url.PathEscape(tasks[0]),
		at + "/tasks/" + url.PathEscape(tasks[1]), at + "/certificate", at + "/cost", at + "/config", at + "/log",
	} {
		p.goTo(hash)
		p.shows(name)
		p.settled()
		if strings.Contains(hash, "/tasks/") {
			p.shows("Question", "passed", "Reply")
		}
		if ran := eval[string](p, `String(window.ran)`); ran != "undefined" {
			t.Errorf("%s: a text ran: %s", hash, ran)
		}
		if found := eval[string](p, `[...document.querySelectorAll("script:not([src]), iframe, img, object, embed, svg script, [onerror], [onload], a[href^='javascript']")].map(e => e.outerHTML).join(" ").slice(0, 500)`); found != "" {
			t.Errorf("%s: a text became markup: %s", hash, found)
		}
		if text := p.text(); strings.ContainsAny(text, "\u202e\u2066\x1b\u200b\a") {
			t.Errorf("%s: a character that steers or hides is shown as it is", hash)
		}
		if strings.TrimSpace(p.text()) == "" {
			t.Errorf("%s: the page is blank", hash)
		}
	}
	p.goTo(at + "/skill?version=0")
	p.shows(`<script>window.ran="script"</script>`)
	p.clean()
}

// An event log that somebody else wrote into stops no view, and one in which an event is lost says so.
func TestForeignEventsAreShownAsText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"odd", "broken"} {
		run(t, dir, "train", filepath.Join(os.Getenv("SKILLOPT_EXAMPLES"), "quickstart"), "--yes", "--run", "runs/"+name, "--set", "train.epochs=1")
	}
	odd := filepath.Join(dir, "runs", "odd", "events", "events-000001.jsonl")
	numbers := eventNumbers(t, filepath.Dir(odd))
	var more []byte
	for i, e := range []string{
		`"event":"dreamt","time":"2027-01-01T00:00:00Z","what":{"a":[1,2]},"<b>":"</script><img src=x onerror=ran=1>"`,
		`"event":"step_done","time":"x","step":"three","action":7,"best_score":"high"`, `"event":null`, `"event":{"a":1},"time":5`,
		`"event":"gate_read","units":"x","difference":{}`, `"event":"in_flight","calls":5`, `"event":"refusals","endpoint":[],"count":"many"`,
		`"event":"warning","text":{"toString":1}`, `"event":"steered","limits":[null]`, `"event":"run_done","wall_s":"long","status":[]`,
	} {
		more = fmt.Appendf(more, "{\"n\":%d,%s}\n", numbers[len(numbers)-1]+int64(i)+1, e)
	}
	broken := filepath.Join(dir, "runs", "broken", "events", "events-000001.jsonl")
	f, err := os.OpenFile(odd, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(more)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(broken)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(text, []byte("\n"))
	lines[len(lines)/2] = bytes.Repeat([]byte("x"), len(lines[len(lines)/2])) // an event is lost
	if err := os.WriteFile(broken, bytes.Join(lines, []byte("\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, "runs", "--addr", "127.0.0.1:0")
	p := open(t, openBrowser(t), s.Link)
	p.shows("odd", "broken")
	p.goTo("#/run/runs:odd/log")
	p.shows("dreamt", "</script><img src=x onerror=ran=1>")
	p.goTo("#/run/runs:odd")
	p.shows("Did it get better")
	p.goTo("#/run/runs:broken/log")
	p.shows("damaged: event", "cannot be read", "events-000001.jsonl, line")
	if ran := eval[string](p, `String(window.ran)`); ran != "undefined" {
		t.Errorf("a text ran: %s", ran)
	}
	p.clean()
}

// spoil makes the skill and the tasks of an example hostile. Some questions have a line of 1 MB.
func spoil(t *testing.T, dir string) {
	t.Helper()
	skill := filepath.Join(dir, "SKILL.md")
	text, err := os.ReadFile(skill)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(skill, append(text, "\n"+strings.Join(hostile, "\n- ")+"\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "tasks.jsonl")
	rows, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	i := 0
	for line := range strings.Lines(string(rows)) {
		var task map[string]any
		if err := json.Unmarshal([]byte(line), &task); err != nil {
			t.Fatal(err)
		}
		bad := hostile[i%len(hostile)]
		task["id"] = task["id"].(string) + " " + strings.Map(printable, bad)
		task["prompt"] = bad + "\n" + task["prompt"].(string)
		if i%25 == 7 {
			task["prompt"] = strings.Repeat("x", 1_000_000) + "\n" + task["prompt"].(string)
		}
		i++
		data, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(data, '\n'))
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// chosen are the ids of two selection tasks of a run, one of them with a question of 1 MB.
func chosen(t *testing.T, dir, path string) []string {
	t.Helper()
	var grid struct {
		Tasks []struct {
			ID    string `json:"id"`
			Split string `json:"split"`
			Text  string `json:"text"`
		} `json:"tasks"`
	}
	if err := json.Unmarshal([]byte(run(t, dir, "runs", "tasks", path, "--json")), &grid); err != nil {
		t.Fatal(err)
	}
	var short, long string
	for _, task := range grid.Tasks {
		switch {
		case task.Split != "selection":
		case strings.Contains(task.Text, "xxxxxxxx"):
			long = task.ID
		default:
			short = task.ID
		}
	}
	if short == "" || long == "" {
		t.Fatal("the selection split has no task of either kind")
	}
	return []string{short, long}
}

func printable(r rune) rune {
	if r < ' ' || r == '\u202e' || r == '\u202c' || r == '\u2066' || r == '\u2069' || r == '\u200b' {
		return -1
	}
	return r
}
