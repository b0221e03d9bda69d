package jsonx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// A Repeat is a key that occurs twice in one object.
type Repeat struct {
	Path  string // of the object, such as "usage" or "turns[2]"; "" for the outermost
	Key   string
	Other string // as it is written the first time; differs from Key in case at most
}

func (r *Repeat) String() string {
	where := ""
	if r.Path != "" {
		where = " in " + r.Path
	}
	if r.Key != r.Other {
		return fmt.Sprintf("the keys %q and %q%s mean the same", r.Other, r.Key, where)
	}
	return fmt.Sprintf("the key %q is there twice%s", r.Key, where)
}

// FindRepeat returns the first key that occurs twice in one object of a JSON value,
// at whatever depth, nil if there is none. Readers disagree about which of the two
// counts. In objects that less than folded others hold, keys that differ in
// nothing but case are the same, as they are to encoding/json when it fills a
// struct. What is no JSON is looked at up to its fault.
func FindRepeat(data []byte, folded int) *Repeat {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	w := walk{folded: folded}
	for {
		token, err := dec.Token()
		if err != nil {
			return nil // the end, or what its reader complains about
		}
		if found := w.step(token); found != nil {
			return found
		}
	}
}

// walk is the place of a token in a value.
type walk struct {
	folded int
	open   []level
}

// level is an object or list that has begun and not ended.
type level struct {
	keys  map[string]string // of an object, by the form that equal keys share; nil for a list
	key   string            // of the member that is read, "" before one
	inKey bool              // a key comes next
	index int               // of the element that is read
}

func (w *walk) step(token json.Token) *Repeat {
	if token == json.Delim('}') || token == json.Delim(']') {
		w.open = w.open[:len(w.open)-1]
		w.endValue()
		return nil
	}
	if n := len(w.open); n > 0 && w.open[n-1].inKey {
		key, _ := token.(string) // the decoder accepts nothing else
		return w.member(key)
	}
	switch token {
	case json.Delim('{'):
		w.open = append(w.open, level{keys: map[string]string{}, inKey: true})
	case json.Delim('['):
		w.open = append(w.open, level{})
	default:
		w.endValue()
	}
	return nil
}

// member begins the member of the innermost object that key names.
func (w *walk) member(key string) *Repeat {
	at := &w.open[len(w.open)-1]
	same := key
	if len(w.open) <= w.folded {
		same = fold(key)
	}
	if other, twice := at.keys[same]; twice {
		return &Repeat{Path: w.path(), Key: key, Other: other}
	}
	at.keys[same] = key
	at.key, at.inKey = key, false
	return nil
}

// endValue ends a value: what comes next in an object is a key.
func (w *walk) endValue() {
	if len(w.open) == 0 {
		return
	}
	at := &w.open[len(w.open)-1]
	if at.keys != nil {
		at.inKey = true
		return
	}
	at.index++
}

// path names the innermost object.
func (w *walk) path() string {
	var b strings.Builder
	for _, l := range w.open[:len(w.open)-1] {
		switch {
		case l.keys == nil:
			fmt.Fprintf(&b, "[%d]", l.index)
		case b.Len() > 0:
			b.WriteString("." + l.key)
		default:
			b.WriteString(l.key)
		}
	}
	return b.String()
}

// fold returns what is the same for keys that are the same to encoding/json: each
// character is the least of those that differ from it in case.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				return next
			}
			r = next
		}
	}, key)
}
