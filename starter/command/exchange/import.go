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
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"axiommind/activities/boundary"
	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
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
	// their positions were taken.
	New   int `json:"new"`
	Moved int `json:"moved"`
	// Forgotten counts the events that were left out because they were forgotten, and ForgottenStreams names their streams.
	Forgotten        int      `json:"forgotten,omitempty"`
	ForgottenStreams []string `json:"forgotten_streams,omitempty"`
	DryRun           bool     `json:"dry_run,omitempty"`
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
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
		dir := path
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if path = filepath.Join(path, eventsFile); !isThere(path) {
				return importBundle(ctx, a, dir, scope, *dry)
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
		x := &importer{log: projection.New(conn, eventlog.Options{}), volumes: []volume{fileVolume(path)}}
		out, err := x.run(ctx, *dry)
		if err != nil {
			return err
		}
		if out.DryRun = *dry; !*dry {
			if err := x.derive(ctx, a, conn, &out); err != nil {
				return fmt.Errorf("all events are in the log, but not all is derived from them; the same command does it: %w", err)
			}
		}
		return a.Print(out, func(b *strings.Builder) { printImported(b, out) })
	})
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Bounds of the events of a stream that are held at once. While events are appended, those of [writers] streams are, and of one
// more.
const (
	chunkEvents = 500
	chunkBytes  = 4 << 20
	// writers is how many streams are appended to at a time.
	writers = 8
	// maxConflicts bounds the conflicts that an error lists.
	maxConflicts = 10
)

// importer imports a file of events, or several. It first compares all of it with the log.
type importer struct {
	log     *projection.Store
	volumes []volume
	// ends are the last positions of the log's streams, and fresh says for each event of the file whether it is to be appended.
	ends      map[string]uint64
	fresh     []bool
	memories  []tier.FilesInput
	conflicts []string
	conflict  int
	// gone are the sessions with events that were forgotten, and the empty name if there are any. unowned are the
	// events of models and dreams, whose streams name no owner, by their indexes.
	gone    map[sessionName]bool
	unowned map[int]schema.Event
	// stored counts the events that were appended, without fillers. mu guards it, and ends while events are appended.
	stored int
	mu     sync.Mutex
	// listed are the ends of all streams, if they were listed at once.
	listed map[string]uint64
}

// sessionName names a session as an event does.
type sessionName struct{ project, id string }

// maxRounds bounds how often the file is compared again because another writer appended to a stream.
const maxRounds = 5

