package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/correction"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// explained is the result of sleep show --why.
type explained struct {
	Cause   string         `json:"cause"`
	Night   string         `json:"night"` // "": there was none
	Project string         `json:"project"`
	Stages  []explainStage `json:"stages"`
	Help    string         `json:"help"`
}

// explainStage is one of the stages from a store to a verdict.
type explainStage struct {
	Stage    string   `json:"stage"`
	Says     string   `json:"says"`
	Examples []string `json:"examples"`
}

// maxExamples is how many examples a stage has.
const maxExamples = 3

func showWhy(ctx context.Context, a *app, at sleepFlags, id string) error {
	return at.withBank(ctx, a, sleepSetup.look, func(setup sleepSetup, b *bank.Bank) error {
		nights, err := b.Nights(ctx, "")
		if err != nil {
			return err
		}
		var r *night.Report
		if len(nights) > 0 || id != "" {
			if r, err = setup.findNight(ctx, b, id); err != nil {
				return err
			}
		}
		e, err := explain(ctx, b, r)
		if err != nil {
			return err
		}
		if a.json {
			return printJSON(a.Out, ask.Shareable(e))
		}
		out := a.stdoutPrinter()
		out.line(oneLine(e.Cause))
		for _, s := range e.Stages {
			out.line(fmt.Sprintf("%-9s %s", s.Stage, oneLine(s.Says)))
			for _, x := range s.Examples {
				out.line("            " + oneLine(x))
			}
		}
		out.line("next: " + oneLine(setup.command(e.Help)))
		return nil
	})
}

// explain walks from the stores to the verdict.
func explain(ctx context.Context, b *bank.Bank, r *night.Report) (explained, error) {
	var e explained
	store, troubled, err := storeStage(ctx, b)
	if err != nil {
		return e, err
	}
	e.Stages = append(e.Stages, store)
	if r == nil {
		return e, e.noNight(ctx, b, troubled)
	}
	e.Night, e.Project = r.ID, r.Project
	sessions, turns, kept, err := sessionStages(ctx, b, r)
	if err != nil {
		return e, err
	}
	checks, err := checkStage(ctx, b, r)
	if err != nil {
		return e, err
	}
	e.Stages = append(e.Stages, sessions, turns, taskStage(r), checks, baselineStage(r), editStage(r), verdictStage(r))
	e.Cause, e.Help = nightCause(r)
	if kept == 0 && len(r.Targets) == 0 {
		e.Cause, e.Help = "no_data: no session of the project is kept", "skillopt sleep doctor"
	}
	if troubled != "" && len(r.Targets) == 0 && r.Mined.Sessions == 0 {
		e.Cause, e.Help = e.Cause+": "+troubled, "skillopt sleep doctor"
	}
	return e, nil
}

// noNight says why there was none yet.
func (e *explained) noNight(ctx context.Context, b *bank.Bank, troubled string) error {
	e.Cause, e.Help = "no_data: there was no night yet", "skillopt sleep run"
	kept := false
	err := b.Sessions(ctx, bank.Filter{}, func(bank.Session) error {
		kept = true
		return bank.ErrEnough
	})
	if err != nil || kept {
		return err
	}
	e.Cause, e.Help = e.Cause+", and no session is kept", "skillopt sleep doctor"
	if troubled != "" {
		e.Cause += ": " + troubled
	}
	return nil
}

func (s *explainStage) example(format string, args ...any) {
	if len(s.Examples) < maxExamples {
		s.Examples = append(s.Examples, fmt.Sprintf(format, args...))
	}
}

