package survey

import "github.com/seed-f4525e22/skillopt/internal/pattern"

var lacking = pattern.New(`no required module provides|module lookup disabled|GOPROXY=off|missing go\.sum entry|cannot find module providing|updates to go\.mod needed|` +
	`ModuleNotFoundError: No module named|ImportError: cannot import name|Cannot find (package|module) '[^./]|ERR_MODULE_NOT_FOUND|no matching package named|failed to select a version|unresolved import|can't find crate`)

// lacksDependency reports whether what a build or a collector says is that a dependency is not there.
func lacksDependency(said string) bool { return lacking.MatchString(said) }

var asksNetwork = pattern.New(`(?i)connection refused|network is unreachable|no such host|temporary failure in name resolution|name or service not known|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|failed to lookup address|could not resolve host|max retries exceeded`)

// needsNetwork reports whether a test says that it could not connect.
func needsNetwork(said string) bool { return asksNetwork.MatchString(said) }
