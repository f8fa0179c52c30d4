package build_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/build"
	"axiommind/activities/eventlog"
	"axiommind/activities/projection"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

// past is a build of a session, in the log and in the table.
type past struct {
	status    schema.BuildStatus
	extractor schema.Extractor
}

func TestBackfillChooses(t *testing.T) {
	t.Parallel()
	backfillChooses(t, 3, 200)
}

// A session is chosen if its latest completed build has another extractor, in any part of its identity, and if it is not
// older than asked for. It is chosen with the tools that were used last, and once, whatever the page holds.
func backfillChooses(t *testing.T, pages ...int) {
	t.Helper()
	conn := stacktest.Migrated(t)
	log := projection.New(conn, eventlog.Options{})
	now := schema.Extractor{Provider: "p", Model: "m", PromptVersion: "v2", PromptHash: "h2", SchemaVersion: "1"}
	with := func(change func(*schema.Extractor)) schema.Extractor {
		x := now
		change(&x)
		return x
	}
	old := with(func(x *schema.Extractor) { x.Model = "old" })
	oldTools := with(func(x *schema.Extractor) { x.Model, x.Tools = "old", true })
	tools := with(func(x *schema.Extractor) { x.Tools = true })
	date := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	sessions := []struct {
		id    string
		past  []past
		taken bool
	}{
		{"a/%'\n\\", []past{{schema.BuildSuccess, old}}, true},
		{"b", []past{{schema.BuildSuccess, old}, {schema.BuildSuccess, now}}, false},
		{"c 여자", []past{{schema.BuildSuccess, now}, {schema.BuildPartial, old}}, true},
		{"d", []past{{schema.BuildEmpty, with(func(x *schema.Extractor) { x.PromptHash = "h1" })}}, true},
		{"e", []past{{schema.BuildSuccess, with(func(x *schema.Extractor) { x.PromptVersion = "v1" })}}, true},
		{"f", []past{{schema.BuildSuccess, with(func(x *schema.Extractor) { x.SchemaVersion = "0" })}}, true},
		{"g", []past{{schema.BuildSuccess, with(func(x *schema.Extractor) { x.Provider = "q" })}}, true},
		{"h", []past{{schema.BuildFailed, old}}, false},
		{"i", []past{{schema.BuildSuccess, old}, {schema.BuildFailed, now}}, true},
		{"j", []past{{schema.BuildPartial, now}}, false},
		{"k", []past{{schema.BuildSuccess, tools}}, false},
		{"l", []past{{schema.BuildSuccess, oldTools}}, true},
		{"m", []past{{schema.BuildSuccess, old}, {schema.BuildRunning, now}}, true},
	}
	var want []string
	for n, s := range sessions {
		key := schema.SessionKey{Scope: schema.Scope{Project: "p'/한", User: "u"}, SessionID: s.id}
		at := date.AddDate(0, 0, n)
		ingested, err := schema.NewEvent(schema.SessionIngestedPayload{SessionKey: key, Date: at}, schema.Event{
			TS: at, Actor: "t", SessionID: key.SessionID, Project: key.Project, DedupeKey: schema.SessionIngestedKey(key, nil),
		})
		require.NoError(t, err)
		events := []schema.Event{ingested}
		for i, p := range s.past {
			opened := build.Opened{BuildID: build.ID(key, i+1), Ordinal: i + 1, SessionKey: key, Spec: schema.BuildSpec{Extractor: p.extractor}}
			started, err := opened.Started(schema.Source{}).Event(time.Now())
			require.NoError(t, err)
			events = append(events, started)
			if p.status == schema.BuildRunning {
				continue
			}
			finished, err := schema.BuildFinishedPayload{
				BuildID: opened.BuildID, SessionID: key.SessionID, Status: p.status, ExtractorID: p.extractor.ID(),
			}.Event(key.Project, time.Now())
			require.NoError(t, err)
			events = append(events, finished)
		}
		_, err = log.Append(t.Context(), key.Stream(), events)
		require.NoError(t, err)
		if s.taken {
			want = append(want, s.id)
		}
	}
	_, err := log.ProjectAll(t.Context(), build.NewProjector(conn))
	require.NoError(t, err)
	choose := func(page int, after string, by schema.BackfillSessionsInput) (out []build.Backfilled) {
		b := build.BackfillOfPages(build.Backfill{Conn: conn, Log: log.Store, By: by, Extractor: now}, page)
		for s, err := range b.Each(t.Context(), after) {
			require.NoError(t, err)
			out = append(out, s)
		}
		return out
	}
	ids := func(all []build.Backfilled) (out []string) {
		for _, s := range all {
			out = append(out, s.SessionID)
		}
		return out
	}
	for _, page := range pages {
		all := choose(page, "", schema.BackfillSessionsInput{})
		require.Equal(t, want, ids(all), fmt.Sprint("pages of ", page))
		for i, s := range all {
			require.Equal(t, want[i+1:], append([]string{}, ids(choose(page, s.Cursor, schema.BackfillSessionsInput{}))...), "after the cursor")
			in := s.Item().Input
			require.Equal(t, schema.ProcessSessionInput{
				Project: "p'/한", User: "u", SessionID: s.SessionID, FromLog: true, IncludeTools: s.SessionID == "l",
			}, in)
		}
	}
	require.Equal(t, []string{"i", "l", "m"}, ids(choose(2, "", schema.BackfillSessionsInput{Since: date.AddDate(0, 0, 7)})))
	require.Empty(t, choose(2, "", schema.BackfillSessionsInput{Project: "p"}))
	require.Empty(t, choose(2, "", schema.BackfillSessionsInput{User: "other"}))
}
