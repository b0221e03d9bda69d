//go:build !cloud

package main

import "github.com/seed-f4525e22/skillopt"

// clouds returns the SDKs of clouds that this build has: none.
func clouds() skillopt.Clouds { return skillopt.Clouds{} }
