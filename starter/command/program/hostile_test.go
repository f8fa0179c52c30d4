package program_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/activities/fact"
	"axiommind/activities/task"
	"axiommind/activities/text"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
)

// No control sequence and no hidden text of a transcript reaches a person. The JSON output is exact.
func testHostileTranscript(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	user := c.Project + "-user"
	decided := "We decided to use " + commandtest.Red + " ClickHouse " + commandtest.Link + " for the event log 👩\u200d🚀."
	path := commandtest.Write(t, "s.jsonl",
		commandtest.Spoken(t, 1, "user", "Hello\r\n"+commandtest.Turn+"\n"+decided+"\nentry     forged\u009b")+
			commandtest.Spoken(t, 2, "user", "I prefer short "+commandtest.Turn+" pages, please always add an example.")+
			commandtest.Spoken(t, 3, "assistant", "TODO: write the "+commandtest.Ghost+" page on retries.\nThe "+commandtest.Turn+" release is blocked by the "+commandtest.Red+" legal review."))
	session := "s" + commandtest.Turn + "\u00ad"
	done := c.Run("process", path, "--project", c.Project, "--user", user, "--session", session)
	require.Zero(t, done.Code, done)
	require.Contains(t, done.Out, "s<U+202E>gnp.exe<U+202C><U+00AD>")

	hits := commandtest.Decode[struct {
		Hits []struct {
			ID    string `json:"entry_id"`
			Title string `json:"title"`
		} `json:"hits"`
	}](t, c.Run("search", "ClickHouse event log", "--project", c.Project, "--user", user, "-o", "json"))
	require.NotEmpty(t, hits.Hits)
	entryID, title := "", ""
	for _, h := range hits.Hits {
		if strings.Contains(h.Title, "ClickHouse") {
			entryID, title = h.ID, h.Title
		}
	}
	require.Contains(t, title, "\x1b[31m", "JSON is exact")
	tasks := commandtest.Decode[[]task.View](t, c.Run("tasks", "--project", c.Project, "-o", "json"))
	require.NotEmpty(t, tasks)
	builds := commandtest.Decode[[]struct {
		ID string `json:"build_id"`
	}](t, c.Run("builds", "list", "--project", c.Project, "-o", "json"))
	facts := commandtest.Decode[[]fact.Fact](t, c.Run("facts", "--user", user, "-o", "json"))
	require.Contains(t, facts[0].Content, commandtest.Turn)

	shown := map[string]commandtest.Output{}
	for name, args := range map[string][]string{
		"search":     {"search", "ClickHouse event log", "--project", c.Project, "--user", user, "--explain"},
		"entry show": {"entry", "show", entryID, "--project", c.Project},
		"tasks":      {"tasks", "--project", c.Project},
		"task show":  {"task", "show", tasks[0].Task.ID, "--project", c.Project},
		"blocked":    {"blocked", "--project", c.Project},
		"facts":      {"facts", "--user", user},
		"fact show":  {"facts", "show", facts[0].ID, "--user", user},
		"history":    {"facts", "history", "--user", user},
		"context":    {"context", "--user", user},
		"list":       {"builds", "list", "--project", c.Project},
		"show":       {"builds", "show", builds[0].ID},
		"verify":     {"verify", "--project", c.Project},
		"nothing":    {"search", "x", "--project", "p" + commandtest.Turn, "--user", commandtest.Turn},
		"error":      {"entry", "show", "x" + commandtest.Turn, "--project", commandtest.Turn},
		"usage":      {"tasks", "--status", commandtest.Red + commandtest.Turn},
	} {
		shown[name] = c.Run(args...)
		commandtest.RequireHarmless(t, shown[name])
	}
	require.Contains(t, shown["search"].Out, "We decided to use <U+001B>[31mred<U+001B>[0m ClickHouse <U+001B>]8;;http://evil")
	require.Contains(t, shown["search"].Out, "👩\u200d🚀", "an emoji is drawn as it was")
	require.Contains(t, shown["entry show"].Out, "  │ <U+202E>gnp.exe<U+202C>\n  │ ⟦We decided", "newlines that are ours, or set off, stay")
	require.NotContains(t, shown["entry show"].Out, "\nentry     forged")
	require.Contains(t, shown["context"].Out, "<U+202E>")
	for _, name := range []string{"facts", "fact show", "history"} {
		require.Contains(t, shown[name].Out, "<U+202E>", name)
	}
	require.Contains(t, shown["blocked"].Out, "<U+202E>")
	require.Equal(t, command.ExitUsage, shown["error"].Code)
	require.Equal(t, command.ExitUsage, shown["usage"].Code)
}

