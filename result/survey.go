package result

// Survey is what was made of a repository.
type Survey struct {
	Runner       string            `json:"runner"` // go, pytest, node, ...
	Limit        int               `json:"limit"`
	Tasks        []SurveyedTask    `json:"tasks"`
	Train        int               `json:"train"`
	Selection    int               `json:"selection"`
	Test         int               `json:"test"`
	Missing      int               `json:"missing"`        // test tasks that a certificate needs and that there are not
	LeftOut      map[string]int    `json:"left_out"`       // commits and faults, by the reason
	LeftOutTests map[string]string `json:"left_out_tests"` // tests by name, and the reason
	Runs         int               `json:"runs"`           // of tests, and of gradings, in this call
	Recorded     int               `json:"recorded"`       // of earlier calls
	CPUSeconds   float64           `json:"cpu_seconds"`    // of the runs of this call
	Document     string            `json:"document"`       // that is trained: its path in the repository

	File  []byte `json:"-"` // the tasks, a line each
	Seed  []byte `json:"-"` // what HEAD has of the document
	Folds bool   `json:"-"` // train and selection are too few to be apart
}

// SurveyedTask is a task that was made of a repository.
type SurveyedTask struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"` // history or fault
	Split      string  `json:"split"`
	Source     string  `json:"source"` // a commit, or where the fault is
	Fail       int     `json:"fail"`   // tests that have to pass and fail
	CPUSeconds float64 `json:"cpu_seconds"`
	MB         float64 `json:"mb,omitempty"` // missing where the run was too short to be looked at
}

// Proven says of tasks whether doing nothing fails and the real fix passes, each time.
type Proven struct {
	Tasks  []ProvenTask `json:"tasks"`
	Failed int          `json:"failed"`
}

// ProvenTask is what gradings of one task have shown.
type ProvenTask struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	OK         bool    `json:"ok"`
	Why        string  `json:"why,omitempty"` // what is wrong
	Nothing    []bool  `json:"nothing"`       // whether doing nothing passed
	Fix        []bool  `json:"fix"`           // whether the real fix passed
	CPUSeconds float64 `json:"cpu_seconds"`   // of one grading
	MB         float64 `json:"mb,omitempty"`  // missing where the run was too short to be looked at
	WallS      float64 `json:"wall_s"`
}
