package conformance

import "slices"

// differences lists every deliberate departure from the reference, by family.
var differences = merged(
	gateDifferences,
	importDifferences,
	optimizeDifferences,
	regionDifferences,
	replyDifferences,
	scheduleDifferences,
	skillDifferences,
	sleepDifferences,
)

// merged joins the lists of several areas.
func merged(areas ...map[string][]difference) map[string][]difference {
	all := map[string][]difference{}
	for _, area := range areas {
		for family, list := range area {
			all[family] = slices.Concat(all[family], list)
		}
	}
	return all
}