// JSON contains the same text in escapes, which terminals do not interpret.
func TestJSONIsExactAndHarmless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("a\"\\\u202e\u009b\x7f\x1b👩\u200d\U000e0068<&\n")), 0, 12, -1)).Draw(t, "given")
		var out bytes.Buffer
		require.NoError(t, command.Encode(&out, map[string]string{given: given}))
		require.False(t, strings.ContainsFunc(out.String(), text.Hidden), out.String())
		var back map[string]string
		require.NoError(t, json.Unmarshal(out.Bytes(), &back))
		require.Equal(t, map[string]string{given: given}, back)
	})
}

// Names and ids with any characters are matched literally.
func TestAnySignsInNames(t *testing.T) {
	t.Parallel()
	anySignsInNames(t, []string{`a\'; DROP TABLE events_raw; --`, "세션 {x:String}?c=d/%s%25", `"q"🎉` + commandtest.Turn})
}

func anySignsInNames(t *testing.T, ids []string) {
	t.Helper()
	c := commandtest.NewCLI(t)
	c.Work(t)
	for _, id := range ids {
		for _, args := range [][]string{
			{"builds", "show", id}, {"entry", "show", id, "--project", id}, {"task", "show", id, "--project", id},
			{"conflicts", "show", id, "--project", id}, {"decisions", "show", id, "--project", id},
			{"proposals", "list", "--project", id, "--user", id}, {"conflicts", "list", "--project", id}, {"decisions", "list", "--project", id},
			{"builds", "list", "--session", id, "--project", id}, {"facts", "--user", id, "--agent", id},
			{"facts", "show", id, "--user", id}, {"facts", "history", "--user", id}, {"facts", "export", "--agent", id},
			{"facts", "list", "--category", "goal", "--project", id, "--user", id}, {"context", "--user", id},
			{"tasks", "--project", id}, {"blocked", "--project", id}, {"conditions", "resolved", "--project", id},
			{"search", id, "--project", id, "--user", id, "--agent", id, "--session", id},
		} {
			o := c.Run(args...)
			want := command.ExitOK
			if args[1] == "show" {
				want = command.ExitUsage
			}
			require.Equal(t, want, o.Code, "%q: %s", args, o)
			commandtest.RequireHarmless(t, o)
		}
	}
}

// Untrusted texts stay in their line or cell, whatever they contain.
func TestTextsKeepToTheirLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	command.Say(&b, "%s|%v|%d|%s\n", "a\nstarter: all is well", fmt.Errorf("b\r\n\u2028c"), 7, schema.BuildStatus("d\u0085e"))
	require.Equal(t, "a starter: all is well|b c|7|d e\n", b.String())
	b.Reset()
	command.Block(&b, "| ", "one\r\ntwo\n\nthree\n")
	require.Equal(t, "| one\n| two\n| \n| three\n", b.String())
	b.Reset()
	command.Table(&b, "id, text, many", []int{1}, func(int) []any {
		return []any{"1\n2", "a\x1b[2Jb", command.ManyLines{"x\ny", "z"}}
	})
	require.Equal(t, "ID   TEXT           MANY\n1 2  a<U+001B>[2Jb  x y\n                    z\n", b.String())
	require.Equal(t, "👩\u200d🚀👩\u200d🚀…", command.OneLine(strings.Repeat("👩\u200d🚀", 4), 3), "no emoji is cut in two")
	require.Equal(t, "ab…", command.Cut("abcd", 3))
	require.Equal(t, "abc", command.Cut("abc", 3))
	require.Equal(t, "…", command.Cut("abc", 1))
}

