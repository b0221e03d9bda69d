package git

import "github.com/seed-f4525e22/skillopt/internal/pattern"

// Path is something that differs between two trees. Names are of the whole tree, with slashes; nothing is taken for renamed.
type Path struct {
	Name             string
	Status           byte   // 'A' added, 'M' changed, 'D' gone
	Old, New         string // objects; "" where there is none
	OldMode, NewMode string // Plain, Executable, Link or Module; "" where there is none
}

// raw is what git prints of a difference before the name, with --raw and --no-abbrev.
var raw = pattern.New(`^:([0-7]{6}) ([0-7]{6}) ([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([AMDT])$`)

// ParsePath reads a difference, as git prints it with --raw, -z and --no-abbrev, and the name after it.
func ParsePath(line, name string) (Path, bool) {
	m := raw.FindStringSubmatch(line)
	if m == nil || name == "" {
		return Path{}, false
	}
	p := Path{Name: name, Status: m[5][0], OldMode: m[1], NewMode: m[2], Old: m[3], New: m[4]}
	switch p.Status {
	case 'A':
		p.Old, p.OldMode = "", ""
	case 'D':
		p.New, p.NewMode = "", ""
	case 'T':
		p.Status = 'M'
	}
	return p, true
}
