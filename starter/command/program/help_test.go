package program_test

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/help"
	"axiommind/worker/service"
)

func TestHelpOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {}, {"help"}, {"-h"}, {"--help"}, {"help", "help", "-h"}} {
		o := commandtest.Offline(args...)
		require.Equal(t, command.ExitOK, o.Code, o)
		require.Empty(t, o.Err)
		if len(args) > 1 {
			continue
		}
		for _, g := range tree(t).Groups {
			require.Regexp(t, "(?m)^  "+g.Title+" .* "+strings.Join(g.Words(), ", ")+"$", o.Out)
		}
		for _, topic := range help.Topics() {
			require.Contains(t, o.Out, topic.Name)
		}
		require.Less(t, strings.Count(o.Out, "\n"), 40, "a screen")
		require.Contains(t, o.Out, "Exit codes")
		require.NotContains(t, o.Out, "\t")
	}
}

// Every command is in the list of all commands. An alias is on the line of its command.
func TestHelpCommands(t *testing.T) {
	t.Parallel()
	o := commandtest.Offline("help", "commands")
	require.Equal(t, command.ExitOK, o.Code, o)
	for _, c := range commandtest.Commands() {
		require.Regexp(t, `(?m)^  (.*, )?`+regexp.QuoteMeta(strings.TrimPrefix(command.UsageLine(c), "starter "))+`[, ].*`+regexp.QuoteMeta(c.Short)+`$`, o.Out)
	}
	require.Contains(t, o.Out, "\n  queue, queue show ")
	require.Less(t, strings.Count(o.Out, "\n"), len(commandtest.Commands())+3*len(program.Groups()))
}

// A topic is printed unchanged if the output is no terminal. The section of its commands names it.
func TestHelpTopics(t *testing.T) {
	t.Parallel()
	for _, topic := range help.Topics() {
		o := commandtest.Offline("help", topic.Name)
		require.Equal(t, command.ExitOK, o.Code, o)
		require.Equal(t, topic.Text, o.Out)
		require.Contains(t, commandtest.Offline("__complete", "help", topic.Name[:min(4, len(topic.Name))]).Out, topic.Name+"\t")
	}
	for _, g := range program.Groups() {
		_, ok := help.Find(g.Topic)
		require.True(t, ok, "%s: no topic %s", g.Title, g.Topic)
	}
	o := commandtest.Offline("__complete", "help", "task")
	require.Equal(t, 1, strings.Count(o.Out, "tasks\t"), o.Out)
	require.Contains(t, o.Out, "task\t")
}

// tree returns a program with its tree of commands.
func tree(t *testing.T) *command.App {
	t.Helper()
	a := &command.App{Groups: program.Groups()}
	a.Tree()
	return a
}

func isCommand(name string) bool {
	return slices.ContainsFunc(commandtest.Commands(), func(c *cobra.Command) bool { return command.Path(c) == name })
}

// A command may have subcommands: all of them are found, shown in its help and completed, and other words are refused.
func TestCommandWithOthersBelow(t *testing.T) {
	t.Parallel()
	ran := ""
	leaf := func(a *command.App, path, name string) *cobra.Command {
		cmd := &cobra.Command{Use: name, Short: "test " + path}
		cmd.Flags().Bool("dry-run", false, "only look")
		return a.Offline(cmd, func(context.Context, []string) error {
			ran = path
			return nil
		})
	}
	run := func(words string) (string, error) {
		var out bytes.Buffer
		a := &command.App{Out: &out, Exact: &out, ErrOut: &out, Output: command.OutputText}
		a.Groups = []command.Group{{Title: "Memory", Commands: func(a *command.App) []*cobra.Command {
			return []*cobra.Command{command.With(leaf(a, "dream", "dream"), leaf(a, "dream show", "show"), leaf(a, "dream list", "list"))}
		}}}
		root := a.Tree()
		ran = ""
		root.SetArgs(strings.Fields(words))
		root.SetOut(&out)
		root.SetErr(&out)
		err := root.Execute()
		return out.String(), err
	}
	for words, want := range map[string]string{"dream": "dream", "dream --dry-run": "dream", "dream show": "dream show", "dream list --dry-run": "dream list"} {
		_, err := run(words)
		require.NoError(t, err, words)
		require.Equal(t, want, ran)
	}
	_, err := run("dream shwo")
	require.ErrorContains(t, err, `there is no command "dream shwo" (did you mean show?); the commands of dream are show, list`)
	require.Empty(t, ran)
	for _, words := range []string{"dream -h", "help dream"} {
		out, err := run(words)
		require.NoError(t, err)
		require.Contains(t, out, "Test dream.\n\nUsage: starter dream [flags]\n\nCommands:\n  dream show                         test dream show\n  dream list                         test dream list\n")
		require.Contains(t, out, "--dry-run")
	}
	out, err := run("__complete dream s")
	require.NoError(t, err)
	require.Contains(t, out, "show\ttest dream show\n")
}