// An error begins with the program's name once, whatever its text. Long texts inside it are cut, and the names of library
// layers are left out.
func TestErrorsInWords(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &command.App{ErrOut: &text.Writer{To: &out}}
	a.Complain(fmt.Errorf("find task %q: no such task\nstarter: all is well \x1b[2J", strings.Repeat("long ", 1000)+"end"))
	require.Less(t, out.Len(), 400)
	require.Contains(t, out.String(), "…")
	require.Contains(t, out.String(), `end": no such task`)
	require.Contains(t, out.String(), "\n  starter: all is well <U+001B>[2J\n")
	for given, want := range map[string]string{
		`rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`: "dial tcp 127.0.0.1:1: connect: connection refused",
		`failed reaching server: last connection error: context deadline exceeded`:                                                                          "no answer in time",
		`set limit: strconv.ParseInt: parsing "x": invalid syntax`:                                                                                          `set limit: "x" is not a valid value`,
		`strconv.Atoi: parsing "99999999999999999999": value out of range`:                                                                                  `"99999999999999999999" is too large a number`,
		`last resolver error: produced zero addresses`:                                                                                                      "no such host",
	} {
		require.Equal(t, want, command.PlainWords(given))
	}
}

// Invalid values are refused with the valid ones and exit code 2, before any server is contacted.
func TestRefusedBeforeAnyServer(t *testing.T) {
	t.Parallel()
	path := commandtest.Write(t, "s.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	long := strings.Repeat("a", 201)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"process", path, "--date", "2026-13-01"}, `--date "2026-13-01": want a day like 2006-01-02 or a time like`},
		{[]string{"process", path, "--date", "9999-12-31"}, `--date "9999-12-31": want one of the years 1980 to 2199`},
		{[]string{"process", path, "--date", "yesterday"}, `--date "yesterday"`},
		{[]string{"process", path, "--agent", long}, "… has 201 bytes, more than 200"},
		{[]string{"process", path, "--session", long}, "… has 201 bytes, more than 200"},
		{[]string{"process", path, "--project", "a\x1b[31m"}, `--project "a\x1b[31m" holds a control character`},
		{[]string{"process", path, "--user", "a\u0085"}, `--user "a\u0085" holds a control character`},
		{[]string{"process", path, "--session", "a\nb"}, `--session "a\nb" holds a control character`},
		{[]string{"process", path, "--project", "\xff"}, `--project "\xff" is not UTF-8`},
		{[]string{"process", commandtest.Write(t, "x.jsonl", strings.ReplaceAll(commandtest.Said(1, "user", commandtest.Decision), `"sessionId":""`, `"sessionId":"a\u0007b"`))}, `holds a control character; give another one with --session`},
		{[]string{"process", path, "--format", "word"}, `--format "word": want one of claude-code, codex`},
		{[]string{"process", t.TempDir(), "--format", "word"}, `--format "word": want one of claude-code, codex`},
		{[]string{"process", path, "--user", ""}, "--user is empty"},
		{[]string{"tasks", "--project", ""}, "--project is empty"},
		{[]string{"process", "-"}, "standard input is empty"},
		{[]string{"search", "x", "--type", "dream"}, `--type "dream": want one of fact, decision, insight, task_note, reference`},
		{[]string{"search", "x", "--stage", "raw,old"}, `--stage "old": want one of raw, working, candidate, verified, certified`},
		{[]string{"search", "x", "--alpha", "1.5"}, "--alpha 1.5: want 0 to 1"},
		{[]string{"search", "x", "--alpha", "much"}, `--alpha "much": want a number`},
		{[]string{"search", "x", "--from", "2026-01-02", "--to", "2026-01-02"}, "want a time before --to"},
		{[]string{"search", "x", "--limit", "0"}, "--limit 0: want 1 to 200"},
		{[]string{"search", "x", "--limit", "100", "--offset", "101"}, "a search lists the 200 best at most"},
		{[]string{"builds", "list", "--status", "asleep"}, `--status "asleep": want one of running, success, partial, empty, failed`},
		{[]string{"builds", "list", "--limit", "many"}, `--limit "many": want a whole number`},
		{[]string{"builds", "list", "--limit", "99999999999999999999"}, `want a whole number that is not as large`},
		{[]string{"builds", "show", " "}, "argument 1 is empty: starter builds show BUILD"},
		{[]string{"builds", "show", "a\x00"}, "holds a control character"},
		{[]string{"tasks", "--status", "asleep"}, `--status "asleep": want one of pending, in_progress, blocked, done, cancelled`},
		{[]string{"tasks", "--as-of", "yesterday"}, `--as-of "yesterday": want a day like`},
		{[]string{"tasks", "--limit", "1001"}, "--limit 1001: want 1 to 1000"},
		{[]string{"blocked", "--offset", "-1"}, "--offset -1: want 0 or more"},
		{[]string{"conditions", "resolved", "--limit", "0"}, "--limit 0: want 1 to 1000"},
		{[]string{"facts", "--limit", "0"}, "--limit 0: want 1 to 1000"},
		{[]string{"facts", "--user", "a\x1b"}, "holds a control character"},
		{[]string{"facts", "list", "--category", "food"}, `--category "food": want one of preference`},
		{[]string{"facts", "show", "a\x00bcd"}, "holds a control character"},
		{[]string{"facts", "add", "x", "--confidence", "NaN"}, "--confidence NaN: want 0 to 1"},
		{[]string{"facts", "add", "x", "--category", "food"}, `--category "food": want one of preference`},
		{[]string{"facts", "add", "x", "--expect-version", "0"}, "--expect-version 0: want 1 or more"},
		{[]string{"facts", "add", "x", "--expect-version", "-1"}, "--expect-version"},
		{[]string{"facts", "add", "\xff"}, "the text is not UTF-8"},
		{[]string{"facts", "add", strings.Repeat("long ", 2000)}, "want at most 8192"},
		{[]string{"facts", "update", "abcdef"}, "nothing to change: give --content"},
		{[]string{"facts", "delete", "abcd", "bcde", "--expect-version", "3"}, "name one"},
		{[]string{"facts", "history", "--limit", "0"}, "--limit 0: want 1 to 1000"},
		{[]string{"facts", "import", "-"}, "not a memory"},
		{[]string{"facts", "import", commandtest.Write(t, "long.json", `{"facts":[{"content":"`+strings.Repeat("long ", 2000)+`"}]}`)}, "the fact “long long"},
		{[]string{"facts", "clear"}, "say --yes"},
		{[]string{"profile", "set", "food", "x"}, `section "food": want one of work, personal`},
		{[]string{"profile", "clear", "work", "food"}, `section "food": want one of work, personal`},
		{[]string{"profile", "clear", "work", "recent", "--expect-version", "3"}, "name one"},
		{[]string{"context", "--max-tokens", "0"}, "--max-tokens 0: want at least 1"},
		{[]string{"task", "set", "abcdef", "--status", "asleep"}, `--status "asleep": want one of pending`},
		{[]string{"task", "set", "abcdef", "--priority", "asap"}, `--priority "asap": want one of low, medium, high, critical`},
		{[]string{"entry", "retire", "abcdef"}, "--because is empty: give a reason"},
		{[]string{"entry", "retire", "abcdef", "--because", " \t"}, "--because is empty"},
		{[]string{"entry", "confirm", "abcdef", "a\x00"}, "argument 2, \"a\\x00\", holds a control character"},
		{[]string{"conflicts", "--limit", "0"}, "--limit 0: want 1 to 1000"},
		{[]string{"conflicts", "resolve", "abcdef"}, "give the entry that is right with --keep, or --keep both"},
		{[]string{"conflicts", "resolve", "--keep", "both"}, "name the conflicts in which both sides are right"},
		{[]string{"proposals", "--limit", "0"}, "--limit 0: want 1 to 1000"},
		{[]string{"proposals", "reject", "abcdef", "a\x00"}, "argument 2, \"a\\x00\", holds a control character"},
		{[]string{"decisions", "list", "--offset", "-1"}, "--offset -1: want 0 or more"},
		{[]string{"decisions", "list", "--offset", "9223372036854775807"}, "--offset 9223372036854775807: want at most 1073741824"},
		{[]string{"decisions", "record", "x"}, "say with --because-of which verified memories the decision rests on"},
		{[]string{"decisions", "record", "x", "--because-of", "abcdef", "--confidence", "1.5"}, "--confidence 1.5: want 0 to 1"},
		{[]string{"decisions", "record", "x", "--because-of", "abcdef", "--confidence", "NaN"}, "--confidence NaN: want 0 to 1"},
		{[]string{"tasks", "--embedder", "bert"}, `--embedder "bert": want one of hash, local, gemini, openai`},
		{[]string{"facts", "--log-level", "loud"}, `log level "loud": want debug, info, warn or error`},
		{[]string{"facts", "--connect-timeout", "soon"}, `--connect-timeout "soon": want a duration like 30s or 2m`},
	} {
		o := commandtest.Down().Run(tt.args...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", tt.args, o)
		require.Contains(t, o.Err, tt.says, "%q", tt.args)
		require.NotContains(t, o.Err, "strconv")
		require.Empty(t, o.Out)
		commandtest.RequireHarmless(t, o)
	}
	c := commandtest.Down()
	c.Env["AXIOMMIND_EMBEDDER_DIMENSIONS"] = "few"
	o := c.Run("facts")
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, `variable AXIOMMIND_EMBEDDER_DIMENSIONS: --embedder-dimensions "few": want a whole number`)
}

