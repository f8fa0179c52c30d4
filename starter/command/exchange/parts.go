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
)

// part is a manifest: one run of a backup. It is the last file that the run writes, and without it there is no part.
type part struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Software string    `json:"software"`
	Number   int       `json:"part"`
	At       time.Time `json:"at"`
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
	// Keys are the ids of the keys that encrypt originals in the log. The keys themselves are never in a backup.
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

// partsOf returns the parts of the backup at the place, from the last full one on, and the names of all its files.
func partsOf(ctx context.Context, p place) (parts []part, names []string, err error) {
	names, err = p.Names(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("list %s: %w", p, err)
	}
	for _, name := range names {
		var n int
		if _, err := fmt.Sscanf(name, manifestName, &n); err != nil || name != fmt.Sprintf(manifestName, n) {
			continue
		}
		text, err := readAll(ctx, p, name)
		if err != nil {
			return nil, nil, fmt.Errorf("read %s in %s: %w", name, p, err)
		}
		var m part
		switch err := json.Unmarshal(text, &m); {
		case err != nil || m.Format != backupFormat || m.Number != n:
			return nil, nil, command.Usagef("%s in %s is no manifest of part %d of a backup: restore the file, or give another place", name, p, n)
		case m.Version != backupVersion:
			return nil, nil, command.Usagef("%s in %s has version %d of the format, want %d: use the software that wrote it, or newer: %s", name, p, m.Version, backupVersion, m.Software)
		}
		if m.Full {
			parts = nil
		} else if len(parts) == 0 || parts[len(parts)-1].Number != n-1 {
			return nil, nil, command.Usagef("part %d of the backup in %s is missing, and part %d continues it: bring %s and its directory back, or start again with backup --full",
				n-1, p, n, fmt.Sprintf(manifestName, n-1))
		}
		parts = append(parts, m)
	}
	return parts, names, nil
}

// readEnds returns the last event of each stream as of the part.
func (m part) readEnds(ctx context.Context, p place) (map[string]end, error) {
	ends := map[string]end{}
	body, err := p.Open(ctx, m.Dir+"/"+endsFile)
	if err == nil {
		err = unzip(body, func(r io.Reader) error { return json.NewDecoder(r).Decode(&ends) })
	}
	if err != nil {
		return nil, fmt.Errorf("read %s/%s in %s: %w; start again with backup --full", m.Dir, endsFile, p, err)
	}
	return ends, nil
}

// volumes returns the volumes of the parts.
func volumes(ctx context.Context, p place, parts []part) (out []volume) {
	for _, m := range parts {
		for _, name := range m.Volumes {
			path := m.Dir + "/" + name
			out = append(out, volume{path, func() (io.ReadCloser, error) {
				body, err := p.Open(ctx, path)
				if errors.Is(err, fs.ErrNotExist) {
					return nil, command.Usagef("%s is missing in %s: bring it back; nothing was restored", path, p)
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
