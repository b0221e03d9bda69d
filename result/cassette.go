package result

// Exported says what ExportCassette wrote.
type Exported struct {
	Steps int `json:"steps"` // recorded steps in the file
	// Redacted are the keys of steps whose result held a secret. What the run
	// asked with such a result in its request is not found in a replay.
	Redacted []string `json:"redacted"`
}

// ExportedLog says what ExportInspect wrote.
type ExportedLog struct {
	Split      string `json:"split"`
	Arm        string `json:"arm"` // whose answers they are: seed, best, ...
	Samples    int    `json:"samples"`
	Unmeasured int    `json:"unmeasured"` // of them: they have an error instead of a score
}
