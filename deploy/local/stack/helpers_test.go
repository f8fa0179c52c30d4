package stack_test

import (
	"log/slog"

	"go.temporal.io/sdk/activity"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func activityNamed(name string) activity.RegisterOptions {
	return activity.RegisterOptions{Name: name}
}
