package harvest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// Why says why a session cannot be read again as it was.
type Why string

// The reasons.
const (
	StoreGone   Why = "its store is gone"                 // or lies in none of the places that are read
	NotInStore  Why = "its store does not have it"        // any more
	OtherTurns  Why = "its store has other turns"         // a turn that is kept is not in it, or says something else
	PartlyRead  Why = "its store can be read only partly" // a part that is left out may be what showed a file
	OtherSource Why = "no source reads it"                // a newer build has kept it
)

// NotAgainError says that a session cannot be read again as it was: what files held in it is not
// known.
type NotAgainError struct {
	Source, Session string
	Store           string // its file
	Why             Why
}

func (e *NotAgainError) Error() string {
	return fmt.Sprintf("read session %s of %s again: %s: %s", e.Session, e.Source, e.Store, e.Why)
}

// ReadSession reads a session that is kept again from its store, with [transcript.Turn.Lines], which a
// harvest does not ask for. Temp is a private folder for copies of databases, such as [bank.Bank.Temp].
//
// The turns are those of the store, in its order, each that the session has and maybe more: turns that
// count in another session, were forgotten, or came since. Of those only ID, Files, Read and Lines are
// given, so a turn is found by its ID, not by its place in the session.
//
// The error is a *[NotAgainError] where the store is gone or the session is not in it as it is kept.
// Others are of the store as a whole, or of ctx. A session whose turns come from several stores is
// looked for in its newest, and so has other turns there. ReadSession lists the stores of the source and
// reads one of them, of a database at least up to the session; it is safe for concurrent use.
func ReadSession(ctx context.Context, places transcript.Places, clean transcript.Cleaner, temp string, s bank.Session) (transcript.Transcript, error) {
	not := func(why Why) (transcript.Transcript, error) {
		return transcript.Transcript{}, &NotAgainError{Source: s.Source, Session: s.ID, Store: s.Store, Why: why}
	}
	sources := transcript.Sources()
	i := slices.IndexFunc(sources, func(src transcript.Source) bool { return src.Name() == s.Source })
	if i < 0 {
		return not(OtherSource)
	}
	places.Projects = []string{s.Project}
	stores, err := sources[i].Stores(ctx, places)
	at := slices.IndexFunc(stores, func(st transcript.Store) bool { return st.Path() == s.Store })
	switch {
	case at >= 0: // folders elsewhere that cannot be listed do not matter
	case err != nil && !isGone(s.Store):
		return transcript.Transcript{}, fmt.Errorf("read session %s of %s again: %w", s.ID, s.Source, err)
	default:
		return not(StoreGone)
	}
	found, whole, err := find(ctx, sources[i], stores[at], &transcript.Reading{Clean: clean, Temp: temp, Lines: true}, s)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isGone(s.Store):
		return not(StoreGone)
	case err != nil:
		return transcript.Transcript{}, fmt.Errorf("read session %s of %s again: %w", s.ID, s.Source, err)
	case found == nil && whole:
		return not(NotInStore)
	case !whole:
		return not(PartlyRead)
	case !has(found, s.Turns):
		return not(OtherTurns)
	}
	return *found, nil
}

// find reads a session of a store; nil: it is not in it. whole: nothing was left out up to there.
func find(ctx context.Context, src transcript.Source, store transcript.Store, r *transcript.Reading, s bank.Session) (found *transcript.Transcript, whole bool, err error) {
	enough := errors.New("the session was found")
	whole = true
	r.Wanted = func(project string) bool { return project == s.Project }
	r.Each = func(t transcript.Transcript) error {
		if t.ID != s.ID {
			return nil
		}
		found, whole = &t, len(r.Problems)+r.More == 0
		return enough
	}
	err = src.Read(ctx, store, r)
	if found == nil {
		return nil, len(r.Problems)+r.More == 0, err
	}
	if errors.Is(err, enough) {
		err = nil
	}
	return found, whole, err
}

// has reports whether a transcript has turns as they are kept, and takes the words out of others.
func has(t *transcript.Transcript, kept []transcript.Turn) bool {
	byID := map[string]*transcript.Turn{}
	for i := range kept {
		byID[kept[i].ID] = &kept[i]
	}
	same := 0
	for i := range t.Turns {
		now := &t.Turns[i]
		old, is := byID[now.ID]
		switch {
		case !is:
			t.Turns[i] = transcript.Turn{ID: now.ID, Tools: []transcript.Tool{}, Files: now.Files, Read: now.Read, Lines: now.Lines}
		case !equal(old, now):
			return false
		default:
			same++
		}
	}
	return same == len(byID)
}

// equal reports whether two readings of a turn say the same: what was said, and what was done with
// files and by commands. A reading with lines may know an exit code that another one does not.
func equal(a, b *transcript.Turn) bool {
	command := func(a, b transcript.Command) bool { return a.Text == b.Text && a.Altered == b.Altered }
	return a.User == b.User && a.Agent == b.Agent && a.Failed == b.Failed && len(a.Tools) == len(b.Tools) &&
		slices.Equal(a.Files, b.Files) && slices.Equal(a.Read, b.Read) && slices.EqualFunc(a.Commands, b.Commands, command)
}
