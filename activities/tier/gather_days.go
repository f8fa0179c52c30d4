package tier

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/fact"
	"axiommind/schema"
)

// dayContent is the content of a day: the hashes of the parts of its record, the ids of its entries, and its facts, each
// in order.
type dayContent struct {
	date    string
	records []string
	entries []string
	facts   []fact.Fact
	// bytes is the size of the texts.
	bytes int
}

// hash is of all that is read of the day.
func (d *dayContent) hash() string {
	facts := make([]string, 0, 2*len(d.facts))
	for _, f := range d.facts {
		facts = append(facts, f.ID, f.Content, f.Category)
	}
	return schema.HashParts(schema.HashParts(d.records...), schema.HashParts(d.entries...), schema.HashParts(facts...))
}

// recordPart is the hash of the part that an event adds to a record.
func recordPart(edited bool, reason, clock, textHash string) string {
	return schema.HashParts(fmt.Sprint(edited), reason, clock, textHash)
}

// recordHashesSQL selects the parts of each day's record: the last edit and the parts added since. It reads no text,
// and takes the days in the order of the table, one by one. Rows of the same event are the same.
const recordHashesSQL = `SELECT date, part.2, part.3, part.4, part.5, part.6 FROM (
		SELECT date, maxIf(seq, edited) AS from, arraySort(groupUniqArray(
			(seq, edited, toString(reason), clock, text_sha256, text_bytes))) AS parts
		FROM records_raw WHERE user = ? AND agent = ? AND kind = ? AND date >= ? AND date <= ? GROUP BY date
	) ARRAY JOIN parts AS part
	WHERE part.1 >= from AND (part.2 OR part.6 > 0) ORDER BY date, part.1
	SETTINGS optimize_aggregation_in_order = 1`

// heldDays returns the content of the days of the span, by date, without the texts of records and entries.
func (a *Activities) heldDays(ctx context.Context, user, agent string, s span) (map[string]*dayContent, error) {
	held := map[string]*dayContent{}
	at := func(date string) *dayContent {
		if held[date] == nil {
			held[date] = &dayContent{date: date}
		}
		return held[date]
	}
	err := a.tables.query(ctx, user, agent, func(rows driver.Rows) error {
		var date, reason, clock, hash string
		var edited bool
		var bytes uint64
		if err := rows.Scan(&date, &edited, &reason, &clock, &hash, &bytes); err != nil {
			return err
		}
		day := at(date)
		day.records = append(day.records, recordPart(edited, reason, clock, hash))
		day.bytes += int(bytes)
		return nil
	}, recordHashesSQL, string(schema.RecordDaily), s.first, s.last)
	if err != nil {
		return nil, fmt.Errorf("read the hashes of daily records: %w", err)
	}
	entries, err := entry.NewReader(a.conn).Stated(ctx, a.provenIn(user, agent, s))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		day := at(a.dateOf(e.At))
		day.entries = append(day.entries, e.ID)
		day.bytes += e.Bytes
	}
	tables := fact.NewTables(a.conn)
	facts, err := tables.List(ctx, user, agent)
	if err != nil {
		return nil, err
	}
	facts = slices.DeleteFunc(facts, func(f fact.Fact) bool { return !s.holds(a.dateOf(f.UpdatedAt)) })
	if err := tables.Judge(ctx, user, agent, facts); err != nil {
		return nil, err
	}
	for _, f := range facts {
		// As with entries, a dream reads only facts that are believed and not contested.
		if date := a.dateOf(f.UpdatedAt); !f.Entry.Ended() && !f.Entry.Contested() {
			day := at(date)
			day.facts = append(day.facts, f)
			day.bytes += len(f.Content)
		}
	}
	return held, nil
}

// provenIn selects the proven entries of the span, the oldest first.
func (a *Activities) provenIn(user, agent string, s span) entry.Selection {
	var from time.Time
	if s.first != "" {
		from = a.dayAfter(s.first, 0)
	}
	return entry.OfMemory(user, agent).Proven().NotType(schema.EntryTaskNote).Between(from, a.dayAfter(s.last, 1)).OldestFirst()
}

func (a *Activities) dateOf(t time.Time) string { return t.In(a.opts.Zone).Format(schema.DateLayout) }

