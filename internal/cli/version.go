package cli

import (
	"fmt"
	"runtime"

	"github.com/seed-f4525e22/skillopt/result"
)

// printVersion prints the version, and whether the build has the SDKs of clouds.
func printVersion(a *app) error {
	if a.json {
		return printJSON(a.Out, build(a))
	}
	edition := ""
	if build(a).Edition == "cloud" {
		edition = " cloud"
	}
	_, err := fmt.Fprintf(a.Out, "skillopt %s%s (%s, %s/%s)\n", a.version, edition, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

func build(a *app) result.Build {
	edition := "cloud"
	if len(a.Clouds.LeftOut()) > 0 {
		edition = "plain"
	}
	return result.Build{Version: a.version, Edition: edition, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
}