// Each command and each group of commands has a help, in both spellings.
func TestHelpOfEachCommand(t *testing.T) {
	t.Parallel()
	for _, c := range commandtest.Commands() {
		words := strings.Fields(command.Path(c))
		o := commandtest.Offline(append(words, "--help")...)
		require.Equal(t, command.ExitOK, o.Code, command.Path(c))
		require.Empty(t, o.Err, command.Path(c))
		if _, topic := help.Find(command.Path(c)); !topic {
			require.Equal(t, o, commandtest.Offline(append([]string{"help"}, words...)...))
		}
		require.True(t, strings.HasPrefix(o.Out, command.Sentence(c.Short)+"\n\nUsage: "+command.UsageLine(c)+" [flags]\n"), o.Out)
		if own, settings := strings.Index(o.Out, "--output"), strings.Index(o.Out, "Settings, "); settings >= 0 {
			require.Less(t, own, settings, "own flags come first")
			require.Equal(t, 1, strings.Count(o.Out, "--connect-timeout"), "each flag is told once")
		}
		if len(words) == 1 {
			continue
		}
		group := commandtest.Offline(words[0], "-h")
		require.Contains(t, group.Out, "  "+strings.TrimPrefix(command.UsageLine(c), "starter ")+" ")
		if isCommand(words[0]) {
			continue
		}
		require.Equal(t, group, commandtest.Offline(words[0]))
		require.Equal(t, command.ExitOK, group.Code, group)
		if _, topic := help.Find(words[0]); !topic {
			require.Equal(t, group, commandtest.Offline("help", words[0]))
		}
		require.Contains(t, group.Out, "Usage: starter "+words[0]+" COMMAND")
		require.NotContains(t, group.Out, "starter search", "of its own commands alone")
	}
	require.Contains(t, commandtest.Offline("doctor", "-h").Out, "(default 3s)")
	require.Contains(t, commandtest.Offline("tasks", "-h").Out, "(default 10s)")
}

// No command is defined twice, and the examples are valid.
func TestTablesOfCommands(t *testing.T) {
	t.Parallel()
	names := map[string]bool{"": true}
	root := (&command.App{Groups: program.Groups()}).Tree()
	for c := range command.Leaves(root) {
		require.False(t, names[command.Path(c)], "%s is there twice", command.Path(c))
		names[command.Path(c)] = true
		require.NotEmpty(t, c.Parent().Short, "say what %s is about", c.Parent().CommandPath())
	}
	for _, c := range append(commandtest.Commands(), root) {
		for line := range strings.Lines(c.Example) {
			_, line, found := strings.Cut(strings.TrimSpace(line), "starter ")
			require.True(t, found)
			root := (&command.App{Groups: program.Groups()}).Tree()
			c, rest, err := root.Find(strings.Fields(line))
			require.NoError(t, err, line)
			require.True(t, isCommand(command.Path(c)), line)
			require.NoError(t, c.ParseFlags(rest), line)
		}
	}
}

