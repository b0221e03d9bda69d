package record

import (
	"encoding/json"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// Participant is what took part in a run: the model of a role, or the agent.
type Participant struct {
	Role     string `json:"role"`               // target, optimizer, judge or agent
	Provider string `json:"provider,omitempty"` // of a model; "" if a program made it
	Model    string `json:"model,omitempty"`
	BaseURL  string `json:"base_url,omitempty"` // if it is not the provider's own
	Name     string `json:"name,omitempty"`     // of an agent, or of a client that a program brought
	Version  string `json:"version,omitempty"`  // of the program that is the agent or the model, if known
}

// String names it.
func (p Participant) String() string {
	var words []string
	for _, word := range []string{p.Name, strings.Trim(p.Provider+"/"+p.Model, "/"), p.Version} {
		if word != "" {
			words = append(words, word)
		}
	}
	if p.BaseURL != "" {
		words = append(words, "at "+p.BaseURL)
	}
	return strings.Join(words, " ")
}

// Participants lists the models and the agent of a run, as far as its manifest names
// them: of the models only those that a run of its kind calls.
func Participants(m run.Manifest) []Participant {
	roles := []string{model.Target, model.Optimizer, model.Judge}
	kind := m.Kind
	switch kind {
	case result.ServeModel:
		roles = []string{m.Identity["library.gateway"]}
	case result.Evaluate, result.MeasureNoise:
		roles = []string{model.Target, model.Judge}
	case result.DraftTasks, result.MineTasks, result.Reflect:
		roles = []string{model.Optimizer}
	}
	var all []Participant
	for _, role := range roles {
		p := Participant{
			Role: role, Provider: settingText(m, "models."+role+".provider"), Model: settingText(m, "models."+role+".model"),
			BaseURL: settingText(m, "models."+role+".base_url"), Name: m.Identity["library.client."+role], Version: settingText(m, "models."+role+".version"),
		}
		if p.Provider != "" || p.Name != "" {
			all = append(all, p)
		}
	}
	if name := settingText(m, "agent.name"); name != "" && kind.HasTasks() {
		all = append(all, Participant{Role: "agent", Name: name, Version: settingText(m, "agent.version")})
	}
	return all
}

// settingText returns a text of the settings in a manifest, "" if there is none. What was
// masked there stays masked.
func settingText(m run.Manifest, key string) string {
	value, ok := m.Identity[key]
	if !ok {
		value = m.Operational[key]
	}
	var text string
	if json.Unmarshal([]byte(value), &text) != nil {
		return value
	}
	return text
}
