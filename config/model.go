package config

import (
	"fmt"
	"io"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// Secret is a text that is not printed.
type Secret string

// Format prints a mask, whatever the verb, and nothing of no text.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, s.mask()) }

// MarshalText returns what Format prints.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.mask()), nil }

func (s Secret) mask() string {
	if s == "" {
		return ""
	}
	return redact.Mask
}

// NewModel returns a model of a provider, as the keys models.*.provider and models.*.model name it.
func NewModel(provider, name string) Model {
	m := Default().Models.Target
	m.Provider, m.Model = provider, name
	return m
}

// OpenAI returns a model of OpenAI, whose key is in OPENAI_API_KEY.
func OpenAI(name string) Model { return NewModel("openai", name) }

// Anthropic returns a model of Anthropic, whose key is in ANTHROPIC_API_KEY.
func Anthropic(name string) Model { return NewModel("anthropic", name) }

// Ollama returns a model of Ollama on this machine; elsewhere, set BaseURL.
func Ollama(name string) Model { return NewModel("ollama", name) }

// Compatible returns a model of a server that speaks Chat Completions, by its URL up to /v1.
func Compatible(baseURL, name string) Model {
	m := NewModel("compatible", name)
	m.BaseURL = baseURL
	return m
}

// WithKey returns the model with its key as a value, which no variable has to hold. It is never
// written or printed, and no part of what a run is.
func (m Model) WithKey(key string) Model {
	m.Key = Secret(key)
	return m
}
