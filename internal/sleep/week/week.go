// Package week gathers the results of nights of some days, what waits for the user, what was adopted and how it fares since, and
// what all that has cost: one document, which the status and the report show. It reads, and writes nothing.
//
// It knows the bank, what nights have staged and what was adopted. It knows nothing of terminals, pages or models.
package week

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/result"
)

// Inputs are what a week is gathered from.
type Inputs struct {
	Bank  *bank.Bank
	Store *adopt.Store // nil: nothing was adopted yet
	Dir   string       // sleep.dir
	Now   time.Time
	Days  int
	// Project chooses projects; nil: all of them.
	Project   func(string) bool
	Scheduled *time.Time // when the next night comes by itself; nil: not known
}

// gathering is a week at work.
type gathering struct {
	Inputs

	out     *result.Week
	history []adopt.Record
	nights  []result.Night // of all time, the newest first
	newest  map[[2]string]string
}

// Of gathers a week. Documents that cannot be read are reported as problems; the rest is there.
func Of(ctx context.Context, in Inputs) (*result.Week, error) {
	g := &gathering{Inputs: in, newest: map[[2]string]string{}}
	to := in.Now.UTC()
	g.out = &result.Week{
		Format: result.WeekFormat, From: to.AddDate(0, 0, -in.Days), To: to, Days: in.Days, Nights: []result.WeekNight{}, Adoptions: []result.WeekAdoption{}, Scheduled: in.Scheduled,
		Waits: result.WeekWaits{Proposals: []result.WeekProposal{}, Intents: []result.WeekIntent{}, Nights: []string{}}, Next: []result.WeekStep{}, Problems: []string{},
	}
	if g.Project == nil {
		g.Project = func(string) bool { return true }
	}
	if err := g.read(ctx); err != nil {
		return nil, err
	}
	for i := range g.nights {
		g.night(ctx, &g.nights[i])
	}
	g.adoptions()
	if err := g.review(ctx); err != nil {
		return nil, err
	}
	g.sumSpending()
	g.next()
	return g.out, nil
}

func (g *gathering) problem(err error) {
	if err != nil {
		g.out.Problems = append(g.out.Problems, err.Error())
	}
}

