package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// ownProgram is where this program is: by its name in PATH, which outlives an update, else the file itself.
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

// forTransport are the variables by which connections are made, and forFolders those of the user's folders.
func forTransport() []string {
	return []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"}
}

func forFolders() []string {
	return []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"}
}

// surroundings are the variables that nights depend on, as they are now: those that reading the profile, its models and the
// agents' stores asked for, and those that programs are given. Secrets are left out: the file of a timer holds none.
func surroundings(ctx context.Context, a *app, s sleepSetup, sets []string) (map[string]string, error) {
	r := &recording{names: map[string]string{}}
	from := *a
	from.lookup = r.lookup
	seen, err := from.sleepSetupOf(pathIf(s), s.profile, sets...)
	if err != nil {
		return nil, err
	}
	if _, err := seen.ready(); err != nil {
		return nil, err
	}
	places := seen.places
	places.Env = func(name string) string { v, _ := r.lookup(name); return v }
	for _, src := range transcript.Sources() {
		_, _ = src.Stores(ctx, places) // what cannot be read is told by the harvest
	}
	for _, name := range slices.Concat(forTransport(), forFolders(), seen.loaded.Config.Agent.PassEnv) {
		r.lookup(name)
	}
	env.Allowed(r.lookup)
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

// pathIf is the profile of a setup, "" where there is none.
func pathIf(s sleepSetup) string {
	if s.found {
		return s.profile
	}
	return ""
}

// isSecret reports whether a variable may not stand in a file: its value is a secret of the profile or looks like one, or its
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
	return redact.New().Text(name+"="+value) != name+"="+value
}

// keysOf fails if a night could not be carried out with what a timer has: the variables of its profile and the file .env
// beside the user's profile. It names the variable and what helps.
func keysOf(a *app, s sleepSetup, p interface{ Variable(string) (string, bool) }, sets []string) error {
	dotenv := filepath.Join(filepath.Dir(s.profile), ".env")
	if info, err := os.Stat(dotenv); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return usagef("%s: others can read it, and nights have their keys from there; run: chmod 600 %s", dotenv, shellWord(dotenv))
	}
	from := *a
	from.lookup = p.Variable
	seen, err := from.sleepSetupOf(pathIf(s), s.profile, sets...)
	if err == nil {
		_, err = seen.ready()
	}
	if err == nil {
		return nil
	}
	var missing *wiring.MissingKeyError
	what := err.Error()
	if errors.As(err, &missing) {
		what = fmt.Sprintf("the key of models.%s stands in %s, a variable of this shell, and a timer has none of those", missing.Role, missing.Var)
		return usagef("%s\n%s", what, keyHelp(dotenv, missing.Var))
	}
	return usagef("a timer has no secrets of this shell, and without them: %s\n%s", what, keyHelp(dotenv, "NAME"))
}

// keyHelp says how a key is given to nights that a timer starts.
func keyHelp(dotenv, name string) string {
	return fmt.Sprintf("write the line %s=... into %s, which only you can read (umask 077; chmod 600 %s), and run this again", name, dotenv, shellWord(dotenv))
}
