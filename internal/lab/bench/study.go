package bench

import (
	"fmt"
	"strconv"

	"github.com/seed-f4525e22/skillopt/result"
)

// column is a column, and which figure of a row stands in it.
type column[R any] struct {
	name, about string
	unit        result.StudyUnit
	of          func(R) *result.StudyFigure
}

// table is a table without rows.
func table[R any](title, about string, names []string, columns []column[R]) result.StudyTable {
	t := result.StudyTable{Title: title, About: about, Names: names, Rows: []result.StudyRow{}}
	for _, c := range columns {
		t.Columns = append(t.Columns, result.StudyColumn{Name: c.name, About: c.about, Unit: c.unit})
	}
	return t
}

// add adds a row.
func add[R any](t *result.StudyTable, columns []column[R], r R, names ...string) {
	row := result.StudyRow{Names: names}
	for _, c := range columns {
		row.Figures = append(row.Figures, c.of(r))
	}
	t.Rows = append(t.Rows, row)
}

// figure is nil where nothing was measured.
func (f Figure) figure() *result.StudyFigure {
	if f.N == 0 {
		return nil
	}
	return &result.StudyFigure{Mean: f.Mean, SE: &f.SE}
}

func (e Estimate) figure() *result.StudyFigure {
	return &result.StudyFigure{Mean: e.Mean, Low: e.Low, High: e.High}
}

func (r Ratio) figure() *result.StudyFigure {
	if r.Of == 0 {
		return nil
	}
	return &result.StudyFigure{Mean: r.mean(), SE: &r.SE, Of: r.Of}
}

func claimsOf(list []Claim) []result.StudyFinding {
	out := []result.StudyFinding{}
	for _, c := range list {
		out = append(out, result.StudyFinding(c))
	}
	return out
}

func loopColumns() []column[LoopRow] {
	return []column[LoopRow]{
		{"gain", "expected score on the test tasks, shipped skill minus seed skill", result.UnitChange, func(r LoopRow) *result.StudyFigure { return r.Gain.figure() }},
		{"ahead", "gain minus that of the defaults in the same world", result.UnitChange, func(r LoopRow) *result.StudyFigure { return r.Ahead.figure() }},
		{"calls", "that a run made, of target and optimizer", result.UnitCount, func(r LoopRow) *result.StudyFigure { return r.Calls.figure() }},
		{"worse", "share of runs whose gain is negative", result.UnitShare, func(r LoopRow) *result.StudyFigure { return r.Worse.figure() }},
		{"too high", "reported score minus the expected one on the selection tasks", result.UnitPoints, func(r LoopRow) *result.StudyFigure { return r.Excess.figure() }},
		{"lost", "share of runs that passed the ceiling with what they held for the best", result.UnitShare, func(r LoopRow) *result.StudyFigure { return r.Lost.figure() }},
	}
}

// Study is the report as the tables that are kept in a run.
func (r LoopReport) Document() result.Study {
	columns := loopColumns()
	all := table("All cells together", "Each cell counts once.", []string{"way"}, columns)
	for _, row := range r.Pooled {
		add(&all, columns, row, row.Way)
	}
	each := table("Every cell", "A kind of world, a number of selection tasks and a ceiling of calls.", []string{"world", "selection tasks", "ceiling", "way"}, columns)
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			add(&each, columns, row, c.World, strconv.Itoa(c.Selection), strconv.Itoa(c.Calls), row.Way)
		}
	}
	return result.Study{
		Simulated: true, Name: "loop", Tables: []result.StudyTable{all, each}, Findings: claimsOf(r.Findings), Words: wordsOf(r.Kinds),
		About: fmt.Sprintf("The whole training loop in simulated worlds: %d in each of %d cells, seed %d. Calls of target and optimizer count.", r.Study.Worlds, len(r.Cells), r.Study.Seed),
	}
}

func wordsOf(kinds []LoopKind) []result.StudyWord {
	out := []result.StudyWord{}
	for _, k := range kinds {
		out = append(out, result.StudyWord{Name: k.Name, What: k.What})
	}
	return out
}

