package exchange

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/schema"
	"axiommind/starter/command"
)

const (
	backupFormat  = "axiommind-backup"
	backupVersion = 1
	// manifestName is the name of a part's manifest. A number has one manifest: the second of two backups at once fails.
	manifestName = "manifest-%06d.json"
	endsFile     = "ends.json.gz"
	volumeName   = "events-%06d.jsonl.gz"
	// maxManifest bounds a manifest, and maxEnds the ends of streams, in bytes.
	maxManifest, maxEnds = 16 << 20, 4 << 30
)

// The names that a backup gives to its files. No other file is touched.
var (
	manifestFile = regexp.MustCompile(`^manifest-(\d{6,9})\.json$`)
	partDir      = regexp.MustCompile(`^part-(\d{6,9})-[a-z2-7]{8}$`)
	partFile     = regexp.MustCompile(`^(?:ends\.json\.gz|events-\d{6,9}\.jsonl\.gz)$`)
)

// numberOf returns the number of the part that a file is of, and its directory, which is empty for a manifest. ok is false for
// a file of others.
func numberOf(name string) (number int, dir string, ok bool) {
	match := manifestFile.FindStringSubmatch(name)
	if before, file, deep := strings.Cut(name, "/"); deep && partFile.MatchString(file) {
		dir, match = before, partDir.FindStringSubmatch(before)
	}
	if match == nil {
		return 0, "", false
	}
	number, err := strconv.Atoi(match[1])
	return number, dir, err == nil
}

// part is a manifest: one run of a backup. It is the last file that the run writes, and without it there is no part.
type part struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Software string    `json:"software"`
	Number   int       `json:"part"`
	At       time.Time `json:"at"`
	// Log is the identity of the log: of the table in ClickHouse.
	Log string `json:"log"`
	// Full is true of a part that depends on no earlier one.
	Full bool `json:"full"`
	// Dir is the directory of the part's files, and Volumes are those with events.
	Dir     string   `json:"dir"`
	Volumes []string `json:"volumes"`
	// Streams and Events count the content of this part, and Total that of the log as of this part.
	Streams int   `json:"streams"`
	Events  int   `json:"events"`
	Total   total `json:"total"`
	// Audit is the last position of the trail of erasures. An erasure rewrites the log, so that the next part is full.
	Audit uint64 `json:"audit"`
	// Keys are the ids of the keys that encrypt originals in this part and those before. The keys are never in a backup.
	Keys []string `json:"keys,omitempty"`
	// Settings are the settings of the program that made the part, without secrets.
	Settings map[string]string `json:"settings"`
}

type total struct {
	Streams int `json:"streams"`
	Events  int `json:"events"`
}

// end is the last event of a stream.
type end struct {
	Seq uint64 `json:"seq"`
	ID  string `json:"id"`
}

// backedUp reports whether a backup has the stream. It has none about the stores that a restore makes again.
func backedUp(stream string) bool {
	return !strings.HasPrefix(stream, schema.VectorPrefix) && !strings.HasPrefix(stream, schema.RebuildPrefix)
}

// partsOf returns the parts of the backup, from the last full one on. names are those of all files at the place.
func partsOf(ctx context.Context, p place, names []string) (parts []part, err error) {
	var numbers []int
	for _, name := range names {
		if n, dir, ok := numberOf(name); ok && dir == "" {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for i, n := range slices.Backward(numbers) {
		m, err := readManifest(ctx, p, n)
		if err != nil {
			return nil, err
		}
		parts = append([]part{m}, parts...)
		if m.Full {
			return parts, nil
		}
		if i == 0 || numbers[i-1] != n-1 {
			return nil, command.Usagef("part %d of the backup in %s is missing, and part %d continues it: bring %s and its directory back, or replace the backup by backup --full",
				n-1, p, n, fmt.Sprintf(manifestName, n-1))
		}
	}
	return nil, nil
}

func readManifest(ctx context.Context, p place, n int) (m part, err error) {
	name := fmt.Sprintf(manifestName, n)
	body, err := p.Open(ctx, name)
	if err != nil {
		return m, fmt.Errorf("read %s in %s: %w", name, p, err)
	}
	text, err := io.ReadAll(io.LimitReader(body, maxManifest))
	if err = errors.Join(err, body.Close()); err != nil {
		return m, fmt.Errorf("read %s in %s: %w", name, p, err)
	}
	bad := json.Unmarshal(text, &m) != nil || m.Format != backupFormat || m.Number != n || !partDir.MatchString(m.Dir) ||
		slices.ContainsFunc(m.Volumes, func(name string) bool { return !partFile.MatchString(name) })
	switch {
	case bad:
		return m, command.Usagef("%s in %s is not the manifest of part %d of a backup: bring a good copy back, or replace the backup by backup --full", name, p, n)
	case m.Version != backupVersion:
		return m, command.Usagef("%s in %s has version %d of the format, want %d: use the software that wrote it, or newer: %s", name, p, m.Version, backupVersion, m.Software)
	}
	return m, nil
}

// readEnds returns the last event of each stream as of the part.
func (m part) readEnds(ctx context.Context, p place) (map[string]end, error) {
	ends := map[string]end{}
	body, err := p.Open(ctx, m.Dir+"/"+endsFile)
	if err == nil {
		err = unzip(body, func(r io.Reader) error { return json.NewDecoder(io.LimitReader(r, maxEnds)).Decode(&ends) })
	}
	if err != nil {
		return nil, fmt.Errorf("read %s/%s in %s: %w; replace the backup by backup --full", m.Dir, endsFile, p, err)
	}
	return ends, nil
}

// volumes returns the volumes of the parts.
func volumes(ctx context.Context, p place, parts []part) (out []volume) {
	for _, m := range parts {
		for _, name := range m.Volumes {
			path := m.Dir + "/" + name
			out = append(out, volume{name: path, backup: true, open: func() (io.ReadCloser, error) {
				body, err := p.Open(ctx, path)
				if errors.Is(err, fs.ErrNotExist) {
					return nil, command.Usagef("%s is missing in %s: bring it back", path, p)
				}
				if err != nil {
					return nil, err
				}
				in, err := gzip.NewReader(body)
				if err != nil {
					return nil, errors.Join(command.Usagef("%s in %s: %w", path, p, err), body.Close())
				}
				return unzipped{in, body}, nil
			}})
		}
	}
	return out
}

// unzipped is a compressed file that is read.
type unzipped struct {
	*gzip.Reader
	body io.Closer
}

func (u unzipped) Close() error { return errors.Join(u.Reader.Close(), u.body.Close()) }

func unzip(body io.ReadCloser, read func(io.Reader) error) error {
	in, err := gzip.NewReader(body)
	if err == nil {
		err = read(in)
	}
	return errors.Join(err, body.Close())
}

func zipped(write func(io.Writer) error) ([]byte, error) {
	var buffer bytes.Buffer
	out := gzip.NewWriter(&buffer)
	err := errors.Join(write(out), out.Close())
	return buffer.Bytes(), err
}
