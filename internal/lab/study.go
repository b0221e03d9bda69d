package lab

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-f4525e22/skillopt/result"
)

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

// Document returns the report as the tables that are kept in a run.
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
