// Package preset knows the servers of models by name: which protocol each one
// speaks, where it is, which variable holds its key, and in what it differs
// from the protocol that it copies. It is data: a table (table.go) whose rows
// say when they were last compared with the provider's documentation.
//
// It knows nothing about adapters, opens no connection and reads no variable:
// what it resolves is passed to the code that builds a client.
package preset

import (
	"path"
	"slices"
)

// Protocol is what is spoken on the wire.
type Protocol string

// The protocols. OpenAI prefers the Responses API and falls back to Chat
// Completions; OpenAIChat knows only the latter, as nearly all servers do that
// call themselves compatible.
const (
	OpenAI     Protocol = "openai"
	OpenAIChat Protocol = "openai-chat"
	Anthropic  Protocol = "anthropic"
	Gemini     Protocol = "gemini"
	Ollama     Protocol = "ollama"
)

// Cloud is who signs requests, where a key alone does not.
type Cloud string

// The clouds. A preset without one sends its key as the protocol does.
const (
	Azure   Cloud = "azure"   // a key in the header api-key, or a token of Entra ID
	Bedrock Cloud = "bedrock" // AWS credentials, or a bearer token
	Vertex  Cloud = "vertex"  // Google's application default credentials
)

// KeyNeed says whether a server works without a key.
type KeyNeed string

// The needs of a key.
const (
	KeyRequired KeyNeed = "required"
	KeyOptional KeyNeed = "optional" // local servers and gateways take one when they were started with one
	KeyNone     KeyNeed = "none"
)

// Preset is a server known by name.
type Preset struct {
	Name     string
	Title    string // as its maker writes it
	Protocol Protocol
	Cloud    Cloud

	// BaseURL is the address up to the version; "" means that the user must give
	// one, of the form of Example. {region} represents the region.
	BaseURL string
	Example string
	// Regions are the addresses of the regions, the default first; nil when the
	// server has none. AnyRegion takes the name of any region into BaseURL.
	Regions   []Region
	AnyRegion bool

	Key    KeyNeed
	KeyVar string // variable that holds the key unless the user names another; "" when there is no custom

	Quirks
	Rules []Rule // what differs by model; the first that matches is applied

	AsOf string // when this was compared with the documentation: year-month
	Doc  string // where that is
}

// Region is an address of a server that has several.
type Region struct {
	Name    string
	BaseURL string
}

// Rule changes the quirks for some models.
type Rule struct {
	Models   []string // patterns in which * represents any text, compared without case
	Protocol Protocol // "" = the preset's
	Set      Quirks   // what is not zero replaces the preset's
	AsOf     string
}

// Temperature says what a server makes of a temperature.
type Temperature string

// What happens to a temperature.
const (
	TemperatureRefused Temperature = "refused"  // the request fails
	TemperatureIgnored Temperature = "ignored"  // it is taken and changes nothing, unless thinking is disabled
	TemperaturePlain   Temperature = "no-think" // it is taken only with the reasoning effort "none"
)

// Schema says how a server takes a JSON Schema of the answer.
type Schema string

// The ways to ask for structured output.
const (
	SchemaNative Schema = "json_schema" // in the field of the protocol
	SchemaJSON   Schema = "json_object" // only that the answer is JSON
	SchemaNone   Schema = "none"
)

// Answer is yes, no, or that it depends on the model or is not known.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	ByModel Answer = "by_model"
)

// Switch is how a server's thinking is switched on and off.
type Switch string

// The switches.
const (
	SwitchNone     Switch = "none"     // it cannot be switched by a field of its own
	SwitchTemplate Switch = "template" // chat_template_kwargs: {enable_thinking: bool}
	SwitchFlag     Switch = "flag"     // enable_thinking: bool at the top of the body
	SwitchType     Switch = "type"     // thinking: {type: enabled | disabled}
	SwitchAdaptive Switch = "adaptive" // thinking: {type: adaptive | disabled}
	SwitchThink    Switch = "think"    // Ollama's think: bool
	SwitchAdapter  Switch = "adapter"  // a matter of the protocol, which the adapter knows
)

// Quirks are in what a server differs. In a Rule zero means: as the preset has
// it.
type Quirks struct {
	TokenField  string      // field of the limit of output tokens; "" = the protocol's own
	SystemRole  string      // role of instructions, "system" or "developer"
	EffortField string      // field of the reasoning effort; "" = the protocol's own; NoField = there is none
	Efforts     []string    // values it takes; nil = not known, any is sent
	SeedField   string      // field of the seed; "" = the protocol's own; NoField = a seed is not sent
	Temperature Temperature // "" = taken
	MaxTemp     float64     // highest temperature; 0 = 2
	ToolChoice  []string    // forms that are understood: auto, none, required, named; nil = all
	ToolAny     string      // word for "required" where it is another
	Schema      Schema
	Vision      Answer
	CacheKey    bool // takes prompt_cache_key
	// ReasoningField is where a message takes the model's own reasoning back, in
	// Chat Completions; "" = nowhere.
	ReasoningField string
	// ReasoningAlways says that a call of a tool is refused without that field while
	// the model thinks.
	ReasoningAlways bool
	// ReasoningSplit says that reasoning is in the text of an answer unless a
	// field asks for it apart.
	ReasoningSplit bool
	Thinking       Switch
	AlwaysThink    bool // thinking cannot be disabled
	Budget         bool // a reasoning effort becomes a number of tokens (protocols anthropic and gemini)
}

// NoField replaces the name of a field that a server does not have.
const NoField = "-"

// Forms of the choice of tools.
const (
	FormAuto     = "auto"
	FormNone     = "none"
	FormRequired = "required"
	FormNamed    = "named" // one tool by its name
)

// Lookup returns the preset of a name.
func Lookup(name string) (Preset, bool) {
	all := table()
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return all[i], true
}

// Names returns the names of all presets, sorted.
func Names() []string {
	var names []string
	for _, p := range table() {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// matches reports whether a model is one of the rule's. Makers of models and
// gateways put names before it, as in openai/gpt-5: only what follows counts.
func (r Rule) matches(model string) bool {
	model = lower(path.Base(model))
	return slices.ContainsFunc(r.Models, func(pattern string) bool { return glob(pattern, model) })
}
