package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/event"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// small are options with which a few lines fill a segment.
func small() Options { return Options{SegmentBytes: 700, Whole: 2} }

func open(t testing.TB, dir string, o Options) *Writer {
	t.Helper()
	w, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func point(v float64) *float64 { return &v }

func outcomeOf(row int64, task string) event.OutcomeDone {
	return event.OutcomeDone{
		Row: row, Key: "e1/s1/rollout/" + task + "/sample0", Epoch: 1, Step: 1, Stage: "rollout", Task: task, Status: "ok",
		Hard: point(float64(row % 2)), Soft: point(0.25), Reason: "said: \"no\"\n",
	}
}

// all reads the whole log, a few lines a time.
func all(t testing.TB, r *Reader, most int) []Line {
	t.Helper()
	var out []Line
	for {
		var n int64
		if len(out) > 0 {
			n = out[len(out)-1].N
		}
		lines, err := r.After(t.Context(), n, most)
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) == 0 {
			return out
		}
		out = append(out, lines...)
	}
}

// checkNumbers fails unless the lines are whole and numbered from first without a gap.
func checkNumbers(t interface{ Fatalf(string, ...any) }, lines []Line, first int64) {
	for i, l := range lines {
		var got struct{ N int64 }
		if err := json.Unmarshal(l.JSON, &got); err != nil || got.N != l.N || l.N != first+int64(i) || bytes.IndexByte(l.JSON, '\n') >= 0 {
			t.Fatalf("line %d is %d, %q (%v)", i, l.N, l.JSON, err)
		}
	}
}

func TestLinesAreEventsWithTheirNumbers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, dir, Options{})
	w.Add(event.RunStarted{RunDir: "r"}, start)
	w.Add(outcomeOf(7, "a"), start)
	w.Add(event.TestDone{Arm: "best", Hard: 0.5, N: 6}, start)
	w.Close()
	w.Add(event.Warning{Text: "too late"}, start)
	w.Close()
	want := []Line{
		{1, []byte(`{"n":1,"event":"run_started","time":"2026-01-02T03:04:05Z","run_dir":"r","run_id":"","resumed":false,"recorded":0,"train":0,"selection":0,"test":0,"steps":0,"max_calls":0}`)},
		{2, []byte(`{"n":2,"event":"outcome","time":"2026-01-02T03:04:05Z","row":7,"key":"e1/s1/rollout/a/sample0","epoch":1,"step":1,"stage":"rollout","task":"a","sample":0,"status":"ok","hard":1,"soft":0.25,"fail_reason":"said: \"no\"\n"}`)},
		{3, []byte(`{"n":3,"event":"test_done","time":"2026-01-02T03:04:05Z","arm":"best","hard":0.5,"soft":0,"tasks":6}`)},
	}
	if diff := cmp.Diff(want, all(t, Read(dir), 10)); diff != "" {
		t.Error(diff)
	}
	r := Read(dir)
	first, err := r.First(t.Context())
	last, lerr := r.Last(t.Context())
	if first != 1 || last != 3 || err != nil || lerr != nil {
		t.Errorf("from %d to %d, %v, %v", first, last, err, lerr)
	}
}

func TestARunWithoutLogHasNoLines(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "gone")} {
		r := Read(dir)
		lines, err := r.After(t.Context(), 0, 10)
		last, lerr := r.Last(t.Context())
		if len(lines) > 0 || err != nil || last != 0 || lerr != nil {
			t.Errorf("%v, %v; %d, %v", lines, err, last, lerr)
		}
	}
}

// replayed are the events of a run: it sends all of them in every session, as one does
// that answers itself from its record.
func replayed(n int) []event.Event {
	var out []event.Event
	for i := range n {
		row := int64(10 + i)
		if i%7 == 3 {
			row = 0 // an equal request was answered before
		}
		out = append(out, outcomeOf(row, fmt.Sprint("t", i)))
		switch i % 5 {
		case 1:
			out = append(out, event.StageStarted{Step: i / 10, Stage: "gate", Total: 3}) // some more than once
		case 2:
			out = append(out, event.GateRead{Key: "g", Units: i / 2})
		case 4:
			out = append(out, event.StepDone{Step: i, Action: "accept"})
		}
	}
	return out
}

