package disk

import "strings"

// This file names the temporary folders that this program makes for the agents and
// commands that it starts. Agents write down the folder that they work in: its name
// distinguishes a session that this program began from those of a person.

// Marks are how names of such folders begin. Digits follow, as os.MkdirTemp appends them.
const (
	Seat  = "skillopt-seat-"        // an agent's program as a plain model, with the user's login
	Agent = "skillopt-agent-"       // an agent that is asked for its version
	Proof = "skillopt-agent-proof-" // an agent that shows what it can
	Check = "skillopt-check-"       // a command that checks what an agent left
	Tools = "skillopt-tools-"       // a server of tools
)

// IsOwnFolder reports whether name, the last element of a path, is that of such a folder. A name that
// continues otherwise than with digits is somebody else's.
func IsOwnFolder(name string) bool {
	for _, mark := range []string{Seat, Proof, Agent, Check, Tools} {
		if rest, ok := strings.CutPrefix(name, mark); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}
