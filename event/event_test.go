package event

import (
	"strings"
	"testing"
	"time"
)

func TestAnUnknownCostIsNull(t *testing.T) {
	t.Parallel()
	usd := 0.25
	for want, e := range map[string]Progress{`"cost_usd":null`: {Stage: "gate"}, `"cost_usd":0.25`: {Stage: "gate", Cost: &usd}} {
		line, err := Marshal(e, time.Unix(0, 0))
		if err != nil || !strings.Contains(string(line), want) || strings.Contains(string(line), "priced") {
			t.Errorf("%s, %v: want %s", line, err, want)
		}
	}
}
