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
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/tier"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/operation"
)

// imported is the result of an import.
type imported struct {
	Scope   Scope `json:"scope"`
	Streams int   `json:"streams"`
	Events  int   `json:"events"`
	// New counts the events that the log did not have. Moved counts those that have another position than before, because
	// the log had others in their places.
	New    int  `json:"new"`
	Moved  int  `json:"moved"`
	DryRun bool `json:"dry_run,omitempty"`
	// Vectors counts the items that are written to the vector store.
	Vectors int `json:"vectors"`
}

func importCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import DIR", Short: "read an export back, with all its history",
		Example: "starter import backup --dry-run\n" +
			"starter import backup\n" +
			"starter import notes --project demo --user ann",
	}
	f := cmd.Flags()
	var scope schema.Scope
	f.StringVar(&scope.Project, "project", "", "for concepts without events: project they belong to (default: theirs)")
	f.StringVar(&scope.User, "user", "", "for concepts without events: user they belong to (default: theirs)")
	f.StringVar(&scope.Agent, "agent", "", "for concepts without events: agent they belong to (default: theirs)")
	dry := f.Bool("dry-run", false, "check the export, and import nothing")
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		path := args[0]
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if path = filepath.Join(path, eventsFile); !isThere(path) {
				return importBundle(ctx, a, args[0], scope, *dry)
			}
		}
		for _, name := range []string{"project", "user", "agent"} {
			if slices.Contains(a.Typed, name) {
				return command.Usagef("--%s: %s keeps its owners; the flag is for a bundle without it", name, path)
			}
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		x := &importer{log: eventlog.New(conn, eventlog.Options{}), path: path}
		out, err := x.check(ctx)
		if err != nil {
			return err
		}
		if out.DryRun = *dry; !*dry {
			if err := x.write(ctx); err != nil {
				return err
			}
			if err := x.derive(ctx, a, conn, &out); err != nil {
				return fmt.Errorf("all events are in the log, but not all is derived from them; the same command does it: %w", err)
			}
		}
		return a.Print(out, func(w io.Writer) error { return printImported(w, out) })
	})
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Bounds of the events that are held at once.
const (
	chunkEvents = 500
	chunkBytes  = 16 << 20
	// maxConflicts bounds the conflicts that an error lists.
	maxConflicts = 10
)

// importer imports a file of events. It first compares the whole file with the log.
type importer struct {
	log  *eventlog.Store
	path string
	// ends are the last positions of the log's streams, and fresh says for each event of the file whether the log lacks it.
	ends      map[string]uint64
	fresh     []bool
	memories  []tier.FilesInput
	conflicts []string
	conflict  int
}

// chunks yields the events of the file in parts, each of one stream.
func (l *lines) chunks() iter.Seq2[[]schema.Event, error] {
	return func(yield func([]schema.Event, error) bool) {
		var chunk []schema.Event
		size := 0
		for e, err := range l.events() {
			if err != nil {
				yield(nil, err)
				return
			}
			size += len(e.Payload)
			if len(chunk) > 0 && (e.Stream != chunk[0].Stream || len(chunk) == chunkEvents || size > chunkBytes) {
				if !yield(chunk, nil) {
					return
				}
				chunk, size = nil, len(e.Payload)
			}
			chunk = append(chunk, e)
		}
		if len(chunk) > 0 {
			yield(chunk, nil)
		}
	}
}

// check compares the file with the log. The error names events that the log has with other content.
func (x *importer) check(ctx context.Context) (imported, error) {
	l, err := openLines(x.path)
	if err != nil {
		return imported{}, err
	}
	out := imported{Scope: l.head.Scope, Streams: l.head.Streams, Events: l.head.Events}
	x.ends = map[string]uint64{}
	for chunk, err := range l.chunks() {
		if err != nil {
			return out, err
		}
		if err := x.compare(ctx, l.head, chunk, &out); err != nil {
			return out, err
		}
	}
	if x.conflict > 0 {
		more := ""
		if n := x.conflict - len(x.conflicts); n > 0 {
			more = fmt.Sprintf("\nand %d more", n)
		}
		return out, command.Conflictf("the log has other events in place of these, and nothing was imported; import into a new database, or erase them with starter forget:\n%s%s",
			strings.Join(x.conflicts, "\n"), more)
	}
	return out, nil
}

func (x *importer) differs(format string, args ...any) {
	if x.conflict++; x.conflict <= maxConflicts {
		x.conflicts = append(x.conflicts, fmt.Sprintf(format, args...))
	}
}

