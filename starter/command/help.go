package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/starter/help"
)

// rootExamples are shown in the help of the program.
const rootExamples = "starter process ~/.claude/projects --project demo\nstarter search 'why was a customer charged twice?' --project demo"

const rootNotes = `Settings come from flags, AXIOMMIND_… variables, or a YAML file (--config); a local stack that is up is found by itself.
An id may be cut to any beginning that is unambiguous.

Exit codes: 0 done, 1 the work failed or a file could not be read, 2 wrong use or input, nothing was started,
3 process --no-wait found the session being processed already.
`

// allCommands is the word after help that lists every command.
const allCommands = "commands"

// helpCommand shows a topic, or the help of any command. A topic takes precedence: COMMAND -h shows the arguments of a
// command of the same name.
func (a *App) helpCommand(root *cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: "help [TOPIC|COMMAND…]", Short: "explain a topic, or show the help of a command", DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			return completeHelp(root, args, prefix), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if args[0] == allCommands {
					a.write(func(b *strings.Builder) { a.writeCommands(b, root) })
					return nil
				}
				if topic, ok := help.Find(args[0]); ok {
					return a.showTopic(c.Context(), topic)
				}
			}
			at, rest, err := root.Find(args)
			switch {
			case err != nil:
				return BadUsage(err)
			case len(rest) > 0 && at.HasSubCommands():
				return unknown(at, rest)
			}
			return at.Help()
		},
	}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { a.commandHelp(c, "") })
	return c
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

func (a *App) write(fill func(*strings.Builder)) {
	var b strings.Builder
	fill(&b)
	_, _ = io.WriteString(a.Out, b.String())
}

// rootHelp shows the groups of commands, one per line.
func (a *App) rootHelp(c *cobra.Command) {
	a.write(func(b *strings.Builder) {
		fmt.Fprintf(b, "%s\n\nUsage: starter COMMAND [flags]\n\nCommands:\n", Sentence(c.Short))
		for _, g := range a.Groups {
			fmt.Fprintf(b, "  %-11s %-37s %s\n", g.Title, g.Summary, strings.Join(g.Words(), ", "))
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

// Words returns the first words of the group's commands, each once.
func (g *Group) Words() []string {
	var words []string
	for _, c := range g.leaves {
		word, _, _ := strings.Cut(Path(c), " ")
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}

// below returns the group's commands below one. Of a command and its repetition it returns the first.
func (g *Group) below(parent *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(g.leaves), func(c *cobra.Command) bool {
		return c.Annotations[isRepeated] != "" || parent.HasParent() && c.Parent() != parent
	})
}

// parentHelp lists the commands below one.
func (a *App) parentHelp(c *cobra.Command) {
	if !c.HasParent() {
		a.rootHelp(c)
		return
	}
	a.write(func(b *strings.Builder) {
		fmt.Fprintf(b, "%s\n\nUsage: %s COMMAND [flags]\n", Sentence(c.Short), c.CommandPath())
		a.writeCommands(b, c)
		writeExamples(b, c.Example)
		fmt.Fprintf(b, "\n%s COMMAND -h shows the flags of each.\n", c.CommandPath())
		for _, g := range a.Groups {
			if len(g.below(c)) > 0 {
				fmt.Fprintf(b, "starter help %s explains them.\n", g.Topic)
			}
		}
	})
}

// writeCommands lists the commands below one, by group. A command and its repetition share a line.
func (a *App) writeCommands(b *strings.Builder, parent *cobra.Command) {
	for _, g := range a.Groups {
		for i, c := range g.below(parent) {
			if i == 0 {
				fmt.Fprintf(b, "\n%s:\n", g.Title)
			}
			line := strings.TrimPrefix(UsageLine(c), "starter ")
			for _, child := range c.Commands() {
				if child.Annotations[isRepeated] != "" {
					line += ", " + strings.TrimPrefix(UsageLine(child), "starter ")
				}
			}
			fmt.Fprintf(b, "  %-34s %s\n", line, c.Short)
		}
	}
}

// commandHelp shows how to call a command: first its own flags, then the shared settings.
func (a *App) commandHelp(c *cobra.Command, details string) {
	own, shared := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Annotations[isSetting] != nil {
			shared.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	a.write(func(b *strings.Builder) {
		fmt.Fprintf(b, "%s\n\nUsage: %s [flags]\n", Sentence(c.Short), UsageLine(c))
		if details != "" {
			fmt.Fprintf(b, "\n%s\n", details)
		}
		if c.HasSubCommands() {
			b.WriteString("\nCommands:\n")
			for _, below := range c.Commands() {
				fmt.Fprintf(b, "  %-34s %s\n", strings.TrimPrefix(UsageLine(below), "starter "), below.Short)
			}
		}
		writeExamples(b, c.Example)
		fmt.Fprintf(b, "\nFlags:\n%s", own.FlagUsages())
		if shared.HasFlags() {
			fmt.Fprintf(b, "\nSettings, which a variable or a file can give too:\n%s", shared.FlagUsages())
		}
	})
}

func writeExamples(b *strings.Builder, text string) {
	if text != "" {
		fmt.Fprintf(b, "\nFor example:\n  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
	}
}

// Sentence capitalizes the first letter and adds a full stop.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
