package agent

// Plugins says where an agent keeps what its user adds to it. Folders are slash-separated.
type Plugins struct {
	User     Place  // below the user's home folder
	Variable string // of the environment: if it is set, User.Folder is Below in the folder that it names
	Below    string
	Project  Place // below a project; the zero value: the agent reads no plugin there
}

// Place is one folder with plugins. An agent that takes a plugin as a folder has Own, another one
// reads skills, and MCP servers from a file of settings.
type Place struct {
	Folder   string // of the agent's settings
	Own      string // of our plugin, below Folder
	Settings string // file below Folder
}

// PluginPlaces returns where the agent of that name keeps plugins, and the version that was measured, "" if
// none was. ok is false for one that has no place.
func PluginPlaces(name string) (p Plugins, tested string, ok bool) {
	for _, a := range adapters() {
		if a.name == name {
			return a.plugins, a.tested, a.plugins.User.Folder != ""
		}
	}
	return p, "", false
}
