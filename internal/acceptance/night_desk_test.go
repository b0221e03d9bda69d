package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/cli"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// desk is a user whose sessions, profile and project lie in a folder of their own, and whose models are a server that plays the
// world of the example, unless a case says otherwise. All goes through the command line.
type desk struct {
	t       *testing.T
	dir     string
	server  *observedServer
	models  *deskModels
	set     []string // of every command
	answers string   // typed on a terminal; "": there is none
	asked   int      // sessions so far
}

// deskModels play all roles. Say answers a request in the place of the world, if it says so.
type deskModels struct {
	world model.Client
	say   func(req model.Request) (text string, said bool, err error)
}

func (m *deskModels) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if m.say != nil {
		text, said, err := m.say(req)
		if said || err != nil {
			return model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: int64(len(last(req)) / 4), Output: int64(len(text) / 4)}}, err
		}
	}
	return m.world.Generate(ctx, req)
}

// last is what a request says last.
func last(req model.Request) string { return req.Messages[len(req.Messages)-1].Text() }

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	example := filepath.Join("..", "..", "examples", "sleep")
	world, err := sim.Load(filepath.Join(example, "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: dir, models: &deskModels{world: sim.New(world)}}
	d.server = watch(t, d.models)
	role := fmt.Sprintf(`{provider: compatible, model: world, api_key_env: "", base_url: %q, temperature: 0, headers: {X-Stage: "{{stage}}", X-Role: "{{role}}"}}`, d.server.URL+"/v1")
	d.set = []string{"models.target=" + role, "models.optimizer=" + role, "models.judge=" + role, "limits.patience=200ms"}
	for _, name := range []string{"sleep.yaml", "world.yaml"} {
		data, err := os.ReadFile(filepath.Join(example, name))
		if err != nil {
			t.Fatal(err)
		}
		d.write(name, string(data))
	}
	d.write("project/CLAUDE.md", "# Desk\n\nYou answer questions about documents of the desk. Answer with the value alone.\n")
	if err := os.MkdirAll(filepath.Join(dir, "store"), 0o700); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		d.t.Fatal(err)
	}
}

// dueDate is what the n-th session is about: the date as it stands in the document, and as the house writes it.
func dueDate(n int) (plain, house string) {
	d := time.Date(2027, time.Month(1+n%12), 1+n%28, 0, 0, 0, 0, time.UTC)
	return d.Format("2 January 2006"), d.Format("2006-01-02")
}

// sessions write n sessions into the store, each about an invoice of its own, in which the user corrects how its date is
// written. change alters the lines of a session.
func (d *desk) sessions(n int, change ...func(lines []map[string]any) []map[string]any) {
	d.t.Helper()
	for range n {
		id, at := fmt.Sprintf("desk-%03d", d.asked), time.Date(2026, 11, 16, 6, 0, 0, 0, time.UTC).Add(time.Duration(d.asked)*10*time.Minute)
		plain, house := dueDate(d.asked)
		d.asked++
		stamp := func(minute int) string { return at.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339) }
		lines := []map[string]any{
			{"type": "session", "id": id, "project": "../project", "version": "1"},
			{"type": "user", "id": id + "-a", "time": stamp(0), "text": fmt.Sprintf("Invoice %d of Osprey\nDue: %s\nQuestion: When is the invoice due?", 4000+d.asked, plain)},
			{"type": "agent", "time": stamp(1), "text": plain},
			{"type": "user", "id": id + "-b", "time": stamp(2), "text": "No, that date is not how we write dates of an invoice, see the ledger."},
			{"type": "agent", "time": stamp(3), "text": house},
			{"type": "user", "id": id + "-c", "time": stamp(4), "text": "Thanks, that is it."},
			{"type": "agent", "time": stamp(5), "text": "You are welcome."},
		}
		for _, c := range change {
			lines = c(lines)
		}
		var out bytes.Buffer
		for _, l := range lines {
			if err := json.NewEncoder(&out).Encode(l); err != nil {
				d.t.Fatal(err)
			}
		}
		d.write("store/"+id+".jsonl", out.String())
	}
}

// sleep runs a command of the desk.
func (d *desk) sleep(args ...string) (code int, out, errs string) {
	d.t.Helper()
	return d.interrupted(nil, args...)
}

