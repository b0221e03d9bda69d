package wiring

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/provider/preset"
)

// Offer is a model that can be asked from here without more settings.
type Offer struct {
	Target    string `json:"target"`    // as the flag --target names it
	Optimizer string `json:"optimizer"` // as --optimizer names it; "": none, worked examples alone
	Why       string `json:"why"`       // in words
}

// KeyOffers returns the models of vendors whose keys are in the environment: a cheap one to
// carry out tasks, a strong one to propose edits.
func KeyOffers(lookup func(string) (string, bool)) (out []Offer) {
	for _, v := range []struct{ provider, target, optimizer string }{
		{"anthropic", "claude-haiku-4-5", "claude-sonnet-4-5"},
		{"openai", "gpt-5-mini", "gpt-5"},
		{"gemini", "gemini-2.5-flash", "gemini-2.5-pro"},
	} {
		p, _ := preset.Lookup(v.provider)
		if key, ok := lookup(p.KeyVar); ok && key != "" {
			out = append(out, Offer{Target: v.provider + "/" + v.target, Optimizer: v.provider + "/" + v.optimizer, Why: p.KeyVar + " is set"})
		}
	}
	return out
}

// LocalServer is a model server at its usual address on this machine.
type LocalServer struct{ Title, Base string }

// LocalServers returns the usual addresses of model servers.
func LocalServers() []LocalServer {
	return []LocalServer{
		{"Ollama", "http://127.0.0.1:11434/v1"},
		{"llama.cpp", "http://127.0.0.1:8080/v1"},
		{"LM Studio", "http://127.0.0.1:1234/v1"},
		{"vLLM", "http://127.0.0.1:8000/v1"},
	}
}

// Bounds of a question to a server that may not be there.
const (
	offerWait    = 500 * time.Millisecond
	offerBytes   = 1 << 20
	offersServer = 5 // of a server that has many
)

// Offers returns models that the server has, none if it does not answer.
func (s LocalServer) Offers(ctx context.Context) (out []Offer) {
	ctx, cancel := context.WithTimeout(ctx, offerWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Base+"/models", nil)
	if err != nil {
		return nil
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, offerBytes)).Decode(&list) != nil {
		return nil
	}
	for _, m := range list.Data {
		if len(out) < offersServer && isModelName(m.ID) {
			out = append(out, Offer{Target: fmt.Sprintf("%s@%s", m.ID, s.Base), Why: s.Title + " runs here"})
		}
	}
	return out
}

// isModelName reports whether what a server calls a model is a word that can be shown and typed.
func isModelName(id string) bool {
	return id != "" && len(id) <= 200 && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) })
}
