package build

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/schema"
)

// retryPage is how many builds of a selection are held and judged at once.
const retryPage = 500

// Selection chooses builds to try again.
type Selection struct {
	Conn driver.Conn
	// Running distinguishes interrupted builds from running ones. It is nil if Temporal cannot be asked.
	Running Running
	By      schema.RetryBuildsInput
	// At is when the selection was begun. Sessions with a younger build are processed already.
	At time.Time

	// page replaces retryPage in tests.
	page int
}

// Candidate is a build that a selection has looked at.
type Candidate struct {
	Run
	// Windows and Vectors count the items that a retry of a partial build asks for again.
	Windows int `json:"windows,omitempty"`
	Vectors int `json:"vectors,omitempty"`
	// LeftAlone says why the build is not tried again. It is empty if it is.
	LeftAlone string `json:"left_alone,omitempty"`
	// Cursor says where to go on after this one.
	Cursor string `json:"-"`
	// latest is the latest build of the session.
	latest LatestBuild
	// force asks once more about windows that were given up, in this build of the session or an earlier one. givenUp
	// counts them, if the build was named.
	force   bool
	givenUp int
}

// Item returns the candidate as an item of a batch.
func (c Candidate) Item() schema.BatchItem {
	return schema.BatchItem{Name: c.BuildID, Input: schema.ProcessSessionInput{
		Project: c.Project, User: c.User, Agent: c.Agent, SessionID: c.SessionID, Retry: c.BuildID, AskGivenUp: c.force,
	}}
}

// Each yields the builds that the selection takes or leaves alone. These are the named ones, in that order, or else the
// latest builds of all sessions with a failed or partial one, as the input selects, in the order of the sessions'
// names. No session comes twice. It continues after the cursor of an earlier one.
func (s Selection) Each(ctx context.Context, after string) iter.Seq2[Candidate, error] {
	s.page = cmp.Or(s.page, retryPage)
	return func(yield func(Candidate, error) bool) {
		page := s.latest
		if len(s.By.Builds) > 0 {
			builds, err := s.resolve(ctx)
			if err != nil {
				yield(Candidate{}, fmt.Errorf("select builds to retry: %w", err))
				return
			}
			page = func(ctx context.Context, after string) ([]Candidate, error) { return s.named(ctx, builds, after) }
		}
		for more := true; more; {
			found, err := page(ctx, after)
			if err == nil {
				err = s.judge(ctx, found)
			}
			if err != nil {
				yield(Candidate{}, fmt.Errorf("select builds to retry: %w", err))
				return
			}
			for _, c := range found {
				if !yield(c, nil) {
					return
				}
				after = c.Cursor
			}
			more = len(found) == s.page
		}
	}
}

// latest reads a page of sessions whose latest build is one of those wanted.
func (s Selection) latest(ctx context.Context, after string) ([]Candidate, error) {
	f := Filter{Project: s.By.Project, User: s.By.User, Agent: s.By.Agent, SessionID: s.By.SessionID, All: true}
	where, args, err := f.whereAfter(after)
	if err != nil {
		return nil, err
	}
	var statuses []string
	if s.By.Failed {
		statuses = append(statuses, string(schema.BuildFailed), string(schema.BuildRunning))
	}
	if s.By.Partial {
		statuses = append(statuses, string(schema.BuildPartial))
	}
	having := "last_status IN ? AND last_start <= " + sqlTime
	args = append(args, statuses, s.At.UnixMicro())
	if !s.By.Since.IsZero() {
		having += " AND last_start >= " + sqlTime
		args = append(args, s.By.Since.UnixMicro())
	}
	runs, err := readRuns(ctx, s.Conn, fmt.Sprintf(`build_id IN (SELECT last FROM (
		SELECT argMax(build_id, ordinal) AS last, argMax(status, ordinal) AS last_status, argMax(started_at, ordinal) AS last_start
		FROM build_runs WHERE %s GROUP BY project, user, agent, session_id HAVING %s
		ORDER BY project, user, agent, session_id LIMIT %d)) ORDER BY project, user, agent, session_id`,
		strings.Join(where, " AND "), having, s.page), args...)
	out := make([]Candidate, len(runs))
	for i, r := range runs {
		out[i] = Candidate{Run: r, Cursor: r.Stream(), latest: LatestBuild{ID: r.BuildID, Status: r.Status}}
	}
	return out, err
}

// LatestBuild is the latest build of a session.
type LatestBuild struct {
	ID     string
	Status schema.BuildStatus
}

// Latest returns the sessions' latest builds.
func Latest(ctx context.Context, conn driver.Conn, sessions []schema.SessionKey) (map[schema.SessionKey]LatestBuild, error) {
	out := map[schema.SessionKey]LatestBuild{}
	for page := range slices.Chunk(sessions, retryPage) {
		ids := make([]string, len(page))
		for i, key := range page {
			ids[i] = key.SessionID
		}
		// Sessions of other scopes with the same ids come along.
		err := clickhouse.Query(ctx, conn, clickhouse.Map(out, func(rows driver.Rows, key *schema.SessionKey, latest *LatestBuild) error {
			return rows.Scan(&key.Project, &key.User, &key.Agent, &key.SessionID, &latest.ID, (*string)(&latest.Status))
		}), `SELECT project, user, agent, session_id, argMax(build_id, ordinal), argMax(status, ordinal) FROM build_runs
			WHERE session_id IN ? GROUP BY project, user, agent, session_id`, ids)
		if err != nil {
			return nil, fmt.Errorf("read latest builds: %w", err)
		}
	}
	return out, nil
}

