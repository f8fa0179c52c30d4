package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/starter/help"
)

const rootNotes = `Settings come from flags, AXIOMMIND_… variables, or a YAML file (--config); a local stack that is up is found by itself.
An id may be cut to any beginning that is unambiguous.

Exit codes: 0 done, 1 the work failed or a file could not be read, 2 wrong use or input, nothing was started,
3 process --no-wait found the session being processed already.
`

// allCommands is the word after help that lists every command.
const allCommands = "commands"

// helpCommand shows a topic, or the help of any command. A topic takes precedence: COMMAND -h shows the arguments of a
// command of the same name.
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [TOPIC|COMMAND…]", Short: "explain a topic, or show the help of a command", DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return completeHelp(root, args, prefix), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if args[0] == allCommands {
					a.write(func(b *strings.Builder) { writeCommands(b, "") })
					return nil
				}
				if topic, ok := help.Find(args[0]); ok {
					return a.showTopic(c.Context(), topic)
				}
			}
			at, rest, err := root.Find(args)
			switch {
			case err != nil:
				return usageError{err}
			case len(rest) > 0 && at.HasSubCommands():
				return unknown(at, rest)
			}
			return at.Help()
		},
	}
}

// completeHelp lists the commands below the words, and the topics if there are no words yet.
func completeHelp(root *cobra.Command, args []string, prefix string) []string {
	at, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return nil
	}
	var names []string
	add := func(name, meaning string) {
		if strings.HasPrefix(name, prefix) {
			names = append(names, cobra.CompletionWithDesc(name, meaning))
		}
	}
	if at == root {
		for _, topic := range help.Topics() {
			add(topic.Name, topic.Title)
		}
		add(allCommands, "list every command")
	}
	for _, c := range at.Commands() {
		_, topic := help.Find(c.Name())
		if c.IsAvailableCommand() && (at != root || !topic) {
			add(c.Name(), c.Short)
		}
	}
	return names
}

func (a *app) write(fill func(*strings.Builder)) {
	var b strings.Builder
	fill(&b)
	_, _ = io.WriteString(a.out, b.String())
}

// rootHelp shows the groups of commands, one per line.
func (a *app) rootHelp(c *cobra.Command) {
	a.write(func(b *strings.Builder) {
		fmt.Fprintf(b, "%s\n\nUsage: starter COMMAND [flags]\n\nCommands:\n", sentence(c.Short))
		for _, s := range sections {
			fmt.Fprintf(b, "  %-11s %-37s %s\n", s.title, s.summary, strings.Join(s.words(), ", "))
		}
		writeExamples(b, c.Example)
		b.WriteString(`
More:
  starter help TOPIC       explain a topic: `)
		for i, topic := range help.Topics() {
			switch {
			case i > 0 && i%4 == 0:
				b.WriteString(",\n                           ")
			case i > 0:
				b.WriteString(", ")
			}
			b.WriteString(topic.Name)
		}
		fmt.Fprintf(b, "\n  starter help %s    list every command\n  starter COMMAND -h       show the flags of a command\n\n%s", allCommands, rootNotes)
	})
}

// words returns the first words of the section's commands, each once.
func (s *section) words() []string {
	var words []string
	for _, c := range s.commands {
		word, _, _ := strings.Cut(c.name, " ")
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// parentHelp lists the commands below one.
func (a *app) parentHelp(c *cobra.Command) {
	if !c.HasParent() {
		a.rootHelp(c)
		return
	}
	a.write(func(b *strings.Builder) {
		fmt.Fprintf(b, "%s\n\nUsage: %s COMMAND [flags]\n", sentence(c.Short), c.CommandPath())
		writeCommands(b, strings.TrimPrefix(c.CommandPath(), "starter "))
		writeExamples(b, c.Example)
		fmt.Fprintf(b, "\n%s COMMAND -h shows the flags of each.\n", c.CommandPath())
	})
}

// writeCommands lists the commands below a word, or all, by section. A command and its alias share a line.
func writeCommands(b *strings.Builder, word string) {
	for _, s := range sections {
		begun := false
		for i, c := range s.commands {
			if word != "" && !strings.HasPrefix(c.name, word+" ") {
				continue
			}
			if !begun {
				fmt.Fprintf(b, "\n%s:\n", s.title)
				begun = true
			}
			if c.repeats {
				continue
			}
			usage := c.usage()
			if i+1 < len(s.commands) && s.commands[i+1].repeats {
				usage += ", " + s.commands[i+1].usage()
			}
			fmt.Fprintf(b, "  %-34s %s\n", usage, c.summary)
		}
	}
}

// commandHelp shows how to call a command: first its own flags, then the shared settings.
func (a *app) commandHelp(c *command, leaf *cobra.Command, settings *pflag.FlagSet) {
	own, shared := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	leaf.Flags().VisitAll(func(f *pflag.Flag) {
		if settings.Lookup(f.Name) == f {
			shared.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: starter %s [flags]\n", sentence(c.summary), c.usage())
	if more := c.details; more != "" {
		fmt.Fprintf(&b, "\n%s\n", more)
	}
	if leaf.HasSubCommands() {
		b.WriteString("\nCommands:\n")
		for _, below := range leaf.Commands() {
			fmt.Fprintf(&b, "  %-34s %s\n", c.name+" "+strings.TrimSuffix(below.Use, " [flags]"), below.Short)
		}
	}
	writeExamples(&b, leaf.Example)
	fmt.Fprintf(&b, "\nFlags:\n%s", own.FlagUsages())
	if shared.HasFlags() {
		fmt.Fprintf(&b, "\nSettings, which a variable or a file can give too:\n%s", shared.FlagUsages())
	}
	_, _ = io.WriteString(a.out, b.String())
}

func writeExamples(b *strings.Builder, text string) {
	if text != "" {
		fmt.Fprintf(b, "\nFor example:\n  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
}

// sentence capitalizes the first letter and adds a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
