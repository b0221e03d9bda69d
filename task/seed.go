package task

import "context"

type seedKey struct{}

// WithSeed returns a context that carries the seed of one rollout. The same
// task, sample and run always have the same seed.
func WithSeed(ctx context.Context, seed int64) context.Context {
	return context.WithValue(ctx, seedKey{}, seed)
}

// Seed returns the seed of the rollout that an Env carries out, positive and
// below 2^31. An Env that draws at random should draw from it, so that a run can
// be repeated. ok is false outside of a rollout.
func Seed(ctx context.Context) (seed int64, ok bool) {
	seed, ok = ctx.Value(seedKey{}).(int64)
	return seed, ok
}
