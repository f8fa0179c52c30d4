package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
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
		return a.Print(out, func(w io.Writer) error { return printExported(w, out) })
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

// emptyDirectory makes the directory, or returns an error if it contains something.
func emptyDirectory(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = os.MkdirAll(dir, 0o700)
	case err == nil && len(entries) > 0:
		return command.Usagef("%q is not empty: give a new directory", dir)
	}
	if err != nil {
		return command.BadUsage(err)
	}
	return nil
}

// write writes the parts of the export.
func (x *exported) write(ctx context.Context, conn driver.Conn, part string) error {
	log := eventlog.New(conn, eventlog.Options{})
	var own erase.Owned
	var err error
	if x.Scope.All {
		own, err = erase.All(ctx, log)
	} else {
		own, err = erase.Own(ctx, log, conn, x.Scope.erasure())
	}
	if err != nil {
		return fmt.Errorf("find the data of %s: %w", x.Scope, err)
	}
	if len(own.Streams)+len(own.Parts) == 0 {
		return command.Missingf("there is nothing of %s", x.Scope)
	}
	if part != partOKF {
		h := head{
			Format: linesFormat, Version: linesVersion, Software: service.Version(), Scope: x.Scope, ExportedAt: time.Now().UTC(), LeftOut: own.LeftOut,
		}
		for _, p := range own.Parts {
			h.Parts = append(h.Parts, p.Stream)
		}
		if h, err = writeLines(filepath.Join(x.Dir, eventsFile), h, ownEvents(ctx, log, own)); err != nil {
			return err
		}
		x.Streams, x.Events, x.LeftOut = h.Streams, h.Events, h.LeftOut
	}
	if part != partEvents {
		x.Concepts, err = exportKnowledge(ctx, conn, x.Dir, x.Scope, own)
	}
	return err
}

// atOnce is how many events of a shared stream are read at once.
const atOnce = 1000

// ownEvents yields the events in the order of their streams and positions.
func ownEvents(ctx context.Context, log *eventlog.Store, own erase.Owned) iter.Seq2[schema.Event, error] {
	parts := map[string][]uint64{}
	names := slices.Clone(own.Streams)
	for _, part := range own.Parts {
		parts[part.Stream] = part.Positions
		names = append(names, part.Stream)
	}
	slices.Sort(names)
	return func(yield func(schema.Event, error) bool) {
		for _, name := range names {
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

func printExported(w io.Writer, x exported) error {
	var b strings.Builder
	command.Say(&b, "%s, in %s:\n", x.Scope, x.Dir)
	if x.Events > 0 {
		command.Say(&b, "  %s: %s of %s\n", eventsFile, command.Plural(x.Events, "event", "events"), command.Plural(x.Streams, "stream", "streams"))
	}
	if x.Concepts > 0 {
		command.Say(&b, "  index.md: %s\n", command.Plural(x.Concepts, "concept", "concepts"))
	}
	if x.LeftOut > 0 {
		command.Say(&b, "left out %s with content of others too\n", command.Plural(x.LeftOut, "event", "events"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