// storeStage says what was read, and what could not be; troubled is the first trouble.
func storeStage(ctx context.Context, b *bank.Bank) (s explainStage, troubled string, err error) {
	s = explainStage{Stage: "store", Examples: []string{}}
	stores, err := b.Stores(ctx)
	if err != nil {
		return s, "", err
	}
	bad, left := 0, map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		st := stores[name]
		for why, n := range st.LeftOut {
			left[why] += n
		}
		text := st.Error
		if text == "" && len(st.Problems) > 0 {
			text = st.Problems[0].String()
		}
		if text == "" {
			continue
		}
		bad++
		s.example("%s: %s", st.Source, text)
		if troubled == "" {
			troubled = st.Source + ": " + text
		}
	}
	s.Says = fmt.Sprintf("%s known, %d with trouble", wording.Plural(len(stores), "store", "stores"), bad)
	if len(left) > 0 {
		s.Says += "; left out: " + leftOutText(left)
	}
	return s, troubled, nil
}

// sessionStages counts the sessions of the project, and the turns of them that were corrected.
func sessionStages(ctx context.Context, b *bank.Bank, r *night.Report) (sessions, turns explainStage, kept int, err error) {
	sessions = explainStage{Stage: "session", Examples: []string{}}
	turns = explainStage{Stage: "turn", Examples: []string{}}
	all, corrected, driven := 0, 0, 0
	project := harvest.NewProjects(r.Project)
	err = b.Sessions(ctx, bank.Filter{Project: project.Allow}, func(s bank.Session) error {
		kept++
		all += len(s.Turns)
		if s.Origin != transcript.Interactive {
			driven++
		}
		for _, m := range correction.Marks(s.Turns) {
			corrected++
			turns.example("%s session %s, turn %d: %s", s.Source, s.ID, m.Turn+1, shortenText(oneLine(m.Words), 80))
		}
		return nil
	})
	sessions.Says = fmt.Sprintf("%s of the project kept, %d new to this night", wording.Plural(kept, "session", "sessions"), r.Mined.Sessions)
	if driven > 0 {
		sessions.Says += fmt.Sprintf("; %d of the kept were driven by a program: no task is made of them", driven)
	}
	turns.Says = fmt.Sprintf("%s kept, %d corrected", wording.Plural(all, "turn", "turns"), corrected)
	if f := r.Mined.Funnel; f != nil {
		for _, c := range f.LeftOut {
			text := fmt.Sprintf("%d that %s", c.N, c.Reason)
			if len(c.Examples) > 0 {
				text += ": " + exampleText(c.Examples[0])
			}
			sessions.example("%s", text)
		}
	}
	return sessions, turns, kept, err
}

func taskStage(r *night.Report) explainStage {
	s := explainStage{Stage: "task", Says: "nothing was mined", Examples: []string{}}
	f := r.Mined.Funnel
	if r.Tasks != "" {
		s.Says = wording.Plural(r.Mined.Taken.New+r.Mined.Taken.Again, "task", "tasks") + " of a file"
	}
	if f == nil {
		return s
	}
	fell := 0
	for _, c := range f.Fell {
		fell += c.N
		text := fmt.Sprintf("%d fell that %s", c.N, c.Reason)
		if len(c.Examples) > 0 {
			text += ": " + exampleText(c.Examples[0])
		}
		s.example("%s", text)
	}
	s.Says = fmt.Sprintf("%d asked about, %d proposed, %d fell, %d kept (%d held, %d not replayable), %s new", f.Asked, f.Proposed, fell, f.Kept, f.Held, f.Unfit, wording.Plural(r.Mined.Taken.New, "independent task", "independent tasks"))
	return s
}

