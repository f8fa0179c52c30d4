package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/table"
	"axiommind/activities/task"
	"axiommind/schema"
)

// idCommands are the additional arguments of each command that takes an id. Add new commands here.
var idCommands = map[string][]string{
	"entry show":        nil,
	"entry confirm":     nil,
	"entry correct":     {"--with", "We decided to draw a new logo."},
	"entry retire":      {"--because", "it is over"},
	"entry restore":     nil,
	"conflicts show":    nil,
	"conflicts resolve": {"--keep", "both"},
	"proposals accept":  nil,
	"proposals reject":  nil,
	"decisions show":    nil,
	"task show":         nil,
	"task set":          {"--priority", "high"},
	"task confirm":      nil,
	"task merge":        nil,
	"condition resolve": nil,
	"artifact close":    nil,
	"builds show":       nil,
	"builds replay":     nil,
	"builds diff":       nil,
}

// Each command takes an id as lists print it, and reports short, unknown and ambiguous ids in the same way. Ids of schedules
// consist of names: see TestScheduleOfOneMemory. Facts belong to a user instead of a project: see TestFacts. A successful
// build can't be retried.
func testIDsByPrefix(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	c.declareTwins(t)
	mine := *c
	mine.project += "-made"
	idsOf := mine.idsOf(t)
	for _, each := range all() {
		word := argument(each, 0)
		if !isID(word) || word == "SCHEDULE" || word == "FACT" || path(each) == "builds retry" {
			require.NotContains(t, idCommands, path(each))
			continue
		}
		extra, known := idCommands[path(each)]
		require.True(t, known, "%s takes an id: add it to idCommands", path(each))
		t.Run(path(each), func(t *testing.T) {
			call := func(project string, ids ...string) output {
				args := append(append(strings.Fields(path(each)), ids...), extra...)
				if !strings.HasPrefix(path(each), "builds ") {
					args = append(args, "--project", project)
				}
				return mine.run(args...)
			}
			ids := idsOf(t, path(each))
			others := []string{}
			for i := 1; i < len(arguments(each)); i++ {
				others = append(others, ids[argument(each, i)])
			}
			for given, says := range map[string]string{
				"abc":      `"abc"`,
				"0000ffff": `"0000ffff"`,
			} {
				o := call(mine.project, append([]string{given}, others...)...)
				require.Equal(t, exitUsage, o.code, o)
				require.Contains(t, o.err, says)
				require.Contains(t, o.err, fmt.Sprintf("give an id, the first %d or more characters of one", table.MinPrefix))
			}
			if path(each) == "entry restore" {
				o := mine.run("entry", "retire", ids["ENTRY"], "--because", "it is over", "--project", mine.project)
				require.Zero(t, o.code, o)
			}
			twins := call(c.project, append([]string{"ABCDabcd"}, others...)...)
			require.Equal(t, exitUsage, twins.code, twins)
			require.Contains(t, twins.err, "ambiguous: ")
			require.Contains(t, twins.err, "begin with it: give more of the id")
			whole := call(mine.project, append([]string{short(ids[argument(each, 0)])}, others...)...)
			require.Zero(t, whole.code, whole)
		})
	}
}

// changed are the decisions that commands change, one for each command.
var changed = map[string]string{
	"entry show":       "We decided to keep the old logo.",
	"entry confirm":    "We decided to pay invoices within ten days.",
	"entry correct":    "We decided to rent a larger office.",
	"entry retire":     "We decided to ship on Fridays only.",
	"entry restore":    "We decided to write the parser by hand.",
	"proposals accept": "We decided to call the gateway Otter.",
	"proposals reject": "We decided to feed the cat at noon.",
}

// idsOf creates one item of each kind with an id in the project. It returns a function that returns the items that a command
// may change, by the words of arguments.
func (c *cli) idsOf(t *testing.T) func(t *testing.T, command string) map[string]string {
	t.Helper()
	text := said(1, "assistant", "TODO: write the report.\nTODO: draw the map.\nThe release is blocked by PROJ-7.\nThe migration is blocked by the legal review.")
	for i, command := range slices.Sorted(maps.Keys(changed)) {
		text += said(2+i, "user", changed[command])
	}
	require.Zero(t, c.process(write(t, "one.jsonl", text), "--session", "one-"+c.project).code)
	two := write(t, "two.jsonl", said(1, "assistant", "Done: write the report."))
	require.Zero(t, c.process(two, "--session", "two-"+c.project).code)
	builds := decode[[]struct {
		ID string `json:"build_id"`
	}](t, c.run("builds", "list", "--project", c.project, "-o", "json"))
	conn, _ := c.logOf(t)
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.InProject(c.project), entry.Whole)
	require.NoError(t, err)
	entries := map[string]entry.Row{}
	for _, row := range rows {
		entries[row.Title] = row
	}
	tasks := map[string]task.View{}
	for _, v := range decode[[]task.View](t, c.run("tasks", "--project", c.project, "-o", "json")) {
		tasks[v.Task.Title] = v
	}
	release := tasks["The release"]
	conflict, decision := c.ledgersOf(t)
	return func(t *testing.T, name string) map[string]string {
		t.Helper()
		ids := map[string]string{
			"TASK": tasks["write the report"].Task.ID, "INTO": short(release.Task.ID), "TARGET": short(release.Task.ID),
			"CONDITION": tasks["The migration"].Blockers[0].ID, "ARTIFACT": release.Blockers[0].ID, "ENTRY": entries[changed[name]].ID,
			"BUILD": builds[0].ID, "OTHER": builds[0].ID, "CONFLICT": conflict, "DECISION": decision,
		}
		switch name {
		case "task merge":
			ids["TASK"] = tasks["draw the map"].Task.ID
		case "proposals accept", "proposals reject":
			ids["PROPOSAL"] = c.propose(t, entries[changed[name]], schema.ChangeRetire, "", "it is over")
		}
		return ids
	}
}

