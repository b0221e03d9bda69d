package session

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/page"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// Pages says which pages the target of a session is handed when its reply holds no
// answer, without the means to fetch them; nil: none. In a simulation nothing is fetched,
// and so not in a replay of one.
func Pages(s *Session) *rollout.Pages {
	if s.Models.Has(model.Target) && s.Models.Of(model.Target).Simulated {
		return nil
	}
	return namedPages(s.Inputs)
}

// namedPages returns the pages that tasks name and a chat target gets, nil if there are none.
func namedPages(s *Inputs) *rollout.Pages {
	if s.Config.Tasks.Pages.Fetch == 0 || s.Episodes() {
		return nil
	}
	return &rollout.Pages{Field: s.Config.Tasks.Pages.Field, Most: s.Config.Tasks.Pages.Fetch, Finds: s.Extract.Finds}
}

// mostHosts is how many hosts of pages are named before a run.
const mostHosts = 8

// requirePages fails when pages are asked for that no one could be given. It warns of
// what may be fetched.
func requirePages(s *Inputs) error {
	switch {
	case s.Config.Tasks.Pages.Fetch == 0 || s.Answers != nil:
		return nil
	case s.Episodes():
		return fault.Input(fmt.Errorf("%s: pages are fetched for chat targets alone; an agent or an environment fetches what it needs by itself", where(s.Loaded, "tasks.pages.fetch")))
	case s.Extract.Finds("?"):
		return fault.Input(fmt.Errorf("%s: by tasks.extract every reply is an answer, so no page would ever be fetched; say where the answer is, such as tasks.extract={tag: answer}", where(s.Loaded, "tasks.pages.fetch")))
	}
	tasks := s.Set.Tasks()
	p := namedPages(s)
	if len(tasks) > 0 && !slices.ContainsFunc(tasks, func(t task.Task) bool { return len(p.Addresses(t)) > 0 }) {
		return fault.Input(noPages(s, tasks))
	}
	if text := PagesNotice(s); text != "" {
		s.Warn(text)
	}
	return nil
}

// PagesNotice says which pages a run may fetch, and from where, before it does; "" if none.
func PagesNotice(s *Inputs) string {
	p := namedPages(s)
	if p == nil || s.Set.Len() == 0 {
		return ""
	}
	if s.Replay != nil || s.Config.Models.Target.Provider == "sim" {
		return "tasks.pages: nothing is fetched in a replay or a simulation"
	}
	hosts, naming := map[string]int{}, 0
	for _, t := range s.Set.Tasks() {
		addresses := p.Addresses(t)
		if len(addresses) > 0 {
			naming++
		}
		for _, address := range addresses {
			if u, err := url.Parse(address); err == nil {
				hosts[strings.ToLower(u.Host)]++
			}
		}
	}
	return fmt.Sprintf("tasks.pages: where a reply holds no answer, up to %s of its task may be fetched from the internet: of %s of %d, from %s",
		wording.Plural(p.Most, "page", "pages"), wording.Plural(naming, "task", "tasks"), s.Set.Len(), hostsTold(hosts))
}

// WarnOfPages says it as a run begins, for operations that give no other warnings.
func WarnOfPages(s *Session) {
	if text := PagesNotice(s.Inputs); text != "" {
		s.Emit(event.Warning{Text: text})
	}
}

// noPages says that the field names no pages, and which one may be meant.
func noPages(s *Inputs, tasks []task.Task) error {
	field := s.Config.Tasks.Pages.Field
	names := map[string]bool{}
	for _, t := range tasks {
		for name := range t.Data {
			names[name] = true
		}
	}
	meant := ""
	if name, ok := wording.Suggest(field, slices.Sorted(maps.Keys(names))); ok && name != field {
		meant = fmt.Sprintf("; is %q meant?", name)
	}
	return fmt.Errorf("%s: no task has an https or http address in its field %q%s", where(s.Loaded, "tasks.pages.field"), field, meant)
}

// hostsTold names hosts, those with the most pages first.
func hostsTold(hosts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(hosts), func(a, b string) int { return cmp.Or(hosts[b]-hosts[a], strings.Compare(a, b)) })
	text := strings.Join(names[:min(len(names), mostHosts)], ", ")
	if more := len(names) - mostHosts; more > 0 {
		text += fmt.Sprintf(" and %d more hosts", more)
	}
	return text
}

// mostFetches bounds how many pages are fetched at once.
const mostFetches = 8

// pages fetches pages for the rollouts of a run. Each address is fetched once a run and
// is in its record from then on: whatever is compared with one another was handed
// the same, and a run that continues fetches nothing again.
type pages struct {
	*Session
	get   PageGetter
	slots chan struct{}

	mu    sync.Mutex
	turns map[string]chan struct{} // of addresses; who has its token looks at the record
}

// newChatPages returns what gives pages to the chats of a session; nil: nothing does.
func newChatPages(s *Session) *rollout.Pages {
	out := Pages(s)
	if out == nil {
		return nil
	}
	p := &pages{Session: s, get: s.Options.Pages, slots: make(chan struct{}, mostFetches), turns: map[string]chan struct{}{}}
	if p.get == nil {
		p.get = page.New(page.Options{})
	}
	out.Get = p.fetchPage
	return out
}

// turn waits until no one else is at an address. done must be called.
func (p *pages) turn(ctx context.Context, address string) (done func(), err error) {
	p.mu.Lock()
	turn, ok := p.turns[address]
	if !ok {
		turn = make(chan struct{}, 1)
		p.turns[address] = turn
	}
	p.mu.Unlock()
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fetchPage fetches a page as a step of its own, or takes it from the record.
func (p *pages) fetchPage(ctx context.Context, address string) (page.Page, error) {
	var got page.Page
	done, err := p.turn(ctx, address)
	if err != nil {
		return got, err
	}
	defer done()
	own, err := json.Marshal(address)
	if err != nil {
		return got, fmt.Errorf("encode an address: %w", err)
	}
	key := "page/" + Digest([]byte(address))
	raw, err := p.Caller.Check(ctx, caller.CheckCall{Key: key, Own: own}, func(ctx context.Context) ([]byte, error) {
		select {
		case p.slots <- struct{}{}:
			defer func() { <-p.slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		got, err := p.get.Get(ctx, address)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(got)
		return p.hide.JSON(data), err
	})
	if err != nil {
		return got, err
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return got, fmt.Errorf("read the recorded page %s: %w", address, err)
	}
	return got, nil
}
