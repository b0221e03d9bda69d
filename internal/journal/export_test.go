package journal

import (
	"bytes"
	"context"
	"encoding/json"
)

// Exec runs SQL on the connection that writes, to bring about what only a crash
// or a full disk would.
func (j *Journal) Exec(ctx context.Context, query string) error {
	_, err := j.writer.conn.ExecContext(ctx, query)
	return err
}

// Abandon ends the writer without folding the log in, as a crash would, but
// lets go of the files.
func (j *Journal) Abandon() {
	j.writer.stop()
	_ = j.writer.conn.Close()
	_ = j.writer.marker.close()
	_ = j.db.Close()
}

// Remarked is a mark with part of it replaced, and whole again.
func Remarked(text []byte, old, replaced string) ([]byte, bool) {
	m, ok := parseMark(text)
	if !ok {
		return nil, false
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, false
	}
	var other mark
	if err := json.Unmarshal(bytes.Replace(body, []byte(old), []byte(replaced), 1), &other); err != nil || other == m {
		return nil, false
	}
	return other.encode()
}

// OpenViewOf is OpenView with another bound of values.
func OpenViewOf(ctx context.Context, path string, longest int) (*View, error) {
	return openView(ctx, path, longest)
}

// ExamineOf is Examine with another bound of values.
func ExamineOf(ctx context.Context, path string, longest int) (Examined, error) {
	return examine(ctx, path, longest)
}
