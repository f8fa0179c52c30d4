package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const rootNotes = `Every command takes -h; "starter COMMAND -h" shows its flags. Settings come from flags, AXIOMMIND_… variables,
or a YAML file (--config); a local stack that is up is found by itself. An id may be cut to any beginning
that is unambiguous.

Exit codes: 0 done, 1 the work failed or a file could not be read, 2 wrong use or input, nothing was started,
3 process --no-wait found the session being processed already.
`

// helpCommand shows the help of any command.
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND…]", Short: "show the help of a command", DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			at, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range at.Commands() {
				if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), prefix) {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
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

// parentHelp lists the commands below one.
func (a *app) parentHelp(c *cobra.Command) {
	var b strings.Builder
	name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "starter"), " ")
	fmt.Fprintf(&b, "%s\n\nUsage: %s COMMAND [flags]\n", sentence(c.Short), c.CommandPath())
	for _, s := range sections {
		begun := false
		for _, each := range s.commands {
			if name != "" && !strings.HasPrefix(each.name, name+" ") {
				continue
			}
			if !begun {
				fmt.Fprintf(&b, "\n%s:\n", s.title)
				begun = true
			}
			fmt.Fprintf(&b, "  %-34s %s\n", each.usage(), each.summary)
		}
	}
	writeExamples(&b, c.Example)
	if name == "" {
		fmt.Fprintf(&b, "\n%s", rootNotes)
	} else {
		fmt.Fprintf(&b, "\n%s COMMAND -h shows the flags of each.\n", c.CommandPath())
	}
	_, _ = io.WriteString(a.out, b.String())
}

// commandHelp shows how to call a command: its own flags, and apart from these the settings.
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
	if more := details[c.name]; more != "" {
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

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
