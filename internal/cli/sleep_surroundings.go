package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/timer"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// ownProgram returns the path of this program. It is that of its name in PATH, which outlives an update, or else the file itself.
func ownProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	self, err := os.Stat(exe)
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	if named, err := exec.LookPath("skillopt"); err == nil && filepath.IsAbs(named) {
		if info, err := os.Stat(named); err == nil && os.SameFile(self, info) {
			return named, nil
		}
	}
	if strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "", usagef("%s is deleted when this command ends (go run); build or install skillopt first", exe)
	}
	return exe, nil
}

// recording notes the variables that are read and set.
type recording struct {
	mu    sync.Mutex
	names map[string]string
}

func (r *recording) lookup(name string) (string, bool) {
	value, ok := config.Environment(name)
	if ok {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.names[name] = value
	}
	return value, ok
}

// forTransport returns the variables by which connections are made, and forFolders returns those of the user's folders.
func forTransport() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}
}

func forFolders() []string {
	return []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}
}

// surroundings returns the variables that nights depend on, as they are now. Reading the profile, its models and the agents'
// stores asked for some of them, and programs are given the others. Secrets are left out, because the file of a timer holds none.
func surroundings(ctx context.Context, a *app, s sleepSetup, sets []string) (map[string]string, error) {
	r := &recording{names: map[string]string{}}
	from := *a
	from.lookup = r.lookup
	seen, err := from.readSleepSetup(pathIf(s), s.profile, sets...)
	if err != nil {
		return nil, err
	}
	if _, err := seen.ready(); err != nil {
		return nil, err
	}
	places := seen.places
	places.Env = func(name string) string { v, _ := r.lookup(name); return v }
	for _, src := range transcript.Sources() {
		_, _ = src.Stores(ctx, places) // what cannot be read is reported by the harvest
	}
	for _, name := range slices.Concat(forTransport(), forFolders(), seen.loaded.Config.Agent.PassEnv) {
		r.lookup(name)
	}
	env.AllowedVariables(r.lookup)
	for _, name := range []string{"TMPDIR", "TEMP", "TMP"} { // of this session of the user
		delete(r.names, name)
	}
	secrets := append(wiring.Secrets(seen.loaded.Config, r.lookup), seen.loaded.Secrets()...)
	for name, value := range r.names {
		if isSecret(secrets, name, value) {
			delete(r.names, name)
		}
	}
	return r.names, nil
}

// pathIf returns the profile of a setup, "" where there is none.
func pathIf(s sleepSetup) string {
	if s.found {
		return s.profile
	}
	return ""
}

// isSecret reports whether a variable may not be in a file: its value is a secret of the profile or looks like one, or its
// name says so.
func isSecret(secrets []string, name, value string) bool {
	upper := strings.ToUpper(name)
	for _, part := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD"} {
		if strings.HasSuffix(upper, part) || strings.Contains(upper, part+"_") {
			return true
		}
	}
	if slices.ContainsFunc(secrets, func(secret string) bool {
		return secret != "" && (secret == value || len(secret) > 5 && strings.Contains(value, secret))
	}) {
		return true
	}
	return redact.Has(name + "=" + value)
}

// checkKeys fails if a night could not be carried out with what a timer has: the variables of its profile, the file .env next to
// the user's profile, and the commands that print keys. It names the variable and what helps.
func checkKeys(ctx context.Context, a *app, s sleepSetup, p *timer.Profile, flags nightFlags) error {
	dotenv := filepath.Join(filepath.Dir(s.profile), ".env")
	if info, err := os.Stat(dotenv); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return usagef("%s: others can read it, and nights have their keys from there; run: chmod 600 %s", dotenv, shellWord(dotenv))
	}
	vars := maps.Clone(p.Env)
	if err := askedKeys(ctx, s.host(), flags.Keys, config.Environment, func(keys map[string]string) error { maps.Copy(vars, keys); return nil }); err != nil {
		return err
	}
	from := *a
	from.lookup = func(name string) (string, bool) { value, ok := vars[name]; return value, ok }
	seen, err := from.readSleepSetup(pathIf(s), s.profile, flags.Set...)
	if err == nil {
		_, err = seen.ready()
	}
	if err == nil {
		return nil
	}
	var missing *wiring.MissingKeyError
	if errors.As(err, &missing) {
		return usagef("the key of models.%s is in %s, a variable of this shell, and a timer has none of those\n%s", missing.Role, missing.Var, keyHelp(dotenv, missing.Var))
	}
	return usagef("a timer has no secrets of this shell, and without them: %v\n%s", err, keyHelp(dotenv, "NAME"))
}

// keyHelp says how a key is given to nights that a timer starts.
func keyHelp(dotenv, name string) string {
	return fmt.Sprintf("write the line %s=... into %s, which only you can read (chmod 600 %s), and run `skillopt sleep schedule` again;\n"+
		"or have it print by the system's key store: skillopt sleep schedule --key '%s=%s'", name, dotenv, shellWord(dotenv), name, storeCommand(runtime.GOOS))
}

// storeCommand returns the command that asks the key store of a system.
func storeCommand(system string) string {
	if system == "darwin" {
		return "security find-generic-password -s skillopt -w"
	}
	return "secret-tool lookup service skillopt"
}

var variableName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keyCommands reads NAME=COMMAND; the command is words, or a list of JSON where words have spaces.
func keyCommands(texts []string) (map[string][]string, error) {
	out := map[string][]string{}
	for _, text := range texts {
		name, command, _ := strings.Cut(text, "=")
		var argv []string
		if err := json.Unmarshal([]byte(command), &argv); err != nil {
			argv = strings.Fields(command)
		}
		switch {
		case !variableName.MatchString(name) || len(argv) == 0:
			return nil, usagef("--key: allowed: NAME=COMMAND, the name of a variable and a command that prints its value")
		case redact.Has(command) || redact.Has(name+"="+command) && len(argv) == 1:
			return nil, usagef("--key %s: that looks like the key itself; give a command that prints it, such as '%s'", name, storeCommand(runtime.GOOS))
		}
		out[name] = argv
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

// askedKeys runs the commands that print keys, for the variables that are not there, and hands the values to set. They are
// nowhere else.
func askedKeys(ctx context.Context, host timer.Host, commands map[string][]string, there func(string) (string, bool), set func(map[string]string) error) error {
	keys := map[string]string{}
	for name, argv := range commands {
		if value, ok := there(name); ok && value != "" {
			keys[name] = value
			continue
		}
		out, err := host.Output(ctx, argv)
		value := strings.TrimRight(out, "\r\n")
		switch {
		case err != nil:
			return usagef("the command that prints the key for %s failed: %v", name, err)
		case value == "" || strings.ContainsAny(value, "\r\n\x00"):
			return usagef("the command that prints the key for %s (%s) printed %s; it has to print one line", name, oneLine(strings.Join(argv, " ")), wording.Plural(len(strings.Fields(value)), "word", "words"))
		}
		keys[name] = value
	}
	return set(keys)
}
