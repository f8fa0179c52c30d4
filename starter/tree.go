package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/starter/help"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// run runs the command that the arguments name. Cobra parses and completes it, but all output is the program's own.
func (a *app) run(ctx context.Context, args []string) error {
	root := a.tree()
	a.root = root
	root.SetArgs(append([]string{}, args...))
	root.SetIn(a.in)
	root.SetOut(a.exact)
	root.SetErr(io.Discard)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// An unknown command is reported before its flags.
		if at, rest, _ := root.Find(args); at == c && c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			return unknown(c, rest)
		}
		return flagError(c, err)
	})
	return root.ExecuteContext(ctx)
}

// tree returns the command line as a cobra tree.
func (a *app) tree() *cobra.Command { return a.treeOf(sections) }

// treeOf returns the tree of the commands. A command that runs and has subcommands must precede these in sections.
func (a *app) treeOf(sections []section) *cobra.Command {
	root := a.parent("starter", "AxiomMind: long-term memory with proof", rootExamples)
	root.Long = sentence(root.Short) + "\n\n" + rootNotes
	root.Version = service.Version()
	root.SetVersionTemplate("starter {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.DisableAutoGenTag = true
	root.SetHelpCommand(a.helpCommand(root))
	shared := a.settings()
	for _, s := range sections {
		for _, c := range s.commands {
			at := root
			words := strings.Fields(c.name)
			for _, word := range words[:len(words)-1] {
				at = a.child(at, word)
			}
			leaf := a.leaf(&c, words[len(words)-1], s.offline)
			if !s.offline {
				leaf.Flags().AddFlagSet(shared)
				a.completeFlags(&c, leaf, shared)
			}
			leaf.SetHelpFunc(func(*cobra.Command, []string) { a.commandHelp(&c, leaf, shared) })
			at.AddCommand(leaf)
		}
	}
	return root
}

// child returns the command with the name, as a parent for others. It creates a missing one.
func (a *app) child(at *cobra.Command, name string) *cobra.Command {
	c := (*cobra.Command)(nil)
	for _, there := range at.Commands() {
		if there.Name() == name {
			c = there
		}
	}
	if c == nil {
		c = a.parent(name, parents[name], "")
		at.AddCommand(c)
	}
	c.SetHelpCommand(&cobra.Command{Hidden: true}) // The root's help command covers all commands.
	return c
}

// parent creates a command that only groups others and prints that when it is called.
func (a *app) parent(name, summary, examples string) *cobra.Command {
	c := &cobra.Command{
		Use: name + " COMMAND", Short: summary, Example: examples,
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: cobra.NoFileCompletions,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknown(c, args)
		}
		return c.Help()
	}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { a.parentHelp(c) })
	c.Flags().BoolP("help", "h", false, helpUsage)
	return c
}

// leaf creates a command that runs.
func (a *app) leaf(c *command, name string, offline bool) *cobra.Command {
	leaf := &cobra.Command{
		Use: strings.TrimSpace(name + " " + c.arguments), Short: c.summary, Example: c.examples,
		SilenceErrors: true, SilenceUsage: true, Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeArguments(c),
		Long: sentence(c.summary),
	}
	if more := c.details; more != "" {
		leaf.Long += "\n\n" + more
	}
	own := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	run := c.flags(a, own)
	own.BoolP("help", "h", false, helpUsage)
	if !offline {
		a.outputFlag(own)
	}
	leaf.Flags().AddFlagSet(own)
	a.completeFlags(c, leaf, own)
	leaf.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.prepare(cmd.Flags()); err != nil {
			return err
		}
		if _, most := c.takes(); most == 0 && len(args) > 0 && leaf.HasSubCommands() {
			return unknown(leaf, args)
		}
		if err := cmp.Or(checkCount(c, args), checkNames(own, c, args)); err != nil {
			return err
		}
		return run(cmd.Context(), args)
	}
	return leaf
}

const helpUsage = "show this help"

// Forms of output.
const (
	outputText = "text"
	outputJSON = "json"
)

func (a *app) outputFlag(f *pflag.FlagSet) {
	f.StringVarP(&a.output, "output", "o", outputText, "text or json")
}

