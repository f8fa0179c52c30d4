package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
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

// isSetting is the annotation of the flags that all commands share.
const isSetting = "setting"

// unsorted keeps the commands in the order of the program, by importance.
var unsorted = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// tree returns the tree of the groups' commands.
func (a *app) tree() *cobra.Command {
	unsorted()
	root := a.parent("starter", "AxiomMind: long-term memory with proof")
	root.Example = rootExamples
	root.Long = sentence(root.Short) + "\n\n" + rootNotes
	root.Version = service.Version()
	root.SetVersionTemplate("starter {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.DisableAutoGenTag = true
	root.SetHelpCommand(a.helpCommand(root))
	a.root = root
	for i := range a.groups {
		g := &a.groups[i]
		for _, c := range g.commands(a) {
			g.leaves = slices.AppendSeq(g.leaves, leaves(c))
			at := childOf(root, c.Name())
			if at == nil {
				root.AddCommand(c)
				continue
			}
			for _, child := range c.Commands() { // Several groups have commands below one word.
				c.RemoveCommand(child)
				at.AddCommand(child)
			}
		}
	}
	return root
}

// Annotations of commands: isParent marks one that only contains others, and isRepeated one that does the same as its parent.
const (
	isParent   = "parent"
	isRepeated = "repeated"
)

// leaves yields the commands that run, from c down.
func leaves(c *cobra.Command) iter.Seq[*cobra.Command] {
	return func(yield func(*cobra.Command) bool) { eachLeaf(c, yield) }
}

func eachLeaf(c *cobra.Command, yield func(*cobra.Command) bool) bool {
	if c.Annotations[isParent] == "" && c.Runnable() && !c.Hidden && c.Name() != "help" && !yield(c) {
		return false
	}
	for _, child := range c.Commands() {
		if !eachLeaf(child, yield) {
			return false
		}
	}
	return true
}

func childOf(at *cobra.Command, name string) *cobra.Command {
	for _, c := range at.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// parent returns a command that only contains others, and lists them if it is called.
func (a *app) parent(name, summary string, commands ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: name + " COMMAND", Short: summary, Annotations: map[string]string{isParent: "true"},
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
	return with(c, commands...)
}

// with adds commands below a command.
func with(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.SetHelpCommand(&cobra.Command{Hidden: true}) // The root's help command covers all commands.
	c.AddCommand(commands...)
	return c
}

// repeated returns the command under the name, below another that does the same. They share a line in the help.
func repeated(c *cobra.Command, name string) *cobra.Command {
	c.Use = name
	c.Annotations = map[string]string{isRepeated: "true"}
	return c
}

// online completes a command that uses servers: it takes the settings and --output. Its arguments are those of its usage line
// ("TASK…" is one or more, "[TASK…]" any number), where a word decides how they are completed (see [argumentValues]). run gets
// the arguments after they and the names in flags are checked.
func (a *app) online(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	a.outputFlag(cmd.Flags())
	cmd.Flags().AddFlagSet(a.settings())
	return a.offline(cmd, func(ctx context.Context, args []string) error {
		a.called = cmd
		return a.locate(ctx, args, run(ctx, args))
	})
}

// offline completes a command that uses no server and takes no settings.
func (a *app) offline(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	details := cmd.Long
	cmd.Long = strings.TrimSpace(sentence(cmd.Short) + "\n\n" + details)
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableFlagsInUseLine = true, true, true
	cmd.Flags().BoolP("help", "h", false, helpUsage)
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = a.completeArguments
	}
	a.completeFlags(cmd)
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.commandHelp(cmd, details) })
	cmd.Args = checkCount
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(a.prepare(cmd.Flags()), checkNames(cmd, args)); err != nil {
			return err
		}
		return run(cmd.Context(), args)
	}
	return cmd
}

const helpUsage = "show this help"

// Forms of output.
const (
	outputText = "text"
	outputJSON = "json"
)

// outputFlag declares --output.
func (a *app) outputFlag(f *pflag.FlagSet) {
	f.StringVarP(&a.output, "output", "o", outputText, "text or json")
}

// settings returns the flags that a variable or a file can also set. All commands share them.
func (a *app) settings() *pflag.FlagSet {
	if a.shared == nil {
		a.shared = pflag.NewFlagSet("settings", pflag.ContinueOnError)
		a.cfg.Flags(a.shared)
		a.cfg.LogLevel, a.cfg.ConnectTimeout = "error", patience
		a.shared.Lookup("log-level").DefValue = a.cfg.LogLevel
		a.shared.Lookup("connect-timeout").DefValue = a.cfg.ConnectTimeout.String()
		a.shared.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{isSetting: {}} })
	}
	return a.shared
}

