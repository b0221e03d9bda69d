package preset

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Modes of thinking. The server's default sends nothing: strict servers refuse
// fields that they do not know.
const (
	ThinkingDefault  = "server_default"
	ThinkingEnabled  = "enabled"
	ThinkingDisabled = "disabled"
)

// Choice is what the user says about a server. Zero values leave the preset's.
type Choice struct {
	Model    string
	BaseURL  string // wins over Region
	Region   string
	Thinking string // a mode of thinking
}

// Resolved is all that is to be known to build a client.
type Resolved struct {
	Preset   string
	Protocol Protocol
	Cloud    Cloud
	Model    string
	BaseURL  string // without a trailing slash
	Region   string // "" when the preset has none, or BaseURL was given
	Key      KeyNeed
	KeyVar   string
	Quirks
	Think string         // the mode of thinking that was chosen, for the run's record
	Body  map[string]any // fields to be added to the body of every request; nil = none

	// Warning is what the user should hear once, "" if nothing.
	Warning string
}

// A ChoiceError says that the preset does not take what was chosen.
type ChoiceError struct {
	Preset  string
	Key     string   // provider, model, base_url, region, thinking, temperature, reasoning_effort or tool_choice
	Found   string   // "" when it is absent
	Allowed []string // values, or one description of them
	Why     string   // more to say, or ""
}

func (e *ChoiceError) Error() string {
	found := "nothing"
	if e.Found != "" {
		found = fmt.Sprintf("%q", e.Found)
	}
	text := fmt.Sprintf("%s: found %s, allowed for %s: %s", e.Key, found, e.Preset, strings.Join(e.Allowed, ", "))
	if best, ok := wording.Suggest(e.Found, e.Allowed); ok && e.Found != "" && len(e.Allowed) > 1 {
		text += fmt.Sprintf(" (did you mean %s?)", best)
	}
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Resolve applies a choice. A refused choice is a *ChoiceError.
func (p Preset) Resolve(c Choice) (Resolved, error) {
	if strings.TrimSpace(c.Model) == "" {
		return Resolved{}, &ChoiceError{Preset: p.Name, Key: "model", Allowed: []string{"the name of a model"}}
	}
	r := Resolved{
		Preset: p.Name, Protocol: p.Protocol, Cloud: p.Cloud, Model: c.Model,
		Key: p.Key, KeyVar: p.KeyVar, Quirks: p.Quirks,
	}
	for _, rule := range p.Rules {
		if rule.matches(c.Model) {
			r.Quirks = r.with(rule.Set)
			if rule.Protocol != "" {
				r.Protocol = rule.Protocol
			}
			break
		}
	}
	var err error
	if r.BaseURL, r.Region, err = p.address(c); err != nil {
		return Resolved{}, err
	}
	if r.elsewhere(p, c) {
		r.Warning = fmt.Sprintf("base_url %s is not that of %s: what is known of %s may not hold there", r.BaseURL, p.Name, p.Title)
	}
	if err := r.think(p, c); err != nil {
		return r, err
	}
	if r.ReasoningSplit {
		r.Body = with(r.Body, "reasoning_split", true)
	}
	return r, nil
}

// with returns fields with one more.
func with(fields map[string]any, name string, value any) map[string]any {
	out := maps.Clone(fields)
	if out == nil {
		out = map[string]any{}
	}
	out[name] = value
	return out
}

// elsewhere reports whether the user leads a hosted preset to another host.
func (r Resolved) elsewhere(p Preset, c Choice) bool {
	if c.BaseURL == "" || p.BaseURL == "" && p.Regions == nil || p.Key != KeyRequired {
		return false
	}
	known := []string{p.BaseURL}
	for _, region := range p.Regions {
		known = append(known, region.BaseURL)
	}
	return !slices.ContainsFunc(known, func(base string) bool { return host(base) == host(r.BaseURL) })
}

// with returns q with the values that are set in by instead of its own.
func (q Quirks) with(by Quirks) Quirks {
	set(&q.TokenField, by.TokenField)
	set(&q.SystemRole, by.SystemRole)
	set(&q.EffortField, by.EffortField)
	set(&q.SeedField, by.SeedField)
	set(&q.Temperature, by.Temperature)
	set(&q.MaxTemp, by.MaxTemp)
	set(&q.ToolAny, by.ToolAny)
	set(&q.Schema, by.Schema)
	set(&q.Vision, by.Vision)
	set(&q.CacheKey, by.CacheKey)
	set(&q.ReasoningField, by.ReasoningField)
	set(&q.ReasoningAlways, by.ReasoningAlways)
	set(&q.ReasoningSplit, by.ReasoningSplit)
	set(&q.Thinking, by.Thinking)
	set(&q.AlwaysThink, by.AlwaysThink)
	set(&q.Budget, by.Budget)
	if by.Efforts != nil {
		q.Efforts = by.Efforts
	}
	if by.ToolChoice != nil {
		q.ToolChoice = by.ToolChoice
	}
	return q
}

func set[T comparable](to *T, value T) {
	var zero T
	if value != zero {
		*to = value
	}
}

// address returns where the server is.
func (p Preset) address(c Choice) (base, region string, err error) {
	base, region, err = p.regional(c.Region, c.BaseURL != "")
	if err != nil || c.BaseURL == "" && base == "" {
		if err == nil {
			err = &ChoiceError{Preset: p.Name, Key: "base_url", Allowed: []string{"a URL such as " + p.Example}}
		}
		return "", "", err
	}
	if c.BaseURL != "" {
		base = c.BaseURL
		if region != c.Region { // only what the user said is kept, the default is not
			region = ""
		}
	}
	u, perr := url.Parse(base)
	if perr != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return "", "", &ChoiceError{
			Preset: p.Name, Key: "base_url", Found: hidePassword(base), Allowed: []string{"an http:// or https:// URL with a host and without user and password"},
		}
	}
	return strings.TrimRight(base, "/"), region, nil
}