// An unknown command is refused with suggestions before any server is contacted.
func TestUnknownCommands(t *testing.T) {
	t.Parallel()
	for given, says := range map[string]string{
		"remember me":             `there is no command "remember"; run starter help`,
		"tsak":                    `there is no command "tsak" (did you mean task?)`,
		"serach x --project p":    `there is no command "serach" (did you mean search?)`,
		"list":                    `there is no command "list" (did you mean facts list or dream list or schedule list or conflicts list or proposals list or decisions list or builds list or forget list?)`,
		"task-set 1":              `there is no command "task-set" (did you mean task set?)`,
		"task":                    "",
		"task sett 1":             `there is no command "task sett" (did you mean set?); the commands of task are show, set, confirm, merge`,
		"builds nothing":          `there is no command "builds nothing"; the commands of builds are list, show, steps, days, batches, retry, replay, diff`,
		"help task sett":          `there is no command "task sett" (did you mean set?)`,
		"help configuratio":       `there is no command "configuratio" (did you mean configuration?)`,
		"help nothing":            `there is no command "nothing"; run starter help`,
		"tasks --projct p":        "unknown flag: --projct (did you mean --project?); see starter tasks -h",
		"tasks -x":                "unknown shorthand flag: 'x' in -x",
		"tasks x":                 "tasks takes no arguments, not 1: starter tasks",
		"task show":               "task show takes 1 argument, not 0: starter task show TASK",
		"task merge a":            "task merge takes 2 arguments, not 1: starter task merge TASK INTO",
		"search":                  "search takes at least 1 argument: starter search TEXT…",
		"--nonsense":              "unknown flag: --nonsense; see starter -h",
		"task --nonsense show x":  "unknown flag: --nonsense",
		"tasks --output xml":      `--output "xml": want one of text, json`,
		"tasks --limit x":         `--limit "x": want a whole number`,
		"tasks --connect-timeout": "flag needs an argument: --connect-timeout",
		"tasks --embedder word":   `--embedder "word": want one of hash, local, gemini, openai`,
		"tasks --log-level word":  "word",
	} {
		o := commandtest.Offline(strings.Fields(given)...)
		if says == "" {
			require.Equal(t, command.ExitOK, o.Code, o)
			continue
		}
		require.Equal(t, command.ExitUsage, o.Code, "%s: %s", given, o)
		require.Empty(t, o.Out, given)
		require.Contains(t, o.Err, says, given)
		require.True(t, strings.HasPrefix(o.Err, "starter: "), o.Err)
		require.Equal(t, 1, strings.Count(o.Err, "\n"), "one message, all ours: %s", o.Err)
	}
}

// Flags may precede the command.
func TestFlagsBeforeTheCommand(t *testing.T) {
	t.Parallel()
	o := commandtest.Offline("--output", "xml", "task", "show", "x")
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, `--output "xml"`)
}

func TestVersion(t *testing.T) {
	t.Parallel()
	o := commandtest.Offline("--version")
	require.Equal(t, command.ExitOK, o.Code)
	require.Equal(t, "starter "+service.Version()+"\n", o.Out)
}

func TestCommandTakes(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]struct {
		least, most int
		words       []string
	}{
		"":            {0, 0, []string{""}},
		"TASK":        {1, 1, []string{"TASK", ""}},
		"TASK INTO":   {2, 2, []string{"TASK", "INTO", ""}},
		"[TASK…]":     {0, -1, []string{"TASK", "TASK", "TASK"}},
		"TEXT…":       {1, -1, []string{"TEXT", "TEXT"}},
		"DIR [NAME…]": {1, -1, []string{"DIR", "NAME", "NAME"}},
	} {
		c := &cobra.Command{Use: "command " + arguments}
		least, most := command.Takes(c)
		require.Equal(t, []int{want.least, want.most}, []int{least, most}, arguments)
		for i, word := range want.words {
			require.Equal(t, word, command.Argument(c, i), arguments)
		}
	}
}

// Each command is named by a topic, so that a newcomer finds it.
func TestTopicsNameCommands(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, topic := range help.Topics() {
		text.WriteString(topic.Text + "\n")
	}
	for _, c := range commandtest.Commands() {
		named := regexp.MustCompile("(starter |and: |`)" + regexp.QuoteMeta(command.Path(c)) + `\b`)
		require.True(t, named.MatchString(text.String()), "name %s in a topic of starter/help", command.Path(c))
	}
}
