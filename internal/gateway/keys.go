package gateway

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// keyHash represents a key. Keys are compared by it, so that the time it takes shows
// nothing.
type keyHash [sha256.Size]byte

func hashKey(key string) keyHash { return sha256.Sum256([]byte(key)) }

// NewKey makes a key that no one can guess. It is that of no session yet.
func (g *Gateway) NewKey() (string, error) {
	id, err := g.id(32)
	if err != nil {
		return "", fmt.Errorf("gateway: make a key: %w", err)
	}
	return "sk-skillopt-" + id, nil
}

func checkKey(key string) error {
	if len(key) < 8 {
		return errors.New("gateway: a key needs 8 characters at least")
	}
	for _, c := range key {
		if c <= ' ' || c >= 0x7f {
			return errors.New("gateway: a key may hold printable ASCII only, without spaces")
		}
	}
	return nil
}

// register has requests with a key belong to a session.
func (g *Gateway) register(h *Handle, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	sum := hashKey(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return errors.New("gateway: it is closed")
	case h.gone:
		return errClosed
	case g.sessions[sum] != nil && g.sessions[sum] != h:
		return errors.New("gateway: the key is in use by another session")
	}
	g.sessions[sum] = h
	h.keys = append(h.keys, sum)
	return nil
}

// Bind has requests with a further key belong to the session until Unbind, or until it
// ends; then the key can be bound to another one. It is for programs that get their
// key once and have one session after the other.
func (h *Handle) Bind(key string) error { return h.gateway.register(h, key) }

// Unbind refuses a key that was bound. What came with it before is still answered.
func (h *Handle) Unbind(key string) {
	h.gateway.mu.Lock()
	defer h.gateway.mu.Unlock()
	sum := hashKey(key)
	h.gateway.drop(h, sum)
	h.keys = slices.DeleteFunc(h.keys, func(k keyHash) bool { return k == sum })
}

// forget refuses the keys of a session from now on.
func (g *Gateway) forget(h *Handle) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h.gone = true
	for _, sum := range h.keys {
		g.drop(h, sum)
	}
	h.keys = nil
}

// drop needs the lock.
func (g *Gateway) drop(h *Handle, sum keyHash) {
	if g.sessions[sum] == h {
		delete(g.sessions, sum)
		g.past.add(sum)
	}
}

// session finds the session of a key. Without one, ended says that there was one.
func (g *Gateway) session(key string) (h *Handle, ended bool) {
	sum := hashKey(key)
	g.mu.Lock()
	defer g.mu.Unlock()
	if h = g.sessions[sum]; h != nil {
		return h, false
	}
	return nil, g.past.has(sum)
}

// Strangers returns how many requests came so far with a key that neither is nor was that of a
// session. An agent that was not answered at all has perhaps sent them.
func (g *Gateway) Strangers() int64 { return g.strangers.Load() }

// maxPast bounds how many keys of ended sessions are distinguished from those of no one.
const maxPast = 8192

// past knows the keys of the sessions that ended last.
type past struct {
	known map[keyHash]struct{}
	order []keyHash // oldest first
}

func (p *past) has(sum keyHash) bool {
	_, ok := p.known[sum]
	return ok
}

func (p *past) add(sum keyHash) {
	if p.has(sum) {
		return
	}
	if p.known == nil {
		p.known = map[keyHash]struct{}{}
	}
	if len(p.order) >= maxPast {
		delete(p.known, p.order[0])
		p.order = p.order[1:]
	}
	p.known[sum] = struct{}{}
	p.order = append(p.order, sum)
}
