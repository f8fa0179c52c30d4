package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	memory "axiommind/starter/client"
)

// Call is a command that a program of this process runs, for itself or for one of its clients.
type Call struct {
	// Path are the words of the command, and Args its arguments.
	Path string
	Args []string
	// Flags are the values of its flags. Only a flag that is a list may have several.
	Flags map[string][]string
	// Input is read where a command reads its standard input.
	Input io.Reader
	// By names who calls, for the histories. Default: the user of the process.
	By string
	// Key makes the changes of two equal calls one. Without a key each call makes its own.
	Key string
}

// Answer is the result of a call.
type Answer struct {
	// Value is the value that the command would print as JSON. It is nil if there is nothing to show, and None says so.
	Value any
	None  string
	// More is the offset of the next page of a list, or 0 if this is the last one.
	More int
	// answered is true once the command printed its result. It may fail after that.
	answered bool
}

// longCall is the interval between progress lines of a call, which no one reads.
const longCall = 24 * time.Hour

// callee returns the program as a call has it: with the connections and settings of a, and its commands.
func (a *App) callee(c Call) *App {
	return &App{
		In: c.Input, Out: io.Discard, ErrOut: io.Discard, Exact: io.Discard, Drawn: io.Discard, Getenv: a.Getenv, Quiet: longCall, Cfg: a.Cfg,
		shared: a.connections(), answer: &Answer{}, by: c.By, key: c.Key, Tracing: a.Tracing,
	}
}

// Described is a command as a call runs it.
type Described struct {
	*cobra.Command
	// Results are the types of its results.
	Results []reflect.Type
	app     *App
}

// Command returns the command with these words. It has none if there is no such command.
func (a *App) Command(path string) Described {
	callee := a.callee(Call{})
	cmd := a.commandOf(callee, path)
	return Described{cmd, callee.results[cmd], callee}
}

// Values returns the values that a flag can have, if they are the same everywhere.
func (d Described) Values(f *pflag.Flag) (all []string) {
	find := d.app.known[f]
	if find == nil {
		return nil
	}
	for _, s := range find(context.Background(), Request{d.app, d.Flags(), ""}) {
		all = append(all, s.Value)
	}
	return all
}

// Called reports whether the command runs for a program, and not for a command line.
func (a *App) Called() bool { return a.answer != nil }

// commandOf returns the callee's own command with these words. Only the commands of its group are made.
func (a *App) commandOf(callee *App, path string) *cobra.Command {
	named := func(c *cobra.Command) bool { return Path(c) == path }
	at := slices.IndexFunc(a.Groups, func(g Group) bool { return slices.ContainsFunc(g.leaves, named) })
	if at < 0 {
		return nil
	}
	for _, c := range a.Groups[at].Commands(callee) {
		for leaf := range Leaves(c) {
			if named(leaf) {
				return leaf
			}
		}
	}
	return nil
}

// GroupOf returns the title of the group that has the command.
func (a *App) GroupOf(path string) string {
	for _, g := range a.Groups {
		if slices.ContainsFunc(g.leaves, func(c *cobra.Command) bool { return Path(c) == path }) {
			return g.Title
		}
	}
	return ""
}

// Call runs a command and returns its result. The checks, the code and the errors are those of the command line.
func (a *App) Call(ctx context.Context, c Call) (Answer, error) {
	callee := a.callee(c)
	var notices notices
	callee.ErrOut = &notices
	cmd := a.commandOf(callee, c.Path)
	if cmd == nil {
		return Answer{}, fmt.Errorf("there is no command %q", c.Path)
	}
	callee.Output = OutputJSON
	for name, given := range c.Flags {
		if err := setFlag(cmd.Flags(), name, given); err != nil {
			return Answer{}, err
		}
	}
	if c.By != "" {
		ctx = memory.WithActor(ctx, c.By)
	}
	cmd.SetContext(ctx)
	err := checkCount(cmd, c.Args)
	if err == nil {
		err = cmd.RunE(cmd, c.Args)
	}
	answer := callee.answer
	switch {
	case err == nil && !answer.answered:
		err = fmt.Errorf("the command %q printed no result", c.Path)
	case answer.Value != nil && !slices.Contains(callee.results[cmd], reflect.TypeOf(answer.Value)):
		err = fmt.Errorf("the command %q printed a %T, which it does not declare", c.Path, answer.Value)
	}
	answer.None = strings.TrimSpace(cmp.Or(answer.None, notices.String()))
	return *answer, err
}

// notices are the last lines for people, which explain an answer that there is none. A command may write them at any time.
type notices struct {
	mu   sync.Mutex
	last []byte
}

// maxNotices bounds the kept lines, in bytes.
const maxNotices = 4 << 10

func (n *notices) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = append(n.last, p...)
	n.last = n.last[max(0, len(n.last)-maxNotices):]
	return len(p), nil
}

func (n *notices) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.ToValidUTF8(string(n.last), "")
}

// setFlag sets a flag as the command line would.
func setFlag(f *pflag.FlagSet, name string, given []string) error {
	flag := f.Lookup(name)
	if flag == nil {
		return Usagef("there is no flag --%s", name)
	}
	if list, is := flag.Value.(pflag.SliceValue); is {
		flag.Changed = true
		return list.Replace(given)
	}
	if len(given) != 1 {
		return Usagef("--%s: want one value", name)
	}
	if err := flag.Value.Set(given[0]); err != nil {
		return Usagef("--%s %q: want %s", name, given[0], Kind(flag))
	}
	flag.Changed = true
	return nil
}

// Kind names the values of a flag.
func Kind(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "uint64":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a duration like 90s or 2h"
	}
	return "a text"
}

// Answers declares the types of the results that a command prints, for the documentation of programs that call it.
func (a *App) Answers(cmd *cobra.Command, results ...any) {
	if a.answer == nil {
		return
	}
	if a.results == nil {
		a.results = map[*cobra.Command][]reflect.Type{}
	}
	for _, r := range results {
		a.results[cmd] = append(a.results[cmd], reflect.TypeOf(r))
	}
}

// take keeps the result of a call.
func (r *Answer) take(v any, people func(*strings.Builder)) {
	r.Value, r.answered = v, true
	if v == nil {
		var said strings.Builder
		people(&said)
		r.None = said.String()
	}
}

// idSpace is the namespace of the ids that calls with a key make.
var idSpace = uuid.MustParse("6f1f8f0e-6a52-4f0b-9a2e-1b8c1f0f7c55")

// NewID returns an id for a change: the same one for the nth change of two calls with the same key.
func (a *App) NewID() string {
	if a.key == "" {
		return uuid.NewString()
	}
	a.made++
	return uuid.NewSHA1(idSpace, []byte(a.key+"/"+strconv.Itoa(a.made))).String()
}
