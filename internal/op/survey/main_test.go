package survey_test

import (
	"os"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	os.Exit(m.Run())
}