// TestNothingIsLostOrDoubled: whatever sessions a run has, wherever a kill cuts the log,
// numbers go on without a gap and each event of the run is there once.
func TestNothingIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "run")
		if err != nil {
			rt.Fatal(err)
		}
		o := Options{SegmentBytes: int64(rapid.IntRange(1, 3000).Draw(rt, "segment")), Whole: rapid.IntRange(1, 4).Draw(rt, "whole")}
		events := replayed(rapid.IntRange(1, 40).Draw(rt, "events"))
		known := int64(0) // lines that a reader has seen
		for range rapid.IntRange(1, 5).Draw(rt, "sessions") {
			w, err := Open(dir, o)
			if err != nil {
				rt.Fatal(err)
			}
			w.Add(event.RunStarted{}, start)
			for i := range rapid.IntRange(0, len(events)).Draw(rt, "sent") {
				w.Add(events[i], start)
			}
			w.Close()
			known = cut(rt, dir)
		}
		w, err := Open(dir, o)
		if err != nil {
			rt.Fatal(err)
		}
		for _, e := range events {
			w.Add(e, start)
		}
		w.Close()
		lines := all(t, Read(dir), rapid.IntRange(1, 50).Draw(rt, "at once"))
		checkNumbers(rt, lines, 1)
		if int64(len(lines)) < known {
			rt.Fatalf("%d lines, there were %d", len(lines), known)
		}
		checkOnce(rt, lines, events)
	})
}

