package format

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tidwall/gjson"

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

// kept reads a kept session. It trusts the file no more than any other: the limits are the same, and texts are redacted again, which
// changes nothing that Keep has written.
func (s *source) kept(b *builder) ([]*Session, error) {
	var read *session
	var header struct {
		SessionID          string `json:"session_id"`
		Format, Title, CWD string
		Started, Ended     time.Time
		Skipped            []schema.Skipped
	}
	b.known = nil
	err := s.lines(b, func(b *builder, line int, rec gjson.Result) {
		if read == nil {
			if line > 1 {
				b.fail(ErrUnknownFormat)
				return
			}
			if err := json.Unmarshal([]byte(rec.Raw), &header); err != nil {
				b.fail(fmt.Errorf("line %d: %w", line, err))
				return
			}
			b.format = clean(header.Format)
			b.startSession(header.SessionID)
			read = b.session()
			read.Title, read.CWD = clean(header.Title), clean(header.CWD)
			read.skips.listed = header.Skipped[:min(len(header.Skipped), s.opts.MaxSkipped)]
			for i := range read.skips.listed {
				read.skips.listed[i].Reason, _ = redact.Text(clean(read.skips.listed[i].Reason))
			}
			return
		}
		var m schema.Message
		err := json.Unmarshal([]byte(rec.Raw), &m)
		if err != nil || !slices.Contains(keptRoles, m.Role) || !slices.Contains(keptKinds, m.Kind) || !m.At.IsZero() && !Plausible(m.At) {
			b.skip(line, reasonNoRecord)
			return
		}
		b.add(m) // Acts are messages of their own here.
	})
	if err != nil {
		return nil, err
	}
	if read == nil {
		return nil, ErrUnknownFormat
	}
	for _, at := range []*time.Time{&header.Started, &header.Ended} {
		if !Plausible(*at) {
			*at = time.Time{}
		}
	}
	read.Started, read.Ended = header.Started, header.Ended
	return b.finish(), b.err
}

var (
	keptRoles = []schema.Role{schema.RoleUser, schema.RoleAssistant, schema.RoleSystem, schema.RoleTool}
	keptKinds = []schema.Kind{schema.KindText, schema.KindThinking, schema.KindToolCall, schema.KindToolResult, schema.KindContext,
		schema.KindStatement, schema.KindPlan, schema.KindTodo, schema.KindCommit, schema.KindRule}
)
