package vector

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Outbox reads vector_outbox for one embedding version.
type Outbox struct {
	conn    driver.Conn
	version string
}

// NewOutbox returns the outbox of the embedding version.
func NewOutbox(conn driver.Conn, version string) *Outbox {
	return &Outbox{conn: conn, version: version}
}

// OutboxCounts counts the rows of an embedding version by status.
type OutboxCounts struct {
	Pending int `json:"pending"`
	// Failed counts all failed rows. Permanent counts those that will not be retried.
	Failed    int `json:"failed"`
	Permanent int `json:"permanent"`
	Done      int `json:"done"`
	// Due counts the rows that can be processed now, including pending ones.
	Due int `json:"due"`
	// NextRetry is the time when the next failed row is due. It is zero if none awaits a retry.
	NextRetry time.Time `json:"next_retry,omitzero"`
}

// Backoff is the wait before a failed row is retried: Base after the first failure, doubled after each further one,
// up to Max.
type Backoff struct{ Base, Max time.Duration }

// after returns the wait after the given number of failures.
func (b Backoff) after(attempts int) time.Duration {
	wait := float64(b.Base.Microseconds()) * math.Pow(2, float64(min(attempts, 60)-1))
	return time.Duration(min(wait, float64(b.Max.Microseconds()))) * time.Microsecond
}

// dueAt returns the time when the row is due. A row without failures of its own, because it is new or met an outage, is
// due now at the latest: the clock of its requester may be ahead.
func (r Row) dueAt(now time.Time, b Backoff) time.Time {
	if r.Attempts == 0 {
		return sooner(r.CreatedAt, now)
	}
	return r.UpdatedAt.Add(b.after(r.Attempts))
}

// dueAt is [Row.dueAt] in SQL, in microseconds. Its arguments come from dueArgs.
const dueAt = `if(attempts = 0, least(toUnixTimestamp64Micro(created_at), ?),
	toUnixTimestamp64Micro(updated_at) + toInt64(least(?, ? * pow(2, least(attempts, 60) - 1))))`

func dueArgs(now time.Time, b Backoff) []any {
	return []any{now.UnixMicro(), float64(b.Max.Microseconds()), float64(b.Base.Microseconds())}
}

// Due has rows that can be processed now.
type Due struct {
	Rows []Row
	// More is true if there are more such rows.
	More bool
	// NextRetry is the time when the next failed row is due, unless there are more rows. It is zero if none awaits a
	// retry.
	NextRetry time.Time
}

// oldShare is the reciprocal of the share of [Outbox.Due] calls that return the oldest rows, so that no row waits
// forever.
const oldShare = 8

// Due returns up to limit rows that can be processed now: the most urgent ones or, for one of oldShare values of the
// microsecond of now, the oldest ones. It is one query, which also returns the first of the rows that are not due yet.
func (o *Outbox) Due(ctx context.Context, now time.Time, b Backoff, limit int) (Due, error) {
	order := "urgency DESC"
	if now.UnixMicro()%oldShare == 1 {
		order = "created_at"
	}
	rows, err := o.query(ctx, `(status = 'pending' OR status = 'failed' AND NOT permanent)
		ORDER BY greatest(`+dueAt+`, ?) AS due_at, `+order+`, job_id LIMIT 1 BY if(due_at <= ?, job_id, '') LIMIT ?`,
		append(dueArgs(now, b), now.UnixMicro(), now.UnixMicro(), limit+1)...)
	due := Due{Rows: rows}
	if n := len(rows) - 1; n >= 0 && rows[n].Status == schema.OutboxFailed && rows[n].dueAt(now, b).After(now) {
		due.Rows, due.NextRetry = rows[:n], rows[n].dueAt(now, b)
	}
	if len(due.Rows) > limit {
		due.Rows, due.More = due.Rows[:limit], true
	}
	return due, err
}

// After returns up to limit rows in the order of their job ids, after the given id.
func (o *Outbox) After(ctx context.Context, jobID string, limit int) ([]Row, error) {
	return o.query(ctx, "job_id > ? ORDER BY job_id LIMIT ?", jobID, limit)
}

