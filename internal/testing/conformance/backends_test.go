package conformance

import (
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/importer"
)

func TestBackendAlias(t *testing.T) {
	t.Parallel()
	run(t, "backend_alias", func(in, out map[string]any) string {
		name, _ := in["name"].(string)
		return diffRecorded(importer.BackendAlias(name), nil, out)
	})
}

func TestRoleBackends(t *testing.T) {
	t.Parallel()
	run(t, "role_backends", func(in, out map[string]any) string {
		label, _ := in["backend"].(string)
		optimizer, _ := in["optimizer"].(string)
		target, _ := in["target"].(string)
		forOptimizer, forTarget := importer.RoleBackends(label, optimizer, target)
		return diffRecorded([]string{forOptimizer, forTarget}, nil, out)
	})
}
