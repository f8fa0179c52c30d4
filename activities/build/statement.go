package build

import (
	"fmt"

	"axiommind/schema"
)

// statement returns the session's statement, or nil if it contains a conversation. A session never contains both: a
// person's statement stays as it was stated, whichever extractor comes later.
func (l Last) statement(in OpenInput) (*schema.Statement, error) {
	held := l.Started.Statement
	switch {
	case l.Started.Ordinal == 0:
		return in.Statement, nil
	case in.Retry != "" || in.FromLog:
		return held, nil
	case held == nil && in.Statement == nil:
		return nil, nil
	case held == nil:
		return nil, fmt.Errorf("session %q holds a conversation: leave out session_id, and the statement gets a session of its own", in.SessionID)
	case in.Statement == nil:
		return nil, fmt.Errorf("session %q holds a person's statement, not a conversation: give another session_id", in.SessionID)
	case *held != *in.Statement:
		return nil, fmt.Errorf("session %q holds another statement: leave out session_id, and each statement gets a session of its own", in.SessionID)
	}
	return held, nil
}
