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

// BackUp writes the first part of a backup, and calls the function after the snapshot.
func BackUp(ctx context.Context, log *eventlog.Store, dir string, between func()) error {
	b := &backup{log: log, to: directory(dir), before: map[string]end{}, part: part{Format: backupFormat, Version: backupVersion, Number: 1, Full: true}}
	if err := b.snapshot(ctx); err != nil {
		return err
	}
	between()
	changed, err := b.changed()
	if err != nil {
		return err
	}
	return b.write(ctx, changed, nil)
}
