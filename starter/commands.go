package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/schema"
)

// command is one verb of the command line. Its file has all of it: only the list of [sections] names it besides.
type command struct {
	name string
	// arguments say how many the command takes ("TASK…" is one or more, "[TASK…]" any number), and how each is completed
	// (see [argumentValues]).
	arguments string
	// summary is its line in the help, details follow it in its own help, and examples are calls, a line each.
	summary, details, examples string
	// flags adds the command's own flags and returns the function that runs it with the remaining arguments.
	flags func(a *app, f *pflag.FlagSet) func(ctx context.Context, args []string) error
	// repeats is true if another command does the same.
	repeats bool
}

// repeatedAs returns the command under a second name, which shares its line in the help.
func (c command) repeatedAs(name string) command {
	c.name, c.repeats = name, true
	return c
}

// section is a group of commands in the help.
type section struct {
	// title and summary are its line in the help of the program; topic is the page that explains it.
	title, topic, summary string
	// offline commands contact no server and take no settings.
	offline  bool
	commands []command
}

// sections contain all commands, in the order of the help.
var sections = []section{
	{title: "Feed", topic: "agents", summary: "turn sessions into memory", commands: []command{
		processCommand, enqueueCommand, queueCommand, queueCommand.repeatedAs("queue show"), queueFlushCommand,
		watchCommand, sessionsCommand, sessionShowCommand,
	}},
	{title: "Recall", topic: "search", summary: "find memories, with their evidence", commands: []command{
		searchCommand, entryShowCommand, entryCorrectCommand, entryConfirmCommand, entryRetireCommand,
		entryRestoreCommand, contextCommand, mcpCommand, healthCommand,
	}},
	{title: "Facts", topic: "facts", summary: "facts about a user, and the profile", commands: []command{
		factsCommand, factsCommand.repeatedAs("facts list"), factsShowCommand, factsAddCommand, factsUpdateCommand,
		factsDeleteCommand, factsHistoryCommand, factsExportCommand, factsImportCommand, factsClearCommand,
		profileShowCommand, profileSetCommand, profileClearCommand,
	}},
	{title: "Tasks", topic: "tasks", summary: "tasks and their blockers", commands: []command{
		tasksCommand, blockedCommand, taskShowCommand, taskSetCommand, taskConfirmCommand, taskMergeCommand,
		conditionsResolvedCommand, conditionResolveCommand, artifactCloseCommand,
	}},
	{title: "Dreams", topic: "tiers-and-dreams", summary: "consolidate core memory, by night", commands: []command{
		dreamCommand, dreamShowCommand, dreamListCommand, memoryShowCommand, memoryHistoryCommand, memoryDiffCommand,
		memoryRestoreCommand, scheduleApplyCommand, scheduleListCommand, scheduleShowCommand, schedulePauseCommand,
		scheduleResumeCommand, scheduleTriggerCommand, scheduleBackfillCommand, scheduleDeleteCommand,
	}},
	{title: "Truth", topic: "graduation", summary: "contradictions, proposals, decisions", commands: []command{
		graduateCommand, conflictsCommand, conflictsCommand.repeatedAs("conflicts list"), conflictsShowCommand,
		conflictsFindCommand, conflictsResolveCommand, proposalsCommand, proposalsCommand.repeatedAs("proposals list"),
		proposalsAcceptCommand, proposalsRejectCommand, decisionsCommand, decisionsCommand.repeatedAs("decisions list"),
		decisionsShowCommand, decisionsRecordCommand, verifyCommand, realignCommand,
	}},
	{title: "Builds", topic: "builds", summary: "follow, retry and compare builds", commands: []command{
		buildsListCommand, buildsShowCommand, buildsStepsCommand, buildsRetryCommand, buildsReplayCommand,
		buildsDiffCommand, backfillCommand,
	}},
	{title: "Privacy", topic: "privacy", summary: "erase data, read originals", commands: []command{
		forgetCommand, forgetListCommand, forgetLiftCommand, sessionRawCommand, codecServerCommand,
	}},
	{title: "Operation", topic: "operating", summary: "check and repair the servers", commands: []command{
		doctorCommand, configShowCommand, rebuildCommand, embedderStatusCommand, reconcileCommand,
	}},
	{title: "Evaluation", topic: "evaluation", summary: "measure the search", commands: []command{
		evalRetrievalCommand, evalImportCommand,
	}},
	{title: "Hooks", topic: "agents", summary: "connect Claude Code and Codex", offline: true, commands: []command{
		hookClaudeCodeCommand, hookCodexCommand, hookInstallCommand, hookRemoveCommand,
	}},
	{title: "Reference", topic: "events", summary: "event types, completion, manual pages", offline: true, commands: []command{
		eventTypesCommand, completionCommand, manCommand,
	}},
}

// parents are the summaries of groups of commands, by their first word.
var parents = map[string]string{
	"eval":       "measure retrieval by questions with known answers",
	"config":     "show the settings",
	"entry":      "show, confirm, correct and retire memories",
	"embedder":   "show the embedder of searches",
	"profile":    "show and change the profile of a user: " + strings.Join(schema.ProfileSections(), ", "),
	"session":    "show a session, and its originals",
	"memory":     "show, compare and restore core memory",
	"task":       "show and change tasks",
	"conditions": "list conditions: blockers of tasks in words, without an address",
	"condition":  "change conditions: blockers of tasks in words, without an address",
	"artifact":   "change artifacts: blockers of tasks with an address, such as a pull request",
	"schedule":   "create and watch the schedules of nightly dreams; a single one needs no name",
	"hook":       "connect agents: they enqueue their sessions and get memories",
	"events":     "list the types of events in the log",
	"builds":     "list, show, compare, retry and replay builds: each run over a session that found something to do",
}

// rootExamples are shown in the help of the program.
const rootExamples = "starter process ~/.claude/projects --project demo\nstarter search 'why was a customer charged twice?' --project demo"

// all returns the commands in the order of the help.
func all() []command {
	var commands []command
	for _, s := range sections {
		commands = append(commands, s.commands...)
	}
	return commands
}

// usage returns the command with its arguments.
func (c *command) usage() string { return strings.TrimSpace(c.name + " " + c.arguments) }

// takes returns the bounds of the number of arguments. most is -1 if there is no upper bound.
func (c *command) takes() (least, most int) {
	for _, word := range strings.Fields(c.arguments) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		if most++; strings.Contains(word, "…") {
			return least, -1
		}
	}
	return least, most
}

// argument returns the word for the nth argument, without brackets and dots.
func (c *command) argument(n int) string {
	words := strings.Fields(c.arguments)
	switch _, most := c.takes(); {
	case len(words) == 0, most >= 0 && n >= most:
		return ""
	}
	return strings.Trim(words[min(n, len(words)-1)], "[]…")
}

// ids are the words for arguments that are ids.
var ids = []string{"ENTRY", "TASK", "INTO", "CONDITION", "TARGET", "ARTIFACT", "BUILD", "OTHER", "SCHEDULE", "CONFLICT", "DECISION", "PROPOSAL", "FACT"}

func isID(word string) bool { return slices.Contains(ids, word) }
