package harvest

import (
	"context"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
)

// A commit waits for the disk: many stores are kept in one.
const (
	maxWaiting = 100
	maxTurns   = 2000
)

// keeper keeps what was read while more is read, many stores in one commit, in the order in which
// they are added. It is for one goroutine.
type keeper struct {
	list  []bank.Kept
	turns int // in it

	lists chan []bank.Kept
	done  chan struct{}
	err   error // of the first list that could not be kept; read it when done is closed
}

// newKeeper begins to keep in b. A failure cancels the reading.
func newKeeper(ctx context.Context, b *bank.Bank, cancel func()) *keeper {
	k := &keeper{lists: make(chan []bank.Kept), done: make(chan struct{})}
	go func() {
		defer close(k.done)
		for list := range k.lists {
			if k.err == nil {
				if k.err = b.Keep(ctx, list); k.err != nil {
					cancel()
				}
			}
		}
	}()
	return k
}

// add keeps what was read of a store, with its number of turns, soon.
func (k *keeper) add(kept bank.Kept, turns int) {
	k.list = append(k.list, kept)
	if k.turns += turns; len(k.list) >= maxWaiting || k.turns >= maxTurns {
		k.flush()
	}
}

func (k *keeper) flush() {
	if len(k.list) > 0 {
		k.lists <- k.list
		k.list, k.turns = nil, 0
	}
}

// close keeps the rest and says whether all was kept.
func (k *keeper) close() error {
	k.flush()
	close(k.lists)
	<-k.done
	return k.err
}
