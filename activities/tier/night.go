package tier

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

const (
	// maxMemories and maxPageBytes bound a page of memories: a history holds it.
	maxMemories  = 500
	maxPageBytes = 48 << 10
	// settleTime covers events that were recorded while a dream gathered and that it may have missed: gathering takes
	// up to ten minutes, and the clocks of workers differ.
	settleTime = 15 * time.Minute
)

// FindInput asks for a page of the memories of a night.
type FindInput struct {
	// At is the time that says which night it is, if Date is empty. Now is the present.
	At   time.Time `json:"at"`
	Now  time.Time `json:"now"`
	Date string    `json:"date,omitempty"`
	// LookbackDays is as in [schema.DeepDreamInput].
	LookbackDays int `json:"lookback_days,omitempty"`
	// Force finds memories that hold nothing new too.
	Force bool `json:"force,omitempty"`
	// After is Next of the page before.
	After string `json:"after,omitempty"`
}

// Memory names the memory of one agent about one user.
type Memory struct {
	User  string `json:"user"`
	Agent string `json:"agent,omitempty"`
}

// Found is a page of memories, in the order of their streams' names.
type Found struct {
	// Date is the day of the night, in the worker's time zone.
	Date     string   `json:"date"`
	Memories []Memory `json:"memories"`
	// Next is where the next page begins. It is empty on the last page.
	Next string `json:"next,omitempty"`
}

// FindMemories returns a page of the memories that hold something which no dream has read. It may return others, but
// misses none: a memory is left out if nothing was recorded for it since its last dream of the present, and if dreams
// have read all days of its daily record that are looked back upon. For a day before today it returns all memories.
func (a *Activities) FindMemories(ctx context.Context, in FindInput) (Found, error) {
	return boundary.Run(ctx, in, a.findMemories)
}

func (a *Activities) findMemories(ctx context.Context, in FindInput) (Found, error) {
	found := Found{Date: cmp.Or(in.Date, in.At.In(a.opts.Zone).Format(schema.DateLayout)), Memories: []Memory{}}
	day, err := time.Parse(schema.DateLayout, found.Date)
	if err != nil {
		return found, boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf("date %q: want a day like 2006-01-02", found.Date))
	}
	first := ""
	if in.LookbackDays > 0 {
		first = day.AddDate(0, 0, 1-in.LookbackDays).Format(schema.DateLayout)
	}
	_, offset := in.Now.In(a.opts.Zone).Zone()
	settled := settleTime
	if in.Force || found.Date < in.Now.In(a.opts.Zone).Format(schema.DateLayout) {
		settled = allTime
	}
	args := []any{
		string(schema.DreamIsRefused),
		clickhouse.Set([]string{schema.CoreCommitted, schema.DreamFinished}), clickhouse.Set([]string{schema.EntryMaterialized, schema.EntryEvidenceSet}),
		offset, string(schema.RecordDaily), first, found.Date, string(schema.DreamIsRefused),
		int64(settled.Seconds()), maxMemories + 1,
	}
	size, after := 0, cmp.Or(in.After, schema.MemoryPrefix)
	for look := firstLook; after != lastMemory; look *= 8 {
		upTo, err := a.memoriesAfter(ctx, after, look)
		if err != nil {
			return found, fmt.Errorf("find memories: %w", err)
		}
		stream, rest := "", maxMemories+1
		err = clickhouse.Query(ctx, a.conn, func(rows driver.Rows) error {
			rest--
			if err := rows.Scan(&stream); err != nil {
				return err
			}
			return found.add(stream, &size)
		}, unreadMemories, append([]any{after, upTo}, args...)...)
		if errors.Is(err, errPageFull) {
			return found, nil
		}
		if err != nil {
			return found, fmt.Errorf("find memories: %w", err)
		}
		if after = upTo; rest == 0 {
			after = stream // There may be more: invalid names do not fill a page.
		}
	}
	return found, nil
}

// memoriesAfter returns the name of the stream that is so many memories further on, or lastMemory.
func (a *Activities) memoriesAfter(ctx context.Context, after string, count int) (string, error) {
	upTo := lastMemory
	err := clickhouse.Query(ctx, a.conn, func(rows driver.Rows) error { return rows.Scan(&upTo) },
		`SELECT DISTINCT stream FROM events_raw WHERE stream > ? AND stream < ? ORDER BY stream LIMIT 1 OFFSET ?`, after, lastMemory, count-1)
	return upTo, err
}

// firstLook is among how many memories a page is looked for first, and then among more and more. If all are unread, a page
// is found among them without a look at all others; if few are, they are found in few looks.
const firstLook = 4 * maxMemories

