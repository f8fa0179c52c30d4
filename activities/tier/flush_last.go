package tier

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// lastFlush is the last flush of a session. The zero value means that the session was never flushed.
type lastFlush struct {
	// To is the index after the last message that was flushed.
	To      int
	EventID string
	BuildID string
	// Empty is true if there was nothing to record.
	Empty bool
}

func flushOf(eventID string, p schema.ContextFlushedPayload) lastFlush {
	return lastFlush{To: p.Last + 1, EventID: eventID, BuildID: p.BuildID, Empty: p.Text == ""}
}

// flushedBefore returns the sessions whose last flush has to be known.
//
// If the model is local, these are only sessions that came in several parts. A session that came in one part was flushed
// as a whole, and is flushed under the same key again, or not at all. Another model may flush a session in several parts.
func (a *Activities) flushedBefore(reqs []flushing) []schema.SessionKey {
	_, local := a.archive.Model().(llm.Local)
	var out []schema.SessionKey
	for _, r := range reqs {
		if s := r.session; s != nil && s.Len() > 0 && (!local || s.EventID(0) != s.EventID(s.Len()-1)) {
			out = append(out, s.SessionKey)
		}
	}
	return out
}

// foldFlushes returns the last flush of each of the sessions in the events of a memory.
func foldFlushes(events []schema.Event, sessions []schema.SessionKey) (map[string]lastFlush, error) {
	of := map[string]bool{}
	for _, key := range sessions {
		of[key.Stream()] = true
	}
	last := map[string]lastFlush{}
	for _, e := range events {
		if len(sessions) == 0 || e.Type != schema.ContextFlushed {
			continue
		}
		p, err := schema.Decode[schema.ContextFlushedPayload](e)
		if err != nil {
			return nil, err
		}
		if f := flushOf(e.ID, p); of[p.Stream()] && f.To > last[p.Stream()].To {
			last[p.Stream()] = f
		}
	}
	return last, nil
}

// lastFlushes returns the last flush of each flushed session, by the session's stream. All sessions are of one memory.
func (t *Tables) lastFlushes(ctx context.Context, sessions []schema.SessionKey) (map[string]lastFlush, error) {
	last := map[string]lastFlush{}
	if len(sessions) == 0 {
		return last, nil
	}
	ids := make([]string, len(sessions))
	for i, s := range sessions {
		ids[i] = s.SessionID
	}
	scope := sessions[0].Scope
	err := t.query(ctx, scope.User, scope.Agent, func(rows driver.Rows) error {
		key := schema.SessionKey{Scope: scope}
		var to int64
		var f lastFlush
		if err := rows.Scan(&key.Project, &key.SessionID, &to, &f.EventID, &f.BuildID, &f.Empty); err != nil {
			return err
		}
		f.To = int(to) + 1
		last[key.Stream()] = f
		return nil
	}, `SELECT project, session_id, max(last_message), argMax(event_id, last_message), argMax(build_id, last_message),
			argMax(text = '', last_message)::Bool
		FROM records_raw WHERE user = ? AND agent = ? AND kind = ? AND session_id IN ? GROUP BY project, session_id`,
		string(schema.RecordDaily), clickhouse.Set(ids))
	if err != nil {
		return nil, fmt.Errorf("read how far %d sessions are flushed: %w", len(sessions), err)
	}
	return last, nil
}
