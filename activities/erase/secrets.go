package erase

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// secretsTable contains the keys and the fingerprints of erasures until a check has found nothing. Only the eraser's
// role can read it.
const secretsTable = "erasure_secrets"

// secret is an erasure's knowledge of the erased content. It is kept only while leftovers may exist.
type secret struct {
	erasureID string
	// key encrypts fingerprints, and scope is the [schema.ErasureScope.SecretHash] under it.
	key, scope string
	// fingerprints are the fingerprints of the erased texts.
	fingerprints []byte
	sampled      bool
}

// secrets returns the secrets of all erasures, or of the one with the id. The first row of an erasure decides its key,
// because two attempts may have stored one each.
func (a *Activities) secrets(ctx context.Context, erasureID string) (map[string]secret, error) {
	out := map[string]secret{}
	err := clickhouse.Query(ctx, a.eraser, func(rows driver.Rows) error {
		var s secret
		var prints string
		if err := rows.Scan(&s.erasureID, &s.key, &s.scope, &prints, &s.sampled); err != nil {
			return err
		}
		var err error
		if s.fingerprints, err = hex.DecodeString(prints); err != nil {
			return fmt.Errorf("fingerprints of erasure %q: %w", s.erasureID, err)
		}
		first, ok := out[s.erasureID]
		switch {
		case !ok:
			out[s.erasureID] = s
		case first.key == s.key && len(s.fingerprints) > len(first.fingerprints): // A later attempt has added some.
			first.fingerprints, first.sampled = s.fingerprints, s.sampled
			out[s.erasureID] = first
		}
		return nil
	}, `SELECT erasure_id, key, scope, prints, sampled FROM `+secretsTable+` WHERE ? IN ('', erasure_id) ORDER BY erasure_id, made_at, key`, erasureID)
	if err != nil {
		return nil, fmt.Errorf("read the secrets of erasures: %w", err)
	}
	return out, nil
}

// remember stores a row of the secret.
func (a *Activities) remember(ctx context.Context, s secret) error {
	const into = "INSERT INTO " + secretsTable + " (erasure_id, key, scope, prints, sampled)"
	err := clickhouse.InsertBlock(ctx, a.eraser, into, 1, func(b driver.Batch, _ int) error {
		return b.Append(s.erasureID, s.key, s.scope, hex.EncodeToString(s.fingerprints), s.sampled)
	})
	if err != nil {
		return fmt.Errorf("store the secret of erasure %q: %w", s.erasureID, err)
	}
	return nil
}

// secretOf returns the secret of the erasure, and creates it if there is none. If an unfinished erasure of the same
// text exists, that one is continued and its secret returned.
func (a *Activities) secretOf(ctx context.Context, in Input) (secret, error) {
	all, err := a.secrets(ctx, "")
	if err != nil {
		return secret{}, err
	}
	if s, ok := all[in.ErasureID]; ok {
		return s, nil
	}
	if in.Kind() == schema.EraseQuery {
		for _, s := range all {
			if s.scope == in.SecretHash(s.key) {
				return s, nil
			}
		}
	}
	key := rand.Text()
	if err := a.remember(ctx, secret{erasureID: in.ErasureID, key: key, scope: in.SecretHash(key)}); err != nil {
		return secret{}, err
	}
	all, err = a.secrets(ctx, in.ErasureID) // Another attempt may have been first.
	return all[in.ErasureID], err
}

// destroySecret deletes the secret of the erasure and waits until no disk contains it.
func (a *Activities) destroySecret(ctx context.Context, erasureID string) error {
	x := eventlog.NewEraser(a.eraser, erasureID)
	// Each erasure has a partition of its own, because the server removes a dropped partition at once, but parts that a
	// mutation replaced only after seconds.
	if err := x.Exec(ctx, "ALTER TABLE "+secretsTable+" DROP PARTITION "+clickhouse.Literal(erasureID)); err != nil {
		return fmt.Errorf("delete the secret of erasure %q: %w", erasureID, err)
	}
	at, err := x.Now(ctx)
	if err != nil {
		return err
	}
	return x.PurgeTables(ctx, at, secretsTable)
}
