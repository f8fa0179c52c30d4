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

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
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
	// Erased is true if the part is full because an erasure has rewritten the log, or was lifted. Removed counts the earlier
	// parts that were removed.
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
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		to, err := openPlace(ctx, args[0], true)
		if err != nil {
			return err
		}
		b := &backup{log: eventlog.New(conn, eventlog.Options{}), to: to, volumeBytes: volumeBytes}
		if b.part, err = describe(ctx, conn, &a.Cfg); err != nil {
			return err
		}
		out, err := b.run(ctx, *full)
		if err != nil {
			return err
		}
		return a.Print(out, func(b *strings.Builder) { printBackup(b, out) })
	})
}

// describe begins a part with the identity of the log and the settings of the program.
func describe(ctx context.Context, conn driver.Conn, cfg *service.Config) (part, error) {
	m := part{Format: backupFormat, Version: backupVersion, Software: service.Version(), At: time.Now().UTC(), Settings: map[string]string{}}
	for _, s := range cfg.Show() {
		m.Settings[s.Name] = s.Text()
	}
	var err error
	m.Log, err = identity(ctx, conn)
	return m, err
}

// identity returns the identity of the log: that of its table, which a restore or a new database does not have.
func identity(ctx context.Context, conn driver.Conn) (id string, err error) {
	err = conn.QueryRow(ctx, `SELECT toString(uuid) FROM system.tables WHERE database = currentDatabase() AND name = 'events_raw'`).Scan(&id)
	if err != nil {
		return "", fmt.Errorf("find the log: %w", err)
	}
	return id, nil
}

// backup writes one part.
type backup struct {
	log         *eventlog.Store
	to          place
	part        part
	volumeBytes int
	// before and now are the ends of the streams as of the part before, and as of this one. changed are the streams that have
	// grown.
	before, now map[string]end
	changed     []string
}

func (b *backup) run(ctx context.Context, full bool) (backedUpTo, error) {
	out := backedUpTo{Place: b.to.String()}
	names, err := b.to.Names(ctx)
	if err != nil {
		return out, fmt.Errorf("list %s: %w", b.to, err)
	}
	var parts []part
	if !full {
		if parts, err = partsOf(ctx, b.to, names); err != nil {
			return out, err
		}
	}
	if err := b.snapshot(ctx); err != nil {
		return out, err
	}
	for _, name := range names {
		if n, dir, ok := numberOf(name); ok && dir == "" {
			b.part.Number = max(b.part.Number, n)
		}
	}
	b.part.Number++
	if out.Erased, err = b.follow(ctx, parts); err != nil {
		return out, err
	}
	if len(b.changed) == 0 {
		if len(parts) == 0 {
			return out, command.Missingf("the log is empty: there is nothing to back up")
		}
		out.Part, out.Total = parts[len(parts)-1].Number, parts[len(parts)-1].Total
		out.Removed, err = b.tidy(ctx, names, parts, parts[0].Number-1)
		return out, err
	}
	if err := b.write(ctx, parts); err != nil {
		return out, err
	}
	if b.part.Full {
		parts = nil
	}
	out.Part, out.Full, out.Streams, out.Events, out.Total = b.part.Number, b.part.Full, b.part.Streams, b.part.Events, b.part.Total
	out.Removed, err = b.tidy(ctx, names, append(parts, b.part), b.part.Number)
	return out, err
}

// follow decides where the part begins: after the parts that it continues, or at the beginning if there are none, or if an
// erasure has rewritten the log since.
func (b *backup) follow(ctx context.Context, parts []part) (erased bool, err error) {
	b.part.Full, b.before = len(parts) == 0, map[string]end{}
	if len(parts) > 0 {
		last := parts[len(parts)-1]
		if last.Log != b.part.Log || b.part.Audit < last.Audit {
			return false, b.otherLog("it is the copy of %s", last.Log)
		}
		if erased = last.Audit != b.part.Audit; erased {
			b.part.Full = true
		} else if b.before, err = last.readEnds(ctx, b.to); err != nil {
			return false, err
		}
		b.part.Keys = last.Keys
	}
	return erased, b.compare()
}

// otherLog is the error about a backup that this log does not continue.
func (b *backup) otherLog(format string, args ...any) error {
	return command.Conflictf("the backup in %s is of another log, and nothing was changed: %s; give another place or, if the copy is of no use any more, --full",
		b.to, fmt.Sprintf(format, args...))
}

// snapshot reads the ends of the streams. A later event is for the next part.
func (b *backup) snapshot(ctx context.Context) error {
	b.now = map[string]end{}
	for s, err := range b.log.Streams(ctx, "") {
		if err != nil {
			return err
		}
		if backedUp(s.Name) {
			b.now[s.Name] = end{Seq: s.LastSeq}
		}
	}
	b.part.Audit = b.now[schema.AuditStream()].Seq
	return b.erasing(ctx)
}

// erasing returns an error while an erasure is at work: a part would have some of the erased data. One that began long ago,
// or has failed, is not waited for.
func (b *backup) erasing(ctx context.Context) error {
	begun := map[string]time.Time{}
	for e, err := range b.log.Stream(ctx, schema.AuditStream(), eventlog.StreamOptions{
		Types: []string{schema.ErasureBegun, schema.ErasureFinished, schema.ErasureLifted},
	}) {
		if err != nil {
			return err
		}
		payload, err := schema.DecodePayload(e)
		if err != nil {
			return err
		}
		switch x := payload.(type) {
		case schema.ErasureBegunPayload:
			begun[x.ErasureID] = e.TS
		case schema.ErasureFinishedPayload:
			delete(begun, x.ErasureID)
		case schema.ErasureLiftedPayload:
			delete(begun, x.ErasureID)
		}
	}
	for id, at := range begun {
		if time.Since(at) < eventlog.MaxLock {
			return fmt.Errorf("erasure %q is at work, and nothing was added to the backup: try again once it has ended, see starter forget list", id)
		}
	}
	return nil
}

