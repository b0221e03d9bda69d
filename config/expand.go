package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

var variable = pattern.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// spot is a place in the tree of a config.
type spot struct {
	key    string
	holds  reflect.Type // nil: anything
	public bool         // its value is the name of a thing, and never a secret
}

// child returns the spot of a named value in s.
func (s spot) child(name string) spot {
	at := spot{key: join(s.key, name), public: s.public}
	switch {
	case s.holds == nil:
	case s.holds.Kind() == reflect.Map:
		at.holds = s.holds.Elem()
	case s.holds.Kind() == reflect.Struct:
		for i, tag := range keyFields(s.holds) {
			if tag.Get("key") == name {
				at.holds, at.public = s.holds.Field(i).Type, isPublic(at.key, tag)
			}
		}
	}
	if at.holds != nil && at.holds.Kind() == reflect.Pointer {
		at.holds = at.holds.Elem()
	}
	return at
}

// element returns the spot of the elements of the list in s.
func (s spot) element() spot {
	if s.holds != nil && s.holds.Kind() == reflect.Slice {
		s.holds = s.holds.Elem()
		return s
	}
	s.holds = nil
	return s
}

// isPublic reports whether a key holds a file, a choice or a name, which its
// readers need to see.
func isPublic(key string, tag reflect.StructTag) bool {
	name := tag.Get("key")
	return tag.Get("path") != "" || tag.Get("enum") != "" || name == "model" || key == "run.dir" || key == "run.name"
}

// expand replaces ${NAME} in every text of the tree. A value that is just one
// variable is read as YAML, so that numbers can come from the environment,
// unless its key holds text: a token 0017 is no number. A free value, such as one
// of extras, is a number only if it is written like one, 7 and not 007.
func (l *loader) expand(d *decoder, node any, at spot) any {
	switch n := node.(type) {
	case map[string]any:
		for _, k := range sortedKeys(n) {
			n[k] = l.expand(d, n[k], at.child(k))
		}
	case []any:
		for i := range n {
			n[i] = l.expand(d, n[i], at.element())
		}
	case string:
		return l.expandText(d, n, at)
	}
	return node
}

func (l *loader) expandText(d *decoder, text string, at spot) any {
	if !variable.MatchString(text) {
		return text
	}
	out := variable.Regexp().ReplaceAllStringFunc(text, func(m string) string {
		name := variable.FindStringSubmatch(m)[1]
		v, ok := l.lookup(name)
		if l.expanded += len(v); l.expanded > maxExpanded {
			l.tooLong(d, at.key)
			return ""
		}
		if hint := "export " + name + "=..."; !ok {
			if l.opts.Guard != nil {
				hint += ", or trust the .env by its SHA-256 (docs/trust.md)"
			}
			d.fail(at.key, m+", a variable that is not set", "a variable of the environment or of the .env file next to the config", hint)
		}
		if !at.public {
			l.secrets = append(l.secrets, secretsIn(v)...)
		}
		return v
	})
	if variable.FindString(text) != text || at.holds != nil && at.holds.Kind() == reflect.String {
		return out
	}
	s, err := ParseSetting("x=" + out)
	if err != nil {
		return out
	}
	if _, nested := s.Value.(map[string]any); nested || s.Value == nil {
		return out
	}
	_, list := s.Value.([]any)
	if free := at.holds == nil || at.holds.Kind() == reflect.Interface; free && (list || fmt.Sprint(s.Value) != out) {
		return out // what expects nothing in particular gets what is there
	}
	return s.Value
}

// tooLong says once that the variables of a config represent too much.
func (l *loader) tooLong(d *decoder, key string) {
	if !l.overlong {
		d.fail(key, "variables that expand to more than "+disk.Size(maxExpanded)+" in all", "shorter values, or fewer of them", "")
	}
	l.overlong = true
}

// minSecret is the length in bytes from which the value of a variable is taken
// for a secret.
const minSecret = 6

// minSecretPath is the length from which a part of a URL's path is.
const minSecretPath = 16

// secretsIn returns what of a variable's value must not be shown: all of it, but
// of a URL what is not its address, and nothing of numbers and booleans.
func secretsIn(value string) []string {
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return nil
	}
	if _, err := strconv.ParseBool(value); err == nil || len(value) < minSecret {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return []string{value}
	}
	secrets := []string{u.RawQuery}
	if password, ok := u.User.Password(); ok {
		secrets = append(secrets, password, u.User.String())
	}
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if len(part) >= minSecretPath {
			secrets = append(secrets, part)
		}
	}
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	return secrets
}

// Redactor knows the secrets of a configuration, which may be nil: what came from variables, what is
// under the name of a secret, and those that are given also. The names of models, files and runs
// are none. It is for this program alone.
func (l *Loaded) Redactor(also ...string) *redact.Redactor {
	return redact.New(append(l.Secrets(), also...)...)
}

// Secrets returns the values that Redactor looks for.
func (l *Loaded) Secrets() []string {
	if l == nil {
		return nil
	}
	secrets := append([]string(nil), l.secrets...)
	for _, s := range namedSecrets(reflect.ValueOf(l.Config), "") {
		secrets = append(secrets, s)
		// Of "Bearer KEY" the key alone is one as well.
		if words := strings.Fields(s); len(words) > 1 {
			secrets = append(secrets, words[len(words)-1])
		}
	}
	return secrets
}

// headerSecrets returns the parts of a header that are long enough to be a secret.
func headerSecrets(name, value string) []string {
	if !secretHeader(name, value) {
		return nil
	}
	return slices.DeleteFunc(strings.Fields(filledIn.ReplaceAllString(value, " ")), func(part string) bool { return len(part) < minSecretPath })
}

// minQuery is the length from which a value in the query of an address is taken
// for a secret; names of regions are shorter.
const minQuery = 12

// addressSecrets returns what of an address must not be shown: its password, and
// long values of its query.
func addressSecrets(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return nil
	}
	var out []string
	if password, ok := u.User.Password(); ok {
		out = append(out, password)
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if name != "api-version" && (len(v) >= minQuery || redact.IsSecret(name, v)) {
				out = append(out, v)
			}
		}
	}
	return out
}

// namedSecrets returns the texts under the names of secrets, at any depth.
func namedSecrets(v reflect.Value, name string) []string {
	var out []string
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			return namedSecrets(v.Elem(), name)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, namedSecrets(v.Field(i), v.Type().Field(i).Tag.Get("key"))...)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if text, ok := it.Value().Interface().(string); ok && name == "headers" {
				out = append(out, headerSecrets(it.Key().String(), text)...)
			}
			out = append(out, namedSecrets(it.Value(), it.Key().String())...)
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, namedSecrets(v.Index(i), name)...)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[Secret]() {
			return []string{v.String()}
		}
		if name == "base_url" || name == "endpoints" {
			return addressSecrets(v.String())
		}
		if s := v.String(); redact.IsSecret(name, s) {
			return []string{s}
		}
	}
	return out
}
