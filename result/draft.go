package result

// Draft is the result of drafting tasks.
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
	Reason  string `json:"reason"` // continues after "drafts that": "quote the rule that they test"
	N       int    `json:"n"`
	Example string `json:"example,omitempty"` // what was wrong with the first of them
}

// Drafted is what the record of a draft holds.
type Drafted struct {
	Triggers bool          `json:"triggers"` // they are trigger tasks
	Asked    int           `json:"asked"`    // that many tasks were wanted; 0: not known
	Kept     int           `json:"kept"`
	Doubtful int           `json:"doubtful"` // kept, with something for a reviewer to look at
	Tasks    []DraftedTask `json:"tasks"`
	Fell     []Dropped     `json:"fell"`     // drafts that were not kept, by reason, the most frequent first
	Fallen   []FallenDraft `json:"fallen"`   // each of them
	LeftOut  int           `json:"left_out"` // tasks and drafts that are not listed
}

// DraftedTask is a task that was drafted and kept, as text.
type DraftedTask struct {
	ID       string   `json:"id"`
	Type     string   `json:"type,omitempty"`
	Trigger  string   `json:"trigger,omitempty"` // of a trigger task: should or should_not
	Prompt   string   `json:"prompt"`
	Gold     []string `json:"gold"`
	Checks   []string `json:"checks"`           // each as JSON
	Source   string   `json:"source,omitempty"` // the line of the skill that it tests: "SKILL.md:12: text"
	Why      string   `json:"why,omitempty"`    // it should load the skill, or not, as its author says
	Doubts   []string `json:"doubts"`           // what a reviewer should look at
	Reviewed bool     `json:"reviewed"`
}

// FallenDraft is a draft that was not kept.
type FallenDraft struct {
	Reason string `json:"reason"` // continues after "drafts that"
	Detail string `json:"detail,omitempty"`
	Prompt string `json:"prompt,omitempty"` // its beginning
}
