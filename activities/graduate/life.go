package graduate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate/obligation"
	"axiommind/schema"
)

// Moment is the kind of a line in the life of an entry.
type Moment string

// Moments.
const (
	// MomentStated is when the entry was stated, and MomentJudged when its evidence was judged.
	MomentStated Moment = "stated"
	MomentJudged Moment = "judged"
	// MomentChecked is the last check of its session.
	MomentChecked Moment = "checked"
	// MomentStaged is a step from one stage to another.
	MomentStaged Moment = "staged"
	// MomentLinked: it says the same as another one. MomentRepeated: another one says the same as it.
	MomentLinked   Moment = "linked"
	MomentRepeated Moment = "repeated"
	// MomentReplaced: it replaced another one.
	MomentReplaced Moment = "replaced"
	// MomentContested and MomentResolved are the start and the end of a conflict.
	MomentContested Moment = "contested"
	MomentResolved  Moment = "resolved"
	// MomentAnswered: a person or a model was asked whether it is stated.
	MomentAnswered Moment = "answered"
	// MomentEnded: it is no longer believed, or is believed again.
	MomentEnded Moment = "ended"
	// MomentDecided: a decision rests on it.
	MomentDecided Moment = "decided"
	// MomentRetrieved sums up the requests that returned it.
	MomentRetrieved Moment = "retrieved"
)

// Moments returns all moments.
func Moments() []Moment {
	return []Moment{
		MomentStated, MomentJudged, MomentChecked, MomentStaged, MomentLinked, MomentRepeated, MomentReplaced, MomentContested, MomentResolved,
		MomentAnswered, MomentEnded, MomentDecided, MomentRetrieved,
	}
}

// Line is one event in the life of an entry.
type Line struct {
	At     time.Time `json:"at"`
	Moment Moment    `json:"moment"`
	// Text describes the event in plain words.
	Text string `json:"what"`
	// By is the person or model that caused it. It is empty for the pipeline.
	By string `json:"by,omitempty"`
	// ID is the id of the other entry, the conflict or the decision that the line is about.
	ID string `json:"id,omitempty"`
}

// Life is the known history of an entry.
type Life struct {
	// Lines are in the order of time, at most [MaxLines] of each moment, the latest ones.
	Lines []Line `json:"lines"`
	// Counts are the numbers of lines without that bound.
	Counts map[Moment]int `json:"counts"`
	// NotVerified lists the reasons why the entry is not verified. It is empty if the entry is, or is no longer
	// believed.
	NotVerified []string `json:"not_verified,omitempty"`
}

// MaxLines bounds the lines of one moment in a [Life].
const MaxLines = 50

// Life reads the history of the entry. The part of its session comes from the log, since the ledgers may lag behind.
func (l *Ledgers) Life(ctx context.Context, log *eventlog.Store, e entry.Row) (Life, error) {
	life := &lifeReader{Ledgers: l, log: log, entry: e, Life: Life{Counts: map[Moment]int{}}}
	life.add(Line{At: e.OccurredAt, Moment: MomentStated, Text: fmt.Sprintf("stated in session %q", e.SessionID)})
	reads, ctx := errgroup.WithContext(ctx)
	for _, read := range []func(context.Context) error{
		life.changes, life.stages, life.related, life.contested, life.decided, life.retrieved,
	} {
		reads.Go(func() error { return read(ctx) })
	}
	if err := reads.Wait(); err != nil {
		return Life{}, fmt.Errorf("read the life of entry %q: %w", e.ID, err)
	}
	life.bound()
	life.explain()
	return life.Life, nil
}

// lifeReader gathers the lines of an entry.
type lifeReader struct {
	*Ledgers
	Life
	log   *eventlog.Store
	entry entry.Row
	// mu guards the lines and the counts, which all reads add to.
	mu sync.Mutex
	// check is the session's last check of the entry, and checkedAt its time. The time is zero if there was no check.
	check     schema.IdrisCheckedPayload
	checkedAt time.Time
	failures  []string
	last      Promotion
}

// add adds the lines and counts them.
func (r *lifeReader) add(lines ...Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, line := range lines {
		line.At = line.At.UTC()
		r.Lines = append(r.Lines, line)
		r.Counts[line.Moment]++
	}
}

