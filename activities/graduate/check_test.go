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
	"pgregory.net/rapid"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate/idris"
	"axiommind/activities/graduate/obligation"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// checkBench runs the steps of a session from its extraction to the tables.
type checkBench struct {
	testing.TB
	conn     driver.Conn
	log      *projection.Store
	entries  *entry.Activities
	compiler Compiler
	only     bool
}

func newCheckBench(t testing.TB) *checkBench {
	t.Helper()
	conn := stacktest.Migrated(t)
	b := &checkBench{TB: t, conn: conn, log: projection.New(conn, eventlog.Options{}), compiler: answering{}}
	var err error
	b.entries, err = entry.NewActivities(b.log.Store, conn)
	require.NoError(t, err)
	return b
}

// answering is a fake compiler that is missing or returns a given status. Package idris tests the real one.
type answering struct {
	status  idris.Status
	version string
	// refuses has the ids of the entries that the compiler refuses.
	refuses []string
	modules *[]idris.Module
}

func (a answering) Available() bool { return a.status != "" && a.status != idris.Unavailable }

func (a answering) Check(_ context.Context, m idris.Module) (idris.Result, error) {
	if a.modules != nil {
		*a.modules = append(*a.modules, m)
	}
	result := idris.Result{Status: idris.Unavailable, ModuleHash: m.Hash, Reason: "no idris2"}
	if a.Available() {
		result.Status, result.Version, result.Reason = a.status, a.version, ""
	}
	for _, id := range a.refuses {
		result.Failures = append(result.Failures, obligation.Failure{EntryID: id, Obligation: "titled", Piece: obligation.EntryPiece, Reason: "refused"})
	}
	return result, nil
}

var checkedAt = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func checkKey(session string) schema.SessionKey {
	return schema.SessionKey{Scope: schema.Scope{Project: "p", User: "u"}, SessionID: session}
}

// said is an extracted entry with one quote.
type said struct {
	title   string
	message int
	quote   string
}

// state logs messages and their extracted entries, and runs the steps from align to materialize.
func (b *checkBench) state(key schema.SessionKey, build string, first int, messages []string, entries ...said) {
	b.Helper()
	in := schema.SessionIngestedPayload{SessionKey: key, Date: checkedAt}
	for i, text := range messages {
		in.Messages = append(in.Messages, schema.Message{
			Index: first + i, Key: fmt.Sprint("key ", first+i), Role: schema.RoleUser, Kind: schema.KindText, Text: text,
		})
	}
	b.add(key, build, in, fmt.Sprint("ingest/", key.SessionID, first))
	x := schema.MemoryExtractedPayload{
		SessionID: key.SessionID, Window: schema.Window{First: 0, Last: first + len(messages) - 1, Hash: build},
		Extractor: schema.Extractor{Provider: "test", Model: "m"},
	}
	for _, s := range entries {
		x.Entries = append(x.Entries, schema.ExtractedEntry{
			Type: schema.EntryInsight, Title: s.title, Evidence: []schema.Quote{{MessageIndex: s.message, Quote: s.quote}},
		})
	}
	b.add(key, build, x, fmt.Sprint("extract/", key.SessionID, build))
	_, err := evidence.AlignSession(b.Context(), b.log.Store, evidence.AlignInput{SessionKey: key, BuildID: build, At: checkedAt})
	require.NoError(b, err)
	_, err = b.entries.MaterializeEntries(b.Context(), entry.MaterializeInput{SessionKey: key, BuildID: build})
	require.NoError(b, err)
}

func (b *checkBench) add(key schema.SessionKey, build string, payload any, dedupe string) {
	b.Helper()
	event, err := schema.NewEvent(payload, schema.Event{
		TS: checkedAt, Actor: "test", SessionID: key.SessionID, Project: key.Project, BuildID: build, DedupeKey: dedupe,
	})
	require.NoError(b, err)
	_, err = b.log.Append(b.Context(), key.Stream(), []schema.Event{event})
	require.NoError(b, err)
}

func (b *checkBench) check(key schema.SessionKey, build string) CheckResult {
	b.Helper()
	result, err := CheckSession(b.Context(), b.log.Store, b.compiler, b.only, CheckInput{SessionKey: key, BuildID: build, At: checkedAt})
	require.NoError(b, err)
	return result
}

// ids returns the ids of the session's entries.
func (b *checkBench) ids(key schema.SessionKey) (ids []string) {
	b.Helper()
	for _, p := range eventsOf[schema.EntryMaterializedPayload](b, key, schema.EntryMaterialized) {
		ids = append(ids, p.ID)
	}
	return ids
}

