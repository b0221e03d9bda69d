package night

import "github.com/seed-f4525e22/skillopt/result"

// Format is that of a Report.
const Format = result.NightFormat

// The documents of a night, which others read too, under the names that this package uses.
type (
	Report        = result.Night
	Mined         = result.NightMined
	Skipped       = result.NightSkipped
	Target        = result.NightTarget
	Outcome       = result.NightOutcome
	Clusters      = result.NightGroups
	Placed        = result.NightPlaced
	Can           = result.NightCan
	Powered       = result.NightPowered
	Judging       = result.NightJudging
	Measured      = result.NightMeasured
	Look          = result.NightLook
	Continued     = result.NightContinued
	Adopted       = result.NightAdopted
	Consolidation = result.NightConsolidation
	Edit          = result.NightEdit
	Rule          = result.NightRule
	HeldRule      = result.NightHeld
	Spent         = result.NightSpent
	Item          = result.NightItem
	Diagnostics   = result.NightDiagnostics
	DiagnosedTask = result.NightDiagnosed
)
