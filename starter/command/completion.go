package command

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/graduate"
	"axiommind/activities/task"
	"axiommind/activities/text"
	"axiommind/activities/tier"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

const (
	// CompletionTimeout is the longest time that a completion takes.
	CompletionTimeout = time.Second
	// maxCompletions bounds the values that a shell gets: the latest ones.
	maxCompletions = 100
	// maxDescription bounds the part of a title shown next to a value, in characters.
	maxDescription = 60
)

// Request is a completion request from the shell.
type Request struct {
	App *App
	// Flags are the flags that precede the completed word.
	Flags *pflag.FlagSet
	// prefix is the beginning of the values.
	prefix string
}

// given returns the value of a flag, or "" if the command has no such flag.
func (r Request) given(flag string) string {
	if f := r.Flags.Lookup(flag); f != nil {
		return f.Value.String()
	}
	return ""
}

// Suggestion is a value with a description for people.
type Suggestion struct{ Value, Description string }

// values returns the suggestions for a flag or an argument.
type values func(ctx context.Context, r Request) []Suggestion

// ArgumentValues complete the arguments, by their words in usage lines, unless a command completes its own. Other words are
// file names (see [FileArguments]) or have no completion.
var ArgumentValues = map[string]values{
	"ENTRY":     EntryIDs,
	"TASK":      EntityIDs(schema.EntityTask),
	"INTO":      EntityIDs(schema.EntityTask),
	"CONDITION": EntityIDs(schema.EntityCondition),
	"TARGET":    EntityIDs(schema.EntityTask, schema.EntityArtifact),
	"ARTIFACT":  EntityIDs(schema.EntityArtifact),
	"SESSION":   Known(build.ColumnSession),
	"BUILD":     buildIDs,
	"OTHER":     buildIDs,
	"CONFLICT":  conflictIDs,
	"DECISION":  decisionIDs,
	"PROPOSAL":  proposalIDs,
	"FACT":      factIDs,
	"SECTION":   Fixed(schema.ProfileSections()...),
	"FROM":      VersionNumbers,
	"TO":        VersionNumbers,
	"VERSION":   VersionNumbers,
	"DREAM":     dreamNumbers,
	"SYSTEM":    Fixed(format.Migrated()...),
	"EVENT":     nil,
	"TEXT":      nil,
}

// FileArguments are the words for arguments that name files or directories.
var FileArguments = map[string]cobra.ShellCompDirective{
	"FILE|DIR":   cobra.ShellCompDirectiveDefault,
	"FILE|DIR|-": cobra.ShellCompDirectiveDefault,
	"FILE|-":     cobra.ShellCompDirectiveDefault,
	"FILE":       cobra.ShellCompDirectiveDefault,
	"DIR":        cobra.ShellCompDirectiveFilterDirs,
}

// FlagValues complete the flags that several commands have, by their names. A command completes its own by [App.Complete].
var FlagValues = map[string]values{
	"project":   Known(build.ColumnProject),
	"user":      Known(build.ColumnUser),
	"agent":     Known(build.ColumnAgent),
	"session":   Known(build.ColumnSession),
	"type":      Fixed(schema.EntryTypes()...),
	"category":  Fixed(schema.FactCategories()...),
	"stage":     Fixed(schema.Stages()...),
	"output":    Fixed(OutputText, OutputJSON),
	"embedder":  Fixed(embedders()...),
	"log-level": Fixed("debug", "info", "warn", "error"),
}

// fileFlags are the flags that name files.
var fileFlags = []string{"config", "file", "payload-key-file", "raw-key-file", "tls-ca", "temporal-tls-cert", "temporal-tls-key", "token-file",
	"goldset", "compare", "out"}

// Fixed returns values that never change.
func Fixed[T ~string](all ...T) values {
	return func(context.Context, Request) []Suggestion {
		out := make([]Suggestion, len(all))
		for i, v := range all {
			out[i].Value = string(v)
		}
		return out
	}
}

