//go:build !linux

package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func canMount(*testing.T) bool { return false }

func mount(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("mount is for Linux") }
