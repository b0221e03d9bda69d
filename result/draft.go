package result

// Draft is what a draft came to.
type Draft struct {
	RunDir    string    `json:"run_dir"` // its record
	Simulated bool      `json:"simulated"`
	Asked     int       `json:"asked"`
	Kept      int       `json:"kept"`
	Doubtful  int       `json:"doubtful"` // kept, with something for a reviewer to look at
	Fell      []Dropped `json:"fell,omitempty"`
	Files     []string  `json:"files"`             // of the skill, that tasks were drafted from
	Skipped   []string  `json:"skipped,omitempty"` // files of the skill that were left out, and why
	Recorded  int       `json:"recorded"`          // calls that the record answered
	Usage

	// Triggers says how many of a draft of trigger tasks are of each kind; nil in others.
	Triggers *DraftedTriggers `json:"triggers,omitempty"`

	// Tasks are the lines of a task file; each says reviewed: false.
	Tasks []byte `json:"-"`
}

// DraftedTriggers are how many drafted trigger tasks were kept, by kind.
type DraftedTriggers struct {
	Should    int `json:"should"`
	ShouldNot int `json:"should_not"`
}

// Dropped counts the drafts that were not kept for one reason.
type Dropped struct {
	Reason  string `json:"reason"` // goes on after "drafts that": "quote the rule that they test"
	N       int    `json:"n"`
	Example string `json:"example,omitempty"` // what was wrong with the first of them
}
