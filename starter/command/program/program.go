// Package program puts the groups of commands together.
package program

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"axiommind/starter/command"
	"axiommind/starter/command/builds"
	"axiommind/starter/command/dreams"
	"axiommind/starter/command/evaluation"
	"axiommind/starter/command/exchange"
	"axiommind/starter/command/facts"
	"axiommind/starter/command/feed"
	"axiommind/starter/command/hooks"
	"axiommind/starter/command/mcpserver"
	"axiommind/starter/command/operation"
	"axiommind/starter/command/privacy"
	"axiommind/starter/command/recall"
	"axiommind/starter/command/reference"
	"axiommind/starter/command/serve"
	"axiommind/starter/command/tasks"
	"axiommind/starter/command/truth"
	"axiommind/worker/statedir"
)

// Groups returns all commands, in the order of the help.
func Groups() []command.Group {
	return []command.Group{
		{Title: "Feed", Topic: "agents", Summary: "turn sessions into memory", Commands: feed.Commands},
		{Title: "Recall", Topic: "search", Summary: "find memories, with their evidence", Commands: func(a *command.App) []*cobra.Command {
			return slices.Concat(recall.Commands(a), mcpserver.Commands(a), serve.Commands(a))
		}},
		{Title: "Facts", Topic: "facts", Summary: "facts about a user, and the profile", Commands: facts.Commands},
		{Title: "Tasks", Topic: "tasks", Summary: "tasks and their blockers", Commands: tasks.Commands},
		{Title: "Dreams", Topic: "tiers-and-dreams", Summary: "consolidate core memory, by night", Commands: dreams.Commands},
		{Title: "Truth", Topic: "graduation", Summary: "contradictions, proposals, decisions", Commands: truth.Commands},
		{Title: "Builds", Topic: "builds", Summary: "follow, retry and compare builds", Commands: builds.Commands},
		{Title: "Privacy", Topic: "privacy", Summary: "erase data, read originals", Commands: privacy.Commands},
		{Title: "Exchange", Topic: "exchange", Summary: "move memory, back it up, bring it back", Commands: exchange.Commands},
		{Title: "Operation", Topic: "operating", Summary: "check and repair the servers", Commands: operation.Commands},
		{Title: "Evaluation", Topic: "evaluation", Summary: "measure the search", Commands: evaluation.Commands},
		{Title: "Hooks", Topic: "agents", Summary: "connect Claude Code and Codex", Commands: hooks.Commands},
		{Title: "Reference", Topic: "events", Summary: "event types, completion, manual pages", Commands: reference.Commands},
	}
}

// Main runs the command or the hook that the arguments name, and returns the exit code.
func Main(ctx context.Context, a *command.App, args []string) int {
	if hooks.IsHook(args) {
		return hooks.Main(ctx, a, args)
	}
	a.Groups = Groups()
	return a.Main(ctx, args)
}

// Run runs the program with the arguments and the streams of the process, and returns its exit code.
func Run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &command.App{
		In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr, Getenv: os.Getenv,
		Interactive: term.IsTerminal(int(os.Stderr.Fd())), Quiet: 10 * time.Second, Completion: command.CompletionTimeout,
	}
	end, _ := statedir.Of(os.Getenv).Start() // On failure temporary files go to the system's directory.
	defer end()
	return Main(ctx, a, os.Args[1:])
}
