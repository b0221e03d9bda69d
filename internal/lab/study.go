package lab

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-f4525e22/skillopt/result"
)

// Study is the report as the tables that are kept in a run.
func (r Report) Document() result.Study {
	s := result.Study{
		Simulated: true, Name: "gates",
		About: fmt.Sprintf("The real gates are fed edits that are made up: %d runs a row, seed %d. Under an equal budget a run ends when it has spent %d passes over the selection items.", r.Runs, r.Seed, r.Budget),
		Tables: []result.StudyTable{
			gateTable("Equal budget", "A run ends by its selection rollouts.", r.EqualBudget),
			gateTable("Equal budget, batches counted", "A run ends by its selection rollouts; each step costs as much again for its batch.", r.EqualTotal),
			gateTable("Equal steps", fmt.Sprintf("All rules for %d steps, whatever they cost.", r.Steps), r.EqualSteps),
			nothingTable(r.Nothing),
		},
		Findings: studyFindings(r.Findings),
	}
	if len(r.Guidance) > 0 {
		s.Tables = append(s.Tables, guidanceTable(r.Guidance))
	}
	for _, w := range r.Worlds {
		s.Words = append(s.Words, result.StudyWord{Name: w.Name, What: fmt.Sprintf("%.0f %% of edits help by %g, %.0f %% harm by %g, the rest does nothing; %g deviation between items", 100*w.Good, w.GoodShift, 100*w.Bad, w.BadShift, w.Spread)})
	}
	return s
}

func studyFindings(list []Finding) []result.StudyFinding {
	out := []result.StudyFinding{}
	for _, f := range list {
		out = append(out, result.StudyFinding(f))
	}
	return out
}

// column is a column, and which figure of a row stands in it.
type column[R any] struct {
	result.StudyColumn

	of func(R) Estimate
}

