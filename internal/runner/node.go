package runner

import (
	"context"
	"maps"
	"slices"
)

func sortedKeys(m map[string]bool) []string                { return slices.Sorted(maps.Keys(m)) }
func nodePlan(j Job, c *cell) plan                         { return plan{} }
func vitestPlan(j Job, c *cell) plan                       { return plan{} }
func jestPlan(j Job, c *cell) plan                         { return plan{} }
func mochaPlan(j Job, c *cell) plan                        { return plan{} }
func (s Suite) cargoPlan(j Job) plan                       { return plan{} }
func (d *detector) detectNode(ctx context.Context) error   { return nil }
func (d *detector) detectCargo(ctx context.Context) error  { return nil }
func (d *detector) linkModules(string)                     {}
func rustModule(string) string                             { return "" }
func (c *cell) warmCargo(ctx context.Context, t any) error { return nil }
