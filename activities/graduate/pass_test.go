package graduate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/schema"
)

// Two sessions with the same statement in different messages certify each other's entries, and the later entry is
// linked to the earlier one. A copy of a message corroborates nothing.
func TestCorroboration(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	line := spoken{text: "The importer writes to the table of invoices."}
	first := b.say(inSession("p", "u", "one"), 0, line)[0]
	require.Equal(t, PassResult{Sessions: 1}, b.pass("p"))
	second := b.say(inSession("p", "u", "two"), 3, line)[0]
	require.Equal(t, 2, b.pass("p").Certified)
	require.Equal(t, []string{"certified active", "certified active"}, b.standing("p", first, second))
	require.Equal(t, first, b.entry("p", second).OriginalID)
	require.Empty(t, b.entry("p", first).OriginalID)
	steps, err := b.ledgers.Promotions(t.Context(), "p", first)
	require.NoError(t, err)
	require.Len(t, steps, 2)
	require.Equal(t, []schema.Stage{schema.StageVerified, schema.StageCertified}, []schema.Stage{steps[0].To, steps[1].To})
	require.Equal(t, []string{second}, steps[1].Sources)
	require.NotEmpty(t, steps[1].Reasons)

	copied := line
	copied.at = spring
	b.say(inSession("q", "u", "one"), 0, line)
	fork := b.say(inSession("q", "u", "then"), 4, copied)[0]
	require.Equal(t, 0, b.pass("q").Certified)
	require.Equal(t, []string{"verified active"}, b.standing("q", fork))
	require.NotEmpty(t, b.entry("q", fork).OriginalID)

	// The statement does not name its subject.
	b.say(inSession("s", "u", "one"), 0, spoken{text: "It is done."})
	b.say(inSession("s", "u", "two"), 3, spoken{text: "It is done."})
	require.Equal(t, PassResult{Sessions: 2, Linked: 1}, b.pass("s"))

	// A statement of another user does not count.
	b.say(inSession("r", "u", "one"), 0, line)
	other := b.say(inSession("r", "somebody else", "two"), 5, line)[0]
	require.Equal(t, PassResult{Sessions: 2}, b.pass("r"))
	require.Empty(t, b.entry("r", other).OriginalID)
}

// Two entries that contradict each other are contested until a person resolves the conflict.
func TestConflict(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	old := b.say(inSession("p", "u", "one"), 0, spoken{text: "The default timeout is 30 seconds."})[0]
	recent := b.say(inSession("p", "u", "two"), 1, spoken{text: "The default timeout is 60 seconds."})[0]
	require.Equal(t, 1, b.pass("p").Conflicts)
	require.Equal(t, []string{"verified contested", "verified contested"}, b.standing("p", old, recent))
	c := b.open("p")[0]
	require.Equal(t, []string{old, recent}, []string{c.Older.EntryID, c.Newer.EntryID})
	require.Equal(t, "The default timeout is 60 seconds.", c.Newer.Title)

	// No actor can promote a contested entry.
	b.refuse(b.command(Command{Project: "p", Op: OpConfirm, EntryIDs: []string{recent}}), "is contested")
	require.Equal(t, []string{"verified contested"}, b.standing("p", recent))

	b.refuse(b.command(Command{Project: "p", Op: OpResolve, ConflictIDs: []string{c.ID}, Keep: "somebody"}), "no side of conflict")
	resolve := b.command(Command{Project: "p", Op: OpResolve, ConflictIDs: []string{c.ID}, Keep: recent})
	result := b.do(resolve)
	require.Equal(t, 2, result.Events)
	again := b.do(resolve)
	require.Zero(t, again.Events)
	require.Equal(t, result.Changes, again.Changes)
	require.Empty(t, b.open("p"))
	b.do(b.command(Command{Project: "p", Op: OpConfirm, EntryIDs: []string{recent}}))
	require.Equal(t, []string{"verified superseded", "certified active"}, b.standing("p", old, recent))
	require.Equal(t, recent, b.entry("p", old).SupersededBy)
	require.Equal(t, "ann", b.entry("p", old).EndedBy)
	b.refuse(b.command(Command{Project: "p", Op: OpResolve, ConflictIDs: []string{c.ID}}), "resolved before")

	// A restored entry is compared again. The verdict that both are right is final.
	b.do(b.command(Command{Project: "p", Op: OpRestore, EntryIDs: []string{old}}))
	require.Equal(t, 1, b.pass("p").Conflicts)
	b.do(b.command(Command{Project: "p", Op: OpResolve, ConflictIDs: []string{c.ID}}))
	require.Equal(t, 0, b.pass("p").Conflicts)
	require.Equal(t, []string{"verified active", "certified active"}, b.standing("p", old, recent))
	b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{old}, Because: "nobody uses it"}))
	b.do(b.command(Command{Project: "p", Op: OpRestore, EntryIDs: []string{old}}))
	require.Equal(t, 0, b.pass("p").Conflicts)
}

