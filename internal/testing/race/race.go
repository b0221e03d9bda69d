// Package race says whether the race detector is built in. Tests ask it that hold
// figures of memory, or start this binary hundreds of times: the detector takes many
// times the memory and the time. It knows nothing else.
package race
