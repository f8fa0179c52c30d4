package clickhouse

import (
	"errors"
	"fmt"
)

// ErrNoScope is wrapped by the error of a read without a project or user. An empty one never means all of them.
var ErrNoScope = errors.New("name whose rows to read")

// Required returns an error that wraps [ErrNoScope] if the name is empty. The kind is project or user.
func Required(kind, name string) error {
	if name != "" {
		return nil
	}
	return fmt.Errorf("%w: the %s is empty", ErrNoScope, kind)
}
