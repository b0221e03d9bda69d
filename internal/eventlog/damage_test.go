package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/event"
)

// logOf is a log of so many outcomes, in segments of a size.
func logOf(t testing.TB, dir string, n int, segment int64) {
	t.Helper()
	w := open(t, dir, Options{SegmentBytes: segment})
	for i := range n {
		w.Add(outcomeOf(int64(i+1), fmt.Sprint("t", i)), start)
	}
	w.Close()
}

// spoil changes a file of a log.
func spoil(t testing.TB, dir string, k int, how func(lines []string) []string) {
	t.Helper()
	path := filepath.Join(dir, Folder, segmentName(k))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(how(strings.SplitAfter(string(text), "\n")), "")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shown are lines in short: numbers, and what is said of damaged ones.
func shown(lines []Line) (out []string) {
	for _, l := range lines {
		var d damage
		if err := json.Unmarshal(l.JSON, &d); err != nil || d.N != l.N {
			out = append(out, fmt.Sprintf("%d is %s", l.N, l.JSON))
			continue
		}
		text := fmt.Sprint(d.N)
		if d.Event == kindDamaged {
			text = d.Text
		}
		out = append(out, text)
	}
	return out
}

// TestADamagedLineHidesItselfAlone: all other lines are shown under their numbers, and file and
// line are named.
func TestADamagedLineHidesItselfAlone(t *testing.T) {
	t.Parallel()
	const file = "events/events-000001.jsonl"
	for name, c := range map[string]struct {
		spoil func(l []string) []string // l[0] is the header, l[n] event n, 8 of them
		want  []string
		tail  string // what is told behind the last event
	}{
		"bytes of one":           {spoil: func(l []string) []string { l[3] = "\x00\x00\x00" + l[3][3:]; return l }, want: []string{"1", "2", "event 3 cannot be read: line 4 of " + file + " is damaged", "4", "5", "6", "7", "8"}},
		"no JSON":                {spoil: func(l []string) []string { l[1] = strings.Replace(l[1], `"rollout"`, `"rollout`, 1); return l }, want: []string{"event 1 cannot be read: line 2 of " + file + " is damaged", "2", "3", "4", "5", "6", "7", "8"}},
		"a digit of its number":  {spoil: func(l []string) []string { l[3] = strings.Replace(l[3], `{"n":3,`, `{"n":903,`, 1); return l }, want: []string{"1", "2", "event 3 cannot be read: line 4 of " + file + " is damaged", "4", "5", "6", "7", "8"}},
		"three in a row":         {spoil: func(l []string) []string { l[3], l[4], l[5] = "a\n", "\n", "b\n"; return l }, want: []string{"1", "2", "events 3 to 5 cannot be read: line 4 of " + file + " is damaged", "6", "7", "8"}},
		"two apart":              {spoil: func(l []string) []string { l[3], l[5] = "a\n", "{}\n"; return l }, want: []string{"1", "2", "event 3 cannot be read: line 4 of " + file + " is damaged", "4", "event 5 cannot be read: line 6 of " + file + " is damaged", "6", "7", "8"}},
		"a newline":              {spoil: func(l []string) []string { l[3] = strings.TrimSuffix(l[3], "\n"); return l }, want: []string{"1", "2", "events 3 to 4 cannot be read: line 4 of " + file + " is damaged", "5", "6", "7", "8"}},
		"lines cut out":          {spoil: func(l []string) []string { return append(l[:2:2], l[5:]...) }, want: []string{"1", "events 2 to 4 cannot be read: line 3 of " + file + " is damaged", "5", "6", "7", "8"}},
		"a line put in":          {spoil: func(l []string) []string { l[2] += "what is this\n"; return l }, want: []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
		"a line twice":           {spoil: func(l []string) []string { l[2] += l[2]; return l }, want: []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
		"a line of the future":   {spoil: func(l []string) []string { l[2] += `{"n":1000000000000,"event":"x"}` + "\n"; return l }, want: []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
		"a long line":            {spoil: func(l []string) []string { l[3] = strings.Repeat("x", 3*maxLine) + "\n"; return l }, want: []string{"1", "2", "event 3 cannot be read: line 4 of " + file + " is damaged", "4", "5", "6", "7", "8"}},
		"a header":               {spoil: func(l []string) []string { l[0] = "junk\n"; return l }, want: []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
		"a header and the first": {spoil: func(l []string) []string { l[0], l[1] = "junk\n", "junk\n"; return l }, want: []string{"2", "3", "4", "5", "6", "7", "8"}},
		"the last":               {spoil: func(l []string) []string { l[8] = "x\n"; return l }, want: []string{"1", "2", "3", "4", "5", "6", "7"}, tail: "line 9 of " + file + " is damaged: event 8 belongs there"},
		"the last, without end":  {spoil: func(l []string) []string { l[8] = strings.Repeat("x", 2*maxLine); return l }, want: []string{"1", "2", "3", "4", "5", "6", "7"}, tail: "line 9 of " + file + " is damaged"},
		"the last, half written": {spoil: func(l []string) []string { l[8] = l[8][:20]; return l }, want: []string{"1", "2", "3", "4", "5", "6", "7"}},
	} {
		dir := t.TempDir()
		logOf(t, dir, 8, 0)
		spoil(t, dir, 1, c.spoil)
		r := Read(dir)
		whole := shown(upTo(t, r, 0, 100, c.tail))
		if diff := cmp.Diff(c.want, whole); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if few := shown(upTo(t, Read(dir), 0, 1, c.tail)); !cmp.Equal(whole, few) {
			t.Errorf("%s: one at a time: %s", name, cmp.Diff(whole, few))
		}
		last, err := r.Last(t.Context())
		if want := map[bool]int64{true: 8, false: 7}[strings.HasSuffix(whole[len(whole)-1], "8")]; last != want || err != nil {
			t.Errorf("%s: the last is %d, %v", name, last, err)
		}
	}
}

// upTo reads all behind n, so many a time, until nothing more comes or what tail says is told.
func upTo(t testing.TB, r *Reader, n int64, most int, tail string) (out []Line) {
	t.Helper()
	for {
		lines, err := r.After(t.Context(), n, most)
		if len(lines) > most {
			t.Fatalf("%d lines, asked for %d", len(lines), most)
		}
		var damaged *DamagedError
		if err != nil && (tail == "" || !errors.As(err, &damaged) || !strings.Contains(err.Error(), tail)) || err == nil && len(lines) == 0 && tail != "" {
			t.Errorf("after %d: %v, want %q", n, err, tail)
		}
		if len(lines) == 0 {
			return out
		}
		out, n = append(out, lines...), lines[len(lines)-1].N
	}
}

// TestALostSegmentIsTold: numbers that are gone are not passed over in silence, but for
// those before all that is left.
func TestALostSegmentIsTold(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(path string) error{
		"gone":              os.Remove,
		"nothing but zeros": func(path string) error { return os.WriteFile(path, make([]byte, 3000), 0o644) },
		"lines of zeros":    func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("\x00\n"), 3000), 0o644) },
		"cut":               func(path string) error { return os.Truncate(path, 100) },
	} {
		dir := t.TempDir()
		logOf(t, dir, 20, 600)
		for _, k := range []int{1, 4, 5} {
			if err := lose(filepath.Join(dir, Folder, segmentName(k))); err != nil {
				t.Fatal(err)
			}
		}
		r := Read(dir)
		lines := upTo(t, r, 0, 100, "")
		next := lines[0].N
		var told []string
		for _, l := range lines {
			var d damage
			if err := json.Unmarshal(l.JSON, &d); err != nil {
				t.Fatal(err)
			}
			if from := max(d.From, next); d.Event == kindDamaged && d.N > from {
				told = append(told, d.Text)
				next = d.N
			}
			if l.N != next {
				t.Errorf("%s: %d stands where %d belongs", name, l.N, next)
			}
			next++
		}
		last, err := r.Last(t.Context())
		if next != 21 || len(told) == 0 || !strings.Contains(strings.Join(told, "; "), "events-00000") || last != 20 || err != nil {
			t.Errorf("%s: up to %d, told %q; the last is %d, %v", name, next-1, told, last, err)
		}
	}
}

// TestDamageLaw: wherever bytes of a log are overwritten, each line that was not touched is shown as
// it stands, in order, from any number on and however many are asked for.
func TestDamageLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "run")
		if err != nil {
			rt.Fatal(err)
		}
		const n = 60
		logOf(t, dir, n, int64(rapid.IntRange(3000, 12000).Draw(rt, "segment")))
		whole := upTo(t, Read(dir), 0, 1000, "")
		hit := map[int64]bool{}
		for range rapid.IntRange(1, 6).Draw(rt, "places") {
			at := int64(rapid.IntRange(2, n-1).Draw(rt, "line"))
			hit[at] = true
			overwrite(t, rt, dir, whole[at-1].JSON)
		}
		from, most := int64(rapid.IntRange(0, n).Draw(rt, "from")), rapid.IntRange(1, 80).Draw(rt, "most")
		lines := upTo(t, Read(dir), from, most, "")
		got := map[int64]string{}
		last := from
		for _, l := range lines {
			if l.N <= last {
				rt.Fatalf("%d comes behind %d", l.N, last)
			}
			last, got[l.N] = l.N, string(l.JSON)
		}
		for _, l := range whole {
			if l.N > from && !hit[l.N] && got[l.N] != string(l.JSON) {
				rt.Fatalf("event %d is %q", l.N, got[l.N])
			}
		}
	})
}

