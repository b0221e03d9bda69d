package report

// Summary is what this package shows of summary.json. Fields that a version does
// not write are zero.
type Summary struct {
	Status      string       `json:"status"`
	Reason      string       `json:"reason"`
	Simulated   bool         `json:"simulated"`
	Exploratory bool         `json:"exploratory"`
	Steps       int          `json:"steps"`
	Accepted    int          `json:"accepted"`
	Rejected    int          `json:"rejected"`
	Skipped     int          `json:"skipped"`
	Best        Best         `json:"best"`
	Test        Test         `json:"test"`
	Certificate *Certificate `json:"certificate"`
	Noise       *Noise       `json:"noise"`
	Drift       []Drift      `json:"drift"`
	Calls       Calls        `json:"calls"`
	Tokens      Tokens       `json:"tokens"`
	CostUSD     *float64     `json:"cost_usd"`
	WallS       float64      `json:"wall_s"`
	Lost        int          `json:"lost_replies"`
	Warnings    []string     `json:"warnings"`
	Stages      []Stage      `json:"stages"`
}

// Best names the best skill by its step.
type Best struct {
	Step      int       `json:"step"`
	Selection *Arm      `json:"selection"`
	Reported  *Reported `json:"reported"`
}

// Reported is the gate score of the best skill, told in three ways.
type Reported struct {
	Metric      string  `json:"metric"`
	Pooled      float64 `json:"pooled"`
	Low         float64 `json:"low"`
	High        float64 `json:"high"`
	Naive       float64 `json:"naive"`
	Shrunken    float64 `json:"shrunken"`
	Items       int     `json:"items"`
	Evaluations int     `json:"evaluations"`
}

// Test are the scores on the test split, and how often it was opened.
type Test struct {
	Seed     *Arm `json:"seed"`
	Best     *Arm `json:"best"`
	Final    *Arm `json:"final"`
	NoSkill  *Arm `json:"no_skill"`
	Openings int  `json:"openings"` // 0: not, or once
	Refused  bool `json:"refused"`  // it was open before for other skills and stayed closed
}

// Certificate compares best and seed skill on the test split.
type Certificate struct {
	N          int      `json:"n"`
	Difference *float64 `json:"difference"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	Wins       int      `json:"wins"`
	Losses     int      `json:"losses"`
	Ties       int      `json:"ties"`
	P          *float64 `json:"mcnemar_p"`
	Alpha      float64  `json:"alpha"`
	Wealth     float64  `json:"e_mean"`
	SignE      float64  `json:"e_sign"`
	Certified  bool     `json:"certified"`
	AtLeast    *float64 `json:"at_least"`
	Words      string   `json:"words"`
}

// Noise is what asking tasks twice said of the selection split.
type Noise struct {
	Twice      int      `json:"twice"`
	Flips      []string `json:"flips"`
	Within     float64  `json:"within"`
	Detectable float64  `json:"minimum_detectable_effect"`
	Alike      bool     `json:"alike"`
	Advice     string   `json:"advice"`
}

// Drift says where another model began to answer.
type Drift struct {
	At   string   `json:"at"`
	From []string `json:"from"`
	To   []string `json:"to"`
}

// Arm is a measured mean with its 95 % interval.
type Arm struct {
	Hard float64 `json:"hard"`
	Soft float64 `json:"soft"`
	N    int     `json:"n"`
	Low  float64 `json:"hard_low"`
	High float64 `json:"hard_high"`
}

// Calls counts model calls.
type Calls struct {
	Total  int64            `json:"total"`
	Faults map[string]int64 `json:"faults"`
	Reused int64            `json:"reused"`
}

// Tokens counts tokens.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached"`
}

// Stage is what one stage of one role used.
type Stage struct {
	Stage   string   `json:"stage"`
	Role    string   `json:"role"`
	Calls   int64    `json:"calls"`
	Input   int64    `json:"input_tokens"`
	Output  int64    `json:"output_tokens"`
	Cached  int64    `json:"cached_tokens"`
	CostUSD *float64 `json:"cost_usd"`
}
