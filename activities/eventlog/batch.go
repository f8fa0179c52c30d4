package eventlog

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"axiommind/schema"
)

// batch is a validated list of events with distinct keys and canonical payloads.
type batch struct {
	events []schema.Event
	// of maps the index of each given event to the index in events of the event with its key.
	of []int
	// sums are the checksums of the given events.
	sums []string
	// headings are the columns heading and message_index of events that have them, by id.
	headings map[string][2]string
	bytes    int64
}

// prepare validates the events and computes every field that does not depend on the log.
func prepare(stream string, given []schema.Event) (batch, error) {
	if err := checkName(stream); err != "" {
		return batch{}, &InvalidError{-1, "stream", err}
	}
	b := batch{events: make([]schema.Event, 0, len(given)), of: make([]int, len(given)), sums: make([]string, len(given)), headings: map[string][2]string{}}
	byKey := make(map[string]int, len(given))
	for i, e := range given {
		e.Stream = stream
		if err := prepareEvent(i, &e); err != nil {
			return batch{}, err
		}
		at, seen := byKey[e.DedupeKey]
		if !seen {
			at = len(b.events)
			byKey[e.DedupeKey] = at
			heading, index, err := headingColumns(e)
			if err != nil {
				return batch{}, &InvalidError{i, "payload", "holds no messages: " + err.Error()}
			}
			if heading != "" {
				b.headings[e.ID] = [2]string{heading, index}
			}
			b.events = append(b.events, e)
			b.bytes += eventBytes(e)
		}
		b.of[i], b.sums[i] = at, e.Checksum
	}
	return b, nil
}

func prepareEvent(i int, e *schema.Event) error {
	for _, f := range []struct {
		name, value string
		most        int
	}{{"event_type", e.Type, maxName}, {"actor", e.Actor, maxName}, {"dedupe_key", e.DedupeKey, schema.MaxDedupeKeyBytes}} {
		if reason := checkText(f.value, f.most); reason != "" {
			return &InvalidError{i, f.name, reason}
		}
	}
	for _, f := range []struct{ name, value string }{{"session_id", e.SessionID}, {"project", e.Project}, {"build_id", e.BuildID}} {
		if f.value == "" {
			continue
		}
		if reason := checkName(f.value); reason != "" {
			return &InvalidError{i, f.name, reason}
		}
	}
	e.TS = e.TS.UTC().Truncate(time.Microsecond)
	// These are the bounds of the column and of its client.
	if y := e.TS.Year(); e.TS.IsZero() || y < 1900 || y > 2261 {
		return &InvalidError{i, "ts", fmt.Sprintf("is %s, want a time from 1900 to 2261", e.TS.Format(time.RFC3339))}
	}
	switch e.Sensitivity {
	case "":
		e.Sensitivity = schema.SensitivityNormal
	case schema.SensitivityNormal, schema.SensitivityRedacted, schema.SensitivitySealed:
	default:
		return &InvalidError{i, "sensitivity", fmt.Sprintf("is %q, want normal, redacted or sealed", e.Sensitivity)}
	}
	var err error
	if e.Payload, err = canonical(e.Payload); err != nil {
		return &InvalidError{i, "payload", err.Error()}
	}
	if counts := schema.CountRedactions(string(e.Payload)); counts != nil && len(e.PayloadRedacted) == 0 {
		e.Sensitivity = schema.SensitivityRedacted
		if e.PayloadRedacted, err = json.Marshal(counts); err != nil {
			return &InvalidError{i, "payload_redacted", err.Error()}
		}
	}
	if len(e.PayloadRedacted) > 0 {
		if e.PayloadRedacted, err = canonical(e.PayloadRedacted); err != nil {
			return &InvalidError{i, "payload_redacted", err.Error()}
		}
	}
	e.ID = schema.EventID(e.DedupeKey)
	e.Checksum = checksum(e.Payload)
	return nil
}

// maxName bounds the size of names, which are in indexes, in bytes.
const maxName = 1024

func checkName(s string) string { return checkText(s, maxName) }

func checkText(s string, most int) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > most:
		return fmt.Sprintf("is %d bytes long, want at most %d", len(s), most)
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case strings.ContainsRune(s, 0):
		return "holds a NUL byte"
	}
	return ""
}
