package recall_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/recall"
)

// When the command returns, a search finds the correction and no longer the corrected entry. Repeating the command changes
// nothing (I1), and a correction without effect is refused.
func TestI1EntryCorrect(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))).Code)
	old := c.FirstHit(t, "event log")
	args := []string{"entry", "correct", old.ID[:10], "--with", "We decided to use Postgres for the \"event log\" 기록.", "--because", "ClickHouse can't lock.", "--project", c.Project, "-o", "json"}
	done := commandtest.Decode[recall.Correction](t, c.Run(args...))
	require.Equal(t, old.ID, done.Corrected.ID)
	require.Equal(t, schema.StatusSuperseded, done.Corrected.Status)
	require.Equal(t, "We decided to use Postgres for the \"event log\" 기록.", done.Correction.Title)
	require.True(t, strings.HasPrefix(done.SessionID, "correction-"))
	require.Equal(t, done.Correction.ID, c.FirstHit(t, "event log").ID)
	shown := commandtest.Decode[entry.Row](t, c.Run("entry", "show", done.Correction.ID, "--project", c.Project, "-o", "json"))
	require.True(t, shown.EvidenceProven)
	require.Equal(t, old.ID, shown.Corrects)
	require.Equal(t, schema.EntryDecision, shown.Type)

	again := commandtest.Decode[recall.Correction](t, c.Run(args...))
	require.Equal(t, done.Correction.ID, again.Correction.ID)
	require.Equal(t, done.SessionID, again.SessionID)

	for reason, args := range map[string][]string{
		"--with is empty":                        {old.ID, "--with", " "},
		"says the same":                          {done.Correction.ID, "--with", "we decided to use Postgres for the 'event log' 기록"},
		"correct \"" + done.Correction.ID + "\"": {old.ID, "--with", "We decided to use SQLite for the event log."},
		"no such entry":                          {"00000000", "--with", "x"},
		"no letter and no digit":                 {done.Correction.ID, "--with", "…"},
	} {
		o := c.Run(append([]string{"entry", "correct", "--project", c.Project}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, o)
		require.Contains(t, o.Err, reason)
	}
	o := c.Run("entry", "correct", done.Correction.ID, "--with", "We decided to use SQLite for the event log.", "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "was believed until now: "+command.ShortID(done.Correction.ID))
	require.Zero(t, c.Run("verify", "--project", c.Project).Code)
}

// A model judges whether whole sentences state an unproven entry, which becomes verified or doubted. It judges each entry
// once. Without a model the error contains advice.
func TestEntryConfirmByModel(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Messages []struct{ Content string } }
		if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Messages) != 2 {
			http.Error(w, "no chat", http.StatusBadRequest)
			return
		}
		text := "None"
		switch prompt := in.Messages[1].Content; {
		case strings.Contains(prompt, `"statement"`):
			asked.Add(1)
			text = `{"entries":[{"id":"e1","states":"yes","reason":"It is said."},{"id":"e2","states":"no","reason":"It is only asked."}]}`
		case strings.Contains(prompt, `"index"`):
			text = `{"entries":[{"entryId":"a","type":"decision","title":"Ship on Friday","evidence":[{"messageIndex":0,"quote":"we ship on Friday"}]},` +
				`{"entryId":"b","type":"fact","category":"context","confidence":0.8,"title":"The roof leaks","evidence":[{"messageIndex":1,"quote":"the roof is leaking"}]}]}`
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]any{"content": text}, "finish_reason": "stop"}},
		})
	}))
	t.Cleanup(server.Close)
	c := commandtest.NewCLI(t)
	c.Work(t, "--model-provider", "openai", "--model", "test-model", "--model-url", server.URL+"/v1", "--model-format", "none")
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "It is settled that we ship on Friday from now on.")+commandtest.Said(2, "user", "Do you know whether the roof is leaking again?")))
	require.Zero(t, o.Code, o)
	confirm := []string{"entry", "confirm", "--by-model", "--project", c.Project, "-o", "json"}
	report := commandtest.Decode[recall.ModelReport](t, c.Run(confirm...))
	require.Equal(t, [3]int{1, 1, 0}, [3]int{report.Confirmed, report.Doubted, report.LeftOut})
	require.Equal(t, "openai/test-model", report.Model)
	require.Equal(t, int64(1), asked.Load(), "one question for all")
	stages := map[string]schema.Stage{}
	for _, e := range report.Entries {
		row := commandtest.Decode[entry.Row](t, c.Run("entry", "show", e.ID, "--project", c.Project, "-o", "json"))
		stages[row.Title] = row.Stage
		require.Equal(t, row.Title == "Ship on Friday", row.EvidenceProven)
	}
	require.Equal(t, schema.StageVerified, stages["Ship on Friday"])
	require.NotContains(t, []schema.Stage{schema.StageVerified, schema.StageCertified}, stages["The roof leaks"])

	again := commandtest.Decode[recall.ModelReport](t, c.Run(confirm...))
	require.Empty(t, again.Entries)
	require.Equal(t, int64(1), asked.Load())
	o = c.Run("entry", "confirm", "--by-model", "--project", c.Project)
	require.Contains(t, o.Out, "there is nothing to ask about")
	o = c.Run("entry", "confirm", "--project", c.Project)
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "name the entries to confirm")
	require.Zero(t, c.Run("verify", "--project", c.Project).Code)
}

// A worker without a model returns an error that explains this.
func TestConfirmByModelWithoutModel(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	require.Zero(t, c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))).Code)
	hit := c.FirstHit(t, "event log")
	o := c.Run("entry", "confirm", hit.ID, "--by-model", "--project", c.Project)
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "no model is configured that can read: this worker has rules/")
}
