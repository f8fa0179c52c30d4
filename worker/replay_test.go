package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// allTables returns every row of every table of the bench's database, except the tables that workers write in the
// background: checkpoints, and the list of written files.
func (b *bench) allTables(t *testing.T) map[string][]string {
	t.Helper()
	b.awaitIndexed(t)
	b.awaitGraduated(t.Context(), t)
	require.NoError(t, b.Log.SaveOffsets(t.Context()))
	queries := map[string]string{}
	for _, name := range column(t, b.ClickHouse, "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine != 'View' ORDER BY name") {
		if name == "projection_offsets_raw" || name == "memory_files_raw" {
			continue
		}
		queries[name] = "SELECT toString(tuple(*)) AS row FROM " + name + " FINAL"
	}
	return columns(t, b.ClickHouse, queries)
}

// replay replays the builds, and requires that nothing but the answers comes of it.
func (b *bench) replay(t *testing.T, ids ...string) (replayed []build.Replayed) {
	t.Helper()
	before := b.allTables(t)
	require.NotEmpty(t, before["events_raw"])
	for _, id := range ids {
		r, err := build.Replay(t.Context(), b.ClickHouse, id)
		require.NoError(t, err)
		replayed = append(replayed, r)
	}
	require.Equal(t, before, b.allTables(t), "a replay changes nothing")
	left, err := clickhouse.Scratches(t.Context(), b.ClickHouse)
	require.NoError(t, err)
	require.Empty(t, left)
	return replayed
}

// requireSame replays the builds and requires that nothing differs.
func (b *bench) requireSame(t *testing.T, ids ...string) []build.Replayed {
	t.Helper()
	replayed := b.replay(t, ids...)
	for _, r := range replayed {
		require.Empty(t, r.Differences, r.BuildID)
	}
	return replayed
}

// buildIDs returns the ids of all builds of the bench, the first one first.
func (b *bench) buildIDs(t *testing.T) []string {
	t.Helper()
	return column(t, b.ClickHouse, "SELECT build_id FROM build_runs ORDER BY started_at, ordinal")
}

// replayRules replays the first build of a session, and so many others.
func replayRules(t *testing.T, others int) {
	t.Helper()
	b := newBench(t)
	b.start(t)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	lines := []string{said(1, "user", decision), said(2, "assistant", "TODO: write the page on 로그.")}
	b.process(t, b.input("a", write(t, path, lines...)))
	// Another session proves nothing better, and is empty.
	empty := b.process(t, b.input("empty", write(t, filepath.Join(t.TempDir(), "e.jsonl"), said(1, "user", "Hello."))))
	require.Equal(t, schema.BuildEmpty, empty.Status)
	lines = append(lines, said(3, "user", "I prefer short pages, please always add an example."))
	b.process(t, b.input("a", write(t, path, lines...)))
	tools := b.input("a", write(t, path, lines...))
	tools.IncludeTools = true
	require.Equal(t, schema.BuildSuccess, b.process(t, tools).Status)
	ids := b.buildIDs(t)
	require.Len(t, ids, 4)
	b.leaveScratch(t)
	sample := some(t, ids, others, ids[0])
	sample[0] = ids[0][:10] // by its first characters
	for _, r := range b.requireSame(t, sample...) {
		require.Equal(t, 1, r.Windows)
		require.Zero(t, r.Answers)
		require.Contains(t, strings.Join(r.Notes, "\n"), "the answers are computed again: rules/")
		if r.BuildID != empty.BuildID {
			require.Greater(t, r.Events, 2)
		}
		if r.BuildID == ids[0] {
			require.GreaterOrEqual(t, r.Rows, 3)
		}
		t.Logf("survived: replay of build %s", r.BuildID)
	}
	_, err := build.Replay(t.Context(), b.ClickHouse, "00000000")
	require.ErrorIs(t, err, build.ErrNotFound)
	b.plant(t, ids[0])
}

