package testset

import (
	"context"
	"database/sql"
	"encoding/binary"

	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/task"
)

// prompt is what near tasks are found by: short digests of the words of a prompt, sorted, which
// many words have. Another prompt of its template is recognized by its slots.
type prompt struct {
	rest         similar.Sum
	words, slots []byte // two bytes each
}

func (p prompt) key() Key {
	return newKey("words", string(p.rest[:]), string(p.words), string(p.slots))
}

// collectPrompts returns the prompts of the tasks that were compared with each other.
func collectPrompts(tasks []task.Task) []prompt {
	var out []prompt
	for _, t := range tasks {
		if t.Kin != nil && len(t.Kin.Words) > 0 {
			out = append(out, prompt{t.Kin.Rest, short(t.Kin.Words), short(t.Kin.Slots)})
		}
	}
	return out
}

func short(words []uint32) []byte {
	out := make([]byte, 0, 2*len(words))
	for _, w := range words {
		out = binary.BigEndian.AppendUint16(out, uint16(w>>16))
	}
	return out
}

func long(short []byte) []uint16 {
	out := make([]uint16, len(short)/2)
	for i := range out {
		out[i] = binary.BigEndian.Uint16(short[2*i:])
	}
	return out
}

// masked is the words of a prompt as they are compared.
type masked struct {
	words []uint16
	mask  similar.Mask
}

func newMasked(short []byte) masked {
	words := long(short)
	return masked{words, similar.NewMask(words)}
}

// noteNear keeps the prompts.
func noteNear(ctx context.Context, tx *sql.Tx, prompts []prompt) error {
	for _, p := range prompts {
		key := p.key()
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO prompts (key, rest, words, slots) VALUES (?, ?, ?, ?)", key[:], p.rest[:], p.words, p.slots); err != nil {
			return err
		}
	}
	return nil
}

// near returns the keys of the prompts that are kept and near to one of the prompts.
func near(ctx context.Context, tx *sql.Tx, prompts []prompt) (keys []Key, err error) {
	mine := map[similar.Sum][]masked{}
	for _, p := range prompts {
		mine[p.rest] = append(mine[p.rest], newMasked(p.words))
	}
	err = sqlstore.Each(ctx, tx, "SELECT key, rest, words, slots FROM prompts", nil, func(rows *sql.Rows) error {
		var key, rest []byte
		var p prompt
		if err := rows.Scan(&key, &rest, &p.words, &p.slots); err != nil {
			return err
		}
		kept, slots := newMasked(p.words), long(p.slots)
		copy(p.rest[:], rest)
		for i := range mine[p.rest] {
			if m := &mine[p.rest][i]; m.mask.MayBeNear(&kept.mask) && similar.Near(m.words, kept.words) && similar.Has(m.words, slots) {
				var k Key
				copy(k[:], key)
				keys = append(keys, k)
				break
			}
		}
		return nil
	})
	return keys, err
}