// judge sets for each candidate the items to ask for again, or the reason to leave it alone.
func (s Selection) judge(ctx context.Context, found []Candidate) error {
	if s.Running != nil {
		runs := make([]Run, len(found))
		for i, c := range found {
			runs[i] = c.Run
		}
		if err := MarkInterrupted(ctx, s.Conn, s.Running, runs); err != nil {
			return err
		}
		for i := range found {
			found[i].Run = runs[i]
		}
	}
	for i := range found {
		found[i].force = s.By.Force
	}
	if len(s.By.Builds) > 0 {
		if err := countGivenUp(ctx, s.Conn, found); err != nil {
			return err
		}
	}
	if err := countMissing(ctx, s.Conn, found); err != nil {
		return err
	}
	for i := range found {
		if c := &found[i]; c.LeftAlone == "" {
			c.LeftAlone = s.reason(c)
		}
	}
	return nil
}

// reason says why the candidate is left alone.
func (s Selection) reason(c *Candidate) string {
	switch l := c.latest; {
	case l.ID == "" || l.ID == c.BuildID:
	case l.Status == schema.BuildFailed || l.Status == schema.BuildPartial || l.Status == schema.BuildRunning, c.force && c.givenUp > 0:
		return fmt.Sprintf("the latest build of the session is %s (%s): name that one", l.ID, l.Status)
	default:
		return fmt.Sprintf("a later build of the session, %s, ended with %s: %s", l.ID, l.Status, c.nothingLeft())
	}
	switch c.Status {
	case schema.BuildRunning:
		if s.Running == nil {
			return "it runs, or was interrupted: Temporal cannot be asked which"
		}
		return "it is running"
	case schema.BuildFailed, StatusInterrupted:
		return s.reasonOfFailure(c)
	case schema.BuildPartial:
		return reasonOfPartial(c)
	}
	if c.Windows > 0 {
		return ""
	}
	return fmt.Sprintf("it ended with %s: %s", c.Status, c.nothingLeft())
}

// nothingLeft says that the latest build of the candidate's session left nothing to do, unless a retry of it is forced.
func (c *Candidate) nothingLeft() string {
	if c.givenUp == 0 {
		return "there is nothing to retry"
	}
	return fmt.Sprintf("of the session's windows %d were given up; %s asks about them once more",
		c.givenUp, Command("builds", "retry", c.latest.ID, "--force"))
}

func reasonOfPartial(c *Candidate) string {
	switch {
	case c.Windows+c.Vectors > 0:
		return ""
	case c.Counts.GivenUp > 0:
		return "its windows without an answer are too small to be halved: starter builds retry with its id and --force " +
			"asks about them once more, and another model may answer"
	case c.Counts.IndexFailed > 0:
		return "its vectors have been written since"
	}
	return "nothing of it can be asked again"
}

func (s Selection) reasonOfFailure(c *Candidate) string {
	if len(s.By.Builds) > 0 {
		if c.Class == schema.FailureInput && !s.By.Force {
			return fmt.Sprintf("%s: the same input fails again; mend the source, then add --force (%s)", c.ErrorType, Hint(c.ErrorType))
		}
		return ""
	}
	classes := s.By.Classes
	if len(classes) == 0 {
		classes = []schema.FailureClass{schema.FailurePassing}
	}
	if slices.Contains(classes, c.Class) {
		return ""
	}
	return fmt.Sprintf("%s: %s; then --class %s", c.ErrorType, Hint(c.ErrorType), c.Class)
}

// countGivenUp counts the windows that were given up in all builds of the candidates' sessions.
func countGivenUp(ctx context.Context, conn driver.Conn, found []Candidate) error {
	var streams []string
	for _, c := range found {
		if c.latest.ID != "" {
			streams = append(streams, c.Stream())
		}
	}
	if len(streams) == 0 {
		return nil
	}
	answers, err := readAnswers(ctx, conn, streams...)
	if err != nil {
		return fmt.Errorf("read answers: %w", err)
	}
	for i := range found {
		if of := answers[found[i].Stream()]; of != nil {
			found[i].givenUp = of.GivenUp()
		}
	}
	return nil
}

// countMissing counts the items that retries of the partial builds would ask for again.
func countMissing(ctx context.Context, conn driver.Conn, found []Candidate) error {
	var streams []string
	byStream := map[string]*Candidate{}
	for i := range found {
		c := &found[i]
		if c.force && c.Status.Completed() {
			c.Windows = c.givenUp
		}
		if c.Status != schema.BuildPartial {
			continue
		}
		c.Windows += c.Counts.Quarantined - c.Counts.GivenUp
		if c.Counts.IndexFailed > 0 {
			streams, byStream[c.Stream()] = append(streams, c.Stream()), c
		}
	}
	if len(streams) == 0 {
		return nil
	}
	return clickhouse.Query(ctx, conn, func(rows driver.Rows) error {
		var stream string
		var failed uint64
		err := rows.Scan(&stream, &failed)
		if c := byStream[stream]; c != nil {
			c.Vectors = int(failed)
		}
		return err
	}, `SELECT stream, uniqExact(id) FROM (
			SELECT stream, JSONExtractString(payload_json, 'entry_id') AS id FROM events WHERE stream IN ? AND event_type = ?)
		WHERE id IN (SELECT item_id FROM vector_outbox WHERE item_kind = ? AND status = ?)
		GROUP BY stream`, streams, schema.EntryMaterialized, schema.ItemEntry, string(schema.OutboxFailed))
}
