package graduate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// Health counts the entries of a project, or those of one user and agent of it. An entry is believed if it is active or
// contested. All counts after Believed are of believed entries, except those of Superseded and Retired.
type Health struct {
	Project string `json:"project"`
	// User and Agent are set if the counts are of each user and agent.
	User  string `json:"user,omitempty"`
	Agent string `json:"agent,omitempty"`

	Entries  int `json:"entries"`
	Believed int `json:"believed"`
	// Proven and Unproven add up to Believed.
	Proven    int `json:"proven"`
	Unproven  int `json:"unproven"`
	Verified  int `json:"verified"`
	Certified int `json:"certified"`
	Contested int `json:"contested"`
	// Superseded entries were replaced by another one, or dropped by a newer extractor. Retired ones have no
	// replacement.
	Superseded int `json:"superseded"`
	Retired    int `json:"retired"`
	// NearDuplicates say the same as an older entry.
	NearDuplicates int `json:"near_duplicates"`
	// NeverRetrieved counts the entries that no search and no context has returned. Near-duplicates are not among them:
	// the entry that they repeat is returned in their place.
	NeverRetrieved int `json:"never_retrieved"`
	// PastHalfLife would fall by a stage if graduation applied the half-lives now: see [HalfLife]. Contested entries do not
	// fall.
	PastHalfLife int `json:"past_half_life"`
}

// Owner returns whose entries are counted. Without a user they are all users'.
func (h Health) Owner() schema.Scope {
	return schema.Scope{Project: h.Project, User: h.User, Agent: h.Agent}
}

// Measure is one of the counts of [Health].
type Measure struct {
	// Name is the name of the field in JSON and of the metric.
	Name string
	// Meaning describes the counted entries in a few words.
	Meaning string
	// Remedies are the commands that reduce the count, without the name of the project. It is empty if a high count is no
	// problem.
	Remedies []string

	where string
	of    func(*Health) *int
}

// Count returns the measure of h.
func (m Measure) Count(h Health) int { return *m.of(&h) }

const believed = "status IN ('active', 'contested')"

var measures = []Measure{
	{Name: "entries", Meaning: "all that is stored", where: "1", of: func(h *Health) *int { return &h.Entries }},
	{Name: "believed", Meaning: "active or contested", where: believed, of: func(h *Health) *int { return &h.Believed }},
	{Name: "proven", Meaning: "stated in whole sentences", where: believed + " AND evidence_proven", of: func(h *Health) *int { return &h.Proven }},
	{
		Name: "unproven", Meaning: "only found, or not even that", Remedies: []string{"starter entry confirm ENTRY…"},
		where: believed + " AND NOT evidence_proven", of: func(h *Health) *int { return &h.Unproven },
	},
	{Name: "verified", Meaning: "all obligations hold", where: believed + " AND stage = 'verified'", of: func(h *Health) *int { return &h.Verified }},
	{
		Name: "certified", Meaning: "said elsewhere too, or confirmed by a person", where: believed + " AND stage = 'certified'",
		of: func(h *Health) *int { return &h.Certified },
	},
	{
		Name: "contested", Meaning: "another memory contradicts it", Remedies: []string{"starter conflicts", "starter conflicts resolve CONFLICT --keep ENTRY"},
		where: "status = 'contested'", of: func(h *Health) *int { return &h.Contested },
	},
	{
		Name: "superseded", Meaning: "another one took its place, or no extractor states it any longer", where: "status = 'superseded'",
		of: func(h *Health) *int { return &h.Superseded },
	},
	{Name: "retired", Meaning: "no longer believed", where: "status = 'deprecated'", of: func(h *Health) *int { return &h.Retired }},
	{
		Name: "near_duplicates", Meaning: "says the same as an older one, and is listed with it", where: believed + " AND original_id != ''",
		of: func(h *Health) *int { return &h.NearDuplicates },
	},
	{
		Name: "never_retrieved", Meaning: "no search and no context has returned it",
		Remedies: []string{"starter entry retire ENTRY… --because TEXT"},
		where:    believed + " AND original_id = '' AND NOT retrieved", of: func(h *Health) *int { return &h.NeverRetrieved },
	},
	{
		Name: "past_half_life", Meaning: "not said or confirmed again for longer than its stage lasts",
		Remedies: []string{"starter entry confirm ENTRY…", "starter graduate --apply"},
		where:    "status = 'active' AND aged", of: func(h *Health) *int { return &h.PastHalfLife },
	},
}

// Measures returns the counts of [Health] in the order of its fields.
func Measures() []Measure { return slices.Clone(measures) }

// MeasureNames returns the names of the measures.
func MeasureNames() []string {
	out := make([]string, len(measures))
	for i, m := range measures {
		out[i] = m.Name
	}
	return out
}

// HealthQuery selects the entries to count.
type HealthQuery struct {
	// Project is the project to look at. It is required unless AllProjects is set.
	Project     string
	AllProjects bool
	// ByOwner counts for each user and agent of a project.
	ByOwner bool
	// Now is the time to compare half-lives with. The zero value means the present.
	Now time.Time
	// Limit is the maximum number of groups, those with the most entries first; 0 means [DefaultHealthGroups].
	Limit int
}

// DefaultHealthGroups is the maximum number of groups that a query without a limit counts.
const DefaultHealthGroups = 1000

