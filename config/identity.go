package config

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// Class says whether a key may change between resumes of a run.
type Class string

const (
	Operational Class = "operational" // may change: limits, endpoints, keys, prices
	Identity    Class = "identity"    // part of what the run is
)

// Key is one leaf of the configuration.
type Key struct {
	Path  string
	Value string // JSON
	Class Class
	Doc   string
	File  bool // the value is a path; its content counts, not its name

	Untrusted string   // "yes": a tool call or a browser may set it; docs/trust.md
	Type      string   // what its value is, in words
	Allowed   string   // what of that type is allowed, "" if all of it
	Values    []string // the values that there are, if they are a few names
}

// Keys lists all leaves in the order of the struct.
func (c Config) Keys() []Key {
	var out []Key
	leaves(reflect.ValueOf(c), "", Identity, &out)
	return out
}

func leaves(v reflect.Value, prefix string, class Class, out *[]Key) {
	t := v.Type()
	for i, tag := range keyFields(t) {
		key := join(prefix, tag.Get("key"))
		cl := class
		if isOperational(key) || tag.Get("class") == "operational" {
			cl = Operational
		}
		if t.Field(i).Type.Kind() == reflect.Struct {
			leaves(v.Field(i), key, cl, out)
			continue
		}
		*out = append(*out, Key{Path: key, Value: jsonText(v.Field(i).Interface()), Class: cl, Doc: tag.Get("doc"), Type: typeText(t.Field(i).Type), Allowed: allowedText(tag), Values: enumNames(tag), File: tag.Get("path") != "", Untrusted: tag.Get("untrusted")})
	}
}

// typeText returns what the values of a type are, in words.
func typeText(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Duration]():
		return "a duration such as 30s"
	case reflect.TypeFor[Age]():
		return ageWant
	case reflect.TypeFor[Size]():
		return "a size such as 4GiB"
	case reflect.TypeFor[Auto]():
		return "auto or a whole number"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeText(t.Elem()) + ", or null"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a mapping"
	}
	return "text, a list or a mapping"
}

// enumNames returns the names that a key allows; nil: others too.
func enumNames(tag reflect.StructTag) []string {
	list, ok := tag.Lookup("enum")
	if !ok {
		return nil
	}
	return strings.Split(strings.TrimPrefix(list, ","), ",")
}

// allowedText returns what the tags of a key allow.
func allowedText(tag reflect.StructTag) string {
	if list, ok := tag.Lookup("enum"); ok {
		return strings.ReplaceAll(strings.TrimPrefix(list, ","), ",", ", ")
	}
	lo, hasLo := tag.Lookup("min")
	hi, hasHi := tag.Lookup("max")
	if hasLo || hasHi {
		return rangeText(lo, hi)
	}
	return ""
}

// isOperational names the blocks that never belong to the identity. extends is
// how a config was written, not what it says.
func isOperational(key string) bool {
	return key == "limits" || key == "prices" || key == "cache" || key == "telemetry" || key == "run" || key == "extends"
}

func jsonText(v any) string {
	b, err := json.Marshal(plain(v))
	if err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(v))
	}
	return string(b)
}

// plain makes nil maps and slices equal to empty ones, so that a key written as
// [] is the key left out.
func plain(v any) any {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Map:
		if r.Len() == 0 {
			return map[string]any{}
		}
	case reflect.Slice:
		if r.Len() == 0 {
			return []any{}
		}
	}
	return v
}

// Fingerprint returns the identity of a run as key -> value. contents replaces
// the paths of files with digests of their contents (key -> digest). A value in which r finds
// a secret is replaced by its digest. r may be nil: nothing is secret.
func (c Config) Fingerprint(contents map[string]string, r *redact.Redactor) map[string]string {
	out, shown := map[string]string{}, c.Keys()
	if r != nil {
		shown = c.Redacted(r).Keys()
	}
	for i, k := range c.Keys() {
		if k.Class == Operational {
			continue
		}
		v := k.Value
		switch {
		case k.File:
			v = jsonText(contents[k.Path])
		case shown[i].Value != v:
			v = digestValue(v)
		}
		out[k.Path] = v
	}
	return out
}

// Settings returns the operational keys as key -> value, secrets masked: what may
// change between the sessions of a run.
func (c Config) Settings(r *redact.Redactor) map[string]string {
	out := map[string]string{}
	for _, k := range c.Redacted(r).Keys() {
		if k.Class == Operational {
			out[k.Path] = k.Value
		}
	}
	return out
}

// digestMark begins a digest, digestRounds is what makes it dear to find a short
// secret by trying all.
const (
	digestMark   = "pbkdf2:"
	digestRounds = 200_000
)

// digestValue returns the digest of a value that must not be shown.
func digestValue(value string) string {
	sum, err := pbkdf2.Key(sha256.New, value, []byte("skillopt identity"), digestRounds, 6)
	if err != nil {
		panic("config: digest: " + err.Error()) // the arguments are constant
	}
	return digestMark + hex.EncodeToString(sum)
}

// SameValue reports whether two values of fingerprints say the same: what was a secret in one
// of them may have been no variable in the other.
func SameValue(a, b string) bool {
	return a == b || isDigest(a) && !isDigest(b) && a == digestValue(b) || isDigest(b) && !isDigest(a) && digestValue(a) == b
}

func isDigest(value string) bool { return strings.HasPrefix(value, digestMark) }

// Change is a key whose value differs between two configurations.
type Change struct{ Key, Old, New string }

func (c Change) String() string { return fmt.Sprintf("%s: was %s, is %s", c.Key, c.Old, c.New) }

// Changes lists the keys in which two fingerprints differ, sorted.
func Changes(old, now map[string]string) []Change {
	keys := map[string]string{}
	maps.Copy(keys, old)
	maps.Copy(keys, now)
	var out []Change
	for _, k := range sortedKeys(keys) {
		if !SameValue(old[k], now[k]) {
			out = append(out, Change{Key: k, Old: orNone(old[k]), New: orNone(now[k])})
		}
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

// Describe joins changes for a message.
func Describe(changes []Change) string {
	lines := make([]string, len(changes))
	for i, c := range changes {
		lines[i] = c.String()
	}
	return strings.Join(lines, "\n")
}
