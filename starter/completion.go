package main

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
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/graduate"
	"axiommind/activities/task"
	"axiommind/activities/text"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/worker/service"
	"axiommind/worker/settings"
)

const (
	// completionTimeout is the longest time that a completion takes.
	completionTimeout = time.Second
	// maxCompletions bounds the values that a shell gets: the latest ones.
	maxCompletions = 100
	// maxDescription bounds the part of a title shown next to a value, in characters.
	maxDescription = 60
)

// request is a completion request from the shell.
type request struct {
	app *app
	// flags are the flags that precede the completed word.
	flags *pflag.FlagSet
	// prefix is the beginning of the values.
	prefix string
}

// given returns the value of a flag, or "" if the command has no such flag.
func (r request) given(flag string) string {
	if f := r.flags.Lookup(flag); f != nil {
		return f.Value.String()
	}
	return ""
}

// suggestion is a value with a description for people.
type suggestion struct{ value, description string }

// values returns the suggestions for a flag or an argument.
type values func(ctx context.Context, r request) []suggestion

// argumentValues complete the arguments, by their words in usage lines, unless a command completes its own. Other words are
// file names (see [fileArguments]) or have no completion.
var argumentValues = map[string]values{
	"ENTRY":     entryIDs,
	"TASK":      entityIDs(schema.EntityTask),
	"INTO":      entityIDs(schema.EntityTask),
	"CONDITION": entityIDs(schema.EntityCondition),
	"TARGET":    entityIDs(schema.EntityTask, schema.EntityArtifact),
	"ARTIFACT":  entityIDs(schema.EntityArtifact),
	"SESSION":   known(build.ColumnSession),
	"BUILD":     buildIDs,
	"OTHER":     buildIDs,
	"CONFLICT":  conflictIDs,
	"DECISION":  decisionIDs,
	"PROPOSAL":  proposalIDs,
	"FACT":      factIDs,
	"SECTION":   fixed(schema.ProfileSections()...),
	"FROM":      versionNumbers,
	"TO":        versionNumbers,
	"VERSION":   versionNumbers,
	"DREAM":     dreamNumbers,
	"EVENT":     nil,
	"TEXT":      nil,
}

// fileArguments are the words for arguments that name files or directories.
var fileArguments = map[string]cobra.ShellCompDirective{
	"FILE|DIR|-": cobra.ShellCompDirectiveDefault,
	"FILE|-":     cobra.ShellCompDirectiveDefault,
	"FILE":       cobra.ShellCompDirectiveDefault,
	"DIR":        cobra.ShellCompDirectiveFilterDirs,
}

// flagValues complete the flags that several commands have, by their names. A command completes its own by [app.complete].
var flagValues = map[string]values{
	"project":   known(build.ColumnProject),
	"user":      known(build.ColumnUser),
	"agent":     known(build.ColumnAgent),
	"session":   known(build.ColumnSession),
	"type":      fixed(schema.EntryTypes()...),
	"category":  fixed(schema.FactCategories()...),
	"stage":     fixed(schema.Stages()...),
	"output":    fixed(outputText, outputJSON),
	"embedder":  fixed(embedders()...),
	"log-level": fixed("debug", "info", "warn", "error"),
}

// fileFlags are the flags that name files.
var fileFlags = []string{"config", "file", "payload-key-file", "raw-key-file", "tls-ca", "temporal-tls-cert", "temporal-tls-key", "token-file",
	"goldset", "compare", "out"}

// fixed returns values that never change.
func fixed[T ~string](all ...T) values {
	return func(context.Context, request) []suggestion {
		out := make([]suggestion, len(all))
		for i, v := range all {
			out[i].value = string(v)
		}
		return out
	}
}

// known returns the values of a column of builds, filtered by the given project, user and agent.
func known(column build.Column) values {
	return stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		f := build.Filter{All: true, Limit: maxCompletions}
		if column != build.ColumnProject {
			f.Project = r.given("project")
		}
		if column == build.ColumnSession {
			f.User, f.Agent = r.given("user"), r.given("agent")
		}
		found, err := build.Values(ctx, conn, column, r.prefix, f)
		out := make([]suggestion, len(found))
		for i, v := range found {
			out[i] = suggestion{v.Text, "last processed " + when(v.Started)}
		}
		return out, err
	})
}

var (
	buildIDs = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := build.Values(ctx, conn, build.ColumnBuild, r.prefix, build.Filter{All: true, Limit: maxCompletions})
		out := make([]suggestion, len(found))
		for i, v := range found {
			out[i] = suggestion{v.Text, v.Session + " in " + v.Project + ", " + when(v.Started)}
		}
		return out, err
	})
	// entryIDs are the ids of the newest memories.
	entryIDs = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := entry.NewReader(conn).Read(ctx,
			entry.InProject(r.given("project")).Prefix(r.prefix).NewestFirst().Limit(maxCompletions), entry.Statement)
		out := make([]suggestion, len(found))
		for i, e := range found {
			out[i] = suggestion{e.ID, e.Title}
		}
		return out, err
	})
)

