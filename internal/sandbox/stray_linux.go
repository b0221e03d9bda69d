package sandbox

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// rounds bounds the search for strays: each takes a few milliseconds, and a
// program that forks as fast as it is killed must not keep us forever. Of them
// unclear many are spent on processes that do not say yet whose they are.
const (
	rounds  = 200
	unclear = 10
)

// killStrays ends what is left of a program and returns when it has ended: a
// process that was killed takes its time under load. Ours are the processes of
// the program's session, leader, and those elsewhere whose environment holds
// marker. One that has left the session and cleared its environment is not found.
func killStrays(leader int, marker string) {
	killed := map[int]bool{}
	for round := range rounds {
		waiting := false
		for _, pid := range processes("/proc") {
			switch whose(pid, leader, marker) {
			case ours:
				killed[pid] = true
			case unknown:
				waiting = waiting || round < unclear
			}
		}
		maps.DeleteFunc(killed, func(pid int, _ bool) bool { return !look(pid).running })
		if len(killed) == 0 && !waiting {
			return
		}
		<-time.After(2 * time.Millisecond)
	}
}

func processes(proc string) []int {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil // without /proc there is nothing to search
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owner says whose a process is.
type owner int

const (
	strangers owner = iota
	ours
	unknown // it is becoming another program, and has no environment for the moment
)

// whose finds out, and ends the process if it is ours. It takes hold of it before
// it looks, so that it cannot hit a successor with the same number.
func whose(pid, leader int, marker string) owner {
	p, err := os.FindProcess(pid)
	if err != nil {
		return strangers
	}
	defer func() { _ = p.Release() }() // nothing is left to do about it
	s := look(pid)
	if !s.running || !s.memory {
		return strangers // about to be gone, or of the kernel
	}
	if s.session != leader {
		environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
		switch {
		case err != nil:
			return strangers // gone, or of somebody else
		case len(environ) == 0:
			return unknown
		case !bytes.Contains(append(environ, 0), append([]byte(marker), 0)):
			return strangers
		}
	}
	if p.Kill() != nil {
		return strangers
	}
	return ours
}

// state is what the system says of a process.
type state struct {
	running bool // not gone, and no zombie
	memory  bool // it still has some of its own
	session int
}

func look(pid int) state {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return state{}
	}
	// The name of the program, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 21 {
		return state{}
	}
	session, err := strconv.Atoi(fields[3])
	if err != nil {
		return state{}
	}
	return state{running: fields[0] != "Z" && fields[0] != "X", memory: fields[20] != "0", session: session}
}
