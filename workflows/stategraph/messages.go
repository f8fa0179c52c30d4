package stategraph

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// RemoveAll is the ID for RemoveMessage that removes all earlier messages.
const RemoveAll = "__remove_all__"

// ErrUnknownMessage is returned for the removal of a message that does not exist.
var ErrUnknownMessage = errors.New("unknown message")

// MessageChange adds or replaces a message, or removes the message with an ID.
type MessageChange[M any] struct {
	Message M
	ID      string // of the message to remove; only read when Remove is set
	Remove  bool
}

// AddMessage returns a change that adds m, or replaces the message with its ID.
func AddMessage[M any](m M) MessageChange[M] { return MessageChange[M]{Message: m} }

// RemoveMessage returns a change that removes the message with the ID. RemoveAll removes all messages.
func RemoveMessage[M any](id string) MessageChange[M] { return MessageChange[M]{ID: id, Remove: true} }

// Identity gets and sets the ID of messages. Assign gives an ID to a message without one. The ID must depend only on
// the message and a number, so that a replay assigns the same one. If an ID is taken, the next number is tried.
type Identity[M any] struct {
	ID     func(m M) string
	Assign func(m M, number int) M
}

// Messages returns a key that holds a list of messages merged by ID. A message with a known ID replaces the old one
// in place, a new one is appended, and a removal deletes. A message that is removed and added again in one write
// keeps its position. Removing an unknown ID is ErrUnknownMessage.
func Messages[M any](name string, identity Identity[M]) Reducer[[]M, []MessageChange[M]] {
	return Fold(name, identity.Merge, nil)
}

// Merge is the operator of Messages.
func (id Identity[M]) Merge(acc []M, changes []MessageChange[M]) ([]M, error) {
	for i := range changes {
		if changes[i].Remove && changes[i].ID == RemoveAll {
			return id.Merge(nil, changes[i+1:])
		}
	}
	out := slices.Clone(acc)
	at := make(map[string]int, len(out)+len(changes))
	for i := range out {
		at[id.ID(out[i])] = i
	}
	removed := map[string]bool{}
	for _, c := range changes {
		if c.Remove {
			if _, ok := at[c.ID]; !ok {
				return nil, fmt.Errorf("remove message %q: %w", c.ID, ErrUnknownMessage)
			}
			removed[c.ID] = true
			continue
		}
		m, err := id.identify(c.Message, len(out), at)
		if err != nil {
			return nil, err
		}
		key := id.ID(m)
		delete(removed, key)
		if i, ok := at[key]; ok {
			out[i] = m
			continue
		}
		at[key] = len(out)
		out = append(out, m)
	}
	return slices.DeleteFunc(out, func(m M) bool { return removed[id.ID(m)] }), nil
}

func (id Identity[M]) identify(m M, number int, taken map[string]int) (M, error) {
	if id.ID(m) != "" {
		return m, nil
	}
	for n := number; n <= number+len(taken); n++ {
		named := id.Assign(m, n)
		if _, dup := taken[id.ID(named)]; !dup && id.ID(named) != "" {
			return named, nil
		}
	}
	return m, fmt.Errorf("assign message id: none of %d is free", len(taken)+1)
}

var messageSpace = uuid.NewSHA1(uuid.NameSpaceOID, []byte("stategraph/message"))

// StableID returns a version 5 UUID of a number and the parts of a message. Identity.Assign can use it.
func StableID(number int, parts ...string) string {
	name := strconv.Itoa(number) + "\x00" + strings.Join(parts, "\x00")
	return uuid.NewSHA1(messageSpace, []byte(name)).String()
}
