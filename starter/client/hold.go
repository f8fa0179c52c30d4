package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// maxSignal bounds messages in a signal as they are encoded: many short ones are longer than their contents.
const maxSignal = 4 * schema.MaxSignalBytes

// hold stores messages that are too long for a signal, and names them by their hash instead. The same messages are stored
// once.
func (c *Client) hold(ctx context.Context, q schema.QueuedContext) (schema.QueuedContext, error) {
	if long, err := tooLong(q.Messages); err != nil || !long {
		return q, err
	}
	if q.Statement != nil {
		return q, invalid(fmt.Errorf("the statement holds more than %d bytes: give it as a conversation", schema.MaxSignalBytes))
	}
	named := q
	named.Messages, named.Held = nil, HashMessages(q.Messages)
	if err := named.Validate(); err != nil { // Report errors before anything is stored.
		return q, invalid(err)
	}
	event, err := schema.NewEvent(schema.ContextHeldPayload{Messages: q.Messages}, schema.Event{
		TS: q.At, Actor: c.actor(ctx), SessionID: q.Thread, Project: q.Project, DedupeKey: schema.ContextHeldKey(q.Key(), named.Held),
	})
	if err != nil {
		return q, err
	}
	log, _, err := c.log(ctx)
	if err != nil {
		return q, fmt.Errorf("store the messages: %w", err)
	}
	var erased *eventlog.ErasedError
	_, err = log.Append(ctx, schema.ContextStream(q.Key(), named.Held), []schema.Event{event})
	switch {
	case err == nil:
		return named, nil
	case errors.As(err, &erased):
		return q, invalid(err)
	}
	err = fmt.Errorf("store the messages: %w", err)
	if clickhouse.Retryable(err) {
		return q, unavailable(err)
	}
	return q, err
}

// tooLong reports whether a signal does not carry the messages.
func tooLong(messages []Message) (bool, error) {
	size := 0
	for _, m := range messages {
		size += len(m.Content)
	}
	encoded, err := json.Marshal(messages)
	if err != nil {
		return false, invalid(fmt.Errorf("encode the messages: %w", err))
	}
	return size > schema.MaxSignalBytes || len(encoded) > maxSignal, nil
}

// HashMessages returns the hash that names messages where they are stored: [schema.HashParts] over role, content, id and
// time of each.
func HashMessages(messages []Message) string {
	parts := make([]string, 0, 4*len(messages))
	for _, m := range messages {
		at := ""
		if !m.At.IsZero() {
			at = m.At.UTC().Format(time.RFC3339Nano)
		}
		parts = append(parts, m.Role, m.Content, m.ID, at)
	}
	return schema.HashParts(parts...)
}
