package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/batch"
	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// backfillPage is how many sessions are looked at at once.
const backfillPage = 200

// ListBackfill lists, as the items of a batch, the sessions that this worker's extractor has not extracted from.
func (a *Activities) ListBackfill(ctx context.Context, in batch.ListInput[schema.BackfillSessionsInput]) (batch.Listed, error) {
	return boundary.Run(ctx, in, a.listBackfill)
}

func (a *Activities) listBackfill(ctx context.Context, in batch.ListInput[schema.BackfillSessionsInput]) (batch.Listed, error) {
	have := a.spec.Extractor
	if want := in.By.Extractor; want != "" && want != modelOf(have) {
		return batch.Listed{}, boundary.Invalid(schema.ErrorInvalidInput, fmt.Errorf(
			"extractor %q: this worker extracts with %q. Start a worker with the wanted model, or give the extractor that it has", want, modelOf(have)))
	}
	if err := in.By.Validate(); err != nil {
		return batch.Listed{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	list, err := batch.List(ctx, a.log.Store, in.Batch, in.At)
	if err != nil {
		return batch.Listed{}, err
	}
	if list.Done() {
		return list.Close(ctx)
	}
	b := Backfill{Conn: a.conn, Log: a.log.Store, By: in.By, Extractor: have}
	for s, err := range b.Each(ctx, list.Cursor()) {
		if err != nil {
			return batch.Listed{}, err
		}
		if err := list.Add(ctx, s.Item(), s.Cursor); err != nil {
			return batch.Listed{}, err
		}
	}
	return list.Close(ctx)
}

// Backfill chooses sessions of the log for another extractor.
type Backfill struct {
	Conn driver.Conn
	Log  *eventlog.Store
	By   schema.BackfillSessionsInput
	// Extractor is the other one. Tools are extracted from if the latest build of the session did.
	Extractor schema.Extractor

	// page replaces backfillPage in tests.
	page int
}

// Backfilled is a session whose latest completed build has another extractor.
type Backfilled struct {
	schema.SessionKey
	// Date is the session's date. It is only known if the backfill has a Since.
	Date time.Time `json:"date,omitzero"`
	// BuildID is the build, and Extractor its extractor.
	BuildID   string           `json:"build_id"`
	Extractor schema.Extractor `json:"extractor"`
	// Cursor says where to go on after this session.
	Cursor string `json:"-"`
}

// Item returns the session as an item of a batch.
func (b Backfilled) Item() schema.BatchItem {
	return schema.BatchItem{Name: b.SessionID, Input: schema.ProcessSessionInput{
		Project: b.Project, User: b.User, Agent: b.Agent, SessionID: b.SessionID, FromLog: true, IncludeTools: b.Extractor.Tools,
	}}
}

// Each yields the sessions, in the order of their names. It continues after the cursor of an earlier session, and keeps
// one page of sessions in memory.
func (b Backfill) Each(ctx context.Context, after string) iter.Seq2[Backfilled, error] {
	b.page = cmp.Or(b.page, backfillPage)
	return func(yield func(Backfilled, error) bool) {
		for more := true; more; {
			page, err := b.read(ctx, after)
			more = len(page) == b.page
			if more {
				after = page[len(page)-1].Cursor
			}
			if err == nil {
				page, err = b.choose(ctx, page)
			}
			if err != nil {
				yield(Backfilled{}, fmt.Errorf("select sessions to backfill: %w", err))
				return
			}
			for _, s := range page {
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// read reads a page of the sessions that have a completed build.
func (b Backfill) read(ctx context.Context, after string) ([]Backfilled, error) {
	f := Filter{Project: b.By.Project, User: b.By.User, Agent: b.By.Agent, All: true}
	where, args, err := f.whereAfter(after)
	if err != nil {
		return nil, err
	}
	where = append(where, "status IN ?")
	args = append(args, []string{string(schema.BuildSuccess), string(schema.BuildPartial), string(schema.BuildEmpty)})
	var out []Backfilled
	err = clickhouse.Query(ctx, b.Conn, clickhouse.Rows(&out, func(rows driver.Rows, s *Backfilled) error {
		err := rows.Scan(&s.Project, &s.User, &s.Agent, &s.SessionID, &s.BuildID)
		s.Cursor = s.Stream()
		return err
	}), fmt.Sprintf(`SELECT project, user, agent, session_id, argMax(build_id, ordinal) FROM build_runs WHERE %s
		GROUP BY project, user, agent, session_id ORDER BY project, user, agent, session_id LIMIT %d`,
		strings.Join(where, " AND "), b.page), args...)
	return out, err
}

// choose returns the sessions that are not older than requested, and have another extractor.
func (b Backfill) choose(ctx context.Context, page []Backfilled) ([]Backfilled, error) {
	if len(page) == 0 {
		return nil, nil
	}
	dates, err := b.dates(ctx, page)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range page {
		ids = append(ids, schema.EventID(schema.BuildStartedKey(s.BuildID)), schema.EventID(schema.BuildFinishedKey(s.BuildID)))
	}
	events, err := b.Log.GetMany(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []Backfilled
	for i, s := range page {
		s.Date = dates[s.Stream()]
		if s.Date.Before(b.By.Since) {
			continue
		}
		started, startErr := schema.Decode[schema.BuildStartedPayload](events[ids[2*i]])
		finished, endErr := schema.Decode[schema.BuildFinishedPayload](events[ids[2*i+1]])
		if err := errors.Join(startErr, endErr); err != nil {
			return nil, fmt.Errorf("build %q: %w", s.BuildID, err)
		}
		s.Extractor = started.Spec.Extractor
		wanted := b.Extractor
		wanted.Tools = s.Extractor.Tools
		// A person's statement is never extracted again.
		if started.Statement == nil && finished.ExtractorID != wanted.ID() {
			out = append(out, s)
		}
	}
	return out, nil
}

// dates returns the dates of the sessions by their streams, if they are asked for.
func (b Backfill) dates(ctx context.Context, page []Backfilled) (map[string]time.Time, error) {
	if b.By.Since.IsZero() {
		return nil, nil
	}
	streams := make([]string, len(page))
	for i, s := range page {
		streams[i] = s.Stream()
	}
	out := make(map[string]time.Time, len(page))
	return out, clickhouse.Query(ctx, b.Conn, clickhouse.Map(out, func(rows driver.Rows, stream *string, date *time.Time) error {
		err := rows.Scan(stream, date)
		*date = date.UTC()
		return err
	}), `SELECT stream, argMin(ts, seq) FROM events WHERE stream IN ? AND event_type = ? GROUP BY stream`,
		clickhouse.Set(streams), schema.SessionIngested)
}
