package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"axiommind/activities/text"
	"axiommind/starter/hook"
	"axiommind/starter/hook/answer"
)

// hookMain runs a hook of an agent. It bypasses the common setup of the other commands: an agent
// must see neither their messages nor their exit codes. Claude Code interprets exit code 2 as an instruction to continue, or
// to drop the user's input.
func hookMain(ctx context.Context, a *app, args []string) int {
	errOut := &text.Writer{To: a.errOut}
	defer func() { _ = errOut.Flush() }()
	p := hook.Program{In: a.in, Out: a.out, ErrOut: errOut, Getenv: a.getenv, Answer: answer.Remembered}
	return p.Main(ctx, "starter hook", args[1:])
}

// isHook reports whether the arguments call a hook of an agent.
func isHook(args []string) bool {
	return len(args) > 1 && args[0] == "hook" && slices.Contains(hook.Agents(), args[1]) && !wantsHelp(args)
}

func wantsHelp(args []string) bool {
	return slices.ContainsFunc(args, func(s string) bool { return s == "-h" || s == "--help" })
}

const hookDetails = `The event is JSON on the input. Nothing is printed but an answer, and the exit code is 0: errors are in hook.log in the
state directory (~/.local/state/axiommind). Sessions that Temporal can't take now are kept there and delivered later. axhook
and axcontext do the same and start faster; hook install uses them if they are next to starter or on the PATH.`

func (a *app) hookClaudeCodeCommand() *cobra.Command {
	return a.hookCommand(hook.ClaudeCode, &cobra.Command{
		Use: "claude-code", Short: "run by Claude Code: enqueue its transcript, or answer with memories",
		Long: hookDetails,
	})
}

func (a *app) hookCodexCommand() *cobra.Command {
	return a.hookCommand(hook.Codex, &cobra.Command{
		Use: "codex [EVENT]", Short: "run by Codex: enqueue its transcript, or answer with memories",
		Long: hookDetails,
	})
}

// hookCommand completes the command of an agent's hook, for the help, the manual and completion.
func (a *app) hookCommand(agent string, cmd *cobra.Command) *cobra.Command {
	o := &hook.Options{Kind: agent}
	o.Flags(cmd.Flags())
	o.ServerFlags(cmd.Flags())
	return a.offline(cmd, func(ctx context.Context, _ []string) error {
		p := hook.Program{In: a.in, Out: a.exact, ErrOut: a.errOut, Getenv: a.getenv, Answer: answer.Remembered}
		p.Run(ctx, *o)
		return nil
	})
}
