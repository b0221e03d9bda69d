// Command server serves simulated models over an OpenAI-compatible HTTP API, for the
// measurements in bench/*.py, and writes the tasks that these models can learn to solve.
//
//	server -seed 7 -flip 0.1 -attend 8    prints its base URL and serves until it is stopped
//	server data DIR -sizes 60,30,60       writes DIR/{train,val,test}/items.json
//
// A task asks for the code word of an item and names the kind of the item. The target
// solves it if the skill holds the rule of that kind. The optimizer sees failed tasks and
// proposes the rules of their kinds; the flags say how well it reads and writes. Every
// answer depends on the seed, the messages and the seed of the request alone.
//
// It knows nothing about training: it distinguishes the prompts of this program and of its peers
// apart by their headings.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