// prepare completes the flags from variables and the file, and validates the flags that all commands share.
func (a *app) prepare(f *pflag.FlagSet) error {
	if err := oneOf("output", a.output, []string{outputText, outputJSON}); err != nil {
		return err
	}
	f.Visit(func(flag *pflag.Flag) { a.typed = append(a.typed, flag.Name) })
	if f.Lookup("config") == nil {
		return nil
	}
	if err := a.cfg.Load(f, a.getenv, service.LocalConfigFile()); err != nil {
		return badUsage(err)
	}
	if err := oneOf("embedder", a.cfg.Embedder.Provider, embedders()); err != nil {
		return err
	}
	if _, err := service.NewLogger(a.cfg); err != nil {
		return badUsage(err)
	}
	return nil
}

func embedders() []string { return llm.EmbedderProviders() }

// checkCount compares the number of arguments with the usage line.
func checkCount(c *cobra.Command, args []string) error {
	least, most := takes(c)
	switch {
	case len(args) < least && most < 0:
		return usagef("%s takes at least %s: %s", path(c), plural(least, "argument", "arguments"), usageLine(c))
	case most == 0 && len(args) > 0 && c.HasSubCommands():
		return unknown(c, args)
	case most == 0 && len(args) > 0:
		return usagef("%s takes no arguments, not %d: %s", path(c), len(args), usageLine(c))
	case len(args) < least, most >= 0 && len(args) > most:
		return usagef("%s takes %s, not %d: %s", path(c), plural(most, "argument", "arguments"), len(args), usageLine(c))
	}
	return nil
}

// path returns the words that call the command, without the program.
func path(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "starter ") }

// usageLine returns the program, the words and the arguments of the command.
func usageLine(c *cobra.Command) string {
	return strings.TrimSpace(c.CommandPath() + " " + strings.Join(arguments(c), " "))
}

// arguments returns the words for the arguments in the usage line.
func arguments(c *cobra.Command) []string { return strings.Fields(c.Use)[1:] }

// takes returns the bounds of the number of arguments. most is -1 if there is no upper bound.
func takes(c *cobra.Command) (least, most int) {
	for _, word := range arguments(c) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		if most++; strings.Contains(word, "…") {
			return least, -1
		}
	}
	return least, most
}

// argument returns the word for the nth argument, without brackets and dots.
func argument(c *cobra.Command, n int) string {
	words := arguments(c)
	switch _, most := takes(c); {
	case len(words) == 0, most >= 0 && n >= most:
		return ""
	}
	return strings.Trim(words[min(n, len(words)-1)], "[]…")
}

// ids are the words for arguments that are ids.
var ids = []string{"ENTRY", "TASK", "INTO", "CONDITION", "TARGET", "ARTIFACT", "BUILD", "OTHER", "SCHEDULE", "CONFLICT", "DECISION", "PROPOSAL", "FACT"}

// isID reports whether the word of an argument stands for an id.
func isID(word string) bool { return slices.Contains(ids, word) }

// checkNames refuses invalid names and ids before any server is contacted.
func checkNames(c *cobra.Command, args []string) error {
	for _, name := range []string{"project", "user", "agent", "session"} {
		flag := c.Flags().Lookup(name)
		if flag == nil {
			continue
		}
		if flag.Value.String() == "" && flag.DefValue != "" {
			return usagef("--%s is empty", name)
		}
		if err := schema.CheckName("--"+name, flag.Value.String()); err != nil {
			return badUsage(err)
		}
	}
	for i, arg := range args {
		switch {
		case strings.TrimSpace(arg) == "":
			return usagef("argument %d is empty: %s", i+1, usageLine(c))
		case isID(argument(c, i)) && (!utf8.ValidString(arg) || strings.ContainsFunc(arg, unicode.IsControl)):
			return usagef("argument %d, %q, holds a control character", i+1, arg)
		}
	}
	return nil
}

// flagError describes an invalid flag and suggests similar ones.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return badUsage(settings.FlagError(err))
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
		return usagef("there is no command %q%s; the commands of %s are %s", path(parent)+" "+args[0], service.DidYouMean(near), path(parent),
			strings.Join(names, ", "))
	}
	for _, topic := range help.Topics() {
		if !slices.Contains(names, topic.Name) {
			names = append(names, topic.Name)
		}
	}
	near = service.Nearest(args[0], names)
	for c := range leaves(parent) {
		if first, last, two := strings.Cut(path(c), " "); two && (last == args[0] || first+"-"+last == args[0] || first+last == args[0]) {
			near = append(near, path(c))
		}
	}
	return usagef("there is no command %q%s; run starter help", args[0], service.DidYouMean(near))
}
