package facts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/fact"
	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/facts"
)

// The command line writes, reads, moves and clears a memory, and refuses mistakes.
func TestFacts(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := `ann's "/` + "메모리 " + c.Project
	run := func(args ...string) commandtest.Output {
		return c.Run(append(args, "--user", user, "--agent", "bot/1")...)
	}
	ok := func(args ...string) string {
		t.Helper()
		o := run(args...)
		require.Zero(t, o.Code, "%q: %s", args, o)
		commandtest.RequireHarmless(t, o)
		return o.Out
	}
	refused := func(says string, args ...string) {
		t.Helper()
		o := run(args...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", args, o)
		require.Contains(t, o.Err, says, "%q", args)
		require.Empty(t, o.Out)
		commandtest.RequireHarmless(t, o)
	}
	stated := func(args ...string) []fact.Fact {
		t.Helper()
		return commandtest.Decode[[]fact.Fact](t, run(append([]string{"facts", "list", "-o", "json"}, args...)...))
	}
	version := func() uint64 {
		return commandtest.Decode[facts.ShownProfile](t, run("profile", "show", "-o", "json")).Version
	}

	require.Contains(t, ok("facts"), "nothing is remembered of user "+user)
	require.Contains(t, ok("profile", "show"), "is empty")
	require.Contains(t, ok("facts", "history"), "nothing was ever remembered")
	require.Contains(t, ok("facts", "add", "I", "prefer", "tea "+commandtest.Turn, "--category", "preference", "--confidence", "0.9", "--reason", "she said so", "--project", "p/1"), "remembered as fact_")
	ok("facts", "add", "커피는 'nein' \\ / \"x\" "+commandtest.Red, "--category", "correction", "--source-error", "coffee "+commandtest.Ghost)
	two := stated()
	require.Len(t, two, 2)
	tea, coffee := two[0], two[1]
	require.Equal(t, []any{"preference", 0.9, "p/1"}, []any{tea.Category, tea.Confidence, tea.Project})
	require.Equal(t, []any{"coffee " + commandtest.Ghost, "default"}, []any{coffee.SourceError, coffee.Project})
	require.Len(t, stated("--project", "p/1"), 1)
	require.Len(t, stated("--category", "correction"), 1)
	require.Empty(t, stated("--category", "goal"))
	require.Contains(t, ok("facts"), fmt.Sprintf("the memory has version %d\n", version()))

	refused("duplicate fact: "+tea.ID+" says the same", "facts", "add", "i PREFER tea "+commandtest.Turn)
	refused("the memory has version", "facts", "add", "x", "--expect-version", "99")
	refused("no such fact: give an id, the first 4 or more characters", "facts", "update", "abcdef01", "--content", "x")
	refused("no such fact", "facts", "delete", tea.ID, "abcdef01")
	refused("no such fact", "facts", "show", "fact_")
	refused("no such fact", "facts", "history", commandtest.Turn)
	refused("has version", "facts", "update", tea.ID, "--content", "x", "--expect-version", "99")
	refused("duplicate fact", "facts", "update", tea.ID, "--content", coffee.Content)
	require.Len(t, stated(), 2)

	shown := ok("facts", "show", strings.ToUpper(tea.ID[5:10]))
	for _, part := range []string{"category  preference, confidence 0.90", "project   p/1", "from      cli:", fmt.Sprintf("version   %d\n", tea.Version)} {
		require.Contains(t, shown, part)
	}
	ok("facts", "update", tea.ID[:10], "--content", "I prefer green tea", "--confidence", "0.8", "--expect-version", fmt.Sprint(tea.Version))
	refused("has version", "facts", "update", tea.ID, "--confidence", "0.7", "--expect-version", fmt.Sprint(tea.Version))
	require.Contains(t, strings.Join(strings.Fields(ok("facts", "history", tea.ID)), " "), "-> “I prefer green tea”, confidence 0.90 -> 0.80")
	ok("facts", "add", "I was wrong", "--expect-version", fmt.Sprint(version()))
	wrong := stated()[2]
	refused("has version", "facts", "delete", wrong.ID, "--expect-version", "1")
	require.Contains(t, ok("facts", "delete", wrong.ID, "--reason", "it was a joke"), "I was wrong")
	refused("is not remembered any longer, deleted: it was a joke", "facts", "delete", wrong.ID)
	require.Contains(t, ok("facts", "list", "--all"), "deleted: it was a joke")
	require.Contains(t, ok("facts", "show", wrong.ID), "status    deleted on ")

	ok("profile", "set", "work", "Builds", "payment\n"+commandtest.Turn)
	section := commandtest.Decode[facts.ShownProfile](t, run("profile", "show", "-o", "json")).Sections[0]
	require.Equal(t, []any{"work", "Builds payment\n" + commandtest.Turn}, []any{section.Name, section.Summary})
	refused("has version", "profile", "set", "work", "x", "--expect-version", fmt.Sprint(section.Version+7))
	ok("profile", "set", "work", "Builds it", "--expect-version", fmt.Sprint(section.Version))
	refused("says the same", "profile", "set", "work", "builds IT")
	ok("profile", "set", "recent", "Moved to Porto")
	refused("has version", "profile", "clear", "recent", "--expect-version", "1")
	require.Contains(t, ok("profile", "clear", "recent", "--reason", "moved back"), "recent")
	refused("is empty already", "profile", "clear", "recent")
	require.Contains(t, ok("profile", "show"), "  │ Builds it\n")

	movesAndClears(t, ok, refused)

	history := commandtest.Decode[[]fact.Change](t, run("facts", "history", "-o", "json"))
	require.Equal(t, schema.FactCreated, history[len(history)-1].Type)
	require.Contains(t, string(history[len(history)-1].Payload), "she said so", "payloads are whole")
	told := ok("facts", "history", "--limit", "1000")
	for _, part := range []string{"created fact_", "updated fact_", "deleted fact_", "skipped (duplicate)", "cleared: 2 facts and 1 section", "profile recent was removed"} {
		require.Contains(t, told, part)
	}
	for line := range strings.Lines(told) {
		require.LessOrEqual(t, len([]rune(text.Visible(line))), command.LineWidth+1, line)
	}
}

// movesAndClears exports the memory, clears it, and imports it again.
func movesAndClears(t *testing.T, ok func(...string) string, refused func(string, ...string)) {
	t.Helper()
	path := commandtest.Write(t, "memory.json", "")
	ok("facts", "export", "--file", path)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before := contentsOf(t, raw)
	require.Len(t, before.Facts, 2)
	require.Equal(t, "Builds it", before.User.WorkContext.Summary)
	require.Equal(t, before, contentsOf(t, []byte(ok("facts", "export"))))

	refused("say --yes", "facts", "clear")
	refused("has version", "facts", "clear", "--yes", "--expect-version", "1")
	require.Contains(t, ok("facts", "clear", "--yes", "--reason", "a new start"), "2 facts and 1 section of the profile")
	require.Contains(t, ok("facts"), "nothing is remembered")
	require.Contains(t, ok("profile", "show"), "is empty")
	require.Contains(t, ok("facts", "import", path, "--dry-run"), "nothing was changed; it would be: 2 created, 1 section set")
	require.Contains(t, ok("facts"), "nothing is remembered")
	refused("has version", "facts", "import", path, "--expect-version", "1")
	require.Equal(t, "2 created, 1 section set\n", ok("facts", "import", path))
	require.Equal(t, "0 created, 3 skipped (duplicate 3)\n", ok("facts", "import", path))
	require.Contains(t, ok("facts", "import", path, "--dry-run"), "0 created, 3 skipped (duplicate 3)")
	refused("the memory has version", "facts", "import", path, "--dry-run", "--expect-version", "1")
	require.Equal(t, before, contentsOf(t, []byte(ok("facts", "export"))), "and what was known since when is as before")
}

// Many facts take several commands.
func TestImportOfManyFacts(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := `ann's "/` + "메모리 " + c.Project
	var many fact.Document
	for i := range fact.MaxImportItems + 7 {
		many.Facts = append(many.Facts, fact.DocumentFact{Content: fmt.Sprintf("Number %d of %s", i, commandtest.Turn), Category: "knowledge", Confidence: 0.6})
	}
	many.Facts = append(many.Facts, fact.DocumentFact{Content: "x", Category: "food"}, fact.DocumentFact{Content: "y", Confidence: 95})
	raw, err := json.Marshal(many)
	require.NoError(t, err)
	o := c.Feed(string(raw), "facts", "import", "-", "--user", user, "--project", "q")
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "207 created, 2 skipped (confidence out of range 1, unknown category 1)")
	require.Len(t, commandtest.Decode[[]fact.Fact](t, c.Run("facts", "--user", user, "--project", "q", "--limit", "1000", "-o", "json")), 207)
}

