package bank

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
)

// Consent is the user's word that what is kept may be sent to a host in a role.
type Consent struct {
	Role    string    `json:"role"` // target, optimizer, judge
	Host    string    `json:"host"`
	Given   time.Time `json:"given"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// Consents lists all words given, also those taken back, in the order in which they were given.
func (b *Bank) Consents(ctx context.Context) ([]Consent, error) {
	out, err := sqlstore.All(ctx, b.db, "SELECT role, host, given, revoked FROM consent ORDER BY given, role, host", nil, func(rows *sql.Rows, c *Consent) error {
		var given int64
		var revoked sql.NullInt64
		err := rows.Scan(&c.Role, &c.Host, &given, &revoked)
		c.Given, c.Revoked = ofNano(given), ofNano(revoked.Int64)
		return err
	})
	return out, b.wrapError("list consent", err)
}

// Grant notes the user's word for a role and a host. Given again it stays as it was.
func (b *Bank) Grant(ctx context.Context, role, host string, at time.Time) error {
	return b.write(ctx, "note consent", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO consent (role, host, given)
			SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM consent WHERE role = ?1 AND host = ?2 AND revoked IS NULL)`, role, host, nano(at))
		return err
	})
}

// Revoke takes back what was given for a host, or for all if host is empty; it returns how
// many words that were.
func (b *Bank) Revoke(ctx context.Context, host string, at time.Time) (int, error) {
	var n int64
	err := b.write(ctx, "take consent back", func(tx *sql.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE consent SET revoked = ? WHERE revoked IS NULL AND (? = '' OR host = ?)", nano(at), host, host)
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return int(n), err
}

// Destination is where what is kept would be sent, in a role.
type Destination struct {
	Role string `json:"role"`
	Host string `json:"host"`
}

// MissingConsents lists the destinations that the user has not consented to, or no longer consents
// to, in the order given: nothing may be sent there before the user is asked.
func (b *Bank) MissingConsents(ctx context.Context, wanted []Destination) ([]Destination, error) {
	list, err := b.Consents(ctx)
	if err != nil {
		return nil, err
	}
	given := map[Destination]bool{}
	for _, c := range list {
		if c.Revoked.IsZero() {
			given[Destination{Role: c.Role, Host: c.Host}] = true
		}
	}
	missing := []Destination{}
	for _, d := range wanted {
		if !given[d] && !slices.Contains(missing, d) {
			missing = append(missing, d)
		}
	}
	return missing, nil
}
