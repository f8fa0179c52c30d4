package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/deploy/local/stack"
)

// programName is the name of the installed program. A shell takes the name of its directory, local, for a command
// of its own.
const programName = "axiommind-local"

// command is one verb of the command line.
type command struct {
	name, arguments, summary string
	// flags adds the command's flags and returns the function that runs it with the arguments.
	flags func(f *pflag.FlagSet) func(ctx context.Context, args []string, out io.Writer) error
	// values are the possible values of its argument, if they are a fixed list.
	values []string
}

// section is a part of the help.
type section struct {
	title    string
	commands []command
}

// sections are all commands, in the order of the help.
func sections() []section {
	return []section{
		{"Servers", []command{
			{name: "up", summary: "start the servers and a worker, until Ctrl-C", flags: upCommand},
			{name: "demo", summary: "start everything, process three sample sessions and search them", flags: demoCommand},
			{name: "status", summary: "say which servers run, and where", flags: statusCommand},
			{name: "down", summary: "stop the servers that up started; their data is kept", flags: downCommand},
		}},
		{"This program", []command{
			{name: "completion", arguments: "SHELL", summary: "print the completion script of a shell",
				flags: completionCommand, values: shells},
			{name: "man", arguments: "DIR", summary: "write this program's man pages into a directory", flags: manCommand},
		}},
	}
}

// run runs the command that the arguments name. Cobra finds and completes it; all output is ours.
func run(ctx context.Context, args []string, out io.Writer) error {
	root := tree(filepath.Base(os.Args[0]), out)
	root.SetArgs(append([]string{}, args...))
	return root.ExecuteContext(ctx)
}

// tree returns the command line for cobra, under the name by which the program was called.
func tree(called string, out io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use: called + " COMMAND", Short: "run AxiomMind's servers on this machine", Version: version(),
		SilenceErrors: true, SilenceUsage: true, DisableAutoGenTag: true, DisableFlagsInUseLine: true,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	if called == "local" {
		root.Use = programName + " COMMAND"
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "go run ./deploy/local"}
	}
	root.SetOut(exact(out))
	root.SetErr(io.Discard)
	root.SetVersionTemplate(programName + " {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { _, _ = io.WriteString(out, help(c)) })
	root.SetHelpCommand(helpCommand(root))
	root.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown(c, args[0])
		}
		return usagef("want a command\n\n%s", strings.TrimSpace(help(c)))
	}
	for _, s := range sections() {
		for _, c := range s.commands {
			root.AddCommand(leaf(c, out))
		}
	}
	return root
}

// leaf returns the cobra command that runs c.
func leaf(c command, out io.Writer) *cobra.Command {
	l := &cobra.Command{
		Use: strings.TrimSpace(c.name + " " + c.arguments), Short: c.summary, Long: notes[c.name],
		DisableFlagsInUseLine: true, ValidArgs: c.values, Args: func(l *cobra.Command, args []string) error { return checkArgs(l, c, args) },
	}
	switch {
	case c.values != nil:
	case c.arguments == "DIR":
		l.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	default:
		l.ValidArgsFunction = cobra.NoFileCompletions
	}
	l.Flags().SortFlags = false
	work := c.flags(l.Flags())
	l.Flags().BoolP("help", "h", false, "show this help")
	l.RunE = func(l *cobra.Command, args []string) error {
		if dir := l.Flags().Lookup("dir"); dir != nil && dir.Value.String() == "" {
			return usagef("%s: --dir is empty: give a directory, or leave it out for %s", c.name, dir.DefValue)
		}
		return work(l.Context(), args, out)
	}
	completeFlags(l)
	return l
}

// checkArgs refuses too many arguments and too few.
func checkArgs(l *cobra.Command, c command, args []string) error {
	want := strings.Fields(c.arguments)
	switch {
	case len(args) > len(want):
		return usagef("%s: unexpected argument %q; see %s -h", c.name, args[len(want)], l.CommandPath())
	case len(args) < len(want):
		return usagef("%s: want %s; see %s -h", c.name, want[len(args)], l.CommandPath())
	}
	return nil
}

// directory is the flag that every command about servers has.
func directory(f *pflag.FlagSet, dir *string) {
	f.StringVar(dir, "dir", stack.DefaultDir(), "keep the servers' data, logs and state in `DIR`")
}

// completeFlags registers the completions of flag values. Flags without one have none.
func completeFlags(l *cobra.Command) {
	values := map[string][]string{"output": outputs}
	l.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name == "dir" {
			_ = l.MarkFlagDirname(f.Name)
			return
		}
		_ = l.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(values[f.Name], cobra.ShellCompDirectiveNoFileComp))
	})
}

// flagError returns the error for an invalid flag, with the flags that may be meant.
func flagError(c *cobra.Command, err error) error {
	if !c.HasParent() && c.Flags().NArg() > 0 {
		return unknown(c, c.Flags().Arg(0))
	}
	name := ""
	if c.HasParent() {
		name = c.Name() + ": "
	}
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return usagef("%s%w; see %s -h", name, valueError(err), c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := nearest(missing.GetSpecifiedName(), names)
	for i := range near {
		near[i] = "--" + near[i]
	}
	return usagef("%s%w%s; see %s -h", name, err, didYouMean(near), c.CommandPath())
}

// unknown returns the error for an unknown command, with the commands that may be meant.
func unknown(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return usagef("there is no command %q%s; see %s -h", word, didYouMean(nearest(word, names)), root.CommandPath())
}

// helpCommand shows the help of any command.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "show the help of a command", DisableFlagsInUseLine: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, c := range root.Commands() {
				if len(args) == 0 {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch found, rest, err := root.Find(args); {
			case err != nil:
				return usageError{err}
			case len(rest) == 0:
				return found.Help()
			case found.HasParent():
				return usagef("help: unexpected argument %q; see %s -h", rest[0], c.CommandPath())
			default:
				return unknown(root, rest[0])
			}
		},
	}
}

// help is the help of the program, or of one of its commands.
func help(c *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n", strings.ToUpper(c.Short[:1])+c.Short[1:])
	if c.HasParent() {
		fmt.Fprintf(&b, "\nUsage: %s [flags]\n", c.UseLine())
		if c.Long != "" {
			fmt.Fprintf(&b, "\n%s\n", c.Long)
		}
		fmt.Fprintf(&b, "\nFlags:\n%s", c.LocalFlags().FlagUsages())
		return b.String()
	}
	fmt.Fprintf(&b, "\nUsage: %s COMMAND [flags]\n", c.CommandPath())
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n%s:\n", s.title)
		for _, each := range s.commands {
			fmt.Fprintf(&b, "  %-18s %s\n", each.name+" "+each.arguments, each.summary)
		}
	}
	fmt.Fprintf(&b, "\nEvery command takes -h, which lists its flags; %s --version says which build this is.\n\n%s\n", c.CommandPath(), exitCodes)
	return b.String()
}
