//go:build !linux

package sandbox

// Main does nothing on this system. See the package comment.
func Main([]string) { Through("") }

func support(bool) Support {
	return Support{Why: "programs can be confined on Linux only, with Landlock or bubblewrap; run it there, in a container or a virtual machine"}
}

// confine refuses.
func (p *process) confine() error {
	return &UnsupportedError{What: p.spec.Argv[0], Why: support(false).Why}
}

func canIsolate() error { return &UnsupportedError{What: "namespaces", Why: support(false).Why} }