// more counts lines of the moment that are left out.
func (r *lifeReader) more(of Moment, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Counts[of] += n
}

// changes reads the changes of the entry.
func (r *lifeReader) changes(ctx context.Context) error {
	return query(ctx, r.conn, r.entry.Project, func(rows driver.Rows) error {
		var c changed
		var total uint64
		if err := rows.Scan(&c.kind, &c.status, &c.proven, &c.aligned, &c.rule, &c.other, &c.because, &c.by, &c.session, &c.at, &total); err != nil {
			return err
		}
		line := c.line()
		r.add(line)
		// The rows beyond the limit are counted with the first returned row.
		r.more(line.Moment, int(total))
		return nil
	}, `SELECT kind, status, evidence_proven, evidence_aligned, evidence_rule, other_id, because, by, session_id, created_at,
		toUInt64(if(row_number() OVER (PARTITION BY kind ORDER BY created_at DESC, ref, extracted_index) = 1,
			greatest(count() OVER (PARTITION BY kind), ?) - ?, 0)) AS left_out
		FROM entry_changes_raw FINAL
		WHERE project = ? AND entry_id = ? AND kind IN ('evidence', 'status', 'graduate_status', 'link', 'answer')
		ORDER BY created_at DESC, kind, ref, extracted_index LIMIT ? BY kind`,
		MaxLines, MaxLines, r.entry.Project, r.entry.ID, MaxLines)
}

// changed is a row of the changes of an entry.
type changed struct {
	kind, status                string
	proven, aligned             bool
	rule                        uint32
	other, because, by, session string
	at                          time.Time
}

func (c changed) line() Line {
	line := Line{At: c.at, By: c.by, ID: c.other}
	switch c.kind {
	case "evidence":
		line.Moment = MomentJudged
		line.Text = fmt.Sprintf("evidence of session %q judged %s by rule %d", c.session, judgement(c.aligned, c.proven), c.rule)
	case "link":
		line.Moment, line.Text = MomentLinked, "says the same as entry "+c.other
		if c.other == "" {
			line.Text = "says no longer the same as another one that is believed"
		}
	case "answer":
		line.Moment, line.Text = MomentAnswered, "confirmed"
		if c.status == "no" {
			line.Text = "not found stated"
		}
	default:
		line.Moment, line.Text = MomentEnded, ending(schema.Status(c.status), c.other, c.kind == "status")
	}
	if c.because != "" {
		line.Text += ": " + c.because
	}
	return line
}

func judgement(aligned, proven bool) string {
	switch {
	case proven:
		return "proven"
	case aligned:
		return "found, not proven"
	}
	return "not found"
}

// ending describes a status that an extractor or graduation gave to an entry.
func ending(status schema.Status, other string, byExtractor bool) string {
	what := map[schema.Status]string{
		schema.StatusSuperseded: "superseded", schema.StatusDeprecated: "retired", schema.StatusActive: "believed again",
	}[status]
	if status == schema.StatusSuperseded && other != "" {
		what += " by entry " + other
	}
	if byExtractor && status == schema.StatusSuperseded {
		what += ", since a newer extractor does not state it"
	}
	return cmp.Or(what, string(status))
}

// stages reads the check and the steps of the entry. At equal times a step of graduation is the later one.
func (r *lifeReader) stages(ctx context.Context) error {
	if err := r.ofSession(ctx); err != nil {
		return err
	}
	return r.ofGraduation(ctx)
}

// ofSession reads the last check of the entry and its promotions by the session. A check covers the entries that
// changed since the previous check. It surely covered this one if the entry failed or was promoted. If that never
// happened, the last check is used: it found no failure and nothing to promote.
func (r *lifeReader) ofSession(ctx context.Context) error {
	stream := r.entry.Session().Stream()
	var last schema.IdrisCheckedPayload
	var lastAt time.Time
	var lastID string
	named := false
	for event, err := range r.log.Stream(ctx, stream, eventlog.StreamOptions{Types: []string{schema.IdrisChecked, schema.EntriesPromoted}}) {
		if err != nil {
			return err
		}
		payload, err := schema.DecodePayload(event)
		if err != nil {
			return err
		}
		switch p := payload.(type) {
		case schema.IdrisCheckedPayload:
			last, lastAt, lastID = p, event.TS, event.ID
			failed := slices.ContainsFunc(p.Failures, func(f schema.ObligationFailure) bool { return f.EntryID == r.entry.ID })
			if failed || !named {
				r.check, r.checkedAt = p, event.TS
			}
			named = named || failed
		case schema.EntriesPromotedPayload:
			for _, step := range promotionsOf(event, p) {
				if step.EntryID != r.entry.ID {
					continue
				}
				r.promoted(step)
				if p.CheckedEventID == lastID {
					r.check, r.checkedAt, named = last, lastAt, true
				}
			}
		}
	}
	if !r.checkedAt.IsZero() {
		r.checked()
	}
	return nil
}

