package plugin

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/agent"
)

// Host is an agent that a plugin can be installed in.
type Host struct {
	Name   string
	Tested string // what was run with it, "" = nothing: its files follow the schemas that it publishes

	places agent.Plugins
}

// Hosts returns all hosts, sorted by name.
func Hosts() []Host {
	hosts := []Host{
		{Name: "devin", places: agent.Plugins{
			User: agent.Place{Folder: ".config/devin", Settings: "config.json"}, Variable: "XDG_CONFIG_HOME", Below: "devin",
			Project: agent.Place{Folder: ".devin", Settings: "config.json"},
		}},
		{Name: "openclaw", places: agent.Plugins{User: agent.Place{Folder: ".openclaw", Own: "extensions/skillopt"}, Variable: "OPENCLAW_STATE_DIR"}},
	}
	for _, name := range agent.Names() {
		if places, tested, ok := agent.PluginPlaces(name); ok {
			hosts = append(hosts, Host{Name: name, Tested: tested, places: places})
		}
	}
	slices.SortFunc(hosts, func(a, b Host) int { return cmp.Compare(a.Name, b.Name) })
	return hosts
}

// Options say where a plugin is installed, and what is in it.
type Options struct {
	Home    string                   // of the user, absolute
	Lookup  func(name string) string // reads a variable of the environment, "" = not set
	Project string                   // absolute folder of a project; "" = for the user, in all projects
	Version string                   // of this program
	Args    []string                 // for `skillopt mcp`; nil: those of an earlier installation, or none
}

// place returns the folder that all is written below, absolute, and the place below it. It fails
// for a host that reads no plugins in projects.
func (h Host) place(o Options) (root string, at agent.Place, err error) {
	switch {
	case o.Project != "" && h.places.Project.Folder == "":
		return "", at, &Error{Path: o.Project, Why: h.Name + " reads no plugins in projects; install it without --project"}
	case o.Project != "":
		return o.Project, h.places.Project, nil
	}
	at = h.places.User
	if dir := o.Lookup(h.places.Variable); h.places.Variable != "" && filepath.IsAbs(dir) {
		at.Folder = cmp.Or(h.places.Below, ".")
		return filepath.Clean(dir), at, nil
	}
	return o.Home, at, nil
}

// own returns the folder that is the plugin's alone, below the root.
func own(at agent.Place) string {
	return path.Join(at.Folder, cmp.Or(at.Own, "skills/"+skillName))
}