// Retiring a side resolves its conflicts.
func TestRetireEndsConflicts(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	old := b.say(inSession("p", "u", "one"), 0, spoken{text: "The nightly backup runs at 3."})[0]
	recent := b.say(inSession("p", "u", "two"), 1, spoken{text: "The nightly backup runs at 5."})[0]
	b.pass("p")
	require.Len(t, b.open("p"), 1)
	b.refuse(b.command(Command{Project: "p", Op: OpRestore, EntryIDs: []string{old}}), "nothing to restore")
	b.refuse(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{old, "nobody"}, Because: "x"}), "no such entry")
	b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{old}, Because: "the backup moved"}))
	require.Empty(t, b.open("p"))
	require.Equal(t, []string{"verified deprecated", "verified active"}, b.standing("p", old, recent))
	require.Equal(t, "the backup moved", b.entry("p", old).EndedBecause)
	b.refuse(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{old}, Because: "x"}), "retired already")
	b.refuse(b.command(Command{Project: "p", Op: OpConfirm, EntryIDs: []string{old}}), "restore it")
	require.Equal(t, 0, b.pass("p").Conflicts)
}

// The choice between two statements applies to all entries that state them, and to no others.
func TestResolveAllThatSayTheSame(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	eight, nine := spoken{text: "The retry limit is 8."}, spoken{text: "The retry limit is 9."}
	first := b.say(inSession("p", "u", "one"), 0, eight)[0]
	wrong := []string{b.say(inSession("p", "u", "two"), 1, nine)[0], b.say(inSession("p", "u", "three"), 2, nine)[0]}
	again := b.say(inSession("p", "u", "four"), 3, eight)[0]
	seven := b.say(inSession("p", "u", "five"), 4, spoken{text: "The retry limit is 7."})[0]
	require.Equal(t, 8, b.pass("p").Conflicts)
	between := b.open("p")
	i := slices.IndexFunc(between, func(c Conflict) bool { return c.Older.EntryID == wrong[0] && c.Newer.EntryID == again })
	result := b.do(b.command(Command{Project: "p", Op: OpResolve, ConflictIDs: []string{between[i].ID}, Keep: again}))
	require.Equal(t, 8, result.Events, "four conflicts, two entries, and two conflicts of these with the third")
	require.Len(t, b.open("p"), 2)
	require.Zero(t, b.pass("p").Conflicts)
	for _, id := range wrong {
		require.Equal(t, schema.StatusSuperseded, b.entry("p", id).Status)
	}
	// The remaining sides were not found right.
	b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{seven}, Because: "a typing error"}))
	all, err := b.ledgers.Conflicts(t.Context(), ConflictQuery{Project: "p", EntryID: seven, Resolved: true})
	require.NoError(t, err)
	require.Len(t, all, 4)
	for _, c := range all {
		require.Equal(t, ResolvedByGraduation, c.ResolvedBy)
		require.Contains(t, c.Resolution, "no longer believed")
	}
	for _, id := range []string{first, again} {
		require.Equal(t, schema.StatusActive, b.entry("p", id).Status)
	}
}

// An entry that is no longer believed corroborates nothing. One message in several sessions is one source.
func TestCorroborationEnds(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	line := spoken{text: "The importer writes to the table of invoices."}
	first := b.say(inSession("p", "u", "one"), 0, line)[0]
	second := b.say(inSession("p", "u", "two"), 3, line)[0]
	copied := line
	copied.at = spring.AddDate(0, 0, 3)
	b.say(inSession("p", "u", "fork"), 4, copied)
	require.Equal(t, 3, b.pass("p").Certified)
	steps, err := b.ledgers.Promotions(t.Context(), "p", first)
	require.NoError(t, err)
	require.Len(t, steps[len(steps)-1].Sources, 1, "a fork is no second source")

	b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{first}, Because: "misread"}))
	b.pass("p")
	require.Equal(t, []string{"certified deprecated", "verified active"}, b.standing("p", first, second))
	b.do(b.command(Command{Project: "p", Op: OpRestore, EntryIDs: []string{first}}))
	b.pass("p")
	require.Equal(t, []string{"certified active", "certified active"}, b.standing("p", first, second))
}

