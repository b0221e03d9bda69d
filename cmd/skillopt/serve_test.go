package main

import (
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// serves starts a server that answers as a simulated world does, and sets a
// variable to its URL: serves URL small/world.yaml.
func serves(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serves VARIABLE WORLD")
	}
	world, err := sim.Load(ts.MkAbs(args[1]))
	ts.Check(err)
	s := wiretest.Start(wiretest.Options{Client: sim.New(world)})
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL())
}