// hidePassword returns a URL without what may be a password in it.
func hidePassword(base string) string {
	if strings.Contains(base, "@") {
		return "..." + base[strings.LastIndexByte(base, '@'):]
	}
	return base
}

// regional returns the address in a region.
func (p Preset) regional(region string, elsewhere bool) (base, name string, err error) {
	switch {
	case p.AnyRegion:
		if region == "" {
			if elsewhere {
				return "", "", nil
			}
			return "", "", &ChoiceError{Preset: p.Name, Key: "region", Allowed: []string{"a region such as " + p.Example}}
		}
		if !regionName(region) {
			return "", "", &ChoiceError{Preset: p.Name, Key: "region", Found: region, Allowed: []string{"a region such as " + p.Example}}
		}
		return regionURL(p.BaseURL, region), region, nil
	case len(p.Regions) == 0:
		if region != "" {
			return "", "", &ChoiceError{Preset: p.Name, Key: "region", Found: region, Allowed: []string{"none"}, Why: p.Title + " has no regions"}
		}
		return p.BaseURL, "", nil
	case region == "":
		return p.Regions[0].BaseURL, p.Regions[0].Name, nil
	}
	var names []string
	for _, r := range p.Regions {
		if r.Name == region {
			return r.BaseURL, r.Name, nil
		}
		names = append(names, r.Name)
	}
	return "", "", &ChoiceError{Preset: p.Name, Key: "region", Found: region, Allowed: names}
}

// regionURL puts a region into an address. Vertex AI's global endpoint is the
// one without a region in its host.
func regionURL(base, region string) string {
	if region == "global" {
		base = strings.Replace(base, "{region}-", "", 1)
	}
	return strings.ReplaceAll(base, "{region}", region)
}