func fewTableColumns() []column[FewRow] {
	return []column[FewRow]{
		{"gain", "expected score on the test tasks, shipped skill minus seed skill", result.UnitChange, func(r FewRow) *result.StudyFigure { return r.Gain.figure() }},
		{"ahead", "gain minus that of the fixed split in the same world", result.UnitChange, func(r FewRow) *result.StudyFigure { return r.Ahead.figure() }},
		{"calls", "that a run made, of target and optimizer", result.UnitCount, func(r FewRow) *result.StudyFigure { return r.Calls.figure() }},
		{"worse", "share of runs whose gain is negative", result.UnitShare, func(r FewRow) *result.StudyFigure { return r.Worse.figure() }},
		{"false", "share of accepted candidates that are worse on the test tasks than what they replaced", result.UnitShare, func(r FewRow) *result.StudyFigure { return r.False.figure() }},
		{"too high, same tasks", "reported score minus the expected one on the same tasks", result.UnitPoints, func(r FewRow) *result.StudyFigure { return r.Same.figure() }},
		{"too high, unseen tasks", "reported score minus the expected one on the test tasks", result.UnitPoints, func(r FewRow) *result.StudyFigure { return r.Unseen.figure() }},
		{"lost", "share of runs that passed the ceiling with what they held for the best", result.UnitShare, func(r FewRow) *result.StudyFigure { return r.Lost.figure() }},
	}
}

// Study is the report as the tables that are kept in a run.
func (r FewReport) Document() result.Study {
	columns := fewTableColumns()
	all := table("All cells together", "Each cell counts once.", []string{"way"}, columns)
	for _, row := range pooledFew(r.Cells) {
		add(&all, columns, row, row.Way)
	}
	each := table("Every cell", "A kind of world, a number of tasks and a ceiling of calls.", []string{"world", "tasks", "ceiling", "way"}, columns)
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			add(&each, columns, row, c.World, strconv.Itoa(c.Tasks), strconv.Itoa(c.Calls), row.Way)
		}
	}
	return result.Study{
		Simulated: true, Name: "few", Tables: []result.StudyTable{all, each}, Findings: []result.StudyFinding{}, Words: wordsOf(r.Kinds),
		About: fmt.Sprintf("The whole training loop in simulated worlds with few tasks: %d in each of %d cells, seed %d.", r.Study.Worlds, len(r.Cells), r.Study.Seed),
	}
}

func pruneColumns() []column[PruneRow] {
	return []column[PruneRow]{
		{"useful", "share of useful rules that were removed", result.UnitShare, func(r PruneRow) *result.StudyFigure { return r.Useful.figure() }},
		{"rare", "share of rules that one or two tasks need that were removed", result.UnitShare, func(r PruneRow) *result.StudyFigure { return r.Rare.figure() }},
		{"useless", "share of useless rules that were removed", result.UnitShare, func(r PruneRow) *result.StudyFigure { return r.Useless.figure() }},
		{"harmful", "share of harmful rules that were removed", result.UnitShare, func(r PruneRow) *result.StudyFigure { return r.Harmful.figure() }},
		{"evaluations", "of a task by a text, without the certificate", result.UnitCount, func(r PruneRow) *result.StudyFigure { return r.Evaluations.figure() }},
		{"of one by one", "evaluations as a share of those of the first method in the same world", result.UnitRatio, func(r PruneRow) *result.StudyFigure { return r.Share.figure() }},
		{"certified", "share of results; that nothing was removed needs no certificate", result.UnitShare, func(r PruneRow) *result.StudyFigure { return r.Certified.figure() }},
		{"loss", "expected score on the test tasks, whole skill minus pruned one", result.UnitChange, func(r PruneRow) *result.StudyFigure { return r.Loss.figure() }},
	}
}

