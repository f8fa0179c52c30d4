package program_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
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
	c := commandtest.SharedCLI(t)
	declareTwins(c, t)
	mine := *c
	mine.Project += "-made"
	idsOf := idsOf(&mine, t)
	for _, each := range commandtest.Commands() {
		word := command.Argument(each, 0)
		if !command.IsID(word) || word == "SCHEDULE" || word == "FACT" || command.Path(each) == "builds retry" {
			require.NotContains(t, idCommands, command.Path(each))
			continue
		}
		extra, known := idCommands[command.Path(each)]
		require.True(t, known, "%s takes an id: add it to idCommands", command.Path(each))
		t.Run(command.Path(each), func(t *testing.T) {
			call := func(project string, ids ...string) commandtest.Output {
				args := append(append(strings.Fields(command.Path(each)), ids...), extra...)
				if !strings.HasPrefix(command.Path(each), "builds ") {
					args = append(args, "--project", project)
				}
				return mine.Run(args...)
			}
			ids := idsOf(t, command.Path(each))
			others := []string{}
			for i := 1; i < len(command.Arguments(each)); i++ {
				others = append(others, ids[command.Argument(each, i)])
			}
			for given, says := range map[string]string{
				"abc":      `"abc"`,
				"0000ffff": `"0000ffff"`,
			} {
				o := call(mine.Project, append([]string{given}, others...)...)
				require.Equal(t, command.ExitUsage, o.Code, o)
				require.Contains(t, o.Err, says)
				require.Contains(t, o.Err, fmt.Sprintf("give an id, the first %d or more characters of one", clickhouse.MinPrefix))
			}
			if command.Path(each) == "entry restore" {
				o := mine.Run("entry", "retire", ids["ENTRY"], "--because", "it is over", "--project", mine.Project)
				require.Zero(t, o.Code, o)
			}
			twins := call(c.Project, append([]string{"ABCDabcd"}, others...)...)
			require.Equal(t, command.ExitUsage, twins.Code, twins)
			require.Contains(t, twins.Err, "ambiguous: ")
			require.Contains(t, twins.Err, "begin with it: give more of the id")
			whole := call(mine.Project, append([]string{command.ShortID(ids[command.Argument(each, 0)])}, others...)...)
			require.Zero(t, whole.Code, whole)
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
func idsOf(c *commandtest.CLI, t *testing.T) func(t *testing.T, command string) map[string]string {
	t.Helper()
	text := commandtest.Said(1, "assistant", "TODO: write the report.\nTODO: draw the map.\nThe release is blocked by PROJ-7.\nThe migration is blocked by the legal review.")
	for i, command := range slices.Sorted(maps.Keys(changed)) {
		text += commandtest.Said(2+i, "user", changed[command])
	}
	require.Zero(t, c.Process(commandtest.Write(t, "one.jsonl", text), "--session", "one-"+c.Project).Code)
	two := commandtest.Write(t, "two.jsonl", commandtest.Said(1, "assistant", "Done: write the report."))
	require.Zero(t, c.Process(two, "--session", "two-"+c.Project).Code)
	builds := commandtest.Decode[[]struct {
		ID string `json:"build_id"`
	}](t, c.Run("builds", "list", "--project", c.Project, "-o", "json"))
	conn, _ := c.LogOf(t)
	rows, err := entry.NewReader(conn).Read(t.Context(), entry.InProject(c.Project), entry.Whole)
	require.NoError(t, err)
	entries := map[string]entry.Row{}
	for _, row := range rows {
		entries[row.Title] = row
	}
	tasks := map[string]task.View{}
	for _, v := range commandtest.Decode[[]task.View](t, c.Run("tasks", "--project", c.Project, "-o", "json")) {
		tasks[v.Task.Title] = v
	}
	release := tasks["The release"]
	conflict, decision := ledgersOf(c, t)
	return func(t *testing.T, name string) map[string]string {
		t.Helper()
		ids := map[string]string{
			"TASK": tasks["write the report"].Task.ID, "INTO": command.ShortID(release.Task.ID), "TARGET": command.ShortID(release.Task.ID),
			"CONDITION": tasks["The migration"].Blockers[0].ID, "ARTIFACT": release.Blockers[0].ID, "ENTRY": entries[changed[name]].ID,
			"BUILD": builds[0].ID, "OTHER": builds[0].ID, "CONFLICT": conflict, "DECISION": decision,
		}
		switch name {
		case "task merge":
			ids["TASK"] = tasks["draw the map"].Task.ID
		case "proposals accept", "proposals reject":
			ids["PROPOSAL"] = c.Propose(t, entries[changed[name]], schema.ChangeRetire, "", "it is over")
		}
		return ids
	}
}

// ledgersOf creates a conflict and a decision in the project, and returns their ids.
func ledgersOf(c *commandtest.CLI, t *testing.T) (conflict, decision string) {
	t.Helper()
	conflict = c.Contradiction(t).ID
	o := c.Process(commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "We decided to keep the blue theme.")), "--session", "theme-of-"+c.Project)
	require.Zero(t, o.Code, o)
	o = c.Run("decisions", "record", "Keep it", "--because-of", c.EntryOf(t, "We decided to keep the blue theme.").ID, "--project", c.Project)
	require.Zero(t, o.Code, o)
	decisions := commandtest.Decode[[]graduate.Decision](t, c.Run("decisions", "--project", c.Project, "-o", "json"))
	require.NotEmpty(t, decisions)
	return conflict, decisions[0].ID
}

// declareTwins stores two items of each kind with a common beginning of their ids.
func declareTwins(c *commandtest.CLI, t *testing.T) {
	t.Helper()
	conn, err := clickhouse.Connect(t.Context(), c.Config(t).ClickHouseDSN, clickhouse.ConnectOptions{})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var entries, builds, entities, conflicts, decisions [][]any
	for i := range 2 {
		id := fmt.Sprintf("abcdabcd-%d", i)
		entries = append(entries, []any{id, c.Project, "twin", "{}", "[]", at, uint64(1)})
		builds = append(builds, []any{id, c.Project, "{}", at})
		conflicts = append(conflicts, []any{id, c.Project, at, uint64(1)})
		decisions = append(decisions, []any{id, c.Project, at, uint64(1)})
		for _, entity := range []string{"task", "condition", "artifact"} {
			entities = append(entities, []any{id + entity, entity, c.Project, "{}", at, uint64(1)})
		}
	}
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "entries_raw (entry_id, project, title, content_json, evidence_json, created_ts, version)", entries))
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "build_runs_raw (build_id, project, source_json, started_at)", builds))
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "conflicts_raw (conflict_id, project, detected_at, version)", conflicts))
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "decisions_raw (decision_id, project, ts, version)", decisions))
	commandtest.TwinProposals(t, projection.New(conn, eventlog.Options{}), c.Project, "abcdabcd-0", "abcdabcd-1")
	require.NoError(t, clickhouse.Insert(t.Context(), conn, "entities_raw (entity_id, entity_type, project, current_json, updated_at, version)", entities))
}

