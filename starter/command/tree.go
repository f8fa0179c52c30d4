package command

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

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/llm"
	"axiommind/schema"
	"axiommind/starter/help"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

// Group is a group of commands in the help of the program. topic is the page that explains them.
type Group struct {
	Title, Topic, Summary string
	Commands              func(a *App) []*cobra.Command
	// leaves are the commands that run.
	leaves []*cobra.Command
}

// run runs the command that the arguments name. Cobra parses and completes it, but all output is the program's own.
func (a *App) run(ctx context.Context, args []string) error {
	root := a.Tree()
	root.SetArgs(append([]string{}, args...))
	root.SetIn(a.In)
	root.SetOut(a.Exact)
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

// Tree returns the tree of the groups' commands.
func (a *App) Tree() *cobra.Command {
	unsorted()
	root := a.Parent("starter", "AxiomMind: long-term memory with proof")
	root.Example = rootExamples
	root.Long = Sentence(root.Short) + "\n\n" + rootNotes
	root.Version = service.Version()
	root.SetVersionTemplate("starter {{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	root.DisableAutoGenTag = true
	root.SetHelpCommand(a.helpCommand(root))
	a.Root = root
	for i := range a.Groups {
		g := &a.Groups[i]
		for _, c := range g.Commands(a) {
			g.leaves = slices.AppendSeq(g.leaves, Leaves(c))
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

// Leaves yields the commands that run, from c down.
func Leaves(c *cobra.Command) iter.Seq[*cobra.Command] {
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

// Parent returns a command that only contains others, and lists them if it is called.
func (a *App) Parent(name, summary string, commands ...*cobra.Command) *cobra.Command {
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
	return With(c, commands...)
}

// With adds commands below a command.
func With(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.SetHelpCommand(&cobra.Command{Hidden: true}) // The root's help command covers all commands.
	c.AddCommand(commands...)
	return c
}

// Repeated returns the command under the name, below another that does the same. They share a line in the help.
func Repeated(c *cobra.Command, name string) *cobra.Command {
	c.Use = name
	c.Annotations = map[string]string{isRepeated: "true"}
	return c
}

// Online completes a command that uses servers: it takes the settings and --output. Its arguments are those of its usage line
// ("TASK…" is one or more, "[TASK…]" any number), where a word decides how they are completed (see [ArgumentValues]). run gets
// the arguments after they and the names in flags are checked.
func (a *App) Online(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	a.OutputFlag(cmd.Flags())
	cmd.Flags().AddFlagSet(a.settings())
	return a.Offline(cmd, func(ctx context.Context, args []string) error {
		return a.locate(ctx, cmd, args, run(ctx, args))
	})
}

// Reads completes a command that is [App.Online] and begins by reading: run also gets the connection to ClickHouse.
func (a *App) Reads(cmd *cobra.Command, run func(ctx context.Context, conn driver.Conn, args []string) error) *cobra.Command {
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		return run(ctx, conn, args)
	})
}

// Offline completes a command that uses no server and takes no settings.
func (a *App) Offline(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	details := cmd.Long
	cmd.Long = strings.TrimSpace(Sentence(cmd.Short) + "\n\n" + details)
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableFlagsInUseLine = true, true, true
	cmd.Flags().BoolP("help", "h", false, helpUsage)
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = a.CompleteArguments
	}
	a.completeFlags(cmd)
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.commandHelp(cmd, details) })
	cmd.Args = checkCount
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(a.prepare(cmd.Flags()), checkNames(cmd, args)); err != nil {
			return err
		}
		return a.traced(cmd, args, run)
	}
	return cmd
}

const helpUsage = "show this help"

// Forms of output.
const (
	OutputText = "text"
	OutputJSON = "json"
)

// OutputFlag declares --output.
func (a *App) OutputFlag(f *pflag.FlagSet) {
	f.StringVarP(&a.Output, "output", "o", OutputText, "text or json")
}

// settings returns the flags that a variable or a file can also set. All commands share them.
func (a *App) settings() *pflag.FlagSet {
	if a.common == nil {
		a.common = pflag.NewFlagSet("settings", pflag.ContinueOnError)
		if a.answer != nil {
			return a.common // The settings of a call are those of its server.
		}
		a.Cfg.Flags(a.common)
		a.Cfg.LogLevel, a.Cfg.ConnectTimeout = "error", Patience
		a.common.Lookup("log-level").DefValue = a.Cfg.LogLevel
		a.common.Lookup("connect-timeout").DefValue = a.Cfg.ConnectTimeout.String()
		a.common.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{isSetting: {}} })
	}
	return a.common
}

// prepare completes the flags from variables and the file, and validates the flags that all commands share.
func (a *App) prepare(f *pflag.FlagSet) error {
	if err := OneOf("output", a.Output, []string{OutputText, OutputJSON}); err != nil {
		return err
	}
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			a.Typed = append(a.Typed, flag.Name)
		}
	})
	if f.Lookup("config") == nil {
		return nil
	}
	if err := a.Cfg.Load(f, a.Getenv, service.LocalConfigFile()); err != nil {
		return BadUsage(err)
	}
	if !f.Changed("connect-timeout") {
		a.Cfg.RefusedTimeout = RefusedPatience
	}
	if err := OneOf("embedder", a.Cfg.Embedder.Provider, embedders()); err != nil {
		return err
	}
	if _, err := service.NewLogger(a.Cfg); err != nil {
		return BadUsage(err)
	}
	return nil
}

