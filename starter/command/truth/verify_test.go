package truth_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"
	temporallog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/evidence/audit"
	"axiommind/activities/projection"
	"axiommind/activities/session"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/truth"
)

// verified is the JSON output of the command.
type verified struct {
	audit.Tally
	Findings []audit.Finding `json:"findings"`
}

// verify runs the command and parses its JSON output, whatever the exit code.
func verify(c *commandtest.CLI, t *testing.T, code int, args ...string) verified {
	t.Helper()
	o := c.Run(append([]string{"verify", "-o", "json"}, args...)...)
	require.Equal(t, code, o.Code, o)
	var v verified
	require.NoError(t, json.Unmarshal([]byte(o.Out), &v), o)
	return v
}

// forger writes events to a session's stream that no build would write.
type forger struct {
	*testing.T
	log     *projection.Store
	session schema.SessionKey
}

// aligner returns an aligner of quotes with all messages of the session.
func (f *forger) aligner() *evidence.Aligner {
	logged, err := session.Open(f.Context(), f.log.Store, f.session)
	require.NoError(f, err)
	messages, err := logged.Range(f.Context(), 0, logged.Len())
	require.NoError(f, err)
	return evidence.NewAligner(messages, logged.EventID)
}

// write appends an event and returns its id.
func (f *forger) write(eventType, name string, payload any) string {
	f.Helper()
	text, err := json.Marshal(payload)
	require.NoError(f, err)
	appended, err := f.log.Append(f.Context(), f.session.Stream(), []schema.Event{{
		Type: eventType, TS: time.UnixMicro(1).UTC(), Actor: "forger", SessionID: f.session.SessionID,
		DedupeKey: f.session.Stream() + "/" + name, Payload: text,
	}})
	require.NoError(f, err)
	return appended.Events[0].ID
}

// events returns the session's events of the type.
func (f *forger) events(eventType string) (events []schema.Event) {
	f.Helper()
	for event, err := range f.log.Stream(f.Context(), f.session.Stream(), eventlog.StreamOptions{Types: []string{eventType}}) {
		require.NoError(f, err)
		events = append(events, event)
	}
	return events
}

// align appends a changed copy of the first alignment and returns the event's id.
func (f *forger) align(name string, change func(*schema.AlignedEntry)) string {
	f.Helper()
	var p schema.EvidenceAlignedPayload
	require.NoError(f, json.Unmarshal(f.events(schema.EvidenceAligned)[0].Payload, &p))
	change(&p.Entries[0])
	return f.write(schema.EvidenceAligned, name, p)
}

