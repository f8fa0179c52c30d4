package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// keptMark begins a kept session.
var keptMark = []byte(`{"axiommind_kept":1,`)

// keptHeader is the first line of a kept session. The others are its messages.
type keptHeader struct {
	Version int `json:"axiommind_kept"`
	schema.SessionKey
	Session
}

// Keep writes a session that was read, so that [Parse] reads the same again: a copy of a source that is no file, without the
// secrets that redaction has taken out. Its first line names the owner.
func Keep(w io.Writer, owner schema.Scope, s *Session) error {
	h := keptHeader{1, schema.SessionKey{Scope: owner, SessionID: s.ID}, *s}
	h.Messages = nil
	h.Title, _ = redact.Text(h.Title)
	redact.Names(&h.CWD)
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(h)
	for i := 0; err == nil && i < len(s.Messages); i++ {
		err = encoder.Encode(s.Messages[i])
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("keep session %q: %w", s.ID, err)
	}
	return nil
}

// ReadKept returns whose a kept session is, and reports whether one of its texts is sought.
func ReadKept(r io.Reader, sought func(key schema.SessionKey, text string) bool) (key schema.SessionKey, found bool, err error) {
	decoder := json.NewDecoder(r)
	var h keptHeader
	if err := decoder.Decode(&h); err != nil {
		return key, false, fmt.Errorf("read a kept session: %w", err)
	}
	for !found {
		var m schema.Message
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return h.SessionKey, false, fmt.Errorf("read a kept session: %w", err)
		}
		found = sought(h.SessionKey, m.Text)
	}
	return h.SessionKey, found, nil
}

func isKept(head []byte) bool { return bytes.HasPrefix(head, keptMark) }

// kept reads a kept session. It trusts the file no more than any other: texts are redacted again, which changes no text
// that Keep has written.
func (s *source) kept(b *builder) ([]*Session, error) {
	decoder := json.NewDecoder(s.r)
	var h keptHeader
	if err := decoder.Decode(&h); err != nil {
		return nil, err
	}
	b.format = h.Format
	b.startSession(h.SessionID)
	read := b.session()
	read.Title, read.CWD, read.skips.listed = clean(h.Title), clean(h.CWD), h.Skipped
	for n := 2; b.read(); n++ {
		var m schema.Message
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if !slices.Contains(keptRoles, m.Role) || !slices.Contains(keptKinds, m.Kind) {
			b.skip(n, reasonNoRecord)
			continue
		}
		b.add(m)
	}
	read.Started, read.Ended = h.Started, h.Ended
	if b.err != nil {
		return nil, b.err
	}
	return b.finish(), nil
}

var (
	keptRoles = []schema.Role{schema.RoleUser, schema.RoleAssistant, schema.RoleSystem, schema.RoleTool}
	keptKinds = []schema.Kind{schema.KindText, schema.KindThinking, schema.KindToolCall, schema.KindToolResult, schema.KindContext}
)
