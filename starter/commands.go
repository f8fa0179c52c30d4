package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"axiommind/schema"
	"axiommind/starter/hook"
)

// command is one verb of the command line. The words of its arguments say how many it takes ("TASK…" is one or
// more, "[TASK…]" any number), and how each is completed (see [argumentValues]).
type command struct {
	name, arguments, summary string
	// flags adds the command's own flags and returns what runs it with the remaining arguments.
	flags func(a *app, f *pflag.FlagSet) func(ctx context.Context, args []string) error
}

// section is a group of commands in the help.
type section struct {
	// title and summary are its line in the help of the program; topic is the page that explains it.
	title, topic, summary string
	// offline commands ask no server and take no settings.
	offline  bool
	commands []command
}

// sections are all commands, in the order of the help.
var sections = []section{
	{title: "Feed", topic: "agents", summary: "turn sessions into memory", commands: []command{
		{"process", "FILE|DIR|-", "turn transcripts into memory", (*app).processCommand},
		{"enqueue", "FILE|-", "give the sessions of a transcript to a queue, and do not wait", (*app).enqueueCommand},
		{"queue", "", "show what waits in a queue, and what became of the last session", (*app).queueCommand},
		{"queue show", "", "show what waits in a queue, and what became of the last session", (*app).queueCommand},
		{"queue flush", "", "process now what waits in a queue", (*app).queueFlushCommand},
		{"watch", "DIR…", "enqueue the sessions of transcripts that are new or have grown, until it is stopped", (*app).watchCommand},
		{"sessions", "", "list sessions, with their messages and tokens", (*app).sessionsCommand},
		{"session show", "SESSION", "show how long a session is by now, and a summary of it so far", (*app).sessionShowCommand},
	}},
	{title: "Recall", topic: "search", summary: "find memories, with their evidence", commands: []command{
		{"search", "TEXT…", "find memories, with their evidence", (*app).searchCommand},
		{"entry show", "ENTRY", "show a memory and its evidence in context", (*app).entryShowCommand},
		{"entry correct", "ENTRY", "say what is right in place of a memory that is wrong", (*app).entryCorrectCommand},
		{"entry confirm", "[ENTRY…]", "say that memories are right: they become certified", (*app).entryConfirmCommand},
		{"entry retire", "ENTRY…", "say that memories are not believed any longer, and why", (*app).entryRetireCommand},
		{"entry restore", "ENTRY…", "say that retired memories are believed again", (*app).entryRestoreCommand},
		{"context", "", "print what is remembered for a prompt, within a token budget", (*app).contextCommand},
		{"mcp", "", "serve the memory of one project and user to agents: the Model Context Protocol", (*app).mcpCommand},
		{"health", "", "count what is proven, contested, superseded and never used, and say how to mend it", (*app).healthCommand},
	}},
	{title: "Facts", topic: "facts", summary: "what is remembered of a user", commands: []command{
		{"facts", "", "list what is remembered of a user", (*app).factsCommand},
		{"facts list", "", "list what is remembered of a user", (*app).factsCommand},
		{"facts show", "FACT", "show a fact and its evidence", (*app).factsShowCommand},
		{"facts add", "TEXT…", "have a fact remembered", (*app).factsAddCommand},
		{"facts update", "FACT", "change what a fact says", (*app).factsUpdateCommand},
		{"facts delete", "FACT…", "have facts forgotten", (*app).factsDeleteCommand},
		{"facts history", "[FACT]", "list what became of facts and the profile, and of what was not remembered and why", (*app).factsHistoryCommand},
		{"facts export", "", "print the facts and the profile as JSON that other tools read", (*app).factsExportCommand},
		{"facts import", "FILE|-", "remember the facts and the profile of such JSON", (*app).factsImportCommand},
		{"facts clear", "", "forget all facts and the profile of a user", (*app).factsClearCommand},
		{"profile show", "", "show what sums up a user", (*app).profileShowCommand},
		{"profile set", "SECTION TEXT…", "say what a section of the profile is to say", (*app).profileSetCommand},
		{"profile clear", "SECTION…", "remove sections of the profile", (*app).profileClearCommand},
	}},
	{title: "Tasks", topic: "tasks", summary: "tasks and what blocks them", commands: []command{
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
	{title: "Dreams", topic: "tiers-and-dreams", summary: "consolidate core memory, by night", commands: []command{
		{"dream", "", "consolidate the daily records into core memory, and show what changed", (*app).dreamCommand},
		{"dream show", "[DREAM]", "show a dream: what it read, added and dropped, and its diary", (*app).dreamShowCommand},
		{"dream list", "", "list dreams, those that were refused included", (*app).dreamListCommand},
		{"memory show", "", "print core memory: MEMORY.md, and where each item comes from", (*app).memoryShowCommand},
		{"memory history", "", "list the versions of core memory", (*app).memoryHistoryCommand},
		{"memory diff", "[FROM] [TO]", "show what a version of core memory changed, and what it dropped and why", (*app).memoryDiffCommand},
		{"memory restore", "VERSION", "make an earlier version of core memory the current one", (*app).memoryRestoreCommand},
		{"schedule apply", "", "dream by night: make a schedule, or change it", (*app).scheduleApplyCommand},
		{"schedule list", "", "list the schedules, their last runs and those that were missed", (*app).scheduleListCommand},
		{"schedule show", "[SCHEDULE]", "show a schedule and its latest runs", (*app).scheduleShowCommand},
		{"schedule pause", "[SCHEDULE]", "start no more runs until it is resumed", (*app).schedulePauseCommand},
		{"schedule resume", "[SCHEDULE]", "start runs again", (*app).scheduleResumeCommand},
		{"schedule trigger", "[SCHEDULE]", "run it now", (*app).scheduleTriggerCommand},
		{"schedule backfill", "[SCHEDULE]", "run it for past nights, one after the other", (*app).scheduleBackfillCommand},
		{"schedule delete", "[SCHEDULE]", "delete a schedule", (*app).scheduleDeleteCommand},
	}},
	{title: "Truth", topic: "graduation", summary: "contradictions, proposals, decisions", commands: []command{
		{"graduate", "", "look now at what is new in a project: what says the same, contradicts or corrects what; and at half-lives", (*app).graduateCommand},
		{"conflicts", "", "list memories that contradict each other", (*app).conflictsCommand},
		{"conflicts list", "", "list memories that contradict each other", (*app).conflictsCommand},
		{"conflicts show", "CONFLICT", "show both sides of a conflict, with their evidence", (*app).conflictsShowCommand},
		{"conflicts find", "", "ask the worker's model which memories contradict each other that the rule can't compare; it costs money", (*app).conflictsFindCommand},
		{"conflicts resolve", "[CONFLICT…]", "say which side of conflicts is right, or that both are", (*app).conflictsResolveCommand},
		{"proposals", "", "list what agents propose to correct or to retire", (*app).proposalsCommand},
		{"proposals list", "", "list what agents propose to correct or to retire", (*app).proposalsCommand},
		{"proposals accept", "PROPOSAL…", "correct or retire memories as proposed", (*app).proposalsAcceptCommand},
		{"proposals reject", "PROPOSAL…", "leave memories as they are", (*app).proposalsRejectCommand},
		{"decisions", "", "list decisions, and those whose grounds do not hold any longer", (*app).decisionsCommand},
		{"decisions list", "", "list decisions, and those whose grounds do not hold any longer", (*app).decisionsCommand},
		{"decisions show", "DECISION", "show a decision and the memories it rests on, with their evidence", (*app).decisionsShowCommand},
		{"decisions record", "TEXT", "record a decision and the verified memories it rests on", (*app).decisionsRecordCommand},
		{"verify", "", "check every stored span against the log again", (*app).verifyCommand},
		{"realign", "", "judge anew, by today's rule of proof, what an older one has judged", (*app).realignCommand},
	}},
	{title: "Builds", topic: "builds", summary: "follow, retry and compare builds", commands: []command{
		{"builds list", "", "list the latest builds", (*app).buildsListCommand},
		{"builds show", "BUILD", "show a build, its steps, what failed and what to do", (*app).buildsShowCommand},
		{"builds steps", "", "show how long the steps of builds, dreams, graduation and rebuilds took", (*app).buildsStepsCommand},
		{"builds retry", "[BUILD…]", "try failed and partial builds again: those named, or all that may succeed now", (*app).buildsRetryCommand},
		{"builds replay", "BUILD", "do a build again from its recorded answers, beside it, and show what differs", (*app).buildsReplayCommand},
		{"builds diff", "BUILD OTHER", "show what two builds of a session have made of it: another model, or another prompt", (*app).buildsDiffCommand},
		{"backfill", "", "extract from sessions of the log with the worker's extractor, where another one did", (*app).backfillCommand},
	}},
	{title: "Privacy", topic: "privacy", summary: "erase data, read originals", commands: []command{
		{"forget", "", "erase a session, a user, a project, or all that holds a text, from every store", (*app).forgetCommand},
		{"forget list", "", "list what was forgotten: what kind of thing, who wanted it, when, and how it ended", (*app).forgetListCommand},
		{"forget lift", "ERASURE", "admit again what was forgotten and is kept out", (*app).forgetLiftCommand},
		{"session raw", "SESSION", "print the messages of a session as they were before redaction, if a worker has kept them", (*app).sessionRawCommand},
		{"codec-server", "", "decrypt what Temporal stores for its web interface", (*app).codecServerCommand},
	}},
	{title: "Operation", topic: "operating", summary: "check and repair the servers", commands: []command{
		{"doctor", "", "check every server and say how to mend it", (*app).doctorCommand},
		{"config show", "", "print the settings, and where each comes from", (*app).configShowCommand},
		{"rebuild", "[PROJECTION…]", "make projections anew from the log while all goes on: all tables, or those named; vectors apart", (*app).rebuildCommand},
		{"embedder status", "", "say which embedder searches use, and how far another one is indexed", (*app).embedderStatusCommand},
		{"reconcile", "", "compare Weaviate with the log and repair what has drifted", (*app).reconcileCommand},
	}},
	{title: "Evaluation", topic: "evaluation", summary: "measure the search", commands: evalCommands},
	{title: "Hooks", topic: "agents", summary: "connect Claude Code and Codex", offline: true, commands: []command{
		{"hook claude-code", "", "what Claude Code calls: enqueue its transcript, or answer with what is remembered", hookCommand(hook.ClaudeCode)},
		{"hook codex", "[EVENT]", "what Codex calls: enqueue its transcript, or answer with what is remembered", hookCommand(hook.Codex)},
		{"hook install", "AGENT", "write the hooks into an agent's settings, after showing the change", (*app).hookInstallCommand},
		{"hook remove", "AGENT", "take the hooks out of an agent's settings again", (*app).hookRemoveCommand},
	}},
	{title: "Reference", topic: "events", summary: "event types, completion, manual pages", offline: true, commands: []command{
		{"events types", "", "list the types of events that the log holds", (*app).eventTypesCommand},
		{"completion", "SHELL", "print the script that teaches a shell to complete the command line", (*app).completionCommand},
		{"man", "DIR", "write the manual pages into a directory", (*app).manCommand},
	}},
}

// parents says what the commands of two words are about, by their first word.
var parents = map[string]string{
	"entry":      "show, confirm and retire memories",
	"config":     "print the settings",
	"embedder":   "say which embedder searches use",
	"profile":    "show and change what sums up a user: " + strings.Join(schema.ProfileSections(), ", "),
	"session":    "show a session, and what is kept of it besides its memory",
	"memory":     "show, compare and restore what is remembered of a user for good",
	"task":       "show and change tasks",
	"conditions": "list conditions: what tasks wait for that is no task and has no address",
	"condition":  "change conditions: what tasks wait for that is no task and has no address",
	"artifact":   "change artifacts: what tasks wait for that has an address, such as a pull request",
	"schedule":   "make and watch the schedules that dream by night; one that is the only one need not be named",
	"hook":       "have agents enqueue what is said to them, and be told what is remembered",
	"events":     "tell about the events of the log",
	"builds":     "list, show, compare, retry and replay builds: each run over a session that found something to do",
}

// examples are shown in the help of the command, or of the commands that begin with the word.
var examples = map[string]string{
	"":                  "starter process ~/.claude/projects --project demo\nstarter search 'why was a customer charged twice?' --project demo",
	"process":           "starter process ~/.claude/projects\nstarter process session.jsonl --project demo --user ann\nagent | starter process - --session today",
	"enqueue":           "starter enqueue session.jsonl --project demo\nagent-turn | starter enqueue - --session today --messages --user ann",
	"queue":             "starter queue\nstarter queue --user ann --agent coder",
	"queue flush":       "starter queue flush\nstarter queue flush --user ann --session today --no-wait",
	"watch":             "starter watch ~/.claude/projects ~/.codex/sessions\nstarter watch ~/agent --project demo --since 7d",
	"search":            "starter search which database holds the events --project demo\nstarter search retry --type decision --explain",
	"dream":             "starter dream\nstarter dream --lookback 7 --dry-run\nstarter dream --user ann --agent coder --force",
	"health":            "starter health\nstarter health --project demo --list unproven\nstarter health --project demo --by scope",
	"entry show":        "starter entry show 04a5ad1b --project demo",
	"entry correct":     "starter entry correct 04a5ad1b --with 'The limit is 8.' --because 'the contract of May'",
	"entry confirm":     "starter entry confirm 04a5ad1b 7c20e9f4 --project demo\nstarter entry confirm --by-model --project demo",
	"entry retire":      "starter entry retire 04a5ad1b --because 'the service was switched off'",
	"graduate":          "starter graduate --project demo\nstarter graduate --project demo --apply",
	"conflicts find":    "starter conflicts find --project demo\nstarter conflicts find --project demo --user ann --limit 20",
	"conflicts resolve": "starter conflicts resolve 0a1b2c3d --keep 04a5ad1b --because 'measured again in May'\nstarter conflicts resolve --keep 04a5ad1b\nstarter conflicts resolve 0a1b2c3d --keep both",
	"proposals":         "starter proposals --project demo\nstarter proposals --project demo --user ann --all",
	"proposals accept":  "starter proposals accept 0a1b2c3d --project demo --because 'the contract of May'",
	"proposals reject":  "starter proposals reject 0a1b2c3d 4e5f6071 --project demo --because 'the limit is right'",
	"decisions record":  "starter decisions record 'Move the event log to ClickHouse' --because-of 04a5ad1b --because-of 7c20e9f4 --confidence 0.9",
	"facts add":         "starter facts add I prefer short answers --category preference --confidence 0.9\nstarter facts add The office is in Porto --user ann --project demo",
	"facts update":      "starter facts update 0a1b2c3d --content 'I prefer tea' --expect-version 12",
	"facts delete":      "starter facts delete 0a1b2c3d --reason 'it was a joke'",
	"facts import":      "starter facts import memory.json --dry-run\nstarter facts export --user ann | starter facts import - --user bob",
	"forget":            "starter forget --session today --project demo\nstarter forget --user ann --yes\nstarter forget --query 'the code of the door' --user ann\nstarter forget --user ann --verify",
	"forget lift":       "starter forget lift 0a1b2c3d --because 'ann is back'",
	"facts clear":       "starter facts clear --user ann\nstarter facts clear --user ann --yes",
	"profile set":       "starter profile set work Builds the payment service with a team of four",
	"memory show":       "starter memory show --user ann > prompt.md\nstarter memory show --version 3 --sources",
	"memory diff":       "starter memory diff\nstarter memory diff 3 7",
	"memory restore":    "starter memory restore 3 --reason 'the dream of Friday merged too much'",
	"mcp":               "starter mcp --project demo\nstarter mcp --project demo --user ann --http 127.0.0.1:7390 --http-token-file token.txt",
	"tasks":             "starter tasks --status blocked\nstarter tasks --as-of 2026-11-01",
	"task set":          "starter task set 0a1b2c3d --status done --reason 'merged on Friday'\nstarter task set 0a1b2c3d --block PROJ-7 --block 'the legal review'",
	"task confirm":      "starter task confirm 0a1b2c3d 4e5f6071\nstarter task confirm --all",
	"condition resolve": "starter condition resolve 0a1b2c3d PROJ-7",
	"artifact close":    "starter artifact close https://git.example.com/shop/pulls/7",
	"schedule apply":    "starter schedule apply --cron '30 3 * * *' --time-zone Europe/Berlin\nstarter schedule apply --user ann --lookback 7",
	"schedule backfill": "starter schedule backfill --from 2026-06-01 --to 2026-06-07",
	"rebuild":           "starter rebuild\nstarter rebuild entries tasks --verify\nstarter rebuild --dry-run\nstarter rebuild vectors",
	"config show":       "starter config show\nstarter config show --clickhouse-dsn http://db.example.com:8123/memory -o json",
	"codec-server":      "starter codec-server --payload-key-file payload.keys --temporal-ui http://127.0.0.1:8233\nstarter codec-server --origin https://temporal.example.com --address :8234 --token-file token.txt",
	"session raw":       "starter session raw today --raw-key-file raw.keys\nstarter session raw today --user ann --message 7 --raw-key-file raw.keys",
	"completion":        "starter completion bash",
	"hook install":      "starter hook install claude-code\nstarter hook install codex --project shop --user ann --yes",
	"hook remove":       "starter hook remove claude-code",
	"man":               "starter man ~/.local/share/man/man1",
	"builds list":       "starter builds list --status failed\nstarter builds list --class passing --since 7d",
	"builds replay":     "starter builds replay 04a5ad1b",
	"builds diff":       "starter builds diff 04a5ad1b 7c20e9f4",
	"backfill":          "starter backfill --since 30d --extractor gemini/gemini-2.5-flash --rate 60\nstarter backfill --project demo --extractor rules/worth-v3 --dry-run",
	"builds retry":      "starter builds retry 04a5ad1b\nstarter builds retry --all-failed --dry-run\nstarter builds retry --all-failed --partial --since 7d\nstarter builds retry --all-failed --class setup",
}

// details are shown in the help below the usage.
var details = map[string]string{
	"completion":       installCompletion,
	"hook claude-code": hookDetails,
	"hook codex":       hookDetails,
	"codec-server": `Enter its address as the codec endpoint in Temporal's web interface, in the browser that runs on the same machine; or
give it to temporal as --codec-endpoint, with --codec-auth "Bearer TOKEN" if there is a token. It speaks no TLS: let a
proxy do that where others than this machine ask.`,
	"enqueue": `The session is processed once the user and agent are quiet. A file is read then: it must still be there. Of standard
input a copy without secrets is kept until then. Sessions that Temporal can't take now are kept, and delivered by the next such
command or by a worker.`,
	"watch": `Sessions are enqueued as by enqueue. A file is read once it has not changed for one look. Links are not followed. What
is known of the files is kept in the state directory, by hashes of their names, for each set of directories, project, user and agent.`,
	"process": `A directory, or a file that holds several sessions, is imported by a workflow, --jobs sessions at a time. It goes
on when starter is stopped or its terminal is closed, and the same command shows it again as long as it runs.
Once it has ended, the same command imports what is new.`,
}

const hookDetails = `The event is JSON on the input. Nothing is printed but an answer, and the exit code is 0: errors are in hook.log in the
state directory (~/.local/state/axiommind). Sessions that Temporal can't take now are kept there and delivered later. axhook and axcontext do
the same and start faster; hook install uses them where they stand beside starter or on the PATH.`

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
var ids = []string{"ENTRY", "TASK", "INTO", "CONDITION", "TARGET", "ARTIFACT", "BUILD", "OTHER", "SCHEDULE", "CONFLICT", "DECISION", "PROPOSAL", "FACT"}

func isID(word string) bool { return slices.Contains(ids, word) }