// checked adds a line with the obligations that the entry failed.
func (r *lifeReader) checked() {
	says := map[string]string{}
	for _, o := range obligation.List() {
		says[o.Name] = o.Says
	}
	for _, f := range r.check.Failures {
		if f.EntryID != r.entry.ID {
			continue
		}
		why := fmt.Sprintf("obligation %s does not hold, that %s", f.Obligation, cmp.Or(says[f.Obligation], "the verifier knows"))
		if f.Piece >= 0 {
			why += fmt.Sprintf(", for evidence %d", f.Piece+1)
		}
		if f.Reason != "" {
			why += ": " + f.Reason
		}
		r.failures = append(r.failures, why)
	}
	what := fmt.Sprintf("checked by %s: ", r.check.Verifier)
	if len(r.failures) == 0 {
		what += "no obligation failed"
	} else {
		what += strings.Join(r.failures, "; ")
	}
	r.add(Line{At: r.checkedAt, Moment: MomentChecked, Text: what})
}

// ofGraduation reads the steps that do not rest on the session alone.
func (r *lifeReader) ofGraduation(ctx context.Context) error {
	all, err := r.Promotions(ctx, r.entry.Project, r.entry.ID)
	for _, p := range all {
		if p.Stream == schema.GraduateStream(r.entry.Project) {
			r.promoted(p)
		}
	}
	return err
}

func (r *lifeReader) promoted(p Promotion) {
	verb := "promoted"
	if p.Demotes {
		verb = "demoted"
	}
	what := fmt.Sprintf("%s from %s to %s", verb, p.From, p.To)
	if p.Verifier != "" {
		what += ", verifier " + p.Verifier
	}
	what += fmt.Sprintf(", policy %d", p.Policy)
	if len(p.Reasons) > 0 {
		what += ": " + strings.Join(p.Reasons, "; ")
	}
	r.add(Line{At: p.At, Moment: MomentStaged, Text: what})
	if !p.At.Before(r.last.At) {
		r.last = p
	}
}

// related reads the entries that say the same as this one, and those that it replaced. Only entries with a change that
// names this one are looked at.
func (r *lifeReader) related(ctx context.Context) error {
	var named []string
	total, shown := uint64(0), 0
	err := query(ctx, r.conn, r.entry.Project, func(rows driver.Rows) error {
		var id string
		var links uint64
		var at time.Time
		if err := rows.Scan(&id, &at, &links); err != nil {
			return err
		}
		if links == 0 {
			named = append(named, id)
			return nil
		}
		r.add(Line{At: at, Moment: MomentRepeated, Text: "said also by entry " + id, ID: id})
		total = links
		shown++
		return nil
	}, `SELECT entry_id, created_at, if(kind = 'link', count() OVER (PARTITION BY kind), 0) FROM entry_changes_raw FINAL
		WHERE project = ? AND other_id = ? AND kind IN ('link', 'status', 'graduate_status')
		QUALIFY kind != 'link' OR row_number() OVER (PARTITION BY kind ORDER BY created_at DESC, entry_id) <= ?`,
		r.entry.Project, r.entry.ID, MaxLines)
	if err != nil {
		return err
	}
	if left := int(total) - shown; left > 0 {
		r.more(MomentRepeated, left)
	}
	ended, err := r.entries.Read(ctx, entry.InProject(r.entry.Project).IDs(named), entry.Lifecycle)
	if err != nil {
		return err
	}
	for _, e := range ended {
		if e.SupersededBy == r.entry.ID {
			r.add(Line{At: e.EndedAt, Moment: MomentReplaced, Text: "took the place of entry " + e.ID, ID: e.ID})
		}
	}
	return nil
}