// I5: evidence that the log confirms passes, and quotes that were not found are counted with their reasons. Tampering with
// the log or with the table (I3) is reported and changes the exit code.
func TestI5Verify(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Work(t)
	session, other := c.Project+"-a", c.Project+"-b"
	for id, text := range map[string]string{
		session: "Hello. " + commandtest.Decision + " Fine?\nI prefer short pages, please always add an example.",
		other:   "We decided to ship on Fridays only. 앞으로는 금요일에만 배포하기로 결정했다.",
	} {
		o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", text)+commandtest.Said(2, "assistant", "Fine.")), "--session", id)
		require.Zero(t, o.Code, o)
	}
	good := verify(c, t, command.ExitOK)
	require.Equal(t, 2, good.Sessions)
	require.GreaterOrEqual(t, good.Entries, 3)
	require.Equal(t, map[schema.Method]int{schema.MethodExact: good.Entries}, good.Spans)
	require.Equal(t, good.Entries, good.Aligned)
	require.Zero(t, good.Unprojected)
	require.Empty(t, good.Older)
	require.NotNil(t, good.Findings)
	require.Empty(t, good.Findings)

	conn, log := c.LogOf(t)
	key := func(id string) schema.SessionKey {
		return schema.SessionKey{Scope: schema.Scope{Project: c.Project, User: "default"}, SessionID: id}
	}
	f := &forger{t, log, key(session)}
	unsaid := []schema.Quote{{Quote: "nobody has ever said this"}, {Quote: "Fi"}}
	pieces, aligned := f.aligner().AlignEntry(unsaid)
	require.False(t, aligned)
	extracted := f.write(schema.MemoryExtracted, "unsaid", schema.MemoryExtractedPayload{
		SessionID: session, Entries: []schema.ExtractedEntry{{Title: "x", Evidence: unsaid}},
	})
	f.write(schema.EvidenceAligned, "unsaid aligned", schema.EvidenceAlignedPayload{
		SessionID: session, ExtractedEventID: extracted, Rule: evidence.Rule, Entries: []schema.AlignedEntry{{Evidence: pieces}},
	})
	o := c.Run("verify", "--session", session)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, " exact, 0 normalized, 0 joined, 0 approximate; ")
	require.Contains(t, o.Out, " proven, 0 aligned and not proven, 0 found and not aligned, 2 not found (1 not_found, 1 too_short); 0 false\n")

	require.Equal(t, command.ExitOK, c.Run("verify", "--project", c.Project).Code)
	for _, args := range [][]string{{"--project", "nobody's"}, {"--session", "nobody's"}, {"--session", session, "--project", "nobody's"}} {
		o := c.Run(append([]string{"verify"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, `"nobody's"`)
	}
	t.Run("tampered log", func(t *testing.T) { tamperedLog(t, c, &forger{t, log, key(session)}) })
	t.Run("tampered table", func(t *testing.T) { tamperedTable(t, c, conn, &forger{t, log, key(other)}) })
}

func tamperedLog(t *testing.T, c *commandtest.CLI, f *forger) {
	var first schema.EntryMaterializedPayload
	require.NoError(t, json.Unmarshal(f.events(schema.EntryMaterialized)[0].Payload, &first))
	says := map[string]string{}
	const unmade = "its quotes are not those of entry 99 of"
	for problem, change := range map[string]func(*schema.AlignedEntry){
		"runes [7,54) are not bytes [8,55)": func(x *schema.AlignedEntry) {
			x.Evidence[0].Span.ByteStart++
			x.Evidence[0].Span.ByteEnd++
		},
		"quote hash":           func(x *schema.AlignedEntry) { x.Evidence[0].QuoteHash = schema.HashText("x") },
		"source hash":          func(x *schema.AlignedEntry) { x.Evidence[0].SourceHash = schema.HashText("x") },
		`text "We decided not`: func(x *schema.AlignedEntry) { x.Evidence[0].Text = "We decided not to." },
		"does not hold message 0": func(x *schema.AlignedEntry) {
			x.Evidence[0].EventID = schema.EventID("another")
		},
		"no message 7": func(x *schema.AlignedEntry) { x.Evidence[0].MessageIndex = 7 },
		"is false, but 1 of 1 pieces are aligned": func(x *schema.AlignedEntry) { x.EvidenceAligned = false },
		"is false, but 1 of 1 pieces are proven":  func(x *schema.AlignedEntry) { x.EvidenceProven = false },
		unmade:                                    func(x *schema.AlignedEntry) { x.Index = 99 },
	} {
		says[f.align(problem, change)] = problem
	}
	v := verify(c, t, command.ExitFailed)
	require.Equal(t, len(says), v.False)
	for _, finding := range v.Findings {
		require.Contains(t, finding.Problem, says[finding.EventID])
		entryID := first.ID
		if says[finding.EventID] == unmade {
			entryID = ""
		}
		delete(says, finding.EventID)
		require.Equal(t, f.session.SessionID, finding.SessionID)
		require.Equal(t, entryID, finding.EntryID)
		require.Equal(t, schema.EvidenceAligned, finding.StoredIn)
		if finding.Evidence != nil {
			require.Equal(t, commandtest.Decision, finding.Evidence.Quote)
		}
	}
	require.Empty(t, says)
	o := c.Run("verify", "--session", f.session.SessionID)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out, "FALSE  session "+f.session.SessionID+", entry "+first.ID[:8]+", message 0, bytes 8–55\n       “"+commandtest.Decision+"”\n")
	require.Contains(t, o.Out, "; 9 false\n")
	require.Contains(t, o.Err, "starter: 9 findings of evidence that is not true of the log")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &command.App{Out: t.Output(), ErrOut: t.Output(), Getenv: func(string) string { return "" }}
	require.Equal(t, command.ExitFailed, program.Main(ctx, a, append([]string{"verify"}, c.Servers...)), "cancelled")
}