// leaveScratch makes a scratch database as a replay does that was killed some time ago.
func (b *bench) leaveScratch(t *testing.T) {
	t.Helper()
	s, err := clickhouse.OpenScratch(t.Context(), b.ClickHouse, clickhouse.ScratchKey{Purpose: "replay", ID: "killed"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	comment := column(t, b.ClickHouse, "SELECT comment FROM system.databases WHERE name = ?", s.Database)
	aged := regexp.MustCompile(`"used":[0-9]+`).ReplaceAllString(comment[0], `"used":1`)
	require.NotEqual(t, comment[0], aged)
	require.NoError(t, b.ClickHouse.Exec(t.Context(), "ALTER DATABASE "+clickhouse.Identifier(s.Database)+" MODIFY COMMENT "+clickhouse.Literal(aged)))
	left, err := clickhouse.Scratches(t.Context(), b.ClickHouse)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// plant changes a row and an event and requires that the replay says so.
func (b *bench) plant(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, b.ClickHouse.Exec(t.Context(), `INSERT INTO entries_raw SELECT * REPLACE (concat(title, ' 사실') AS title, version + 1 AS version)
		FROM entries_raw FINAL WHERE build_id = ? AND entry_type = 'decision'`, id))
	require.NoError(t, b.ClickHouse.Exec(t.Context(),
		"INSERT INTO build_runs_raw SELECT * REPLACE (? AS counts_json) FROM build_runs_raw FINAL WHERE build_id = ?", `{"zeros":0}`, id))
	r := b.replay(t, id)[0]
	require.Equal(t, id, r.BuildID)
	require.Len(t, r.Differences, 2)
	d := r.Differences[0]
	require.Equal(t, "entries_raw", d.In)
	require.Equal(t, build.Changed, d.What)
	require.Contains(t, d.Key, "사실")
	fields := map[string]string{}
	for _, f := range d.Fields {
		fields[f.Field] = f.Recorded + " | " + f.Replayed
	}
	require.Equal(t, decision+" 사실 | "+decision, fields["title"])
	require.Equal(t, "build_runs_raw", r.Differences[1].In)

	if !inCampaign(t) {
		return
	}
	// An event that another program would have made: it is in the log, and comes of no answer.
	var event schema.Event
	for e, err := range b.Log.Stream(t.Context(), r.Stream(), eventlog.StreamOptions{Types: []string{schema.EntryMaterialized}}) {
		require.NoError(t, err)
		if e.BuildID == id && strings.Contains(string(e.Payload), `"entry_type":"decision"`) {
			event = e
		}
	}
	require.NotEmpty(t, event.ID)
	require.NoError(t, b.ClickHouse.Exec(t.Context(), "INSERT INTO events_raw SELECT * REPLACE (? AS payload_json, ? AS checksum, precedence + 1 AS precedence) FROM events_raw FINAL WHERE event_id = ?",
		strings.Replace(string(event.Payload), `"title":"`, `"title":"x`, 1),
		schema.HashText(strings.Replace(string(event.Payload), `"title":"`, `"title":"x`, 1)), event.ID))
	r = b.replay(t, id)[0]
	i := slices.IndexFunc(r.Differences, func(d build.Difference) bool { return d.In == schema.EntryMaterialized })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, build.Changed, r.Differences[i].What)
	require.Equal(t, []string{"title"}, []string{r.Differences[i].Fields[0].Field})
	require.True(t, strings.HasPrefix(r.Differences[i].Fields[0].Recorded, "x"))
	t.Log("survived: a replay sees changed rows and events")
}

// aside answers requests for a summary with an error while it is on, and leaves the others to the model.
type aside struct {
	*model
	on atomic.Bool
}

func newAside(t *testing.T) *aside {
	t.Helper()
	a := &aside{model: &model{}}
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	a.url = server.URL + "/v1"
	return a
}

func (a *aside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if a.on.Load() && !bytes.Contains(body, []byte(`messageIndex`)) {
		http.Error(w, `{"error":{"message":"no key","code":"invalid_api_key"}}`, http.StatusUnauthorized)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	a.model.ServeHTTP(w, r)
}

// replayAnswers replays the build that failed, and so many others.
func replayAnswers(t *testing.T, others int) {
	t.Helper()
	m := newAside(t)
	b := m.use(newBench(t))
	b.start(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "s.jsonl")
	in := b.input("asked", troubled(t, path, "tabs"))
	require.Equal(t, schema.BuildPartial, b.process(t, in).Status)
	m.get(true)
	grown, err := os.ReadFile(path)
	require.NoError(t, err)
	write(t, path, strings.TrimSpace(string(grown)), said(4, "user", "We decided to use Go for 도구."))
	b.process(t, in)
	m.on.Store(true)
	failing := b.input("failed", troubled(t, filepath.Join(dir, "f.jsonl"), "spaces"))
	_, err = b.try(t.Context(), failing)
	require.ErrorContains(t, err, "no key")
	m.on.Store(false)
	require.Equal(t, schema.BuildSuccess, b.process(t, failing).Status)
	// One session lends its proof to another one, which only found the statement.
	b.process(t, b.input("again", write(t, filepath.Join(dir, "g.jsonl"), said(1, "user", "We decided to use ClickHouse for tabs."))))

	ids, calls := b.buildIDs(t), m.requests()
	require.Len(t, ids, 5)
	sample, answers := some(t, ids, others, ids[2]), 0
	for _, r := range b.requireSame(t, sample...) {
		answers += r.Answers
		if r.BuildID == ids[2] {
			require.Equal(t, schema.BuildFailed, r.Status)
			require.Equal(t, schema.StepMemory, r.FailedStep)
			require.Positive(t, r.Rows)
		}
		t.Logf("survived: replay of build %s", r.BuildID)
	}
	require.GreaterOrEqual(t, answers, len(sample))
	require.Equal(t, calls, m.requests(), "no model is asked")

	// An answer that is not there is missed.
	keys := column(t, b.ClickHouse, "SELECT stream FROM events WHERE event_type = 'model_responded' AND build_id = ?", ids[2])
	require.NotEmpty(t, keys)
	for _, key := range keys {
		require.NoError(t, b.ClickHouse.Exec(t.Context(), "INSERT INTO events_raw SELECT * REPLACE (toUInt64(18446744073709551615) AS precedence) FROM events_raw WHERE stream = ?", key))
	}
	_, err = build.Replay(t.Context(), b.ClickHouse, ids[2])
	require.ErrorContains(t, err, "the log holds none with the recorded key")
	left, err := clickhouse.Scratches(t.Context(), b.ClickHouse)
	require.NoError(t, err)
	require.Empty(t, left, "the database is dropped after an error, too")
}

// A build that asked with another version of the prompt is read with today's reader. The differences are reported.
func testReplayOlderPrompt(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.get(true)
	b := m.use(newBench(t))
	b.start(t)
	in := b.input("s", write(t, filepath.Join(t.TempDir(), "s.jsonl"), said(1, "user", decision)))
	b.process(t, in)
	id := b.buildIDs(t)[0]
	old := b.forge(t, in.Key(), id)
	r := b.replay(t, old)[0]
	require.Contains(t, strings.Join(r.Notes, "\n"), "the build asked with prompt v0 (0)")
	require.Empty(t, r.Differences)
}

// forge writes the build again as one that an older program made, by an extractor with another prompt, and returns its id.
func (b *bench) forge(t *testing.T, key schema.SessionKey, id string) string {
	t.Helper()
	forged := build.ID(key, 2)
	by := llm.ExtractorOf(llm.ModelIdentity{Provider: llm.ProviderOpenAI, Model: "test-model"})
	by.PromptVersion, by.PromptHash = "v0", "0"
	ids := map[string]string{}
	for e, err := range b.Log.Stream(t.Context(), key.Stream(), eventlog.StreamOptions{}) {
		require.NoError(t, err)
		var payload any
		switch e.Type {
		case schema.BuildStarted:
			p, err := schema.Decode[schema.BuildStartedPayload](e)
			require.NoError(t, err)
			p.BuildID, p.Ordinal, p.Spec.Extractor = forged, 2, by
			e.DedupeKey, payload = schema.BuildStartedKey(forged), p
		case schema.MemoryExtracted:
			p, err := schema.Decode[schema.MemoryExtractedPayload](e)
			require.NoError(t, err)
			p.Extractor = by
			was := e.ID
			e.DedupeKey, payload = schema.MemoryExtractedKey(key, by.ID(), p.Window), p
			ids[was] = schema.EventID(e.DedupeKey)
		case schema.EvidenceAligned:
			p, err := schema.Decode[schema.EvidenceAlignedPayload](e)
			require.NoError(t, err)
			p.ExtractedEventID = ids[p.ExtractedEventID]
			e.DedupeKey, payload = schema.EvidenceAlignedKey(p.ExtractedEventID, p.Rule), p
		case schema.BuildFinished:
			p, err := schema.Decode[schema.BuildFinishedPayload](e)
			require.NoError(t, err)
			p.BuildID, p.ExtractorID, p.Counts.NewEntries, p.Counts.PromotedEntries = forged, by.ID(), 0, 0
			e.DedupeKey, payload = schema.BuildFinishedKey(forged), p
		default:
			continue
		}
		raw, err := json.Marshal(payload)
		require.NoError(t, err)
		_, err = b.Log.Append(t.Context(), key.Stream(), []schema.Event{{
			Type: e.Type, TS: e.TS, Actor: e.Actor, SessionID: e.SessionID, Project: e.Project, BuildID: forged, DedupeKey: e.DedupeKey, Payload: raw,
		}})
		require.NoError(t, err)
		if e.Type == schema.BuildFinished {
			break
		}
	}
	_, err := b.Log.Project(t.Context(), build.NewProjector(b.ClickHouse), key.Stream())
	require.NoError(t, err)
	return forged
}

// A build that runs has nothing to compare with.
func TestReplayUnfinished(t *testing.T) {
	t.Parallel()
	m := newModel(t)
	m.well, m.held = true, make(chan struct{})
	b := m.use(newBench(t))
	b.start(t)
	run, err := b.submit(t.Context(), b.input("running", troubled(t, filepath.Join(t.TempDir(), "s.jsonl"), "it")))
	require.NoError(t, err)
	eventually(t, func() bool { return m.calls() > 0 && len(b.buildIDs(t)) > 0 })
	_, err = build.Replay(t.Context(), b.ClickHouse, b.buildIDs(t)[0])
	require.ErrorIs(t, err, build.ErrUnfinished)
	require.ErrorContains(t, err, fmt.Sprintf("starter builds retry %s", b.buildIDs(t)[0]))
	close(m.held)
	require.NoError(t, run.Get(t.Context(), nil))
}
