// Starter is AxiomMind's command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"axiommind/activities/llm"
	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/worker/service"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // The work failed: a build, a check, a server.
	exitUsage  = 2 // The command line or its input is wrong; nothing was started.
	exitBusy   = 3 // With --no-wait: somebody else is at it.
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a := &app{
		in: os.Stdin, out: os.Stdout, errOut: os.Stderr, getenv: os.Getenv,
		live: term.IsTerminal(int(os.Stderr.Fd())), quiet: 10 * time.Second,
	}
	code := a.main(ctx, os.Args[1:])
	stop()
	if code != exitOK {
		os.Exit(code) //nolint:gocritic // stop has been called
	}
}

// app is one invocation of the program.
type app struct {
	in io.Reader
	// out and errOut are for people: they show what could command a terminal, or hide.
	out, errOut io.Writer
	// exact takes what programs read, drawn what is drawn over again, both as they are.
	exact, drawn io.Writer
	getenv       func(string) string
	// live is true when a person watches: progress is drawn.
	live bool
	// quiet is how long a program that waits may print nothing, where progress is not drawn.
	quiet  time.Duration
	cfg    service.Config
	output string
}

// command is one verb of the command line.
type command struct {
	name, arguments, summary string
	// flags adds the command's own flags and returns what runs it with the remaining arguments.
	flags func(a *app, f *pflag.FlagSet) func(ctx context.Context, args []string) error
}

var commands = []command{
	{"process", "FILE|DIR|-", "turn transcripts into memory", (*app).processCommand},
	{"search", "TEXT", "find memories, with their evidence", (*app).searchCommand},
	{"entry show", "ID", "show a memory and its evidence in context", (*app).entryShowCommand},
	{"blocked", "", "list blocked tasks and what they wait for", (*app).blockedCommand},
	{"tasks", "", "list tasks", (*app).tasksCommand},
	{"task show", "ID", "show a task, its blockers and its history with evidence", (*app).taskShowCommand},
	{"task set", "ID", "change a task", (*app).taskSetCommand},
	{"task confirm", "ID…", "close tasks that are reported done", (*app).taskConfirmCommand},
	{"task merge", "ID INTO", "make a task part of another one", (*app).taskMergeCommand},
	{"conditions resolved", "", "list what conditions turned out to be", (*app).conditionsResolvedCommand},
	{"condition resolve", "ID TARGET", "say what a condition turned out to be", (*app).conditionResolveCommand},
	{"artifact close", "ID", "say that an artifact is done with", (*app).artifactCloseCommand},
	{"facts", "", "list what is remembered of a user", (*app).factsCommand},
	{"context", "", "print what is remembered for a prompt, within a token budget", (*app).contextCommand},
	{"builds list", "", "list the latest builds", (*app).buildsListCommand},
	{"builds show", "ID", "show a build, its steps and what failed", (*app).buildsShowCommand},
	{"verify", "", "check every stored span against the log again", (*app).verifyCommand},
	{"realign", "", "judge anew, by today's rule of proof, what an older one has judged", (*app).realignCommand},
	{"reconcile", "", "compare Weaviate with the log and repair what has drifted", (*app).reconcileCommand},
	{"doctor", "", "check every server and say how to mend it", (*app).doctorCommand},
}

func (a *app) main(ctx context.Context, args []string) int {
	out, errOut := &text.Writer{To: a.out}, &text.Writer{To: a.errOut}
	a.exact, a.drawn = a.out, a.errOut
	a.out, a.errOut = out, errOut
	err := a.run(ctx, args)
	var busy busyError
	if flushErr := out.Flush(); err == nil && flushErr != nil {
		err = fmt.Errorf("write output: %w", flushErr)
	}
	defer func() { _ = errOut.Flush() }()
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return exitOK
	case isUsage(err):
		a.complain(err)
		return exitUsage
	case errors.As(err, &busy):
		a.complain(err)
		return exitBusy
	default:
		a.complain(err)
		return exitFailed
	}
}

