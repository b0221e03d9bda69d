package acceptance_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// weekDesk is a desk whose document has an account: what it must hold, byte for byte, by what was adopted, taken back and written
// by hand.
type weekDesk struct {
	*desk
	holds  string
	others map[string]string // all other files of the project and of the home folder
}

const weekDocument = "project/CLAUDE.md"

func newWeekDesk(t *testing.T) *weekDesk {
	t.Helper()
	d := &weekDesk{desk: newDesk(t)}
	home := filepath.Join(d.dir, "home")
	for name, value := range map[string]string{"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "CLAUDE_CONFIG_DIR": "", "CODEX_HOME": ""} {
		t.Setenv(name, value)
	}
	d.write("home/.claude/CLAUDE.md", "# Of the user\n")
	d.write("home/notes.txt", "private\n")
	d.write("project/ledger.csv", "a,b\n")
	d.write("project/src/due.py", "print(1)\n")
	d.write("project/.claude/settings.json", "{}\n")
	d.holds = d.live()
	d.others = d.around()
	return d
}

func (d *weekDesk) live() string {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, filepath.FromSlash(weekDocument)))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(data)
}

// around is each file and folder of the project and the home folder, with its mode and bytes, but for the document.
func (d *weekDesk) around() map[string]string {
	d.t.Helper()
	out := map[string]string{}
	for _, root := range []string{"project", "home"} {
		err := fs.WalkDir(os.DirFS(d.dir), root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || path == weekDocument {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			out[path] = info.Mode().String()
			if e.Type().IsRegular() {
				data, err := os.ReadFile(filepath.Join(d.dir, path))
				out[path] += " " + string(data)
				return err
			}
			return nil
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	return out
}

// accounted fails unless every byte is as the account says.
func (d *weekDesk) accounted(after string) {
	d.t.Helper()
	if diff := cmp.Diff(d.holds, d.live()); diff != "" {
		d.t.Fatalf("%s: the document is not what the account says:\n%s", after, diff)
	}
	if diff := cmp.Diff(d.others, d.around()); diff != "" {
		d.t.Fatalf("%s: something else has changed:\n%s", after, diff)
	}
}

// do runs a command that must end with a code.
func (d *weekDesk) do(want int, args ...string) (out, errs string) {
	d.t.Helper()
	code, out, errs := d.sleep(args...)
	if code != want {
		d.t.Fatalf("%v: exit code %d, want %d: %s%s", args, code, want, out, errs)
	}
	return out, errs
}

// tonight carries out a night, in which nothing is written into the project.
func (d *weekDesk) tonight() *night.Report {
	d.t.Helper()
	d.do(0, "run")
	r := d.latest()
	d.t.Logf("night %s: %s", r.ID, d.summary(r))
	d.accounted("night " + r.ID)
	return r
}

func (*weekDesk) summary(r *night.Report) string {
	var parts []string
	for _, t := range r.Targets {
		parts = append(parts, fmt.Sprintf("%s: %s", t.Outcome, t.Reason))
	}
	for _, a := range r.Adopted {
		parts = append(parts, fmt.Sprintf("number %d %s: %s", a.Number, a.Verdict, a.Reason))
	}
	return strings.Join(parts, "; ")
}

// latest is what sleep prints of the newest night.
func (d *weekDesk) latest() *night.Report {
	d.t.Helper()
	out, _ := d.do(0, "show", "--json")
	var r night.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		d.t.Fatal(err)
	}
	return &r
}

// staged is the learned region that a night proposes.
func (d *weekDesk) staged(r *night.Report) string {
	d.t.Helper()
	out, _ := d.do(0, "show", r.ID, "--json")
	var shown struct{ Texts map[string]string }
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		d.t.Fatal(err)
	}
	region, err := skill.LearnedText(shown.Texts["memory:CLAUDE.md"])
	if err != nil {
		d.t.Fatal(err)
	}
	return region
}

var hashLine = regexp.MustCompile(`(?m)^hash ([0-9a-f]+)$`)

// adopts adopts what a night proposes, and books it: the region is the proposed one, all else as it was.
func (d *weekDesk) adopts(r *night.Report) {
	d.t.Helper()
	out, _ := d.do(2, "adopt", r.ID)
	d.accounted("adopt without an answer")
	hash := hashLine.FindStringSubmatch(out)
	if hash == nil {
		d.t.Fatal(out)
	}
	d.do(0, "adopt", r.ID, "--expect", hash[1])
	text, err := skill.InjectLearned(d.holds)
	if err == nil {
		d.holds, err = skill.ReplaceLearned(text, d.staged(r))
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.accounted("adopt " + r.ID)
}

// byHand has the user write the document.
func (d *weekDesk) byHand(text string) {
	d.t.Helper()
	d.holds = text
	if err := os.WriteFile(filepath.Join(d.dir, filepath.FromSlash(weekDocument)), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	d.accounted("by hand")
}

// week is what sleep status says.
func (d *weekDesk) week() *result.Week {
	d.t.Helper()
	out, _ := d.do(0, "status", "--json")
	var s struct{ Week *result.Week }
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.Week == nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	d.accounted("status")
	return s.Week
}

// since is what status says of an adoption.
func (d *weekDesk) since(n int) *result.NightAdopted {
	d.t.Helper()
	for _, a := range d.week().Adoptions {
		if a.Number == n && a.Since != nil {
			return a.Since
		}
	}
	d.t.Fatalf("status knows no evidence for number %d", n)
	return nil
}

// askingAbout is a session about something else than a date.
func askingAbout(prompt, first, said, second func(n int) string, d *desk) func([]map[string]any) []map[string]any {
	return func(lines []map[string]any) []map[string]any {
		for i, text := range []func(int) string{prompt, first, said, second} {
			if text != nil {
				lines[i+1]["text"] = text(d.asked)
			}
		}
		return lines
	}
}

func (d *weekDesk) weights(n int) {
	always := func(text string) func(int) string { return func(int) string { return text } }
	d.sessions(n, askingAbout(
		func(n int) string {
			return fmt.Sprintf("Consignment %d\n- gross weight: %d kg\nQuestion: What is the weight of the consignment?", 9000+n, 200+n)
		},
		func(n int) string { return fmt.Sprintf("%d kg", 200+n) },
		always("No, wrong unit: that is not how the customs form has the weight of a consignment."),
		func(n int) string { return fmt.Sprintf("%d g", (200+n)*1000) }, d.desk))
}

func (d *weekDesk) phones(n int) {
	d.sessions(n, askingAbout(
		func(n int) string {
			return fmt.Sprintf("Customer card\n- name: Ada Marsh\n- phone: 01632 960%03d\nQuestion: What is the phone number of the contact?", n)
		},
		func(n int) string { return fmt.Sprintf("01632 960%03d", n) },
		func(int) string { return "No, that phone number is not how we dial a contact from abroad." },
		func(n int) string { return fmt.Sprintf("+44 1632 960%03d", n) }, d.desk))
}

// slashed is a date as the house writes it from some day on.
func slashed(n int) string {
	_, house := dueDate(n)
	return house[8:] + "/" + house[5:7] + "/" + house[:4]
}

// otherwise are sessions of a house that has changed its mind about dates, with a model that writes them so unless the document says
// otherwise.
func (d *weekDesk) otherwise(n int) {
	for range n {
		d.sessions(1, askingAbout(nil, func(n int) string { _, house := dueDate(n - 1); return house },
			func(int) string { return "No, wrong: the ledger has dates of an invoice with slashes by now." }, func(n int) string { return slashed(n - 1) }, d.desk))
	}
	d.models.say = func(req model.Request) (string, bool, error) {
		system := ""
		for _, m := range req.Messages[:len(req.Messages)-1] {
			system += m.Text()
		}
		if req.Tags.Role != model.Target || regexp.MustCompile(`YYYY-MM-DD|ISO form`).MatchString(system) {
			return "", false, nil
		}
		for n := range 336 {
			if plain, _ := dueDate(n); strings.Contains(last(req), "Due: "+plain+"\n") {
				return slashed(n), true, nil
			}
		}
		return "", false, nil
	}
}

// Seven nights by the command line alone: adoptions, edits by hand outside and inside of the learned region, a model that changes,
// a house that changes its mind, so that what was adopted is worse, and the rollback. After each command each byte of the project and of the home folder
// is what the history and the hand say.
func TestAWeekOfNights(t *testing.T) {
	d := newWeekDesk(t)

	// 1: the dates are learned, and adopted.
	d.sessions(16)
	first := d.tonight()
	d.adopts(first)

	// 2: the hand writes outside of the region after the night; both are kept. What was adopted fares well.
	d.sessions(6)
	d.weights(14)
	second := d.tonight()
	if s := d.since(1); s.Losses > 0 || s.Wins == 0 {
		t.Fatalf("%+v", s)
	}
	d.byHand(strings.Replace(d.holds, "# Desk\n", "# Desk\n\nAsk if a document is missing.\n", 1) + "\nSigned by hand.\n")
	d.adopts(second)

	// 3: the hand writes inside of the region; the night's proposal is refused then, and waits no more.
	d.phones(14)
	third := d.tonight()
	if w := d.week(); len(w.Waits.Proposals) != 1 || w.Waits.Proposals[0].Night != third.ID {
		t.Fatalf("%+v", w.Waits)
	}
	d.byHand(strings.Replace(d.holds, skill.LearnedEnd, "- Be kind.\n"+skill.LearnedEnd, 1))
	if _, errs := d.do(2, "adopt", third.ID, "--expect", "000000000000"); !strings.Contains(errs, "its learned region was edited since") {
		t.Error(errs)
	}
	d.accounted("a refused adoption")
	if w := d.week(); len(w.Waits.Proposals) != 0 || proposalOf(w, third.ID) != result.ProposedStale {
		t.Errorf("%+v, %s", w.Waits, proposalOf(w, third.ID))
	}

	// 4: another model. Its evidence begins again.
	before := d.since(1)
	d.set = append(d.set, "models.target.temperature=0.5")
	d.sessions(5)
	d.tonight()
	if s := d.since(1); before.Pairs == 0 || s.Pairs == 0 || s.Pairs != s.Tonight || !strings.HasSuffix(s.Reason, "its evidence begins again") {
		t.Errorf("%+v after %+v", s, before)
	}

	// 5: the house wants dates as they stand in the invoice. What was adopted first is worse now, and what was adopted second is not.
	d.otherwise(20)
	d.tonight()
	d.worse(1)
	if s := d.since(2); s.Verdict == result.AdoptedWorse {
		t.Errorf("%+v", s)
	}
	d.sameNumbers()
	d.takesBack(1)

	// 6: number 1 is looked at no more.
	d.weights(6)
	if r := d.tonight(); len(r.Adopted) != 1 || r.Adopted[0].Number != 2 || r.Adopted[0].Losses > 0 {
		t.Errorf("%+v", r.Adopted)
	}

	// 7: nothing happened.
	d.tonight()
	d.sameNumbers()
	d.history()
}

func proposalOf(w *result.Week, id string) result.WeekProposed {
	for _, n := range w.Nights {
		if n.Night == id {
			return n.Targets[0].Proposal
		}
	}
	return ""
}

// worse fails unless everything that the user may read names the rollback of an adoption first.
func (d *weekDesk) worse(n int) {
	d.t.Helper()
	command := fmt.Sprintf("skillopt sleep rollback %d", n)
	if s := d.since(n); s.Verdict != result.AdoptedWorse || s.Help != command {
		d.t.Fatalf("%+v", s)
	}
	if next := d.week().Next; len(next) == 0 || !strings.HasPrefix(next[0].Command, command+" --profile ") {
		d.t.Errorf("%+v", next)
	}
	for _, args := range [][]string{{"status"}, {"show"}} {
		if out, _ := d.do(0, args...); !strings.Contains(out, command) {
			d.t.Errorf("%v does not say %q:\n%s", args, command, out)
		}
	}
}

// takesBack takes an adoption back, and books it: of the document the lines go that it had brought, and no other byte.
func (d *weekDesk) takesBack(n int) {
	d.t.Helper()
	out, _ := d.do(0, "rollback", "--json")
	var list []adopt.Record
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		d.t.Fatal(err)
	}
	gone := 0
	for _, rule := range list[n-1].Files[0].Rules {
		if strings.Contains(d.holds, rule.Text+"\n") {
			d.holds, gone = strings.Replace(d.holds, rule.Text+"\n", "", 1), gone+1
		}
	}
	if gone == 0 {
		d.t.Fatalf("%+v", list)
	}
	d.do(0, "rollback", fmt.Sprint(n), "--yes")
	d.accounted("rollback")
	if out, _ := d.do(0, "rollback", fmt.Sprint(n), "--yes"); !strings.Contains(out, "taken back already") {
		d.t.Error(out)
	}
	d.accounted("a second rollback")
}

// history fails unless the receipts, one behind the other, lead from what there was to what there is.
func (d *weekDesk) history() {
	d.t.Helper()
	out, _ := d.do(0, "rollback", "--json")
	var list []adopt.Record
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		d.t.Fatal(err)
	}
	if len(list) != 3 || list[0].Kind != adopt.Adopted || list[1].Kind != adopt.Adopted || list[2].Kind != adopt.RolledBack || list[2].Of != 1 || !list[1].Files[0].Merged || list[0].Files[0].Merged {
		d.t.Errorf("%s", out)
	}
	var kinds []string
	for _, a := range d.week().Adoptions {
		kinds = append(kinds, fmt.Sprintf("%d %s by %d of %d", a.Number, a.Kind, a.BackBy, a.Of))
	}
	if diff := cmp.Diff([]string{"3 rolled_back by 0 of 1", "2 adopted by 0 of 0", "1 adopted by 3 of 0"}, kinds); diff != "" {
		d.t.Error(diff)
	}
}

// sameNumbers fails unless status has the numbers of the nights.
func (d *weekDesk) sameNumbers() {
	d.t.Helper()
	w := d.week()
	text, _ := d.do(0, "status")
	says := func(want string) {
		d.t.Helper()
		if !strings.Contains(text, want) {
			d.t.Errorf("status does not say %q", want)
		}
	}
	var calls, tokens int64
	for _, n := range w.Nights {
		shown, _ := d.do(0, "show", n.Night, "--json")
		var r night.Report
		if err := json.Unmarshal([]byte(shown), &r); err != nil {
			d.t.Fatal(err)
		}
		if len(r.Targets) != len(n.Targets) || r.Spent.Calls != n.Spent.Calls || r.Mined.Taken.New != n.NewTasks {
			d.t.Errorf("night %s: %+v, and show says %+v", n.Night, n, r)
		}
		for i, target := range n.Targets {
			if target.Outcome != r.Targets[i].Outcome || target.Reason != r.Targets[i].Reason || len(target.Rules) != len(r.Targets[i].Rules) {
				d.t.Errorf("night %s: %+v, and show says %+v", n.Night, target, r.Targets[i])
			}
		}
		calls, tokens = calls+r.Spent.Calls, tokens+r.Spent.Input+r.Spent.Output
		says(n.Night)
	}
	if calls == 0 || w.Spent.Calls != calls || w.Spent.Input+w.Spent.Output != tokens || w.Spent.CostUSD != nil {
		d.t.Errorf("%d calls, %d tokens: %+v", calls, tokens, w.Spent)
	}
	for _, a := range w.Adoptions {
		if a.Since != nil && a.BackBy == 0 {
			says(fmt.Sprintf("%d of %d new tasks", a.Since.Losses, a.Since.Pairs))
		}
	}
	says(fmt.Sprintf("%d tasks to review", w.Waits.Review))
}
