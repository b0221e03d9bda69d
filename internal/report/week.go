package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// mostWeekRows bounds each table of a week.
const mostWeekRows = 500

// mostWeekRules bounds the rules that are shown of a text.
const mostWeekRules = 20

// weekPage is all that the report of a week shows. Its texts are clean; the templates decide how they look and escape them.
type weekPage struct {
	Title     string
	Lead      string
	Notices   []notice
	Tiles     []tile
	Next      []command
	Adoptions []weekAdoption
	Waits     []string
	Nights    []weekNight
	More      int // nights that are left out
	Costs     []cost
	Money     string // in words
	Problems  []string
}

type weekAdoption struct {
	Number, When, Document, Project, What, Since, Class string
	Evidence                                            string // "": there is none
	Rules                                               []string
	MoreRules                                           int
}

type weekNight struct {
	When, Name, Project string
	State               string // "": it is over
	Notes               []string
	Documents           []weekDocument
	From                string // sessions and tasks that it came of
}

type weekDocument struct {
	Name, Outcome, Words, Class, Why, Proposal string
	Rules                                      []string
	MoreRules                                  int
}

// Week returns the report of a week as Markdown. Of what is not clean nothing is markup.
func Week(w *result.Week) []byte {
	p := newWeekPage(w)
	m := &markdown{}
	m.head(p.Title, p.Lead, p.Notices, p.Tiles)
	m.weekNext(p)
	m.weekAdoptions(p)
	m.weekNights(p)
	m.say("## What waits")
	for _, text := range p.Waits {
		fmt.Fprintf(&m.b, "- %s\n", m.text(text))
	}
	m.b.WriteString("\n## Money\n\n")
	var rows [][]string
	for _, c := range p.Costs {
		rows = append(rows, []string{c.Role, c.Calls, c.In, c.Cached, c.Out, c.USD})
	}
	m.table("night|calls|tokens in|cached|tokens out|cost", rows)
	m.say("%s", m.text(p.Money))
	for _, text := range p.Problems {
		m.say("> **Incomplete.** %s", m.text(text))
	}
	return []byte(strings.TrimRight(m.b.String(), "\n") + "\n")
}

// WeekHTML returns the report of a week as one page that loads nothing and runs nothing.
func WeekHTML(w *result.Week) ([]byte, error) { return fill(weekText, newWeekPage(w)) }

func (m *markdown) weekNext(p weekPage) {
	m.say("## What to do next")
	if len(p.Next) == 0 {
		m.say("Nothing: no proposal waits, and nothing that was adopted fares worse.")
		return
	}
	var b strings.Builder
	for _, c := range p.Next {
		fmt.Fprintf(&b, "# %s\n%s\n", c.What, c.Text)
	}
	m.block("sh", b.String())
}

func (m *markdown) weekAdoptions(p weekPage) {
	m.say("## What was adopted, and how it fares")
	if len(p.Adoptions) == 0 {
		m.say("Nothing was adopted.")
		return
	}
	var rows [][]string
	for _, a := range p.Adoptions {
		rows = append(rows, []string{a.Number, a.When, a.Project, a.Document, a.What, strings.TrimSpace(a.Since + " " + a.Evidence)})
	}
	m.table("number|when|project|document|what|since", rows)
	for _, a := range p.Adoptions {
		m.rules("Rules of number "+a.Number, a.Rules, a.MoreRules)
	}
}

func (m *markdown) rules(head string, rules []string, more int) {
	if len(rules) == 0 {
		return
	}
	m.say("%s:", m.text(head))
	for _, r := range rules {
		fmt.Fprintf(&m.b, "- %s\n", m.text(r))
	}
	if more > 0 {
		fmt.Fprintf(&m.b, "- and %d more\n", more)
	}
	m.b.WriteByte('\n')
}

