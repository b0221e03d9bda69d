//go:build unix

package cli

import "syscall"

// detach has a process survive this one, and the terminal of it.
func detach() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
