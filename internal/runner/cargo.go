package runner

import (
	"context"
	"time"
)

func (s Suite) cargoPlan(j Job) plan                                       { return plan{} }
func (d *detector) detectCargo(ctx context.Context) error                  { return nil }
func rustModule(string) string                                             { return "" }
func (c *cell) warmCargo(ctx context.Context, timeout time.Duration) error { return nil }