func (m *markdown) weekNights(p weekPage) {
	m.say("## Nights")
	if len(p.Nights) == 0 {
		m.say("There was no night in these days.")
	}
	for _, n := range p.Nights {
		m.say("### %s, %s%s", m.text(n.When), m.text(n.Project), m.text(n.State))
		m.say("Night %s: %s", m.text(n.Name), m.text(n.From))
		for _, d := range n.Documents {
			text := fmt.Sprintf("**%s: %s**", m.text(d.Name), m.text(d.Outcome))
			if d.Words != "" {
				text += " (" + m.text(d.Words) + ")"
			}
			if d.Why != "" {
				text += ": " + m.text(strings.TrimSuffix(d.Why, "."))
			}
			text += "."
			if d.Proposal != "" {
				text += " The proposal: " + m.text(d.Proposal) + "."
			}
			m.say("%s", text)
			m.rules("Rules", d.Rules, d.MoreRules)
		}
		for _, note := range n.Notes {
			m.say("Note: %s", m.text(note))
		}
	}
	if p.More > 0 {
		m.say("%d older nights are left out.", p.More)
	}
}

func newWeekPage(w *result.Week) weekPage {
	p := weekPage{
		Title: fmt.Sprintf("Nights from %s to %s", day(w.From), day(w.To)), Problems: shorts(w.Problems),
		Waits: weekWaits(w.Waits), Costs: weekCosts(w), Money: weekMoney(w),
	}
	p.Lead = weekLead(w)
	if w.Simulated {
		p.Notices = append(p.Notices, notice{"warn", "Simulated", "Models of these nights are simulations: scores are those of a simulation, and nothing was spent on them."})
	}
	for _, s := range w.Next {
		p.Next = append(p.Next, command{Text: clean(s.Command, reasonLength), What: short(s.Why, reasonLength)})
	}
	for i, a := range w.Adoptions {
		if i == mostWeekRows {
			break
		}
		p.Adoptions = append(p.Adoptions, weekAdoptionOf(a))
	}
	for i, n := range w.Nights {
		if i == mostWeekRows {
			p.More = len(w.Nights) - i
			break
		}
		p.Nights = append(p.Nights, weekNightOf(n))
	}
	p.Tiles = weekTiles(w)
	return p
}

// mostText bounds what is looked at of a text for the first words of it, in bytes.
const mostText = 64 << 10

// short is line for a text of whatever length: looking for secrets takes time. A word that is cut off is left out, since half of a
// secret does not look like one.
func short(text string, n int) string {
	if len(text) > mostText {
		text = text[:mostText]
		if at := strings.LastIndexFunc(text, unicode.IsSpace); at >= 0 {
			text = text[:at]
		}
		text += " …"
	}
	return line(text, n)
}

func shorts(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = short(t, reasonLength)
	}
	return out
}

func day(t time.Time) string { return t.Local().Format("2 January 2006") }

func minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// weekLead says in one sentence the result of these days.
func weekLead(w *result.Week) string {
	stands, back, worse := 0, 0, 0
	for _, a := range w.Adoptions {
		switch {
		case a.Kind == "rolled_back" || a.Target == "":
		case a.BackBy > 0:
			back++
		default:
			stands++
			if a.Since != nil && a.Since.Verdict == result.AdoptedWorse {
				worse++
			}
		}
	}
	text := fmt.Sprintf("%s in %s; %s in force, %d taken back", wording.Plural(len(w.Nights), "night", "nights"), wording.Plural(w.Days, "day", "days"),
		wording.Plural(stands, "adopted text is", "adopted texts are"), back)
	if worse > 0 {
		text += fmt.Sprintf(", %d worse than the document without it", worse)
	}
	return text + fmt.Sprintf("; %s.", wording.Plural(len(w.Waits.Proposals), "proposal waits", "proposals wait"))
}

func weekTiles(w *result.Week) []tile {
	counts := map[result.NightOutcome]int{}
	for _, n := range w.Nights {
		for _, t := range n.Targets {
			counts[t.Outcome]++
		}
	}
	var found []string
	for _, o := range []result.NightOutcome{result.NightCertified, result.NightSupported, result.NightSuggested} {
		if counts[o] > 0 {
			found = append(found, fmt.Sprintf("%d %s", counts[o], o))
		}
	}
	next := absent
	note := "none is known to be scheduled"
	if w.Scheduled != nil {
		next, note = minute(*w.Scheduled), "by itself"
	}
	return []tile{
		{"Nights", fmt.Sprint(len(w.Nights)), cmp.Or(strings.Join(found, ", "), "no proposal")},
		{"Waiting to be adopted", fmt.Sprint(len(w.Waits.Proposals)), wording.Plural(w.Waits.Review, "task", "tasks") + " to review"},
		{"Spent", count(w.Spent.Input+w.Spent.Output) + " tokens", weekMoney(w)},
		{"Next night", next, note},
	}
}