// checkStage says according to what the tasks of the project are judged, and which wait.
func checkStage(ctx context.Context, b *bank.Bank, r *night.Report) (explainStage, error) {
	s := explainStage{Stage: "check", Examples: []string{}}
	groups, err := b.Groups(ctx)
	if err != nil {
		return s, err
	}
	by, waiting, n := map[string]int{}, 0, 0
	in := placesSaid{}
	for _, g := range groups {
		if g.Project != r.Project {
			continue
		}
		clusters, err := b.Clusters(ctx, g.Project, g.Skill)
		if err != nil {
			return s, err
		}
		for _, c := range clusters {
			n++
			t := &c.Tasks[0]
			by[string(t.Trust)]++
			in.count(t)
			if t.Usable() {
				continue
			}
			waiting++
			switch {
			case t.Unfit != "":
				s.example("task %s is not replayable: %s", t.Task.Task.ID, t.Unfit)
			case t.Reviewed == bank.Rejected:
				s.example("task %s was rejected", t.Task.Task.ID)
			default:
				s.example("task %s is held: %s", t.Task.Task.ID, t.Held)
			}
		}
	}
	s.Says = wording.Plural(n, "independent task", "independent tasks")
	for _, trust := range slices.Sorted(maps.Keys(by)) {
		s.Says += fmt.Sprintf(", %d by %s", by[trust], trust)
	}
	s.Says += in.text() + fmt.Sprintf("; %d cannot be used", waiting)
	return s, nil
}

// placesSaid counts where tasks are carried out.
type placesSaid struct{ commit, empty int }

func (p *placesSaid) count(t *bank.Task) {
	switch {
	case t.Unfit != "":
	case night.InFiles(&t.Task):
		p.commit++
	case night.ByAgent(&t.Task):
		p.empty++
	}
}

func (p placesSaid) text() string {
	if p.commit+p.empty == 0 {
		return ""
	}
	return fmt.Sprintf("; carried out in the files of a commit: %d, in an empty folder: %d", p.commit, p.empty)
}

func baselineStage(r *night.Report) explainStage {
	s := explainStage{Stage: "baseline", Examples: []string{}}
	n := 0
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Baseline != nil {
			n++
			s.example("%s: %s", t.Target, solvedText(t.Baseline))
		}
	}
	s.Says = fmt.Sprintf("%d of %s measured", n, wording.Plural(len(r.Targets), "document", "documents"))
	return s
}

func editStage(r *night.Report) explainStage {
	s := explainStage{Stage: "edit", Examples: []string{}}
	applied, rejected, held, removed := 0, 0, 0, 0
	for i := range r.Targets {
		t := &r.Targets[i]
		applied, rejected, held = applied+len(t.Consolidation.AppliedEdits), rejected+len(t.Consolidation.RejectedEdits), held+len(t.Held)
		removed += len(t.Remove)
		for k, line := range t.Remove {
			if k < len(t.RemoveWhy) {
				s.example("%s: proposed for removal: %s (%s)", t.Target, shortenText(oneLine(line), 80), t.RemoveWhy[k])
			}
		}
		for _, h := range t.Held {
			s.example("%s: held: %s: %s", t.Target, h.Reason, shortenText(oneLine(h.Text), 80))
		}
		for _, edit := range append(slices.Clone(t.Consolidation.AppliedEdits), t.Consolidation.RejectedEdits...) {
			text := fmt.Sprintf("%s: step %d, %s: %s", t.Target, edit.Step, edit.Action, shortenText(oneLine(edit.Content), 80))
			if edit.Difference != nil {
				text += fmt.Sprintf(" (%+.3f)", *edit.Difference)
			}
			s.example("%s", text)
		}
	}
	s.Says = fmt.Sprintf("%d applied, %d rejected, %d held for a person", applied, rejected, held)
	if removed > 0 {
		s.Says += fmt.Sprintf(", %s proposed for removal", wording.Plural(removed, "rule", "rules"))
	}
	return s
}

func verdictStage(r *night.Report) explainStage {
	s := explainStage{Stage: "verdict", Says: "no document was worked on", Examples: []string{}}
	counts := map[string]int{}
	for i := range r.Targets {
		t := &r.Targets[i]
		counts[string(t.Outcome)]++
		s.example("%s: %s: %s", t.Target, t.Outcome, t.Reason)
	}
	for i, o := range slices.Sorted(maps.Keys(counts)) {
		if i == 0 {
			s.Says = ""
		} else {
			s.Says += ", "
		}
		s.Says += fmt.Sprintf("%d %s", counts[o], o)
	}
	if b := r.Joint; b != nil {
		s.Says += fmt.Sprintf("; all of it: %s: %s", b.Verdict, b.Reason)
	}
	return s
}

