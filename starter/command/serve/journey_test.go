package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/program"
	"axiommind/starter/command/serve"
)

// hard is a name of all alphabets and signs.
const hard = `세션/1 'a' "b" \ %2F ?x=1&y #z 🎉 ..`

// Every endpoint does what its command does, and answers as the description has it.
func TestServeJourney(t *testing.T) {
	t.Parallel()
	testServeJourney(t, false)
}

// testServeJourney asks every endpoint. Without an eraser the worker refuses to erase.
func testServeJourney(t *testing.T, eraser bool) {
	c := commandtest.NewCLI(t)
	flags := []string{"--memory-root", t.TempDir()}
	if eraser {
		flags = append(flags, "--eraser-dsn", c.Config(t).ClickHouseDSN)
	}
	c.Work(t, flags...)
	a := start(c, t, "--project", c.Project)
	asked := map[string]bool{}
	a.asked = asked
	conflict := c.Contradiction(t)

	rememberSession(t, a, c)
	reviseFacts(t, a)
	reviseTasks(t, a)
	reviseMemory(t, a)
	reviseTruth(t, a, c, conflict.ID)
	repeatBuilds(t, a)
	forgetSession(t, a, eraser)

	all := start(c, t, "--all")
	all.asked = asked
	all.get("/v1/batches", nil, nil)
	all.do(http.MethodPost, "/v1/graduate", nil, map[string]any{"project": c.Project})
	keepSchedules(t, all)
	operations, _, err := serve.Describe(&command.App{Groups: program.Groups()})
	require.NoError(t, err)
	for _, o := range operations {
		require.True(t, asked[o.Method+" "+o.Path], "%s %s was not asked", o.Method, o.Path)
	}
}

// rememberSession enqueues a session, and reads its memories.
func rememberSession(t *testing.T, a *api, c *commandtest.CLI) {
	t.Helper()
	messages := []map[string]any{
		{"role": "user", "content": "I prefer short pages, please always add an example."},
		{"role": "assistant", "content": "TODO: write the page on retries.\nThe release is blocked by the legal review.\nTODO: check the figures."},
		{"role": "assistant", "content": "Done: check the figures."},
	}
	given := map[string]any{"session": hard, "messages": messages, "now": true}
	first := a.do(http.MethodPost, "/v1/sessions", nil, given, "Idempotency-Key", "k")
	again := a.do(http.MethodPost, "/v1/sessions", nil, given, "Idempotency-Key", "k")
	id := func(of map[string]any) any { return of["sessions"].([]any)[0].(map[string]any)["id"] }
	require.Equal(t, id(first), id(again), "two equal requests with one key are one")
	other := a.do(http.MethodPost, "/v1/sessions", nil, map[string]any{"session": "another", "messages": []map[string]any{{"role": "user", "content": "We decided to write the pages in Markdown."}}}, "Idempotency-Key", "k")
	require.NotEqual(t, id(first), id(other), "another request is not the same for its key")
	a.get("/v1/queue", nil, nil)
	a.do(http.MethodPost, "/v1/queue/flush", nil, nil)
	commandtest.Eventually(t, func() bool {
		return a.ask(http.MethodGet, "/v1/sessions/{session}", []string{hard}, nil).Status == http.StatusOK
	})
	commandtest.Eventually(t, func() bool { return len(items(t, a.get("/v1/sessions", nil, nil))) == 4 })
	require.Zero(t, c.Run("reconcile").Code)

	read := items(t, a.get("/v1/sessions/{session}/messages", []string{hard}, map[string]any{"proven": true}))
	require.NotEmpty(t, read)
	require.Equal(t, messages[0]["content"], read[0]["text"])
	require.NotEmpty(t, read[0]["memories"])
	require.Len(t, items(t, a.get("/v1/days", nil, nil)), 1)

	found := a.get("/v1/search", nil, map[string]any{"query": "short pages", "type": []string{"fact", "decision"}, "limit": 1})
	hits := found["hits"].([]any)
	require.Len(t, hits, 1)
	hit := hits[0].(map[string]any)
	shown := a.get("/v1/entries/{entry}", []string{hit["entry_id"].(string)}, nil)
	proof := shown["proofs"].([]any)[0].(map[string]any)
	require.Equal(t, true, proof["holds"])
	require.Contains(t, messages[0]["content"], proof["text"])
	require.Contains(t, a.get("/v1/context", nil, nil)["text"], "short pages")
	require.NotEmpty(t, items(t, a.get("/v1/measures", nil, nil)))
	require.Zero(t, a.get("/v1/verify", nil, nil)["false"])
	commandtest.Eventually(t, func() bool { return a.ask(http.MethodGet, "/v1/health", nil, nil).Status == http.StatusOK })
	a.get("/v1/embedder", nil, nil)
}

