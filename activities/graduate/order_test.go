package graduate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// toldSentences contradict, repeat or correct each other, or state decisions.
var toldSentences = []spoken{
	{text: "The default timeout is 30 seconds."},
	{text: "The default timeout is 60 seconds."},
	{text: "The default timeout is 90 seconds.", category: categoryCorrection},
	{text: "The default timeout is 120 seconds.", category: categoryCorrection},
	{text: "The nightly backup runs at 3."},
	{text: "The nightly backup runs at 5."},
	{text: "The nightly backup runs at 6."},
	{text: "The nightly backup runs at 7."},
	{text: "The nightly backup runs at 8."},
	{text: "The default timeout is 150 seconds."},
	{text: "The default timeout is 180 seconds."},
	{text: "The archive \"x/y\" is kept; it's old."},
	{text: "Because of the timeout we move the nightly backup.", entryType: schema.EntryDecision},
	{text: "The nightly report takes an hour.", refused: true},
}

// histories are sessions, each with some of the sentences.
var histories = rapid.Custom(func(t *rapid.T) [][]spoken {
	return rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.SampledFrom(toldSentences), 1, 4, func(s spoken) string { return s.text }), 5, 6).Draw(t, "sessions")
})

// standings returns the standing of all entries of the project, without ids: they differ from project to project.
func (b *passBench) standings(project string) []string {
	b.t.Helper()
	rows, err := entry.NewReader(b.conn).Read(b.t.Context(), entry.InProject(project), entry.Whole)
	require.NoError(b.t, err)
	name := map[string]string{"": "-"}
	for _, row := range rows {
		name[row.ID] = row.SessionID + ": " + row.Title
	}
	var out []string
	for _, row := range rows {
		stage := row.Stage
		if row.Status == schema.StatusSuperseded {
			stage = "" // Whether it was certified before its correction depends on the order of processing.
		}
		out = append(out, fmt.Sprint(name[row.ID], " | ", stage, " ", row.Status, " ", row.Conflicts, " | same as ", name[row.OriginalID],
			" | replaced by ", name[row.SupersededBy]))
	}
	decisions, err := b.ledgers.Decisions(b.t.Context(), DecisionQuery{Project: project})
	require.NoError(b.t, err)
	for _, d := range decisions {
		var on []string
		for _, g := range d.Evidence {
			on = append(on, name[g.EntryID]+" as "+g.Role)
		}
		slices.Sort(on)
		out = append(out, d.Action+" on "+strings.Join(on, ", "))
	}
	slices.Sort(out)
	return out
}

// I1, I3, I4: for any order of processing and any ids, entries have the same standing in the end. A further pass
// changes nothing, and a rebuild gives the same rows.
func TestI3OrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	orderDoesNotMatter(t, 1)
}

// allOrders is the number of histories of the campaign.
const allOrders = 3

// orderDoesNotMatter processes n of the histories in two orders each.
func orderDoesNotMatter(t *testing.T, n int) {
	t.Helper()
	b := newPassBench(t)
	for _, seed := range stacktest.Draw(t, n, allOrders) {
		history := histories.Example(seed)
		var want []string
		for try := range 2 {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(try)))
			project := fmt.Sprintf("p%d/%d", seed, try)
			order := random.Perm(len(history))
			for n, i := range order {
				b.say(inSession(project, "u", fmt.Sprint("s", i)), i, history[i]...)
				if try > 0 && (random.IntN(2) == 0 || n == 0) {
					b.pass(project)
				}
			}
			b.pass(project)
			got := b.standings(project)
			if try == 0 {
				want = got
			}
			require.Equal(t, want, got, "%v in the order %v", history, order)
			head, err := b.log.Load(t.Context(), schema.GraduateStream(project))
			require.NoError(t, err)
			require.Zero(t, b.pass(project).Sessions)
			after, err := b.log.Load(t.Context(), schema.GraduateStream(project))
			require.NoError(t, err)
			require.Equal(t, head, after)
		}
	}
	before := b.digests(t.Context())
	for name, d := range before {
		if n == allOrders && name != "conflict_resolutions_raw" && name != "checks_raw" && name != "judged_pairs_raw" {
			require.NotZero(t, d.Rows, name)
		}
	}
	b.rebuilt()
	require.Equal(t, before, b.digests(t.Context()))
}

// The order of two entries depends on their statements and not on ids.
func TestOlder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *statement {
			s := &statement{}
			s.ID = rapid.StringN(1, 3, -1).Draw(t, name+" id")
			s.Title = rapid.SampledFrom([]string{"a", "b"}).Draw(t, name+" title")
			s.SessionID = rapid.SampledFrom([]string{"s", "t"}).Draw(t, name+" session")
			s.OccurredAt = spring.AddDate(0, 0, rapid.IntRange(0, 1).Draw(t, name+" day"))
			s.Evidence = []schema.Evidence{{MessageIndex: rapid.IntRange(0, 1).Draw(t, name+" message")}}
			return s
		}
		x, y := draw("x"), draw("y")
		same := x.Title == y.Title && x.SessionID == y.SessionID && x.OccurredAt.Equal(y.OccurredAt) && x.Evidence[0].MessageIndex == y.Evidence[0].MessageIndex
		if same {
			return
		}
		was := older(x, y)
		require.NotEqual(t, was, older(y, x))
		x.ID, y.ID = y.ID, x.ID
		require.Equal(t, was, older(x, y))
	})
}

// Each event of a pass names the build that made the pass consider its entries, and each event of a command names the
// request. Demotions by age name the run of the workflow.
func TestEventsNameTheirBuilds(t *testing.T) {
	t.Parallel()
	b := newPassBench(t)
	ids := b.say(inSession("p", "u", "one"), 0,
		spoken{text: "The deploy runs on Fridays."}, spoken{text: "We deploy on Fridays because of the audit.", entryType: schema.EntryDecision})
	b.pass("p")
	b.say(inSession("p", "u", "two"), 1, spoken{text: "The deploy runs on Fridays."}, spoken{text: "We deploy on Fridays because of the audit.", entryType: schema.EntryDecision})
	b.pass("p")
	b.do(b.command(Command{RequestID: "request", Project: "p", Op: OpRetire, EntryIDs: ids[:1], Because: "it is over"}))
	aged := PassInput{Project: "p", At: spring.AddDate(3, 0, 0), Demote: true, Apply: true, Actor: "ann"}
	_, err := b.activities.GraduateProject(eventlog.OfRun(t.Context(), "the run"), aged)
	require.NoError(t, err)

	named := map[string]map[string]bool{}
	for event, err := range b.log.Stream(t.Context(), schema.GraduateStream("p"), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		if named[event.BuildID] == nil {
			named[event.BuildID] = map[string]bool{}
		}
		named[event.BuildID][event.Type] = true
	}
	require.Equal(t, map[string]map[string]bool{
		buildOf("one"): {schema.DecisionRecorded: true, schema.SessionGraduated: true},
		buildOf("two"): {schema.DecisionRecorded: true, schema.SessionGraduated: true, schema.EntryLinked: true, schema.EntryGraduated: true},
		"request":      {schema.EntryRetired: true},
		"the run":      {schema.SessionGraduated: true, schema.EntryLinked: true, schema.EntryGraduated: true},
	}, named)
}