// ledgersOf creates a conflict and a decision in the project, and returns their ids.
func (c *cli) ledgersOf(t *testing.T) (conflict, decision string) {
	t.Helper()
	conflict = c.contradiction(t).ID
	o := c.process(write(t, "s.jsonl", said(1, "user", "We decided to keep the blue theme.")), "--session", "theme-of-"+c.project)
	require.Zero(t, o.code, o)
	o = c.run("decisions", "record", "Keep it", "--because-of", c.entryOf(t, "We decided to keep the blue theme.").ID, "--project", c.project)
	require.Zero(t, o.code, o)
	decisions := decode[[]graduate.Decision](t, c.run("decisions", "--project", c.project, "-o", "json"))
	require.NotEmpty(t, decisions)
	return conflict, decisions[0].ID
}

// declareTwins stores two items of each kind with a common beginning of their ids.
func (c *cli) declareTwins(t *testing.T) {
	t.Helper()
	conn, err := eventlog.Connect(t.Context(), c.config(t).ClickHouseDSN, eventlog.ConnectOptions{})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var entries, builds, entities, conflicts, decisions [][]any
	for i := range 2 {
		id := fmt.Sprintf("abcdabcd-%d", i)
		entries = append(entries, []any{id, c.project, "twin", "{}", "[]", at, uint64(1)})
		builds = append(builds, []any{id, c.project, "{}", at})
		conflicts = append(conflicts, []any{id, c.project, at, uint64(1)})
		decisions = append(decisions, []any{id, c.project, at, uint64(1)})
		for _, entity := range []string{"task", "condition", "artifact"} {
			entities = append(entities, []any{id + entity, entity, c.project, "{}", at, uint64(1)})
		}
	}
	require.NoError(t, table.Insert(t.Context(), conn, "entries_raw (entry_id, project, title, content_json, evidence_json, created_ts, version)", entries))
	require.NoError(t, table.Insert(t.Context(), conn, "build_runs_raw (build_id, project, source_json, started_at)", builds))
	require.NoError(t, table.Insert(t.Context(), conn, "conflicts_raw (conflict_id, project, detected_at, version)", conflicts))
	require.NoError(t, table.Insert(t.Context(), conn, "decisions_raw (decision_id, project, ts, version)", decisions))
	twinProposals(t, eventlog.New(conn, eventlog.Options{}), c.project, "abcdabcd-0", "abcdabcd-1")
	require.NoError(t, table.Insert(t.Context(), conn, "entities_raw (entity_id, entity_type, project, current_json, updated_at, version)", entities))
}

// A session is found by the beginning of its id and by its printed form, in every filter.
func testSessionsByPrefix(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	path := write(t, "s.jsonl", said(1, "user", decision))
	long := c.project + " 세션 " + strings.Repeat("long ", 10)
	ids := []string{long + "one", long + "two\u202e end", "other-" + c.project, "other-" + c.project + "-b"}
	for _, id := range ids {
		o := c.process(path, "--session", id)
		require.Zero(t, o.code, o)
	}
	printed := shownSession(long)
	require.True(t, strings.HasSuffix(printed, "…"))
	for _, name := range []string{"builds list", "verify", "realign", "search log"} {
		call := func(session string) output {
			return c.run(append(strings.Fields(name), "--project", c.project, "--session", session)...)
		}
		for _, one := range []string{ids[1], long + "tw", ids[2], ids[2] + "-"} {
			o := call(one)
			require.Zero(t, o.code, "%s %q: %s", name, one, o)
			require.NotContains(t, o.out, "nothing found")
		}
		for _, several := range []string{printed, "othe"} {
			o := call(several)
			require.Equal(t, exitUsage, o.code, o)
			require.Contains(t, o.err, "ambiguous: ")
			require.Contains(t, o.err, "begin with it: give more of the id")
		}
	}
	listed := c.run("builds", "list", "--project", c.project, "--session", long+"two<U+202E>")
	require.Zero(t, listed.code, listed)
	require.Contains(t, c.run("builds", "list", "--session", "nobody's").out, "no build of session nobody's")
}
