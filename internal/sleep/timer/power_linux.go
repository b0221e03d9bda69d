package timer

import (
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
)

func (h Host) power(context.Context) Power { return supplies(os.DirFS("/sys/class/power_supply")) }

// supplies reads the folder of power supplies of Linux. Batteries of devices, such as a mouse, do
// not count. One that discharges while no supply is online is what the machine runs on.
func supplies(sys fs.FS) Power {
	names, err := fs.ReadDir(sys, ".")
	if err != nil {
		return Unknown
	}
	read := func(name, file string) string {
		data, err := fs.ReadFile(sys, path.Join(name, file))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(data))
	}
	online, discharging := false, false
	for _, n := range names {
		switch kind := read(n.Name(), "type"); {
		case read(n.Name(), "scope") == "Device":
		case kind == "Battery":
			discharging = discharging || read(n.Name(), "status") == "Discharging"
		case kind != "" && kind != "Unknown":
			online = online || read(n.Name(), "online") == "1"
		}
	}
	switch {
	case online:
		return Mains
	case discharging:
		return Battery
	}
	return Unknown
}
