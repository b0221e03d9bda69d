package result

// Plan is an upper bound of what a run will ask, when every reply can be used
// and nothing has to be sent twice.
type Plan struct {
	Total     int          `json:"total"`
	Stages    []StageCalls `json:"stages"`
	Simulated bool         `json:"simulated"`

	// Episodes is how many of Total are episodes of an agent or an environment.
	// Each makes as many calls as it needs, which no one knows beforehand, or at most
	// EpisodeCalls, where a world bounds them.
	Episodes     int `json:"episodes,omitempty"`
	EpisodeCalls int `json:"episode_calls,omitempty"`

	// Steps is how many steps the run has, StepsFit how many of them limits.calls is expected
	// to have room for; null: there is no such ceiling.
	Steps    int  `json:"steps,omitempty"`
	StepsFit *int `json:"steps_fit,omitempty"`

	// Forecast is what the run is expected to take; NoForecast says why there is none of a
	// run that is too large for a dry run.
	Forecast   *Forecast `json:"forecast,omitempty"`
	NoForecast string    `json:"no_forecast,omitempty"`

	// Pages says which pages of the web may be fetched, and from where, in words.
	Pages string `json:"pages,omitempty"`

	// Ceilings says which of limits are below what is expected, in words.
	Ceilings []string `json:"ceilings,omitempty"`

	// Selection is the number of tasks that the gate decides by, Noise what an A/A
	// pass over them has found (MeasureNoise); nil: there was none, or no gate.
	Selection int    `json:"selection,omitempty"`
	Noise     *Noise `json:"noise,omitempty"`

	// Folds is in how many folds those tasks are, of which one decides on a step; 0: all
	// of them decide on each.
	Folds int `json:"folds,omitempty"`

	// TestReadBefore says who has read the test split so far; null where none is opened.
	TestReadBefore *TestReads `json:"test_read_before,omitempty"`

	// CertificateLevel is the level that the certificate of this reading of the test
	// split would be tested at, a share of 1; null: no test is opened, or no one knows how
	// often it was read.
	CertificateLevel *float64 `json:"certificate_level,omitempty"`
	// NoCertificate says why that reading can certify nothing, whatever it shows; "": it can.
	NoCertificate string `json:"no_certificate,omitempty"`

	// Unreviewed is how many of the tasks are drafts that no one has reviewed: the
	// run is exploratory then.
	Unreviewed int `json:"unreviewed,omitempty"`

	// Limit is the most tasks of each split that are used, tasks.limit; 0: all.
	Limit int `json:"limit,omitempty"`
}

// StageCalls is how many model calls a stage makes at most.
type StageCalls struct {
	Stage string `json:"stage"`
	Calls int    `json:"calls"`
}
