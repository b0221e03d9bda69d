package result

// Exported says what ExportCassette wrote.
type Exported struct {
	Steps int `json:"steps"` // recorded steps in the file
	// Redacted are the keys of steps whose result held a secret. What the run
	// asked with such a result in its request is not found in a replay.
	Redacted []string `json:"redacted"`
}