// compare finds the streams that have grown, in order, with those of erasures last: a restore is then not refused by the
// tombstones that it has restored.
func (b *backup) compare() error {
	for name, was := range b.before {
		now, ok := b.now[name]
		switch {
		case !ok || now.Seq < was.Seq:
			return b.otherLog("its stream %q ends at %d, and that of this log at %d", name, was.Seq, now.Seq)
		case now.Seq == was.Seq:
			b.now[name] = was
		}
	}
	for name, now := range b.now {
		if now.Seq > b.before[name].Seq {
			b.changed = append(b.changed, name)
		}
	}
	slices.SortFunc(b.changed, func(x, y string) int {
		if a, b := isErasure(x), isErasure(y); a != b {
			if a {
				return 1
			}
			return -1
		}
		return strings.Compare(x, y)
	})
	return nil
}

func isErasure(stream string) bool { return strings.HasPrefix(stream, schema.ErasurePrefix) }

// volumeBytes bounds the payloads of a volume, which is held in memory, compressed. An event may be larger.
const volumeBytes = 64 << 20

// write writes the files of the part, and its manifest at last. After an error before that it removes them. After one of the
// manifest they stay: it may have been stored all the same.
func (b *backup) write(ctx context.Context, parts []part) error {
	if err := b.fill(ctx, parts); err != nil {
		b.discard(context.WithoutCancel(ctx))
		return err
	}
	return b.commit(ctx)
}

// fill writes the files of the part.
func (b *backup) fill(ctx context.Context, parts []part) error {
	b.part.Dir = fmt.Sprintf("part-%06d-%s", b.part.Number, strings.ToLower(rand.Text()[:8]))
	temporary, err := os.MkdirTemp("", "axiommind-backup-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	for _, erasures := range []bool{false, true} { // A volume is in the order of the streams' names.
		streams := slices.DeleteFunc(slices.Clone(b.changed), func(name string) bool { return isErasure(name) != erasures })
		if err := b.volumes(ctx, streams, filepath.Join(temporary, eventsFile)); err != nil {
			return err
		}
	}
	b.part.Streams, b.part.Total = len(b.changed), total{Streams: len(b.now), Events: b.part.Events}
	if !b.part.Full {
		b.part.Total.Events += parts[len(parts)-1].Total.Events
	}
	text, err := zipped(func(w io.Writer) error { return json.NewEncoder(w).Encode(b.now) })
	if err == nil {
		err = b.put(ctx, b.part.Dir+"/"+endsFile, text)
	}
	if err != nil {
		return err
	}
	return b.unchanged(ctx)
}

// commit writes the manifest. If there is one already, it may be this one: an answer can get lost.
func (b *backup) commit(ctx context.Context) error {
	text, err := json.MarshalIndent(b.part, "", "  ")
	if err != nil {
		return err
	}
	err = b.put(ctx, fmt.Sprintf(manifestName, b.part.Number), append(text, '\n'))
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if m, err := readManifest(ctx, b.to, b.part.Number); err == nil && m.Dir == b.part.Dir {
		return nil
	}
	return command.Conflictf("another backup has written part %d in %s meanwhile: run it again for later events", b.part.Number, b.to)
}

// discard removes the files of a part that is none.
func (b *backup) discard(ctx context.Context) {
	for _, name := range append(b.part.Volumes, endsFile) {
		_ = b.to.Remove(ctx, b.part.Dir+"/"+name)
	}
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
			for ; more && (size == 0 || size < b.volumeBytes); e, err, more = next() {
				size += len(e.Payload) + 1
				if err == nil {
					err = b.note(e)
				}
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
		b.part.Events += h.Events
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
	name := fmt.Sprintf(volumeName, len(b.part.Volumes)+1)
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
			case e.Seq > was.Seq && was.ID == "": // The last one was a copy, which readers skip.
				found = true
			case !found:
				yield(e, b.otherLog("it has event %q at %d of %q", was.ID, was.Seq, stream))
				return
			}
			if !b.has(e) || !yield(e, nil) {
				return
			}
		}
	}
}

// note keeps the key that an original is encrypted by.
func (b *backup) note(e schema.Event) error {
	if e.Type != schema.OriginalSealed {
		return nil
	}
	payload, err := schema.Decode[schema.OriginalSealedPayload](e)
	if id := payload.KeyID; err == nil && id != "" && !slices.Contains(b.part.Keys, id) {
		b.part.Keys = append(slices.Clip(b.part.Keys), id)
	}
	return err
}

// tidy removes the files of the backup that no part needs: earlier parts, and runs up to the number that broke off. Manifests
// go first, the oldest at last, so that the parts that are left are always whole.
func (b *backup) tidy(ctx context.Context, names []string, parts []part, upTo int) (removed int, err error) {
	needed := map[string]bool{}
	for _, m := range parts {
		needed[m.Dir] = true
	}
	var manifests, files []string
	for _, name := range names {
		switch n, dir, ok := numberOf(name); {
		case !ok:
		case dir == "" && n < parts[0].Number:
			manifests = append(manifests, name)
		case dir != "" && n <= upTo && !needed[dir]:
			files = append(files, name)
		}
	}
	slices.Reverse(manifests)
	for _, name := range append(manifests, files...) {
		if err := b.to.Remove(ctx, name); err != nil {
			return 0, fmt.Errorf("part %d is complete, but %s in %s, which it replaces, cannot be removed: %w", parts[len(parts)-1].Number, name, b.to, err)
		}
	}
	return len(manifests), nil
}