// Study is the report as the tables that are kept in a run.
func (r PruneReport) Document() result.Study {
	columns := pruneColumns()
	all := table("All cells together", "", []string{"method"}, columns)
	for _, row := range r.Pooled {
		add(&all, columns, row, row.Method)
	}
	each := table("Every cell", "A kind of world and a share of answers that forget the skill.", []string{"world", "flips", "method"}, columns)
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			add(&each, columns, row, c.World, strconv.FormatFloat(c.Flip, 'g', -1, 64), row.Method)
		}
	}
	words := []result.StudyWord{}
	for _, k := range r.Kinds {
		words = append(words, result.StudyWord{Name: k.Name, What: k.What})
	}
	for _, m := range r.Methods {
		words = append(words, result.StudyWord{Name: m.Name, What: m.What})
	}
	return result.Study{
		Simulated: true, Name: "prune", Tables: []result.StudyTable{all, each}, Findings: claimsOf(r.Findings), Words: words,
		About: fmt.Sprintf("Rules are removed from skills of which it is known which rules their tasks need: %d simulated worlds in each of %d cells, seed %d.", r.Study.Worlds, len(r.Cells), r.Study.Seed),
	}
}

func standingColumns(first string) []column[Row] {
	return []column[Row]{
		{"test score", "share of test tasks solved", result.UnitScore, func(r Row) *result.StudyFigure { return r.Score.figure() }},
		{"difference", "to " + first + " in the same worlds", result.UnitPoints, func(r Row) *result.StudyFigure {
			if r.Difference == nil {
				return nil
			}
			return r.Difference.figure()
		}},
		{"better", "worlds in which it beats " + first, result.UnitCount, func(r Row) *result.StudyFigure { return counted(r, r.Better) }},
		{"worse", "worlds in which " + first + " beats it", result.UnitCount, func(r Row) *result.StudyFigure { return counted(r, r.Worse) }},
		{"calls", "model calls used, mean", result.UnitCount, func(r Row) *result.StudyFigure { return &result.StudyFigure{Mean: r.Calls} }},
	}
}

// counted is a count of worlds, which the first row has none of.
func counted(r Row, n int) *result.StudyFigure {
	if r.Difference == nil {
		return nil
	}
	return &result.StudyFigure{Mean: float64(n)}
}

// standings is the table of a competition.
func (r Result) standings(title, about, name string) result.StudyTable {
	first := ""
	if len(r.Rows) > 0 {
		first = "\"" + r.Rows[0].Name + "\""
	}
	columns := standingColumns(first)
	t := table(title, about, []string{name}, columns)
	for _, row := range r.Rows {
		add(&t, columns, row, row.Name)
	}
	return t
}

// Study is the result as the table that is kept in a run.
func (r Result) Document() result.Study {
	s := result.Study{
		Simulated: true, Name: "baselines", Findings: []result.StudyFinding{}, Words: []result.StudyWord{},
		Tables: []result.StudyTable{r.standings("Test score under one budget", "", "how the skill was made")},
		About:  fmt.Sprintf("Ways to get a skill compete in %d simulated worlds, seed %d, with at most %d model calls each; 95 %% intervals over the worlds.", r.Setup.Worlds, r.Setup.Seed, r.Setup.Calls),
	}
	for _, row := range r.Rows {
		s.Words = append(s.Words, result.StudyWord{Name: row.Name, What: row.What})
	}
	return s
}

// Study is the report as the tables that are kept in a run.
func (r Report) Document() result.Study {
	s := result.Study{
		Simulated: true, Name: "curriculum", Findings: []result.StudyFinding{}, Words: []result.StudyWord{},
		About: fmt.Sprintf("Training with each strategy under equal budgets of calls: %d simulated worlds of each kind, seed %d; 95 %% intervals over the worlds.", r.Study.Worlds, r.Study.Seed),
	}
	for _, f := range r.Findings {
		s.Tables = append(s.Tables, f.Result.standings("Worlds: "+f.World, f.What, "curriculum"))
	}
	if len(r.Findings) > 0 {
		for _, row := range r.Findings[0].Result.Rows {
			s.Words = append(s.Words, result.StudyWord{Name: row.Name, What: row.What})
		}
	}
	return s
}