// Files of a directory that are no transcripts are skipped. If a possible transcript can't be read, the command processes
// all others and then fails.
func TestDirectoryOfAllKinds(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) { require.NoError(t, os.WriteFile(in(name), []byte(text), 0o600)) }
	put("good.jsonl", commandtest.Said(1, "user", commandtest.Decision))
	require.NoError(t, os.Symlink(in("good.jsonl"), in("link.jsonl")))
	require.NoError(t, syscall.Mkfifo(in("pipe.jsonl"), 0o600))
	o := c.Process(dir)
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "\n2 files are not transcripts; --verbose lists them\n")
	require.NotContains(t, o.Out, "link.jsonl")
	o = c.Process(dir, "--verbose")
	require.Zero(t, o.Code, o)
	require.Contains(t, o.Out, "\n2 files are not transcripts:\n")
	require.Contains(t, o.Out, "  "+in("link.jsonl")+": is a symbolic link, which is not followed; give it by name\n")
	require.Contains(t, o.Out, "  "+in("pipe.jsonl")+": is a pipe\n")

	put("broken.jsonl.zst", "\x28\xb5\x2f\xfd\x00\x00 no stream")

	put("named.jsonl", strings.ReplaceAll(commandtest.Said(1, "user", commandtest.Decision), `"sessionId":""`, `"sessionId":"a\u0007b"`))
	o = c.Process(dir)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out, in("broken.jsonl.zst")+" failed: ")
	require.Contains(t, o.Out, `"a\ab" holds a control character`)
	require.Contains(t, o.Out, "unchanged", "the others go on")
	require.Contains(t, o.Err, "2 of 3 sessions failed")
	commandtest.RequireHarmless(t, o)

	o = c.Process(in("good.jsonl"), "--format", "codex", "--session", "of-another-format")
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out, "of-another-format failed: nothing of it can be read as codex: it looks like claude-code")
	require.Contains(t, c.Run("builds", "list", "--session", "of-another-format").Out, "no build of session of-another-format")
	half := commandtest.Said(1, "user", commandtest.Decision)[:40] + "\n"
	o = commandtest.Down().Run("process", commandtest.Write(t, "half.jsonl", half+half), "--format", "claude-code")
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out, "nothing of it can be read as claude-code; line 1: ")
	only := t.TempDir()
	require.NoError(t, os.Rename(in("broken.jsonl.zst"), filepath.Join(only, "broken.jsonl.zst")))
	o = c.Process(only)
	require.Equal(t, command.ExitFailed, o.Code, o)
	require.Contains(t, o.Out, "broken.jsonl.zst failed: ")
	require.Contains(t, o.Err, "1 of 1 session failed")
}
