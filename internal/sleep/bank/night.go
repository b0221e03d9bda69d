package bank

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Night is a night that was begun. Data is its document, which the bank does not read.
type Night struct {
	ID      string
	Project string
	Started time.Time
	Ended   time.Time // zero: it is not over
	Data    json.RawMessage
}

// PutNight keeps a night, or what happened to it.
func (b *Bank) PutNight(ctx context.Context, n Night) error {
	return b.write(ctx, "keep a night", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO nights (id, project, started, ended, data) VALUES (?, ?, ?, ?, ?)", n.ID, n.Project, nano(n.Started), nano(n.Ended), string(n.Data))
		return err
	})
}

// Nights lists the nights of a project, or of all if it is empty, the newest first.
func (b *Bank) Nights(ctx context.Context, project string) ([]Night, error) {
	query := "SELECT id, project, started, ended, data FROM nights WHERE ? = '' OR project = ? ORDER BY started DESC, id DESC"
	out, err := sqlstore.All(ctx, b.db, query, []any{project, project}, func(rows *sql.Rows, n *Night) error {
		var started, ended int64
		err := rows.Scan(&n.ID, &n.Project, &started, &ended, (*[]byte)(&n.Data))
		n.Started, n.Ended = ofNano(started), ofNano(ended)
		return err
	})
	return out, b.wrapError("list nights", err)
}

// SessionMark returns a digest of a session as it is mined in some way: another one means that the
// session has grown, or that mining has changed.
func SessionMark(s *Session, way string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n", way)
	for i := range s.Turns {
		t := &s.Turns[i]
		fmt.Fprintf(h, "%s %d %d %s\n", t.ID, len(t.User), len(t.Agent), t.Failed)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// SessionMarks returns the marks of the sessions that were mined, by source and id.
func (b *Bank) SessionMarks(ctx context.Context) (map[[2]string]string, error) {
	out := map[[2]string]string{}
	err := sqlstore.Each(ctx, b.db, "SELECT source, session, mark FROM mined", nil, func(rows *sql.Rows) error {
		var source, session, mark string
		err := rows.Scan(&source, &session, &mark)
		out[[2]string{source, session}] = mark
		return err
	})
	return out, b.wrapError("list mined sessions", err)
}

// NoteMined notes that sessions were mined as they are.
func (b *Bank) NoteMined(ctx context.Context, night string, marks map[[2]string]string) error {
	return b.write(ctx, "note mined sessions", func(tx *sql.Tx) error {
		for name, mark := range marks {
			if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO mined (source, session, mark, night) VALUES (?, ?, ?, ?)", name[0], name[1], mark, night); err != nil {
				return err
			}
		}
		return nil
	})
}

// State says what happened to a candidate.
type State string

// The states of a candidate.
const (
	Carried   State = "carried"   // staged and not certified: nights continue comparing it
	Certified State = "certified" // better than what it was made from
	Dropped   State = "dropped"   // worse, undecided for too long, or what it is compared with has changed
	// Adopted rows are no candidates: what was written into a document, and the document without it, on tasks that are new to both.
	Adopted State = "adopted"
	Ended   State = "ended" // the same, of before the model, the way of scoring or its rules changed
)

// Candidate is a text that a night has staged for a target and that claims to be better than the
// live one.
type Candidate struct {
	Number  int64  `json:"-"`
	Project string `json:"-"`
	Target  string `json:"-"`
	Night   string `json:"-"`
	State   State  `json:"-"`
	// Level is what it has of the target's level, fixed when it is staged.
	Level float64 `json:"-"`

	Text   string `json:"text"`   // digest of what is staged
	Live   string `json:"live"`   // digest of what it was made from
	Terms  string `json:"terms"`  // digest of the model, the agent and the checks that it is measured by
	Reason string `json:"reason"` // of its state
	// Settled is the night that certified or dropped it; "": it is carried, or the night that staged it did so.
	Settled string `json:"settled,omitempty"`
	// Exploratory: it rests on tasks that no one has reviewed, so that it is never certified.
	Exploratory bool `json:"exploratory"`
	// Served are the models that answered when it was confirmed, as their server named them; none: not known.
	Served []string `json:"served,omitempty"`
	// Adoption is the number of the adoption whose evidence it is; 0: it is a candidate.
	Adoption int `json:"adoption,omitempty"`
	// Known are the clusters that it was made or chosen by, or compared on: they say nothing new.
	Known []int64 `json:"known"`
	Pairs []Pair  `json:"-"`
}

// Pair is what the live text and the staged one scored on a task that neither was made from.
type Pair struct {
	Cluster int64   `json:"cluster"`
	Night   string  `json:"night"`
	Live    float64 `json:"live"`
	Staged  float64 `json:"staged"`
}

// Stage keeps a candidate of a target, and gives it its number. With a reason, those of the target that were carried are
// dropped. The same night stages a target's candidate once.
func (b *Bank) Stage(ctx context.Context, c Candidate, reason string) (number int64, err error) {
	err = b.write(ctx, "stage a candidate", func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT number FROM candidates WHERE project = ? AND target = ? AND night = ? AND state NOT IN ('adopted', 'ended')", c.Project, c.Target, c.Night).Scan(&number)
		if err == nil {
			return updateCandidate(ctx, tx, number, &c)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		old, err := readCandidates(ctx, tx, filepath.Join(b.dir, File), c.Project, c.Target, false)
		if err != nil {
			return err
		}
		for i := range old {
			if o := &old[i]; o.State == Carried && reason != "" {
				o.State, o.Reason, o.Settled = Dropped, reason, c.Night
				if err := updateCandidate(ctx, tx, o.Number, o); err != nil {
					return err
				}
			}
		}
		data, err := json.Marshal(c)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, "INSERT INTO candidates (project, target, night, state, level, data) VALUES (?, ?, ?, ?, ?, ?)", c.Project, c.Target, c.Night, string(c.State), c.Level, string(data))
		if err != nil {
			return err
		}
		number, err = res.LastInsertId()
		return err
	})
	return number, err
}