// Known returns the values of a column of builds, filtered by the given project, user and agent.
func Known(column build.Column) values {
	return stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		f := build.Filter{All: true, Limit: maxCompletions}
		if column != build.ColumnProject {
			f.Project = r.given("project")
		}
		if column == build.ColumnSession {
			f.User, f.Agent = r.given("user"), r.given("agent")
		}
		found, err := build.Values(ctx, conn, column, r.prefix, f)
		out := make([]Suggestion, len(found))
		for i, v := range found {
			out[i] = Suggestion{v.Text, "last processed " + When(v.Started)}
		}
		return out, err
	})
}

var (
	buildIDs = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := build.Values(ctx, conn, build.ColumnBuild, r.prefix, build.Filter{All: true, Limit: maxCompletions})
		out := make([]Suggestion, len(found))
		for i, v := range found {
			out[i] = Suggestion{v.Text, v.Session + " in " + v.Project + ", " + When(v.Started)}
		}
		return out, err
	})
	// EntryIDs are the ids of the newest memories.
	EntryIDs = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := entry.NewReader(conn).Read(ctx,
			entry.InProject(r.given("project")).Prefix(r.prefix).NewestFirst().Limit(maxCompletions), entry.Statement)
		out := make([]Suggestion, len(found))
		for i, e := range found {
			out[i] = Suggestion{e.ID, e.Title}
		}
		return out, err
	})
)

var (
	// VersionNumbers are the versions of a core memory.
	VersionNumbers = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := tier.NewTables(conn).History(ctx, r.given("user"), r.given("agent"), maxCompletions, 0)
		var out []Suggestion
		for _, v := range found {
			if number := strconv.Itoa(v.Version); strings.HasPrefix(number, r.prefix) {
				out = append(out, Suggestion{number, OriginText(v) + ", " + When(v.At)})
			}
		}
		return out, err
	})
	dreamNumbers = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := tier.NewTables(conn).Dreams(ctx, r.given("user"), r.given("agent"), maxCompletions, 0)
		var out []Suggestion
		for _, d := range found {
			if number := strconv.Itoa(d.Ordinal); strings.HasPrefix(number, r.prefix) {
				out = append(out, Suggestion{number, d.Date + ", " + string(d.Status)})
			}
		}
		return out, err
	})
)

var (
	conflictIDs = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := graduate.NewLedgers(conn).Conflicts(ctx, graduate.ConflictQuery{
			Project: r.given("project"), Resolved: true, Limit: maxCompletions,
		})
		out := make([]Suggestion, len(found))
		for i, c := range found {
			out[i] = Suggestion{c.ID, c.Older.Title + " / " + c.Newer.Title}
		}
		return out, err
	})
	// proposalIDs are the ids of pending proposals.
	proposalIDs = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := graduate.NewLedgers(conn).Proposals(ctx, eventlog.New(conn, eventlog.Options{}), graduate.ProposalQuery{
			Project: r.given("project"), Limit: maxCompletions,
		})
		out := make([]Suggestion, len(found))
		for i, p := range found {
			out[i] = Suggestion{p.ID, string(p.Change) + ": " + p.Entry.Title}
		}
		return out, err
	})
	decisionIDs = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := graduate.NewLedgers(conn).Decisions(ctx, graduate.DecisionQuery{Project: r.given("project"), Limit: maxCompletions})
		out := make([]Suggestion, len(found))
		for i, d := range found {
			out[i] = Suggestion{d.ID, d.Action}
		}
		return out, err
	})
)

// factIDs are the ids of facts of the given user and agent.
var factIDs = stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
	found, err := fact.NewTables(conn).Named(ctx, r.given("user"), r.given("agent"), r.prefix, maxCompletions)
	out := make([]Suggestion, len(found))
	for i, f := range found {
		out[i] = Suggestion{f.ID, strings.TrimPrefix(GoneText(f)+", ", ", ") + f.Content}
	}
	return out, err
})

// EntityIDs completes the ids of tasks, conditions or artifacts.
func EntityIDs(types ...schema.EntityType) values {
	return stored(func(ctx context.Context, conn driver.Conn, r Request) ([]Suggestion, error) {
		found, err := task.NewTables(conn).Titled(ctx, r.given("project"), types, r.prefix, maxCompletions)
		out := make([]Suggestion, len(found))
		for i, e := range found {
			out[i] = Suggestion{e.ID, e.Title}
		}
		return out, err
	})
}

