package door

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func doorAt(t *testing.T, addr string, change func(*Options)) *Door {
	t.Helper()
	o := Options{Token: "token", Key: []byte("key"), Addr: addr, Now: time.Now}
	if change != nil {
		change(&o)
	}
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestNames(t *testing.T) {
	t.Parallel()
	tls := func(o *Options) { o.Secure, o.Hosts = true, []string{"Lab.example"} }
	for _, tt := range []struct {
		addr   string
		change func(*Options)
		host   string
		want   bool
	}{
		{"127.0.0.1:8675", nil, "127.0.0.1:8675", true},
		{"127.0.0.1:8675", nil, "LOCALHOST:8675", true},
		{"127.0.0.1:8675", nil, "[::1]:8675", true},
		{"127.0.0.1:8675", nil, "localhost", false},
		{"127.0.0.1:8675", nil, "", false},
		{"127.0.0.1:8675", nil, "localhost:8676", false},
		{"127.0.0.1:8675", nil, "192.168.1.7:8675", false},
		{"127.0.0.1:8675", nil, "localhost.:8675", false},
		{"127.0.0.1:8675", nil, "127.0.0.1.nip.example:8675", false},
		{"127.0.0.1:8675", nil, "a@127.0.0.1:8675", false},
		{"127.0.0.1:80", nil, "localhost", true},
		{"0.0.0.0:8675", nil, "192.168.1.7:8675", true}, // an address is nobody's name
		{"0.0.0.0:8675", nil, "evil.example:8675", false},
		{"[::]:8675", nil, "[fe80::1]:8675", true},
		{"lab.example:443", tls, "lab.example", true},
		{"lab.example:443", tls, "lab.example:443", true},
		{"10.0.0.1:8675", tls, "lab.example:8675", true},
		{"10.0.0.1:8675", tls, "lab.example", false},
	} {
		if got := doorAt(t, tt.addr, tt.change).names(tt.host); got != tt.want {
			t.Errorf("%s by the name %q: %v", tt.addr, tt.host, got)
		}
	}
	if _, err := New(Options{Addr: "8675"}); err == nil {
		t.Error("an address without a port passes")
	}
}

// No cookie holds but those that were written for this port with this key, until they end.
func TestCookies(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	d := doorAt(t, "127.0.0.1:8675", func(o *Options) { o.Now = func() time.Time { return now } })
	good := d.signValue("8675." + strconv.FormatInt(now.Add(time.Hour).Unix(), 10) + ".id")
	if id, _, ok := d.session(good); !ok || id != "id" {
		t.Fatalf("%q %v", id, ok)
	}
	for name, cookie := range map[string]string{
		"ended": d.signValue("8675." + strconv.FormatInt(now.Unix(), 10) + ".id"), "without an end": d.signValue("8675..id"), "another port": d.signValue("8676." + strconv.FormatInt(now.Add(time.Hour).Unix(), 10) + ".id"),
		"empty": "", "dots": "...", "no signature": "8675.1800003600.id.", "more parts": good + ".a",
	} {
		if _, _, ok := d.session(cookie); ok {
			t.Errorf("%s: %q holds", name, cookie)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := []byte(good)
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		b[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		if _, _, ok := d.session(string(b)); ok {
			t.Fatalf("%q holds", b)
		}
	})
	rapid.Check(t, func(t *rapid.T) { // anything at all is read without harm
		if _, _, ok := d.session(rapid.String().Draw(t, "cookie")); ok {
			t.Fatal("it holds")
		}
	})
}

func TestKey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "serve.key")
	first, err := Key(path)
	if err != nil || len(first) < leastKey {
		t.Fatalf("%q %v", first, err)
	}
	if again, err := Key(path); err != nil || string(again) != string(first) {
		t.Errorf("it is not kept: %v", err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for name, spoil := range map[string]func() error{
		"cut":   func() error { return os.WriteFile(path, []byte("short"), 0o600) },
		"empty": func() error { return os.Truncate(path, 0) },
		"read by others": func() error {
			if runtime.GOOS == "windows" {
				return os.Remove(path)
			}
			return os.Chmod(path, 0o644)
		},
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		next, err := Key(path)
		if err != nil || string(next) == string(first) || len(next) < leastKey {
			t.Errorf("%s: %q %v", name, next, err)
		}
		first = next
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Key(path); err == nil {
		t.Error("a folder is a key")
	}
}

// Callers have rates of their own, get more as time passes, and are not remembered without end.
func TestRates(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	c := newCallers(func() time.Time { return now })
	let := func(who string, of class, times int) (n int) {
		for range times {
			if c.lets(who, of) {
				n++
			}
		}
		return n
	}
	if n := let("a", stranger, 100); n != stranger.burst {
		t.Errorf("%d of a hundred at once", n)
	}
	if n := let("b", stranger, 10); n != 10 {
		t.Errorf("another one: %d of 10", n)
	}
	if n := let("a", known, 10); n != 10 {
		t.Errorf("the same one as a known one: %d of 10", n)
	}
	now = now.Add(2 * time.Second)
	if n := let("a", stranger, 100); n != 10 {
		t.Errorf("two seconds later: %d", n)
	}
	for i := range 3 * mostCallers {
		c.lets(strconv.Itoa(i), anybody)
	}
	if len(c.at) > mostCallers {
		t.Errorf("%d are remembered", len(c.at))
	}
}

func TestCookieOfTLS(t *testing.T) {
	t.Parallel()
	d := doorAt(t, "10.0.0.1:443", func(o *Options) { o.Secure = true })
	w := httptest.NewRecorder()
	if err := d.Enter(w, httptest.NewRequest(http.MethodPost, "/", nil), "token"); err != nil {
		t.Fatal(err)
	}
	if c := w.Result().Cookies(); len(c) != 1 || !c[0].Secure || !c[0].HttpOnly || c[0].Name != "skillopt_443" {
		t.Errorf("%v", c)
	}
	r := httptest.NewRequest(http.MethodPost, "https://10.0.0.1/", nil)
	r.Header.Set("Origin", "http://10.0.0.1")
	if d.Changes(r) == nil {
		t.Error("a page without TLS may change something")
	}
	r.Header.Set("Origin", "https://10.0.0.1")
	if err := d.Changes(r); err != nil {
		t.Error(err)
	}
}
