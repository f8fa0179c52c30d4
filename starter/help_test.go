package main

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"axiommind/starter/help"
	"axiommind/worker/service"
)

// offline runs a command without servers.
func offline(args ...string) output {
	var out, errOut bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errOut: &errOut, getenv: func(string) string { return "" }}
	code := program(context.Background(), a, args)
	return output{code, out.String(), errOut.String()}
}

func TestHelpOfTheProgram(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {}, {"help"}, {"-h"}, {"--help"}, {"help", "help", "-h"}} {
		o := offline(args...)
		require.Equal(t, exitOK, o.code, o)
		require.Empty(t, o.err)
		if len(args) > 1 {
			continue
		}
		for _, g := range tree(t).groups {
			require.Regexp(t, "(?m)^  "+g.title+" .* "+strings.Join(g.words(), ", ")+"$", o.out)
		}
		for _, topic := range help.Topics() {
			require.Contains(t, o.out, topic.Name)
		}
		require.Less(t, strings.Count(o.out, "\n"), 40, "a screen")
		require.Contains(t, o.out, "Exit codes")
		require.NotContains(t, o.out, "\t")
	}
}

// Every command is in the list of all commands. An alias is on the line of its command.
func TestHelpCommands(t *testing.T) {
	t.Parallel()
	o := offline("help", "commands")
	require.Equal(t, exitOK, o.code, o)
	for _, c := range all() {
		require.Regexp(t, `(?m)^  (.*, )?`+regexp.QuoteMeta(strings.TrimPrefix(usageLine(c), "starter "))+`[, ].*`+regexp.QuoteMeta(c.Short)+`$`, o.out)
	}
	require.Contains(t, o.out, "\n  queue, queue show ")
	require.Less(t, strings.Count(o.out, "\n"), len(all())+3*len(groups()))
}

// A topic is printed unchanged if the output is no terminal. The section of its commands names it.
func TestHelpTopics(t *testing.T) {
	t.Parallel()
	for _, topic := range help.Topics() {
		o := offline("help", topic.Name)
		require.Equal(t, exitOK, o.code, o)
		require.Equal(t, topic.Text, o.out)
		require.Contains(t, offline("__complete", "help", topic.Name[:4]).out, topic.Name+"\t")
	}
	for _, g := range groups() {
		_, ok := help.Find(g.topic)
		require.True(t, ok, "%s: no topic %s", g.title, g.topic)
	}
	o := offline("__complete", "help", "task")
	require.Equal(t, 1, strings.Count(o.out, "tasks\t"), o.out)
	require.Contains(t, o.out, "task\t")
}

// tree returns a program with its tree of commands.
func tree(t *testing.T) *app {
	t.Helper()
	a := &app{groups: groups()}
	a.tree()
	return a
}

// all returns the commands that run.
func all() []*cobra.Command { return slices.Collect(leaves((&app{groups: groups()}).tree())) }

func isCommand(name string) bool {
	return slices.ContainsFunc(all(), func(c *cobra.Command) bool { return path(c) == name })
}

