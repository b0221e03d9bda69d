package night

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

const (
	// sessionsPerTask times sleep.tasks is how many sessions a night mines at most.
	sessionsPerTask = 3
	// minedAtOnce is how many sessions one run mines: what it found is in the bank before the next one begins.
	minedAtOnce = 40
)

// MostSessions returns how many of that many new sessions a night mines at most: the newest ones.
func MostSessions(c config.Sleep, sessions int) int { return min(sessions, sessionsPerTask*c.Tasks) }

// mine makes tasks of sessions that are new, and takes them into the bank: of the newest ones, as many as a night
// mines, and as long as its share of the ceilings lasts. The others wait for later nights. A share that does for
// not even the first run ends the night.
func (n *night) mine(ctx context.Context) error {
	most := MostSessions(n.Config.Sleep, len(n.sessions)) // the newest come first
	chosen, waiting := slices.Clone(n.sessions[:most]), len(n.sessions)-most
	why := "a night mines 3 times sleep.tasks"
	slices.Reverse(chosen) // those that arrive while a night is interrupted come behind the others
	for done := 0; done < len(chosen); done += minedAtOnce {
		err := n.mineSome(ctx, chosen[done:min(len(chosen), done+minedAtOnce)])
		if errorOutcome(err) == Budget && n.report.Mined.Noted > 0 {
			waiting += len(chosen) - done
			why = "mining has used its half of the ceiling, which the keys under limits raise"
			break
		}
		if err != nil {
			return err
		}
	}
	if waiting > 0 {
		n.report.Notes = append(n.report.Notes, fmt.Sprintf("%s for the next nights: %s", wording.Plural(waiting, "session waits", "sessions wait"), why))
	}
	return nil
}

// mineSome mines sessions in a run of their own. Those that were there when a night was interrupted are the same
// question again, and cost nothing.
func (n *night) mineSome(ctx context.Context, sessions []bank.Session) error {
	known, err := n.listTasks(ctx)
	if err != nil {
		return err
	}
	cfg := n.settings()
	marks, all := map[[2]string]string{}, ""
	for i := range sessions {
		s := &sessions[i]
		mark := bank.SessionMark(s, n.Miner.Way())
		marks[[2]string{s.Source, s.ID}] = mark
		all += mark
	}
	name := n.report.ID + "-mine-" + target.Digest(all)[:8]
	if cfg.Limits, err = n.rest(ctx, name, 0.5); err != nil { // what is mined is of no use without training
		return err
	}
	miner := n.Miner
	if asked, is := miner.(Asked); is {
		miner = asked.among(n.seen)
	}
	tasks, mined, err := miner.Mine(ctx, cfg, sessions, known, n.options(name)...)
	if mined != nil {
		n.report.Simulated = n.report.Simulated || mined.Simulated
		if run := n.relativePath(mined.RunDir); !slices.Contains(n.report.Mined.Runs, run) {
			n.report.Mined.Runs = append(n.report.Mined.Runs, run)
		}
	}
	if err != nil {
		return err
	}
	if mined != nil {
		n.report.Mined.Funnel = sumFunnel(n.report.Mined.Funnel, &mined.Funnel)
	}
	for i := range tasks {
		n.place(&tasks[i])
	}
	if err := n.fit(ctx, tasks); err != nil {
		return err
	}
	if n.Found != nil {
		if tasks, err = n.Found(tasks); err != nil {
			return err
		}
	}
	taken, err := n.Bank.Take(ctx, n.report.ID, tasks, n.Miner.Same, n.report.Started, time.Duration(n.Config.Sleep.HalfLife))
	if err != nil {
		return err
	}
	n.report.Mined.Taken = addTaken(n.report.Mined.Taken, taken)
	if err := n.Bank.NoteMined(ctx, n.report.ID, marks); err != nil {
		return err
	}
	n.report.Mined.Noted += len(sessions)
	return n.keep(ctx, false)
}

// addTaken returns what two parts of a night have taken.
func addTaken(a, b result.NightTaken) result.NightTaken {
	return result.NightTaken{New: a.New + b.New, Again: a.Again + b.Again, Held: a.Held + b.Held, Unfit: a.Unfit + b.Unfit, Test: a.Test + b.Test, Dropped: a.Dropped + b.Dropped}
}

// maxExamples is how many examples of a reason are kept.
const maxExamples = 3

// sumFunnel returns what happened to the sessions of two runs; a is nil before the first.
func sumFunnel(a, b *result.MineFunnel) *result.MineFunnel {
	if a == nil {
		return b
	}
	return &result.MineFunnel{
		Sessions: a.Sessions + b.Sessions, LeftOut: sumCounts(a.LeftOut, b.LeftOut), Candidates: a.Candidates + b.Candidates, Asked: a.Asked + b.Asked,
		Proposed: a.Proposed + b.Proposed, Fell: sumCounts(a.Fell, b.Fell), Merged: a.Merged + b.Merged, Held: a.Held + b.Held, Unfit: a.Unfit + b.Unfit, Kept: a.Kept + b.Kept,
	}
}

func sumCounts(a, b []result.MineCount) []result.MineCount {
	out := slices.Clone(a)
	for _, c := range b {
		i := slices.IndexFunc(out, func(o result.MineCount) bool { return o.Reason == c.Reason })
		if i < 0 {
			out = append(out, c)
			continue
		}
		out[i].N += c.N
		all := slices.Concat(out[i].Examples, c.Examples)
		out[i].Examples = all[:min(len(all), maxExamples)]
	}
	slices.SortStableFunc(out, func(x, y result.MineCount) int { return y.N - x.N })
	return out
}