// lastMemory comes after the names of all streams of memories.
var lastMemory = strings.TrimSuffix(schema.MemoryPrefix, "/") + "0"

// allTime is longer than any log.
const allTime = 200 * 365 * 24 * time.Hour

var errPageFull = errors.New("the page is full")

// add adds the memory to the page, or ends the page.
func (f *Found) add(stream string, size *int) error {
	var m Memory
	var err error
	if m.User, m.Agent, err = schema.ParseMemoryStream(stream); err != nil {
		return nil //nolint:nilerr // Nobody writes a stream of such a name, and nobody can dream of it.
	}
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if n := len(f.Memories); n == maxMemories || n > 0 && *size+len(data) > maxPageBytes {
		f.Next = schema.MemoryStream(f.Memories[n-1].User, f.Memories[n-1].Agent)
		return errPageFull
	}
	*size += len(data) + 1
	f.Memories = append(f.Memories, m)
	return nil
}

// memoryName is the name of the stream of a row's memory.
const memoryName = `concat('` + schema.MemoryPrefix + `', replaceAll(replaceAll(user, '%', '%25'), '/', '%2F'), '/',
	replaceAll(replaceAll(agent, '%', '%25'), '/', '%2F'))`

// recentDreams is the number of a memory's last dreams that the search considers. If they are all of days before those on
// which they gathered, the memory is found without need.
const recentDreams = "16"

// unreadMemories selects the streams of memories with unread events, of those behind one name and up to another. A
// refused dream has read nothing, and a dream of an earlier day than that on which it gathered has not read the events
// after that day. Entries are in the streams of sessions, whose names contain the user and the agent as the names of
// memory streams do. The time of recording is computed from an event's precedence, which is stored next to its id.
const unreadMemories = `
WITH ? AS after, ? AS up_to,
owners AS (
	SELECT replaceAll(replaceAll(splitByChar('/', stream)[2], '%2F', '/'), '%25', '%') FROM (
		SELECT DISTINCT stream FROM events_raw WHERE stream > after AND stream <= up_to
	)
),
last_dreams AS (
	SELECT ` + memoryName + ` AS name, gathered, date FROM dreams_raw
	WHERE user IN owners AND name > after AND name <= up_to AND status != ?
	ORDER BY user, agent, ordinal DESC LIMIT ` + recentDreams + ` BY user, agent
)
SELECT memory FROM (
	SELECT memory, max(at) AS changed FROM (
		SELECT stream AS memory, max(recorded_at) AS at FROM events_raw
		WHERE stream > after AND stream <= up_to AND event_type NOT IN ?
		GROUP BY stream
		UNION ALL
		SELECT concat('` + schema.MemoryPrefix + `', splitByChar('/', stream)[3], '/', splitByChar('/', stream)[4]) AS memory,
			max(recorded_at) AS at FROM events_raw
		WHERE startsWith(stream, '` + schema.SessionPrefix + `') AND event_type IN ? AND memory > after AND memory <= up_to
		GROUP BY memory
	) GROUP BY memory
) AS m
LEFT JOIN (
	SELECT name, max(g.at) AS at FROM last_dreams AS d
	INNER JOIN (
		SELECT event_id, fromUnixTimestamp64Micro(toInt64(bitNot(maxIf(precedence, ` + eventlog.Shown + `))), 'UTC') AS at FROM events_raw
		WHERE event_id IN (SELECT gathered FROM last_dreams) GROUP BY event_id HAVING countIf(` + eventlog.Shown + `) > 0
	) AS g ON g.event_id = d.gathered
	WHERE d.date >= toString(toDate(g.at + toIntervalSecond(?)))
	GROUP BY name
) AS r ON r.name = m.memory
LEFT JOIN (
	SELECT DISTINCT ` + memoryName + ` AS name FROM (
		SELECT user, agent, date FROM records_raw WHERE user IN owners AND kind = ? AND date >= ? AND date <= ?
		GROUP BY user, agent, date HAVING maxIf(seq, text_bytes > 0) > maxIf(seq, edited AND text_bytes = 0)
	) WHERE (user, agent, date) NOT IN (SELECT user, agent, arrayJoin(days) FROM dreams_raw WHERE user IN owners AND status != ?)
) AS u ON u.name = m.memory
WHERE u.name != '' OR toInt64(toUnixTimestamp(m.changed)) > toInt64(toUnixTimestamp(r.at)) - ?
ORDER BY memory LIMIT ?
SETTINGS join_use_nulls = 0, max_bytes_before_external_group_by = 268435456, max_bytes_before_external_sort = 268435456`
