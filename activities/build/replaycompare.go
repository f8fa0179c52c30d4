package build

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// What is the kind of a difference.
type What string

// Ways to differ.
const (
	// OnlyRecorded is an item that the replay did not make, OnlyReplayed one that is not recorded.
	OnlyRecorded What = "only recorded"
	OnlyReplayed What = "only replayed"
	Changed      What = "changed"
)

// Difference is an event or a row that a replay makes otherwise.
type Difference struct {
	// In is the type of the event or the table of the row, and Key names it for people.
	In   string `json:"in"`
	Key  string `json:"key"`
	What What   `json:"what"`
	// Fields are the fields that differ, if What is Changed.
	Fields []FieldDifference `json:"fields,omitempty"`
}

// FieldDifference is a field with its values.
type FieldDifference struct {
	Field    string `json:"field"`
	Recorded string `json:"recorded"`
	Replayed string `json:"replayed"`
}

func (r *replay) differs(d Difference) { r.result.Differences = append(r.result.Differences, d) }

// compareEvents compares the events of the build, by their dedupe keys.
func (r *replay) compareEvents(ctx context.Context) error {
	replayed := map[string]schema.Event{}
	options := eventlog.StreamOptions{Types: append([]string{schema.BuildFinished}, derived...), After: r.before}
	for event, err := range r.log.Stream(ctx, r.started.Stream(), options) {
		if err != nil {
			return err
		}
		replayed[event.DedupeKey] = event
	}
	for _, was := range append(slices.Clone(r.events), r.ended) {
		r.result.Events++
		is, ok := replayed[was.DedupeKey]
		delete(replayed, was.DedupeKey)
		d := Difference{In: was.Type, Key: r.eventText(was), What: OnlyRecorded}
		if ok {
			fields, err := compareJSON(was.Payload, is.Payload)
			if err != nil {
				return fmt.Errorf("compare event %q: %w", was.ID, err)
			}
			if was.Type != is.Type {
				fields = append(fields, FieldDifference{"event_type", was.Type, is.Type})
			}
			if len(fields) == 0 {
				continue
			}
			d.What, d.Fields = Changed, fields
		}
		r.differs(d)
	}
	added := slices.SortedFunc(maps.Values(replayed), func(a, b schema.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, is := range added {
		if !r.brokeOff(is.Type) {
			r.differs(Difference{In: is.Type, Key: r.eventText(is), What: OnlyReplayed})
		}
	}
	return nil
}

// brokeOff reports whether the build failed in a step whose events are stored together with those of the type.
func (r *replay) brokeOff(eventType string) bool {
	return r.brokeOffDeriving() && slices.ContainsFunc(derivedSteps, func(step string) bool { return slices.Contains(eventsOf[step], eventType) })
}

// eventText names an event for people.
func (r *replay) eventText(e schema.Event) string {
	var p struct {
		Title            string         `json:"title"`
		EntryID          string         `json:"entry_id"`
		BuildID          string         `json:"build_id"`
		ExtractedEventID string         `json:"extracted_event_id"`
		Module           string         `json:"module"`
		CheckedEventID   string         `json:"checked_event_id"`
		Window           *schema.Window `json:"window"`
	}
	// The payload of a known type.
	_ = json.Unmarshal(e.Payload, &p)
	switch {
	case p.Window != nil:
		return windowText(*p.Window)
	case p.Title != "":
		return fmt.Sprintf("entry %s, %q", p.EntryID, p.Title)
	case p.EntryID != "":
		return "entry " + p.EntryID
	case p.BuildID != "":
		return "build " + p.BuildID
	case p.Module != "":
		return "module " + p.Module
	case p.CheckedEventID != "":
		return "promotions after check " + p.CheckedEventID
	default:
		return "extraction " + p.ExtractedEventID
	}
}

func windowText(w schema.Window) string {
	text := fmt.Sprintf("messages %d to %d", w.First, w.Last)
	if w.ByteStart > 0 || w.ByteEnd > 0 {
		text += fmt.Sprintf(", bytes %d to %d", w.ByteStart, w.ByteEnd)
	}
	if w.Asked > 0 {
		text += fmt.Sprintf(", asked again (%d)", w.Asked)
	}
	return text
}

// compareJSON returns the fields that differ, by their paths.
func compareJSON(was, is []byte) ([]FieldDifference, error) {
	before, after := map[string]string{}, map[string]string{}
	for _, side := range []struct {
		data []byte
		into map[string]string
	}{{was, before}, {is, after}} {
		d := json.NewDecoder(strings.NewReader(string(side.data)))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		flatten("", v, side.into)
	}
	return compareFields(before, after), nil
}

func compareFields(before, after map[string]string) []FieldDifference {
	paths := slices.Collect(maps.Keys(before))
	for path := range after {
		if _, known := before[path]; !known {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	var out []FieldDifference
	for _, path := range paths {
		if before[path] != after[path] {
			out = append(out, FieldDifference{path, before[path], after[path]})
		}
	}
	return out
}

func flatten(path string, v any, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			flatten(strings.TrimPrefix(path+"."+name, "."), value, into)
		}
	case []any:
		for i, value := range v {
			flatten(path+"["+strconv.Itoa(i)+"]", value, into)
		}
	case nil:
	default:
		into[path] = fmt.Sprint(v)
	}
}

// replayedTable is a table with rows of builds.
type replayedTable struct {
	name, where string
	arg         func(r *replay) any
	// except are columns that depend on when and where an event was stored.
	except []string
}

var replayedTables = []replayedTable{
	{"entries_raw", "stream = ?", (*replay).stream, []string{"created_at", "version"}},
	{"entry_changes_raw", "stream = ?", (*replay).stream, []string{"created_at", "version"}},
	{"build_runs_raw", "build_id = ?", (*replay).buildID, nil},
}

func (r *replay) stream() any { return r.started.Stream() }

func (r *replay) buildID() any { return r.started.BuildID }

// tableRow is a row of a table as text, by its columns.
type tableRow map[string]string

// compareRows compares the rows that were made of the build's events.
func (r *replay) compareRows(ctx context.Context) error {
	events := map[string]bool{"": true} // A table without event_id holds rows of the build alone.
	for _, e := range r.events {
		events[e.ID] = true
	}
	for _, t := range replayedTables {
		was, err := readRows(ctx, r.home, t, t.arg(r))
		if err != nil {
			return err
		}
		is, err := readRows(ctx, r.scratch.Conn, t, t.arg(r))
		if err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(was)) {
			if events[was[key]["event_id"]] {
				r.result.Rows++
				r.compareRow(t, key, was[key], is[key])
			}
		}
		for _, key := range slices.Sorted(maps.Keys(is)) {
			if !events[is[key]["event_id"]] || is[key]["event_id"] == was[key]["event_id"] {
				continue
			}
			if was[key] != nil {
				r.result.Replaced++
				continue
			}
			r.differs(Difference{In: t.name, Key: rowText(key, is[key]), What: OnlyReplayed})
		}
	}
	return nil
}

func (r *replay) compareRow(t replayedTable, key string, was, is tableRow) {
	if is == nil {
		r.differs(Difference{In: t.name, Key: rowText(key, was), What: OnlyRecorded})
		return
	}
	was, is = maps.Clone(was), maps.Clone(is)
	for _, column := range t.except {
		delete(was, column)
		delete(is, column)
	}
	if fields := compareFields(was, is); len(fields) > 0 {
		r.differs(Difference{In: t.name, Key: rowText(key, was), What: Changed, Fields: fields})
	}
}

// rowText names a row for people.
func rowText(key string, row tableRow) string {
	if title := row["title"]; title != "" {
		return fmt.Sprintf("%s, %q", key, title)
	}
	return key
}

// readRows returns the rows by their keys.
func readRows(ctx context.Context, conn driver.Conn, t replayedTable, arg any) (map[string]tableRow, error) {
	key, err := clickhouse.SortingKey(ctx, conn, t.name)
	if err != nil {
		return nil, fmt.Errorf("read table %q: %w", t.name, err)
	}
	var columns, values []string
	err = clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var column string
		err := rows.Scan(&column)
		columns = append(columns, column)
		values = append(values, "ifNull(toString("+clickhouse.Identifier(column)+"), '')")
		return err
	}, "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = ? ORDER BY position", t.name)
	if err != nil {
		return nil, fmt.Errorf("read table %q: %w", t.name, err)
	}
	out := map[string]tableRow{}
	err = clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var k string
		var v []string
		if err := rows.Scan(&k, &v); err != nil {
			return err
		}
		row := make(tableRow, len(columns))
		for i, column := range columns {
			row[column] = v[i]
		}
		out[k] = row
		return nil
	}, fmt.Sprintf("SELECT toString(tuple(%s)), [%s] FROM %s FINAL WHERE %s", key, strings.Join(values, ", "), t.name, t.where), arg)
	if err != nil {
		return nil, fmt.Errorf("read table %q: %w", t.name, err)
	}
	return out, nil
}
