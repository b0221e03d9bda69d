// Package taskgroup runs functions at the same time and waits for all of them.
// The first failure ends the others, as in errgroup, with one exception: an error
// that only says that an answer comes later does not. The one who gives the answers
// is to find all questions at once.
//
// It knows nothing about who is asked, or what for.
package taskgroup

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Later is an error of a function that waits for somebody who takes their time.
// The functions that run at the same time continue.
type Later interface {
	error
	ComesLater()
}

// Group is a set of functions. Its methods may be called concurrently, but not
// Go after Wait has returned.
type Group struct {
	group *errgroup.Group

	mu    sync.Mutex
	later error
}

// WithContext returns a group, and a context for its functions that ends with
// the first failure or with Wait.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group: group}, ctx
}

// Go runs f in a goroutine of its own.
func (g *Group) Go(f func() error) {
	g.group.Go(func() error {
		err := f()
		var later Later
		if !errors.As(err, &later) {
			return err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.later == nil {
			g.later = err
		}
		return nil
	})
}

// Wait waits for all functions and returns the first failure, or else an error
// that comes later, if there was one.
func (g *Group) Wait() error {
	if err := g.group.Wait(); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.later
}
