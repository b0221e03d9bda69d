package result

// Failure is what a command that failed says with --json, as one line on standard error.
type Failure struct {
	Error    string    `json:"error"` // all of it, as it is reported without --json
	ExitCode int       `json:"exit_code"`
	Problems []Problem `json:"problems"` // at least one
}

// Problem is one thing that is wrong, or worth a look. What is not known is left out.
type Problem struct {
	File    string `json:"file,omitempty"` // relative to the working directory if it is inside of it
	Line    int    `json:"line,omitempty"` // 1-based
	Key     string `json:"key,omitempty"`  // of the configuration
	Task    string `json:"task,omitempty"` // its id
	Message string `json:"message"`        // what happened, and what is allowed
	Help    string `json:"help"`           // what to do about it
}
