package harvest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// Place is what is there of one source in one project, whether it may be read or not: numbers,
// and no text of any session.
type Place struct {
	Project     string    `json:"project"`
	Source      string    `json:"source"`
	Interactive int       `json:"interactive"` // sessions that are not old
	Headless    int       `json:"headless"`
	Old         int       `json:"old"` // interactive ones that ended before Inputs.Keep
	Oldest      time.Time `json:"oldest"`
	Newest      time.Time `json:"newest"` // of those that are not old
}

// Add adds what is there in another place.
func (p *Place) Add(o Place) {
	p.Interactive, p.Headless, p.Old = p.Interactive+o.Interactive, p.Headless+o.Headless, p.Old+o.Old
	if p.Oldest.IsZero() || !o.Oldest.IsZero() && o.Oldest.Before(p.Oldest) {
		p.Oldest = o.Oldest
	}
	if o.Newest.After(p.Newest) {
		p.Newest = o.Newest
	}
}

// Found is what is there of one source.
type Found struct {
	Name      string               `json:"name"`
	Stores    int                  `json:"stores"`
	Readable  int                  `json:"readable"` // of them
	Sessions  int                  `json:"sessions"`
	Versions  []string             `json:"versions"` // of the agent's program, as sessions record them
	LastEntry time.Time            `json:"last_entry,omitzero"`
	LeftOut   map[string]int       `json:"left_out"` // sessions, by reason
	Problems  []transcript.Problem `json:"problems"` // what is not understood
	More      int                  `json:"more_problems,omitempty"`
	Untried   bool                 `json:"untried,omitempty"`
	Errors    []string             `json:"errors"` // of stores, and of folders that cannot be listed
}

// maxListed is how many problems and errors of a source are reported one by one.
const maxListed = 20

// Survey reads all stores of all sources, whatever the user allows, and counts. It keeps nothing
// and hands no text on.
func Survey(ctx context.Context, in Inputs) ([]Place, []Found, error) {
	in.Clean = brief{in.Clean}
	s := &survey{in: in, places: map[[2]string]*Place{}}
	for _, src := range in.Sources {
		if err := s.source(ctx, src); err != nil {
			return nil, nil, err
		}
	}
	out := make([]Place, 0, len(s.places))
	for _, p := range s.places {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Project, b.Project), cmp.Compare(a.Source, b.Source))
	})
	return out, s.found, nil
}

// brief cleans names and paths. What is longer is nothing that a survey looks at.
type brief struct{ transcript.Cleaner }

func (b brief) Text(s string) string {
	if len(s) > transcript.MaxPath {
		return "-"
	}
	return b.Cleaner.Text(s)
}

type survey struct {
	in     Inputs
	mu     sync.Mutex // guards what follows while stores are read
	places map[[2]string]*Place
	found  []Found
}

// source reads the stores of one source, some at a time.
func (s *survey) source(ctx context.Context, src transcript.Source) error {
	f := Found{Name: src.Name(), Untried: transcript.IsUntried(src.Name()), Versions: []string{}, LeftOut: map[string]int{}, Problems: []transcript.Problem{}, Errors: []string{}}
	stores, err := src.Stores(ctx, s.in.Places)
	if err != nil {
		f.Errors = append(f.Errors, err.Error())
	}
	f.Stores = len(stores)
	reads := make([]read, len(stores))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(1, s.in.Workers) {
		wg.Go(func() {
			for i := range next {
				reads[i] = s.read(ctx, src, stores[i])
			}
		})
	}
	for i := range stores {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, r := range reads {
		f.add(r)
	}
	s.found = append(s.found, f)
	return nil
}

// read is what reading one store produced.
type read struct {
	sessions []transcript.Transcript // without turns
	problems []transcript.Problem
	more     int
	err      error
}

func (s *survey) read(ctx context.Context, src transcript.Source, store transcript.Store) (out read) {
	r := &transcript.Reading{Clean: s.in.Clean, Temp: s.in.Temp, Each: func(t transcript.Transcript) error {
		if len(t.Turns) == 0 {
			return nil
		}
		t.Turns = nil
		out.sessions = append(out.sessions, t)
		s.count(t)
		return nil
	}}
	out.err = src.Read(ctx, store, r)
	out.problems, out.more = r.Problems, r.More
	return out
}

// count counts a session in its project.
func (s *survey) count(t transcript.Transcript) {
	if t.Project == "" || t.Origin == transcript.Replay || t.Origin == transcript.Subagent || IsReplay(t.Project) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{t.Project, t.Source}
	if s.places[key] == nil {
		s.places[key] = &Place{Project: t.Project, Source: t.Source}
	}
	one := Place{Oldest: t.Ended, Newest: t.Ended}
	switch {
	case t.Origin == transcript.Headless:
		one.Headless = 1
	case s.in.Keep > 0 && t.Ended.Before(s.in.Now.Add(-s.in.Keep)):
		one = Place{Old: 1}
	default:
		one.Interactive = 1
	}
	s.places[key].Add(one)
}

func (f *Found) add(r read) {
	if r.err != nil {
		if len(f.Errors) < maxListed {
			f.Errors = append(f.Errors, r.err.Error())
		} else {
			f.More++
		}
	} else {
		f.Readable++
	}
	room := min(len(r.problems), maxListed-len(f.Problems))
	f.Problems = append(f.Problems, r.problems[:room]...)
	f.More += r.more + len(r.problems) - room
	for _, t := range r.sessions {
		f.session(t)
	}
}

func (f *Found) session(t transcript.Transcript) {
	f.Sessions++
	if t.Ended.After(f.LastEntry) {
		f.LastEntry = t.Ended
	}
	if t.Version != "" && !slices.Contains(f.Versions, t.Version) {
		f.Versions = append(f.Versions, t.Version)
		slices.Sort(f.Versions)
	}
	switch {
	case t.Project == "":
		f.LeftOut[NoProject]++
	case t.Origin == transcript.Replay || IsReplay(t.Project):
		f.LeftOut[Replay]++
	case t.Origin == transcript.Subagent:
		f.LeftOut[Subagent]++
	case t.Origin == transcript.Headless:
		f.LeftOut[Headless]++
	}
}
