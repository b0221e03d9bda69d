package config

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// A Problem is one thing that is wrong with a configuration.
type Problem struct {
	Key    string // "train.epochs"
	Origin string // "config.yaml:12", "--set", ...
	Found  string
	Want   string // what is allowed
	Hint   string // the nearest right key, a command

	Refused bool // it is what an untrusted author may not say
}

func (p Problem) Error() string {
	var b strings.Builder
	if p.Origin != "" {
		fmt.Fprintf(&b, "%s: ", p.Origin)
	}
	b.WriteString(p.Key)
	if p.Found != "" {
		if p.Key != "" {
			b.WriteString(": ")
		}
		fmt.Fprintf(&b, "found %s", p.Found)
	}
	if p.Want != "" {
		fmt.Fprintf(&b, ", allowed: %s", p.Want)
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, " (%s)", p.Hint)
	}
	return b.String()
}

// Place returns the file and the line (1-based, 0 if unknown) that a problem is in, "" where it is
// in none.
func (p Problem) Place() (file string, line int) {
	if file, line = place(p.Origin); strings.HasPrefix(file, "--") || file == "argument" || file == hostOrigin {
		return "", 0
	}
	return file, line
}

// Error is everything that is wrong with a configuration, at once.
type Error struct{ Problems []Problem }

// maxPrinted bounds the lines of a message: one screen says as much as thousands.
const maxPrinted = 50

func (e *Error) Error() string {
	var lines []string
	for i, p := range e.Problems {
		if i == maxPrinted {
			lines = append(lines, "and "+wording.Plural(len(e.Problems)-i, "more problem", "more problems"))
			break
		}
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// decoder fills a Config from a tree of plain values and collects problems.
type decoder struct {
	origins  map[string]string
	problems []Problem
}

func (d *decoder) fail(key, found, want, hint string) {
	d.problems = append(d.problems, Problem{Key: key, Origin: findOrigin(d.origins, key), Found: found, Want: want, Hint: hint})
}

// redact takes secrets out of what the problems show.
func (d *decoder) redact(r *redact.Redactor) {
	for i := range d.problems {
		d.problems[i].Found = r.Text(d.problems[i].Found)
	}
}

func (d *decoder) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	// In the order of the files, as they are fixed; what a setting says comes first.
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		fileA, lineA := place(a.Origin)
		fileB, lineB := place(b.Origin)
		return cmp.Or(strings.Compare(fileA, fileB), cmp.Compare(lineA, lineB))
	})
	return &Error{Problems: d.problems}
}

// place cuts "config.yaml:12" into file and line.
func place(origin string) (file string, line int) {
	i := strings.LastIndexByte(origin, ':')
	if i < 0 {
		return origin, 0
	}
	n, err := strconv.Atoi(origin[i+1:])
	if err != nil {
		return origin, 0
	}
	return origin[:i], n
}

// findOrigin returns the origin of a key or of the nearest key above it.
func findOrigin(origins map[string]string, key string) string {
	for {
		if o, ok := origins[key]; ok {
			return o
		}
		i := strings.LastIndexAny(key, ".[")
		if i < 0 {
			return ""
		}
		key = key[:i]
	}
}

// value assigns v to dst, which the key names.
func (d *decoder) value(dst reflect.Value, key string, v any) {
	if dst.Kind() == reflect.Pointer {
		d.pointer(dst, key, v)
		return
	}
	if u, ok := dst.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.text(u, key, v)
		return
	}
	switch dst.Kind() {
	case reflect.Struct:
		d.structure(dst, key, v)
	case reflect.Map:
		d.decodeMap(dst, key, v)
	case reflect.Slice:
		d.list(dst, key, v)
	case reflect.Interface:
		dst.Set(reflect.ValueOf(&v).Elem())
	default:
		d.scalar(dst, key, v)
	}
}

func (d *decoder) pointer(dst reflect.Value, key string, v any) {
	if v == nil {
		dst.SetZero()
		return
	}
	dst.Set(reflect.New(dst.Type().Elem()))
	d.value(dst.Elem(), key, v)
}

func (d *decoder) text(u encoding.TextUnmarshaler, key string, v any) {
	want := "a duration such as 30s or 2m"
	if _, ok := u.(*Size); ok {
		want = sizeWant
		if n, ok := wholeNumber(v); ok {
			v = n
		}
	}
	if _, ok := u.(*Age); ok {
		want = ageWant
	}
	if _, ok := u.(*Auto); ok {
		want = autoWant
		if n, ok := wholeNumber(v); ok {
			v = n
		}
	}
	s, ok := v.(string)
	if !ok {
		d.fail(key, describe(v), want, "")
		return
	}
	if err := u.UnmarshalText([]byte(s)); err != nil {
		d.fail(key, strconv.Quote(s), want, "")
	}
}

