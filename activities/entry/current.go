package entry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// folded returns the entries of a selection of few, as the view entries shows them. It reads the rows of both tables and
// folds them here, which takes a third of the time: most of the view's time is the planning of its query.
func (r *Reader) folded(ctx context.Context, s Selection, detail Detail) ([]Row, error) {
	if err := s.check(); err != nil || s.none {
		return nil, err
	}
	var changes map[entryKey][]changeRow
	var rows []Row
	group, reading := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		changes, err = r.changes(reading, s.whereByID(), detail)
		return err
	})
	group.Go(func() (err error) {
		rows, err = r.stated(reading, s.where(key, stated), detail)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	out := rows[:0]
	for _, row := range rows {
		row, err := fold(row, changes[entryKey{row.Project, row.ID}], detail)
		if err != nil {
			return nil, err
		}
		if s.keeps(row) {
			out = append(out, row)
		}
	}
	slices.SortFunc(out, s.ordered().compare)
	if s.limit > 0 {
		out = out[:min(s.limit, len(out))]
	}
	return out, nil
}

// newest has the rows of the highest version of each key. To find them here takes the engine's sorting off the query.
type newest[K comparable, V any] map[K]struct {
	version uint64
	row     V
}

func (n newest[K, V]) add(key K, version uint64, row V) {
	if known, ok := n[key]; !ok || known.version < version {
		known.version, known.row = version, row
		n[key] = known
	}
}

// stated reads the entries in their original state.
func (r *Reader) stated(ctx context.Context, of where, detail Detail) ([]Row, error) {
	columns := `version, entry_id, created_ts, entry_type, title, content_json, project, user, agent, session_id,
		stage, status, evidence_aligned, evidence_proven`
	if detail >= Whole {
		columns += `, build_id, event_id, canonical_key, evidence_rule, evidence_json`
	}
	found := newest[entryKey, Row]{}
	err := clickhouse.Query(ctx, r.conn, func(rows driver.Rows) error {
		var row Row
		var entryType, contentJSON, stage, status, evidenceJSON string
		var rule uint32
		var version uint64
		into := []any{
			&version, &row.ID, &row.OccurredAt, &entryType, &row.Title, &contentJSON, &row.Project, &row.User, &row.Agent, &row.SessionID,
			&stage, &status, &row.EvidenceAligned, &row.EvidenceProven,
		}
		if detail >= Whole {
			into = append(into, &row.BuildID, &row.EventID, &row.CanonicalKey, &rule, &evidenceJSON)
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row.Type, row.Stage, row.Status, row.EvidenceRule = schema.EntryType(entryType), schema.Stage(stage), schema.Status(status), int(rule)
		if detail >= Whole {
			row.EvidenceSessionID, row.EvidenceEventID = row.SessionID, row.EventID
		}
		err := row.decode(contentJSON, evidenceJSON)
		found.add(entryKey{row.Project, row.ID}, version, row)
		return err
	}, `SELECT `+columns+` FROM entries_raw`+of.sql(), of.args...)
	out := make([]Row, 0, len(found))
	for _, last := range found {
		out = append(out, last.row)
	}
	return out, err
}

// decode sets the fields stored as JSON. The evidence is empty if it was not read.
func (r *Row) decode(contentJSON, evidenceJSON string) error {
	var c content
	err := json.Unmarshal([]byte(contentJSON), &c)
	if err == nil && evidenceJSON != "" {
		r.Evidence = nil
		err = json.Unmarshal([]byte(evidenceJSON), &r.Evidence)
	}
	if err != nil {
		return fmt.Errorf("decode entry %q: %w", r.ID, err)
	}
	r.Content, r.Category, r.Confidence, r.Task, r.Corrects = c.Content, c.Category, c.Confidence, c.Task, c.Corrects
	r.Section, r.SourceError = c.Section, c.SourceError
	return nil
}

// entryKey identifies an entry among those of all projects.
type entryKey struct{ project, id string }

// changeRow is a row of entry_changes_raw.
type changeRow struct {
	kind, ref                   string
	index                       uint32
	own, aligned, proven        bool
	status, stage               string
	demotes                     bool
	other, because, by          string
	user, agent, session, event string
	at                          time.Time
	rule                        uint32
	evidence                    string
}

// changes reads the changes of the entries.
func (r *Reader) changes(ctx context.Context, of where, detail Detail) (map[entryKey][]changeRow, error) {
	columns := `version, project, entry_id, kind, ref, extracted_index, own, evidence_aligned, evidence_proven, status, stage, demotes, other_id, because, by,
		user, agent, created_at`
	if detail >= Whole {
		columns += `, session_id, event_id, evidence_rule, evidence_json`
	}
	type changeKey struct {
		entryKey
		kind, ref string
		index     uint32
	}
	found := newest[changeKey, changeRow]{}
	err := clickhouse.Query(ctx, r.conn, func(rows driver.Rows) error {
		var of entryKey
		var c changeRow
		var version uint64
		into := []any{
			&version, &of.project, &of.id, &c.kind, &c.ref, &c.index, &c.own, &c.aligned, &c.proven, &c.status, &c.stage, &c.demotes, &c.other, &c.because, &c.by,
			&c.user, &c.agent, &c.at,
		}
		if detail >= Whole {
			into = append(into, &c.session, &c.event, &c.rule, &c.evidence)
		}
		err := rows.Scan(into...)
		found.add(changeKey{of, c.kind, c.ref, c.index}, version, c)
		return err
	}, `SELECT `+columns+` FROM entry_changes_raw`+of.sql(), of.args...)
	out := map[entryKey][]changeRow{}
	for key, last := range found {
		out[key.entryKey] = append(out[key.entryKey], last.row)
	}
	return out, err
}

// compare orders the judgements of an entry, the best first, as the view does.
func (c changeRow) compare(d changeRow) int {
	flags := func(c changeRow) []byte {
		out := make([]byte, 4)
		for i, worse := range []bool{c.kind != kindEvidence, !c.proven, !c.aligned, !c.own} {
			if worse {
				out[i] = 1
			}
		}
		return out
	}
	if n := bytes.Compare(flags(c), flags(d)); n != 0 {
		return n
	}
	if n := strings.Compare(c.ref, d.ref); n != 0 {
		return n
	}
	return int(c.index) - int(d.index)
}

// rankOf is the place of a stage on the ladder, from 1; 0 means no stage.
func rankOf(stage schema.Stage) int { return slices.Index(schema.Stages(), stage) + 1 }

// fold returns the entry after the changes. It is the view, line by line.
func fold(e Row, all []changeRow, detail Detail) (Row, error) {
	all = slices.DeleteFunc(all, func(c changeRow) bool { return c.user != e.User || c.agent != e.Agent })
	var best changeRow
	var sessionStage, graduateStage schema.Stage
	var sessionStatus, graduateStatus, graduateOther, graduateBecause, graduateBy string
	var sessionAt, graduateAt time.Time
	var demoted, ownJudged bool
	mostProven, mostAligned := false, false
	for i, c := range all {
		if i == 0 || c.compare(best) < 0 {
			best = c
		}
		ownJudged = ownJudged || c.own
		switch c.kind {
		case kindEvidence:
			if c.proven && !mostProven || c.proven == mostProven && c.aligned {
				mostProven, mostAligned = c.proven, c.aligned
			}
		case kindStatus:
			sessionStatus, e.SupersededBy, sessionAt = c.status, c.other, c.at
		case kindStage:
			sessionStage = schema.Stage(c.stage)
		case kindGraduateStage:
			graduateStage, demoted = schema.Stage(c.stage), c.demotes
		case kindGraduateStatus:
			graduateStatus, graduateOther, graduateBecause, graduateBy, graduateAt = c.status, c.other, c.because, c.by, c.at
		case kindLink:
			e.OriginalID = c.other
		case kindConflict:
			if c.status == string(schema.StatusContested) {
				e.Conflicts, e.ContestedBy = e.Conflicts+1, append(e.ContestedBy, c.other)
			}
		}
	}
	slices.Sort(e.ContestedBy)
	judged := ownJudged || mostProven && !e.EvidenceProven || mostProven == e.EvidenceProven && mostAligned && !e.EvidenceAligned
	ownRank := rankOf(e.Stage)
	if judged {
		e.EvidenceAligned, e.EvidenceProven = mostAligned, mostProven
		if ownRank = rankOf(schema.StageRaw); mostAligned {
			ownRank = rankOf(schema.StageWorking)
		}
		if detail >= Whole {
			e.EvidenceRule, e.EvidenceSessionID, e.EvidenceEventID, e.Evidence = int(best.rule), best.session, best.event, nil
			if err := json.Unmarshal([]byte(best.evidence), &e.Evidence); err != nil {
				return e, fmt.Errorf("decode entry %q: %w", e.ID, err)
			}
		}
	}
	rank := ownRank
	if e.EvidenceAligned {
		rank = max(rank, rankOf(sessionStage))
	}
	switch {
	case graduateStage == "":
	case demoted:
		rank = min(rank, rankOf(graduateStage))
	default:
		rank = max(rank, rankOf(graduateStage))
	}
	switch {
	case !e.EvidenceAligned:
		rank = min(rank, ownRank)
	case !e.EvidenceProven:
		rank = min(rank, rankOf(schema.StageCandidate))
	case e.Conflicts > 0:
		rank = min(rank, rankOf(schema.StageVerified))
	}
	e.Stage = ""
	if rank > 0 {
		e.Stage = schema.Stages()[rank-1]
	}
	e.end(sessionStatus, sessionAt, graduateStatus, graduateOther, graduateBecause, graduateBy, graduateAt)
	return e, nil
}

// end sets the status, and since when the entry is no longer believed.
func (r *Row) end(sessionStatus string, sessionAt time.Time, graduateStatus, other, because, by string, graduateAt time.Time) {
	const active = string(schema.StatusActive)
	switch {
	case graduateStatus != "" && graduateStatus != active:
		r.Status, r.SupersededBy = schema.Status(graduateStatus), other
		r.EndedAt, r.EndedBecause, r.EndedBy = graduateAt, because, by
	case sessionStatus != "" && sessionStatus != active:
		r.Status, r.EndedAt = schema.Status(sessionStatus), sessionAt
	case sessionStatus == "" && r.Status != schema.StatusActive:
		// It was made with the status.
	case r.Conflicts > 0:
		r.Status = schema.StatusContested
	default:
		r.Status = schema.StatusActive
	}
	if r.EndedAt.Unix() == 0 {
		r.EndedAt = time.Time{}
	}
}
