package serve

import (
	"cmp"
	"log/slog"
	"net"
	"reflect"

	"axiommind/starter/command"
)

// Operation is an endpoint as tests see it.
type Operation struct {
	Method, Path, Command, Summary, Item string
	// Wide is true if only a server of all serves it, and OfUser if the command itself looks at one user alone.
	Wide, OfUser bool
	// Owned is true if all results say whose they are.
	Owned bool
}

// Describe returns the endpoints and their description.
func Describe(a *command.App) (all []Operation, document []byte, err error) {
	a.Tree()
	s, err := newServer(a, &access{}, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	for _, e := range s.endpoints {
		o := Operation{Method: e.method, Path: e.path, Command: e.command, Summary: cmp.Or(e.summary, e.cmd.Short), Item: e.item(), Wide: e.wide, OfUser: e.param("user") != nil, Owned: true}
		for _, t := range e.cmd.Results {
			if t.Kind() == reflect.Slice {
				t = t.Elem()
			}
			o.Owned = o.Owned && t.Implements(reflect.TypeFor[owned]())
		}
		all = append(all, o)
	}
	document, err = s.document()
	return all, document, err
}

// Local returns the printed address of a listener.
func Local(listening net.Addr) string { return local(listening) }
