package gate

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// unit is what counts once in a decision: an item, or the items of a cluster.
type unit = []int

// Units groups n items by the names of their clusters, in the order of their first
// items. One without a name, and each if there are none at all, is by itself.
func Units(n int, clusters []string) [][]int {
	var out [][]int
	at := map[string]int{} // cluster -> its unit
	for i := range n {
		if clusters != nil && clusters[i] != "" {
			if u, seen := at[clusters[i]]; seen {
				out[u] = append(out[u], i)
				continue
			}
			at[clusters[i]] = len(out)
		}
		out = append(out, []int{i})
	}
	return out
}

// stratifyUnits returns the units of a trial in seeded random order, in which every
// task type is spread evenly: any prefix holds the types about as often as the
// whole does. A cluster has the type of its first item.
func stratifyUnits(t Trial) []unit {
	all := Units(len(t.Items), t.Clusters)
	rng := rand.New(rand.NewPCG(uint64(t.Seed), 0x67617465))
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if t.Types == nil {
		return all
	}
	size := map[string]int{}
	for _, u := range all {
		size[t.Types[u[0]]]++
	}
	type placed struct {
		unit unit
		at   float64 // 0..1: place in the order
	}
	offset, seen := map[string]float64{}, map[string]int{}
	out := make([]placed, len(all))
	for i, u := range all {
		typ := t.Types[u[0]]
		if _, ok := offset[typ]; !ok {
			offset[typ] = rng.Float64()
		}
		out[i] = placed{u, (float64(seen[typ]) + offset[typ]) / float64(size[typ])}
		seen[typ]++
	}
	slices.SortStableFunc(out, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	for i, p := range out {
		all[i] = p.unit
	}
	return all
}
