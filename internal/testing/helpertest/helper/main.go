// Command helper confines programs for tests, see package helpertest. It does nothing else, and knows nothing of what is confined.
package main

import (
	"os"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

func main() { sandbox.Main(os.Args) }
