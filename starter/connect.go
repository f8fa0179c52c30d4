package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.temporal.io/sdk/client"

	"axiommind/activities/eventlog"
	"axiommind/activities/queue/door"
	memory "axiommind/starter/client"
	"axiommind/worker/service"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
)

// Default timeouts for a server that is starting.
const (
	patience       = 10 * time.Second
	doctorPatience = 3 * time.Second
)

// clickHouse connects to ClickHouse. If it is down, the error says how to start it.
func (a *app) clickHouse(ctx context.Context) (driver.Conn, error) {
	logger, err := a.waitLogger()
	if err != nil {
		return nil, err
	}
	conn, err := service.ConnectClickHouse(ctx, a.cfg, logger)
	if err != nil {
		return nil, notUp(err)
	}
	return conn, nil
}

// temporal connects to Temporal. If it is down, the error says how to start it.
func (a *app) temporal(ctx context.Context) (client.Client, error) {
	logger, err := a.waitLogger()
	if err != nil {
		return nil, err
	}
	c, err := service.ConnectTemporal(ctx, a.cfg, logger)
	if err != nil {
		return nil, notUp(err)
	}
	return c, nil
}

// client returns a client of the memory with the program's settings.
func (a *app) client(ctx context.Context) (*memory.Client, error) {
	logger, err := a.waitLogger()
	if err != nil {
		return nil, err
	}
	cfg := memory.ConfigOf(a.cfg)
	cfg.Actor, cfg.Logger = actor(), logger
	if dir := a.cfg.State.Path(statedir.Outbox); dir != "" {
		cfg.Spool = door.Spool{Dir: dir}
	}
	c, err := memory.Open(ctx, cfg)
	return c, clientError(err)
}

// clientError marks a client error as a usage error if the input caused it, or adds a hint if a server is unavailable.
func clientError(err error) error {
	switch {
	case errors.Is(err, memory.ErrInvalid):
		return badUsage(err)
	case errors.Is(err, memory.ErrUnavailable):
		return notUp(err)
	}
	return err
}

// notUp adds a hint if a server can't be reached. A server that refuses a request is up.
func notUp(err error) error {
	switch {
	case errors.Is(err, settings.ErrInvalid):
		return badUsage(err)
	case eventlog.Refused(err), errors.Is(err, settings.ErrRefused):
		return err
	}
	return fmt.Errorf("%w\nIs it up? Start everything with: go run ./deploy/local up", err)
}

// waitLogger returns a logger. In an interactive run it reports which server the program is waiting for.
func (a *app) waitLogger() (*slog.Logger, error) {
	logger, err := service.NewLogger(a.cfg)
	if err != nil {
		return nil, badUsage(err)
	}
	if !a.interactive {
		return logger, nil
	}
	return slog.New(slog.NewTextHandler(a.errOut, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: service.LogReadable})), nil
}
