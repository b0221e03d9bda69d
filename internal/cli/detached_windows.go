package cli

import "syscall"

// detachedProcess is DETACHED_PROCESS of Windows, which package syscall does not name.
const detachedProcess = 0x00000008

// detach has a process survive this one, and the terminal of it.
func detach() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess, HideWindow: true}
}
