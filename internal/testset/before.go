package testset

import "github.com/seed-f4525e22/skillopt/result"

// Sum counts openings by run, in the order of their first ones.
func Sum(list []Reading) result.TestReads {
	out := result.TestReads{Times: len(list)}
	at := map[string]int{}
	for _, o := range list {
		i, known := at[o.RunID]
		if !known {
			i, at[o.RunID] = len(out.By), len(out.By)
			out.By = append(out.By, result.Reader{Run: o.Run, Command: o.Command})
		}
		out.By[i].Times++
	}
	return out
}