func tamperedTable(t *testing.T, c *commandtest.CLI, conn driver.Conn, f *forger) {
	event := f.events(schema.EntryMaterialized)[0]
	var e schema.EntryMaterializedPayload
	require.NoError(t, json.Unmarshal(event.Payload, &e))
	scope := []string{"--session", f.session.SessionID}
	require.Empty(t, verify(c, t, command.ExitOK, scope...).Findings, "another session's findings")
	tamper := func(replace string) {
		t.Helper()
		require.NoError(t, conn.Exec(t.Context(), `INSERT INTO entries_raw SELECT * REPLACE (`+replace+`, version + 1 AS version)
			FROM entries_raw FINAL WHERE event_id = ?`, event.ID))
	}
	restore := func() {
		t.Helper()
		_, err := stacktest.Rebuild(t.Context(), conn, entry.NewProjector(conn))
		require.NoError(t, err)
		require.Empty(t, verify(c, t, command.ExitOK, scope...).Findings, "rebuilt")
	}
	for says, replace := range map[string]string{
		"another text; text ":                                      `replaceOne(evidence_json, '"text":"We', '"text":"I') AS evidence_json`,
		"another span; runes ":                                     `replaceOne(evidence_json, '"byte_start":0', '"byte_start":1') AS evidence_json`,
		"0 pieces of evidence, in the log 1":                       `'[]' AS evidence_json`,
		"evidence_aligned is false, in the log tru":                `false AS evidence_aligned`,
		"evidence_proven is false, in the log true":                `false AS evidence_proven`,
		fmt.Sprintf("its rule is 7, in the log %d", evidence.Rule): `7 AS evidence_rule`,
		"the log holds no such entry":                              `'nobody-s' AS entry_id`,
		`is in project "q"`:                                        `'q' AS project`,
	} {
		tamper(replace)
		v := verify(c, t, command.ExitFailed, scope...)
		require.Len(t, v.Findings, 1, says)
		finding := v.Findings[0]
		require.Contains(t, finding.Problem, says)
		require.Equal(t, f.session.SessionID, finding.SessionID)
		require.Equal(t, event.ID, finding.EventID)
		require.Equal(t, audit.StoredInTable, finding.StoredIn)
		restore()
	}
	t.Run("another project's session", func(t *testing.T) {
		tamper(`'q' AS project`)
		v := verify(c, t, command.ExitFailed, "--project", "q")
		require.Len(t, v.Findings, 1)
		require.Contains(t, v.Findings[0].Problem, fmt.Sprintf(`is in project "q", its session in %q`, c.Project))
		require.Zero(t, v.Sessions, "I10: of another project's session nothing is read but whose it is")
	})
	t.Run("row missing", func(t *testing.T) {
		require.NoError(t, conn.Exec(t.Context(), "TRUNCATE TABLE entries_raw"))
		o := c.Run(append([]string{"verify"}, scope...)...)
		require.Zero(t, o.Code, o)
		require.Contains(t, o.Out, "entries not in the table yet; 0 false\n")
	})
	t.Run("corrupt event", func(t *testing.T) {
		require.NoError(t, conn.Exec(t.Context(), `INSERT INTO events_raw
			SELECT * REPLACE (replaceOne(payload_json, 'Fridays', 'Mondays') AS payload_json, precedence + 1 AS precedence)
			FROM events_raw FINAL WHERE stream = ? AND event_type = ?`, f.session.Stream(), schema.SessionIngested))
		v := verify(c, t, command.ExitFailed, scope...)
		require.Len(t, v.Findings, 1)
		require.Equal(t, f.session.SessionID, v.Findings[0].SessionID)
		require.Contains(t, v.Findings[0].Problem, "event is corrupt")
		require.Equal(t, 2, verify(c, t, command.ExitFailed).Sessions, "the others are verified all the same")
	})
}

