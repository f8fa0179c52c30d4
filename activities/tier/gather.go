package tier

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// dreamActor is the actor of the events that a dream writes.
const dreamActor = "deep_dream"

// maxGatheredBytes is how many bytes of text one dream reads at most. A day that holds more is read alone.
const maxGatheredBytes = 4 << 20

// gatheredBytes is the most bytes of text that one dream reads for windows of this size: half of the windows of a
// level. The other half is for the memory, for the words around the texts, and for windows that are not full.
func gatheredBytes(windowBytes int) int {
	return min(maxGatheredBytes, maxWindows/2*max(windowBytes, minWindowBytes))
}

// GatherDream reads the input of a dream and stores it.
//
// It reads the days of the look-back. Without a number of days these are the days up to Date with content that no dream
// has read. There is no dream if these days are empty, or if the last dreams have read all their content. If there is
// too much for one dream, it reads the oldest of the days, and Next is the first remaining day.
func (a *Activities) GatherDream(ctx context.Context, in GatherInput) (Gathered, error) {
	return boundary.Run(ctx, in, a.gatherDream)
}

func (a *Activities) gatherDream(ctx context.Context, in GatherInput) (Gathered, error) {
	span, err := a.spanOf(in)
	if err != nil {
		return Gathered{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	r := gathering{a: a, in: in, span: span}
	err = a.log.Steady(ctx, a.projector, in.Writer().Stream(), func() error { return r.read(ctx) })
	if err == nil {
		err = a.log.AdmitsTo(ctx, in.Writer().Stream()) // Rows of a recent erasure remain in the tables for a while.
	}
	if err != nil {
		return Gathered{}, fmt.Errorf("gather the input of a dream of user %q, agent %q: %w", in.User, in.Agent, err)
	}
	model := a.archive.Model()
	_, local := model.(llm.Local)
	out := Gathered{
		Skipped: r.skipped, Date: r.payload.Date, Next: r.next, Ordinal: r.payload.Ordinal, Version: r.payload.Version,
		Model: model.Identity().String(), Local: local,
	}
	if r.skipped != "" {
		return out, nil
	}
	out.EventID, err = a.storeGathered(ctx, r.payload, in.At)
	return out, err
}

// storeGathered stores the gathered input, once, and returns the id of the event.
func (a *Activities) storeGathered(ctx context.Context, p schema.DreamGatheredPayload, at time.Time) (string, error) {
	data, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the gathered input: %w", err)
	}
	hash := schema.HashText(string(data))
	event, err := schema.NewEvent(p, schema.Event{TS: at.UTC(), Actor: dreamActor, DedupeKey: schema.DreamGatheredKey(hash)})
	if err != nil {
		return "", err
	}
	appended, err := a.log.Append(ctx, schema.DreamStream(hash), []schema.Event{event})
	if err != nil {
		return "", err
	}
	return appended.Events[0].ID, nil
}

// span is the days that a dream may read, both ends included. An empty first means the first existing day.
type span struct{ first, last string }

func (s span) holds(date string) bool { return s.first <= date && date <= s.last }

// spanOf returns the days that the input speaks of, in the zone of the worker.
func (a *Activities) spanOf(in GatherInput) (span, error) {
	if err := in.Validate(); err != nil {
		return span{}, err
	}
	if in.At.IsZero() {
		return span{}, errors.New("gather a dream: at is not given: it is the time that the day follows from")
	}
	if in.Date == "" {
		in.Date = in.At.In(a.opts.Zone).Format(schema.DateLayout)
	}
	s := span{last: in.Date}
	if in.LookbackDays > 0 {
		s.first = a.dayAfter(in.Date, 1-in.LookbackDays).Format(schema.DateLayout)
	}
	return s, nil
}

// dayAfter is when the day begins that is n days after the date.
func (a *Activities) dayAfter(date string, n int) time.Time {
	day, _ := time.Parse(schema.DateLayout, date) // It was checked, or made by this program.
	return time.Date(day.Year(), day.Month(), day.Day()+n, 0, 0, 0, 0, a.opts.Zone)
}

// gathering is the result of one call. It is read again until the tables do not change meanwhile.
type gathering struct {
	a    *Activities
	in   GatherInput
	span span

	skipped string
	next    string
	payload schema.DreamGatheredPayload
}

func (r *gathering) read(ctx context.Context) error {
	user, agent := r.in.User, r.in.Agent
	r.skipped, r.next = "", ""
	core, err := r.a.tables.Current(ctx, user, agent)
	if err != nil {
		return err
	}
	var last Dream
	dreams, err := r.a.tables.Dreams(ctx, user, agent, 1, 0)
	if err != nil {
		return err
	}
	if len(dreams) > 0 {
		last = dreams[0]
	}
	seen, err := r.a.tables.ReadDays(ctx, user, agent)
	if err != nil {
		return err
	}
	held, err := r.a.heldDays(ctx, user, agent, r.span)
	if err != nil {
		return err
	}
	r.payload = schema.DreamGatheredPayload{
		User: user, Agent: agent, Ordinal: last.Ordinal + 1, Date: r.span.last,
		Version: core.Version, Memory: core.Items, First: max(r.span.first, r.in.From),
	}
	if r.in.LookbackDays == 0 {
		r.payload.First = ""
	}
	if r.payload.Days, err = r.a.readDays(ctx, user, agent, r.choose(held, seen)); err != nil {
		return err
	}
	if r.in.Force && r.in.LookbackDays == 0 && len(r.payload.Days) == 0 && r.next == "" {
		if r.payload.Days, err = r.a.readDays(ctx, user, agent, r.again(held, last)); err != nil {
			return err
		}
	}
	if !r.in.Force && !slices.ContainsFunc(r.payload.Days, func(d schema.GatheredDay) bool { return seen[d.Date] != d.Hash }) {
		r.payload.Days = nil
	}
	if len(r.payload.Days) == 0 {
		r.skipped = r.nothing(held, seen, last)
	}
	return nil
}

// choose returns the days to read, the oldest first: those that no dream has read as they are, or all of a number of
// days that was given. It returns none if dreams have read them all.
func (r *gathering) choose(held map[string]*dayContent, seen map[string]string) []*dayContent {
	var all, unread []*dayContent
	for _, day := range held {
		if day.date < r.in.From {
			continue
		}
		all = append(all, day)
		if seen[day.date] != day.hash() {
			unread = append(unread, day)
		}
	}
	if r.in.LookbackDays == 0 || len(unread) == 0 && !r.in.Force {
		all = unread
	}
	return r.fitting(all)
}

// again returns the days that the last dream has read.
func (r *gathering) again(held map[string]*dayContent, last Dream) (days []*dayContent) {
	for _, read := range last.Days {
		if day := held[read.Date]; day != nil && day.date >= r.in.From {
			days = append(days, day)
		}
	}
	return r.fitting(days)
}

// fitting returns the oldest of the days, as many as one dream reads, and sets the first remaining day.
func (r *gathering) fitting(days []*dayContent) []*dayContent {
	slices.SortFunc(days, func(a, b *dayContent) int { return strings.Compare(a.date, b.date) })
	bytes := 0
	for i, day := range days {
		if bytes += day.bytes; i > 0 && bytes > r.a.gatherBytes {
			r.next, r.payload.Date = day.date, days[i-1].date
			return days[:i]
		}
	}
	return days
}

// nothing says why there is nothing to dream of.
func (r *gathering) nothing(held map[string]*dayContent, seen map[string]string, last Dream) string {
	for date, day := range held {
		if seen[date] == day.hash() {
			return fmt.Sprintf("nothing new since dream %d of %s", last.Ordinal, last.Date)
		}
	}
	switch {
	case r.in.LookbackDays == 1:
		return "no daily content on " + r.span.last
	case r.in.LookbackDays > 1:
		return fmt.Sprintf("no daily content from %s to %s", r.span.first, r.span.last)
	}
	return "no daily content up to " + r.span.last
}
