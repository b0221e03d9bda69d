package report

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// theirs are secrets as vendors and files of settings write them; none is anyone's.
var theirs = []string{
	"sk-proj-Zx8Kq2Lm9Np4Rt6Vw1Yb", "ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8", "AKIAIOSFODNN7EXAMPLE", "glpat-aB3dE5gH7jK9mN1pQ3sT",
	"xoxb-1234567890-abcdefghijkl", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"hunter22hunter", "p4ssw0rd-of-the-db", "MIIEowIBAAKCAQEAqQqQ", "Zm9vYmFyOmJhegbearer1",
}

// worded is how they stand in texts.
var worded = "keys: " + strings.Join(theirs[:6], " | ") + "\npassword: " + theirs[6] + "\npostgres://me:" + theirs[7] + "@db/x\n-----BEGIN RSA PRIVATE KEY-----\n" + theirs[8] +
	"\nabcdef0123\n-----END RSA PRIVATE KEY-----\nAuthorization: Bearer " + theirs[9] + "\n"

// plantIn writes them into all texts that are no words of our own.
func plantIn(v reflect.Value, own []string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "\n" + worded)
	case reflect.Pointer, reflect.Interface:
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			plantIn(v.Elem(), own)
		}
	case reflect.Slice:
		for i := range v.Len() {
			plantIn(v.Index(i), own)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			inner := reflect.New(v.Type().Elem()).Elem()
			inner.Set(it.Value())
			plantIn(inner, own)
			v.SetMapIndex(it.Key(), inner)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(own, f.Name) {
				plantIn(v.Field(i), own)
			}
		}
	}
}

// Wherever a secret stands in the files of a run, it is in no report: not as a whole,
// and not the beginning of one where a text is cut.
func TestReportsHoldNoSecret(t *testing.T) {
	t.Parallel()
	r := read(t, filepath.Join("testdata", "run"))
	plantIn(reflect.ValueOf(r).Elem(), []string{"Op", "Status", "Action", "Kind", "SlowUpdate"})
	texts := map[string]string{"page": rendered(t, r), "pull request": string(Markdown(r))}
	for name, text := range texts {
		for _, s := range theirs {
			if strings.Contains(text, s[:12]) {
				at := strings.Index(text, s[:12])
				t.Errorf("the %s holds %s: %q", name, s, text[max(0, at-200):at+20])
			}
		}
		if !strings.Contains(strings.ReplaceAll(text, `\`, ""), "[redacted]") {
			t.Errorf("nothing was masked in the %s, so that nothing is proven", name)
		}
	}
}
