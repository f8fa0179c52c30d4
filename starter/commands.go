package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// command is one verb of the command line. The words of its arguments say how many it takes ("TASK…" is one or
// more, "[TASK…]" any number), and how each is completed (see [argumentValues]).
type command struct {
	name, arguments, summary string
	// flags adds the command's own flags and returns what runs it with the remaining arguments.
	flags func(a *app, f *pflag.FlagSet) func(ctx context.Context, args []string) error
}

// section is a part of the help.
type section struct {
	title string
	// offline commands ask no server and take no settings.
	offline  bool
	commands []command
}

// sections are all commands, in the order of the help.
var sections = []section{
	{title: "Memory", commands: []command{
		{"process", "FILE|DIR|-", "turn transcripts into memory", (*app).processCommand},
		{"search", "TEXT…", "find memories, with their evidence", (*app).searchCommand},
		{"entry show", "ENTRY", "show a memory and its evidence in context", (*app).entryShowCommand},
		{"facts", "", "list what is remembered of a user", (*app).factsCommand},
		{"context", "", "print what is remembered for a prompt, within a token budget", (*app).contextCommand},
	}},
	{title: "Tasks", commands: []command{
		{"tasks", "", "list tasks", (*app).tasksCommand},
		{"blocked", "", "list blocked tasks and what they wait for", (*app).blockedCommand},
		{"task show", "TASK", "show a task, its blockers and its history with evidence", (*app).taskShowCommand},
		{"task set", "TASK", "change a task", (*app).taskSetCommand},
		{"task confirm", "[TASK…]", "close tasks that are reported done", (*app).taskConfirmCommand},
		{"task merge", "TASK INTO", "make a task part of another one", (*app).taskMergeCommand},
		{"conditions resolved", "", "list what conditions turned out to be", (*app).conditionsResolvedCommand},
		{"condition resolve", "CONDITION TARGET", "say what a condition turned out to be", (*app).conditionResolveCommand},
		{"artifact close", "ARTIFACT", "say that an artifact is done with", (*app).artifactCloseCommand},
	}},
	{title: "Operation", commands: []command{
		{"builds list", "", "list the latest builds", (*app).buildsListCommand},
		{"builds show", "BUILD", "show a build, its steps and what failed", (*app).buildsShowCommand},
		{"verify", "", "check every stored span against the log again", (*app).verifyCommand},
		{"realign", "", "judge anew, by today's rule of proof, what an older one has judged", (*app).realignCommand},
		{"rebuild", "[PROJECTION…]", "make projections anew from the log: all of them, or those named", (*app).rebuildCommand},
		{"reconcile", "", "compare Weaviate with the log and repair what has drifted", (*app).reconcileCommand},
		{"doctor", "", "check every server and say how to mend it", (*app).doctorCommand},
	}},
	{title: "Reference", offline: true, commands: []command{
		{"events types", "", "list the types of events that the log holds", (*app).eventTypesCommand},
		{"completion", "SHELL", "print the script that teaches a shell to complete the command line", (*app).completionCommand},
		{"man", "DIR", "write the manual pages into a directory", (*app).manCommand},
	}},
}

// parents says what the commands of two words are about, by their first word.
var parents = map[string]string{
	"entry":      "show memories",
	"task":       "show and change tasks",
	"conditions": "list conditions: what tasks wait for that is no task and has no address",
	"condition":  "change conditions: what tasks wait for that is no task and has no address",
	"artifact":   "change artifacts: what tasks wait for that has an address, such as a pull request",
	"events":     "tell about the events of the log",
	"builds":     "list and show builds: each run over a session that found something to do",
}

// examples are shown in the help of the command, or of the commands that begin with the word.
var examples = map[string]string{
	"":                  "starter process ~/.claude/projects --project demo\nstarter search 'why was a customer charged twice?' --project demo",
	"process":           "starter process ~/.claude/projects\nstarter process session.jsonl --project demo --user ann\nagent | starter process - --session today",
	"search":            "starter search which database holds the events --project demo\nstarter search retry --type decision --explain",
	"entry show":        "starter entry show 04a5ad1b --project demo",
	"tasks":             "starter tasks --status blocked\nstarter tasks --as-of 2026-11-01",
	"task set":          "starter task set 0a1b2c3d --status done --reason 'merged on Friday'\nstarter task set 0a1b2c3d --block PROJ-7 --block 'the legal review'",
	"task confirm":      "starter task confirm 0a1b2c3d 4e5f6071\nstarter task confirm --all",
	"condition resolve": "starter condition resolve 0a1b2c3d PROJ-7",
	"artifact close":    "starter artifact close https://git.example.com/shop/pulls/7",
	"rebuild":           "starter rebuild\nstarter rebuild entries tasks --verify",
	"completion":        "starter completion bash",
	"man":               "starter man ~/.local/share/man/man1",
	"builds list":       "starter builds list --status failed",
}

// details are shown in the help below the usage.
var details = map[string]string{
	"completion": installCompletion,
}

// all lists the commands in the order of the help.
func all() []command {
	var commands []command
	for _, s := range sections {
		commands = append(commands, s.commands...)
	}
	return commands
}

// usage is how the command is called.
func (c *command) usage() string { return strings.TrimSpace(c.name + " " + c.arguments) }

// takes says how many arguments the command takes; most is -1 where there is no bound.
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

// argument is the word for the nth argument, without brackets and dots.
func (c *command) argument(n int) string {
	words := strings.Fields(c.arguments)
	switch _, most := c.takes(); {
	case len(words) == 0, most >= 0 && n >= most:
		return ""
	}
	return strings.Trim(words[min(n, len(words)-1)], "[]…")
}

// ids are the words for arguments that name something by its id.
var ids = []string{"ENTRY", "TASK", "INTO", "CONDITION", "TARGET", "ARTIFACT", "BUILD"}

func isID(word string) bool { return slices.Contains(ids, word) }
