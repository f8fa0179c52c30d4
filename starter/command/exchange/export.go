package exchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/worker/service"
)

// exported is the result of an export.
type exported struct {
	Dir     string `json:"dir"`
	Scope   Scope  `json:"scope"`
	Streams int    `json:"streams"`
	Events  int    `json:"events"`
	LeftOut int    `json:"left_out"`
	// Concepts counts the Markdown files.
	Concepts int `json:"concepts"`
}

// Parts of an export.
const (
	partEvents = "jsonl"
	partOKF    = "okf"
	partBoth   = "both"
)

func exportCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export DIR", Short: "write all data of a project or a user to a new directory",
		Example: "starter export backup --project demo\n" +
			"starter export ann --user ann\n" +
			"starter export notes --project demo --format okf",
	}
	s := &Scope{}
	s.add(cmd.Flags())
	part := cmd.Flags().String("format", partBoth, partEvents+": all events, for an import that loses nothing;\n"+partOKF+": Open Knowledge Format "+okfVersion+"; or "+partBoth)
	a.Complete(cmd, "format", command.Fixed(partEvents, partOKF, partBoth))
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := s.one(a.Typed); err != nil {
			return err
		}
		if err := command.OneOf("format", *part, []string{partEvents, partOKF, partBoth}); err != nil {
			return err
		}
		if err := emptyDirectory(args[0]); err != nil {
			return err
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		out := exported{Dir: args[0], Scope: *s}
		if err := out.write(ctx, conn, *part); err != nil {
			return err
		}
		return a.Print(out, func(b *strings.Builder) { printExported(b, out) })
	})
}

// add declares the flags.
func (s *Scope) add(f *pflag.FlagSet) {
	f.StringVar(&s.Project, "project", "", "project to export, with its sessions, tasks and facts")
	f.StringVar(&s.User, "user", "", "user to export, in all projects")
	f.BoolVar(&s.All, "all", false, "export all users and projects")
}

// one returns an error unless one scope is given. A typed flag takes precedence over a variable or a file.
func (s *Scope) one(typed []string) error {
	switch project, user := slices.Contains(typed, "project"), slices.Contains(typed, "user"); {
	case s.All && !project && !user:
		s.Project, s.User = "", ""
	case project && !user:
		s.User = ""
	case user && !project:
		s.Project = ""
	}
	if err := s.Validate(); err != nil {
		return command.Usagef("--project, --user, --all: %w", err)
	}
	return nil
}

// unfinished is the prefix of the directory in which an export is written. It is left behind if the program is killed.
const unfinished = ".export-"

// emptyDirectory makes the directory, or returns an error if it contains something other than unfinished exports.
func emptyDirectory(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = os.MkdirAll(dir, 0o700)
	case slices.ContainsFunc(entries, func(e os.DirEntry) bool { return !strings.HasPrefix(e.Name(), unfinished) }):
		return command.Usagef("%q is not empty: give a new directory", dir)
	}
	if err != nil {
		return command.BadUsage(err)
	}
	return nil
}

// finished writes an export by means of a temporary directory, whose files appear in the directory once all are complete.
func finished(dir string, write func(dir string) error) error {
	temporary, err := os.MkdirTemp(dir, unfinished)
	if err != nil {
		return command.BadUsage(err)
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if err := write(temporary); err != nil {
		return err
	}
	entries, err := os.ReadDir(temporary)
	if err != nil {
		return err
	}
	// The index comes first, because it states the number of concepts.
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(rank(a), rank(b)) })
	for _, e := range entries {
		if err := os.Rename(filepath.Join(temporary, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func rank(e os.DirEntry) int {
	if e.Name() == "index.md" {
		return 0
	}
	return 1
}

// write writes the parts of the export.
func (x *exported) write(ctx context.Context, conn driver.Conn, part string) error {
	log := projection.New(conn, eventlog.Options{})
	var own erase.Owned
	var err error
	if x.Scope.All {
		own, err = erase.All(ctx, log.Store)
	} else {
		own, err = erase.Own(ctx, log.Store, conn, x.Scope.erasure())
	}
	if err != nil {
		return fmt.Errorf("find the data of %s: %w", x.Scope, err)
	}
	if len(own.Streams)+len(own.Parts) == 0 {
		return command.Missingf("no data for %s", x.Scope)
	}
	return finished(x.Dir, func(dir string) error {
		if err := x.parts(ctx, log.Store, conn, own, dir, part); err != nil {
			return err
		}
		for _, name := range streamsOf(own) { // An erasure may have begun since the streams were read.
			if err := log.AdmitsTo(ctx, name); err != nil {
				return fmt.Errorf("export %q: %w", name, err)
			}
		}
		return nil
	})
}

// parts writes the parts of the export to the directory.
func (x *exported) parts(ctx context.Context, log *eventlog.Store, conn driver.Conn, own erase.Owned, dir, part string) (err error) {
	if part != partOKF {
		h := head{
			Format: linesFormat, Version: linesVersion, Software: service.Version(), Scope: x.Scope, ExportedAt: time.Now().UTC(), LeftOut: own.LeftOut,
		}
		for _, p := range own.Parts {
			h.Parts = append(h.Parts, p.Stream)
		}
		if h, err = writeLines(filepath.Join(dir, eventsFile), h, ownEvents(ctx, log, own)); err != nil {
			return err
		}
		x.Streams, x.Events, x.LeftOut = h.Streams, h.Events, h.LeftOut
	}
	if part != partEvents {
		x.Concepts, err = exportKnowledge(ctx, conn, dir, x.Scope, own)
	}
	return err
}

// atOnce is how many events of a shared stream are read at once.
const atOnce = 1000

// streamsOf returns the names of the streams, in order.
func streamsOf(own erase.Owned) []string {
	out := slices.Clone(own.Streams)
	for _, part := range own.Parts {
		out = append(out, part.Stream)
	}
	slices.Sort(out)
	return out
}

// ownEvents yields the events in the order of their streams and positions.
func ownEvents(ctx context.Context, log *eventlog.Store, own erase.Owned) iter.Seq2[schema.Event, error] {
	parts := map[string][]uint64{}
	for _, part := range own.Parts {
		parts[part.Stream] = part.Positions
	}
	return func(yield func(schema.Event, error) bool) {
		for _, name := range streamsOf(own) {
			if err := log.AdmitsTo(ctx, name); err != nil {
				yield(schema.Event{}, fmt.Errorf("export %q: %w", name, err))
				return
			}
			events := log.Stream(ctx, name, eventlog.StreamOptions{})
			if positions := parts[name]; positions != nil {
				events = atPositions(ctx, log, name, positions)
			}
			for e, err := range events {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

func atPositions(ctx context.Context, log *eventlog.Store, stream string, positions []uint64) iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		for chunk := range slices.Chunk(positions, atOnce) {
			events, err := log.At(ctx, stream, chunk)
			if err != nil {
				yield(schema.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

func printExported(b *strings.Builder, x exported) {
	command.Say(b, "%s, in %s:\n", x.Scope, x.Dir)
	if x.Events > 0 {
		command.Say(b, "  %s: %s of %s\n", eventsFile, command.Plural(x.Events, "event", "events"), command.Plural(x.Streams, "stream", "streams"))
	}
	if x.Concepts > 0 {
		command.Say(b, "  index.md: %s\n", command.Plural(x.Concepts, "concept", "concepts"))
	}
	if x.LeftOut > 0 {
		command.Say(b, "left out %s with content of others too\n", command.Plural(x.LeftOut, "event", "events"))
	}
}
