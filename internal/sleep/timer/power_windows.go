package timer

import (
	"context"
	"unsafe"

	"golang.org/x/sys/windows"
)

// powerStatus is SYSTEM_POWER_STATUS.
type powerStatus struct {
	line, battery, percent, system byte
	life, fullLife                 uint32
}

func (h Host) power(context.Context) Power {
	var s powerStatus
	ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetSystemPowerStatus").Call(uintptr(unsafe.Pointer(&s)))
	switch {
	case ok == 0:
		return Unknown
	case s.line == 1:
		return Mains
	case s.line == 0:
		return Battery
	}
	return Unknown
}
