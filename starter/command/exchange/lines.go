package exchange

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"axiommind/schema"
	"axiommind/starter/command"
)

// eventsFile is the name of the lossless part of an export.
const eventsFile = "events.jsonl"

const (
	linesFormat  = "axiommind-events"
	linesVersion = 1
	// maxLine bounds a line of the file, in bytes: a batch of the log may be one event.
	maxLine = 192 << 20
)

// Scope is the content of an export: a user, a project, or all of them.
type Scope struct {
	Project string `json:"project,omitempty"`
	User    string `json:"user,omitempty"`
	All     bool   `json:"all,omitempty"`
}

func (s Scope) erasure() schema.ErasureScope {
	return schema.ErasureScope{Project: s.Project, User: s.User}
}

func (s Scope) String() string {
	switch {
	case s.All:
		return "all"
	case s.User != "":
		return "user " + s.User
	}
	return "project " + s.Project
}

// Validate returns an error unless the scope is one user, one project, or all.
func (s Scope) Validate() error {
	if s.All && s.Project+s.User == "" {
		return nil
	}
	if s.All || (s.Project == "") == (s.User == "") {
		return errors.New("want one project, one user, or all")
	}
	return s.erasure().Validate()
}

// head is the first line of the file.
type head struct {
	Format     string    `json:"format"`
	Version    int       `json:"version"`
	Software   string    `json:"software"`
	Scope      Scope     `json:"scope"`
	ExportedAt time.Time `json:"exported_at"`
	Streams    int       `json:"streams"`
	Events     int       `json:"events"`
	// Highest is the highest position of an event in its stream.
	Highest uint64 `json:"highest"`
	// Parts are the streams of which the scope owns only some events.
	Parts []string `json:"parts,omitempty"`
	// LeftOut counts the events that depend on the scope and also name content of others.
	LeftOut int `json:"left_out,omitempty"`
	// Backup is true of a volume of a backup, which also has the records of the installation.
	Backup bool `json:"backup,omitempty"`
}

// foot is the last line: the SHA-256 of all bytes before it.
type foot struct {
	SHA256 string `json:"sha256"`
}

// writeLines writes the file, with the counts of the events in its first line. The file appears when it is complete.
func writeLines(path string, h head, events iter.Seq2[schema.Event, error]) (head, error) {
	body, err := os.CreateTemp(filepath.Dir(path), ".events-*")
	if err != nil {
		return h, command.BadUsage(err)
	}
	defer func() {
		_ = body.Close()
		_ = os.Remove(body.Name())
	}()
	out := bufio.NewWriter(body)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false) // The checksum of a payload is that of its bytes.
	last := ""
	for e, err := range events {
		if err != nil {
			return h, err
		}
		if err := encoder.Encode(e); err != nil {
			return h, fmt.Errorf("write event %q: %w", e.ID, err)
		}
		if e.Stream != last {
			h.Streams, last = h.Streams+1, e.Stream
		}
		h.Events++
		h.Highest = max(h.Highest, e.Seq)
	}
	if err := out.Flush(); err != nil {
		return h, err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return h, err
	}
	return h, assemble(path, h, body)
}

// assemble writes the head, the body and the checksum to a new file, and puts it in place.
func assemble(path string, h head, body io.Reader) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".events-*") // Only its owner may read it.
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	sum := sha256.New()
	both := io.MultiWriter(file, sum)
	err = json.NewEncoder(both).Encode(h)
	if err == nil {
		_, err = io.Copy(both, body)
	}
	if err == nil {
		err = json.NewEncoder(file).Encode(foot{hex.EncodeToString(sum.Sum(nil))})
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write %q: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}

// lines reads a file of events.
type lines struct {
	path   string
	backup bool
	head   head
	file   io.Closer
	in     *bufio.Scanner
	sum    hash.Hash
	n      int
}

// fault is an error about a line of the file.
func (l *lines) fault(remedy, format string, args ...any) error {
	said := fmt.Sprintf(format, args...)
	if l.backup {
		return command.Usagef("%s:%d: %s: bring a good copy of the file back; nothing was restored", l.path, l.n, said)
	}
	return command.Usagef("%s:%d: %s: %s; nothing was imported", l.path, l.n, said, remedy)
}

const exportAgain = "export again, and copy the file as it is"

// volume is a file of events, which may be somewhere else.
type volume struct {
	name string
	open func() (io.ReadCloser, error)
	// backup is true of a volume of a backup. It may have records of the installation, which an export never has.
	backup bool
}

// fileVolume is a file on this machine.
func fileVolume(path string) volume {
	return volume{name: path, open: func() (io.ReadCloser, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, command.BadUsage(err)
		}
		return file, nil
	}}
}

// openLines opens the volume and reads its head.
func openLines(v volume) (*lines, error) {
	file, err := v.open()
	if err != nil {
		return nil, err
	}
	l := &lines{path: v.name, backup: v.backup, file: file, in: bufio.NewScanner(file), sum: sha256.New()}
	l.in.Buffer(make([]byte, 64<<10), maxLine)
	if err := l.readHead(); err != nil {
		_ = file.Close()
		return nil, err
	}
	return l, nil
}

