package table

import (
	"errors"
	"fmt"
)

// ErrNoScope is wrapped by the error of a read that does not say whose rows it wants. An empty project or user is never
// taken for all of them.
var ErrNoScope = errors.New("name whose rows to read")

// Required returns an error that wraps [ErrNoScope] if the name is empty. The kind is what it names: a project or a user.
func Required(kind, name string) error {
	if name != "" {
		return nil
	}
	return fmt.Errorf("%w: the %s is empty", ErrNoScope, kind)
}
