package result

// RunFile is a file or folder at the top of a run directory.
type RunFile struct {
	Name   string `json:"name"`
	Folder bool   `json:"folder,omitempty"`
	Bytes  int64  `json:"bytes"` // 0 of a folder
}