// tableBy makes a table of rows.
func tableBy[R any](title, about string, names []string, nameOf func(R) []string, columns []column[R], rows []R) result.StudyTable {
	t := result.StudyTable{Title: title, About: about, Names: names, Rows: []result.StudyRow{}}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.StudyColumn)
	}
	for _, r := range rows {
		row := result.StudyRow{Names: nameOf(r)}
		for _, c := range columns {
			row.Figures = append(row.Figures, c.of(r).figure())
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (e Estimate) figure() *result.StudyFigure { return &result.StudyFigure{Mean: e.Mean, SE: &e.SE} }

var (
	gainColumn  = result.StudyColumn{Name: "gain", About: "true gain on the selection items", Unit: result.UnitChange}
	worseColumn = result.StudyColumn{Name: "worse", About: "share of runs that end truly worse than they began", Unit: result.UnitShare}
	highColumn  = result.StudyColumn{Name: "too high", About: "reported minus true score", Unit: result.UnitPoints}
	costColumn  = result.StudyColumn{Name: "cost", About: "rollouts a step, in passes over the selection items", Unit: result.UnitRatio}
)

func gateTable(title, about string, rows []Row) result.StudyTable {
	return tableBy(title, about, []string{"world", "items", "rule"}, Row.names, []column[Row]{
		{gainColumn, func(r Row) Estimate { return r.Gain }},
		{result.StudyColumn{Name: "ahead", About: "gain minus that of strict in the same worlds", Unit: result.UnitChange}, func(r Row) Estimate { return r.Ahead }},
		{worseColumn, func(r Row) Estimate { return r.Worse }},
		{highColumn, func(r Row) Estimate { return r.Excess }},
		{costColumn, func(r Row) Estimate { return r.Cost }},
		{result.StudyColumn{Name: "steps", About: "steps of a run", Unit: result.UnitCount}, func(r Row) Estimate { return r.Steps }},
		{result.StudyColumn{Name: "certified", About: fmt.Sprintf("share of runs whose gain is certified on %d test items", testItems), Unit: result.UnitShare}, func(r Row) Estimate { return r.Certified }},
	}, rows)
}

func (r Row) names() []string { return []string{r.World, strconv.Itoa(r.Items), r.Rule} }

func nothingTable(rows []Row) result.StudyTable {
	return tableBy("Edits that do nothing", "No edit changes any chance: whatever is accepted is an error.", []string{"items", "rule"}, func(r Row) []string { return r.names()[1:] }, []column[Row]{
		{result.StudyColumn{Name: "first", About: "share of runs in which the first edit was accepted", Unit: result.UnitShare}, func(r Row) Estimate { return r.First }},
		{result.StudyColumn{Name: "accepted", About: "share of steps whose edit was accepted", Unit: result.UnitShare}, func(r Row) Estimate { return r.Accepts }},
		{highColumn, func(r Row) Estimate { return r.Excess }},
		{costColumn, func(r Row) Estimate { return r.Cost }},
	}, rows)
}

func guidanceTable(rows []GuidanceRow) result.StudyTable {
	return tableBy("Guidance", "Ways to judge the text of slow updates.", []string{"world", "items", "rule"}, func(r GuidanceRow) []string { return []string{r.World, strconv.Itoa(r.Items), r.Rule} }, []column[GuidanceRow]{
		{gainColumn, func(r GuidanceRow) Estimate { return r.Gain }},
		{result.StudyColumn{Name: "ahead", About: "gain minus that of the default in the same worlds", Unit: result.UnitChange}, func(r GuidanceRow) Estimate { return r.Ahead }},
		{worseColumn, func(r GuidanceRow) Estimate { return r.Worse }},
		{result.StudyColumn{Name: "taken", About: "share of the texts that became part of the skill", Unit: result.UnitShare}, func(r GuidanceRow) Estimate { return r.Taken }},
		{result.StudyColumn{Name: "cost", About: "rollouts of a run, in passes over the selection items", Unit: result.UnitRatio}, func(r GuidanceRow) Estimate { return r.Cost }},
	}, rows)
}

// Study is the report as the tables that are kept in a run.
func (r CertificateReport) Document() result.Study {
	share := func(name, about string, of func(CertificateRow) Estimate) column[CertificateRow] {
		return column[CertificateRow]{result.StudyColumn{Name: name, About: about, Unit: result.UnitShare}, of}
	}
	t := tableBy("Certificates", "", []string{"scores", "target", "tasks", "test"}, CertificateRow.names, []column[CertificateRow]{
		share("wrong", fmt.Sprintf("one or more of %d siblings that are no better is certified", siblings), func(r CertificateRow) Estimate { return r.Wrong }),
		share("beyond", "\"at least X points\" is more than is so", func(r CertificateRow) Estimate { return r.TooFar }),
		share("first", "a skill that is better by 10 points is certified, first reading", func(r CertificateRow) Estimate { return r.First }),
		share("second", "the same, second reading", func(r CertificateRow) Estimate { return r.Second }),
		share("evidence", "the same by evidence for any number of looks, at all of alpha", func(r CertificateRow) Estimate { return r.Evidence }),
	}, r.Rows)
	t.Columns = append(slices.Clip(t.Columns), result.StudyColumn{Name: "exact", About: "computed for McNemar's exact test at the level of a first reading", Unit: result.UnitShare})
	for i, row := range r.Rows {
		var exact *result.StudyFigure
		if row.Exact != nil {
			exact = &result.StudyFigure{Mean: *row.Exact}
		}
		t.Rows[i].Figures = append(t.Rows[i].Figures, exact)
	}
	return result.Study{
		Simulated: true, Name: "certificate", Tables: []result.StudyTable{t}, Findings: studyFindings(r.Findings),
		About: fmt.Sprintf("The real tests read test splits that are made up: %d a row, seed %d; levels of the readings %s.", r.Runs, r.Seed, r.levels()),
	}
}

func (r CertificateRow) names() []string {
	return []string{string(r.Scores), r.target(), strconv.Itoa(r.Tasks), string(r.Test)}
}
