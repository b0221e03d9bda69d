package result

// Interval is an expected number and what it will probably lie between.
type Interval struct {
	Expected float64 `json:"expected"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// Forecast is what a whole run is expected to take, what is spent already included.
type Forecast struct {
	Calls  Interval        `json:"calls"`
	Input  Interval        `json:"input_tokens"`
	Output Interval        `json:"output_tokens"`
	USD    *Interval       `json:"cost_usd"` // null: unknown
	TimeS  *Interval       `json:"time_s"`   // at the configured limits; null: unknown, as long as no episode was made or a model on this machine is not measured
	Stages []StageForecast `json:"stages"`   // sorted by role and stage

	// Unknown are the roles whose tokens (of and about episodes) or prices no one knows. What
	// they take is in no sum: with one, Calls counts episodes as one call each.
	Unknown []string `json:"unknown,omitempty"`
	// Basis says what the figures rest on: "estimated" (prompts as they will be,
	// replies of a usual length), "learned" (the same, and what runs of other
	// configurations show) or "measured" (the record of this run or an earlier one of the
	// same configuration).
	Basis   string   `json:"basis"`
	Learned *Learned `json:"learned,omitempty"` // of basis "learned" only
	// Accuracy is how forecasts with this basis did when they were tried; null: it was not.
	Accuracy *Accuracy `json:"accuracy"`
}

// Learned says what a forecast took from finished runs of other configurations in the same
// folder, all with the same models.
type Learned struct {
	Runs     []string `json:"runs"`               // that were read, the newest first
	Replies  []string `json:"replies"`            // role and stage whose tokens of a reply are theirs
	Judged   int      `json:"judged,omitempty"`   // candidates; with few of them nothing is taken of it
	Survived int      `json:"survived,omitempty"` // those that were accepted
}

// Accuracy is in how many of the simulated configurations in which forecasts were tried
// the expected number was within 20 % of what the run took. docs/budgets.md has the command.
type Accuracy struct {
	Tried  int `json:"tried"`
	Calls  int `json:"calls"`
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

// StageForecast is the part of one stage and role.
type StageForecast struct {
	Stage    string    `json:"stage"`
	Role     string    `json:"role"`
	Calls    Interval  `json:"calls"`
	Episodes bool      `json:"episodes,omitempty"` // calls are episodes, whose model calls no one knows
	Input    Interval  `json:"input_tokens"`
	Output   Interval  `json:"output_tokens"`
	USD      *Interval `json:"cost_usd"` // null: unknown
}

// Bases of a forecast.
const (
	Estimated    = "estimated"
	LearnedBasis = "learned"
	Measured     = "measured"
)
