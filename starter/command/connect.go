package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/user"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/clickhouse"
	"axiommind/activities/queue/door"
	"axiommind/activities/spans"
	"axiommind/schema"
	memory "axiommind/starter/client"
	"axiommind/worker/service"
	"axiommind/worker/settings"
	"axiommind/worker/statedir"
)

// Default timeouts for a server that is starting.
const (
	Patience       = 10 * time.Second
	DoctorPatience = 3 * time.Second
	// RefusedPatience is for one that is not running on this machine.
	RefusedPatience = time.Second
)

// Connections are shared by all that one invocation does, or all requests of a server. Each is opened on first use.
type Connections struct {
	clickHouse service.Lazy[driver.Conn]
	temporal   service.Lazy[client.Client]
	memory     service.Lazy[*memory.Client]
}

// Close closes the connections. The next use opens others.
func (c *Connections) Close() {
	c.memory.Drop(func(m *memory.Client) { _ = m.Close() })
	c.clickHouse.Drop(func(conn driver.Conn) { _ = conn.Close() })
	c.temporal.Drop(func(t client.Client) { t.Close() })
}

// ClickHouse returns the connection to ClickHouse, which stays open. If it is down, the error says how to start it.
func (a *App) ClickHouse(ctx context.Context) (driver.Conn, error) {
	logger, err := a.waitLogger()
	if err != nil {
		return nil, err
	}
	conn, err := a.connections().clickHouse.Get(ctx, func(ctx context.Context) (driver.Conn, error) {
		return service.ConnectClickHouse(ctx, a.Cfg, logger)
	})
	if err != nil {
		return nil, NotUp(err)
	}
	return conn, nil
}

// Temporal returns the connection to Temporal, which stays open. If it is down, the error says how to start it.
func (a *App) Temporal(ctx context.Context) (client.Client, error) {
	logger, err := a.waitLogger()
	if err != nil {
		return nil, err
	}
	c, err := a.temporal(ctx, a.Cfg, logger)
	if err != nil {
		return nil, NotUp(err)
	}
	return c, nil
}

// TemporalWithin is [App.Temporal] for those who can do without it: it waits no longer than patience for a server that is down.
func (a *App) TemporalWithin(ctx context.Context, patience time.Duration) (client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cfg := a.Cfg
	cfg.ConnectTimeout = min(cfg.ConnectTimeout, patience)
	return a.temporal(ctx, cfg, slog.New(slog.DiscardHandler))
}

func (a *App) temporal(ctx context.Context, cfg service.Config, logger *slog.Logger) (client.Client, error) {
	return a.connections().temporal.Get(ctx, func(ctx context.Context) (client.Client, error) {
		return service.ConnectTemporal(ctx, cfg, logger)
	})
}

// Client returns a client of the memory with the program's settings, which stays open.
func (a *App) Client(ctx context.Context) (*memory.Client, error) {
	logger, err := a.waitLogger()
	if err != nil {
		return nil, err
	}
	c, err := a.connections().memory.Get(ctx, func(ctx context.Context) (*memory.Client, error) {
		cfg := memory.ConfigOf(a.Cfg)
		cfg.Actor, cfg.Logger = a.Actor(), logger
		if dir := a.Cfg.State.Path(statedir.Outbox); dir != "" {
			cfg.Spool = door.Spool{Dir: dir}
		}
		return memory.Open(context.WithoutCancel(ctx), cfg) // It is closed with the other connections.
	})
	return c, ClientError(err)
}

func (a *App) connections() *Connections {
	if a.shared != nil {
		return a.shared
	}
	return &a.own
}

// ClientError marks a client error as a usage error if the input caused it, or adds a hint if a server is unavailable.
func ClientError(err error) error {
	switch {
	case errors.Is(err, memory.ErrInvalid):
		return BadUsage(err)
	case errors.Is(err, memory.ErrUnavailable):
		return NotUp(err)
	}
	return err
}

// NotUp adds a hint if a server can't be reached. A server that refuses a request is up.
func NotUp(err error) error {
	switch {
	case errors.Is(err, settings.ErrInvalid):
		return BadUsage(err)
	case clickhouse.Refused(err), errors.Is(err, settings.ErrRefused):
		return err
	}
	return fmt.Errorf("%w\nIs it up? Start everything with: go run ./deploy/local up", err)
}

// waitLogger returns a logger. In an interactive run it reports which server the program is waiting for.
func (a *App) waitLogger() (*slog.Logger, error) {
	logger, err := service.NewLogger(a.Cfg)
	if err != nil {
		return nil, BadUsage(err)
	}
	if !a.Interactive {
		return logger, nil
	}
	return slog.New(spans.Logged(slog.NewTextHandler(a.ErrOut, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: service.LogReadable}))), nil
}

// StartAll is the command that starts all servers.
const StartAll = "start everything with: go run ./deploy/local up"

// AnswerPatience is how long a command waits for an answer before it prints a notice.
const AnswerPatience = 10 * time.Second

// Send sends the update to its writer and waits for the result. Invalid input, and failures of the types in mistake, are
// usage errors.
func (a *App) Send(ctx context.Context, u boundary.Update, result any, mistake ...string) error {
	temporalClient, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	waits := time.AfterFunc(AnswerPatience, func() {
		_, _ = fmt.Fprintln(a.ErrOut, "no answer yet; is a worker running? starter doctor says")
	})
	err = u.Send(ctx, temporalClient, result)
	if a.key != "" && passing(err) {
		// Temporal answers an equal update with the failure of the first one, for as long as it keeps that.
		u.ID = uuid.NewString()
		err = u.Send(ctx, temporalClient, result)
	}
	waits.Stop()
	if ctx.Err() != nil {
		return fmt.Errorf("stopped waiting for an answer: it may still be done, as soon as a worker runs: %w", err)
	}
	var application *temporal.ApplicationError
	if errors.As(err, &application) {
		err = errors.New(application.Message())
		switch application.Type() {
		case schema.ErrorTaskNotFound, schema.ErrorEntryNotFound, schema.ErrorFactNotFound, schema.ErrorVersionNotFound:
			err = missingError{err}
		case schema.ErrorTaskRefused, schema.ErrorFactRefused, schema.ErrorGraduationRefused, schema.ErrorFactStale:
			err = conflictError{err}
		}
		if slices.Contains(append(mistake, schema.ErrorInvalidInput), application.Type()) {
			return BadUsage(err)
		}
	}
	return err
}

// passing reports whether an update failed for a reason that may be gone: it was not refused.
func passing(err error) bool {
	var application *temporal.ApplicationError
	return errors.As(err, &application) && !slices.Contains([]string{
		schema.ErrorInvalidInput, schema.ErrorTaskNotFound, schema.ErrorEntryNotFound, schema.ErrorFactNotFound, schema.ErrorVersionNotFound,
		schema.ErrorTaskRefused, schema.ErrorFactRefused, schema.ErrorFactStale, schema.ErrorGraduationRefused, schema.ErrorErased,
	}, application.Type())
}

// Actor names who runs the command, for histories: the caller of a call, or the user of the process.
func (a *App) Actor() string {
	if a.by != "" {
		return a.by
	}
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "cli"
	}
	return "cli:" + u.Username
}
