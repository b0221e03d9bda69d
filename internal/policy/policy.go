// Package policy holds the house rules as tests: who may import whom, how long
// files and functions may be, who may print and who may read the environment.
//
// It knows the source text of the project and nothing of what it does.
package policy