func (a *app) run(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		a.usage()
		return nil
	}
	c, rest := find(args)
	if c == nil {
		return unknown(args)
	}
	own, settings := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	run := c.flags(a, own)
	own.StringVarP(&a.output, "output", "o", "text", "text or json")
	a.cfg.Flags(settings)
	a.cfg.LogLevel, a.cfg.ConnectTimeout = "error", patience
	if c.name == "doctor" {
		a.cfg.ConnectTimeout = doctorPatience
	}
	settings.Lookup("log-level").DefValue = a.cfg.LogLevel
	settings.Lookup("connect-timeout").DefValue = a.cfg.ConnectTimeout.String()
	f := pflag.NewFlagSet("starter "+c.name, pflag.ContinueOnError)
	f.AddFlagSet(own)
	f.AddFlagSet(settings)
	f.Usage = func() {
		_, _ = fmt.Fprintf(a.out, "%s\n\nUsage: starter %s [flags]\n\n%s\nSettings, which a variable or a file can give too:\n%s",
			c.summary, strings.TrimSpace(c.name+" "+c.arguments), own.FlagUsages(), settings.FlagUsages())
	}
	if err := f.Parse(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return err
		}
		return usageError{service.FlagError(err)}
	}
	if a.output != "text" && a.output != "json" {
		return usagef("--output %q: want text or json", a.output)
	}
	if err := a.cfg.Load(f, a.getenv, service.LocalConfigFile()); err != nil {
		return usageError{err}
	}
	if err := oneOf("embedder", a.cfg.Embedder.Provider, []string{llm.ProviderHash, llm.ProviderGemini, llm.ProviderOpenAI}); err != nil {
		return err
	}
	if _, err := service.NewLogger(a.cfg); err != nil {
		return usageError{err}
	}
	if want := strings.Fields(c.arguments); len(f.Args()) != len(want) && c.name != "search" && c.name != "task confirm" {
		return usagef("%s takes %d argument(s), not %d: starter %s %s", c.name, len(want), len(f.Args()), c.name, c.arguments)
	}
	if err := checkNames(own, c, f.Args()); err != nil {
		return err
	}
	return run(ctx, f.Args())
}

// checkNames refuses what can be no name and no id before any server is asked.
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
			return usagef("argument %d is empty: starter %s %s", i+1, c.name, c.arguments)
		case strings.HasPrefix(c.arguments, "ID") && (!utf8.ValidString(arg) || strings.ContainsFunc(arg, unicode.IsControl)):
			return usagef("argument %d, %q, holds a control character", i+1, arg)
		}
	}
	return nil
}

// find returns the command that the arguments begin with, and the rest of them.
func find(args []string) (*command, []string) {
	for i := range commands {
		words := strings.Fields(commands[i].name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == commands[i].name {
			return &commands[i], args[len(words):]
		}
	}
	return nil, nil
}

// unknown tells what commands begin with the word that was given.
func unknown(args []string) error {
	var names []string
	for _, c := range commands {
		if strings.HasPrefix(c.name, args[0]+" ") {
			names = append(names, c.name)
		}
	}
	if len(names) > 0 {
		return usagef("%s is one of: %s", args[0], strings.Join(names, ", "))
	}
	return usagef("there is no command %q; run starter help", strings.Join(args[:min(2, len(args))], " "))
}

func (a *app) usage() {
	var b strings.Builder
	b.WriteString("AxiomMind: long-term memory with proof.\n\nUsage: starter COMMAND [flags]\n\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-28s %s\n", c.name+" "+c.arguments, c.summary)
	}
	b.WriteString("\nEvery command takes --output json and -h. Settings come from flags, AXIOMMIND_… variables,\n" +
		"or a YAML file (--config); a local stack that is up is found by itself.\n" +
		"Exit codes: 0 done, 1 the work failed or a file could not be read, 2 wrong use or input, nothing was started,\n" +
		"3 process --no-wait found the session being processed already.\n")
	_, _ = io.WriteString(a.out, b.String())
}
