package price

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// LiteLLM is where the table of that project is published.
const LiteLLM = "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json"

// Skipped is a row that should have a price and cannot be read.
type Skipped struct {
	Name string
	Why  string
}

// foreign is a row of the table of LiteLLM, in dollars a token.
type foreign struct {
	Provider   string           `json:"litellm_provider"`
	Mode       string           `json:"mode"`
	Source     string           `json:"source"`
	Input      *float64         `json:"input_cost_per_token"`
	Output     *float64         `json:"output_cost_per_token"`
	Cached     *float64         `json:"cache_read_input_token_cost"`
	CacheWrite *float64         `json:"cache_creation_input_token_cost"`
	MaxInput   *json.RawMessage `json:"max_input_tokens"`
	MaxOutput  *json.RawMessage `json:"max_output_tokens"`
}

// Read reads a table of prices: one that LiteLLM publishes, as of a day, or one that Parse reads.
// Rows that are left out are returned.
func Read(data []byte, asOf string) (Table, []Skipped, error) {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return ParseLiteLLM(data, asOf)
	}
	t, err := Parse(bytes.NewReader(data))
	return t, nil, err
}

// ParseLiteLLM reads the table of prices that LiteLLM publishes, as of a day. Rows
// that cannot be read are returned and left out, never guessed; rows of other providers,
// and of models that write no text, are left out. An entry without a source of its own has
// that of the table. A table without a price is an error.
func ParseLiteLLM(data []byte, asOf string) (t Table, bad []Skipped, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	var rows map[string]json.RawMessage
	if err := dec.Decode(&rows); err != nil {
		return Table{}, nil, errors.New("it is no table of LiteLLM: not a JSON object by the names of models")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Table{}, nil, errors.New("it is no table of LiteLLM: there is text after the object; download model_prices_and_context_window.json again")
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if name == "sample_spec" { // how the table explains itself
			continue
		}
		e, ours, err := importRow(name, rows[name])
		id := e.Provider + "/" + e.Model
		switch {
		case err != nil:
			bad = append(bad, Skipped{name, err.Error()})
		case seen[id]:
			bad = append(bad, Skipped{name, "another row has a price of the same model"})
		case ours:
			seen[id] = true
			e.AsOf = asOf
			t.rows = append(t.rows, row{names: []string{e.Model}, entry: e})
		}
	}
	if len(t.rows) == 0 {
		return Table{}, nil, errors.New("it holds no price of a model that skillopt knows a server of")
	}
	return t, bad, nil
}

// providerNames returns the names of our providers by those of LiteLLM.
func providerNames() map[string]string {
	return map[string]string{
		"openai": "openai", "anthropic": "anthropic", "gemini": "gemini", "mistral": "mistral", "xai": "xai", "groq": "groq",
		"deepseek": "deepseek", "minimax": "minimax", "together_ai": "together", "fireworks_ai": "fireworks", "openrouter": "openrouter",
	}
}

// importRow reads one row. ours is false of what is no model of ours.
func importRow(name string, data json.RawMessage) (e Entry, ours bool, err error) {
	var f foreign
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return e, false, errors.New("it is no object")
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return e, false, errors.New("a field has another type than it should")
	}
	provider, known := providerNames()[f.Provider]
	if !known || !slices.Contains([]string{"chat", "completion", "responses"}, f.Mode) {
		return e, false, nil
	}
	e = Entry{Provider: provider, Model: strings.ToLower(strings.TrimPrefix(name, f.Provider+"/")), Source: f.Source}
	if !strings.HasPrefix(e.Source, "https://") {
		e.Source = LiteLLM
	}
	if !plainName(e.Model) || strings.ContainsFunc(e.Source, unprintable) {
		return e, true, errors.New("its name or source is no plain text")
	}
	if f.Input == nil || f.Output == nil {
		return e, true, errors.New("it has no price of input and output by the token")
	}
	e.Price, err = perMillion(*f.Input, *f.Output, f.Cached, f.CacheWrite)
	err = errors.Join(err, limit(f.MaxInput, &e.MaxInput), limit(f.MaxOutput, &e.MaxOutput), e.importTier(all, f))
	return e, true, err
}

func plainName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }

// perMillion turns dollars a token into those a million. What is absent costs as much
// as input.
func perMillion(input, output float64, cached, written *float64) (Price, error) {
	p := Price{Input: million(input), Output: million(output)}
	p.Cached, p.CacheWrite = p.Input, p.Input
	if cached != nil {
		p.Cached = million(*cached)
	}
	if written != nil {
		p.CacheWrite = million(*written)
	}
	for _, v := range []float64{p.Input, p.Output, p.Cached, p.CacheWrite} {
		if v < 0 || v > 1e6 || math.IsNaN(v) {
			return p, errors.New("a price cannot be true")
		}
	}
	return p, nil
}

// million multiplies by a million without the digits that a binary fraction adds.
func million(v float64) float64 {
	f, err := strconv.ParseFloat(strconv.FormatFloat(v*1e6, 'g', 12, 64), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// limit reads a number of tokens; absent or null is not known.
func limit(raw *json.RawMessage, to *int64) error {
	if raw == nil {
		return nil
	}
	var n float64
	if json.Unmarshal(*raw, &n) != nil || n < 0 || n > 1e9 || n != math.Trunc(n) {
		return errors.New("a limit is no number of tokens")
	}
	*to = int64(n)
	return nil
}

// importTier reads the price of long prompts, whose length is in the names of the
// fields: input_cost_per_token_above_200k_tokens. Several lengths have no place in a
// row of ours.
func (e *Entry) importTier(all map[string]json.RawMessage, f foreign) error {
	const prefix, suffix = "input_cost_per_token_above_", "_tokens"
	length := ""
	for _, key := range slices.Sorted(maps.Keys(all)) {
		rest, ok := strings.CutPrefix(key, prefix)
		at, tier := strings.CutSuffix(rest, suffix)
		if !ok || !tier || string(all[key]) == "null" {
			continue
		}
		if length != "" {
			return errors.New("it has prices for prompts of several lengths")
		}
		length = at
	}
	if length == "" {
		return nil
	}
	thousands, err := strconv.ParseInt(strings.TrimSuffix(length, "k"), 10, 64)
	if err != nil || !strings.HasSuffix(length, "k") || thousands <= 0 || thousands > 1e6 {
		return fmt.Errorf("it has a price above %q, which is no length", length)
	}
	return e.longPrice(all, f, length, 1000*thousands)
}

func (e *Entry) longPrice(all map[string]json.RawMessage, f foreign, length string, upTo int64) (err error) {
	read := func(name string) *float64 {
		raw, ok := all[name+"_above_"+length+"_tokens"]
		var v *float64
		if ok && json.Unmarshal(raw, &v) != nil {
			err = errors.New("a price of long prompts is no number")
		}
		return v
	}
	input, output := read("input_cost_per_token"), read("output_cost_per_token")
	cached, written := read("cache_read_input_token_cost"), read("cache_creation_input_token_cost")
	if f.CacheWrite == nil {
		written = nil // it is what keeping the text costs, not what writing it does
	}
	if err != nil {
		return err
	}
	if input == nil || output == nil {
		return errors.New("it has half a price of long prompts")
	}
	e.UpTo = upTo
	e.Long, err = perMillion(*input, *output, cached, written)
	return err
}