// Of returns the rows of the items of the kind, by item id.
func (o *Outbox) Of(ctx context.Context, kind string, ids []string) (map[string]Row, error) {
	out := make(map[string]Row, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	jobs := make([]string, len(ids))
	for i, id := range ids {
		jobs[i] = schema.VectorItem{Kind: kind, ID: id, EmbeddingVersion: o.version}.JobID()
	}
	rows, err := o.byJob(ctx, jobs)
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, err
}

// byJob returns the rows with the job ids.
func (o *Outbox) byJob(ctx context.Context, jobIDs []string) ([]Row, error) {
	return o.query(ctx, "job_id IN ?", jobIDs)
}

func (o *Outbox) query(ctx context.Context, where string, args ...any) ([]Row, error) {
	var out []Row
	err := clickhouse.Query(ctx, o.conn, clickhouse.Rows(&out, func(found driver.Rows, r *Row) error {
		var attempts uint32
		err := found.Scan(&r.Kind, &r.ID, &r.EmbeddingVersion, &r.Project, (*string)(&r.Status), &r.Error, &attempts,
			&r.Permanent, &r.ContentHash, &r.BuildID, &r.CreatedAt, &r.UpdatedAt, &r.Urgency, &r.Rank)
		r.Attempts = int(attempts)
		return err
	}), `SELECT item_kind, item_id, embedding_version, project, status, error,
		attempts, permanent, content_hash, build_id, created_at, updated_at, urgency, version
		FROM vector_outbox_raw FINAL WHERE embedding_version = ? AND `+where, append([]any{o.version}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read vector outbox: %w", err)
	}
	return out, nil
}

// Counts returns the counts at the given time.
func (o *Outbox) Counts(ctx context.Context, now time.Time, b Backoff) (OutboxCounts, error) {
	var pending, failed, permanent, done, retry uint64
	var next int64
	args := append(append(dueArgs(now, b), now.UnixMicro()), dueArgs(now, b)...)
	err := o.conn.QueryRow(ctx, `SELECT countIf(status = 'pending'), countIf(status = 'failed'),
		countIf(status = 'failed' AND permanent), countIf(status = 'done'),
		countIf(status = 'failed' AND NOT permanent AND `+dueAt+` <= ?),
		minIf(`+dueAt+`, status = 'failed' AND NOT permanent)
		FROM vector_outbox WHERE embedding_version = ?`, append(args, o.version)...).
		Scan(&pending, &failed, &permanent, &done, &retry, &next)
	if err != nil {
		return OutboxCounts{}, fmt.Errorf("count vector outbox: %w", err)
	}
	counts := OutboxCounts{
		Pending: int(pending), Failed: int(failed), Permanent: int(permanent), Done: int(done),
		Due: int(pending + retry),
	}
	if failed > permanent {
		counts.NextRetry = time.UnixMicro(next).UTC()
	}
	return counts, nil
}

// pending reports whether any row is pending, or failed in an outage.
func (o *Outbox) pending(ctx context.Context) (bool, error) {
	var n uint64
	err := o.conn.QueryRow(ctx, `SELECT count() FROM vector_outbox
		WHERE embedding_version = ? AND (status = 'pending' OR status = 'failed' AND attempts = 0 AND NOT permanent)`, o.version).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("count vector outbox: %w", err)
	}
	return n > 0, nil
}

func writeRows(ctx context.Context, conn driver.Conn, rows []Row) error {
	values := make([][]any, len(rows))
	for i, r := range rows {
		values[i] = []any{
			r.JobID(), r.Kind, r.ID, r.EmbeddingVersion, r.Project, string(r.Status), r.Error,
			uint32(r.Attempts), r.Permanent, r.ContentHash, r.BuildID, r.CreatedAt, r.UpdatedAt, r.Urgency, r.Rank,
		}
	}
	return clickhouse.Insert(ctx, conn, `vector_outbox_raw (job_id, item_kind, item_id,
		embedding_version, project, status, error, attempts, permanent, content_hash, build_id, created_at, updated_at,
		urgency, version)`, values)
}

// projects returns the projects with rows, in the order of their names, and the number of their rows that are done.
func (o *Outbox) projects(ctx context.Context) ([]projectCount, error) {
	var out []projectCount
	err := clickhouse.Query(ctx, o.conn, clickhouse.Rows(&out, func(rows driver.Rows, p *projectCount) error {
		var done uint64
		err := rows.Scan(&p.Project, &done)
		p.Done = int(done)
		return err
	}), `SELECT project, countIf(status = 'done') FROM vector_outbox
		WHERE embedding_version = ? GROUP BY project ORDER BY project`, o.version)
	if err != nil {
		return nil, fmt.Errorf("count vector outbox: %w", err)
	}
	return out, nil
}

// done returns up to limit rows of the project that are done, in the order of their job ids. It starts after the
// given id and skips offset rows.
func (o *Outbox) done(ctx context.Context, project, after string, offset, limit int) ([]Row, error) {
	return o.query(ctx, `project = ? AND status = 'done' AND job_id > ? ORDER BY job_id LIMIT ? OFFSET ?`,
		project, after, limit, offset)
}

// digest is an order-independent hash of a set of items and their content. A content hash covers the item and all of
// its stored properties.
type digest struct {
	Count uint64
	Sums  [4]uint64
}

// add adds the item with the content hash. An item without one makes the digest differ from those of the same number of
// valid items.
func (d *digest) add(contentHash string) {
	d.Count++
	var b [32]byte
	if n, err := hex.Decode(b[:], []byte(contentHash)); err != nil || n != len(b) {
		d.Sums[0]++
		return
	}
	for i := range d.Sums {
		d.Sums[i] += binary.LittleEndian.Uint64(b[8*i:])
	}
}

// projectDigest is the digest of a project's rows that are done.
type projectDigest struct {
	Project string
	digest
}

// digests returns up to limit projects with rows, after the given name and in the order of their names. [FactsProject]
// comes last.
func (o *Outbox) digests(ctx context.Context, after string, limit int) ([]projectDigest, error) {
	return o.digestsWhere(ctx, "(project = '', project) > (false, ?) GROUP BY project ORDER BY project = '', project LIMIT ?", after, limit)
}

// digestOf returns the digest of one project.
func (o *Outbox) digestOf(ctx context.Context, project string) (digest, error) {
	found, err := o.digestsWhere(ctx, "project = ? GROUP BY project", project)
	if err != nil || len(found) == 0 {
		return digest{}, err
	}
	return found[0].digest, nil
}

func (o *Outbox) digestsWhere(ctx context.Context, where string, args ...any) ([]projectDigest, error) {
	var out []projectDigest
	err := clickhouse.Query(ctx, o.conn, clickhouse.Rows(&out, func(rows driver.Rows, p *projectDigest) error {
		return rows.Scan(&p.Project, &p.Count, &p.Sums[0], &p.Sums[1], &p.Sums[2], &p.Sums[3])
	}), `SELECT project, countIf(status = 'done'),
		sumIf(reinterpretAsUInt64(unhex(substring(content_hash, 1, 16))), status = 'done'),
		sumIf(reinterpretAsUInt64(unhex(substring(content_hash, 17, 16))), status = 'done'),
		sumIf(reinterpretAsUInt64(unhex(substring(content_hash, 33, 16))), status = 'done'),
		sumIf(reinterpretAsUInt64(unhex(substring(content_hash, 49, 16))), status = 'done')
		FROM vector_outbox WHERE embedding_version = ? AND `+where, append([]any{o.version}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("hash vector outbox: %w", err)
	}
	return out, nil
}

// Projects returns how many items of each project are indexed.
func (o *Outbox) Projects(ctx context.Context) (map[string]uint64, error) {
	done := map[string]uint64{}
	err := clickhouse.Query(ctx, o.conn, clickhouse.Map(done, func(rows driver.Rows, project *string, n *uint64) error {
		return rows.Scan(project, n)
	}), `SELECT toString(project), count() FROM vector_outbox_raw FINAL
		WHERE embedding_version = ? AND status = ? GROUP BY project`, o.version, string(schema.OutboxDone))
	if err != nil {
		return nil, fmt.Errorf("count indexed items: %w", err)
	}
	return done, nil
}