// overwrite overwrites a part of a line, wherever it stands.
func overwrite(t *testing.T, rt *rapid.T, dir string, line []byte) {
	names, err := filepath.Glob(filepath.Join(dir, Folder, "events-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(text, append(line[:len(line):len(line)], '\n'))
		if at < 0 {
			continue
		}
		from := rapid.IntRange(0, len(line)-1).Draw(rt, "from byte")
		junk := rapid.SliceOfN(rapid.SampledFrom([]byte("\x00\n{}\",:n123")), 1, len(line)-from).Draw(rt, "junk")
		copy(text[at+from:], junk)
		if err := os.WriteFile(name, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
}

// TestAResumedRunKeepsWhatStandsBehindDamage: lines behind a damaged one are not cut off and their
// events not logged again; what the damaged one said is.
func TestAResumedRunKeepsWhatStandsBehindDamage(t *testing.T) {
	t.Parallel()
	for _, segment := range []int64{0, 900} { // in the last file, or in one before it
		dir := t.TempDir()
		logOf(t, dir, 8, segment)
		spoil(t, dir, 1, func(l []string) []string { l[2] = "x\n"; return l })
		if err := os.Remove(filepath.Join(dir, Folder, seenFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		before := upTo(t, Read(dir), 0, 100, "")
		w := open(t, dir, Options{SegmentBytes: 900})
		for i := range 9 {
			w.Add(outcomeOf(int64(i+1), fmt.Sprint("t", i)), start)
		}
		w.Add(event.StepDone{Step: 1}, start)
		w.Close()
		if w.failed != nil {
			t.Fatal(w.failed)
		}
		lines := upTo(t, Read(dir), 0, 100, "")
		if diff := cmp.Diff(before, lines[:8]); diff != "" {
			t.Errorf("what was there: %s", diff)
		}
		var rows []int64
		for _, l := range lines[8:] {
			var o outcome
			_ = json.Unmarshal(l.JSON, &o)
			rows = append(rows, o.Row)
		}
		if diff := cmp.Diff([]int64{2, 9, 0}, rows); diff != "" {
			t.Errorf("what came: %s", diff)
		}
	}
}
