package tier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// ErrVersionNotFound is wrapped if core memory has no version of the number.
var ErrVersionNotFound = boundary.Invalid(schema.ErrorVersionNotFound, errors.New("no such version of core memory"))

// Core is a version of core memory.
type Core struct {
	schema.CoreCommittedPayload
	EventID string    `json:"event_id"`
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`
}

// Dream is a dream that ended.
type Dream struct {
	schema.DreamFinishedPayload
	EventID string    `json:"event_id"`
	Seq     uint64    `json:"seq"`
	At      time.Time `json:"at"`
}

// Record is the addition of one event to a dated file.
type Record struct {
	Kind    schema.RecordKind
	Date    string
	Seq     uint64
	EventID string
	At      time.Time
	// Edited is true if Text is the whole file as a person left it. Read is the hex SHA-256 of the file as it was read
	// for the edit.
	Edited bool
	Text   string
	Read   string
	// The rest is of a flush.
	Reason      schema.FlushReason
	Clock       string
	Project     string
	SessionID   string
	First, Last int
	Summarizer  string
}

// VersionLine is a version of core memory in a list.
type VersionLine struct {
	Version  int               `json:"version"`
	Parent   int               `json:"parent"`
	Origin   schema.CoreOrigin `json:"origin"`
	Dream    int               `json:"dream,omitempty"`
	Restored int               `json:"restored,omitempty"`
	// Date is the day for which it was dreamt.
	Date   string    `json:"date,omitempty"`
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"`
	Reason string    `json:"reason,omitempty"`
	// Items counts the items of the version. Added counts those that the parent does not hold, and Removed those of
	// the parent that this version does not hold.
	Items   int `json:"items"`
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// Origin describes the event of the memory that an item was taken from.
type Origin struct {
	// Kind is empty if the event is a version of core memory that a person edited.
	Kind      schema.RecordKind
	Edited    bool
	Date      string
	Clock     string
	Project   string
	SessionID string
	// Summarizer is the model that wrote the summary of a flush.
	Summarizer string
	// Version is that of core memory.
	Version int
}

// Tables reads the tables of tiers. Each method is one request, and reads the memory of one agent about one user. It is
// safe for concurrent use.
//
// All rows of a key come from the same event, so that none is preferred: a query that takes the first of a key needs no
// FINAL.
type Tables struct{ conn clickhouse.Conn }

// NewTables returns the tables of a migrated database.
func NewTables(conn clickhouse.Conn) *Tables { return &Tables{conn} }

// query runs a query whose first arguments are the user and the agent. Every read of one memory uses it, so that none
// mixes memories. The agent may be empty, the user not.
func (t *Tables) query(ctx context.Context, user, agent string, scan func(driver.Rows) error, sql string, args ...any) error {
	if err := clickhouse.Required("user", user); err != nil {
		return err
	}
	return clickhouse.Query(ctx, t.conn, scan, sql, append([]any{user, agent}, args...)...)
}

// Current returns the last version of core memory. If there is none, its Version is 0.
func (t *Tables) Current(ctx context.Context, user, agent string) (Core, error) {
	found, err := t.cores(ctx, user, agent, "ORDER BY version DESC LIMIT 1")
	if err != nil || len(found) == 0 {
		return Core{}, err
	}
	return found[0], nil
}

// Version returns a version of core memory, or an error that wraps [ErrVersionNotFound].
func (t *Tables) Version(ctx context.Context, user, agent string, version int) (Core, error) {
	// If the version is missing, the last one shows which versions exist.
	found, err := t.cores(ctx, user, agent, "AND version = ? LIMIT 1", version)
	switch {
	case err != nil:
		return Core{}, err
	case len(found) == 1:
		return found[0], nil
	}
	last, err := t.Current(ctx, user, agent)
	if err != nil {
		return Core{}, err
	}
	return Core{}, noVersion(user, agent, version, last.Version)
}

// noVersion says which versions there are, up to the last one.
func noVersion(user, agent string, version, last int) error {
	there := "there is none yet"
	switch {
	case last == 1:
		there = "there is version 1 alone"
	case last > 1:
		there = fmt.Sprintf("there are versions 1 to %d", last)
	}
	return fmt.Errorf("version %d of the memory of user %q, agent %q: %w: %s", version, user, agent, ErrVersionNotFound, there)
}

// Versions returns versions of core memory, the newest first.
func (t *Tables) Versions(ctx context.Context, user, agent string, limit, offset int) ([]Core, error) {
	return t.cores(ctx, user, agent, "ORDER BY version DESC LIMIT 1 BY version LIMIT ? OFFSET ?", limit, offset)
}

// Between returns the versions of core memory from one to another, both included, the oldest first.
func (t *Tables) Between(ctx context.Context, user, agent string, from, to int) ([]Core, error) {
	return t.cores(ctx, user, agent, "AND version BETWEEN ? AND ? ORDER BY version LIMIT 1 BY version", from, to)
}

// coreColumns are those of a [Core].
const coreColumns = `version, seq, event_id, ts, actor, request_id, parent, origin, reason, text, read_sha256, items_json,
	diff, dropped_json, dream, restored`

func (t *Tables) cores(ctx context.Context, user, agent, rest string, args ...any) ([]Core, error) {
	var out []Core
	err := t.query(ctx, user, agent, clickhouse.Rows(&out, func(rows driver.Rows, c *Core) error {
		var version, parent, dream, restored uint32
		var items, dropped string
		err := rows.Scan(&version, &c.Seq, &c.EventID, &c.At, &c.Actor, &c.RequestID, &parent, (*string)(&c.Origin), &c.Reason, &c.Text,
			&c.Read, &items, &c.Diff, &dropped, &dream, &restored)
		if err != nil {
			return err
		}
		c.Version, c.Parent, c.Dream, c.Restored = int(version), int(parent), int(dream), int(restored)
		c.At = c.At.UTC()
		return errors.Join(decodeList(items, &c.Items), decodeList(dropped, &c.Dropped))
	}), "SELECT "+coreColumns+" FROM core_versions_raw WHERE user = ? AND agent = ? "+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read core memory: %w", err)
	}
	return out, nil
}

// historySQL lists versions, each compared with its parent by the hashes of their items, as sets.
const historySQL = `
	SELECT v.version, v.parent, v.origin, v.dream, v.restored, d.date, v.ts, v.actor, v.reason, length(v.held),
		toUInt64(length(arrayDistinct(v.held)) - length(arrayIntersect(v.held, p.held) AS both)), toUInt64(length(arrayDistinct(p.held)) - length(both))
	FROM (
		SELECT version, parent, origin, dream, restored, ts, actor, reason, item_hashes AS held FROM core_versions_raw
		WHERE user = ? AND agent = ? ORDER BY version DESC LIMIT 1 BY version LIMIT ? OFFSET ?
	) AS v
	LEFT ANY JOIN (SELECT version, item_hashes AS held FROM core_versions_raw WHERE user = ? AND agent = ?) AS p
	ON p.version = v.parent
	LEFT ANY JOIN (SELECT ordinal, date FROM dreams_raw WHERE user = ? AND agent = ?) AS d ON d.ordinal = v.dream
	ORDER BY v.version DESC`

// History lists the versions of core memory without their texts, the newest first.
func (t *Tables) History(ctx context.Context, user, agent string, limit, offset int) ([]VersionLine, error) {
	var out []VersionLine
	err := t.query(ctx, user, agent, clickhouse.Rows(&out, func(rows driver.Rows, v *VersionLine) error {
		var version, parent, dream, restored uint32
		var items, added, removed uint64
		err := rows.Scan(&version, &parent, (*string)(&v.Origin), &dream, &restored, &v.Date, &v.At, &v.Actor, &v.Reason, &items, &added, &removed)
		v.Version, v.Parent, v.Dream, v.Restored = int(version), int(parent), int(dream), int(restored)
		v.At, v.Items, v.Added, v.Removed = v.At.UTC(), int(items), int(added), int(removed)
		return err
	}), historySQL, limit, offset, user, agent, user, agent)
	if err != nil {
		return nil, fmt.Errorf("list core memory: %w", err)
	}
	return out, nil
}

// Dreams returns dreams that ended, the newest first.
func (t *Tables) Dreams(ctx context.Context, user, agent string, limit, offset int) ([]Dream, error) {
	return t.dreams(ctx, user, agent, "ORDER BY ordinal DESC LIMIT 1 BY ordinal LIMIT ? OFFSET ?", limit, offset)
}

// Dream returns a dream that ended. If there is none of the ordinal, its Ordinal is 0.
func (t *Tables) Dream(ctx context.Context, user, agent string, ordinal int) (Dream, error) {
	found, err := t.dreams(ctx, user, agent, "AND ordinal = ? LIMIT 1", ordinal)
	if err != nil || len(found) == 0 {
		return Dream{}, err
	}
	return found[0], nil
}

// dreamColumns are those of a [Dream].
const dreamColumns = `ordinal, seq, event_id, ts, date, status, reason, parent, version, diary, days, day_hashes, gathered,
	model, responses, carried, left_out, dropped_json, usage_json`

func (t *Tables) dreams(ctx context.Context, user, agent, rest string, args ...any) ([]Dream, error) {
	var out []Dream
	err := t.query(ctx, user, agent, clickhouse.Rows(&out, func(rows driver.Rows, d *Dream) error {
		var ordinal, parent, version, carried, leftOut uint32
		var status, dropped, usage string
		var days, hashes []string
		err := rows.Scan(&ordinal, &d.Seq, &d.EventID, &d.At, &d.Date, &status, &d.Reason, &parent, &version, &d.Diary,
			&days, &hashes, &d.Gathered, &d.Model, &d.Responses, &carried, &leftOut, &dropped, &usage)
		if err != nil {
			return err
		}
		d.Ordinal, d.Parent, d.Version, d.Carried, d.LeftOut = int(ordinal), int(parent), int(version), int(carried), int(leftOut)
		d.Status, d.At = schema.DreamStatus(status), d.At.UTC()
		d.Days = make([]schema.Day, len(days))
		for i := range days {
			d.Days[i] = schema.Day{Date: days[i], Hash: hashes[i]}
		}
		return errors.Join(decodeList(dropped, &d.Dropped), json.Unmarshal([]byte(usage), &d.Usage))
	}), "SELECT "+dreamColumns+" FROM dreams_raw WHERE user = ? AND agent = ? "+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read dreams: %w", err)
	}
	return out, nil
}

// ReadDays returns, by date, the hash of the day's content as read by the last dream that was not refused.
func (t *Tables) ReadDays(ctx context.Context, user, agent string) (map[string]string, error) {
	out := map[string]string{}
	err := t.query(ctx, user, agent, clickhouse.Map(out, func(rows driver.Rows, date, hash *string) error { return rows.Scan(date, hash) }),
		`SELECT day, argMax(hash, ordinal) FROM dreams_raw ARRAY JOIN days AS day, day_hashes AS hash
		WHERE user = ? AND agent = ? AND status != ? GROUP BY day`, string(schema.DreamIsRefused))
	if err != nil {
		return nil, fmt.Errorf("read the days of dreams: %w", err)
	}
	return out, nil
}

// Records returns the records of the dated files of the kind, by date and in order. No dates means all. Flushes that
// had nothing to record are left out.
func (t *Tables) Records(ctx context.Context, user, agent string, kind schema.RecordKind, dates ...string) ([]Record, error) {
	where, args := "user = ? AND agent = ? AND kind = ?", []any{string(kind)}
	if len(dates) > 0 {
		where, args = where+" AND date IN ?", append(args, clickhouse.Set(dates))
	}
	var out []Record
	err := t.query(ctx, user, agent, clickhouse.Rows(&out, func(rows driver.Rows, r *Record) error {
		var first, last int64
		err := rows.Scan(&r.Date, &r.Seq, &r.EventID, &r.At, &r.Edited, &r.Text, &r.Read, (*string)(&r.Reason), &r.Clock, &r.Project,
			&r.SessionID, &first, &last, &r.Summarizer)
		r.Kind, r.At, r.First, r.Last = kind, r.At.UTC(), int(first), int(last)
		return err
	}), `SELECT date, seq, event_id, ts, edited, text, read_sha256, reason, clock, project, session_id, first_message, last_message,
		summarizer FROM records_raw WHERE `+where+` AND (edited OR text != '') ORDER BY date, seq LIMIT 1 BY date, seq`, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s records: %w", kind, err)
	}
	return out, nil
}

// Origins returns the origins of those ids that belong to events.
func (t *Tables) Origins(ctx context.Context, user, agent string, ids []string) (map[string]Origin, error) {
	out := map[string]Origin{}
	if len(ids) == 0 {
		return out, nil
	}
	err := t.query(ctx, user, agent, clickhouse.Map(out, func(rows driver.Rows, id *string, o *Origin) error {
		var version uint32
		err := rows.Scan(id, (*string)(&o.Kind), &o.Edited, &o.Date, &o.Clock, &o.Project, &o.SessionID, &o.Summarizer, &version)
		o.Version = int(version)
		return err
	}), `SELECT event_id, toString(kind), edited, date, clock, toString(project), session_id, toString(summarizer), toUInt32(0) FROM records_raw
		WHERE user = ? AND agent = ? AND event_id IN ?
		UNION ALL
		SELECT event_id, '', true, '', '', '', '', '', version FROM core_versions_raw WHERE user = ? AND agent = ? AND event_id IN ?`,
		clickhouse.Set(ids), user, agent, clickhouse.Set(ids))
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	return out, nil
}

// RefusedDreams are the memories whose last dream was refused.
type RefusedDreams struct {
	// Memories counts all memories that were dreamt of, and Refused those whose last dream was refused.
	Memories, Refused int
	// User and Agent are of the one whose dream was refused last.
	User, Agent string
}

// Refused counts, in all memories, the last dreams that were refused.
func (t *Tables) Refused(ctx context.Context) (RefusedDreams, error) {
	var r RefusedDreams
	err := clickhouse.Query(ctx, t.conn, func(rows driver.Rows) error {
		var memories, refused uint64
		err := rows.Scan(&memories, &refused, &r.User, &r.Agent)
		r.Memories, r.Refused = int(memories), int(refused)
		return err
	}, `SELECT count(), countIf(bad), argMaxIf(user, at, bad), argMaxIf(agent, at, bad) FROM (
			SELECT user, agent, argMax(status, ordinal) = ? AS bad, argMax(ts, ordinal) AS at FROM dreams_raw GROUP BY user, agent
		)`, string(schema.DreamIsRefused))
	if err != nil {
		return RefusedDreams{}, fmt.Errorf("count refused dreams: %w", err)
	}
	return r, nil
}

// decodeList reads a list, which stays nil if it is empty.
func decodeList[T any](raw string, into *[]T) error {
	var list []T
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		return err
	}
	if len(list) > 0 {
		*into = list
	}
	return nil
}