// An entry that was demoted by age is certified again once it is restated.
func TestCertifiedAgain(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	line := spoken{text: "The importer writes to the table of invoices."}
	first := b.say(inSession("p", "u", "one"), 0, line)[0]
	b.say(inSession("p", "u", "two"), 3, line)
	b.pass("p")
	at := spring.AddDate(2, 0, 0)
	_, err := b.activities.GraduateProject(t.Context(), PassInput{Project: "p", At: at, Demote: true, Apply: true})
	require.NoError(t, err)
	require.Equal(t, []string{"verified active"}, b.standing("p", first))
	require.Zero(t, b.pass("p").Certified)
	b.say(inSession("p", "u", "three"), 900, line)
	require.Positive(t, b.pass("p").Certified)
	require.Equal(t, []string{"certified active"}, b.standing("p", first))
}

// Sessions that end while a pass begins are considered together, by this pass or a later one.
func TestSessionsEndDuringPass(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	b.say(inSession("p", "u", "zero"), 0, spoken{text: "Cats purr."})
	said := 0
	b.activities.conn = &interruptedConn{Conn: b.conn, before: func(query string) {
		if strings.Contains(query, "graduated_sessions_raw FINAL") || strings.Contains(query, "FROM claims_raw") {
			said++
			b.say(inSession("p", "u", fmt.Sprint("s", said)), said, spoken{text: fmt.Sprintf("The default timeout is %d seconds.", said%2+30)})
		}
	}}
	for range 3 {
		_, err := b.activities.GraduateProject(t.Context(), PassInput{Project: "p", At: b.now()})
		require.NoError(t, err)
	}
	b.activities.conn = b.conn
	b.pass("p")
	require.Greater(t, said, 3)
	require.Len(t, b.open("p"), (said/2)*(said-said/2))
}

// interruptedConn calls the function before ahead of each query.
type interruptedConn struct {
	driver.Conn
	before func(query string)
}

func (c *interruptedConn) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	c.before(query)
	return c.Conn.Query(ctx, query, args...)
}

// An entry that fails an obligation can't be confirmed, and an actor can't have a name that the program uses.
func TestCommandsRefused(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	id := b.say(inSession("p", "u", "one"), 1, spoken{text: "The port is 8080.", title: "The port is 9090.", refused: true})
	b.pass("p")
	b.refuse(b.command(Command{Project: "p", Op: OpConfirm, EntryIDs: id}), "9090")
	for says, change := range map[string]func(*Command){
		"the program itself": func(c *Command) { c.Actor = ResolvedByGraduation },
		"control character":  func(c *Command) { c.Because = "x\x00\x1b[31m" },
		"no valid UTF-8":     func(c *Command) { c.Because = "\xff" },
		"bytes, more than":   func(c *Command) { c.RequestID = strings.Repeat("x", 5000) },
		"no such entry":      func(c *Command) { c.EntryIDs = []string{`a'b\"/한`} },
	} {
		c := b.command(Command{Project: "p", Op: OpRetire, EntryIDs: id, Because: "x"})
		change(&c)
		_, err := b.activities.RunGraduationCommand(t.Context(), c)
		require.ErrorContains(t, err, says)
	}
}