func embedders() []string { return llm.EmbedderProviders() }

// checkCount compares the number of arguments with the usage line.
func checkCount(c *cobra.Command, args []string) error {
	least, most := Takes(c)
	switch {
	case len(args) < least && most < 0:
		return Usagef("%s takes at least %s: %s", Path(c), Plural(least, "argument", "arguments"), UsageLine(c))
	case most == 0 && len(args) > 0 && c.HasSubCommands():
		return unknown(c, args)
	case most == 0 && len(args) > 0:
		return Usagef("%s takes no arguments, not %d: %s", Path(c), len(args), UsageLine(c))
	case len(args) < least, most >= 0 && len(args) > most:
		return Usagef("%s takes %s, not %d: %s", Path(c), Plural(most, "argument", "arguments"), len(args), UsageLine(c))
	}
	return nil
}

// Path returns the words that call the command, without the program.
func Path(c *cobra.Command) string { return strings.TrimPrefix(c.CommandPath(), "starter ") }

// UsageLine returns the program, the words and the arguments of the command.
func UsageLine(c *cobra.Command) string {
	return strings.TrimSpace(c.CommandPath() + " " + strings.Join(Arguments(c), " "))
}

// Arguments returns the words for the arguments in the usage line.
func Arguments(c *cobra.Command) []string { return strings.Fields(c.Use)[1:] }

// Takes returns the bounds of the number of arguments. most is -1 if there is no upper bound.
func Takes(c *cobra.Command) (least, most int) {
	for _, word := range Arguments(c) {
		if !strings.HasPrefix(word, "[") {
			least++
		}
		if most++; strings.Contains(word, "…") {
			return least, -1
		}
	}
	return least, most
}

// Argument returns the word for the nth argument, without brackets and dots.
func Argument(c *cobra.Command, n int) string {
	words := Arguments(c)
	switch _, most := Takes(c); {
	case len(words) == 0, most >= 0 && n >= most:
		return ""
	}
	return strings.Trim(words[min(n, len(words)-1)], "[]…")
}

// IDs are the words for arguments that are ids.
var IDs = []string{"ENTRY", "TASK", "INTO", "CONDITION", "TARGET", "ARTIFACT", "BUILD", "OTHER", "SCHEDULE", "CONFLICT", "DECISION", "PROPOSAL", "FACT"}

// IsID reports whether the word of an argument stands for an id.
func IsID(word string) bool { return slices.Contains(IDs, word) }

// checkNames refuses invalid names and ids before any server is contacted.
func checkNames(c *cobra.Command, args []string) error {
	for _, name := range []string{"project", "user", "agent", "session"} {
		flag := c.Flags().Lookup(name)
		if flag == nil {
			continue
		}
		if flag.Value.String() == "" && flag.DefValue != "" {
			return Usagef("--%s is empty", name)
		}
		if err := schema.CheckName("--"+name, flag.Value.String()); err != nil {
			return BadUsage(err)
		}
	}
	for i, arg := range args {
		switch {
		case strings.TrimSpace(arg) == "":
			return Usagef("argument %d is empty: %s", i+1, UsageLine(c))
		case IsID(Argument(c, i)) && (!utf8.ValidString(arg) || strings.ContainsFunc(arg, unicode.IsControl)):
			return Usagef("argument %d, %q, holds a control character", i+1, arg)
		}
	}
	return nil
}

// flagError describes an invalid flag and suggests similar ones.
func flagError(c *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) {
		return BadUsage(settings.FlagError(err))
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	var near []string
	for _, name := range service.Nearest(missing.GetSpecifiedName(), names) {
		near = append(near, "--"+name)
	}
	return Usagef("%w%s; see %s -h", err, service.DidYouMean(near), c.CommandPath())
}

// unknown reports an unknown command and suggests similar ones.
func unknown(parent *cobra.Command, args []string) error {
	var names []string
	for _, c := range parent.Commands() {
		names = append(names, c.Name())
	}
	near := service.Nearest(args[0], names)
	if parent.HasParent() {
		return Usagef("there is no command %q%s; the commands of %s are %s", Path(parent)+" "+args[0], service.DidYouMean(near), Path(parent),
			strings.Join(names, ", "))
	}
	for _, topic := range help.Topics() {
		if !slices.Contains(names, topic.Name) {
			names = append(names, topic.Name)
		}
	}
	near = service.Nearest(args[0], names)
	for c := range Leaves(parent) {
		if first, last, two := strings.Cut(Path(c), " "); two && (last == args[0] || first+"-"+last == args[0] || first+last == args[0]) {
			near = append(near, Path(c))
		}
	}
	return Usagef("there is no command %q%s; run starter help", args[0], service.DidYouMean(near))
}
