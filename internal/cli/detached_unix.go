//go:build unix

package cli

import "syscall"

// detached has a process survive this one, and the terminal of it.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
