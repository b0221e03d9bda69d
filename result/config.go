package result

import "encoding/json"

// ConfigFile is a config as a page shows and edits it.
type ConfigFile struct {
	ID       string                     `json:"id"` // in addresses
	Path     string                     `json:"path"`
	Text     string                     `json:"text"` // YAML
	SHA256   string                     `json:"sha256"`
	Trusted  bool                       `json:"trusted"`  // it may say anything, as long as it is this text
	Values   map[string]any             `json:"values"`   // that the text sets, by key
	Defaults map[string]json.RawMessage `json:"defaults"` // of all keys
	Lines    map[string]int             `json:"lines"`    // of keys, 1-based
	Foreign  []KeyLine                  `json:"foreign"`  // keys that a page may not set
	Problems []ConfigProblem            `json:"problems"`
	Command  string                     `json:"command"` // that trains with it
}

// KeyLine is where a key is set.
type KeyLine struct {
	Key  string `json:"key"`
	Line int    `json:"line"`
}

// ConfigProblem is one thing that is wrong with a config.
type ConfigProblem struct {
	Key     string `json:"key"`  // "": of none
	Line    int    `json:"line"` // 0: of none
	Message string `json:"message"`
	Help    string `json:"help"`
	Refused bool   `json:"refused"` // a page may not say it
}
