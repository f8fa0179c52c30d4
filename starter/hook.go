package main

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"axiommind/starter/hook"
	"axiommind/starter/hook/answer"
)

// hookMain runs a hook of an agent, if the arguments call one. It goes around what the other commands have in common: an
// agent must see neither their messages nor their exit codes. Claude Code takes a 2 for an order to go on, or to drop what
// the user has entered.
func (a *app) hookMain(ctx context.Context, args []string) (code int, is bool) {
	if len(args) < 2 || args[0] != "hook" || !slices.Contains(hook.Agents(), args[1]) || wantsHelp(args) {
		return 0, false
	}
	p := hook.Program{In: a.in, Out: a.exact, ErrOut: a.errOut, Getenv: a.getenv, Answer: answer.Remembered}
	return p.Main(ctx, "starter hook", args[1:]), true
}

func wantsHelp(args []string) bool {
	return slices.ContainsFunc(args, func(s string) bool { return s == "-h" || s == "--help" })
}

// hookCommand is how the help, the manual and completion know the hooks of an agent.
func hookCommand(agent string) func(*app, *pflag.FlagSet) func(context.Context, []string) error {
	return func(a *app, f *pflag.FlagSet) func(context.Context, []string) error {
		o := &hook.Options{Kind: agent}
		o.Flags(f)
		o.ServerFlags(f)
		return func(ctx context.Context, _ []string) error {
			p := hook.Program{In: a.in, Out: a.exact, ErrOut: a.errOut, Getenv: a.getenv, Answer: answer.Remembered}
			p.Run(ctx, *o)
			return nil
		}
	}
}
