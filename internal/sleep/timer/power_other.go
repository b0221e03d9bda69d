//go:build !linux && !windows

package timer

import "context"

func (h Host) power(ctx context.Context) Power {
	if h.OS != "darwin" {
		return Unknown
	}
	out, err := h.run(ctx, nil, "pmset", "-g", "batt")
	if err != nil {
		return Unknown
	}
	return pmset(string(out))
}