// regionName keeps what is no region from becoming part of a host.
func regionName(s string) bool {
	return len(s) <= 40 && s[0] != '-' && s[len(s)-1] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// think sets what a mode of thinking puts into the body.
func (r *Resolved) think(p Preset, c Choice) error {
	modes := []string{ThinkingDefault, ThinkingEnabled, ThinkingDisabled}
	r.Think = c.Thinking
	if r.Think == "" {
		r.Think = ThinkingDefault
	}
	refused := &ChoiceError{Preset: p.Name, Key: "thinking", Found: c.Thinking, Allowed: modes}
	switch {
	case !slices.Contains(modes, r.Think):
		return refused
	case r.Think == ThinkingDefault:
		return nil
	case r.Thinking == SwitchNone || r.Thinking == "":
		refused.Allowed, refused.Why = modes[:1], p.Title+" has no switch for it: choose another model, or set reasoning_effort"
		return refused
	case r.AlwaysThink && r.Think == ThinkingDisabled:
		refused.Allowed, refused.Why = modes[:2], c.Model+" always thinks"
		return refused
	}
	r.Body = r.Thinking.body(r.Think == ThinkingEnabled)
	return nil
}

// body returns the fields that switch thinking; nil where the adapter does it.
func (s Switch) body(on bool) map[string]any {
	typed := func(name string) map[string]any {
		if !on {
			name = ThinkingDisabled
		}
		return map[string]any{"thinking": map[string]any{"type": name}}
	}
	switch s {
	case SwitchTemplate:
		return map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": on}}
	case SwitchFlag:
		return map[string]any{"enable_thinking": on}
	case SwitchType:
		return typed("enabled")
	case SwitchAdaptive:
		return typed("adaptive")
	}
	return nil
}

// Check reports whether the server takes a temperature (nil = none is sent) and
// a reasoning effort ("" = none is sent). What it does not is a *ChoiceError.
func (r Resolved) Check(temperature *float64, effort string) error {
	if err := r.checkEffort(effort); err != nil {
		return err
	}
	if temperature == nil {
		return nil
	}
	refused := &ChoiceError{Preset: r.Preset, Key: "temperature", Found: fmt.Sprint(*temperature), Allowed: []string{"null"}}
	highest := r.MaxTemp
	if highest == 0 {
		highest = 2
	}
	switch {
	case r.Temperature == TemperatureRefused:
		refused.Why = r.Model + " takes no temperature"
	case r.Temperature == TemperaturePlain && effort != "none":
		refused.Why = r.Model + " takes a temperature only with reasoning_effort none"
	case *temperature < 0 || *temperature > highest:
		refused.Allowed = []string{fmt.Sprintf("0 to %v", highest)}
	default:
		return nil
	}
	return refused
}

func (r Resolved) checkEffort(effort string) error {
	switch {
	case effort == "":
		return nil
	case r.EffortField == NoField:
		return &ChoiceError{
			Preset: r.Preset, Key: "reasoning_effort", Found: effort, Allowed: []string{`""`}, Why: r.Model + " has no reasoning effort",
		}
	case r.Efforts != nil && !slices.Contains(r.Efforts, effort):
		return &ChoiceError{Preset: r.Preset, Key: "reasoning_effort", Found: effort, Allowed: r.Efforts, Why: "for the model " + r.Model}
	}
	return nil
}

// Tools returns the word that the server has for a choice of tools (see
// model.Request.ToolChoice), or a *ChoiceError if it has none.
func (r Resolved) Tools(choice string) (string, error) {
	form := choice
	switch choice {
	case "":
		return "", nil
	case FormAuto, FormNone, FormRequired:
	default:
		form = FormNamed
	}
	if r.ToolChoice != nil && !slices.Contains(r.ToolChoice, form) {
		return "", &ChoiceError{Preset: r.Preset, Key: "tool_choice", Found: choice, Allowed: r.ToolChoice}
	}
	if form == FormRequired && r.ToolAny != "" {
		return r.ToolAny, nil
	}
	return choice, nil
}

func host(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Host
}

func lower(s string) string { return strings.ToLower(s) }

// glob matches a pattern in which * represents any text.
func glob(pattern, text string) bool {
	head, rest, starred := strings.Cut(pattern, "*")
	if !starred {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, head)
	for ok && strings.Contains(rest, "*") {
		var middle string
		middle, rest, _ = strings.Cut(rest, "*")
		_, text, ok = strings.Cut(text, middle)
	}
	return ok && strings.HasSuffix(text, rest)
}
