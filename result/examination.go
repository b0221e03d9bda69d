package result

import "github.com/seed-f4525e22/skillopt/task"

// TaskReport is what a set of tasks holds.
type TaskReport struct {
	Tasks     int            `json:"tasks"`
	Train     int            `json:"train"`
	Selection int            `json:"selection"`
	Test      int            `json:"test"`
	ByType    map[string]int `json:"by_type,omitempty"`
	// Triggers counts trigger tasks, which are none of Tasks.
	Triggers int `json:"triggers,omitempty"`
	// Unreviewed counts drafts that no one has accepted: runs on them are exploratory.
	Unreviewed int `json:"unreviewed,omitempty"`

	// Tables are the .csv and .tsv files that were read, and what was made of their columns.
	Tables []task.Table `json:"tables,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// Examination is what Examine found.
type Examination struct {
	Rows []Finding `json:"rows"`
}

// Err returns the first failure, nil if there is none.
func (e Examination) Err() error {
	for _, r := range e.Rows {
		if !r.OK && !r.Skipped {
			return r.Err
		}
	}
	return nil
}

// Finding is one thing that was examined.
type Finding struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Skipped bool   `json:"skipped,omitempty"` // it is not there, and need not be
	Warning bool   `json:"warning,omitempty"` // it runs, but there is something to know
	Detail  string `json:"detail"`
	Fix     string `json:"mend,omitempty"` // what helps, if it is not OK

	Err error `json:"-"` // why it is not OK
}