// A session that grows during its verification does not count as false: its new entries are in the table, but not in the
// page of the log that was read before.
func TestI5VerifyBesideAWriter(t *testing.T) {
	t.Parallel()
	conn, log := emptyLog(t, stacktest.MigratedDatabase(t))
	for _, id := range []string{"a", "b"} {
		remember(t, conn, id, 0, 2)
	}
	project := func() {
		_, err := log.ProjectAll(t.Context(), entry.NewProjector(conn))
		require.NoError(t, err)
	}
	project()
	given := map[string]bool{}
	rowsOf := func(id string, yield func(entry.Stored, error) bool) {
		for row, err := range entry.NewReader(conn).AllEvidence(t.Context(), schema.SessionKey{SessionID: id}) {
			require.NoError(t, err)
			require.True(t, given[row.EntryID] || yield(row, nil))
			given[row.EntryID] = true
		}
	}
	// The log of a is read once a row of b shows that the rows of a are complete.
	stored := func(yield func(entry.Stored, error) bool) {
		rowsOf("a", yield)
		rowsOf("b", yield)
		remember(t, conn, "b", 2, 4)
		remember(t, conn, "c", 0, 2)
		project()
		rowsOf("b", yield)
		rowsOf("c", yield)
	}
	tally := audit.NewTally()
	for session, err := range audit.Walk(t.Context(), log.Store, truth.StoredEvidence(stored), schema.SessionKey{}) {
		require.NoError(t, err)
		require.Empty(t, session.Findings)
		tally.Add(session.Tally)
	}
	require.Equal(t, 3, tally.Sessions)
	require.Equal(t, 8, tally.Entries)
	require.Equal(t, map[schema.Method]int{schema.MethodExact: 8}, tally.Spans)
	require.Zero(t, tally.Unprojected)
}

func emptyLog(t testing.TB, dsn string) (driver.Conn, *projection.Store) {
	t.Helper()
	conn := stacktest.Connect(t, dsn)
	return conn, projection.New(conn, eventlog.Options{})
}

// remember logs messages of a session, two for each of the entries from first to before end, and creates the entries as a
// build does.
func remember(t testing.TB, conn driver.Conn, id string, first, end int) {
	t.Helper()
	log := projection.New(conn, eventlog.Options{})
	session := schema.SessionKey{Scope: schema.Scope{Project: "bench", User: "u"}, SessionID: id}
	ingested := schema.SessionIngestedPayload{SessionKey: session, Date: time.UnixMicro(1).UTC()}
	extracted := schema.MemoryExtractedPayload{SessionID: id, Window: schema.Window{First: 2 * first, Last: 2*end - 1}}
	for i := 2 * first; i < 2*end; i++ {
		text := fmt.Sprintf("In step %d of %s we looked at what the importer does when a file is given twice. ", i, id)
		quote := fmt.Sprintf("We decided that run %d keeps the first copy of %s and counts the rest", i, id)
		for range 3 {
			text += "Nothing else came up that anybody wanted to write down, so the rest of it is talk. "
		}
		ingested.Messages = append(ingested.Messages, schema.Message{
			Index: i, Role: schema.RoleUser, Kind: schema.KindText, Text: text + quote + ". Then we went on to the next one.",
		})
		if i%2 == 0 {
			extracted.Entries = append(extracted.Entries, schema.ExtractedEntry{
				Type: schema.EntryDecision, Title: quote, Evidence: []schema.Quote{{MessageIndex: i, Quote: quote}},
			})
		}
	}
	events := make([]schema.Event, 2)
	for i, payload := range []any{ingested, extracted} {
		text, err := json.Marshal(payload)
		require.NoError(t, err)
		events[i] = schema.Event{
			Type: []string{schema.SessionIngested, schema.MemoryExtracted}[i], TS: time.UnixMicro(1).UTC(), Actor: "bench",
			SessionID: id, Project: "bench", DedupeKey: fmt.Sprint(id, "/", first, "/", i), Payload: text,
		}
	}
	_, err := log.Append(t.Context(), session.Stream(), events)
	require.NoError(t, err)
	alignAndMaterialize(t, conn, log, session)
}

// alignAndMaterialize aligns and materializes the session's extracted entries as a build does.
func alignAndMaterialize(t testing.TB, conn driver.Conn, log *projection.Store, session schema.SessionKey) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(temporallog.NewStructuredLogger(commandtest.Quiet))
	env := suite.NewTestActivityEnvironment()
	materialize, err := entry.NewActivities(log.Store, conn)
	require.NoError(t, err)
	env.RegisterActivity(materialize.MaterializeEntries)
	_, err = evidence.AlignSession(t.Context(), log.Store, evidence.AlignInput{SessionKey: session, BuildID: "b", At: time.UnixMicro(1).UTC()})
	require.NoError(t, err)
	_, err = env.ExecuteActivity(materialize.MaterializeEntries, entry.MaterializeInput{SessionKey: session, BuildID: "b"})
	require.NoError(t, err)
}
