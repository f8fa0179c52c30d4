// Package hooks has the commands of agents' hooks.
package hooks

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"axiommind/activities/text"
	"axiommind/starter/command"
	"axiommind/starter/hook"
	"axiommind/starter/hook/answer"
)

// Commands returns the commands of the group.
func Commands(a *command.App) []*cobra.Command {
	return []*cobra.Command{
		a.Parent("hook", "connect agents: they enqueue their sessions and get memories", hookClaudeCodeCommand(a), hookCodexCommand(a),
			hookInstallCommand(a), hookRemoveCommand(a)),
	}
}

// Main runs a hook of an agent. It bypasses the common setup of the other commands: an agent
// must see neither their messages nor their exit codes. Claude Code interprets exit code 2 as an instruction to continue, or
// to drop the user's input.
func Main(ctx context.Context, a *command.App, args []string) int {
	errOut := &text.Writer{To: a.ErrOut}
	defer func() { _ = errOut.Flush() }()
	p := hook.Program{In: a.In, Out: a.Out, ErrOut: errOut, Getenv: a.Getenv, Answer: answer.Remembered}
	return p.Main(ctx, "starter hook", args[1:])
}

// IsHook reports whether the arguments call a hook of an agent.
func IsHook(args []string) bool {
	return len(args) > 1 && args[0] == "hook" && slices.Contains(hook.Agents(), args[1]) && !wantsHelp(args)
}

func wantsHelp(args []string) bool {
	return slices.ContainsFunc(args, func(s string) bool { return s == "-h" || s == "--help" })
}

const hookDetails = `The event is JSON on the input. Nothing is printed but an answer, and the exit code is 0: errors are in hook.log in the
state directory (~/.local/state/axiommind). Sessions that Temporal can't take now are kept there and delivered later. axhook
and axcontext do the same and start faster; hook install uses them if they are next to starter or on the PATH.`

// hookCommand completes the command of an agent's hook, for the help, the manual and completion.
func hookCommand(a *command.App, agent string, cmd *cobra.Command) *cobra.Command {
	o := &hook.Options{Kind: agent}
	o.Flags(cmd.Flags())
	o.ServerFlags(cmd.Flags())
	return a.Offline(cmd, func(ctx context.Context, _ []string) error {
		p := hook.Program{In: a.In, Out: a.Exact, ErrOut: a.ErrOut, Getenv: a.Getenv, Answer: answer.Remembered}
		p.Run(ctx, *o)
		return nil
	})
}
