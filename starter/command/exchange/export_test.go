package exchange

import (
	"context"

	"axiommind/activities/eventlog"
)

// Import compares the file with the log, calls the function, and then appends the events that the log lacked. It is one round
// of an import.
func Import(ctx context.Context, log *eventlog.Store, path string, between func()) (forgotten int, streams []string, err error) {
	x := &importer{log: log, volumes: []volume{fileVolume(path)}}
	out, err := x.check(ctx)
	if err == nil {
		between()
		err = x.write(ctx)
	}
	return out.Forgotten, out.ForgottenStreams, err
}