// settings returns the flags that a variable or a file can also set.
func (a *app) settings() *pflag.FlagSet {
	f := pflag.NewFlagSet("settings", pflag.ContinueOnError)
	a.cfg.Flags(f)
	a.cfg.LogLevel, a.cfg.ConnectTimeout = "error", patience
	f.Lookup("log-level").DefValue = a.cfg.LogLevel
	f.Lookup("connect-timeout").DefValue = a.cfg.ConnectTimeout.String()
	return f
}

// prepare completes the flags from variables and the file, and validates the flags that all commands share.
func (a *app) prepare(f *pflag.FlagSet) error {
	if err := oneOf("output", a.output, []string{outputText, outputJSON}); err != nil {
		return err
	}
	if f.Lookup("config") == nil {
		return nil
	}
	if err := a.cfg.Load(f, a.getenv, service.LocalConfigFile()); err != nil {
		return usageError{err}
	}
	if err := oneOf("embedder", a.cfg.Embedder.Provider, embedders()); err != nil {
		return err
	}
	if _, err := service.NewLogger(a.cfg); err != nil {
		return usageError{err}
	}
	return nil
}

func embedders() []string { return llm.EmbedderProviders() }

func checkCount(c *command, args []string) error {
	least, most := c.takes()
	switch {
	case len(args) < least && most < 0:
		return usagef("%s takes at least %s: starter %s", c.name, plural(least, "argument", "arguments"), c.usage())
	case most == 0 && len(args) > 0:
		return usagef("%s takes no arguments, not %d: starter %s", c.name, len(args), c.usage())
	case len(args) < least, most >= 0 && len(args) > most:
		return usagef("%s takes %s, not %d: starter %s", c.name, plural(most, "argument", "arguments"), len(args), c.usage())
	}
	return nil
}

// checkNames refuses invalid names and ids before any server is contacted.
func checkNames(f *pflag.FlagSet, c *command, args []string) error {
	for _, name := range []string{"project", "user", "agent", "session"} {
		flag := f.Lookup(name)
		if flag == nil {
			continue
		}
		if flag.Value.String() == "" && flag.DefValue != "" {
			return usagef("--%s is empty", name)
		}
		if err := schema.CheckName("--"+name, flag.Value.String()); err != nil {
			return usageError{err}
		}
	}
	for i, arg := range args {
		switch {
		case strings.TrimSpace(arg) == "":
			return usagef("argument %d is empty: starter %s", i+1, c.usage())
		case isID(c.argument(i)) && (!utf8.ValidString(arg) || strings.ContainsFunc(arg, unicode.IsControl)):
			return usagef("argument %d, %q, holds a control character", i+1, arg)
		}
	}
	return nil
}

// flagError describes an invalid flag and suggests similar ones.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return usageError{settings.FlagError(err)}
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	var near []string
	for _, name := range service.Nearest(missing.GetSpecifiedName(), names) {
		near = append(near, "--"+name)
	}
	return usagef("%w%s; see %s -h", err, service.DidYouMean(near), c.CommandPath())
}

// unknown reports an unknown command and suggests similar ones.
func unknown(parent *cobra.Command, args []string) error {
	var names []string
	for _, c := range parent.Commands() {
		names = append(names, c.Name())
	}
	near := service.Nearest(args[0], names)
	if parent.HasParent() {
		path := strings.TrimPrefix(parent.CommandPath(), "starter ")
		return usagef("there is no command %q%s; the commands of %s are %s", path+" "+args[0], service.DidYouMean(near), path, strings.Join(names, ", "))
	}
	for _, topic := range help.Topics() {
		if !slices.Contains(names, topic.Name) {
			names = append(names, topic.Name)
		}
	}
	near = service.Nearest(args[0], names)
	for _, c := range all() {
		if first, last, two := strings.Cut(c.name, " "); two && (last == args[0] || first+"-"+last == args[0] || first+last == args[0]) {
			near = append(near, c.name)
		}
	}
	return usagef("there is no command %q%s; run starter help", args[0], service.DidYouMean(near))
}