func (l *lines) readHead() error {
	line, ok, err := l.next()
	if err != nil {
		return err
	}
	h := &l.head
	switch {
	case !ok || json.Unmarshal(line, h) != nil || h.Format != linesFormat:
		return l.fault("give the file "+eventsFile+" of starter export; other systems' data is read by starter migrate", "it is not the first line of an export")
	case h.Version != linesVersion:
		return l.fault("import it with the software that wrote it, or newer: "+h.Software, "version %d of the format is unknown, want %d", h.Version, linesVersion)
	case h.Backup != l.backup:
		return l.fault("give the place of the backup to starter restore", "it is a volume of a backup")
	case h.Scope.Validate() != nil:
		return l.fault(exportAgain, "the scope is wrong: %v", h.Scope.Validate())
	}
	l.sum.Write(append(line, '\n'))
	return nil
}

// next returns the next line.
func (l *lines) next() ([]byte, bool, error) {
	l.n++
	if l.in.Scan() {
		return l.in.Bytes(), true, nil
	}
	if err := l.in.Err(); err != nil {
		return nil, false, l.fault(exportAgain, "%v", err)
	}
	return nil, false, nil
}

// events yields the events. The last error is about the file as a whole: it was cut or changed.
func (l *lines) events() iter.Seq2[schema.Event, error] {
	return func(yield func(schema.Event, error) bool) {
		defer func() { _ = l.file.Close() }()
		var last schema.Event
		streams, events := 0, 0
		for {
			line, ok, err := l.next()
			if err == nil && !ok {
				err = l.fault(exportAgain, "the file is cut: its last line, the checksum, is missing")
			}
			if err != nil {
				yield(schema.Event{}, err)
				return
			}
			if bytes.HasPrefix(line, []byte(`{"sha256":`)) {
				if err := l.ends(line, streams, events); err != nil {
					yield(schema.Event{}, err)
				}
				return
			}
			l.sum.Write(append(line, '\n'))
			e, err := l.event(line, last)
			if err != nil {
				yield(schema.Event{}, err)
				return
			}
			if events++; e.Stream != last.Stream {
				streams++
			}
			last = e
			if !yield(e, nil) {
				return
			}
		}
	}
}

// ends checks the counts and the checksum at the end of the file.
func (l *lines) ends(line []byte, streams, events int) error {
	var f foot
	switch got := hex.EncodeToString(l.sum.Sum(nil)); {
	case json.Unmarshal(line, &f) != nil:
		return l.fault(exportAgain, "the checksum is no JSON")
	case f.SHA256 != got:
		return l.fault(exportAgain, "the file was changed: its content has the checksum %s, and this line says %s", got, f.SHA256)
	case streams != l.head.Streams || events != l.head.Events:
		return l.fault(exportAgain, "it has %d events of %d streams, and its head says %d of %d", events, streams, l.head.Events, l.head.Streams)
	case l.in.Scan():
		return l.fault("delete the lines after the checksum", "there are lines after the checksum")
	case l.in.Err() != nil:
		return l.fault(exportAgain, "%v", l.in.Err())
	}
	return nil
}

// event reads and checks an event. Events are in the order of their streams and positions.
func (l *lines) event(line []byte, last schema.Event) (schema.Event, error) {
	var e schema.Event
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, l.fault(exportAgain, "it is no event: %v", err)
	}
	sum := sha256.Sum256(e.Payload)
	switch {
	case e.ID != schema.EventID(e.DedupeKey):
		return e, l.fault(exportAgain, "event %q does not have the id of its dedupe key", e.ID)
	case hex.EncodeToString(sum[:]) != e.Checksum:
		return e, l.fault(exportAgain, "the payload of event %q was changed", e.ID)
	case e.Seq == 0 || e.Stream < last.Stream || e.Stream == last.Stream && e.Seq <= last.Seq:
		return e, l.fault(exportAgain, "event %q is out of order", e.ID)
	case e.Seq > l.head.Highest:
		return e, l.fault(exportAgain, "event %q is at %d, and the head says that positions end at %d", e.ID, e.Seq, l.head.Highest)
	case !l.head.owns(e.Stream):
		return e, l.fault("export each scope to a directory of its own", "stream %q is not of %s", e.Stream, l.head.Scope)
	}
	if _, err := schema.DecodePayload(e); err != nil {
		return e, l.fault("import it with the software that wrote it, or newer: "+l.head.Software, "%v", err)
	}
	return e, nil
}

// partial reports whether the scope owns only some events of the stream.
func (h head) partial(stream string) bool { return slices.Contains(h.Parts, stream) }

// owns reports whether an export of the scope may contain the stream.
func (h head) owns(stream string) bool {
	if h.Backup {
		return backedUp(stream)
	}
	is := func(project, user string, err error) bool {
		return err == nil && (h.Scope.All || h.Scope.User != "" && user == h.Scope.User || h.Scope.Project != "" && project == h.Scope.Project)
	}
	session, err := schema.ParseSessionStream(stream)
	if err != nil {
		session, _, err = schema.ParseContextStream(stream)
	}
	if is(session.Project, session.User, err) {
		return true
	}
	for _, parse := range []func(string) (string, error){schema.ParseProjectStream, schema.ParseGraduateStream, schema.ParseUsageStream} {
		if project, err := parse(stream); err == nil {
			return is(project, "", nil) || h.Scope.User != "" && h.partial(stream)
		}
	}
	for _, parse := range []func(string) (user, agent string, err error){schema.ParseMemoryStream, schema.ParseQueueStream} {
		if user, _, err := parse(stream); err == nil {
			return is("", user, nil) || h.Scope.Project != "" && h.partial(stream)
		}
	}
	return strings.HasPrefix(stream, schema.ModelPrefix) || h.Scope.Project == "" && strings.HasPrefix(stream, schema.DreamPrefix)
}
