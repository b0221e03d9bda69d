package journal

import (
	"encoding/binary"
	"testing"
)

// Zeros are of no round, whatever the salt of the log: it is drawn by chance, and in one
// of 256 logs it is small enough for them to pass as an old frame.
func TestZerosAreOfNoRound(t *testing.T) {
	t.Parallel()
	for _, salt := range []uint32{1, 1 << 20, 1<<24 - 1, 1 << 31} {
		s := logScan{sum: logSum{order: binary.LittleEndian}}
		binary.BigEndian.PutUint32(s.salts[:], salt)
		s.take(make([]byte, frameHeader+512), logHeader)
		if s.bad != logHeader || !s.strange {
			t.Errorf("salt %d: bad at %d, strange %v", salt, s.bad, s.strange)
		}
	}
}