// eventsOf returns the events of the type in the session's stream.
func eventsOf[Payload any](b *checkBench, key schema.SessionKey, eventType string) (out []Payload) {
	b.Helper()
	for event, err := range b.log.Stream(b.Context(), key.Stream(), eventlog.StreamOptions{Types: []string{eventType}}) {
		require.NoError(b, err)
		p, err := schema.Decode[Payload](event)
		require.NoError(b, err)
		out = append(out, p)
	}
	return out
}

func (b *checkBench) length(key schema.SessionKey) uint64 {
	b.Helper()
	head, err := b.log.Load(b.Context(), key.Stream())
	require.NoError(b, err)
	return head.Seq
}

// shown is an entry as the view entries shows it.
type shown struct{ title, stage string }

func (b *checkBench) shown(key schema.SessionKey) (out []shown) {
	b.Helper()
	_, err := b.log.Project(b.Context(), entry.NewProjector(b.conn), key.Stream())
	require.NoError(b, err)
	rows, err := b.conn.Query(b.Context(), "SELECT title, stage FROM entries WHERE project = ? AND stream = ? ORDER BY title", key.Project, key.Stream())
	require.NoError(b, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s shown
		require.NoError(b, rows.Scan(&s.title, &s.stage))
		out = append(out, s)
	}
	require.NoError(b, rows.Err())
	return out
}

const story = "The kettle stands on shelf 7. Nobody ever uses the blue lamp in the attic, as far as we know.\nWater boils at 100 degrees."

// An entry that is proven and meets all obligations is verified. One whose quotes are only found stays a candidate.
// Each promotion has reasons.
func TestCheckLiftsEntries(t *testing.T) {
	t.Parallel()
	b, key := newCheckBench(t), checkKey("it's 세션 \"1\"")
	b.state(key, "b1", 0, []string{story},
		said{"the kettle is on shelf 7", 0, "The kettle stands on shelf 7."},
		said{"a lamp is never used", 0, "uses the blue lamp"},
		said{"the kettle is on shelf 9", 0, "The kettle stands on shelf 7."},
		said{"no such quote", 0, "The cellar is flooded again."})
	require.Equal(t, CheckResult{Candidates: 3, Verified: 1, Promoted: 3}, b.check(key, "b1"))
	require.Equal(t, []shown{
		{"a lamp is never used", "candidate"}, {"no such quote", "raw"}, {"the kettle is on shelf 7", "verified"}, {"the kettle is on shelf 9", "candidate"},
	}, b.shown(key))

	checked := eventsOf[schema.IdrisCheckedPayload](b, key, schema.IdrisChecked)
	require.Len(t, checked, 1)
	require.Equal(t, 3, checked[0].Entries)
	require.Equal(t, []any{schema.CheckUnavailable, NoCompiler, schema.VerifierGo, PolicyVersion, "no idris2"},
		[]any{checked[0].Status, checked[0].Version, checked[0].Verifier, checked[0].Policy, checked[0].Reason})
	var failed []string
	for _, f := range checked[0].Failures {
		failed = append(failed, f.Obligation)
	}
	require.ElementsMatch(t, []string{"sentences", "claimed"}, failed)

	promoted := eventsOf[schema.EntriesPromotedPayload](b, key, schema.EntriesPromoted)
	require.Len(t, promoted, 1)
	require.Equal(t, schema.VerifierGo, promoted[0].Verifier)
	for _, p := range promoted[0].Promotions {
		require.Equal(t, schema.StageWorking, p.From)
		require.Equal(t, 1, p.Number)
		if p.To == schema.StageVerified {
			require.Len(t, p.Reasons, 5)
			require.Equal(t, "candidate: the quote is found in the session", p.Reasons[0])
			require.Equal(t, "verified: the quote is whole sentences or lines", p.Reasons[3])
			require.Equal(t, "verified: all 18 obligations hold, by the Go verifier alone (the compiler is unavailable)", p.Reasons[4])
		} else {
			require.Len(t, p.Reasons, 3)
		}
	}
}

// A second check changes nothing (I1), also after a crash after the append (I2): the counts are the same.
func TestI1CheckTwice(t *testing.T) {
	t.Parallel()
	b, key := newCheckBench(t), checkKey("s")
	b.state(key, "b1", 0, []string{story}, said{"the kettle is on shelf 7", 0, "The kettle stands on shelf 7."})
	first := b.check(key, "b1")
	length := b.length(key)
	require.Equal(t, first, b.check(key, "b1"))
	again := first
	again.Promoted = 0
	require.Equal(t, again, b.check(key, "b2"))
	require.Equal(t, length, b.length(key))

	// A later build checks only new entries.
	var modules []idris.Module
	b.compiler = answering{modules: &modules}
	b.state(key, "b2", 1, []string{"Tea takes 4 minutes."}, said{"tea takes 4 minutes", 1, "Tea takes 4 minutes."})
	require.Equal(t, CheckResult{Candidates: 2, Verified: 2, Promoted: 1}, b.check(key, "b2"))
	require.Len(t, modules, 1)
	require.Equal(t, 1, modules[0].Len())
}

