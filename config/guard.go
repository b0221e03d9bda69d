package config

// Guard bounds what a configuration may say that a tool call or a browser has named.
type Guard struct {
	Roots   []string // folders, absolute and without links: what is read or written is in one of them
	Trusted []string // SHA-256 of files, in hex, that may say anything
	Limits  Limits   // ceilings that hold whatever a configuration says
}
