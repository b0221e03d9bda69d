package main

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// build builds the program of a target at a path and returns its bytes.
func (t target) build(ctx context.Context, root, path string) ([]byte, error) {
	args := []string{"build", "-tags", "cloud", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version=" + t.version, "-o", path}
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, "go", append(args, "./cmd/skillopt")...)
	c.Dir = abs
	c.Env = t.environment(os.Environ())
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if t.os == "linux" {
		err = static(program)
	}
	return program, err
}

// environment is that of the compiler: nothing that somebody has set for builds of their
// own, here or by go env -w, and no cgo.
func (t target) environment(have []string) []string {
	var env []string
	for _, v := range have {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140", "GOWORK", "CGO_ENABLED":
		default:
			env = append(env, v)
		}
	}
	return append(env, "GOFLAGS=-mod=readonly", "GOAMD64=v1", "GOARM64=v8.0", "GOFIPS140=off", "GOWORK=off", "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
}

// static refuses a program that needs a loader or libraries of the system.
func static(program []byte) error {
	f, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("read program: %w", err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return fmt.Errorf("the program is not static: it has a segment %s", p.Type)
		}
	}
	return nil
}