// A session is found by the beginning of its id and by its printed form, in every filter.
func testSessionsByPrefix(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	long := c.Project + " 세션 " + strings.Repeat("long ", 10)
	ids := []string{long + "one", long + "two\u202e end", "other-" + c.Project, "other-" + c.Project + "-b"}
	for _, id := range ids {
		o := c.Process(path, "--session", id)
		require.Zero(t, o.Code, o)
	}
	printed := command.ShownSession(long)
	require.True(t, strings.HasSuffix(printed, "…"))
	for _, name := range []string{"builds list", "verify", "realign", "search log"} {
		call := func(session string) commandtest.Output {
			return c.Run(append(strings.Fields(name), "--project", c.Project, "--session", session)...)
		}
		for _, one := range []string{ids[1], long + "tw", ids[2], ids[2] + "-"} {
			o := call(one)
			require.Zero(t, o.Code, "%s %q: %s", name, one, o)
			require.NotContains(t, o.Out, "nothing found")
		}
		for _, several := range []string{printed, "othe"} {
			o := call(several)
			require.Equal(t, command.ExitUsage, o.Code, o)
			require.Contains(t, o.Err, "ambiguous: ")
			require.Contains(t, o.Err, "begin with it: give more of the id")
		}
	}
	listed := c.Run("builds", "list", "--project", c.Project, "--session", long+"two<U+202E>")
	require.Zero(t, listed.Code, listed)
	require.Contains(t, c.Run("builds", "list", "--session", "nobody's").Out, "no build of session nobody's")
}
