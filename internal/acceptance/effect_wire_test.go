package acceptance_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/testing/cloudtest"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/model"
)

// wired asks the model of a config once and returns all that can be seen of it:
// the requests that arrived, where they would go, and the result.
func wired(t *testing.T, role string, change ...func(m *config.Model, url string)) string {
	t.Helper()
	var mu sync.Mutex
	var seen strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(&seen, r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("Api-Key"), r.Header.Get("X-Amz-Security-Token"), string(body), err)
		http.Error(w, `{"error":{"message":"down"}}`, http.StatusServiceUnavailable)
	}))
	defer server.Close()
	m := config.Default().Models.Target
	m.Model = "m"
	for _, c := range change {
		c(&m, server.URL)
	}
	home := t.TempDir()
	lookup := func(name string) (string, bool) {
		if strings.Contains(strings.ToUpper(name), "PROXY") {
			return "", false
		}
		if name == "PATH" {
			return os.Getenv(name), true
		}
		if name == "HOME" {
			return home, true
		}
		return "secret-of-" + name, true
	}
	b, err := wiring.Client(role, m, lookup, cloudtest.Clouds())
	if err != nil {
		return err.Error()
	}
	if b.Close != nil {
		defer b.Close()
	}
	_, err = b.Client.Generate(t.Context(), model.Request{
		Model: m.Model, Messages: []model.Message{{Role: model.User, Content: "q"}}, Tags: model.Tags{Role: role},
	})
	mu.Lock()
	defer mu.Unlock()
	text := fmt.Sprintln(b.Endpoint, b.Warnings, err, seen.String())
	return strings.ReplaceAll(text, server.URL, "SERVER")
}

// reaches compares a model with a change of its config to one without.
func reaches(role string, base, change func(*config.Model, string)) effect {
	return effect{test: func(t *testing.T) {
		before, after := wired(t, role, base), wired(t, role, base, change)
		if before == after {
			t.Errorf("nothing changed: %s", after)
		}
	}}
}

func from(provider string, path string) func(*config.Model, string) {
	return func(m *config.Model, url string) {
		m.Provider = provider
		if path != "-" {
			m.BaseURL = url + path
		}
	}
}

// wireEffects are those of keys that only some providers know.
func wireEffects(role string) map[string]effect {
	out := map[string]effect{
		"region":    reaches(role, from("minimax", "-"), func(m *config.Model, _ string) { m.Region = "cn_zh"; m.BaseURL = "" }),
		"endpoints": reaches(role, from("compatible", "/v1"), func(m *config.Model, url string) { m.Endpoints = []string{url + "/other/v1"} }),
		"thinking":  reaches(role, from("vllm", "/v1"), func(m *config.Model, _ string) { m.Thinking = "disabled" }),
		"api":       reaches(role, from("compatible", "/v1"), func(m *config.Model, _ string) { m.API = "responses" }),
		"context":   reaches(role, from("ollama", ""), func(m *config.Model, _ string) { m.Context = 2048 }),
		"stream":    reaches(role, from("compatible", "/v1"), func(m *config.Model, _ string) { m.Stream = true }),
		"command":   {test: func(t *testing.T) { loginStarts(t, role) }},
		"folder": {test: func(t *testing.T) {
			dir := t.TempDir()
			wired(t, role, func(m *config.Model, _ string) { m.Provider, m.Folder = "handoff", dir })
			if files, err := filepath.Glob(filepath.Join(dir, "questions", "*")); err != nil || len(files) == 0 {
				t.Errorf("no question is written: %v", err)
			}
		}},
		"azure_auth": reaches(role, from("azure", ""), func(m *config.Model, _ string) { m.AzureAuth = "compatible" }),
	}
	named := map[string]effect{}
	for key, e := range out {
		named["models."+role+"."+key] = e
	}
	return named
}

// loginStarts proves that the program of a seat is the one that was named.
func loginStarts(t *testing.T, role string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a shell script, which Windows cannot run")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "claude")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+dir+"/started\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	wired(t, role, func(m *config.Model, _ string) { m.Provider, m.Command = "claude-cli", program })
	if _, err := os.Stat(filepath.Join(dir, "started")); err != nil {
		t.Errorf("the program was not started: %v", err)
	}
}

// withWire adds the effects of a role's keys that only some providers know.
func withWire(all map[string]effect) map[string]effect {
	for _, role := range []string{model.Target, model.Optimizer, model.Judge} {
		maps.Copy(all, wireEffects(role))
	}
	return all
}
