package env

// basic returns the names of variables that ordinary programs need to run at
// all, and that hold no secrets: where programs are, home, locale, temporary
// files, and what Windows and the common language runtimes insist on.
func basic() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "TEMP", "TMP",
		"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
		"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS",
		"GOCACHE", "GOPATH", "GOMODCACHE", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME",
	}
}

// AllowedVariables returns what a process may see of the environment without being
// granted it by name, as "NAME=value". lookup reads one variable.
func AllowedVariables(lookup func(name string) (value string, ok bool)) []string {
	var allowed []string
	for _, name := range basic() {
		if value, ok := lookup(name); ok {
			allowed = append(allowed, name+"="+value)
		}
	}
	return allowed
}