// Facts that are added concurrently are all stored.
func TestFactsAtOnce(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := `ann's "/` + "메모리 " + c.Project
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { c.Run("facts", "add", fmt.Sprintf("At once %d", i), "--user", user) })
	}
	all.Wait()
	require.Len(t, commandtest.Decode[[]fact.Fact](t, c.Run("facts", "--user", user, "-o", "json")), 4)
}

// contentsOf returns a document without the values that an import creates: ids, sources and write times.
func contentsOf(t *testing.T, raw []byte) fact.Document {
	t.Helper()
	var d fact.Document
	require.NoError(t, json.Unmarshal(raw, &d))
	d.LastUpdated, d.User.WorkContext.UpdatedAt = "", ""
	for i := range d.Facts {
		d.Facts[i].ID, d.Facts[i].Source = "", ""
	}
	return d
}

// A build shows its facts, and a fact its evidence.
func TestBuildShowsFacts(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := `ann's "/` + "메모리 " + c.Project
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "I prefer quiet keyboards."))
	for _, name := range []string{"one", "two"} {
		o := c.Process(path, "--user", user, "--session", name+"-"+c.Project)
		require.Zero(t, o.Code, o)
	}
	builds := commandtest.Decode[[]struct {
		ID string `json:"build_id"`
	}](t, c.Run("builds", "list", "--user", user, "--project", c.Project, "-o", "json"))
	require.Len(t, builds, 2)
	require.Contains(t, c.Run("builds", "show", builds[1].ID).Out, "\nfacts      1 created\n")
	second := c.Run("builds", "show", builds[0].ID).Out
	require.Contains(t, second, "\nfacts      0 created, 1 skipped (duplicate 1)\n")
	require.Contains(t, second, "duplicate: fact_")
	stated := commandtest.Decode[[]fact.Fact](t, c.Run("facts", "--user", user, "-o", "json"))
	shown := c.Run("facts", "show", stated[0].ID, "--user", user)
	require.Contains(t, shown.Out, "from      session one-"+c.Project)
	require.Contains(t, shown.Out, "⟦I prefer quiet keyboards.⟧", shown)
	found, _ := commandtest.Completed(t, c.Complete("facts", "show", "--user", user, "fact_"))
	require.Equal(t, map[string]string{stated[0].ID: "I prefer quiet keyboards."}, found)
}

// A fact that is retired in one of its projects is believed in the other, and in lists of all.
func TestFactRetiredInOneProject(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user, other := "ann "+c.Project, c.Project+` "다른"`
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", "I prefer quiet keyboards."))
	for _, project := range []string{c.Project, other} {
		o := c.Run("process", path, "--user", user, "--project", project)
		require.Zero(t, o.Code, o)
	}
	in := func(project ...string) fact.Fact {
		args := []string{"facts", "--user", user, "-o", "json"}
		for _, p := range project {
			args = append(args, "--project", p)
		}
		stated := commandtest.Decode[[]fact.Fact](t, c.Run(args...))
		require.Len(t, stated, 1, project)
		return stated[0]
	}
	o := c.Run("entry", "retire", in(c.Project).EntryID, "--because", "they are too loud", "--project", c.Project)
	require.Zero(t, o.Code, o)
	require.True(t, in(c.Project).Entry.Ended())
	require.False(t, in(other).Entry.Ended())
	require.False(t, in().Entry.Ended())
	require.NotContains(t, c.Run("context", "--user", user, "--project", c.Project).Out, "quiet keyboards")
	require.Contains(t, c.Run("context", "--user", user, "--project", other).Out, "quiet keyboards")
}
