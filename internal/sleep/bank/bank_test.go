package bank_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// session has turns named, whose words tell the session and the turn.
func session(id, project, store string, turns ...string) bank.Session {
	s := bank.Session{Store: store, Transcript: transcript.Transcript{Source: "claude", ID: id, Project: project, Origin: transcript.Interactive, Started: noon.Add(-time.Hour), Ended: noon.Add(-time.Minute)}}
	for _, turn := range turns {
		s.Turns = append(s.Turns, transcript.Turn{ID: turn, Started: s.Started, Ended: s.Ended, User: strings.Repeat("words of "+turn+" ", 200), Agent: "answer to " + turn, Tools: []transcript.Tool{}, Files: []string{turn + ".go"}})
	}
	return s
}

func open(t *testing.T, dir string) *bank.Bank {
	t.Helper()
	b, err := bank.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func keep(t *testing.T, b *bank.Bank, store string, list ...bank.Session) {
	t.Helper()
	s := bank.Store{Path: store, Source: "claude", ReadAt: noon, Problems: []transcript.Problem{{Path: store, What: "session of " + store}}}
	if err := errors.Join(b.Keep(t.Context(), []bank.Kept{{Store: s, Sessions: list}}), b.Settle(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func ids(t *testing.T, b *bank.Bank) []string {
	t.Helper()
	out := []string{}
	if err := b.Sessions(t.Context(), bank.Filter{}, func(s bank.Session) error {
		text := s.ID + ":"
		for _, turn := range s.Turns {
			text += " " + turn.ID
		}
		out = append(out, text)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// search fails for words that are found in any file below dir, in UTF-8 or UTF-16, also in free
// pages of databases.
func search(t *testing.T, dir string, words ...string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for _, word := range words {
			little, big := []byte{}, []byte{}
			for _, u := range utf16.Encode([]rune(word)) {
				little, big = binary.LittleEndian.AppendUint16(little, u), binary.BigEndian.AppendUint16(big, u)
			}
			for _, form := range [][]byte{[]byte(word), little, big} {
				if bytes.Contains(data, form) || strings.Contains(path, word) {
					t.Errorf("%s is in %s", word, path)
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestForgetProjectLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sleep")
	b := open(t, dir)
	keep(t, b, "/s/-srv-shop/one.jsonl", session("one", "/srv/shop", "", "apple", "pear"))
	keep(t, b, "/s/-srv-shop-web/two.jsonl", session("two", "/srv/shop/web", "", "plum"))
	keep(t, b, "/s/data.db", session("three", "/srv/shop", "", "melon"), session("four", "/srv/site", "", "birch"))
	match := func(p string) bool { return p == "/srv/shop" || strings.HasPrefix(p, "/srv/shop/") }
	n, err := b.ForgetProject(t.Context(), []string{"/srv/shop"}, match, noon)
	if err != nil || n != 3 {
		t.Fatalf("%d sessions, %v", n, err)
	}
	gone := []string{"apple", "pear", "plum", "melon", "srv/shop", "-srv-shop", "one.jsonl", "three"}
	search(t, dir, gone...)
	// Nothing of it comes again, not even a session that was never kept.
	keep(t, b, "/s/-srv-shop/one.jsonl", session("one", "/srv/shop", "", "apple", "pear"))
	keep(t, b, "/s/-srv-shop-cmd/five.jsonl", session("five", "/srv/shop/cmd", "", "cherry"))
	search(t, dir, append(gone, "cherry", "five")...)
	if diff := cmp.Diff([]string{"four: birch"}, ids(t, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What ends later is new.
	later := session("six", "/srv/shop", "", "fig")
	later.Ended = noon.Add(time.Hour)
	keep(t, b, "/s/-srv-shop/six.jsonl", later)
	if got := ids(t, b); len(got) != 2 {
		t.Errorf("later sessions are not kept: %v", got)
	}
}

func TestForgetSessionReachesItsCopies(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sleep")
	b := open(t, dir)
	keep(t, b, "/s/long.jsonl", session("long", "/srv/shop", "", "apple", "pear"))
	keep(t, b, "/s/fork.jsonl", session("fork", "/srv/shop", "", "apple", "plum"))
	keep(t, b, "/s/copy.jsonl", session("copy", "/srv/shop", "", "apple"))
	if err := b.ForgetSession(t.Context(), "claude", "long", noon); err != nil {
		t.Fatal(err)
	}
	search(t, dir, "apple", "pear", "long", "copy")
	keep(t, b, "/s/late.jsonl", session("late", "/srv/shop", "", "apple", "fig"))
	keep(t, b, "/s/long.jsonl", session("long", "/srv/shop", "", "apple", "pear", "new"))
	search(t, dir, "apple", "pear", "long")
	if diff := cmp.Diff([]string{"fork: plum", "late: fig"}, ids(t, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Trap 89: what is forgotten while somebody else is at work waits for nobody: it is refused.
func TestTrap89OneWriter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sleep")
	b := open(t, dir)
	var locked *bank.LockedError
	if _, err := bank.Open(t.Context(), dir); !errors.As(err, &locked) {
		t.Errorf("opened twice: %v", err)
	}
	if err := bank.Reset(dir, func() error { return errors.New("reached") }); !errors.As(err, &locked) {
		t.Errorf("reset of an open bank: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := bank.Reset(dir, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	if err := bank.Reset(dir, func() error { return nil }); err != nil {
		t.Errorf("reset of nothing: %v", err)
	}
}

// Trap 88: the word holds for a role and a host, until it is taken back.
func TestTrap88AnotherHostIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "sleep"))
	x, y, other := bank.Destination{Role: "target", Host: "x.test"}, bank.Destination{Role: "target", Host: "y.test"}, bank.Destination{Role: "judge", Host: "x.test"}
	missing := func(list ...bank.Destination) []bank.Destination {
		t.Helper()
		got, err := b.MissingConsents(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if err := b.Grant(t.Context(), x.Role, x.Host, noon); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bank.Destination{y, other}, missing(x, y, other, y)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n, err := b.Revoke(t.Context(), "x.test", noon.Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got := missing(x); len(got) != 1 {
		t.Errorf("taken back, and it still holds: %v", got)
	}
	if err := b.Grant(t.Context(), x.Role, x.Host, noon.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if list, err := b.Consents(t.Context()); len(list) != 2 || err != nil || len(missing(x)) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// Stores of projects that are not allowed leave no name.
func TestStoresWithoutSessionsLeaveNoName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sleep")
	b := open(t, dir)
	keep(t, b, "/s/-srv-private/x.jsonl")
	search(t, dir, "private", "x.jsonl")
	list, err := b.Stores(t.Context())
	if _, known := list[bank.StoreKey("/s/-srv-private/x.jsonl")]; !known || err != nil {
		t.Errorf("it is not known again: %v, %v", list, err)
	}
	keep(t, b, "/s/-srv-private/x.jsonl", session("x", "/srv/private", "", "apple"))
	if list, err = b.Stores(t.Context()); len(list) != 1 || err != nil {
		t.Errorf("known twice: %v, %v", list, err)
	}
}

func TestBanksThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	execute := func(statements string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			db, err := sql.Open("sqlite", filepath.Join(dir, bank.File))
			if err == nil {
				_, err = db.ExecContext(t.Context(), statements)
			}
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"another format":    {execute("PRAGMA user_version = 99"), "it has format 99, and this program reads format 3"},
		"an old format":     {execute("PRAGMA user_version = 2"), "it has format 2, and this program reads format 3"},
		"another program's": {execute("CREATE TABLE x (y); PRAGMA user_version = 0"), "not what sleep keeps"},
		"no database": {func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, bank.File), bytes.Repeat([]byte("no database "), 500), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "damaged"},
		"a folder": {func(t *testing.T, dir string) {
			t.Helper()
			if err := errors.Join(os.Remove(filepath.Join(dir, bank.File)), os.Mkdir(filepath.Join(dir, bank.File), 0o700)); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		"a link": {func(t *testing.T, dir string) {
			t.Helper()
			at := filepath.Join(dir, bank.File)
			if err := errors.Join(os.Rename(at, at+".real"), os.Symlink(at+".real", at)); err != nil {
				t.Skipf("links cannot be made here: %v", err)
			}
		}, "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "sleep")
			b, err := bank.Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			tt.make(t, dir)
			_, err1 := bank.Open(t.Context(), dir)
			for _, err := range []error{err1, look(t.Context(), dir)} {
				var told *bank.Error
				if !errors.As(err, &told) || !strings.Contains(told.Reason, tt.want) || told.Help == "" || !strings.HasPrefix(told.Path, dir) {
					if name != "another program's" || err != nil {
						t.Errorf("%v", err)
					}
				}
			}
			if err := bank.Reset(dir, func() error { return nil }); err != nil {
				t.Errorf("it cannot be reset: %v", err)
			}
		})
	}
}

func look(ctx context.Context, dir string) error {
	b, err := bank.Look(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(b.Check(ctx), b.Close())
}

func TestTheFolderIsAFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sleep")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err1 := bank.Open(t.Context(), dir)
	_, err2 := bank.Look(t.Context(), dir)
	for _, err := range []error{err1, err2, bank.Reset(dir, func() error { return nil })} {
		var told *bank.Error
		if !errors.As(err, &told) {
			t.Errorf("%v", err)
		}
	}
}

// Flipped bytes give an error that says so, or what is right; never a panic, and none that does
// not name the file.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sleep")
	b := open(t, dir)
	keep(t, b, "/s/a.jsonl", session("a", "/srv/a", "", "apple", "pear", "plum"))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, bank.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for at := 0; at < len(whole); at += 97 {
		data := bytes.Clone(whole)
		for i := at; i < min(at+16, len(data)); i++ {
			data[i] ^= 0xff
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		err := readAll(t.Context(), dir)
		if err != nil && !strings.Contains(err.Error(), path) {
			t.Errorf("byte %d: %v", at, err)
		}
		if err != nil {
			damaged++
		}
	}
	if damaged < 10 {
		t.Errorf("%d were noticed", damaged)
	}
}

func readAll(ctx context.Context, dir string) error {
	b, err := bank.Look(ctx, dir)
	if err != nil {
		return err
	}
	_, err1 := b.Stores(ctx)
	_, err2 := b.Totals(ctx)
	_, err3 := b.Parts(ctx)
	return errors.Join(err1, err2, err3, b.Sessions(ctx, bank.Filter{}, func(bank.Session) error { return nil }), b.Check(ctx), b.Close())
}