func (d *desk) interrupted(signals <-chan os.Signal, args ...string) (code int, out, errs string) {
	d.t.Helper()
	args = append([]string{"sleep"}, append(args, "--profile", "sleep.yaml")...)
	if slices.Contains([]string{"run", "mine"}, args[1]) {
		for _, s := range d.set {
			if s == "" {
				continue
			}
			args = append(args, "--set", s)
		}
	}
	if d.answers != "" && args[1] == "run" && !slices.Contains(args, "--yes") {
		args = append(args, "--yes")
	}
	var o, e bytes.Buffer
	code = cli.Main(d.t.Context(), args, cli.Streams{In: strings.NewReader(d.answers), Out: &o, Err: &e, Dir: d.dir, Signals: signals, Terminal: d.answers != ""}, "test")
	return code, o.String(), e.String()
}

// night carries out a night and returns its exit code, and what it wrote down of itself; nil: it wrote nothing.
func (d *desk) night(args ...string) (code int, r *night.Report, errs string) {
	d.t.Helper()
	code, _, errs = d.sleep(append([]string{"run"}, args...)...)
	return code, d.report(), errs
}

// report is the newest night.json.
func (d *desk) report() *night.Report {
	d.t.Helper()
	data := d.newest("night.json")
	if data == nil {
		return nil
	}
	var r night.Report
	if err := json.Unmarshal(data, &r); err != nil {
		d.t.Fatal(err)
	}
	return &r
}

// newest reads a file of the newest night; nil: there is none.
func (d *desk) newest(name string) []byte {
	d.t.Helper()
	folders, err := filepath.Glob(filepath.Join(d.dir, "state", "nights", "*", "*"))
	if err != nil || len(folders) == 0 {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(folders[len(folders)-1], name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatal(err)
	}
	return data
}

// cause is the first line of show --why.
func (d *desk) cause() string {
	d.t.Helper()
	code, out, errs := d.sleep("show", "--why")
	if code != 0 {
		return fmt.Sprintf("exit code %d: %s", code, errs)
	}
	first, _, _ := strings.Cut(out, "\n")
	return first
}

// accepted has the user accept all tasks that there are in what is kept.
func (d *desk) accepted() {
	d.t.Helper()
	for _, args := range [][]string{{"harvest"}, {"mine"}} {
		if code, _, errs := d.sleep(args...); code != 0 {
			d.t.Fatalf("%v: exit code %d: %s", args, code, errs)
		}
	}
	_, out, _ := d.sleep("review", "--json")
	ids := regexp.MustCompile(`"id": "(mined-[0-9a-f]+)"`).FindAllStringSubmatch(out, -1)
	var list []string
	for _, m := range ids {
		list = append(list, m[1])
	}
	if code, _, errs := d.sleep("review", "--accept", strings.Join(list, ",")); code != 0 {
		d.t.Fatalf("exit code %d: %s", code, errs)
	}
}

// rubrics have the miner propose words in the place of checks.
func rubrics(world model.Client) func(model.Request) (string, bool, error) {
	return func(req model.Request) (string, bool, error) {
		if req.Tags.Stage != model.StageMine {
			return "", false, nil
		}
		resp, err := world.Generate(context.Background(), req)
		if err != nil {
			return "", true, err
		}
		var reply struct {
			Tasks []map[string]any `json:"tasks"`
		}
		if err := json.Unmarshal([]byte(resp.Text), &reply); err != nil {
			return "", true, err
		}
		for _, t := range reply.Tasks {
			t["checks"], t["gold"] = []any{}, []string{}
			t["rubric"], t["quote"] = "The date is written as we write dates of an invoice in the ledger.", "that date is not how we write dates of an invoice"
		}
		data, err := json.Marshal(reply)
		return string(data), true, err
	}
}

// houseDate is a date as the house writes it.
var houseDate = regexp.MustCompile(`\b2027-\d\d-\d\d\b`)

// graded is a judge's reply.
func graded(score float64) string { return fmt.Sprintf(`{"reason": "it is so", "score": %g}`, score) }

// saying answers the requests of a role by a function, and those of others as before.
func (m *deskModels) saying(role string, say func(model.Request) string) {
	before := m.say
	m.say = func(req model.Request) (string, bool, error) {
		if req.Tags.Role == role {
			return say(req), true, nil
		}
		if before != nil {
			return before(req)
		}
		return "", false, nil
	}
}