// A command may have subcommands: all of them are found, shown in its help and completed, and other words are refused.
func TestCommandWithOthersBelow(t *testing.T) {
	t.Parallel()
	ran := ""
	leaf := func(a *app, path, name string) *cobra.Command {
		cmd := &cobra.Command{Use: name, Short: "test " + path}
		cmd.Flags().Bool("dry-run", false, "only look")
		return a.offline(cmd, func(context.Context, []string) error {
			ran = path
			return nil
		})
	}
	run := func(words string) (string, error) {
		var out bytes.Buffer
		a := &app{out: &out, exact: &out, errOut: &out, output: outputText}
		a.groups = []commandGroup{{title: "Memory", commands: func(a *app) []*cobra.Command {
			return []*cobra.Command{with(leaf(a, "dream", "dream"), leaf(a, "dream show", "show"), leaf(a, "dream list", "list"))}
		}}}
		root := a.tree()
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
	for _, c := range all() {
		words := strings.Fields(path(c))
		o := offline(append(words, "--help")...)
		require.Equal(t, exitOK, o.code, path(c))
		require.Empty(t, o.err, path(c))
		if _, topic := help.Find(path(c)); !topic {
			require.Equal(t, o, offline(append([]string{"help"}, words...)...))
		}
		require.True(t, strings.HasPrefix(o.out, sentence(c.Short)+"\n\nUsage: "+usageLine(c)+" [flags]\n"), o.out)
		if own, settings := strings.Index(o.out, "--output"), strings.Index(o.out, "Settings, "); settings >= 0 {
			require.Less(t, own, settings, "own flags come first")
			require.Equal(t, 1, strings.Count(o.out, "--connect-timeout"), "each flag is told once")
		}
		if len(words) == 1 {
			continue
		}
		group := offline(words[0], "-h")
		require.Contains(t, group.out, "  "+strings.TrimPrefix(usageLine(c), "starter ")+" ")
		if isCommand(words[0]) {
			continue
		}
		require.Equal(t, group, offline(words[0]))
		require.Equal(t, exitOK, group.code, group)
		if _, topic := help.Find(words[0]); !topic {
			require.Equal(t, group, offline("help", words[0]))
		}
		require.Contains(t, group.out, "Usage: starter "+words[0]+" COMMAND")
		require.NotContains(t, group.out, "starter search", "of its own commands alone")
	}
	require.Contains(t, offline("doctor", "-h").out, "(default 3s)")
	require.Contains(t, offline("tasks", "-h").out, "(default 10s)")
}

// No command is defined twice, and the examples are valid.
func TestTablesOfCommands(t *testing.T) {
	t.Parallel()
	names := map[string]bool{"": true}
	root := (&app{groups: groups()}).tree()
	for c := range leaves(root) {
		require.False(t, names[path(c)], "%s is there twice", path(c))
		names[path(c)] = true
		require.NotEmpty(t, c.Parent().Short, "say what %s is about", c.Parent().CommandPath())
	}
	for _, c := range append(all(), root) {
		for line := range strings.Lines(c.Example) {
			_, line, found := strings.Cut(strings.TrimSpace(line), "starter ")
			require.True(t, found)
			root := (&app{groups: groups()}).tree()
			c, rest, err := root.Find(strings.Fields(line))
			require.NoError(t, err, line)
			require.True(t, isCommand(path(c)), line)
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
		"builds nothing":          `there is no command "builds nothing"; the commands of builds are list, show, steps, retry, replay, diff`,
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
		o := offline(strings.Fields(given)...)
		if says == "" {
			require.Equal(t, exitOK, o.code, o)
			continue
		}
		require.Equal(t, exitUsage, o.code, "%s: %s", given, o)
		require.Empty(t, o.out, given)
		require.Contains(t, o.err, says, given)
		require.True(t, strings.HasPrefix(o.err, "starter: "), o.err)
		require.Equal(t, 1, strings.Count(o.err, "\n"), "one message, all ours: %s", o.err)
	}
}

// Flags may precede the command.
func TestFlagsBeforeTheCommand(t *testing.T) {
	t.Parallel()
	o := offline("--output", "xml", "task", "show", "x")
	require.Equal(t, exitUsage, o.code)
	require.Contains(t, o.err, `--output "xml"`)
}

func TestVersion(t *testing.T) {
	t.Parallel()
	o := offline("--version")
	require.Equal(t, exitOK, o.code)
	require.Equal(t, "starter "+service.Version()+"\n", o.out)
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
		least, most := takes(c)
		require.Equal(t, []int{want.least, want.most}, []int{least, most}, arguments)
		for i, word := range want.words {
			require.Equal(t, word, argument(c, i), arguments)
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
	for _, c := range all() {
		named := regexp.MustCompile("(starter |and: |`)" + regexp.QuoteMeta(path(c)) + `\b`)
		require.True(t, named.MatchString(text.String()), "name %s in a topic of starter/help", path(c))
	}
}