// healthRows selects the entries to measure, for one project or for all. As in [Activities.GraduateProject], the
// half-life of an entry starts at the last of these events: the entry or a near-duplicate was stated, or the entry was
// confirmed or demoted.
func healthRows(q HealthQuery) (sql string, args []any, err error) {
	where, and, now := "", "", q.Now
	if now.IsZero() {
		now = time.Now()
	}
	args = []any{now.UTC()}
	if !q.AllProjects {
		if err := clickhouse.Required("project", q.Project); err != nil {
			return "", nil, fmt.Errorf("count entries: %w", err)
		}
		where, and = "WHERE project = ?", "AND project = ?"
		args = append(args, q.Project, q.Project, q.Project)
	}
	return `(
		SELECT e.project AS project, e.user AS user, e.agent AS agent, e.entry_id AS entry_id, entry_type, title, created_ts, stage,
		       status, evidence_proven, original_id, retrieved,
		       half_life > 0 AND ? > addSeconds(greatest(restated, confirmed, fell), half_life) AS aged
		FROM (
			SELECT project, user, agent, entry_id, entry_type, title, created_ts, stage, status, evidence_proven, original_id,
			       ` + halfLifeSQL() + ` AS half_life,
			       maxIf(created_ts, ` + believed + `) OVER (
			           PARTITION BY project, user, agent, if(original_id = '', entry_id, original_id)) AS restated,
			       (project, entry_id) IN (SELECT project, entry_id FROM usage_raw ` + where + `) AS retrieved
			FROM entries ` + where + `
		) AS e
		LEFT JOIN (
			SELECT project, entry_id, maxIf(created_at, kind = 'answer' AND status = 'yes') AS confirmed,
			       maxIf(created_at, kind = 'graduate_stage' AND demotes) AS fell
			FROM entry_changes_raw FINAL WHERE kind IN ('answer', 'graduate_stage') ` + and + ` GROUP BY project, entry_id
		) AS c ON c.project = e.project AND c.entry_id = e.entry_id
	)`, args, nil
}

// halfLifeSQL returns an expression for the half-life of an entry in seconds. It is 0 if the entry keeps its stage for
// good.
func halfLifeSQL() string {
	var b strings.Builder
	b.WriteString("multiIf(")
	for _, stage := range schema.Stages() {
		for _, of := range schema.EntryTypes() {
			if life, ages := HalfLife(stage, of); ages {
				fmt.Fprintf(&b, "stage = '%s' AND entry_type = '%s', %d, ", stage, of, int(life.Seconds()))
			}
		}
	}
	return b.String() + "0)"
}

// ReadHealth counts the entries with one query, the groups with the most entries first.
func ReadHealth(ctx context.Context, conn clickhouse.Conn, q HealthQuery) ([]Health, error) {
	group := "project, '', ''"
	if q.ByOwner {
		group = "project, user, agent"
	}
	counts := make([]string, len(measures))
	for i, m := range measures {
		counts[i] = "countIf(" + m.where + ")"
	}
	if q.Limit <= 0 {
		q.Limit = DefaultHealthGroups
	}
	from, args, err := healthRows(q)
	if err != nil {
		return nil, err
	}
	var out []Health
	err = clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, h *Health) error {
		got := make([]uint64, len(measures))
		into := []any{&h.Project, &h.User, &h.Agent}
		for i := range got {
			into = append(into, &got[i])
		}
		err := rows.Scan(into...)
		for i, m := range measures {
			*m.of(h) = int(got[i])
		}
		return err
	}), fmt.Sprintf("SELECT %s, %s FROM %s GROUP BY %s ORDER BY count() DESC, %[1]s LIMIT %[5]d",
		group, strings.Join(counts, ", "), from, strings.ReplaceAll(group, ", ''", ""), q.Limit), args...)
	if err != nil {
		return nil, fmt.Errorf("count entries: %w", err)
	}
	return out, nil
}

// Counted is an entry that a measure counts.
type Counted struct {
	schema.Scope
	EntryID    string           `json:"entry_id"`
	Type       schema.EntryType `json:"entry_type"`
	Title      string           `json:"title"`
	Stage      schema.Stage     `json:"stage"`
	Status     schema.Status    `json:"status"`
	OccurredAt time.Time        `json:"occurred_at"`
}

// ListMeasured returns the entries that the measure counts, the newest first. It uses only the projects and the time of
// the query.
func ListMeasured(ctx context.Context, conn clickhouse.Conn, measure string, q HealthQuery, limit, offset int) ([]Counted, error) {
	i := slices.IndexFunc(measures, func(m Measure) bool { return m.Name == measure })
	if i < 0 {
		return nil, fmt.Errorf("list entries: there is no measure %q, only %s", measure, strings.Join(MeasureNames(), ", "))
	}
	from, args, err := healthRows(q)
	if err != nil {
		return nil, err
	}
	var out []Counted
	err = clickhouse.Query(ctx, conn, clickhouse.Rows(&out, func(rows driver.Rows, c *Counted) error {
		err := rows.Scan(&c.Project, &c.User, &c.Agent, &c.EntryID, (*string)(&c.Type), &c.Title, (*string)(&c.Stage), (*string)(&c.Status), &c.OccurredAt)
		c.OccurredAt = c.OccurredAt.UTC()
		return err
	}), fmt.Sprintf(`SELECT project, user, agent, entry_id, entry_type, title, stage, status, created_ts FROM %s
		WHERE %s ORDER BY created_ts DESC, project, entry_id LIMIT %d OFFSET %d`, from, measures[i].where, limit, offset), args...)
	if err != nil {
		return nil, fmt.Errorf("list entries that are %s: %w", strings.ReplaceAll(measure, "_", " "), err)
	}
	return out, nil
}

// Plus returns the sum of the counts.
func (h Health) Plus(other Health) Health {
	for _, m := range measures {
		*m.of(&h) += *m.of(&other)
	}
	return h
}
