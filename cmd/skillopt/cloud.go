//go:build cloud

package main

import (
	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/cloud"
)

// clouds returns the SDKs of clouds that this build has.
func clouds() skillopt.Clouds {
	return skillopt.Clouds{Amazon: cloud.NewAmazon(), Azure: cloud.Azure, Google: cloud.Google}
}