func reviseFacts(t *testing.T, a *api) {
	t.Helper()
	add := map[string]any{"content": "The office is in " + hard, "confidence": 0.9, "category": "context"}
	fact := a.do(http.MethodPost, "/v1/facts", nil, add, "Idempotency-Key", hard)
	require.Equal(t, fact["fact_id"], a.do(http.MethodPost, "/v1/facts", nil, add, "Idempotency-Key", hard)["fact_id"])
	ids := []string{fact["fact_id"].(string)}
	listed := items(t, a.get("/v1/facts", nil, map[string]any{"category": "context"}))
	require.Len(t, listed, 1, "it was added once")
	require.Equal(t, add["content"], listed[0]["content"])

	one := a.get("/v1/facts", nil, map[string]any{"limit": 1})
	two := a.get("/v1/facts", nil, map[string]any{"limit": 1, "cursor": one["next"]})
	require.NotEqual(t, one["items"], two["items"])
	require.Nil(t, two["next"], "the last page has no next")

	stale := a.ask(http.MethodPatch, "/v1/facts/{fact}", ids, map[string]any{"content": "Nothing.", "expect_version": 1000})
	require.Contains(t, a.refused(http.StatusConflict, stale).Next, "read the item again")
	a.do(http.MethodPatch, "/v1/facts/{fact}", ids, map[string]any{"content": "The office is in Porto."}, "Axiommind-Actor", "ann 한 \u202e")
	require.Contains(t, a.get("/v1/facts/{fact}", ids, nil)["content"], "Porto")
	changes := items(t, a.get("/v1/facts/{fact}/changes", ids, nil))
	require.Len(t, changes, 2)
	require.Contains(t, changes[0]["actor"], "api:ann", "who asked is in the history")
	a.do(http.MethodDelete, "/v1/facts/{fact}", ids, nil)
	require.NotEmpty(t, items(t, a.get("/v1/fact-changes", nil, nil)))

	a.do(http.MethodPut, "/v1/profile/{section}", []string{"work"}, map[string]any{"text": "Builds the payment service."})
	require.Len(t, a.get("/v1/profile", nil, nil)["sections"], 1)
	a.do(http.MethodDelete, "/v1/profile/{section}", []string{"work"}, nil)
}

func reviseTasks(t *testing.T, a *api) {
	t.Helper()
	blocked := items(t, a.get("/v1/blocked-tasks", nil, nil))
	require.Len(t, blocked, 1)
	condition := blocked[0]["blockers"].([]any)[0].(map[string]any)["entity_id"].(string)
	var page, figures string
	for _, view := range items(t, a.get("/v1/tasks", nil, nil)) {
		switch task := view["task"].(map[string]any); task["title"] {
		case "write the page on retries":
			page = task["entity_id"].(string)
		case "check the figures":
			figures = task["entity_id"].(string)
		}
	}
	a.do(http.MethodPost, "/v1/conditions/{condition}/resolve", []string{condition}, map[string]any{"target": page})
	require.Len(t, items(t, a.get("/v1/conditions", nil, nil)), 1)
	a.do(http.MethodPatch, "/v1/tasks/{task}", []string{page}, map[string]any{"priority": "high", "block": []string{"https://example.org/1", "a, b"}})
	task := a.get("/v1/tasks/{task}", []string{page}, nil)
	require.Equal(t, "high", task["task"].(map[string]any)["priority"])
	titles := map[string]string{}
	for _, b := range task["blockers"].([]any) {
		blocker := b.(map[string]any)
		titles[blocker["title"].(string)] = blocker["entity_id"].(string)
	}
	require.Contains(t, titles, "a, b", "a comma does not part a value")
	a.do(http.MethodPost, "/v1/artifacts/{artifact}/close", []string{titles["https://example.org/1"]}, nil)
	a.do(http.MethodPost, "/v1/tasks/{task}/confirm", []string{figures}, map[string]any{"reason": "it is done"})
	a.do(http.MethodPost, "/v1/tasks/{task}/merge", []string{figures}, map[string]any{"into": page})
}

func reviseMemory(t *testing.T, a *api) {
	t.Helper()
	a.refused(http.StatusNotFound, a.ask(http.MethodGet, "/v1/memory", nil, nil))
	require.Equal(t, string(schema.DreamCommitted), a.do(http.MethodPost, "/v1/dreams", nil, nil)["result"].(map[string]any)["status"])
	require.Len(t, items(t, a.get("/v1/dreams", nil, nil)), 1)
	a.get("/v1/dreams/{dream}", []string{"1"}, nil)
	a.refused(http.StatusNotFound, a.ask(http.MethodGet, "/v1/dreams/{dream}", []string{"9"}, nil))
	require.Contains(t, a.get("/v1/memory", nil, nil)["text"], "short pages")
	a.get("/v1/memory/sources", nil, map[string]any{"version": 1})
	require.Len(t, items(t, a.get("/v1/memory/versions", nil, nil)), 1)
	require.Contains(t, a.get("/v1/memory/diff", nil, map[string]any{"from": 0, "to": 1})["diff"], "short pages")
	require.Contains(t, a.refused(http.StatusBadRequest, a.ask(http.MethodGet, "/v1/memory/diff", nil, map[string]any{"to": 1})).Detail, "from is missing")
	a.do(http.MethodPost, "/v1/memory/versions/{version}/restore", []string{"1"}, nil)
}

