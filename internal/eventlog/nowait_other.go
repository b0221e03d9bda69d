//go:build !unix

package eventlog

// noWait is not needed where what is opened has been looked at.
const noWait = 0
