package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"

	"axiommind/activities/spans"
	"axiommind/worker/tracing"
)

// isServer is the annotation of commands that serve others until they are stopped. They have no span: those that they serve do.
const isServer = "server"

// Server marks a command that serves others until it is stopped.
func Server(cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{isServer: "true"}
	return cmd
}

// traced runs the command in a span of its own, if the environment asks for traces.
func (a *App) traced(cmd *cobra.Command, args []string, run func(ctx context.Context, args []string) error) error {
	if a.answer == nil && cmd.Flags().Lookup("config") != nil {
		a.startTracing(cmd.Context())
	}
	if a.Tracing == nil || cmd.Annotations[isServer] != "" {
		return run(cmd.Context(), args)
	}
	ctx, s := a.Tracing.Begin(cmd.Context(), cmd.CommandPath(), trace.SpanKindInternal)
	a.trace = spans.TraceID(ctx)
	err := run(ctx, args)
	spans.End(s, err)
	return err
}

func (a *App) startTracing(ctx context.Context) {
	notice := func(err error) { // Variables for other programs must not stop this one.
		if a.Cfg.LogLevel == "debug" {
			_, _ = fmt.Fprintln(a.ErrOut, "traces:", err)
		}
	}
	var err error
	a.Tracing, err = tracing.Start(ctx, a.Cfg.Telemetry("axiommind-starter", notice))
	if err != nil {
		notice(err)
	}
	a.Cfg.TemporalTraces = a.Tracing.Interceptor()
}