// readDays reads the texts of the days, which are in the order of their dates, and returns the newest first. Days that
// hold no text are left out.
func (a *Activities) readDays(ctx context.Context, user, agent string, days []*dayContent) ([]schema.GatheredDay, error) {
	var dates, ids []string
	for _, day := range days {
		if len(day.records) > 0 {
			dates = append(dates, day.date)
		}
		ids = append(ids, day.entries...)
	}
	records := map[string][]Record{}
	if len(dates) > 0 {
		found, err := a.tables.Records(ctx, user, agent, schema.RecordDaily, dates...)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			records[r.Date] = append(records[r.Date], r)
		}
	}
	entries, err := entry.NewReader(a.conn).ByID(ctx, entry.OfMemory(user, agent).IDs(ids), entry.Statement)
	if err != nil {
		return nil, err
	}
	var out []schema.GatheredDay
	for _, day := range slices.Backward(days) {
		if gathered := gatherDay(*day, records[day.date], entries); len(gathered.Sources) > 0 {
			out = append(out, gathered)
		}
	}
	return out, nil
}

// gatherDay returns the day with its texts. Its hash is of these texts, also if the day has grown since it was chosen.
func gatherDay(day dayContent, records []Record, entries map[string]entry.Row) schema.GatheredDay {
	out := schema.GatheredDay{Day: schema.Day{Date: day.date}}
	records = sinceEdit(records)
	day.records = nil
	for _, r := range records {
		day.records = append(day.records, recordPart(r.Edited, string(r.Reason), r.Clock, schema.HashText(r.Text)))
		if source := sourceOfRecord(r); strings.TrimSpace(source.Text) != "" {
			out.Sources = append(out.Sources, source)
		}
	}
	if len(out.Sources) > 0 {
		text, _ := RenderRecord(records)
		out.Record = withoutHeader(day.date, text)
	}
	stated := slices.DeleteFunc(slices.Clone(day.entries), func(id string) bool { return entries[id].ID == "" })
	day.entries = stated
	for _, id := range stated {
		e := entries[id]
		out.Sources = append(out.Sources, schema.SourceText{
			ID: id, Kind: schema.SourceEntry, Heading: headingOfEntry(e.Entry), Text: e.Title, Worth: e.Confidence,
		})
	}
	for _, f := range day.facts {
		out.Sources = append(out.Sources, schema.SourceText{
			ID: f.ID, Kind: schema.SourceFact, Heading: headingOfCategory(f.Category), Text: f.Content, Worth: &f.Confidence,
		})
	}
	out.Hash = day.hash()
	return out
}

// sinceEdit returns the last edit and the records added since: a person's text replaces all earlier ones.
func sinceEdit(records []Record) []Record {
	for i := range slices.Backward(records) {
		if records[i].Edited {
			return records[i:]
		}
	}
	return records
}

func sourceOfRecord(r Record) schema.SourceText {
	if r.Edited {
		return schema.SourceText{ID: r.EventID, Kind: schema.SourceEdited, Text: withoutHeader(r.Date, r.Text)}
	}
	return schema.SourceText{ID: r.EventID, Kind: schema.SourceRecord, Turns: fromTurns(r.Summarizer), Text: r.Text}
}

// withoutHeader returns the text of a daily record without its title, which says nothing, and without blank lines around
// it.
func withoutHeader(date, text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimPrefix(strings.TrimSpace(text), strings.TrimSpace(recordHeader(schema.RecordDaily, date)))
	return strings.TrimSpace(text)
}

// headingOfEntry is the heading of core memory under which the entry belongs.
func headingOfEntry(e schema.Entry) string {
	if e.Type == schema.EntryFact {
		return headingOfCategory(e.Category)
	}
	return map[schema.EntryType]string{
		schema.EntryDecision: "Decisions", schema.EntryInsight: "Insights", schema.EntryReference: "References",
	}[e.Type]
}

func headingOfCategory(category string) string {
	return map[string]string{
		schema.CategoryPreference: "Preferences", schema.CategoryKnowledge: "Knowledge", schema.CategoryContext: "Context",
		schema.CategoryBehavior: "Behavior", schema.CategoryGoal: "Goals", schema.CategoryCorrection: "Corrections",
	}[category]
}