// cut takes bytes off the end of the log, as a kill or a loss of power does, and returns
// how many lines are left.
func cut(t *rapid.T, dir string) int64 {
	names, err := filepath.Glob(filepath.Join(dir, Folder, "events-*.jsonl"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v, %v", names, err)
	}
	slices.Sort(names)
	last := names[len(names)-1]
	data, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	size := rapid.IntRange(0, len(data)).Draw(t, "left")
	if err := os.Truncate(last, int64(size)); err != nil {
		t.Fatal(err)
	}
	if rapid.IntRange(0, 3).Draw(t, "noise") == 0 { // blocks that were never written
		f, err := os.OpenFile(last, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(make([]byte, 50))
		}
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		return 0
	}
	n, err := Read(dir).Last(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkOnce fails unless each of the events is in the lines as often as it is sent in a
// session.
func checkOnce(t *rapid.T, lines []Line, events []event.Event) {
	got, want := map[string]int{}, map[string]int{}
	said := func(line []byte) string {
		_, fields, _ := parseNumber(line)
		kind, says, _ := content(fields)
		var o outcome
		if kind == kindOutcome {
			_ = json.Unmarshal(line, &o)
			if says = []byte(o.Key); o.Row > 0 { // it may stand shortened
				says = fmt.Append(nil, o.Row)
			}
		}
		return kind + string(says)
	}
	for _, l := range lines {
		if s := said(l.JSON); !strings.HasPrefix(s, "run_started") {
			got[s]++
		}
	}
	for _, e := range events {
		wire, err := event.Marshal(e, start)
		if err != nil {
			t.Fatal(err)
		}
		want[said(bytes.TrimSuffix(appendLine(nil, 1, wire), []byte("\n")))]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

// rows knows outcomes by their rows.
type rows map[int64]Known

func (r rows) Outcomes(_ context.Context, of []int64) (map[int64]Known, error) {
	out := map[int64]Known{}
	for _, row := range of {
		if k, ok := r[row]; ok {
			out[row] = k
		}
	}
	return out, nil
}

// TestOldSegmentsAreReadBack: what is no longer whole is completed from the record, under
// the same numbers.
func TestOldSegmentsAreReadBack(t *testing.T) {
	t.Parallel()
	dir, known := t.TempDir(), rows{}
	w := open(t, dir, small())
	for i := range int64(40) {
		o := outcomeOf(i+1, fmt.Sprint("t", i))
		if i == 3 {
			o.Status, o.Hard = "agent_error", point(0)
		}
		w.Add(o, start.Add(time.Duration(i)*time.Second))
		if i%8 == 0 {
			w.Add(event.StepDone{Step: int(i)}, start)
		}
		if i != 5 { // one is not in the record
			bare := o
			bare.Hard, bare.Soft, bare.Status, bare.Reason = nil, nil, "", ""
			known[o.Row] = Known{OutcomeDone: bare, At: start.Add(time.Duration(i) * time.Second)}
		}
	}
	w.Close()
	text, err := os.ReadFile(filepath.Join(dir, Folder, segmentName(1)))
	if want := `{"n":2,"event":"step_done"`; err != nil || !strings.Contains(string(text), want) || !strings.Contains(string(text), `{"n":1,"row":1,"hard":1,"soft":0.25}`) {
		t.Fatalf("%s, %v", text, err)
	}
	r := Read(dir)
	r.Rows = known
	lines := all(t, r, 7)
	checkNumbers(t, lines, 1)
	if len(lines) != 45 {
		t.Fatalf("%d lines", len(lines))
	}
	if got, want := string(lines[4].JSON), `{"n":5,"event":"outcome","time":"2026-01-02T03:04:08Z","row":4,"key":"e1/s1/rollout/t3/sample0","epoch":1,"step":1,"stage":"rollout","task":"t3","sample":0,"status":"agent_error","hard":0,"soft":0.25}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, most := range []int{1, 3, 100} { // wherever it is begun
		for n := range int64(len(lines)) {
			got, err := r.After(t.Context(), n, most)
			if diff := cmp.Diff(lines[n:min(int(n)+most, len(lines))], got); diff != "" || err != nil {
				t.Fatalf("after %d: %s, %v", n, diff, err)
			}
		}
	}
}

// TestReadersBesideTheWriter: while lines are written, cut and go on in other segments, a
// reader sees each once, whole and in order.
func TestReadersBesideTheWriter(t *testing.T) {
	t.Parallel()
	const lines = 1000
	dir := t.TempDir()
	shared := Read(dir)
	var reading sync.WaitGroup
	for i := range 8 {
		r := shared
		if i%2 == 0 {
			r = Read(dir)
		}
		reading.Go(func() {
			var got []Line
			for n := int64(0); n < lines; {
				more, err := r.After(t.Context(), n, 1+i*100)
				if err != nil {
					t.Errorf("after %d: %v", n, err)
					return
				}
				if got = append(got, more...); len(more) > 0 {
					n = more[len(more)-1].N
				}
				if t.Context().Err() != nil {
					return
				}
			}
			checkNumbers(t, got, 1)
		})
	}
	for n := 0; n < lines; {
		w := open(t, dir, Options{SegmentBytes: 5000, Whole: 3, Every: time.Millisecond})
		for range 100 {
			w.Add(outcomeOf(int64(n+1), fmt.Sprint(n)), start)
			n++
		}
		w.Close()
	}
	reading.Wait()
}

func TestFleetingEventsAreThinned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := open(t, dir, Options{})
		for i := range 100 {
			w.Add(event.Progress{Stage: "rollout", Done: i}, time.Now())
			time.Sleep(20 * time.Millisecond)
		}
		w.Add(event.Progress{Stage: "rollout", Done: 100}, time.Now())
		time.Sleep(time.Second)
		w.Add(event.Progress{Stage: "rollout", Done: 101}, time.Now())
		w.Add(event.Progress{Stage: "rollout", Done: 102}, time.Now())
		w.Add(event.RunDone{}, time.Now())
		w.Close()
		var done []string
		for _, l := range all(t, Read(dir), 100) {
			var p struct {
				Event string
				Done  int
			}
			_ = json.Unmarshal(l.JSON, &p)
			done = append(done, fmt.Sprint(p.Event, " ", p.Done))
		}
		want := []string{"progress 0", "progress 25", "progress 50", "progress 75", "progress 100", "progress 101", "progress 102", "run_done 0"}
		if diff := cmp.Diff(want, done); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDecisionsAreThereAtOnce: whoever follows a run sees its decisions when they fall, and
// all else within a moment.
func TestDecisionsAreThereAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		w := open(t, dir, Options{})
		defer w.Close()
		r := Read(dir)
		synctest.Wait()
		last := func() int64 {
			n, err := r.Last(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		w.Add(outcomeOf(1, "a"), time.Now())
		w.Add(event.StepDone{Step: 1}, time.Now())
		if synctest.Wait(); last() != 2 {
			t.Errorf("%d lines after a decision", last())
		}
		w.Add(outcomeOf(2, "b"), time.Now())
		time.Sleep(110 * time.Millisecond)
		if synctest.Wait(); last() != 3 {
			t.Errorf("%d lines after a moment", last())
		}
	})
}

func TestAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, Folder), 0o755), os.WriteFile(filepath.Join(dir, Folder, segmentName(1)), []byte("{\"format\":2,\"first\":1,\"log\":\"x\",\"more\":\"\"}\n{\"x\":1}\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir, Options{})
	_, rerr := Read(dir).After(t.Context(), 0, 1)
	_, lerr := Read(dir).Last(t.Context())
	for _, err := range []error{err, rerr, lerr} {
		var other *VersionError
		if !errors.As(err, &other) || other.Format != 2 || !strings.Contains(err.Error(), "use the program that wrote it") {
			t.Errorf("got %v", err)
		}
	}
}

// TestAFailingDiskFailsNothing: the log is given up once, with its reason.
func TestAFailingDiskFailsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	told := make(chan error, 10)
	w := open(t, dir, Options{SegmentBytes: 600, Every: time.Nanosecond, Failed: func(err error) { told <- err }})
	w.Add(outcomeOf(1, "a"), start)
	if err := os.Mkdir(filepath.Join(dir, Folder, segmentName(2)), 0o755); err != nil { // where the next segment belongs
		t.Fatal(err)
	}
	for i := range int64(100) {
		w.Add(outcomeOf(i+2, "b"), start)
	}
	w.Close()
	close(told)
	if err, more := <-told, len(told); err == nil || more > 0 {
		t.Errorf("told %v and %d more", err, more)
	}
}

// TestWhatIsMeasuredInTheEnd: a reply whose score could not be had at first has two outcomes,
// and neither comes again.
func TestWhatIsMeasuredInTheEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for session := range 4 {
		w := open(t, dir, small())
		lost := outcomeOf(1, "a")
		lost.Status, lost.Hard, lost.Soft = "unmeasured", nil, nil
		w.Add(lost, start)
		w.Add(lost, start)
		w.Add(outcomeOf(1, "a"), start)
		for i := range int64(10) {
			w.Add(outcomeOf(2+i+10*int64(session), "b"), start)
		}
		w.Close()
	}
	var got []string
	for _, l := range all(t, Read(dir), 100) {
		var o outcome
		if _ = json.Unmarshal(l.JSON, &o); o.Row == 1 {
			got = append(got, o.Status)
		}
	}
	if diff := cmp.Diff([]string{"unmeasured", "ok"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestWhatTheRecordHasLostComesAgain: rows behind the end of the record mean something else
// from then on.
func TestWhatTheRecordHasLostComesAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, gone := range []int64{0, 100, 65, 1} {
		w := open(t, dir, Options{Gone: gone, SegmentBytes: 3000})
		for i := range int64(70) {
			w.Add(outcomeOf(i+1, "a"), start)
		}
		w.Close()
	}
	rows := map[int64]int{}
	for _, l := range all(t, Read(dir), 100) {
		var o outcome
		_ = json.Unmarshal(l.JSON, &o)
		rows[o.Row]++
	}
	if rows[1] != 2 || rows[64] != 2 || rows[65] != 3 || rows[70] != 3 {
		t.Errorf("got %v", rows)
	}
}

func TestTheLogOfAnotherRunIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir, Options{Run: "a"}).Close()
	_, err := Open(dir, Options{Run: "b"})
	if err == nil || !strings.Contains(err.Error(), "of another run") {
		t.Errorf("got %v", err)
	}
	open(t, dir, Options{Run: "a"}).Close()
}

func TestALongEventIsNoLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := open(t, dir, Options{})
	w.Add(event.Warning{Text: strings.Repeat("x", maxLine)}, start)
	w.Add(outcomeOf(1, "a"), start)
	w.Close()
	lines := all(t, Read(dir), 10)
	checkNumbers(t, lines, 1)
	if len(lines) != 2 || !strings.Contains(string(lines[0].JSON), "too long for the event log") {
		t.Errorf("got %.300s", lines[0].JSON)
	}
}

// TestAnotherRunInItsPlace: a reader does not take what it remembers for another run.
func TestAnotherRunInItsPlace(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	r := Read(dir)
	for _, n := range []int64{30, 5} {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
			t.Fatal(err)
		}
		w := open(t, dir, Options{SegmentBytes: 600})
		for i := range n {
			w.Add(outcomeOf(i+1, fmt.Sprint("run of ", n)), start)
		}
		w.Close()
		lines := all(t, r, 10)
		checkNumbers(t, lines, 1)
		if int64(len(lines)) != n {
			t.Errorf("%d lines, want %d", len(lines), n)
		}
	}
}
