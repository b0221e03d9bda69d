package config

import (
	"strings"
	"testing"
)

func TestTelemetryIsChecked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Telemetry)
		want   string // "" = allowed
	}{
		"off":       {func(*Telemetry) {}, ""},
		"endpoint":  {func(c *Telemetry) { c.Endpoint = "https://example.com:4318/otlp" }, ""},
		"no scheme": {func(c *Telemetry) { c.Endpoint = "localhost:4318" }, "telemetry.endpoint"},
		"query":     {func(c *Telemetry) { c.Endpoint = "http://h?key=planted" }, "telemetry.headers"},
		"user":      {func(c *Telemetry) { c.Endpoint = "http://me:planted@h" }, "telemetry.headers"},
		"broken":    {func(c *Telemetry) { c.Endpoint = "http://me:planted@h:x/%" }, "telemetry.endpoint"},
		"header":    {func(c *Telemetry) { c.Headers = map[string]string{"a b": "planted"} }, `"a b"`},
		"lines":     {func(c *Telemetry) { c.Headers = map[string]string{"a": "planted\nX: y"} }, "telemetry.headers"},
		"service":   {func(c *Telemetry) { c.Service = "" }, "telemetry.service"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := Default()
			tt.change(&c.Telemetry)
			err := c.Validate()
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "planted") {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}
