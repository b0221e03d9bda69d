package result

// StudyFile is the file of a run directory with a Study.
const StudyFile = "study.json"

// Study is what a study of the lab came to: tables of figures that were measured in
// simulated worlds whose truth is known. It says something of methods, never of a real model.
type Study struct {
	RunDir    string         `json:"run_dir"`
	Simulated bool           `json:"simulated"` // always
	Name      string         `json:"study"`     // that of its command: baselines, certificate, curriculum, few, gates, loop or prune
	Command   string         `json:"command"`   // that makes the same figures again
	About     string         `json:"about"`     // how they were measured
	Tables    []StudyTable   `json:"tables"`
	Findings  []StudyFinding `json:"findings"` // what was to hold
	Words     []StudyWord    `json:"words"`    // what names in the tables stand for, such as kinds of worlds
}

// StudyWord says what a name in a table stands for.
type StudyWord struct {
	Name string `json:"name"`
	What string `json:"what"`
}

// StudyTable is a table of figures. Each row has a name for each of Names, and a figure for
// each of Columns.
type StudyTable struct {
	Title   string        `json:"title"`
	About   string        `json:"about,omitempty"`
	Names   []string      `json:"names"` // what the names of a row are, such as world and gate
	Columns []StudyColumn `json:"columns"`
	Rows    []StudyRow    `json:"rows"`
}

// StudyColumn is what the figures of a column are.
type StudyColumn struct {
	Name  string    `json:"name"`
	About string    `json:"about,omitempty"` // what is measured
	Unit  StudyUnit `json:"unit"`
}

// StudyUnit says how figures are read.
type StudyUnit string

// Units of figures. Shares and scores are kept from 0 to 1, whatever people are shown.
const (
	UnitScore  StudyUnit = "score"  // 0 to 1
	UnitChange StudyUnit = "change" // a difference of scores, -1 to 1
	UnitPoints StudyUnit = "points" // the same, read as points: hundredths
	UnitShare  StudyUnit = "share"  // 0 to 1
	UnitRatio  StudyUnit = "ratio"  // 0 or more
	UnitCount  StudyUnit = "count"  // 0 or more; a mean of counts is no whole number
)

// StudyRow is a row of a table.
type StudyRow struct {
	Names   []string       `json:"names"`
	Figures []*StudyFigure `json:"figures"` // null: it was not measured, or means nothing in this row
}

// StudyFigure is a mean with what is known of its error: a standard error, or a 95 % interval.
// Null is what is not known, or was not asked for.
type StudyFigure struct {
	Mean float64  `json:"mean"`
	SE   *float64 `json:"se"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
	Of   float64  `json:"of,omitempty"` // what a share is of, counted
}

// StudyFinding is one thing that was to hold, and whether it does.
type StudyFinding struct {
	Claim string `json:"claim"`
	Holds bool   `json:"holds"`
	Why   string `json:"why"`
}
