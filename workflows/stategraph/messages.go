package stategraph

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// RemoveAll is the ID that removes every message before it.
const RemoveAll = "__remove_all__"

// ErrUnknownMessage is the removal of a message that is not there.
var ErrUnknownMessage = errors.New("unknown message")

// MessageChange adds or replaces a message, or removes the one with an ID.
type MessageChange[M any] struct {
	Message M
	ID      string // of the message to remove; only read when Remove is set
	Remove  bool
}

// AddMessage adds m, in place of the message with its ID if there is one.
func AddMessage[M any](m M) MessageChange[M] { return MessageChange[M]{Message: m} }

// RemoveMessage removes the message with an ID; RemoveAll removes all.
func RemoveMessage[M any](id string) MessageChange[M] { return MessageChange[M]{ID: id, Remove: true} }

// Identity reads and writes the ID of messages. Assign gives a message without
// an ID one that depends on nothing but the message and a number, so that a
// replay assigns the same; numbers that give a taken ID are skipped.
type Identity[M any] struct {
	ID     func(m M) string
	Assign func(m M, number int) M
}

// Messages is a list of messages merged by ID: a known ID replaces in place, a
// new one appends, a removal deletes. A message removed and added again in one
// write keeps its position. Removing an unknown ID is ErrUnknownMessage.
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

// StableID is a version 5 UUID of a number and the parts of a message, for use
// by Identity.Assign.
func StableID(number int, parts ...string) string {
	name := strconv.Itoa(number) + "\x00" + strings.Join(parts, "\x00")
	return uuid.NewSHA1(messageSpace, []byte(name)).String()
}
