package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testing/recordtest"
	"github.com/seed-f4525e22/skillopt/result"
)

// mostServed is the most memory that a server may take for any run directory, in MB.
const mostServed = 180

// swollen is a document of a run in which few bytes stand for much memory, as much as is read.
type swollen struct {
	file             string
	kind             result.Kind
	into             func() any
	head, unit, tail string // unit is repeated; %x in it is a number
}

func into[T any]() any { return new(T) }

// swollenDocuments are some of each place: lists of empty elements, of empty texts, and maps. Of the
// steps of a history all lists and maps were tried; of other places these are guesses.
func swollenDocuments() []swollen {
	return []swollen{
		{run.HistoryFile, result.Train, into[result.History], `{"steps":[{}`, `,{}`, `]}`},
		{run.HistoryFile, result.Train, into[result.History], `{"steps":[{"losses":[{}`, `,{}`, `]}]}`},
		{run.HistoryFile, result.Train, into[result.History], `{"steps":[{"unmeasured":[""`, `,""`, `]}]}`},
		{run.HistoryFile, result.Train, into[result.History], `{"steps":[{"curriculum":{"":0`, `,"%x":0`, `}}]}`},
		{run.ManifestFile, result.Train, into[run.Manifest], `{"format": 2, "kind": "train","run_id":"r","status":"completed","identity":{"":""`, `,"%x":""`, `}}`},
		{run.SummaryFile, result.Train, into[result.Summary], `{"status":"completed","stages":[{}`, `,{}`, `]}`},
		{"candidates.json", result.Train, into[result.Candidates], `{"candidates":[{}`, `,{}`, `]}`},
		{"candidates.json", result.Train, into[result.Candidates], `{"items":[""`, `,""`, `]}`},
		{"evaluation.json", result.Evaluate, into[result.Evaluation], `{"splits":{"":{}`, `,"%x":{}`, `}}`},
		{"comparison.json", result.Compare, into[result.Comparison], `{"verdict":"equal","by_task":[{}`, `,{}`, `]}`},
		{result.AblationFile, result.Ablate, into[result.Ablation], `{"rules":[{}`, `,{}`, `]}`},
		{result.PruningFile, result.Prune, into[result.Pruned], `{"rules":[{}],"steps":[{}`, `,{}`, `]}`},
	}
}

// text is the document, with as many units as are read of it: spaces make it so long that the
// proportion of room to bytes does not bound it, but the room.
func (s swollen) text(t *testing.T) []byte {
	t.Helper()
	const long = 5 << 20
	for n := min(int(run.Most(s.file))-long, long) / 4; n > 0; {
		var b strings.Builder
		b.WriteString(s.head)
		for i := range n {
			b.WriteString(strings.Replace(s.unit, "%x", fmt.Sprintf("%x", i), 1))
		}
		b.WriteString(strings.Repeat(" ", max(0, long-b.Len())) + s.tail)
		err := run.Decode(s.file, []byte(b.String()), s.into())
		var size *run.SizeError
		if !errors.As(err, &size) {
			if err != nil {
				t.Fatal(err)
			}
			return []byte(b.String())
		}
		n = int(float64(n) * 0.99 * float64(size.Limit-long) / float64(size.Room-long))
	}
	t.Fatalf("%s: nothing is read of it", s.file)
	return nil
}

// apart is a server as a process of its own.
type apart struct {
	*child

	URL, Token string
}

func serving(t *testing.T, dir string) *apart {
	t.Helper()
	s := &apart{child: start(t, t.TempDir(), "serve", dir, "--addr", "127.0.0.1:0", "--json")}
	line, err := s.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get asks for something and reads the answer; it returns the status.
func (s *apart) get(path string) int {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+"/api/v1"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.Token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode
}

// swell writes documents over those of a small run.
func swell(t *testing.T, dir string, documents ...swollen) {
	t.Helper()
	size := recordtest.Size{Steps: 2, Candidates: 4, Batch: 4, Selection: 4, Train: 8, Test: 4, Record: true}
	if err := recordtest.Write(t.Context(), dir, size); err != nil {
		t.Fatal(err)
	}
	m, _, err := run.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	m.Kind = documents[0].kind
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, run.ManifestFile), text, 0o600)
	}
	for _, d := range documents {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, d.file), d.text(t), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// takes asks a server for every view of a run and returns the most memory that it took, in MB.
func takes(t *testing.T, documents ...swollen) int64 {
	t.Helper()
	dir := t.TempDir()
	swell(t, filepath.Join(dir, "r"), documents...)
	s := serving(t, dir)
	id := filepath.Base(dir) + ":r"
	asked := "/runs/" + id
	for _, path := range []string{
		"/runs", asked, asked + "/progress", asked + "/versions", asked + "/skill", asked + "/blame", asked + "/candidates", asked + "/steps/0", asked + "/steps/1",
		asked + "/grid", asked + "/failures", asked + "/calls", asked + "/spend", asked + "/config", "/compare?run=" + id + "&run=" + id, "/runs", asked,
	} {
		if status := s.get(path); status == http.StatusTooManyRequests {
			t.Errorf("%s: %d", path, status)
		}
	}
	most := s.most()
	s.interrupt()
	s.ends(0)
	return most
}

// most is the most memory that the server has had, in MB, as the system tells of a process at work:
// what it tells of one that has ended counts the memory of this test as well, from before exec.
func (s *apart) most() (kb int64) {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(rest, &kb); !found || err != nil {
		s.t.Fatalf("no VmHWM: %v", err)
	}
	return kb >> 10
}

// A server stays small whatever a run directory holds within the bounds of what is read. With
// SKILLOPT_LONG=1 each place is tried, and all documents of a run at once, else one.
func TestServedMemoryIsBounded(t *testing.T) {
	measured(t)
	all := swollenDocuments()
	sets := [][]swollen{{all[3]}}
	if os.Getenv("SKILLOPT_LONG") != "" {
		sets = [][]swollen{{all[0], all[4], all[5], all[6]}, {all[8], all[0], all[4], all[5]}, {all[9], all[2], all[4], all[5], all[7]}}
		for _, d := range all {
			sets = append(sets, []swollen{d})
		}
	}
	for _, set := range sets {
		var names []string
		for _, d := range set {
			names = append(names, d.file+" "+d.head)
		}
		got := takes(t, set...)
		t.Logf("%d MB: %s", got, strings.Join(names, ", "))
		if got > mostServed {
			t.Errorf("%d MB, at most %d are expected: %s", got, mostServed, strings.Join(names, ", "))
		}
	}
}
