// Package hook runs when an agent calls one of its hooks. It enqueues the transcript and returns at once. A context that
// can't be sent is spooled. The package imports little, so that a separate small program starts fast (see starter/axhook).
package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"axiommind/schema"
)

// Agents whose hooks are supported.
const (
	ClaudeCode = "claude-code"
	Codex      = "codex"
)

// Agents returns all agents whose hooks are supported.
func Agents() []string { return []string{ClaudeCode, Codex} }

// Names of the events that are handled. Both agents use the same names.
const (
	SessionStart     = "SessionStart"
	UserPromptSubmit = "UserPromptSubmit"
	Stop             = "Stop"
	PreCompact       = "PreCompact"
	SessionEnd       = "SessionEnd"
	// turnComplete is the event of Codex's notify program.
	turnComplete = "agent-turn-complete"
)

// Enqueued returns the events at which the transcript is enqueued.
func Enqueued() []string { return []string{Stop, PreCompact, SessionEnd} }

// Answered returns the events that are answered with memories.
func Answered() []string { return []string{SessionStart, UserPromptSubmit} }

// MaxEvent is the maximum size of an event in bytes. A prompt may contain pasted files.
const MaxEvent = 16 << 20

// Event is the input that an agent passes to a hook. Other fields that agents send are ignored.
type Event struct {
	Name       string `json:"hook_event_name"`
	SessionID  string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Directory  string `json:"cwd"`
	// Prompt is the user's input. Only [UserPromptSubmit] has one.
	Prompt string `json:"prompt"`
	// Trigger is auto or manual. Only [PreCompact] has one.
	Trigger string `json:"trigger"`
	// Type and Thread are set in the events of Codex's notify program.
	Type   string `json:"type"`
	Thread string `json:"thread-id"`
}

// ReadEvent reads the JSON of an event.
func ReadEvent(in io.Reader) (e Event, err error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxEvent+1))
	if err != nil {
		return e, fmt.Errorf("read the hook's event: %w", err)
	}
	return ParseEvent(text)
}

// ParseEvent parses the JSON of an event. A missing name or session id is an error.
func ParseEvent(text []byte) (e Event, err error) {
	if len(text) > MaxEvent {
		return e, fmt.Errorf("read the hook's event: more than %d bytes", MaxEvent)
	}
	if err := json.Unmarshal(text, &e); err != nil {
		return Event{}, fmt.Errorf("read the hook's event: %w", err)
	}
	if e.Name == "" && e.Type == turnComplete {
		e.Name, e.SessionID = Stop, e.Thread
	}
	switch {
	case e.Name == "":
		return Event{}, errors.New("read the hook's event: hook_event_name is missing")
	case e.SessionID == "":
		return Event{}, fmt.Errorf("read the hook's event %.40q: session_id is missing", e.Name)
	}
	if err := schema.CheckName("session_id", e.SessionID); err != nil {
		return Event{}, fmt.Errorf("read the hook's event: %w", err)
	}
	return e, nil
}

// transcript returns the path of the session's transcript file.
func (e Event) transcript() (string, error) {
	switch {
	case e.Transcript == "":
		return "", fmt.Errorf("enqueue session %q: transcript_path is missing", e.SessionID)
	case strings.IndexByte(e.Transcript, 0) >= 0 || !filepath.IsAbs(e.Transcript):
		return "", fmt.Errorf("enqueue session %q: transcript_path %.200q is no absolute path", e.SessionID, e.Transcript)
	}
	return filepath.Clean(e.Transcript), nil
}

// flush returns the reason for the flush, and whether to process the context at once.
func (e Event) flush() (reason schema.FlushReason, now bool) {
	switch {
	case e.Name == PreCompact && e.Trigger == "auto":
		return schema.FlushOverflow, true
	case e.Name == PreCompact:
		return schema.FlushTrim, true
	default:
		return schema.FlushEnd, e.Name == SessionEnd
	}
}
