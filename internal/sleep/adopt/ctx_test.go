package adopt_test

import "context"

func ctxOf() context.Context { return context.Background() }