// run compares the file with the log, and appends the events that the log lacks.
func (x *importer) run(ctx context.Context, dry bool) (imported, error) {
	for round := 1; ; round++ {
		out, err := x.check(ctx)
		if err != nil || dry {
			return out, err
		}
		err = x.write(ctx)
		out.New = x.stored
		if !errors.Is(err, eventlog.ErrConcurrentWriter) || round == maxRounds {
			return out, err
		}
	}
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
	var out imported
	x.ends, x.fresh, x.memories = map[string]uint64{}, nil, nil
	x.gone, x.unowned = map[sessionName]bool{}, map[int]schema.Event{}
	if err := x.list(ctx); err != nil {
		return out, err
	}
	for _, v := range x.volumes {
		l, err := openLines(v)
		if err != nil {
			return out, err
		}
		out.Scope, out.Events = l.head.Scope, out.Events+l.head.Events
		for chunk, err := range l.chunks() {
			if err != nil {
				return out, err
			}
			if err := x.compare(ctx, l.head, chunk, &out); err != nil {
				return out, err
			}
		}
	}
	out.Streams = len(x.ends)
	for i, e := range x.unowned {
		if x.fresh[i] && x.gone[nameOf(e)] {
			x.fresh[i] = false
			out.New--
			x.forget(e, &out)
		}
	}
	if x.conflict > 0 {
		more := ""
		if n := x.conflict - len(x.conflicts); n > 0 {
			more = fmt.Sprintf("\nand %d more", n)
		}
		return out, command.Conflictf("the log differs at these positions, and nothing was imported; import into the empty database of another installation:\n%s%s",
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
	ids, positions := make([]string, len(chunk)), make([]uint64, len(chunk))
	for i, e := range chunk {
		ids[i], positions[i] = e.ID, e.Seq
	}
	stored, err := x.log.GetMany(ctx, ids)
	if err != nil {
		return err
	}
	var erased map[uint64]bool
	if len(stored) < len(chunk) && chunk[0].Seq <= end {
		if erased, err = x.log.ErasedAt(ctx, stream, positions, fillerID(stream)); err != nil {
			return err
		}
	}
	for _, e := range chunk {
		was, known := stored[e.ID]
		x.fresh = append(x.fresh, false)
		switch {
		case known && (was.Stream != e.Stream || was.Type != e.Type || was.Checksum != e.Checksum):
			x.differs("event %q at %d of %q has other content in the log, at %d of %q", e.ID, e.Seq, e.Stream, was.Seq, was.Stream)
		case known && was.Seq != e.Seq && !h.partial(stream):
			x.differs("event %q at %d of %q is at %d in the log", e.ID, e.Seq, e.Stream, was.Seq)
		case known:
		case erased[e.Seq]:
			x.forget(e, out)
		default:
			if err := x.take(ctx, h, e, e.Seq <= end, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// take marks an event as new, unless it was forgotten.
func (x *importer) take(ctx context.Context, h head, e schema.Event, taken bool, out *imported) error {
	ok, err := x.admits(ctx, h, e)
	switch {
	case err != nil:
		return err
	case !ok:
		x.forget(e, out)
	case taken && !h.partial(e.Stream):
		x.differs("event %q at %d of %q: the log has another event in its place", e.ID, e.Seq, e.Stream)
	default:
		x.fresh[len(x.fresh)-1] = true
		out.New++
		if taken {
			out.Moved++
		}
	}
	return nil
}

// admits reports whether neither the event nor its stream was forgotten. The streams of models and dreams name no owner: it is
// the project of the event and the scope of the file and, once the whole file was compared, the session of the event.
func (x *importer) admits(ctx context.Context, h head, e schema.Event) (bool, error) {
	streams := []string{e.Stream}
	if strings.HasPrefix(e.Stream, schema.ModelPrefix) || strings.HasPrefix(e.Stream, schema.DreamPrefix) {
		x.unowned[len(x.fresh)-1] = schema.Event{Stream: e.Stream, Project: e.Project, SessionID: e.SessionID}
		if project := cmp.Or(e.Project, h.Scope.Project); project != "" {
			streams = append(streams, schema.ProjectStream(project))
		}
		if h.Scope.User != "" {
			streams = append(streams, schema.MemoryStream(h.Scope.User, ""))
		}
	}
	for _, stream := range streams {
		err := x.log.AdmitsTo(ctx, stream, e)
		var erased *eventlog.ErasedError
		if errors.As(err, &erased) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// forget counts an event that is left out because it was forgotten.
func (x *importer) forget(e schema.Event, out *imported) {
	x.gone[nameOf(e)], x.gone[sessionName{}] = true, true
	if out.Forgotten++; !slices.Contains(out.ForgottenStreams, e.Stream) {
		out.ForgottenStreams = append(out.ForgottenStreams, e.Stream)
	}
}

// nameOf returns the name of an event's session. Models and dreams without one may have used the words of all sessions.
func nameOf(e schema.Event) sessionName {
	if key, err := schema.ParseSessionStream(e.Stream); err == nil {
		return sessionName{key.Project, key.SessionID}
	}
	if e.SessionID == "" {
		return sessionName{}
	}
	return sessionName{e.Project, e.SessionID}
}

// list reads the ends of all streams, for a backup: a request for each would take longer.
func (x *importer) list(ctx context.Context) error {
	if !x.volumes[0].backup {
		return nil
	}
	x.listed = map[string]uint64{}
	for info, err := range x.log.Streams(ctx, "") {
		if err != nil {
			return err
		}
		x.listed[info.Name] = info.LastSeq
	}
	return nil
}

// end returns the last position of a stream in the log.
func (x *importer) end(ctx context.Context, stream string) (uint64, error) {
	if end, ok := x.ends[stream]; ok {
		return end, nil
	}
	if user, agent, err := schema.ParseMemoryStream(stream); err == nil {
		x.memories = append(x.memories, tier.FilesInput{User: user, Agent: agent, All: true})
	}
	x.ends[stream] = x.listed[stream]
	if x.listed != nil {
		return x.ends[stream], nil
	}
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