// A compiler that becomes available later checks all entries. Its answer counts in addition to that of the Go verifier.
func TestCheckByCompiler(t *testing.T) {
	t.Parallel()
	b, key := newCheckBench(t), checkKey("s")
	b.state(key, "b1", 0, []string{story},
		said{"the kettle is on shelf 7", 0, "The kettle stands on shelf 7."}, said{"water boils at 100 degrees", 0, "Water boils at 100 degrees."})
	require.Equal(t, 2, b.check(key, "b1").Verified)

	b.compiler = answering{status: idris.Passed, version: "Idris 2, version 9.9"}
	require.Equal(t, CheckResult{Candidates: 2, Verified: 2}, b.check(key, "b2"))
	checked := eventsOf[schema.IdrisCheckedPayload](b, key, schema.IdrisChecked)
	require.Equal(t, schema.VerifierIdris, checked[1].Verifier)
	require.Equal(t, "Idris 2, version 9.9", checked[1].Version)
	require.Equal(t, checked[0].Module, checked[1].Module)
	length := b.length(key)
	b.check(key, "b3")
	b.compiler = answering{} // A missing compiler revokes no proof.
	b.check(key, "b4")
	require.Equal(t, length, b.length(key))

	// An entry that only the compiler refuses is not verified, and is demoted if it was verified before.
	refused := checkKey("refused")
	b.state(refused, "b1", 0, []string{story}, said{"the kettle is on shelf 7", 0, "The kettle stands on shelf 7."})
	require.Equal(t, 1, b.check(refused, "b1").Verified)
	b.compiler = answering{status: idris.Failed, version: "9.9", refuses: b.ids(refused)}
	require.Equal(t, CheckResult{}, b.check(refused, "b2"))
	require.Equal(t, []shown{{"the kettle is on shelf 7", "working"}}, b.shown(refused))
	promoted := eventsOf[schema.EntriesPromotedPayload](b, refused, schema.EntriesPromoted)
	require.Equal(t, []schema.Promotion{{
		EntryID: promoted[0].Promotions[0].EntryID, From: schema.StageVerified, To: schema.StageWorking, Number: 2, Reasons: []string{"refused"},
	}}, promoted[1].Promotions)
}

// If only the compiler's answer counts, nothing is verified without it. All entries are once it is available, or once
// its answer is no longer required.
func TestCheckByCompilerOnly(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(*checkBench){
		"installed":   func(b *checkBench) { b.compiler = answering{status: idris.Passed, version: "9.9"} },
		"not asked":   func(b *checkBench) { b.only = false },
		"broken then": func(b *checkBench) { b.compiler, b.only = answering{status: idris.Broken, version: "9.9"}, false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, key := newCheckBench(t), checkKey("s")
			b.only = true
			b.state(key, "b1", 0, []string{story}, said{"the kettle is on shelf 7", 0, "The kettle stands on shelf 7."})
			require.Equal(t, CheckResult{Candidates: 1, Promoted: 1}, b.check(key, "b1"))
			require.Empty(t, eventsOf[schema.IdrisCheckedPayload](b, key, schema.IdrisChecked)[0].Verifier)
			length := b.length(key)
			b.check(key, "b2")
			require.Equal(t, length, b.length(key))
			then(b)
			require.Equal(t, CheckResult{Candidates: 1, Verified: 1, Promoted: 1}, b.check(key, "b3"))
		})
	}
}

// drawn is a session of two messages.
type drawn struct {
	messages []string
	entries  []said
	compiler answering
	// refuses is the number of entries that the compiler refuses if it refuses any.
	refuses int
}

var sessions = rapid.Custom(func(t *rapid.T) drawn {
	texts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{
		"The pump has 3 valves.", "그 펌프는 밸브가 셋이다.", "`%runElab x` breaks \"it\".", `C:\new\"""`, "-} {- half\u202e turned", "a\x00b\x1b[2J ends.",
		"١٢٣ is a number.", "x\\&1 and \\SOH.",
	}), rapid.StringN(1, 20, 60)), 1, 4)
	valid := func(text string) string { return strings.ToValidUTF8(text, "?") }
	d := drawn{
		messages: []string{valid(strings.Join(texts.Draw(t, "first"), " ")), valid(strings.Join(texts.Draw(t, "second"), "\n"))},
		compiler: compilers.Draw(t, "compiler"), refuses: rapid.IntRange(1, 2).Draw(t, "refuses"),
	}
	for i := range rapid.IntRange(2, 6).Draw(t, "entries") {
		m := rapid.IntRange(0, 1).Draw(t, "message")
		d.entries = append(d.entries, said{valid(fmt.Sprint(titles.Draw(t, "title"), i)), m, quoteOf(t, d.messages[m])})
	}
	return d
})