var (
	// versionNumbers are the versions of a core memory.
	versionNumbers = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := tier.NewTables(conn).History(ctx, r.given("user"), r.given("agent"), maxCompletions, 0)
		var out []suggestion
		for _, v := range found {
			if number := strconv.Itoa(v.Version); strings.HasPrefix(number, r.prefix) {
				out = append(out, suggestion{number, originText(v) + ", " + when(v.At)})
			}
		}
		return out, err
	})
	dreamNumbers = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := tier.NewTables(conn).Dreams(ctx, r.given("user"), r.given("agent"), maxCompletions, 0)
		var out []suggestion
		for _, d := range found {
			if number := strconv.Itoa(d.Ordinal); strings.HasPrefix(number, r.prefix) {
				out = append(out, suggestion{number, d.Date + ", " + string(d.Status)})
			}
		}
		return out, err
	})
)

var (
	conflictIDs = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := graduate.NewLedgers(conn).Conflicts(ctx, graduate.ConflictQuery{
			Project: r.given("project"), Resolved: true, Limit: maxCompletions,
		})
		out := make([]suggestion, len(found))
		for i, c := range found {
			out[i] = suggestion{c.ID, c.Older.Title + " / " + c.Newer.Title}
		}
		return out, err
	})
	// proposalIDs are the ids of pending proposals.
	proposalIDs = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := graduate.NewLedgers(conn).Proposals(ctx, eventlog.New(conn, eventlog.Options{}), graduate.ProposalQuery{
			Project: r.given("project"), Limit: maxCompletions,
		})
		out := make([]suggestion, len(found))
		for i, p := range found {
			out[i] = suggestion{p.ID, string(p.Change) + ": " + p.Entry.Title}
		}
		return out, err
	})
	decisionIDs = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := graduate.NewLedgers(conn).Decisions(ctx, graduate.DecisionQuery{Project: r.given("project"), Limit: maxCompletions})
		out := make([]suggestion, len(found))
		for i, d := range found {
			out[i] = suggestion{d.ID, d.Action}
		}
		return out, err
	})
)

// factIDs are the ids of facts of the given user and agent.
var factIDs = stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
	found, err := fact.NewTables(conn).Named(ctx, r.given("user"), r.given("agent"), r.prefix, maxCompletions)
	out := make([]suggestion, len(found))
	for i, f := range found {
		out[i] = suggestion{f.ID, strings.TrimPrefix(goneText(f)+", ", ", ") + f.Content}
	}
	return out, err
})

// entityIDs completes the ids of tasks, conditions or artifacts.
func entityIDs(types ...schema.EntityType) values {
	return stored(func(ctx context.Context, conn driver.Conn, r request) ([]suggestion, error) {
		found, err := task.NewTables(conn).Titled(ctx, r.given("project"), types, r.prefix, maxCompletions)
		out := make([]suggestion, len(found))
		for i, e := range found {
			out[i] = suggestion{e.ID, e.Title}
		}
		return out, err
	})
}

// stored returns values that are read from ClickHouse. If it is unreachable or slow, there are none.
func stored(find func(context.Context, driver.Conn, request) ([]suggestion, error)) values {
	return func(ctx context.Context, r request) []suggestion {
		ctx, cancel := context.WithTimeout(ctx, r.app.completion)
		defer cancel()
		cfg := &r.app.cfg // The flags write into it.
		if cfg.Load(r.flags, r.app.getenv, service.LocalConfigFile()) != nil {
			return nil
		}
		roots, err := settings.Roots(cfg.TLSCA)
		if err != nil {
			return nil
		}
		// There is no retry if the server is unreachable.
		conn, err := eventlog.Connect(ctx, cfg.ClickHouseDSN, eventlog.ConnectOptions{RootCAs: roots})
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

// completeArguments completes the arguments of a command by their words.
func (a *app) completeArguments(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	word := argument(cmd, len(args))
	if directive, ok := fileArguments[word]; ok {
		return nil, directive
	}
	find := argumentValues[word]
	if find == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.arguments(find)(cmd, args, prefix)
}

// arguments completes arguments with values, each once, as often as the command takes one.
func (a *app) arguments(find values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if argument(cmd, len(args)) == "" {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := find(cmd.Context(), request{a, cmd.Flags(), prefix})
		found = slices.DeleteFunc(found, func(s suggestion) bool { return slices.Contains(args, s.value) })
		return completions(found, "", prefix)
	}
}

// completeFlags completes the flags of a command that it does not complete itself.
func (a *app) completeFlags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, done := cmd.GetFlagCompletionFunc(f.Name); !done && !slices.Contains(fileFlags, f.Name) {
			a.complete(cmd, f.Name, flagValues[f.Name])
		}
	})
}

// complete completes a flag with values, or with nothing if find is nil.
func (a *app) complete(cmd *cobra.Command, flag string, find values) {
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
		return completions(find(cmd.Context(), request{a, cmd.Flags(), prefix[len(before):]}), before, prefix)
	})
}

// completions converts suggestions to cobra's format. Values that a shell could interpret as anything but a plain word are
// left out.
func completions(found []suggestion, before, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	out := []cobra.Completion{}
	for _, s := range found {
		if plainWord(s.value) && strings.HasPrefix(before+s.value, prefix) {
			out = append(out, cobra.CompletionWithDesc(before+s.value, oneLine(s.description, maxDescription)))
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// plainWord reports whether every shell takes the unquoted value literally: letters, digits and marks of any alphabet, and
// punctuation without a meaning to shells.
func plainWord(value string) bool {
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