func reviseTruth(t *testing.T, a *api, c *commandtest.CLI, conflict string) {
	t.Helper()
	require.Len(t, items(t, a.get("/v1/conflicts", nil, nil)), 1)
	ids := []string{conflict}
	newer := a.get("/v1/conflicts/{conflict}", ids, nil)["newer"].(map[string]any)["entry_id"].(string)
	a.do(http.MethodPost, "/v1/conflicts/{conflict}/resolve", ids, map[string]any{"keep": newer, "because": "measured again"})
	p := a.refused(http.StatusConflict, a.ask(http.MethodPost, "/v1/conflicts/{conflict}/resolve", ids, map[string]any{"keep": newer}))
	require.Contains(t, p.Detail, "resolved")

	row, other := c.EntryOf(t, "I prefer short pages, please always add an example."), c.EntryOf(t, "We decided to write the pages in Markdown.")
	a.do(http.MethodPost, "/v1/proposals/{proposal}/reject", []string{c.Propose(t, row, schema.ChangeRetire, "", "it was a joke")}, nil)
	a.do(http.MethodPost, "/v1/proposals/{proposal}/accept", []string{c.Propose(t, other, schema.ChangeRetire, "", "it was a joke")}, nil)
	require.Len(t, items(t, a.get("/v1/proposals", nil, map[string]any{"all": true})), 2)
	a.do(http.MethodPost, "/v1/entries/{entry}/restore", []string{other.ID}, nil)
	entry := []string{row.ID}
	a.do(http.MethodPost, "/v1/entries/{entry}/confirm", entry, nil)
	decision := a.do(http.MethodPost, "/v1/decisions", nil, map[string]any{"decision": "Write " + hard, "because_of": []string{newer}})
	require.NotEmpty(t, decision["changes"])
	var recorded string
	for _, d := range items(t, a.get("/v1/decisions", nil, nil)) {
		if strings.Contains(d["action"].(string), hard) {
			recorded = d["decision_id"].(string)
		}
	}
	a.get("/v1/decisions/{decision}", []string{recorded}, nil)
	a.do(http.MethodPost, "/v1/entries/{entry}/correct", entry, map[string]any{"with": "I prefer long pages, please always add an example."})
	a.do(http.MethodPost, "/v1/entries/{entry}/retire", []string{newer}, map[string]any{"because": "the service was switched off"})
}

func repeatBuilds(t *testing.T, a *api) {
	t.Helper()
	builds := items(t, a.get("/v1/builds", nil, map[string]any{"session": "another"}))
	id := []string{builds[0]["build_id"].(string)}
	require.NotEmpty(t, a.get("/v1/builds/{build}", id, nil)["metrics"])
	require.Empty(t, a.do(http.MethodPost, "/v1/builds/{build}/replay", id, nil)["differences"])
	a.get("/v1/builds/{build}/diff/{other}", []string{id[0], id[0]}, nil)
	require.NotEmpty(t, items(t, a.get("/v1/steps", nil, nil)))
	p := a.refused(http.StatusBadRequest, a.ask(http.MethodPost, "/v1/builds/{build}/retry", id, map[string]any{}))
	require.Contains(t, p.Detail+p.Next, "success", "a build that succeeded is not tried again")
}

func forgetSession(t *testing.T, a *api, eraser bool) {
	t.Helper()
	p := a.refused(http.StatusForbidden, a.ask(http.MethodPost, "/v1/forget", nil, map[string]any{"because": "all of it"}))
	require.Contains(t, p.Next, "all", "a server of one scope erases no whole user")
	target := map[string]any{"session": hard}
	require.NotEmpty(t, a.do(http.MethodPost, "/v1/forget/preview", nil, target)["erased_sessions"])
	if !eraser {
		a.refused(http.StatusInternalServerError, a.ask(http.MethodPost, "/v1/forget", nil, target))
		return
	}
	a.do(http.MethodPost, "/v1/forget", nil, target)
	a.refused(http.StatusNotFound, a.ask(http.MethodGet, "/v1/sessions/{session}", []string{hard}, nil))
}

func keepSchedules(t *testing.T, a *api) {
	t.Helper()
	a.get("/v1/forget", nil, nil)
	id := []string{a.do(http.MethodPut, "/v1/schedules", nil, map[string]any{"user": "nobody", "paused": true})["id"].(string)}
	require.Len(t, items(t, a.get("/v1/schedules", nil, nil)), 1)
	a.do(http.MethodPost, "/v1/schedules/{schedule}/resume", id, nil)
	a.do(http.MethodPost, "/v1/schedules/{schedule}/trigger", id, nil)
	a.do(http.MethodPost, "/v1/schedules/{schedule}/pause", id, map[string]any{"note": hard})
	require.Contains(t, a.get("/v1/schedules/{schedule}", id, nil)["note"], "세션")
	a.do(http.MethodDelete, "/v1/schedules/{schedule}", id, nil)
	a.refused(http.StatusNotFound, a.ask(http.MethodGet, "/v1/schedules/{schedule}", id, nil))
}
