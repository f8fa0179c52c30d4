package tier

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/eventlog"
	"axiommind/activities/queue"
	"axiommind/activities/session"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// RunningSession is the Context tier of a session: its messages, their tokens, and a summary so far.
type RunningSession struct {
	schema.SessionKey
	eventlog.Total
	// Pending counts the messages that wait in the queue. Total counts them, too.
	Pending int `json:"pending,omitempty"`
	// PendingTranscripts counts the transcripts that wait in the queue. Their messages are unknown until they are read.
	PendingTranscripts int `json:"pending_transcripts,omitempty"`
	// Flushed counts the messages that the daily record holds.
	Flushed int `json:"flushed"`
	// Summary has the texts of the daily record, and then a summary of the other messages, made without a model.
	Summary string `json:"summary"`
}

// ReadRunning returns the session as it is now. One that is unknown has no messages.
func ReadRunning(ctx context.Context, conn driver.Conn, log *eventlog.Store, key schema.SessionKey) (RunningSession, error) {
	var logged *session.Session
	var contexts []queue.Context
	var parts []string
	var flushed int
	reads, reading := errgroup.WithContext(ctx)
	reads.Go(func() (err error) {
		logged, err = session.Open(reading, log, key)
		return err
	})
	reads.Go(func() (err error) {
		if contexts, err = queue.Pending(reading, log, conn, key); err != nil {
			err = fmt.Errorf("read the queue of session %q: %w", key.SessionID, err)
		}
		return err
	})
	reads.Go(func() (err error) {
		parts, flushed, err = NewTables(conn).summaries(reading, key)
		return err
	})
	if err := reads.Wait(); err != nil {
		return RunningSession{}, err
	}
	pending, transcripts, err := transcript.Pending(ctx, logged, contexts)
	if err != nil {
		return RunningSession{}, fmt.Errorf("read the queue of session %q: %w", key.SessionID, err)
	}
	r := RunningSession{SessionKey: key, Total: logged.Total(), Pending: len(pending), PendingTranscripts: transcripts}
	r.Messages, r.Tokens = r.Messages+len(pending), r.Tokens+session.Tokens(pending)
	r.Flushed = flushed
	rest := events{labels: English}
	for m, err := range talk(ctx, logged, r.Flushed, logged.Len()) {
		if err != nil {
			return RunningSession{}, err
		}
		rest.add(m)
	}
	scheduled := false
	for _, m := range pending {
		if scheduled = session.Scheduled(scheduled, m); !scheduled {
			rest.add(m)
		}
	}
	if text := rest.text(); text != "" {
		parts = append(parts, text)
	}
	r.Summary = strings.Join(parts, "\n")
	return r, nil
}

// summaries returns the texts that the daily record holds of the session, in order, and how many messages they sum up.
func (t *Tables) summaries(ctx context.Context, key schema.SessionKey) (texts []string, messages int, err error) {
	err = t.query(ctx, key.User, key.Agent, func(rows driver.Rows) error {
		var last int64
		var text string
		err := rows.Scan(&last, &text)
		if messages = int(last) + 1; text != "" {
			texts = append(texts, text)
		}
		return err
	}, `SELECT last_message, text FROM records_raw WHERE user = ? AND agent = ? AND kind = ? AND project = ? AND session_id = ?
		ORDER BY last_message LIMIT 1 BY first_message, last_message`, string(schema.RecordDaily), key.Project, key.SessionID)
	if err != nil {
		return nil, 0, fmt.Errorf("read the summaries of session %q: %w", key.SessionID, err)
	}
	return texts, messages, nil
}