// compare compares events of one stream with the log.
func (x *importer) compare(ctx context.Context, h head, chunk []schema.Event, out *imported) error {
	stream := chunk[0].Stream
	end, err := x.end(ctx, stream)
	if err != nil {
		return err
	}
	ids := make([]string, len(chunk))
	for i, e := range chunk {
		ids[i] = e.ID
	}
	stored, err := x.log.GetMany(ctx, ids)
	if err != nil {
		return err
	}
	var fresh []schema.Event
	for _, e := range chunk {
		was, known := stored[e.ID]
		x.fresh = append(x.fresh, !known)
		switch {
		case known && (was.Stream != e.Stream || was.Type != e.Type || was.Checksum != e.Checksum):
			x.differs("event %q at %d of %q has other content in the log, at %d of %q", e.ID, e.Seq, e.Stream, was.Seq, was.Stream)
		case known && was.Seq != e.Seq && !h.partial(stream):
			x.differs("event %q at %d of %q is at %d in the log", e.ID, e.Seq, e.Stream, was.Seq)
		case !known && e.Seq <= end && !h.partial(stream):
			x.differs("event %q at %d of %q: the log has another event in its place", e.ID, e.Seq, e.Stream)
		case !known:
			fresh = append(fresh, e)
			out.New++
			if e.Seq <= end {
				out.Moved++
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err = x.log.AdmitsTo(ctx, stream, fresh...)
	var erased *eventlog.ErasedError
	if errors.As(err, &erased) {
		return command.Conflictf("%q: %w; nothing was imported", stream, err)
	}
	return err
}

// end returns the last position of a stream in the log.
func (x *importer) end(ctx context.Context, stream string) (uint64, error) {
	if end, ok := x.ends[stream]; ok {
		return end, nil
	}
	if user, agent, err := schema.ParseMemoryStream(stream); err == nil {
		x.memories = append(x.memories, tier.FilesInput{User: user, Agent: agent, All: true})
	}
	x.ends[stream] = 0
	for info, err := range x.log.Streams(ctx, stream) {
		if err != nil {
			return 0, err
		}
		if info.Name == stream {
			x.ends[stream] = info.LastSeq
		}
	}
	return x.ends[stream], nil
}

// write appends the events that the log lacks, each at its position, or at the end of a shared stream.
func (x *importer) write(ctx context.Context) error {
	l, err := openLines(x.path)
	if err != nil {
		return err
	}
	at := 0
	for chunk, err := range l.chunks() {
		if err != nil {
			return err
		}
		fresh := make([]schema.Event, 0, len(chunk))
		for i, e := range chunk {
			if at+i < len(x.fresh) && x.fresh[at+i] {
				fresh = append(fresh, e)
			}
		}
		at += len(chunk)
		if err := x.append(ctx, chunk[0].Stream, fresh); err != nil {
			return err
		}
	}
	return nil
}

// append appends events to their stream. The places of erased events, and of those that belong to others, are filled, so that
// positions are as they were.
func (x *importer) append(ctx context.Context, stream string, fresh []schema.Event) error {
	if len(fresh) == 0 {
		return nil
	}
	next := x.ends[stream] + 1
	batch := make([]schema.Event, 0, len(fresh))
	for _, e := range fresh {
		for ; next < e.Seq; next++ {
			filler, err := schema.NewEvent(schema.EventErasedPayload{}, schema.Event{
				TS: e.RecordedAt, Actor: "import", DedupeKey: schema.EventErasedKey("import", stream, next),
			})
			if err != nil {
				return err
			}
			batch = append(batch, filler)
		}
		batch = append(batch, e)
		next++
	}
	appended, err := x.log.AppendAll(ctx, stream, batch)
	if err != nil {
		return fmt.Errorf("append to %q: %w", stream, err)
	}
	for i, e := range appended.Events {
		if want := x.ends[stream] + 1 + uint64(i); e.Seq != want {
			return fmt.Errorf("append to %q: another writer was at work, and event %q is at %d instead of %d: end it, erase the scope with starter forget, and import again",
				stream, e.ID, e.Seq, want)
		}
	}
	x.ends[stream] = next - 1
	return nil
}

// derive brings all that is derived from the log up to date: tables, vectors, and files of memories.
func (x *importer) derive(ctx context.Context, a *command.App, conn driver.Conn, out *imported) error {
	for _, p := range build.Projections(conn) {
		if _, err := x.log.ProjectAll(ctx, p); err != nil {
			return err
		}
	}
	if err := x.log.SaveOffsets(ctx); err != nil {
		return err
	}
	reports, err := operation.Reconcile(ctx, a)
	if err != nil {
		return err
	}
	for _, r := range reports {
		out.Vectors += r.Repaired()
	}
	for _, in := range x.memories {
		in.At = time.Now().UTC()
		if err := a.Send(ctx, boundary.Update{Name: schema.UpdateFiles, ID: "files/" + uuid.NewString(), Arg: in}, nil); err != nil {
			return fmt.Errorf("write the files of user %q: %w", in.User, err)
		}
	}
	return nil
}

func printImported(w io.Writer, x imported) error {
	var b strings.Builder
	verb := "imported"
	if x.DryRun {
		verb = "nothing was imported; it would be"
	}
	command.Say(&b, "%s: %s %d of %s, in %s; the log has the others\n", x.Scope, verb, x.New, command.Plural(x.Events, "event", "events"),
		command.Plural(x.Streams, "stream", "streams"))
	if x.Moved > 0 {
		command.Say(&b, "%s at the end of shared streams, whose places others have\n", command.Plural(x.Moved, "event", "events"))
	}
	if !x.DryRun {
		command.Say(&b, "%s to index; to see how far: starter embedder status\n", command.Plural(x.Vectors, "item", "items"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
