package journal

import "context"

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
	_ = j.db.Close()
}