// nightCause returns why a night has its result, in one line, and what helps.
func nightCause(r *night.Report) (cause, help string) {
	if len(r.Targets) > 0 {
		t := findMainTarget(r.Targets)
		cause, help = fmt.Sprintf("%s: %s", t.Outcome, t.Reason), t.Help
		if t.Outcome == "" {
			cause = "the night is not over: " + t.Target + " was not worked on yet"
		}
		if t.Target != "" {
			cause = fmt.Sprintf("%s: %s: %s", t.Outcome, t.Target, t.Reason)
		}
		if help == "" {
			help = outcomeHelp(r, t)
		}
		return cause, help
	}
	if len(r.Skipped) > 0 {
		return fmt.Sprintf("refused: %s: %s", wording.Plural(r.Skipped[0].Groups, "independent task", "independent tasks"), r.Skipped[0].Reason), "skillopt sleep run"
	}
	return dryCause(r)
}

// findMainTarget returns the target that says most: one that ended the night, else the one that came furthest.
func findMainTarget(list []night.Target) *night.Target {
	rank := []night.Outcome{
		night.ModelUnhealthy, night.Budget, night.WaitingForReply, night.Stopped, night.Certified, night.Supported, night.Suggested, night.Refused,
		night.JudgeUnusable, night.Rejected, night.NothingToLearn, night.NotReplayable, night.TooFewTasks, night.NoData,
	}
	best := &list[0]
	place := func(t *night.Target) int {
		if i := slices.Index(rank, t.Outcome); i >= 0 {
			return i
		}
		return len(rank)
	}
	for i := range list {
		if place(&list[i]) < place(best) {
			best = &list[i]
		}
	}
	return best
}

func outcomeHelp(r *night.Report, t *night.Target) string {
	switch t.Outcome {
	case night.Certified, night.Supported, night.Suggested:
		return "skillopt sleep show " + r.ID
	case night.NoData:
		return "skillopt sleep sessions --corrected"
	case night.TooFewTasks:
		return "skillopt sleep run --explore"
	case night.NotReplayable, night.Refused, night.JudgeUnusable:
		return "skillopt sleep review"
	case night.Rejected, night.NothingToLearn:
		return "skillopt sleep run"
	case night.ModelUnhealthy:
		return "skillopt sleep doctor"
	}
	return "skillopt sleep run"
}

// dryCause says where a night ran dry that had no tasks.
func dryCause(r *night.Report) (cause, help string) {
	const corrected = "skillopt sleep sessions --corrected"
	f := r.Mined.Funnel
	switch {
	case r.Mined.Sessions == 0:
		return "no_data: no session of the project is new since it was mined last", "skillopt sleep sessions"
	case f == nil:
		return fmt.Sprintf("no_data: %s and none was mined", wording.Plural(r.Mined.Sessions, "session is new", "sessions are new")), "skillopt sleep run"
	case f.Candidates == 0:
		return fmt.Sprintf("no_data: of %s none shows an outcome%s", wording.Plural(f.Sessions, "session", "sessions"), topReason("sessions that", f.LeftOut)), corrected
	case f.Proposed == 0:
		return fmt.Sprintf("no_data: the optimizer proposed no task of %s%s", wording.Plural(f.Candidates, "session", "sessions"), topReason("sessions that", f.LeftOut)), corrected
	case f.Kept == 0:
		return fmt.Sprintf("no_data: of %s none can be used%s", wording.Plural(f.Proposed, "task that was proposed", "tasks that were proposed"), topReason("tasks that", f.Fell)), corrected
	}
	return "no_data: no document was worked on", "skillopt sleep run"
}

func topReason(what string, counts []result.MineCount) string {
	if len(counts) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d are %s %s", counts[0].N, what, counts[0].Reason)
}
