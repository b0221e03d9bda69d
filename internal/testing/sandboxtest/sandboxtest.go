// Package sandboxtest holds attacks on a sandbox: what a hostile program would try,
// each as a probe that says whether it got at something that it must not. Tests
// execute their own binary confined, which calls Main and tries all of them, and
// look from outside, with a Host, whether anything was changed, signalled or left
// behind.
//
// It knows nothing of how programs are confined, but what is not promised.
package sandboxtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Var is the variable that makes a test binary try the probes: its value goes to
// Main.
const Var = "SANDBOX_PROBES"

// Probe is one attack.
type Probe struct {
	Class string
	Name  string
	// Wide says that without confinement it would touch more than its target.
	Wide bool
	// Try attacks. Reached says that a canary was read, or that something outside was
	// changed, signalled, limited, joined or connected to; detail says how, or what was
	// in the way.
	Try func(t *Target) (reached bool, detail string)
}

// Finding is what came of a probe, one line of JSON each.
type Finding struct {
	Class   string `json:"class"`
	Name    string `json:"name"`
	Reached bool   `json:"reached,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Took    int64  `json:"ms,omitempty"` // milliseconds
}

// ID names a probe.
func (f Finding) ID() string { return f.Class + ": " + f.Name }

// Process is one outside. Start tells it from another of the same number, in other
// namespaces for example: field 22 of its stat.
type Process struct {
	PID   int    `json:"pid"`
	Start string `json:"start"`
}

// Target says what must not be reached, and where it is. It holds no canary.
type Target struct {
	Files    map[string]string `json:"files"` // by what they are; see the names below
	Dir      string            `json:"dir"`   // the folder that they are in
	Sums     map[string]string `json:"sums"`  // names of canaries by their SHA-256, in hex
	Token    string            `json:"token"` // an argument of every process that is left behind
	Parent   Process           `json:"parent"`
	Victim   Process           `json:"victim"` // of the same user; its environment, memory, files and folder hold canaries
	Port     int               `json:"port"`   // of a server that must not be connected to, on loopback
	Gateway  int               `json:"gateway"`
	Hosts    []string          `json:"hosts"` // other addresses with the port of the gateway
	UDP      int               `json:"udp"`
	Sockets  string            `json:"sockets"`  // Unix sockets: this and .stream, .dgram or .packet
	Abstract string            `json:"abstract"` // the same, as abstract names
	Key      int               `json:"key"`      // of shared memory, semaphores and a queue of System V
	Name     string            `json:"name"`     // of shared memory, a queue of POSIX and a key in a keyring
	Only     []string          `json:"only"`     // classes to try; none = all
	Harmless bool              `json:"harmless"` // leave out what is Wide
}

// The files of a Target.
const (
	Gold   = "gold"
	DotEnv = ".env"
	Config = "config"
	RunDB  = "run.db"
	Other  = "other workspace"
	Script = "script" // executable, and says its canary
)

// What an agent that plants leaves in its folder, and the command of a check that runs
// that.
const (
	Planted      = "probe"
	FoundByAgent = "found-by-agent"
	FoundByCheck = "found-by-check"
	RunPlanted   = Var + "=@target ./" + Planted + " >" + FoundByCheck
)

// canaries have a form by which they are found; what is one is known by its sum.
func canaries() *regexp.Regexp { return regexp.MustCompile(`canary-[0-9a-f]{32}`) }

func sum(canary string) string {
	s := sha256.Sum256([]byte(canary))
	return hex.EncodeToString(s[:])
}

// Holds returns the names of the canaries that are in data.
func (t *Target) Holds(data []byte) (names []string) {
	for _, c := range canaries().FindAll(data, -1) {
		if name, ok := t.Sums[sum(string(c))]; ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Findings reads what Main has printed.
func Findings(out string) (all []Finding, err error) {
	for line := range strings.Lines(out) {
		var f Finding
		if line = strings.TrimSpace(line); line == "" || line[0] != '{' {
			continue
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			return nil, fmt.Errorf("read %q: %w", line, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// Excused are the probes that may reach something, by their ID, and why: the package
// comment of internal/sandbox promises nothing of the kind. plain is without namespaces.
func Excused(plain bool) map[string]string {
	both := map[string]string{
		"keyrings: list keys":            "what /proc lists by name can be read: not what a key holds",
		"paths: watch names come and go": "no rule is about watches: names of files can be seen anywhere, as their size and times",
	}
	if !plain {
		both["sockets: listen without a name"] = "in a network of its own nobody comes"
		return both
	}
	for probe, why := range map[string]string{
		"proc: arguments":                                    "command lines of other processes can be read",
		"ipc: lists of System V":                             "what /proc lists by number can be read: not what memory holds",
		"changes: mode":                                      "mode, owner and times of a file of the same user can be changed anywhere",
		"changes: mode by descriptor":                        "the same",
		"changes: owner":                                     "the same",
		"changes: times":                                     "the same",
		"devices: change a device for all":                   "the same: of a device, its times",
		"sockets: TCP to the gateway's port at another host": "only loopback is promised without a network of its own",
	} {
		both[probe] = why
	}
	return both
}