func (r *lifeReader) contested(ctx context.Context) error {
	all, err := r.Conflicts(ctx, ConflictQuery{Project: r.entry.Project, EntryID: r.entry.ID, Resolved: true})
	for _, c := range all {
		other := c.Older
		if other.EntryID == r.entry.ID {
			other = c.Newer
		}
		r.add(Line{
			At: c.DetectedAt, Moment: MomentContested, ID: c.ID,
			Text: fmt.Sprintf("conflict %s with entry %s (%s): %s", c.ID, other.EntryID, c.Type, c.Reason),
		})
		if c.Open() {
			continue
		}
		what := "conflict " + c.ID + " resolved: "
		switch c.Kept {
		case "":
			what += "both are kept, or neither is believed"
		case r.entry.ID:
			what += "this one is kept"
		default:
			what += "the other one is kept"
		}
		if c.Resolution != "" {
			what += ": " + c.Resolution
		}
		r.add(Line{At: c.ResolvedAt, Moment: MomentResolved, Text: what, By: c.ResolvedBy, ID: c.ID})
	}
	return err
}

func (r *lifeReader) decided(ctx context.Context) error {
	all, err := r.RestingOn(ctx, r.entry.Project, r.entry.ID)
	for _, d := range all {
		what := fmt.Sprintf("decision %s rests on it: %s", d.ID, d.Action)
		if len(d.Flagged) > 0 {
			what += " (in doubt: " + strings.Join(d.Flagged, "; ") + ")"
		}
		r.add(Line{At: d.At, Moment: MomentDecided, Text: what, By: d.By, ID: d.ID})
	}
	return err
}

// retrieved adds a line for each kind of request that returned the entry.
func (r *lifeReader) retrieved(ctx context.Context) error {
	return query(ctx, r.conn, r.entry.Project, func(rows driver.Rows) error {
		var by string
		var n uint64
		var first, last time.Time
		if err := rows.Scan(&by, &n, &first, &last); err != nil {
			return err
		}
		what := "returned once by a " + by
		if n > 1 {
			what = fmt.Sprintf("returned %d times by a %s, since %s", n, by, first.UTC().Format(time.DateOnly))
		}
		r.add(Line{At: last, Moment: MomentRetrieved, Text: what})
		r.more(MomentRetrieved, int(n)-1)
		return nil
	}, `SELECT means, count(), min(ts), max(ts) FROM usage_raw FINAL WHERE project = ? AND entry_id = ? GROUP BY means ORDER BY means`,
		r.entry.Project, r.entry.ID)
}

// bound orders the lines and keeps the latest ones of each moment.
func (r *lifeReader) bound() {
	order := Moments()
	slices.SortStableFunc(r.Lines, func(a, b Line) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(slices.Index(order, a.Moment), slices.Index(order, b.Moment)), cmp.Compare(a.ID, b.ID))
	})
	have := map[Moment]int{}
	for _, line := range r.Lines {
		have[line.Moment]++
	}
	r.Lines = slices.DeleteFunc(r.Lines, func(line Line) bool {
		have[line.Moment]--
		return have[line.Moment] >= MaxLines
	})
}

// explain lists the reasons why the entry is not verified.
func (r *lifeReader) explain() {
	e := r.entry
	if reaches(e.Stage, schema.StageVerified) || e.Status != schema.StatusActive && e.Status != schema.StatusContested {
		return
	}
	switch {
	case !e.EvidenceAligned:
		r.NotVerified = append(r.NotVerified, "its quotes are not all found in the messages")
	case !e.EvidenceProven:
		r.NotVerified = append(r.NotVerified, "its quotes are found, but are not whole sentences or lines: a person may confirm it, by starter entry confirm")
	}
	r.NotVerified = append(r.NotVerified, r.failures...)
	if r.last.Demotes {
		r.NotVerified = append(r.NotVerified, "it was demoted: "+strings.Join(r.last.Reasons, "; "))
	}
	if r.checkedAt.IsZero() {
		r.NotVerified = append(r.NotVerified, "its session was not checked yet: process it again")
	}
	if len(r.NotVerified) == 0 {
		r.NotVerified = append(r.NotVerified, fmt.Sprintf("the last check, by %s, did not promote it: %s", r.check.Verifier, cmp.Or(r.check.Reason, "process its session again")))
	}
}
