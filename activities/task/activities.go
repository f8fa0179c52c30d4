package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"axiommind/activities/border"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

const heartbeat = 10 * time.Second

// Indexer has the titles of new tasks indexed.
type Indexer interface {
	Enqueue(ctx context.Context, stream string) error
}

// Activities writes project streams, and asks their writer to.
type Activities struct {
	log      *eventlog.Store
	writer   *Writer
	indexer  Indexer
	temporal client.Client
}

// NewActivities returns the room's activities. The client sends updates to project_tasks.
func NewActivities(log *eventlog.Store, writer *Writer, indexer Indexer, temporal client.Client) (*Activities, error) {
	if log == nil || writer == nil || indexer == nil || temporal == nil {
		return nil, errors.New("task activities: an event log, a writer, an indexer and a Temporal client are needed")
	}
	return &Activities{log: log, writer: writer, indexer: indexer, temporal: temporal}, nil
}

// SessionInput names a session whose task notes are to be resolved.
type SessionInput struct {
	Project   string `json:"project"`
	SessionID string `json:"session_id"`
	BuildID   string `json:"build_id"`
}

// SubmitTasks asks the project's workflow to resolve the session's task notes, and waits for it.
func (a *Activities) SubmitTasks(ctx context.Context, in SessionInput) (Result, error) {
	stop := border.Heartbeat(ctx, heartbeat)
	defer stop()
	var result Result
	// Another attempt is another update: the outcome of the one before may have been a failure that
	// is mended by now. What an update does is keyed by what it is about.
	id := in.BuildID + "/" + strconv.Itoa(int(activity.GetInfo(ctx).Attempt))
	err := border.TaskWriter(in.Project).Update(ctx, a.temporal, schema.UpdateSession, id, in, &result)
	return result, border.Return(err)
}

// ResolveTasks resolves the session's task notes. Only the project's workflow may call it.
func (a *Activities) ResolveTasks(ctx context.Context, in SessionInput) (Result, error) {
	stop := border.Heartbeat(ctx, heartbeat)
	defer stop()
	result, err := a.resolve(ctx, in)
	return result, border.Return(err)
}

func (a *Activities) resolve(ctx context.Context, in SessionInput) (Result, error) {
	batch := Batch{Project: in.Project, SessionID: in.SessionID, BuildID: in.BuildID}
	options := eventlog.StreamOptions{Types: []string{schema.EntryMaterialized}}
	for event, err := range a.log.Stream(ctx, schema.SessionStream(in.SessionID), options) {
		if err != nil {
			return Result{}, fmt.Errorf("read entries of session %q: %w", in.SessionID, err)
		}
		var e schema.Entry
		if err := json.Unmarshal(event.Payload, &e); err != nil {
			return Result{}, fmt.Errorf("decode event %q: %w", event.ID, err)
		}
		if e.Type == schema.EntryTaskNote && e.Project == in.Project {
			batch.Entries = append(batch.Entries, e)
		}
	}
	result, err := a.writer.Apply(ctx, batch)
	if err != nil {
		return result, err
	}
	return result, a.indexer.Enqueue(ctx, schema.ProjectStream(in.Project))
}

// RunTaskCommand does what a person asks of a task. Only the project's workflow may call it.
func (a *Activities) RunTaskCommand(ctx context.Context, c Command) (Result, error) {
	stop := border.Heartbeat(ctx, heartbeat)
	defer stop()
	result, err := a.writer.Do(ctx, c)
	switch {
	case err == nil:
		err = a.indexer.Enqueue(ctx, schema.ProjectStream(c.Project))
	case errors.Is(err, ErrNotFound):
		err = border.Invalid(schema.ErrorTaskNotFound, err)
	case errors.Is(err, ErrRefused):
		err = border.Invalid(schema.ErrorTaskRefused, err)
	case errors.Is(err, ErrCommand):
		err = border.Invalid(schema.ErrorInvalidInput, err)
	}
	return result, border.Return(err)
}
