package transcript

import (
	"hash/crc32"
	"strings"
	"time"
)

// Origin says who drove a session.
type Origin string

// The origins. Only interactive sessions show what a user wanted and corrected.
const (
	Interactive Origin = "interactive" // a person at a terminal or an editor
	Headless    Origin = "headless"    // a script: one prompt on a command line or through an SDK
	Subagent    Origin = "subagent"    // another agent's helper
	Replay      Origin = "replay"      // this program, carrying out tasks
)

// Transcript is one session of an agent. Its texts are without secrets.
type Transcript struct {
	Source  string    `json:"source"`            // the name of the source, such as claude
	ID      string    `json:"session"`           // equal ids of one source are one session
	Project string    `json:"project,omitempty"` // working folder at its beginning, absolute; empty: not recorded
	Origin  Origin    `json:"origin"`
	Version string    `json:"version,omitempty"` // of the agent's program
	Branch  string    `json:"branch,omitempty"`  // as the session records it
	Commit  string    `json:"commit,omitempty"`  // as the session records it, at its first turn
	Started time.Time `json:"started"`           // UTC; the first turn
	Ended   time.Time `json:"ended"`             // UTC; the last record of the last turn
	Turns   []Turn    `json:"turns"`
}

// Turn is what a user said and its result, up to the user's next words.
type Turn struct {
	// ID distinguishes a turn from others of its source: two stores that hold a turn of the same id
	// hold the same turn. Never empty.
	ID      string    `json:"id"`
	Started time.Time `json:"started"` // UTC
	Ended   time.Time `json:"ended"`   // UTC
	User    string    `json:"user"`    // the user's words
	Agent   string    `json:"agent"`   // the agent's last words; empty if the turn failed
	Tools   []Tool    `json:"tools"`   // in the order of their calls
	Files   []string  `json:"files"`   // that tools wrote, relative to the project where they lie in it
	// Read are files that tools read, named as Files are, before the first tool of the session
	// wrote them. Nil: none, or the store does not say.
	Read []string `json:"read,omitempty"`
	// Commands are those that tools ran, in order: the first MaxCommands.
	Commands []Command `json:"commands,omitempty"`
	// Lines says what the agent was shown of files, or replaced in them, before the first tool
	// of the session wrote them: by file, digests of lines that are not blank ([LineDigest]). A
	// file of which the session was shown more than is kept is in the Lines of none of its turns.
	// Nil where the reading did not ask for them ([Reading.Lines]).
	Lines   map[string][]uint32 `json:"lines,omitempty"`
	Skill   string              `json:"skill,omitempty"`
	SkillBy Evidence            `json:"skill_by,omitempty"`
	// Failed says what went wrong with the model or the program, in the store's own word:
	// such a turn says nothing of how good an answer was.
	Failed string `json:"failed,omitempty"`
	// Interrupted: the user stopped the agent or refused a tool.
	Interrupted bool `json:"interrupted,omitempty"`
	Redacted    int  `json:"redacted"`      // secrets taken out of the texts of the turn
	Cut         bool `json:"cut,omitempty"` // a text was longer than is kept
}

// Command is a command that a tool ran.
type Command struct {
	Text string `json:"text"` // word for word, but for secrets
	Exit *int   `json:"exit"` // nil: the store does not say
	// Altered: a secret was taken out of the text, or it was cut, so that it is not the command
	// that ran.
	Altered bool `json:"altered,omitempty"`
}

// LineDigest returns a digest of a line of a file, of 24 bits. That is enough to report that a line
// is not in a file, and too little to report what a line was.
func LineDigest(line string) uint32 {
	const odd = 0x9e3779b1 // mixes the upper bits into those that are kept
	line = strings.TrimRight(line, " \t\r\n")
	return crc32.Checksum([]byte(line), crc32.MakeTable(crc32.Castagnoli)) * odd >> 8
}

// Tool is one call of a tool. Arguments and output are not kept.
type Tool struct {
	Name string `json:"name"`
	OK   *bool  `json:"ok"` // nil: the store does not say
}

// Evidence says how it is known which skill was at work.
type Evidence string

// The evidence, the strongest first. Where the strongest names two skills, none is taken.
const (
	ByRecord Evidence = "record" // the agent recorded it
	ByTool   Evidence = "tool"   // the tool that loads skills was called
	ByRead   Evidence = "read"   // the agent read a SKILL.md
)
