package main

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/starter/help"
	"axiommind/worker/service"
)

// offline runs a command without servers.
func offline(args ...string) output {
	var out, errOut bytes.Buffer
	a := &app{in: strings.NewReader(""), out: &out, errOut: &errOut, getenv: func(string) string { return "" }}
	code := a.main(context.Background(), args)
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
		for _, s := range sections {
			require.Regexp(t, "(?m)^  "+s.title+" .* "+strings.Join(s.words(), ", ")+"$", o.out)
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
		require.Regexp(t, `(?m)^  (.*, )?`+regexp.QuoteMeta(c.usage())+`[, ].*`+regexp.QuoteMeta(c.summary)+`$`, o.out)
	}
	require.Contains(t, o.out, "\n  queue, queue show ")
	require.Less(t, strings.Count(o.out, "\n"), len(all())+3*len(sections))
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
	for _, s := range sections {
		_, ok := help.Find(s.topic)
		require.True(t, ok, "%s: no topic %s", s.title, s.topic)
	}
	o := offline("__complete", "help", "task")
	require.Equal(t, 1, strings.Count(o.out, "tasks\t"), o.out)
	require.Contains(t, o.out, "task\t")
}

func isCommand(name string) bool {
	return slices.ContainsFunc(all(), func(c command) bool { return c.name == name })
}

// A command may have subcommands: all of them are found, shown in its help and completed, and other words are refused.
func TestCommandWithOthersBelow(t *testing.T) {
	t.Parallel()
	ran := ""
	leaf := func(name string) command {
		return command{name: name, summary: "test " + name, flags: func(_ *app, f *pflag.FlagSet) func(context.Context, []string) error {
			f.Bool("dry-run", false, "only look")
			return func(context.Context, []string) error {
				ran = name
				return nil
			}
		}}
	}
	run := func(words string) (string, error) {
		var out bytes.Buffer
		a := &app{out: &out, exact: &out, errOut: &out, output: outputText}
		root := a.treeOf([]section{{title: "Memory", offline: true, commands: []command{leaf("dream"), leaf("dream show"), leaf("dream list")}}})
		a.root, ran = root, ""
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
	require.ErrorContains(t, err, `there is no command "dream shwo" (did you mean show?); the commands of dream are list, show`)
	require.Empty(t, ran)
	for _, words := range []string{"dream -h", "help dream"} {
		out, err := run(words)
		require.NoError(t, err)
		require.Contains(t, out, "Test dream.\n\nUsage: starter dream [flags]\n\nCommands:\n  dream list                         test dream list\n  dream show                         test dream show\n")
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
		words := strings.Fields(c.name)
		o := offline(append(words, "--help")...)
		require.Equal(t, exitOK, o.code, c.name)
		require.Empty(t, o.err, c.name)
		if _, topic := help.Find(c.name); !topic {
			require.Equal(t, o, offline(append([]string{"help"}, words...)...))
		}
		require.True(t, strings.HasPrefix(o.out, sentence(c.summary)+"\n\nUsage: starter "+c.usage()+" [flags]\n"), o.out)
		if own, settings := strings.Index(o.out, "--output"), strings.Index(o.out, "Settings, "); settings >= 0 {
			require.Less(t, own, settings, "own flags come first")
			require.Equal(t, 1, strings.Count(o.out, "--connect-timeout"), "each flag is told once")
		}
		if len(words) == 1 {
			continue
		}
		group := offline(words[0], "-h")
		require.Contains(t, group.out, "  "+c.usage()+" ")
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

// The tables next to the commands name existing commands, and the examples are valid.
func TestTablesOfCommands(t *testing.T) {
	t.Parallel()
	groups, names := map[string]bool{}, map[string]bool{"": true}
	for _, c := range all() {
		require.False(t, names[c.name], "%s is there twice", c.name)
		names[c.name] = true
		if first, _, two := strings.Cut(c.name, " "); two && !isCommand(first) {
			groups[first] = true
			require.NotEmpty(t, parents[first], "say what %s is about", first)
		}
	}
	for name := range parents {
		require.True(t, groups[name], "there is no command below %s", name)
	}
	for _, c := range append(all(), command{examples: rootExamples}) {
		for line := range strings.Lines(c.examples) {
			_, line, found := strings.Cut(strings.TrimSpace(line), "starter ")
			require.True(t, found)
			root := new(app).tree()
			c, rest, err := root.Find(strings.Fields(line))
			require.NoError(t, err, line)
			require.True(t, isCommand(strings.TrimPrefix(c.CommandPath(), "starter ")), line)
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
		"task sett 1":             `there is no command "task sett" (did you mean set?); the commands of task are confirm, merge, set, show`,
		"builds nothing":          `there is no command "builds nothing"; the commands of builds are diff, list, replay, retry, show`,
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
		c := command{arguments: arguments}
		least, most := c.takes()
		require.Equal(t, []int{want.least, want.most}, []int{least, most}, arguments)
		for i, word := range want.words {
			require.Equal(t, word, c.argument(i), arguments)
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
		named := regexp.MustCompile("(starter |and: |`)" + regexp.QuoteMeta(c.name) + `\b`)
		require.True(t, named.MatchString(text.String()), "name %s in a topic of starter/help", c.name)
	}
}
