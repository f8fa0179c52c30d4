package main

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"axiommind/starter/hook"
	"axiommind/starter/hook/answer"
)

// hookMain runs a hook of an agent if the arguments call one. It bypasses the common setup of the other commands: an agent
// must see neither their messages nor their exit codes. Claude Code interprets exit code 2 as an instruction to continue, or
// to drop the user's input.
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

var hookClaudeCodeCommand = command{
	name: "hook claude-code", flags: hookCommand(hook.ClaudeCode),
	summary: "run by Claude Code: enqueue its transcript, or answer with memories",
	details: hookDetails,
}

var hookCodexCommand = command{
	name: "hook codex", arguments: "[EVENT]", flags: hookCommand(hook.Codex),
	summary: "run by Codex: enqueue its transcript, or answer with memories",
	details: hookDetails,
}

const hookDetails = `The event is JSON on the input. Nothing is printed but an answer, and the exit code is 0: errors are in hook.log in the
state directory (~/.local/state/axiommind). Sessions that Temporal can't take now are kept there and delivered later. axhook
and axcontext do the same and start faster; hook install uses them if they are next to starter or on the PATH.`

// hookCommand describes the hooks of an agent for the help, the manual and completion.
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
