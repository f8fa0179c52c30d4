package tier

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// readAtOnce is how many files are read at a time.
const readAtOnce = 8

// memoryFile is a file of a memory: its path, its row, and its content.
type memoryFile struct {
	// kind is empty for MEMORY.md.
	kind schema.RecordKind
	date string
	path string
	// seq is the position of the last event that the file has to show, 0 for none.
	seq uint64
	row fileRow
	// listed is the file's version in the listing. isListed is true if the listing has the file.
	listed   string
	isListed bool
	// file is the content of the file.
	file File
}

// fileRow is the row that was stored when the program last wrote a file.
type fileRow struct {
	known   bool
	hash    string
	seq     uint64
	listed  string
	version uint64
}

// placeName names a dated file. That of MEMORY.md is empty.
type placeName struct {
	kind schema.RecordKind
	date string
}

func (p memoryFile) name() placeName { return placeName{p.kind, p.date} }

// isBehind reports whether the log has an event that the file was not written for.
func (p memoryFile) isBehind() bool {
	return p.seq > p.row.seq || p.seq == p.row.seq && p.seq > 0 && !p.row.known
}

// unchanged reports whether the file is as it was written, for the last event.
func (p memoryFile) unchanged() bool {
	if !p.file.Exists {
		return !p.isBehind() && p.row.hash == ""
	}
	return p.row.known && !p.isBehind() && hashText(p.file.Text) == p.row.hash
}

// isAsListed reports whether the listing shows the file unchanged since its row was stored, so that it need not be read.
func (p memoryFile) isAsListed() bool {
	switch {
	case p.isBehind() || !p.row.known:
		return false
	case !p.isListed:
		return p.row.hash == ""
	default:
		return p.row.hash != "" && p.listed != "" && p.listed == p.row.listed
	}
}

// placesQuery reads the positions of a memory's files in the log and the stored rows of the files, in one request.
const placesQuery = `
SELECT 'file' AS what, path AS name, sha256, seq, listed, version FROM memory_files_raw FINAL
WHERE root = ? AND user = ? AND agent = ?
UNION ALL
SELECT toString(kind), date, '', max(seq), '', 0 FROM records_raw WHERE user = ? AND agent = ? GROUP BY kind, date
UNION ALL
SELECT 'core', '', '', max(seq), '', 0 FROM core_versions_raw WHERE user = ? AND agent = ?`

// places returns the files to compare: MEMORY.md and those that are behind, or all.
func (s *filesSync) places(ctx context.Context) ([]memoryFile, error) {
	rows := map[string]fileRow{}
	seqs := map[placeName]uint64{{}: 0}
	in := s.in
	err := clickhouse.Query(ctx, s.conn, func(r driver.Rows) error {
		var what, name, hash, listed string
		var seq, version uint64
		if err := r.Scan(&what, &name, &hash, &seq, &listed, &version); err != nil {
			return err
		}
		switch what {
		case "file":
			rows[name] = fileRow{true, hash, seq, listed, version}
		case "core":
			seqs[placeName{}] = seq
		default:
			seqs[placeName{schema.RecordKind(what), name}] = seq
		}
		return nil
	}, placesQuery, s.root.URL(), in.User, in.Agent, in.User, in.Agent, in.User, in.Agent)
	if err != nil {
		return nil, err
	}
	listed := map[placeName]string{}
	if in.All {
		if listed, err = s.list(ctx); err != nil {
			return nil, err
		}
	}
	for name := range listed {
		seqs[name] += 0 // A person may have made it.
	}
	var places []memoryFile
	for name, seq := range seqs {
		p := memoryFile{kind: name.kind, date: name.date, path: s.layout.core(), seq: seq}
		if name.kind != "" {
			if p.path, err = s.layout.record(name.kind, name.date); err != nil {
				return nil, err
			}
		}
		p.row = rows[p.path]
		p.listed, p.isListed = listed[name]
		if name.kind == "" || p.isBehind() || in.All && !p.isAsListed() {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b memoryFile) int { return strings.Compare(a.path, b.path) })
	return places, nil
}

// list lists the dated files, those that a person has made too.
func (s *filesSync) list(ctx context.Context) (map[placeName]string, error) {
	listed := map[placeName]string{}
	for _, kind := range []schema.RecordKind{schema.RecordDaily, schema.RecordDiary} {
		files, err := s.root.List(ctx, s.layout.dated(kind))
		if err != nil {
			return nil, err
		}
		for file, tells := range files {
			if date, ok := strings.CutSuffix(file, ".md"); ok && isDate(date) {
				listed[placeName{kind, date}] = tells
			}
		}
	}
	return listed, nil
}

// read reads the files. Those that cannot be read are left out.
func (s *filesSync) read(ctx context.Context, places []memoryFile) ([]memoryFile, error) {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(readAtOnce)
	failed := make([]error, len(places))
	for i := range places {
		group.Go(func() (err error) {
			places[i].file, failed[i] = s.root.Read(groupCtx, places[i].path)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var read []memoryFile
	for i, p := range places {
		if failed[i] == nil {
			read = append(read, p)
		} else if err := s.note(failed[i]); err != nil {
			return nil, err
		}
	}
	return read, nil
}

// records reads the records of the dated files that have changed since they were written.
func (s *filesSync) records(ctx context.Context, places []memoryFile) (map[placeName][]Record, error) {
	dates := map[schema.RecordKind][]string{}
	for _, p := range places {
		if p.kind != "" && p.seq > 0 && !p.unchanged() {
			dates[p.kind] = append(dates[p.kind], p.date)
		}
	}
	of := map[placeName][]Record{}
	for _, kind := range []schema.RecordKind{schema.RecordDaily, schema.RecordDiary} {
		if len(dates[kind]) == 0 {
			continue
		}
		records, err := s.tables.Records(ctx, s.in.User, s.in.Agent, kind, dates[kind]...)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			name := placeName{kind, r.Date}
			of[name] = append(of[name], r)
		}
	}
	return of, nil
}

// write writes the files and stores their new rows.
func (s *filesSync) write(ctx context.Context) (written int, err error) {
	now := time.Now().UTC()
	var rows [][]any
	var stopped error
	for _, w := range s.writes {
		if w.write {
			if stopped = s.root.Write(ctx, w.path, w.text, w.file); stopped != nil {
				if stopped = s.note(stopped); stopped != nil {
					break
				}
				continue
			}
			written++
		}
		// The listing describes the file that was read, not one that was written since.
		listed := ""
		if w.hash == hashText(w.file.Text) && !w.write {
			listed = w.listed
		}
		if w.row.known && w.row.hash == w.hash && w.row.seq == w.seq && (w.row.listed == listed || listed == "" && !w.write) {
			continue
		}
		rows = append(rows, []any{s.root.URL(), s.in.User, s.in.Agent, w.path, w.hash, w.seq, listed, now, w.row.version + 1})
	}
	const into = "memory_files_raw (root, user, agent, path, sha256, seq, listed, written_at, version)"
	if err := clickhouse.Insert(ctx, s.conn, into, rows); err != nil {
		return written, err
	}
	return written, stopped
}