// A correction replaces its target and the entries that say the same as the target. An entry that a person restored
// stays.
func TestCorrection(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	wrong := b.say(inSession("p", "u", "one"), 0, spoken{text: "The default timeout is 30 seconds."})[0]
	right := b.say(inSession("p", "u", "two"), 1, spoken{text: "The default timeout is 60 seconds.", category: categoryCorrection})[0]
	result := b.pass("p")
	require.Equal(t, 1, result.Superseded)
	require.Zero(t, result.Conflicts)
	require.Equal(t, []string{"verified superseded", "verified active"}, b.standing("p", wrong, right))
	require.Equal(t, schema.RetiredByCorrection, b.entry("p", wrong).EndedBy)
	b.do(b.command(Command{Project: "p", Op: OpRestore, EntryIDs: []string{wrong}}))
	result = b.pass("p")
	require.Zero(t, result.Superseded)
	require.Equal(t, 1, result.Conflicts)
	require.Equal(t, PassResult{Sessions: 0}, b.pass("p"))

	once := b.say(inSession("q", "u", "one"), 0, spoken{text: "Our office is in Ghent."})[0]
	twice := b.say(inSession("q", "u", "two"), 1, spoken{text: "Our office is in Ghent."})[0]
	stated := b.say(inSession("q", "u", "three"), 2, spoken{text: "We moved, and work from the old mill now.", corrects: once})[0]
	require.Equal(t, 2, b.pass("q").Superseded)
	for _, id := range []string{once, twice} {
		require.Equal(t, stated, b.entry("q", id).SupersededBy)
	}
	// Another user's correction corrects nothing.
	theirs := b.say(inSession("q", "u", "four"), 3, spoken{text: "Lunch is at noon."})[0]
	b.say(inSession("q", "somebody else", "five"), 4, spoken{text: "Lunch is at one.", corrects: theirs})
	require.Zero(t, b.pass("q").Superseded)
}

// Confirming an entry that is not proven adds the whole sentences as evidence.
func TestConfirm(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	ids := b.say(inSession("p", "u", "one"), 0,
		spoken{text: "We agreed that the archive is kept for seven years. Nobody objected.", title: "The archive is kept for seven years", quote: "the archive is kept for seven years"},
		spoken{text: "Lunch is at noon.", title: "Dinner is at eight", quote: "dinner is served at eight o'clock"},
		spoken{text: "The release is on Friday.", refused: true},
	)
	b.pass("p")
	require.Equal(t, []string{"working active", "raw active", "working active"}, b.standing("p", ids...))
	b.refuse(b.command(Command{Project: "p", Op: OpConfirm, EntryIDs: ids}), "quote 1 is not found in session \"one\"")
	result := b.do(b.command(Command{Project: "p", Op: OpConfirm, EntryIDs: []string{ids[0], ids[2], ids[0]}}))
	require.Equal(t, 4, result.Events)
	require.Len(t, result.Changes, 2)
	require.Equal(t, []string{"certified active", "certified active"}, b.standing("p", ids[0], ids[2]))
	row := b.entry("p", ids[0])
	require.True(t, row.EvidenceProven)
	require.Equal(t, "We agreed that the archive is kept for seven years.", row.Evidence[0].Text)
	// Checks of the tables find confirmed evidence under its session.
	found := 0
	for stored, err := range entry.NewReader(b.conn).AllEvidence(t.Context(), inSession("p", "u", "one")) {
		require.NoError(t, err)
		require.Equal(t, inSession("p", "u", "one").Stream(), stored.Stream)
		found++
	}
	require.Equal(t, 4, found)
	before := b.digests(t.Context())
	b.pass("p")
	b.do(b.command(Command{RequestID: "again", Project: "p", Op: OpConfirm, EntryIDs: []string{ids[0]}}))
	require.NotEqual(t, before, b.digests(t.Context()))
}

// A decision rests on verified entries that were stated before it, in the API and in the table.
func TestDecisions(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	ids := b.say(inSession("p", "u", "one"), 0,
		spoken{text: "The vendor raised the price of hosting."},
		spoken{text: "Lunch is at noon."},
		spoken{text: "We leave the vendor because of the hosting price.", entryType: schema.EntryDecision},
		spoken{text: "The vendor's hosting contract ends in May."},
		spoken{text: "The hosting vendor answers slowly.", refused: true},
	)
	require.Equal(t, 1, b.pass("p").Decisions)
	found, err := b.ledgers.Decisions(t.Context(), DecisionQuery{Project: "p"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	d := found[0]
	require.Equal(t, schema.DecisionID(ids[2]), d.ID)
	require.Equal(t, []string{ids[2], ids[0]}, []string{d.Evidence[0].EntryID, d.Evidence[1].EntryID})
	require.Equal(t, []string{schema.RoleStatement, schema.RoleGround}, []string{d.Evidence[0].Role, d.Evidence[1].Role})
	require.Len(t, d.Evidence, 2)
	require.Empty(t, d.Flagged)
	b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: []string{ids[0]}, Because: "it was a rumour"}))
	d, err = b.ledgers.Decision(t.Context(), "p", d.ID[:8])
	require.NoError(t, err)
	require.Len(t, d.Flagged, 1)
	require.Contains(t, d.Flagged[0], "deprecated")

	decide := Command{Project: "p", Op: OpDecide, User: "u", Agent: "a", Action: "Look for another vendor", EntryIDs: []string{ids[3]}}
	for says, wrong := range map[string]func(*Command){
		"is working":               func(c *Command) { c.EntryIDs = []string{ids[3], ids[4]} },
		"is deprecated":            func(c *Command) { c.EntryIDs = []string{ids[0]} },
		"its own user and agent":   func(c *Command) { c.User = "somebody else" },
		"no such entry":            func(c *Command) { c.Project = "q" },
		"rests on earlier entries": func(c *Command) { c.At = spring },
		"action is empty":          func(c *Command) { c.Action = " " },
		"entry_ids is empty":       func(c *Command) { c.EntryIDs = nil },
		"at most 500 entries":      func(c *Command) { c.EntryIDs = make([]string, 501) },
		"actor is empty: say who ": func(c *Command) { c.Actor = "" },
	} {
		c := b.command(decide)
		wrong(&c)
		b.refuse(c, says)
	}
	b.do(b.command(decide))
	found, err = b.ledgers.RestingOn(t.Context(), "p", ids[3])
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "ann", found[0].By)
	err = b.conn.Exec(t.Context(), `INSERT INTO decision_evidence_raw (project, id, decision_id, evidence_id, evidence_stage, role, version)
		VALUES ('p', 'x', 'y', 'z', 'working', 'ground', 1)`)
	require.ErrorContains(t, err, "verified_evidence")
}

