// Package steer is how a run at work is asked to stop, or to continue under other ceilings, by
// anybody who may write its directory: a request is a file of its folder control, which the
// process that works on the run finds within half a second. It works on every system, over
// shared disks too, and no matter who started the run.
//
// Ask puts a request and waits for what happens to it. A Desk is the other side: it reads
// what was put there as what it is, files that somebody else has written. It follows no
// link, waits for nothing, reads no more than it needs, and removes what is no request.
//
// It knows requests and the files that hold them. It knows nothing of how a run stops and of
// how ceilings are held.
package steer