// stored returns values that are read from ClickHouse. If it is unreachable or slow, there are none.
func stored(find func(context.Context, driver.Conn, Request) ([]Suggestion, error)) values {
	return func(ctx context.Context, r Request) []Suggestion {
		if r.App.answer != nil {
			return nil // A call has only the values that are the same everywhere.
		}
		ctx, cancel := context.WithTimeout(ctx, r.App.Completion)
		defer cancel()
		cfg := &r.App.Cfg // The flags write into it.
		if cfg.Load(r.Flags, r.App.Getenv, service.LocalConfigFile()) != nil {
			return nil
		}
		roots, err := settings.Roots(cfg.TLSCA)
		if err != nil {
			return nil
		}
		// There is no retry if the server is unreachable.
		conn, err := clickhouse.Connect(ctx, cfg.ClickHouseDSN, clickhouse.ConnectOptions{RootCAs: roots, Cluster: cfg.Cluster})
		if err != nil {
			return nil
		}
		defer func() { _ = conn.Close() }()
		found, err := find(ctx, conn, r)
		if err != nil {
			return nil
		}
		return found
	}
}

// CompleteArguments completes the arguments of a command by their words.
func (a *App) CompleteArguments(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	word := Argument(cmd, len(args))
	if directive, ok := FileArguments[word]; ok {
		return nil, directive
	}
	find := ArgumentValues[word]
	if find == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.Arguments(find)(cmd, args, prefix)
}

// Arguments completes arguments with values, each once, as often as the command takes one.
func (a *App) Arguments(find values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if Argument(cmd, len(args)) == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := find(cmd.Context(), Request{a, cmd.Flags(), prefix})
		found = slices.DeleteFunc(found, func(s Suggestion) bool { return slices.Contains(args, s.Value) })
		return completions(found, "", prefix)
	}
}

// completeFlags completes the flags of a command that it does not complete itself.
func (a *App) completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		_, done := cmd.GetFlagCompletionFunc(f.Name)
		if done = done || a.known[f] != nil; !done && !slices.Contains(fileFlags, f.Name) {
			a.Complete(cmd, f.Name, FlagValues[f.Name])
		}
	})
}

// Complete completes a flag with values, or with nothing if find is nil.
func (a *App) Complete(cmd *cobra.Command, flag string, find values) {
	if a.answer != nil { // Cobra keeps completions for ever, and there is a tree of commands for each call.
		if a.known == nil {
			a.known = map[*pflag.Flag]values{}
		}
		a.known[cmd.Flags().Lookup(flag)] = find
		return
	}
	value := cmd.Flags().Lookup(flag).Value
	_, list := value.(pflag.SliceValue)
	list = list && value.Type() == "stringSlice"
	_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if find == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		before := ""
		if list {
			before = prefix[:strings.LastIndexByte(prefix, ',')+1]
		}
		return completions(find(cmd.Context(), Request{a, cmd.Flags(), prefix[len(before):]}), before, prefix)
	})
}

// completions converts suggestions to cobra's format. Values that a shell could interpret as anything but a plain word are
// left out.
func completions(found []Suggestion, before, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	out := []cobra.Completion{}
	for _, s := range found {
		if PlainWord(s.Value) && strings.HasPrefix(before+s.Value, prefix) {
			out = append(out, cobra.CompletionWithDesc(before+s.Value, OneLine(s.Description, maxDescription)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// PlainWord reports whether every shell takes the unquoted value literally: letters, digits and marks of any alphabet, and
// punctuation without a meaning to shells.
func PlainWord(value string) bool {
	for i, r := range value {
		switch {
		case r == unicode.ReplacementChar, text.Hidden(r):
			return false
		case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		case i > 0 && strings.ContainsRune("-+@%", r):
		case !strings.ContainsRune("_./:,", r):
			return false
		}
	}
	return value != ""
}