// On request, an entry older than its half-life is demoted by one stage. It is promoted again when it is restated.
func TestHalfLife(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	old := b.say(inSession("p", "u", "one"), -400, spoken{text: "The printer is on the third floor."})[0]
	b.say(inSession("p", "u", "two"), 0, spoken{text: "The scanner is on the second floor."})
	b.pass("p")
	dry, err := b.activities.GraduateProject(t.Context(), PassInput{Project: "p", At: b.now(), Demote: true})
	require.NoError(t, err)
	require.Equal(t, 1, dry.Demoted)
	require.Equal(t, old, dry.Falls[0].EntryID)
	require.Equal(t, []string{"verified active"}, b.standing("p", old))
	for _, fell := range []int{1, 0} {
		applied, err := b.activities.GraduateProject(t.Context(), PassInput{Project: "p", At: b.now(), Demote: true, Apply: true})
		require.NoError(t, err)
		require.Equal(t, fell, applied.Demoted, "one fall needs one more half-life")
		require.Equal(t, []string{"candidate active"}, b.standing("p", old))
	}
	again := b.say(inSession("p", "u", "three"), 51, spoken{text: "The printer is on the third floor."})[0]
	b.passes += 48
	b.pass("p")
	require.Equal(t, []string{"certified active", "certified active"}, b.standing("p", old, again))
}

// The rules of half-lives are a function of data alone.
func TestFalls(t *testing.T) {
	t.Parallel()
	now := spring
	for _, tt := range []struct {
		a  aging
		to schema.Stage
	}{
		{aging{stage: schema.StageCertified, occurred: now.Add(-361 * day)}, schema.StageVerified},
		{aging{stage: schema.StageCertified, occurred: now.Add(-360 * day)}, schema.StageCertified},
		{aging{stage: schema.StageVerified, occurred: now.Add(-181 * day)}, schema.StageCandidate},
		{aging{stage: schema.StageVerified, of: schema.EntryDecision, occurred: now.Add(-181 * day)}, schema.StageVerified},
		{aging{stage: schema.StageVerified, of: schema.EntryDecision, occurred: now.Add(-361 * day)}, schema.StageCandidate},
		{aging{stage: schema.StageCandidate, occurred: now.Add(-91 * day)}, schema.StageWorking},
		{aging{stage: schema.StageCandidate, occurred: now.Add(-91 * day), restated: now.Add(-day)}, schema.StageCandidate},
		{aging{stage: schema.StageCandidate, occurred: now.Add(-91 * day), confirmed: now.Add(-day)}, schema.StageCandidate},
		{aging{stage: schema.StageCandidate, occurred: now.Add(-91 * day), demotedAt: now.Add(-day)}, schema.StageCandidate},
		{aging{stage: schema.StageWorking, occurred: time.Time{}}, schema.StageWorking},
	} {
		to, reason, falls := tt.a.demotion(now)
		require.Equal(t, tt.to, to)
		require.Equal(t, tt.to != tt.a.stage, falls)
		require.Equal(t, falls, reason != "")
	}
}
