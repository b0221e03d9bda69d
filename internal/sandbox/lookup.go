package sandbox

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// lookPath finds a program: a bare name in the absolute folders of the PATH of
// env, a relative path from dir.
func lookPath(name, dir string, env []string) (string, error) {
	if strings.ContainsAny(name, separators()) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return exec.LookPath(name)
	}
	folders := variable(env, "PATH")
	for _, folder := range filepath.SplitList(folders) {
		if !filepath.IsAbs(folder) {
			continue // it would depend on where we happen to be
		}
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s is in no folder of its PATH %q", exec.ErrNotFound, name, folders)
}

func separators() string {
	if runtime.GOOS == "windows" {
		return `/\:`
	}
	return "/"
}

// variable returns the last value of a name in an environment, as the program sees it.
func variable(env []string, name string) string {
	value := ""
	for _, entry := range env {
		key, v, _ := strings.Cut(entry, "=")
		if key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name) {
			value = v
		}
	}
	return value
}
