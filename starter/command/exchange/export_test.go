package exchange

import (
	"context"
	"errors"
	"os"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
)

// Import compares the file with the log, calls the function, and then appends the events that the log lacked. It is one round
// of an import.
func Import(ctx context.Context, log *projection.Store, path string, between func()) (forgotten int, streams []string, err error) {
	x := &importer{log: log, volumes: []volume{fileVolume(path)}}
	out, err := x.check(ctx)
	if err == nil {
		between()
		err = x.write(ctx)
	}
	return out.Forgotten, out.ForgottenStreams, err
}

// losing is a place that loses the answer about a manifest, if the file lost is there.
type losing struct{ directory }

func (l losing) Put(ctx context.Context, name string, content []byte) error {
	err := l.directory.Put(ctx, name, content)
	if _, absent := os.Stat(l.path("lost")); absent == nil && err == nil && manifestFile.MatchString(name) {
		return errors.New("no answer")
	}
	return err
}

// BackUp writes the first part of a backup, in volumes of as many bytes, and calls the function after the snapshot.
func BackUp(ctx context.Context, conn driver.Conn, dir string, volume int, between func()) error {
	log := projection.New(conn, eventlog.Options{})
	id, err := identity(ctx, conn)
	if err != nil {
		return err
	}
	b := &backup{log: log.Store, to: losing{directory(dir)}, volumeBytes: volume, part: part{Format: backupFormat, Version: backupVersion, Number: 1, Log: id}}
	if err := b.snapshot(ctx); err != nil {
		return err
	}
	between()
	if _, err := b.follow(ctx, nil); err != nil {
		return err
	}
	return b.write(ctx, nil)
}
