package steer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// asked puts a request into the folder of a run and returns its id.
func asked(t *testing.T, dir, what string, l Limits) string {
	t.Helper()
	id, err := Put(dir, what, l, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func newID(t *testing.T) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

// control is the folder of requests, made.
func control(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, Folder)
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func looked(t *testing.T, d *Desk) Look {
	t.Helper()
	look, err := d.Look()
	if err != nil {
		t.Fatal(err)
	}
	return look
}

func TestRequestsAreFoundInTheirOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := NewDesk(dir, time.Now)
	if look := looked(t, d); len(look.Found) > 0 {
		t.Fatalf("%+v", look)
	}
	ids := []string{asked(t, dir, Limit, Limits{USD: number(3), Time: nil}), asked(t, dir, Stop, nil), asked(t, dir, StopNow, nil)}
	look := looked(t, d)
	var got []string
	for _, f := range look.Found {
		if got = append(got, f.ID); f.Refused != "" {
			t.Errorf("%+v", f)
		}
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Limits{USD: number(3), Time: nil}, look.Found[0].Request.Limits); diff != "" || look.Found[2].Request.What != StopNow {
		t.Errorf("%+v\n%s", look.Found, diff)
	}
	d.Done(ids[0])
	if err := Withdraw(dir, ids[1]); err != nil {
		t.Error(err)
	}
	if err := Withdraw(dir, ids[1]); err != nil {
		t.Errorf("a second time: %v", err)
	}
	if look := looked(t, d); len(look.Found) != 1 || look.Found[0].ID != ids[2] {
		t.Errorf("%+v", look)
	}
}

// What is no request does nothing but say why, and is bounded, whatever it is.
func TestFilesThatAreNoRequests(t *testing.T) {
	t.Parallel()
	id := newID(t)
	good := fmt.Sprintf(`{"format":1,"id":%q,"what":"stop","from":"x","asked_at":"2026-01-02T03:04:05Z"}`, id)
	for name, tt := range map[string]struct{ text, want string }{
		"good":            {good, ""},
		"empty":           {"", "no request"},
		"cut":             {good[:40], "no request"},
		"two":             {good + good, "something follows it"},
		"junk":            {"\x00\xff\x1b[31m", "no request"},
		"unknown field":   {strings.Replace(good, `"from"`, `"run":"rm -rf","from"`, 1), "unknown field"},
		"another format":  {`{"format":2,"kind":"x"}`, "this program reads format 1"},
		"no format":       {strings.Replace(good, `"format":1,`, "", 1), "no format"},
		"other id":        {strings.Replace(good, id, newID(t), 1), "its id is not its name"},
		"what":            {strings.Replace(good, `"stop"`, `"rm"`, 1), "unknown; allowed: stop, stop_now, limit"},
		"no from":         {strings.Replace(good, `"x"`, `""`, 1), "from: want"},
		"terminal":        {strings.Replace(good, `"x"`, `"\u001b[2J"`, 1), "from: want"},
		"long":            {strings.Replace(good, `"x"`, `"`+strings.Repeat("a", 40)+`"`, 1), "from: want"},
		"no time":         {strings.Replace(good, `"2026-01-02T03:04:05Z"`, `"0001-01-01T00:00:00Z"`, 1), "when it was asked"},
		"limits of stop":  {strings.Replace(good, `"from"`, `"limits":{"usd":1},"from"`, 1), "it has ceilings"},
		"limit of none":   {strings.Replace(good, `"stop"`, `"limit"`, 1), "no ceiling is given"},
		"NaN":             {strings.Replace(good, `"stop"`, `"limit","limits":{"usd":NaN}`, 1), "no request"},
		"negative":        {strings.Replace(good, `"stop"`, `"limit","limits":{"usd":-3}`, 1), "usd: found -3"},
		"huge":            {strings.Replace(good, `"stop"`, `"limit","limits":{"tokens":1e200}`, 1), "tokens: found"},
		"too large":       {good + strings.Repeat(" ", MaxBytes), "bytes, at most 4096 are read"},
		"deep":            {strings.Repeat("[", 4000), "no request"},
		"invalid unicode": {strings.Replace(good, `"x"`, "\"\xff\xfe\"", 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(control(t, dir), id+".json"), tt.text)
			look := looked(t, NewDesk(dir, time.Now))
			if len(look.Found) != 1 || look.Found[0].ID != id {
				t.Fatalf("%+v", look)
			}
			if got := look.Found[0].Refused; tt.want == "" && got != "" || !strings.Contains(got, tt.want) || len(got) > 300 {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// Ten thousand files that are no requests are gone after a few looks, and a request among
// them is found at once.
func TestManyFilesAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := control(t, dir)
	for i := range 10_000 {
		write(t, filepath.Join(folder, fmt.Sprintf("junk-%05d", i)), "x")
	}
	id := asked(t, dir, Stop, nil)
	d := NewDesk(dir, time.Now)
	removed := 0
	for n := range 20 {
		look := looked(t, d)
		if len(look.Found) != 1 || look.Found[0].ID != id {
			t.Fatalf("look %d: %+v", n, look)
		}
		if look.Removed > mostRemoved {
			t.Fatalf("look %d removed %d", n, look.Removed)
		}
		removed += look.Removed
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 || removed != 10_000 {
		t.Errorf("%d entries are left, %d were removed, %v", len(entries), removed, err)
	}
}

// Of many requests the newest are read, and the others removed.
func TestTooManyRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range MaxPending {
		asked(t, dir, Stop, nil)
	}
	if _, err := Put(dir, Stop, nil, "test", time.Now()); err == nil || !strings.Contains(err.Error(), "64 requests") {
		t.Errorf("one more: %v", err)
	}
	r, err := newRequest(Stop, nil, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := put(dir, r); err != nil {
		t.Fatal(err)
	}
	look := looked(t, NewDesk(dir, time.Now))
	if n := len(look.Found); n != MaxPending || look.Found[n-1].ID != r.ID || look.Removed != 1 {
		t.Errorf("%d found, %d removed", n, look.Removed)
	}
}

// A request that is being written is left alone; one that was forgotten is removed.
func TestHalfWrittenRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp := filepath.Join(control(t, dir), ".x.tmp")
	write(t, temp, "{")
	now := time.Now()
	d := NewDesk(dir, func() time.Time { return now })
	for _, passed := range []time.Duration{0, -time.Hour, 2 * leftover} {
		now = time.Now().Add(passed)
		looked(t, d)
		if _, err := os.Stat(temp); errors.Is(err, fs.ErrNotExist) != (passed > leftover) {
			t.Errorf("after %s: %v", passed, err)
		}
	}
}

// A run directory that is gone is an error, and no request is put into what is no folder.
func TestOtherFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, Folder), "a file")
	d := NewDesk(dir, time.Now)
	for n, want := range []string{"requests to this run are not read: control is no folder of this run directory", ""} {
		if look := looked(t, d); !strings.HasPrefix(look.Problem, want) || (want == "") != (look.Problem == "") {
			t.Errorf("look %d: %+v", n, look)
		}
	}
	if _, err := Put(dir, Stop, nil, "test", time.Now()); !errors.Is(err, errNoFolder) {
		t.Errorf("put: %v", err)
	}
	if err := Withdraw(dir, newID(t)); !errors.Is(err, errNoFolder) {
		t.Errorf("take back: %v", err)
	}
	for _, id := range []string{"", "../manifest", "x", strings.Repeat("0", 36), uuid.NewString()} {
		if err := Withdraw(dir, id); err == nil || !strings.Contains(err.Error(), "the id of no request") {
			t.Errorf("take %q back: %v", id, err)
		}
	}
	if _, err := NewDesk(filepath.Join(dir, "gone"), time.Now).Look(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	const id = "019b0000-0000-7000-8000-000000000000"
	f.Add([]byte(`{"format":1,"id":"` + id + `","what":"limit","limits":{"usd":3,"time":"2h"},"from":"x","asked_at":"2026-01-02T03:04:05Z"}`))
	f.Add([]byte(`{"format":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(id, data)
		if err != nil {
			if len(err.Error()) > 600 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		if r.ID != id || r.check() != nil {
			t.Errorf("%+v is no request", r)
		}
		for name, v := range r.Limits {
			if v != nil && (*v < 0 || *v > maxCount || *v != *v) {
				t.Errorf("%s is %g", name, *v)
			}
		}
	})
}