func weekWaits(w result.WeekWaits) []string {
	var out []string
	for _, p := range w.Proposals {
		out = append(out, fmt.Sprintf("night %s proposes a text for %s of %s: %s, %s", short(p.Night, idLength), short(p.Target, idLength), short(NameOf(p.Project), idLength), short(string(p.Outcome), idLength), short(p.Reason, reasonLength)))
	}
	if w.Review > 0 {
		text := wording.Plural(w.Review, "task", "tasks") + " to review"
		if w.Held > 0 {
			text += fmt.Sprintf(", of which %d are not used before somebody has looked", w.Held)
		}
		out = append(out, text)
	}
	for _, id := range w.Nights {
		out = append(out, "night "+short(id, idLength)+" is not over")
	}
	for _, i := range w.Intents {
		out = append(out, fmt.Sprintf("number %d (%s) has begun at %s and not ended", i.Number, short(i.Kind, idLength), minute(i.Began)))
	}
	if len(out) == 0 {
		out = append(out, "nothing")
	}
	return out
}

func weekAdoptionOf(a result.WeekAdoption) weekAdoption {
	out := weekAdoption{Number: fmt.Sprint(a.Number), When: minute(a.At), Document: short(a.Target, idLength), Project: short(NameOf(a.Project), idLength), Class: "open"}
	if a.Kind != "adopted" {
		out.What, out.Since, out.Class = fmt.Sprintf("number %d taken back", a.Of), absent, "none"
		return out
	}
	out.What = fmt.Sprintf("%s, of night %s: %s", short(a.Claim, idLength), short(a.Night, idLength), short(a.Reason, reasonLength))
	if a.Merged {
		out.What += " (merged with what had changed outside of the learned region)"
	}
	out.Rules, out.MoreRules = weekRules(a.Rules)
	out.Since = "nothing is known of it yet"
	if s := a.Since; s != nil {
		out.Since = short(s.Reason, reasonLength)
		if s.Better != nil && s.Worse != nil {
			out.Evidence = fmt.Sprintf("(evidence that it is better %.3g, that it is worse %.3g; %.3g shows either)", *s.Better, *s.Worse, s.Needs)
		}
		out.Class = cmp.Or(map[result.AdoptedVerdict]string{result.AdoptedBetter: "accepted", result.AdoptedWorse: "rejected", result.AdoptedOpen: "open"}[s.Verdict], "none")
	}
	if a.BackBy > 0 {
		out.Since, out.Class = fmt.Sprintf("taken back by number %d; before that: %s", a.BackBy, out.Since), "none"
	}
	return out
}

func weekRules(rules []result.WeekRule) (out []string, more int) {
	for i, r := range rules {
		if i == mostWeekRules {
			return out, len(rules) - i
		}
		text := strings.TrimPrefix(short(r.Text, reasonLength), "- ")
		if r.Tasks != nil {
			text += " (asked for by the failures of " + wording.Plural(*r.Tasks, "task", "tasks")
			if r.Won != nil {
				text += fmt.Sprintf(", of which it has won %d on fresh answers", *r.Won)
			}
			text += ")"
		}
		out = append(out, text)
	}
	return out, 0
}

func weekNightOf(n result.WeekNight) weekNight {
	out := weekNight{
		When: minute(n.Started), Name: short(n.Night, idLength), Project: short(NameOf(n.Project), idLength), Notes: shorts(n.Notes),
		From: fmt.Sprintf("%s, %s of tasks", wording.Plural(n.Sessions, "new session", "new sessions"), wording.Plural(n.NewTasks, "new cluster", "new clusters")),
	}
	if n.Exploratory {
		out.From += "; tasks that nobody has reviewed, so that nothing is certified"
	}
	if n.Skipped > 0 {
		out.From += "; " + wording.Plural(n.Skipped, "group of tasks", "groups of tasks") + " without a document"
	}
	if n.Ended == nil {
		out.State = ", not over"
	}
	for _, t := range n.Targets {
		d := weekDocument{
			Name: cmp.Or(short(t.Target, idLength), "the night"), Outcome: cmp.Or(strings.ReplaceAll(short(string(t.Outcome), idLength), "_", " "), "not begun"),
			Words: OutcomeWords(t.Outcome), Class: outcomeClass(t.Outcome), Why: short(t.Reason, reasonLength), Proposal: ProposedWords(t),
		}
		if first, _, _ := strings.Cut(d.Words, ","); strings.HasPrefix(d.Why, first) {
			d.Words = "" // the reason says it
		}
		if t.Proposal != result.ProposedAdopted && t.Proposal != result.ProposedTakenBack { // else they are with the adoption
			d.Rules, d.MoreRules = weekRules(t.Rules)
		}
		out.Documents = append(out.Documents, d)
	}
	return out
}

