package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Folders are the user's own folders, by the rules of the system.
type Folders struct {
	OS       string // as runtime.GOOS
	Home     string
	Settings string // of programs
	State    string // of programs
	// Lookup reads a variable of the environment that says where another program keeps its
	// files; "" where it is not set.
	Lookup func(name string) string
}

// UserFolders finds the user's folders. Variables win over the usual places, as they do in
// other programs.
func UserFolders() (Folders, error) { return findFolders(runtime.GOOS, os.Getenv) }

func findFolders(system string, get func(string) string) (Folders, error) {
	f := Folders{OS: system, Home: get("HOME"), Lookup: get}
	if system == "windows" {
		f.Home = cmp.Or(get("USERPROFILE"), f.Home)
	}
	if f.Home == "" {
		return f, fmt.Errorf("find the home folder: neither HOME nor USERPROFILE is set")
	}
	switch system {
	case "windows":
		f.Settings = cmp.Or(get("APPDATA"), filepath.Join(f.Home, "AppData", "Roaming"))
		f.State = cmp.Or(get("LOCALAPPDATA"), filepath.Join(f.Home, "AppData", "Local"))
	case "darwin":
		support := filepath.Join(f.Home, "Library", "Application Support")
		f.Settings, f.State = cmp.Or(get("XDG_CONFIG_HOME"), filepath.Join(f.Home, ".config")), cmp.Or(get("XDG_STATE_HOME"), support)
	default:
		f.Settings, f.State = cmp.Or(get("XDG_CONFIG_HOME"), filepath.Join(f.Home, ".config")), cmp.Or(get("XDG_STATE_HOME"), filepath.Join(f.Home, ".local", "state"))
	}
	return f, nil
}

// SleepProfile returns the file of the profile of the sleep commands.
func (f Folders) SleepProfile() string { return filepath.Join(f.Settings, "skillopt", "sleep.yaml") }

// SleepDir returns the folder in which the sleep commands keep what they keep, unless sleep.dir
// says otherwise.
func (f Folders) SleepDir() string { return filepath.Join(f.State, "skillopt", "sleep") }

// ServeKey returns the file of the key by which `skillopt serve` knows its own sessions.
func (f Folders) ServeKey() string { return filepath.Join(f.State, "skillopt", "serve.key") }

// BenchData returns the folder of the rows of a benchmark that were fetched.
func (f Folders) BenchData(name string) string {
	return filepath.Join(f.State, "skillopt", "bench", name)
}