// In sessions of any texts and with any answers of the compiler, every verified entry has a proven span and only claims
// that its evidence states. An entry that is not aligned is no candidate. A second check appends nothing.
func TestI5CheckedSessions(t *testing.T) {
	t.Parallel()
	checkedSessions(t, 5)
}

// allSessions is the number of random sessions of the campaign.
const allSessions = 25

// checkedSessions checks at least n random sessions, and more until they had entries of every stage.
func checkedSessions(t *testing.T, n int) {
	t.Helper()
	b := newCheckBench(t)
	stages, wanted := map[string]int{}, []schema.Stage{schema.StageRaw, schema.StageCandidate, schema.StageVerified}
	for i, seed := range stacktest.Random(t).Perm(allSessions) {
		if i >= n && !slices.ContainsFunc(wanted, func(s schema.Stage) bool { return stages[string(s)] == 0 }) {
			break
		}
		d, key := sessions.Example(seed), checkKey(fmt.Sprint("세션 \"", seed))
		b.state(key, "b1", 0, d.messages, d.entries...)
		if d.compiler.status == idris.Failed {
			d.compiler.refuses = b.ids(key)[:d.refuses]
		}
		b.compiler = d.compiler
		result := b.check(key, "b1")
		length := b.length(key)
		require.Equal(t, result, b.check(key, "b1"), "%+v", d)
		require.Equal(t, length, b.length(key), "%+v", d)
		for _, s := range b.shown(key) {
			stages[s.stage]++
		}
		b.requireProven(key, result, d)
	}
	t.Logf("entries by stage: %v", stages)
	for _, stage := range wanted {
		require.NotZero(t, stages[string(stage)], stage)
	}
}

var titles = rapid.OneOf(rapid.SampledFrom([]string{"the pump has valves ", "밸브 ", `"""-}`, "%language "}), rapid.StringN(1, 8, 30))

var compilers = rapid.SampledFrom([]answering{
	{}, {status: idris.Passed, version: "9.9"}, {status: idris.TimedOut}, {status: idris.Broken, version: "x"},
	{status: idris.Failed, version: "9.9"},
})

// quoteOf draws the whole message, a part of it, or something else.
func quoteOf(t *rapid.T, message string) string {
	runes := []rune(message)
	switch rapid.IntRange(0, 3).Draw(t, "quote") {
	case 0:
		return message
	case 1:
		return "It was never said that " + message
	default:
		start := rapid.IntRange(0, len(runes)-1).Draw(t, "start")
		return string(runes[start:rapid.IntRange(start+1, len(runes)).Draw(t, "end")])
	}
}

// requireProven compares the tables of a session with the result and the events of its check.
func (b *checkBench) requireProven(key schema.SessionKey, result CheckResult, d drawn) {
	b.Helper()
	var bad, candidates, verified uint64
	row := b.conn.QueryRow(b.Context(), `SELECT countIf(stage IN ('verified', 'certified') AND (NOT evidence_proven
			OR NOT arrayAll(e -> JSONExtractBool(e, 'proven') AND JSONExtractBool(e, 'found'), JSONExtractArrayRaw(evidence_json))
			OR JSONExtractArrayRaw(evidence_json) = [])
		OR stage = 'candidate' AND NOT evidence_aligned),
		countIf(stage IN ('candidate', 'verified')), countIf(stage = 'verified')
		FROM entries WHERE project = ? AND stream = ?`, key.Project, key.Stream())
	require.NoError(b, row.Scan(&bad, &candidates, &verified))
	require.Zero(b, bad, "I5: %+v", d)
	require.Equal(b, []int{result.Candidates, result.Verified}, []int{int(candidates), int(verified)}, "%+v", d)
	failed := map[string]string{}
	for _, p := range eventsOf[schema.IdrisCheckedPayload](b, key, schema.IdrisChecked) {
		for _, f := range p.Failures {
			failed[f.EntryID] = f.Reason
		}
	}
	for _, p := range eventsOf[schema.EntriesPromotedPayload](b, key, schema.EntriesPromoted) {
		for _, promotion := range p.Promotions {
			if promotion.To == schema.StageVerified {
				require.Empty(b, failed[promotion.EntryID], "%+v", d)
			}
		}
	}
}