// read reads nights and the history of what was adopted.
func (g *gathering) read(ctx context.Context) error {
	rows, err := g.Bank.Nights(ctx, "")
	if err != nil {
		return err
	}
	for _, row := range rows {
		if !g.Project(row.Project) {
			continue
		}
		r, err := night.ReadNight(ctx, g.Dir, row)
		g.problem(err)
		if r == nil {
			continue
		}
		r.ID, r.Project, r.Started, r.Ended = row.ID, row.Project, row.Started, row.Ended
		g.nights = append(g.nights, *r)
	}
	slices.SortStableFunc(g.nights, func(a, b result.Night) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	if g.Store == nil {
		return nil
	}
	all, err := g.Store.History()
	g.problem(err)
	for _, r := range all {
		if g.Project(r.Project) {
			g.history = append(g.history, r)
		}
	}
	pending, err := g.Store.ListPending()
	g.problem(err)
	for _, r := range pending {
		if g.Project(r.Project) {
			g.out.Waits.Intents = append(g.out.Waits.Intents, result.WeekIntent{Number: r.N, Project: r.Project, Kind: string(r.Kind), Began: r.Began})
		}
	}
	return nil
}

// covers reports whether a time lies in the days of the week.
func (g *gathering) covers(t time.Time) bool { return !t.Before(g.out.From) && !t.After(g.out.To) }

// night adds a night, and what of it waits, however old it is.
func (g *gathering) night(ctx context.Context, r *result.Night) {
	if r.Ended.IsZero() {
		g.out.Waits.Nights = append(g.out.Waits.Nights, r.ID)
	}
	if !g.covers(r.Started) && !g.mayWait(r) {
		return
	}
	p, err := night.Open(g.Dir, r.Project, r.ID)
	if err == nil {
		err = p.Verify(g.Dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		g.problem(err)
	}
	if err != nil {
		p = nil
	}
	shown := result.WeekNight{
		Night: r.ID, Project: r.Project, Started: r.Started, Simulated: r.Simulated, Exploratory: r.Exploratory, Sessions: r.Mined.Sessions, NewTasks: r.Mined.Taken.New,
		Targets: []result.WeekTarget{}, Skipped: len(r.Skipped), Notes: append([]string{}, r.Notes...), Spent: r.Spent,
	}
	if !r.Ended.IsZero() {
		shown.Ended = &r.Ended
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		row := result.WeekTarget{Target: t.Target, Outcome: t.Outcome, Reason: t.Reason, Rules: []result.WeekRule{}}
		for _, rule := range t.Rules {
			row.Rules = append(row.Rules, newRule(rule, t.Confirmed != nil))
		}
		row.Proposal, row.Number = g.proposalState(ctx, r, t, p)
		if row.Proposal == result.ProposedWaits {
			g.out.Waits.Proposals = append(g.out.Waits.Proposals, newProposal(r, t, p))
		}
		shown.Targets = append(shown.Targets, row)
	}
	if g.covers(r.Started) {
		g.out.Nights = append(g.out.Nights, shown)
		g.out.Simulated = g.out.Simulated || r.Simulated
	}
}

// mayWait reports whether a night has staged a text for a document of which no newer one is known.
func (g *gathering) mayWait(r *result.Night) bool {
	return slices.ContainsFunc(r.Targets, func(t result.NightTarget) bool {
		return t.Proposal != "" && g.newest[[2]string{r.Project, t.Target}] == ""
	})
}

// newProposal returns a proposal as its manifest describes it: what is staged may say less than the night's first word.
func newProposal(r *result.Night, t *result.NightTarget, p *night.Proposal) result.WeekProposal {
	out := result.WeekProposal{Night: r.ID, Project: r.Project, Target: t.Target, Outcome: t.Outcome, Reason: t.Reason, Rules: len(t.Rules)}
	if i := slices.IndexFunc(p.Items, func(it night.Item) bool { return it.Target == t.Target }); i >= 0 {
		out.Outcome, out.Reason, out.Rules = p.Items[i].Outcome, p.Items[i].Reason, len(p.Items[i].Rules)
	}
	return out
}

// proposalState returns what happened to what a night has staged for a document. Nights come the newest first.
func (g *gathering) proposalState(ctx context.Context, r *result.Night, t *result.NightTarget, p *night.Proposal) (result.WeekProposed, int) {
	if t.Proposal == "" {
		return result.ProposedNothing, 0
	}
	key := [2]string{r.Project, t.Target}
	newer := g.newest[key]
	if newer == "" && p != nil {
		g.newest[key] = r.ID
	}
	back := 0
	for _, h := range slices.Backward(g.history) {
		if h.Kind != adopt.Adopted || h.Project != r.Project || h.Night != r.ID || !slices.ContainsFunc(h.Files, func(c adopt.Changed) bool { return c.Target == t.Target }) {
			continue
		}
		if g.takenBack(h.N) == 0 {
			return result.ProposedAdopted, h.N
		}
		back = cmp.Or(back, h.N)
	}
	switch {
	case back > 0:
		return result.ProposedTakenBack, back
	case p == nil:
		return result.ProposedGone, 0
	case newer != "":
		return result.ProposedOlder, 0
	case !g.adoptable(ctx, r, t, p):
		return result.ProposedStale, 0
	}
	return result.ProposedWaits, 0
}

// adoptable reports whether a text could be written as the document is now.
func (g *gathering) adoptable(ctx context.Context, r *result.Night, t *result.NightTarget, p *night.Proposal) bool {
	i := slices.IndexFunc(p.Items, func(it night.Item) bool { return it.Target == t.Target })
	if i < 0 || g.Store == nil {
		return i >= 0
	}
	base, err := p.Live(t.Target)
	if err != nil {
		return false
	}
	text, err := p.Text(t.Target)
	if err != nil {
		return false
	}
	item := adopt.Item{Target: t.Target, Base: base, New: p.Items[i].LiveSHA == "", Proposed: text, Whole: p.Items[i].Whole}
	_, err = g.Store.Plan(ctx, adopt.Request{Project: r.Project, Night: r.ID, Items: []adopt.Item{item}})
	return err == nil
}

// takenBack returns the number of the rollback of an adoption, 0 if it was not taken back.
func (g *gathering) takenBack(n int) int {
	for _, h := range g.history {
		if h.Kind == adopt.RolledBack && h.Of == n {
			return h.N
		}
	}
	return 0
}

// adoptions adds what was adopted and taken back, with the evidence since.
func (g *gathering) adoptions() {
	for _, r := range slices.Backward(g.history) {
		back := g.takenBack(r.N)
		if !g.covers(r.Ended) && (r.Kind != adopt.Adopted || back > 0) {
			continue
		}
		row := result.WeekAdoption{Number: r.N, Kind: string(r.Kind), Of: r.Of, BackBy: back, Project: r.Project, Night: r.Night, At: r.Ended, Rules: []result.WeekRule{}}
		if len(r.Files) == 0 {
			g.out.Adoptions = append(g.out.Adoptions, row)
		}
		for _, c := range r.Files {
			row := row
			row.Target, row.Claim, row.Reason, row.Merged, row.Rules = c.Target, c.Claim, c.Reason, c.Merged, []result.WeekRule{}
			for _, rule := range c.Rules {
				row.Rules = append(row.Rules, broughtBy(rule, c.Claim))
			}
			if r.Kind == adopt.Adopted {
				row.Since, row.SeenIn = g.findAdoption(r.Project, r.N, c.Target)
			}
			g.out.Adoptions = append(g.out.Adoptions, row)
		}
	}
}

// newRule returns a rule with what the night noted of it. If nothing was confirmed, nothing is known of what it has won.
func newRule(r result.NightRule, confirmed bool) result.WeekRule {
	out := result.WeekRule{Text: r.Text}
	if n := len(r.Tasks); n > 0 {
		out.Tasks = &n
	}
	if n := len(r.Won); n > 0 || confirmed && out.Tasks != nil {
		out.Won = &n
	}
	return out
}

// broughtBy returns a rule as a receipt has it. Nothing was noted of a rule that the user cut out of a proposal.
func broughtBy(r adopt.Rule, claim string) result.WeekRule {
	var grounds result.NightRule
	if json.Unmarshal(r.Grounds, &grounds) != nil {
		grounds = result.NightRule{}
	}
	grounds.Text = r.Text
	return newRule(grounds, claim == string(result.NightSupported) || claim == string(result.NightCertified))
}

// findAdoption returns what the newest night that looked says of an adoption.
func (g *gathering) findAdoption(project string, n int, target string) (*result.NightAdopted, string) {
	for i := range g.nights {
		r := &g.nights[i]
		for k := range r.Adopted {
			if a := &r.Adopted[k]; r.Project == project && a.Number == n && a.Target == target {
				return a, r.ID
			}
		}
	}
	return nil, ""
}

// review counts the tasks that no one has reviewed.
func (g *gathering) review(ctx context.Context) error {
	groups, err := g.Bank.Groups(ctx)
	if err != nil {
		return err
	}
	for _, group := range groups {
		if !g.Project(group.Project) {
			continue
		}
		clusters, err := g.Bank.Clusters(ctx, group.Project, group.Skill)
		if err != nil {
			return err
		}
		for _, c := range clusters {
			for i := range c.Tasks {
				t := &c.Tasks[i]
				if t.Reviewed != bank.Unreviewed || t.Unfit != "" {
					continue
				}
				g.out.Waits.Review++
				if !t.Usable() {
					g.out.Waits.Held++
				}
			}
		}
	}
	return nil
}

// sumSpending adds up what the nights of these days have used.
func (g *gathering) sumSpending() {
	s := &g.out.Spent
	for _, n := range g.out.Nights {
		s.Calls += n.Spent.Calls
		s.Input, s.Output, s.Cached = s.Input+n.Spent.Input, s.Output+n.Spent.Output, s.Cached+n.Spent.Cached
		switch {
		case n.Spent.CostUSD != nil:
			s.KnownUSD += *n.Spent.CostUSD
		case n.Spent.Calls > 0:
			s.Unknown++
		}
	}
	if s.Unknown == 0 {
		known := s.KnownUSD
		s.CostUSD = &known
	}
}
