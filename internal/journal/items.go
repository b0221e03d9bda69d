package journal

import (
	"context"
	"database/sql"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"strings"
)

// blockEntries is how many entries a block of the index of items covers: its row fills one
// page of the file.
const blockEntries = 1000

// The index of items says of each entry to which item its key belongs, in 4 bytes: so much
// is looked through for one item, and not the entries. A block of it is written with the
// last entry that it covers, and what is behind the last block is looked through itself.
// Blocks that are damaged or missing cost time and no answers.

// ledgerMark is the bit in the mark of a ledger entry.
const ledgerMark = 1 << 31

// parseItem returns the part of a key that names its item: what is before the number of the sample,
// as it is escaped there. It returns "" for a key that belongs to no item.
func parseItem(key string) string {
	at := strings.LastIndex(key, "/sample")
	if at < 0 {
		return ""
	}
	return key[strings.LastIndexByte(key[:at], '/')+1 : at]
}

// keyMark returns the mark of an entry.
func keyMark(key string, ledger bool) uint32 {
	m := itemMark(parseItem(key))
	if ledger {
		m |= ledgerMark
	}
	return m
}

// itemMark returns the mark of the results of an item. Items may share a mark.
func itemMark(item string) uint32 {
	if item == "" {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(item)) // it never fails
	return max(h.Sum32()&^ledgerMark, 1)
}

// encodeMarks returns the marks of a block as they are stored.
func encodeMarks(marks []uint32) []byte {
	out := make([]byte, 0, 4*len(marks))
	for _, m := range marks {
		out = binary.LittleEndian.AppendUint32(out, m)
	}
	return out
}

func marksSum(block int64, marks []byte) int64 {
	table := crc32.MakeTable(crc32.Castagnoli)
	return int64(crc32.Update(crc32.Checksum(binary.AppendVarint(nil, block), table), table, marks))
}

// span is a run of entries, by their numbers.
type span struct{ first, last int64 }

// spans returns where entries of an item may be. Without an index that is everywhere.
func (v *View) spans(ctx context.Context, q Query) []span {
	const end = 1<<63 - 1
	if q.Item == "" {
		return []span{{1, end}}
	}
	want := itemMark(q.Item)
	var out []span
	add := func(first, last int64) {
		if n := len(out) - 1; n >= 0 && out[n].last+1 >= first {
			out[n].last = last
			return
		}
		out = append(out, span{first, last})
	}
	next := int64(1) // block
	err := v.blocks(ctx, func(block int64, marks []byte, whole bool) {
		base := (block - 1) * blockEntries
		if block > next { // some are missing
			add((next-1)*blockEntries+1, base)
		}
		next = block + 1
		if !whole {
			add(base+1, base+blockEntries)
			return
		}
		for i := range int64(blockEntries) {
			m := binary.LittleEndian.Uint32(marks[4*i:])
			if m&^ledgerMark == want && (m&ledgerMark == 0 || !q.Results) {
				add(base+i+1, base+i+1)
			}
		}
	})
	if err != nil { // the index is damaged; nothing rests on it
		return []span{{1, end}}
	}
	add((next-1)*blockEntries+1, end)
	return out
}

// blocks reads the index of items.
func (v *View) blocks(ctx context.Context, yield func(block int64, marks []byte, whole bool)) error {
	return v.each(ctx, "SELECT block, checksum, marks FROM items ORDER BY block", nil, func(rows *sql.Rows) (bool, error) {
		var block, checksum int64
		var marks sql.RawBytes
		if err := rows.Scan(&block, &checksum, &marks); err != nil {
			return false, err
		}
		yield(block, marks, len(marks) == 4*blockEntries && marksSum(block, marks) == checksum)
		return true, nil
	})
}

// countBlocks returns how many blocks of the index of items are written, 0 if it cannot be read:
// then all of it is written again.
func (l *loader) countBlocks(ctx context.Context) int64 {
	var count, last int64
	err := l.conn.QueryRowContext(ctx, "SELECT count(*), ifnull(max(block), 0) FROM items").Scan(&count, &last)
	if err != nil || count != last {
		return 0
	}
	return count
}
