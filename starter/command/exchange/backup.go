package exchange

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
	"axiommind/activities/session/keyring"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/worker/service"
)

// backedUpTo is the result of a backup.
type backedUpTo struct {
	Place   string `json:"place"`
	Part    int    `json:"part"`
	Full    bool   `json:"full"`
	Streams int    `json:"streams"`
	Events  int    `json:"events"`
	Total   total  `json:"total"`
	// Erased is true if the part is full because an erasure has rewritten the log, and Removed counts the earlier parts that
	// it took the place of.
	Erased  bool `json:"erased,omitempty"`
	Removed int  `json:"removed,omitempty"`
}

func backupCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup TO", Short: "copy the new events of the log to a directory or a bucket",
		Example: "starter backup /mnt/backup\n" +
			"starter backup 's3://backups/axiommind?region=eu-central-1'\n" +
			"starter backup /mnt/backup --full",
	}
	full := cmd.Flags().Bool("full", false, "copy all of the log, and remove the earlier parts")
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		to, err := openPlace(ctx, args[0], true)
		if err != nil {
			return err
		}
		b := &backup{log: eventlog.New(conn, eventlog.Options{}), to: to}
		if b.part, err = describe(&a.Cfg); err != nil {
			return err
		}
		out, err := b.run(ctx, *full)
		if err != nil {
			return err
		}
		return a.Print(out, func(w io.Writer) error { return printBackup(w, out) })
	})
}

// describe begins a part with the settings of the program.
func describe(cfg *service.Config) (part, error) {
	m := part{Format: backupFormat, Version: backupVersion, Software: service.Version(), At: time.Now().UTC(), Settings: map[string]string{}}
	for _, s := range cfg.Show() {
		m.Settings[s.Name] = s.Text()
	}
	if cfg.RawKeyFile != "" {
		ring, err := keyring.Load("raw", cfg.RawKeyFile)
		if err != nil {
			return m, command.BadUsage(err)
		}
		m.Keys = ring.KeyIDs()
	}
	return m, nil
}

// backup writes one part.
type backup struct {
	log  *eventlog.Store
	to   place
	part part
	// before and now are the ends of the streams as of the part before, and as of this one.
	before, now map[string]end
	names       []string
}

func (b *backup) run(ctx context.Context, full bool) (backedUpTo, error) {
	out := backedUpTo{Place: b.to.String()}
	parts, names, err := partsOf(ctx, b.to)
	if err != nil && !full {
		return out, err
	}
	if err := b.snapshot(ctx); err != nil {
		return out, err
	}
	b.part.Number, b.part.Full = lastNumber(names)+1, true
	b.before = map[string]end{}
	if n := len(parts); n > 0 && !full {
		last := parts[n-1]
		if out.Erased = last.Audit != b.part.Audit; !out.Erased {
			b.part.Full = false
			if b.before, err = last.readEnds(ctx, b.to); err != nil {
				return out, err
			}
		}
	}
	changed, err := b.changed()
	if err != nil {
		return out, err
	}
	if len(changed) == 0 {
		if n := len(parts); n > 0 && !full {
			out.Part, out.Total = parts[n-1].Number, parts[n-1].Total
			return out, nil
		}
		return out, command.Missingf("the log is empty: there is nothing to back up")
	}
	if err := b.write(ctx, changed, parts); err != nil {
		return out, err
	}
	out.Part, out.Full, out.Streams, out.Events, out.Total = b.part.Number, b.part.Full, b.part.Streams, b.part.Events, b.part.Total
	if b.part.Full {
		out.Removed, err = b.removeOthers(ctx, names)
	}
	return out, err
}

// lastNumber returns the number of the last part, of which only the manifest's name need be good.
func lastNumber(names []string) (last int) {
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, manifestName, &n); err == nil {
			last = max(last, n)
		}
	}
	return last
}

// snapshot reads the ends of the streams. A later event is for the next part.
func (b *backup) snapshot(ctx context.Context) error {
	b.now = map[string]end{}
	for s, err := range b.log.Streams(ctx, "") {
		if err != nil {
			return err
		}
		if !backedUp(s.Name) {
			continue
		}
		b.now[s.Name] = end{Seq: s.LastSeq}
		var erasing *eventlog.ErasingError
		if err := b.log.AdmitsTo(ctx, s.Name); errors.As(err, &erasing) {
			return fmt.Errorf("back up %q: %w; try again once it has ended", s.Name, err)
		}
	}
	b.part.Audit = b.now[schema.AuditStream()].Seq
	return nil
}