// wholeNumber returns a plain number as text.
func wholeNumber(v any) (text string, ok bool) {
	switch v.(type) {
	case int, int64, uint64:
		return fmt.Sprint(v), true
	}
	return "", false
}

func (d *decoder) structure(dst reflect.Value, key string, v any) {
	if v == nil {
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		d.fail(key, describe(v), "a mapping with "+strings.Join(keyNames(dst.Type()), ", "), "")
		return
	}
	for _, name := range sortedKeys(m) {
		path := join(key, name)
		f, ok := fieldByKey(dst, name)
		if !ok {
			d.unknown(dst.Type(), path, name)
			continue
		}
		d.value(f, path, m[name])
	}
}

func (d *decoder) unknown(t reflect.Type, path, name string) {
	names := keyNames(t)
	hint := ""
	if !keyName.MatchString(name) { // the line of some other file, which may be a secret
		d.problems = append(d.problems, Problem{Key: strings.TrimSuffix(path, name) + "(a key that is no name)", Origin: findOrigin(d.origins, path), Found: "an unknown key", Want: strings.Join(names, ", ")})
		return
	}
	if near, ok := wording.Suggest(name, names); ok {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	d.fail(path, "an unknown key", strings.Join(names, ", "), hint)
}

func (d *decoder) decodeMap(dst reflect.Value, key string, v any) {
	if v == nil {
		dst.SetZero()
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		d.fail(key, describe(v), "a mapping", "")
		return
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(m))
	for _, name := range sortedKeys(m) {
		e := reflect.New(dst.Type().Elem()).Elem()
		d.value(e, join(key, name), m[name])
		out.SetMapIndex(reflect.ValueOf(name), e)
	}
	dst.Set(out)
}

func (d *decoder) list(dst reflect.Value, key string, v any) {
	if v == nil {
		dst.SetZero()
		return
	}
	l, ok := v.([]any)
	if !ok {
		d.fail(key, describe(v), "a list", "")
		return
	}
	out := reflect.MakeSlice(dst.Type(), len(l), len(l))
	for i, e := range l {
		d.value(out.Index(i), fmt.Sprintf("%s[%d]", key, i), e)
	}
	dst.Set(out)
}

func (d *decoder) scalar(dst reflect.Value, key string, v any) {
	switch dst.Kind() {
	case reflect.String:
		if s, ok := scalarText(v); ok {
			dst.SetString(s)
			return
		}
		d.fail(key, describe(v), "text", "")
	case reflect.Bool:
		if b, ok := v.(bool); ok {
			dst.SetBool(b)
			return
		}
		d.fail(key, describe(v), "true or false", "")
	case reflect.Int, reflect.Int64:
		if n, ok := whole(v); ok {
			dst.SetInt(n)
			return
		}
		d.fail(key, describe(v), "a whole number", "")
	case reflect.Float64:
		if f, ok := number(v); ok {
			dst.SetFloat(f)
			return
		}
		d.fail(key, describe(v), "a number", "")
	default:
		d.fail(key, describe(v), "nothing: this is a fault of the program", "")
	}
}

// scalarText takes numbers for text (a model named 4) but neither true nor null.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64, uint64, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case float64:
		return int64(v), v == math.Trunc(v) && math.Abs(v) < 1<<53
	}
	return 0, false
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return 0, false
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(wording.Cut(v, maxShown))
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	}
	return fmt.Sprint(v)
}

// keyName is what a key looks like that may be repeated in a message.
var keyName = pattern.New(`^[A-Za-z][A-Za-z0-9_.-]{0,39}$`)

// maxShown bounds what a message repeats of a value, in bytes.
const maxShown = 200

// keyFields iterates over the fields of a struct that are keys, with their tags.
func keyFields(t reflect.Type) iter.Seq2[int, reflect.StructTag] {
	return func(yield func(int, reflect.StructTag) bool) {
		for i := range t.NumField() {
			if tag := t.Field(i).Tag; tag.Get("key") != "" && !yield(i, tag) {
				return
			}
		}
	}
}

func fieldByKey(dst reflect.Value, name string) (reflect.Value, bool) {
	for i, tag := range keyFields(dst.Type()) {
		if tag.Get("key") == name {
			return dst.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func keyNames(t reflect.Type) []string {
	var out []string
	for _, tag := range keyFields(t) {
		out = append(out, tag.Get("key"))
	}
	return out
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// IsInput reports whether err says that the configuration is wrong.
func IsInput(err error) bool {
	var e *Error
	return errors.As(err, &e)
}
