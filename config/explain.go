package config

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Explanation is one key with its value, class and origin.
type Explanation struct {
	Key    string `json:"key"`
	Value  string `json:"value"` // JSON
	Class  Class  `json:"class"`
	Origin string `json:"origin"`
	Doc    string `json:"doc"`

	Type    string `json:"type"`              // of the value, in words
	Allowed string `json:"allowed,omitempty"` // of that type; absent: all of it
	Default string `json:"default"`           // JSON

	Untrusted string `json:"untrusted,omitempty"` // "yes": a tool call or a browser may set it
}

// Changed reports whether the value differs from the default.
func (e Explanation) Changed() bool { return e.Value != e.Default }

// Explain lists every key of a loaded configuration. Secrets are masked.
func (l *Loaded) Explain() []Explanation {
	var out []Explanation
	defaults := map[string]string{}
	for _, k := range Default().Keys() {
		defaults[k.Path] = k.Value
	}
	for _, k := range l.Config.Redacted(l.Redactor()).Keys() {
		origin := findOrigin(l.Origins, k.Path)
		if _, set := l.Origins[k.Path]; !set && !hasBelow(l.Origins, k.Path) {
			origin = "default"
		}
		out = append(out, Explanation{Key: k.Path, Value: k.Value, Class: k.Class, Origin: origin, Doc: k.Doc, Type: k.Type, Allowed: k.Allowed, Default: defaults[k.Path], Untrusted: k.Untrusted})
	}
	return out
}

func hasBelow(origins map[string]string, key string) bool {
	for k := range origins {
		if strings.HasPrefix(k, key+".") {
			return true
		}
	}
	return false
}

// About returns the documentation, with the mark of a key that a tool call or a browser may set.
func (e Explanation) About() string {
	if e.Untrusted == "" {
		return e.Doc
	}
	return e.Doc + " [untrusted]"
}

// Find returns the explanations of a key: its own, those of the keys in a block, or that of
// the mapping that it is an entry of. Where there is none, near is the key that was
// probably meant, "" if none is like it.
func Find(list []Explanation, key string) (found []Explanation, near string) {
	var names []string
	for _, e := range list {
		if e.Key == key || strings.HasPrefix(e.Key, key+".") || strings.HasPrefix(key, e.Key+".") && e.Type == typeText(reflect.TypeFor[map[string]any]()) {
			found = append(found, e)
		}
		names = append(names, e.Key)
		if block, _, ok := strings.Cut(e.Key, "."); ok && !slices.Contains(names, block) {
			names = append(names, block)
		}
	}
	if len(found) == 0 {
		near, _ = wording.Suggest(key, names)
		for _, name := range names { // the last part of a key alone
			if near == "" && strings.HasSuffix(name, "."+key) {
				near = name
			}
		}
	}
	return found, near
}

// WriteExplanations prints one line a key, aligned, with its documentation.
func WriteExplanations(w io.Writer, list []Explanation) error {
	for _, e := range list {
		if _, err := fmt.Fprintf(w, "%-32s %-24s %-12s %s\n%-32s   %s\n", e.Key, e.Value, e.Class, e.Origin, "", e.About()); err != nil {
			return fmt.Errorf("print explanation: %w", err)
		}
	}
	return nil
}

// Redacted returns a copy without the secrets that r knows, and without what has
// the name or the shape of one. Names of files, models and runs stay.
func (c Config) Redacted(r *redact.Redactor) Config {
	out := c
	redactInto(r, reflect.ValueOf(&out).Elem(), "")
	return out
}