// changed returns the streams that have grown, in order, with those of erasures last: a restore is then not refused by the
// tombstones that it has restored.
func (b *backup) changed() ([]string, error) {
	var out []string
	for name, was := range b.before {
		now, ok := b.now[name]
		switch {
		case !ok || now.Seq < was.Seq:
			return nil, command.Conflictf("the backup in %s is of another log: its stream %q ends at %d, and that of this log at %d; give another place, or --full to replace it",
				b.to, name, was.Seq, now.Seq)
		case now.Seq == was.Seq:
			b.now[name] = was
		}
	}
	for name, now := range b.now {
		if now.Seq > b.before[name].Seq {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(x, y string) int {
		if a, b := isErasure(x), isErasure(y); a != b {
			if a {
				return 1
			}
			return -1
		}
		return strings.Compare(x, y)
	})
	return out, nil
}

func isErasure(stream string) bool { return strings.HasPrefix(stream, schema.ErasurePrefix) }

// volumeBytes bounds the payloads of a volume, which is held in memory, compressed. An event may be larger.
const volumeBytes = 64 << 20

// write writes the files of the part, and its manifest at last.
func (b *backup) write(ctx context.Context, changed []string, parts []part) error {
	b.part.Dir = fmt.Sprintf("part-%06d-%s", b.part.Number, strings.ToLower(rand.Text()[:8]))
	temporary, err := os.MkdirTemp("", "axiommind-backup-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	for _, erasures := range []bool{false, true} { // A volume is in the order of the streams' names.
		streams := slices.DeleteFunc(slices.Clone(changed), func(name string) bool { return isErasure(name) != erasures })
		if err := b.volumes(ctx, streams, filepath.Join(temporary, eventsFile)); err != nil {
			return err
		}
	}
	b.part.Total = total{Streams: len(b.now), Events: b.part.Events}
	if !b.part.Full {
		b.part.Total.Events += parts[len(parts)-1].Total.Events
	}
	text, err := zipped(func(w io.Writer) error { return json.NewEncoder(w).Encode(b.now) })
	if err == nil {
		err = b.put(ctx, b.part.Dir+"/"+endsFile, text)
	}
	if err == nil {
		err = b.unchanged(ctx)
	}
	if err != nil {
		return err
	}
	if text, err = json.MarshalIndent(b.part, "", "  "); err != nil {
		return err
	}
	err = b.put(ctx, fmt.Sprintf(manifestName, b.part.Number), append(text, '\n'))
	if errors.Is(err, fs.ErrExist) {
		return command.Conflictf("another backup has written part %d in %s meanwhile: nothing is lost, run it again for later events", b.part.Number, b.to)
	}
	return err
}

func (b *backup) put(ctx context.Context, name string, content []byte) error {
	if err := b.to.Put(ctx, name, content); err != nil {
		return fmt.Errorf("write %s in %s: %w", name, b.to, err)
	}
	return nil
}

// unchanged returns an error if an erasure has begun since the snapshot: the part may have erased data.
func (b *backup) unchanged(ctx context.Context) error {
	for s, err := range b.log.Streams(ctx, schema.AuditStream()) {
		if err != nil {
			return err
		}
		if s.Name == schema.AuditStream() && s.LastSeq != b.part.Audit {
			return errors.New("an erasure has begun since the backup did: nothing was added to the backup; try again once it has ended")
		}
	}
	return nil
}

// volumes writes the new events of the streams to volumes.
func (b *backup) volumes(ctx context.Context, streams []string, path string) error {
	next, stop := iter.Pull2(b.events(ctx, streams))
	defer stop()
	e, err, more := next()
	for more {
		size := 0
		volume := func(yield func(schema.Event, error) bool) {
			for ; more && (size == 0 || size < volumeBytes); e, err, more = next() {
				size += len(e.Payload) + 1
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
		h := head{Format: linesFormat, Version: linesVersion, Software: b.part.Software, Scope: Scope{All: true}, ExportedAt: b.part.At, Backup: true}
		h, err := writeLines(path, h, volume)
		if err != nil {
			return err
		}
		b.part.Streams, b.part.Events = b.part.Streams+h.Streams, b.part.Events+h.Events
		if err := b.store(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// store puts a volume in its place, compressed.
func (b *backup) store(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	text, err := zipped(func(w io.Writer) error {
		_, err := io.Copy(w, file)
		return err
	})
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	name := fmt.Sprintf("events-%06d.jsonl.gz", len(b.part.Volumes)+1)
	b.part.Volumes = append(b.part.Volumes, name)
	return b.put(ctx, b.part.Dir+"/"+name, text)
}

// events yields the events of the streams after the ends of the part before. A full part reads the log from one end to the
// other, because a request for each stream would take longer.
func (b *backup) events(ctx context.Context, streams []string) iter.Seq2[schema.Event, error] {
	if len(b.before) > 0 {
		return func(yield func(schema.Event, error) bool) {
			for _, name := range streams {
				for e, err := range b.since(ctx, name) {
					if !yield(e, err) || err != nil {
						return
					}
				}
			}
		}
	}
	prefixes := map[string]bool{}
	for _, name := range streams {
		prefix, _, _ := strings.Cut(name, "/")
		prefixes[prefix+"/"] = true
	}
	return func(yield func(schema.Event, error) bool) {
		for _, prefix := range slices.Sorted(maps.Keys(prefixes)) {
			for e, err := range b.log.Replay(ctx, eventlog.ReplayOptions{StreamPrefix: prefix, Erased: true}) {
				if err == nil && !b.has(e) {
					continue
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// has reports whether the event is of this part, and notes it as the end of its stream if it is the last one.
func (b *backup) has(e schema.Event) bool {
	last, ok := b.now[e.Stream]
	if ok && e.Seq == last.Seq {
		b.now[e.Stream] = end{e.Seq, e.ID}
	}
	return ok && e.Seq <= last.Seq
}

// since yields the events of a stream after its end in the part before, which the log must have.
func (b *backup) since(ctx context.Context, stream string) iter.Seq2[schema.Event, error] {
	was := b.before[stream]
	return func(yield func(schema.Event, error) bool) {
		found := was.Seq == 0
		for e, err := range b.log.Stream(ctx, stream, eventlog.StreamOptions{After: max(was.Seq, 1) - 1, Erased: true}) {
			switch {
			case err != nil:
				yield(e, err)
				return
			case e.Seq == was.Seq && e.ID == was.ID:
				found = true
				continue
			case !found:
				yield(e, command.Conflictf("the backup in %s is of another log: it has event %q at %d of %q; give another place, or --full to replace it", b.to, was.ID, was.Seq, stream))
				return
			}
			if !b.has(e) || !yield(e, nil) {
				return
			}
		}
	}
}

// removeOthers removes the files of all other parts, and those of runs that broke off. Manifests go first: without its files a
// part would be damaged.
func (b *backup) removeOthers(ctx context.Context, names []string) (parts int, err error) {
	isManifest := func(name string) bool { return strings.HasPrefix(name, "manifest-") }
	for _, manifests := range []bool{true, false} {
		for _, name := range names {
			if isManifest(name) != manifests || !manifests && !strings.HasPrefix(name, "part-") {
				continue
			}
			if err := b.to.Remove(ctx, name); err != nil {
				return parts, fmt.Errorf("part %d is complete, but %s in %s of an earlier one cannot be removed: %w", b.part.Number, name, b.to, err)
			}
			if manifests {
				parts++
			}
		}
	}
	return parts, nil
}

func printBackup(w io.Writer, x backedUpTo) error {
	var s strings.Builder
	all := fmt.Sprintf("%s of %s", command.Plural(x.Total.Events, "event", "events"), command.Plural(x.Total.Streams, "stream", "streams"))
	switch {
	case x.Events == 0:
		command.Say(&s, "%s: nothing new since part %d, with %s in all\n", x.Place, x.Part, all)
	case x.Full:
		command.Say(&s, "%s: part %d, full: %s\n", x.Place, x.Part, all)
	default:
		command.Say(&s, "%s: part %d: %s of %s; %s in all\n", x.Place, x.Part,
			command.Plural(x.Events, "event", "events"), command.Plural(x.Streams, "stream", "streams"), all)
	}
	if x.Erased {
		command.Say(&s, "it is full because data was forgotten since the part before\n")
	}
	if x.Removed > 0 {
		command.Say(&s, "removed %s\n", command.Plural(x.Removed, "earlier part", "earlier parts"))
	}
	_, err := io.WriteString(w, s.String())
	return err
}
