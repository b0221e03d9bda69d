package train

import (
	"github.com/seed-f4525e22/skillopt/internal/optimize"
)

// view is what the optimizer is shown of rollouts of train tasks with the current skill.
func (t *trainer) view() optimize.View {
	v := optimize.View{Whole: t.Whole, Window: t.Window}
	if !t.Whole || t.Told == nil {
		return v
	}
	with := t.skills.current.skill
	v.Told = func(id string) optimize.Told {
		if of, ok := t.trainByID[id]; ok {
			return t.Told(*of, with)
		}
		return optimize.Told{}
	}
	return v
}
