// Package disk reads, writes and walks files that someone else names or fills: whole files or
// none, within bounds, without waiting; and it knows names that are written as patterns, and those
// of temporary folders of this program.
//
// It knows nothing about what the files hold.
package disk