// redactInto masks in v, whose maps and lists it replaces and does not change.
func redactInto(r *redact.Redactor, v reflect.Value, key string) {
	t := v.Type()
	for i := range t.NumField() {
		f, tag := v.Field(i), t.Field(i).Tag
		at := join(key, tag.Get("key"))
		switch value := f.Interface().(type) {
		case Secret:
			f.SetZero()
		case string:
			if !isPublic(at, tag) {
				f.Set(reflect.ValueOf(r.Text(value))) // also of an interface that holds text
			}
		case *string:
			if value != nil {
				text := r.Text(*value)
				f.Set(reflect.ValueOf(&text))
			}
		case []string:
			f.Set(reflect.ValueOf(redactArgs(r, value)))
		case []EnvMCP:
			value = slices.Clone(value)
			for i := range value {
				redactInto(r, reflect.ValueOf(&value[i]).Elem(), fmt.Sprintf("%s[%d]", at, i))
			}
			f.Set(reflect.ValueOf(value))
		case nil:
		default:
			if f.Kind() == reflect.Struct {
				redactInto(r, f, at)
				continue
			}
			if f.Kind() == reflect.Map && f.IsNil() || f.Kind() == reflect.Slice && f.IsNil() {
				continue
			}
			if headers, ok := value.(map[string]string); ok && tag.Get("key") == "headers" {
				value = withoutHeaders(headers)
			}
			f.Set(reflect.ValueOf(r.Value(value)))
		}
	}
}

// withoutHeaders masks the values of headers: whatever its name, one may be what a
// server knows its users by. Those stay that say nothing but who asks and what for.
func withoutHeaders(headers map[string]string) map[string]string {
	out := make(map[string]string, len(headers))
	for name, value := range headers {
		out[name] = value
		if secretHeader(name, value) {
			out[name] = redact.Mask
		}
	}
	return out
}

// filledIn is what of a header is filled in for each request.
var filledIn = pattern.New(`\{\{[^{}]*\}\}`)

// minHeader is the length in bytes from which the value of a header is masked.
const minHeader = 6

func secretHeader(name, value string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "User-Agent", "Http-Referer", "Referer", "Origin", "X-Title", "Accept", "Accept-Language", "Anthropic-Version", "Anthropic-Beta", "Openai-Beta":
		return false
	}
	return len(strings.TrimSpace(filledIn.ReplaceAllString(value, ""))) >= minHeader
}

// redactArgs masks the arguments of a command, and what follows a flag with the
// name of a secret.
func redactArgs(r *redact.Redactor, args []string) []string {
	if args == nil {
		return nil
	}
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = r.Text(arg)
		if i > 0 && strings.HasPrefix(args[i-1], "-") && !strings.Contains(args[i-1], "=") {
			out[i] = r.Entry(strings.TrimLeft(args[i-1], "-"), arg)
		}
	}
	return out
}

// YAML writes the configuration as a file that loads to the same values, with
// the keys in the order of the documentation. Keys at their default are left
// out when short is set.
func (c Config) YAML(short bool) ([]byte, error) {
	base := reflect.ValueOf(Default())
	out, err := yamlx.Encode(slice(reflect.ValueOf(c), base, short))
	if err != nil {
		return nil, fmt.Errorf("write config: %w", err)
	}
	return out, nil
}

func slice(v, base reflect.Value, short bool) yamlx.Ordered {
	var out yamlx.Ordered
	for i, tag := range keyFields(v.Type()) {
		key, f, b := tag.Get("key"), v.Field(i), base.Field(i)
		if key == "extends" || short && reflect.DeepEqual(f.Interface(), b.Interface()) {
			continue
		}
		if f.Kind() == reflect.Struct {
			out = append(out, yamlx.Entry{Key: key, Value: slice(f, b, short)})
			continue
		}
		if value := yamlValue(f); value != nil || !short {
			out = append(out, yamlx.Entry{Key: key, Value: value})
		}
	}
	return out
}

func yamlValue(f reflect.Value) any {
	switch v := f.Interface().(type) {
	case Duration:
		return v.Std().String()
	case Size:
		return v.String()
	case Age:
		return v.String()
	case Auto:
		if v == AutoCount {
			return v.String()
		}
		return int(v)
	case *Duration:
		if v == nil {
			return nil
		}
		return v.Std().String()
	case []EnvMCP:
		out := []any{}
		for _, m := range v {
			out = append(out, slice(reflect.ValueOf(m), reflect.ValueOf(EnvMCP{}), true))
		}
		return out
	case map[string]Price:
		out := yamlx.Ordered{}
		names := f.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range names {
			out = append(out, yamlx.Entry{Key: k.String(), Value: slice(f.MapIndex(k), reflect.ValueOf(Price{}), true)})
		}
		return out
	default:
		return v
	}
}
