package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"

	"axiommind/activities/eventlog"
)

// maxExamples is how many rows of a difference are named.
const maxExamples = 3

// difference is what a table's rows became.
type difference struct {
	OnlyBefore int `json:"only_before"`
	OnlyAfter  int `json:"only_after"`
	// Changed rows have a key that was there before, and other columns.
	Changed  int       `json:"changed"`
	Examples []example `json:"examples"`
}

// example is a row that is not the same, by the key of its table.
type example struct {
	What string `json:"what"`
	Key  string `json:"key"`
}

func (d *difference) add(counter *int, what, key string) {
	*counter++
	if *counter <= maxExamples {
		d.Examples = append(d.Examples, example{what, key})
	}
}

// snapshot is a file of the keys and hashes of a table's rows, in the order of the keys. No copy is in memory:
// a table may hold more than that.
type snapshot struct{ path string }

func takeSnapshot(rows iter.Seq2[eventlog.RowHash, error]) (*snapshot, error) {
	file, err := os.CreateTemp("", "axiommind-rebuild-*")
	if err != nil {
		return nil, fmt.Errorf("note the rows: %w", err)
	}
	s := &snapshot{file.Name()}
	w := bufio.NewWriter(file)
	for row, rowErr := range rows {
		if err = rowErr; err != nil {
			break
		}
		if _, err = fmt.Fprintf(w, "%016x %q\n", row.Hash, row.Key); err != nil {
			break
		}
	}
	if err = errors.Join(err, w.Flush(), file.Close()); err != nil {
		s.remove()
		return nil, fmt.Errorf("note the rows: %w", err)
	}
	return s, nil
}

func (s *snapshot) remove() {
	if s != nil {
		_ = os.Remove(s.path)
	}
}

// compare goes through the rows of then and now side by side.
func (s *snapshot) compare(now iter.Seq2[eventlog.RowHash, error]) (*difference, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("read the rows of before: %w", err)
	}
	defer func() { _ = file.Close() }()
	r := bufio.NewReader(file)
	before, there, err := nextRow(r)
	if err != nil {
		return nil, err
	}
	d := &difference{}
	for after, err := range now {
		if err != nil {
			return nil, err
		}
		for there && before.Key < after.Key {
			d.add(&d.OnlyBefore, "only before", before.Key)
			if before, there, err = nextRow(r); err != nil {
				return nil, err
			}
		}
		if !there || before.Key > after.Key {
			d.add(&d.OnlyAfter, "only after", after.Key)
			continue
		}
		if before.Hash != after.Hash {
			d.add(&d.Changed, "changed", after.Key)
		}
		if before, there, err = nextRow(r); err != nil {
			return nil, err
		}
	}
	for there {
		d.add(&d.OnlyBefore, "only before", before.Key)
		if before, there, err = nextRow(r); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func nextRow(r *bufio.Reader) (row eventlog.RowHash, ok bool, err error) {
	line, err := r.ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		return row, false, nil
	}
	if err == nil {
		hash, key, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		row.Hash, err = strconv.ParseUint(hash, 16, 64)
		if err == nil {
			row.Key, err = strconv.Unquote(key)
		}
	}
	if err != nil {
		return row, false, fmt.Errorf("read the rows of before: %w", err)
	}
	return row, true, nil
}
