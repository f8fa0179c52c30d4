package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/schema"
)

// commandGroup is a group of commands in the help of the program. topic is the page that explains them.
type commandGroup struct {
	title, topic, summary string
	commands              func(a *app) []*cobra.Command
	// leaves are the commands that run.
	leaves []*cobra.Command
}

// groups returns all commands, in the order of the help.
func groups() []commandGroup {
	return []commandGroup{
		{title: "Feed", topic: "agents", summary: "turn sessions into memory", commands: feedCommands},
		{title: "Recall", topic: "search", summary: "find memories, with their evidence", commands: func(a *app) []*cobra.Command {
			return append(recallCommands(a), mcpCommands(a)...)
		}},
		{title: "Facts", topic: "facts", summary: "facts about a user, and the profile", commands: factCommands},
		{title: "Tasks", topic: "tasks", summary: "tasks and their blockers", commands: taskCommands},
		{title: "Dreams", topic: "tiers-and-dreams", summary: "consolidate core memory, by night", commands: dreamCommands},
		{title: "Truth", topic: "graduation", summary: "contradictions, proposals, decisions", commands: truthCommands},
		{title: "Builds", topic: "builds", summary: "follow, retry and compare builds", commands: buildCommands},
		{title: "Privacy", topic: "privacy", summary: "erase data, read originals", commands: privacyCommands},
		{title: "Operation", topic: "operating", summary: "check and repair the servers", commands: operationCommands},
		{title: "Evaluation", topic: "evaluation", summary: "measure the search", commands: evaluationCommands},
		{title: "Hooks", topic: "agents", summary: "connect Claude Code and Codex", commands: hookCommands},
		{title: "Reference", topic: "events", summary: "event types, completion, manual pages", commands: referenceCommands},
	}
}

// program runs the command or the hook that the arguments name, and returns the exit code.
func program(ctx context.Context, a *app, args []string) int {
	if isHook(args) {
		return hookMain(ctx, a, args)
	}
	a.groups = groups()
	return a.main(ctx, args)
}

// rootExamples are shown in the help of the program.
const rootExamples = "starter process ~/.claude/projects --project demo\nstarter search 'why was a customer charged twice?' --project demo"

// feedCommands returns the commands of the group.
func feedCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.processCommand(), a.enqueueCommand(), with(a.queueCommand(), repeated(a.queueCommand(), "show"), a.queueFlushCommand()),
		a.watchCommand(), a.sessionsCommand(), a.parent("session", "show a session, and its originals", a.sessionShowCommand()),
	}
}

// recallCommands returns the commands of the group, but mcp.
func recallCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.searchCommand(),
		a.parent("entry", "show, confirm, correct and retire memories", a.entryShowCommand(), a.entryCorrectCommand(),
			a.entryConfirmCommand(), a.entryRetireCommand(), a.entryRestoreCommand()),
		a.contextCommand(), a.healthCommand(),
	}
}

// mcpCommands returns the command mcp.
func mcpCommands(a *app) []*cobra.Command { return []*cobra.Command{a.mcpCommand()} }

// factCommands returns the commands of the group.
func factCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		with(a.factsCommand(), repeated(a.factsCommand(), "list"), a.factsShowCommand(), a.factsAddCommand(), a.factsUpdateCommand(),
			a.factsDeleteCommand(), a.factsHistoryCommand(), a.factsExportCommand(), a.factsImportCommand(), a.factsClearCommand()),
		a.parent("profile", "show and change the profile of a user: "+strings.Join(schema.ProfileSections(), ", "),
			a.profileShowCommand(), a.profileSetCommand(), a.profileClearCommand()),
	}
}

// taskCommands returns the commands of the group.
func taskCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.tasksCommand(), a.blockedCommand(),
		a.parent("task", "show and change tasks", a.taskShowCommand(), a.taskSetCommand(), a.taskConfirmCommand(), a.taskMergeCommand()),
		a.parent("conditions", "list conditions: blockers of tasks in words, without an address", a.conditionsResolvedCommand()),
		a.parent("condition", "change conditions: blockers of tasks in words, without an address", a.conditionResolveCommand()),
		a.parent("artifact", "change artifacts: blockers of tasks with an address, such as a pull request", a.artifactCloseCommand()),
	}
}

// dreamCommands returns the commands of the group.
func dreamCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		with(a.dreamCommand(), a.dreamShowCommand(), a.dreamListCommand()),
		a.parent("memory", "show, compare and restore core memory", a.memoryShowCommand(), a.memoryHistoryCommand(),
			a.memoryDiffCommand(), a.memoryRestoreCommand()),
		a.parent("schedule", "create and watch the schedules of nightly dreams; a single one needs no name", a.scheduleApplyCommand(),
			a.scheduleListCommand(), a.scheduleShowCommand(), a.schedulePauseCommand(), a.scheduleResumeCommand(),
			a.scheduleTriggerCommand(), a.scheduleBackfillCommand(), a.scheduleDeleteCommand()),
	}
}

// truthCommands returns the commands of the group.
func truthCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.graduateCommand(),
		with(a.conflictsCommand(), repeated(a.conflictsCommand(), "list"), a.conflictsShowCommand(), a.conflictsFindCommand(),
			a.conflictsResolveCommand()),
		with(a.proposalsCommand(), repeated(a.proposalsCommand(), "list"), a.proposalsAcceptCommand(), a.proposalsRejectCommand()),
		with(a.decisionsCommand(), repeated(a.decisionsCommand(), "list"), a.decisionsShowCommand(), a.decisionsRecordCommand()),
		a.verifyCommand(), a.realignCommand(),
	}
}

// buildCommands returns the commands of the group.
func buildCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.parent("builds", "list, show, compare, retry and replay builds: each run over a session that found something to do",
			a.buildsListCommand(), a.buildsShowCommand(), a.buildsStepsCommand(), a.buildsRetryCommand(), a.buildsReplayCommand(),
			a.buildsDiffCommand()),
		a.backfillCommand(),
	}
}

// privacyCommands returns the commands of the group.
func privacyCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		with(a.forgetCommand(), a.forgetListCommand(), a.forgetLiftCommand()),
		a.parent("session", "", a.sessionRawCommand()), a.codecServerCommand(),
	}
}

// operationCommands returns the commands of the group.
func operationCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.doctorCommand(), a.parent("config", "show the settings", a.configShowCommand()), a.rebuildCommand(),
		a.parent("embedder", "show the embedder of searches", a.embedderStatusCommand()), a.reconcileCommand(),
	}
}

// evaluationCommands returns the commands of the group.
func evaluationCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.parent("eval", "measure retrieval by questions with known answers", a.evalRetrievalCommand(), a.evalImportCommand()),
	}
}

// hookCommands returns the commands of the group.
func hookCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.parent("hook", "connect agents: they enqueue their sessions and get memories", a.hookClaudeCodeCommand(), a.hookCodexCommand(),
			a.hookInstallCommand(), a.hookRemoveCommand()),
	}
}

// referenceCommands returns the commands of the group.
func referenceCommands(a *app) []*cobra.Command {
	return []*cobra.Command{
		a.parent("events", "list the types of events in the log", a.eventTypesCommand()), a.completionCommand(), a.manCommand(),
	}
}