func updateCandidate(ctx context.Context, tx *sql.Tx, number int64, c *Candidate) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE candidates SET state = ?, data = ? WHERE number = ?", string(c.State), string(data), number)
	return err
}

// Update keeps what happened to a candidate: its state, reason and pairs. Its level never changes; a cluster
// counts once, as it was measured first.
func (b *Bank) Update(ctx context.Context, c Candidate) error {
	return b.write(ctx, "keep a candidate", func(tx *sql.Tx) error { return putPairs(ctx, tx, &c) })
}

// putPairs keeps the pairs of a candidate, and what happened to it.
func putPairs(ctx context.Context, tx *sql.Tx, c *Candidate) error {
	for _, p := range c.Pairs {
		if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO pairs (candidate, cluster, night, live, staged) VALUES (?, ?, ?, ?, ?)", c.Number, p.Cluster, p.Night, p.Live, p.Staged); err != nil {
			return err
		}
	}
	return updateCandidate(ctx, tx, c.Number, c)
}

// Candidates lists all candidates that a target ever had, in order.
func (b *Bank) Candidates(ctx context.Context, project, target string) ([]Candidate, error) {
	out, err := readCandidates(ctx, b.db, filepath.Join(b.dir, File), project, target, false)
	return out, b.wrapError("list candidates", err)
}

// readCandidates reads the candidates of a target from the file at path, or the evidence for what was adopted of it.
func readCandidates(ctx context.Context, db sqlstore.Querier, path, project, target string, adopted bool) ([]Candidate, error) {
	query := "SELECT number, night, state, level, data FROM candidates WHERE project = ? AND target = ? AND (state IN ('adopted', 'ended')) = ? ORDER BY number"
	out, err := sqlstore.All(ctx, db, query, []any{project, target, adopted}, func(rows *sql.Rows, c *Candidate) error {
		var data []byte
		if err := rows.Scan(&c.Number, &c.Night, &c.State, &c.Level, &data); err != nil {
			return err
		}
		if err := json.Unmarshal(data, c); err != nil {
			return damagedError(path, "a candidate cannot be read")
		}
		c.Project, c.Target = project, target
		return nil
	})
	for i := range out {
		if err == nil {
			out[i].Pairs, err = readPairs(ctx, db, out[i].Number)
		}
	}
	return out, err
}

func readPairs(ctx context.Context, db sqlstore.Querier, candidate int64) ([]Pair, error) {
	query := "SELECT cluster, night, live, staged FROM pairs WHERE candidate = ? ORDER BY night, cluster"
	return sqlstore.All(ctx, db, query, []any{candidate}, func(rows *sql.Rows, p *Pair) error { return rows.Scan(&p.Cluster, &p.Night, &p.Live, &p.Staged) })
}