// OutcomeWords say what an outcome of a night means.
func OutcomeWords(o result.NightOutcome) string {
	words := map[result.NightOutcome]string{
		result.NightCertified: "better on tasks like these", result.NightSupported: "better on these tasks, on fresh answers",
		result.NightSuggested: "edits that nothing is known of, or that may be luck", result.NightRejected: "edits were tried, and none was better",
		result.NightNothingToLearn: "the document solves the tasks, or no usable edit was proposed", result.NightNoData: "no session had a new task",
		result.NightTooFewTasks: "fewer tasks than anything can be learned from", result.NightNotReplayable: "no task can be carried out again",
		result.NightJudgeUnusable: "the judge does not tell good answers from bad ones", result.NightModelUnhealthy: "a model gave nothing but failures",
		result.NightBudget: "a ceiling was reached", result.NightWaitingForReply: "questions wait for their answers",
		result.NightStopped: "it was stopped; the same command goes on", result.NightRefused: "the document, or what was to be written, cannot be used",
	}
	return cmp.Or(words[o], "nothing is known of it yet")
}

func outcomeClass(o result.NightOutcome) string {
	switch {
	case o == result.NightCertified, o == result.NightSupported:
		return "accepted"
	case o == result.NightSuggested:
		return "open"
	case o == result.NightNothingToLearn, o == result.NightNoData, o == "":
		return "none"
	}
	return "rejected"
}

// ProposedWords say what happened to what a night has proposed for a document; "": it proposed nothing.
func ProposedWords(t result.WeekTarget) string {
	switch t.Proposal {
	case result.ProposedWaits:
		return "waits to be adopted"
	case result.ProposedAdopted:
		return fmt.Sprintf("adopted as number %d", t.Number)
	case result.ProposedTakenBack:
		return fmt.Sprintf("adopted as number %d and taken back", t.Number)
	case result.ProposedOlder:
		return "not adopted, and a newer night proposes another text"
	case result.ProposedStale:
		return "not adopted, and refused by now: the document has changed"
	case result.ProposedGone:
		return "discarded"
	}
	return ""
}

func weekCosts(w *result.Week) []cost {
	var out []cost
	row := func(name string, s result.NightSpent, simulated, total bool) {
		usd := dollars(s.CostUSD)
		switch {
		case s.Calls == 0:
			usd = absent
		case s.CostUSD == nil && simulated:
			usd = "simulated"
		}
		out = append(out, cost{Role: name, Calls: count(s.Calls), In: count(s.Input), Cached: count(s.Cached), Out: count(s.Output), USD: usd, Total: total})
	}
	for i, n := range w.Nights {
		if i == mostWeekRows {
			break
		}
		row(short(n.Night, idLength), n.Spent, n.Simulated, false)
	}
	s := w.Spent
	row("all", result.NightSpent{Calls: s.Calls, Input: s.Input, Output: s.Output, Cached: s.Cached, CostUSD: s.CostUSD}, OnlySimulated(w), true)
	return out
}

// weekMoney says what was spent, as far as it is known.
func weekMoney(w *result.Week) string {
	s := w.Spent
	switch {
	case s.Calls == 0:
		return "no model was asked"
	case s.CostUSD != nil:
		return fmt.Sprintf("$%.4f", *s.CostUSD)
	case s.KnownUSD > 0:
		return fmt.Sprintf("$%.4f, and what %s cost, which is not known", s.KnownUSD, wording.Plural(s.Unknown, "night", "nights"))
	}
	if OnlySimulated(w) {
		return "no cost: simulated models"
	}
	return "cost not known: no price is known"
}

// OnlySimulated reports whether all nights whose cost is not known have simulated models.
func OnlySimulated(w *result.Week) bool {
	return !slices.ContainsFunc(w.Nights, func(n result.WeekNight) bool { return n.Spent.Calls > 0 && n.Spent.CostUSD == nil && !n.Simulated })
}
