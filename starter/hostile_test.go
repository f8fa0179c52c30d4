package main

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
)

// spoken is like said, for any text.
func spoken(t *testing.T, n int, role, text string) string {
	t.Helper()
	content, err := json.Marshal(text)
	require.NoError(t, err)
	return fmt.Sprintf(`{"type":%q,"uuid":"h%d","sessionId":"","timestamp":"2026-03-01T09:00:%02dZ","message":{"role":%q,"content":%s}}`+"\n",
		role, n, n, role, content)
}

// requireHarmless fails if a terminal would interpret a part of the text, or show less than all of it.
func requireHarmless(t *testing.T, o output) {
	t.Helper()
	require.Equal(t, text.Visible(o.out), o.out)
	require.Equal(t, text.Visible(o.err), o.err)
	for _, r := range o.out + o.err {
		require.False(t, r != '\n' && text.Hidden(r) && r != '\u200d' && r != '\ufe0f', "%U in %q", r, o.out+o.err)
	}
}

// Texts that harm a terminal or a reader, if they are printed as they are.
const (
	red   = "\x1b[31mred\x1b[0m"
	link  = "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\"
	turn  = "\u202egnp.exe\u202c"
	ghost = "un\u200bseen\U000e0068"
)

// No control sequence and no hidden text of a transcript reaches a person. The JSON output is exact.
func testHostileTranscript(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	user := c.project + "-user"
	decided := "We decided to use " + red + " ClickHouse " + link + " for the event log 👩\u200d🚀."
	path := write(t, "s.jsonl",
		spoken(t, 1, "user", "Hello\r\n"+turn+"\n"+decided+"\nentry     forged\u009b")+
			spoken(t, 2, "user", "I prefer short "+turn+" pages, please always add an example.")+
			spoken(t, 3, "assistant", "TODO: write the "+ghost+" page on retries.\nThe "+turn+" release is blocked by the "+red+" legal review."))
	session := "s" + turn + "\u00ad"
	done := c.run("process", path, "--project", c.project, "--user", user, "--session", session)
	require.Zero(t, done.code, done)
	require.Contains(t, done.out, "s<U+202E>gnp.exe<U+202C><U+00AD>")

	hits := decode[struct {
		Hits []struct {
			ID    string `json:"entry_id"`
			Title string `json:"title"`
		} `json:"hits"`
	}](t, c.run("search", "ClickHouse event log", "--project", c.project, "--user", user, "-o", "json"))
	require.NotEmpty(t, hits.Hits)
	entryID, title := "", ""
	for _, h := range hits.Hits {
		if strings.Contains(h.Title, "ClickHouse") {
			entryID, title = h.ID, h.Title
		}
	}
	require.Contains(t, title, "\x1b[31m", "JSON is exact")
	tasks := decode[[]task.View](t, c.run("tasks", "--project", c.project, "-o", "json"))
	require.NotEmpty(t, tasks)
	builds := decode[[]struct {
		ID string `json:"build_id"`
	}](t, c.run("builds", "list", "--project", c.project, "-o", "json"))
	facts := decode[[]fact.Fact](t, c.run("facts", "--user", user, "-o", "json"))
	require.Contains(t, facts[0].Content, turn)

	shown := map[string]output{}
	for name, args := range map[string][]string{
		"search":     {"search", "ClickHouse event log", "--project", c.project, "--user", user, "--explain"},
		"entry show": {"entry", "show", entryID, "--project", c.project},
		"tasks":      {"tasks", "--project", c.project},
		"task show":  {"task", "show", tasks[0].Task.ID, "--project", c.project},
		"blocked":    {"blocked", "--project", c.project},
		"facts":      {"facts", "--user", user},
		"fact show":  {"facts", "show", facts[0].ID, "--user", user},
		"history":    {"facts", "history", "--user", user},
		"context":    {"context", "--user", user},
		"list":       {"builds", "list", "--project", c.project},
		"show":       {"builds", "show", builds[0].ID},
		"verify":     {"verify", "--project", c.project},
		"nothing":    {"search", "x", "--project", "p" + turn, "--user", turn},
		"error":      {"entry", "show", "x" + turn, "--project", turn},
		"usage":      {"tasks", "--status", red + turn},
	} {
		shown[name] = c.run(args...)
		requireHarmless(t, shown[name])
	}
	require.Contains(t, shown["search"].out, "We decided to use <U+001B>[31mred<U+001B>[0m ClickHouse <U+001B>]8;;http://evil")
	require.Contains(t, shown["search"].out, "👩\u200d🚀", "an emoji is drawn as it was")
	require.Contains(t, shown["entry show"].out, "  │ <U+202E>gnp.exe<U+202C>\n  │ ⟦We decided", "newlines that are ours, or set off, stay")
	require.NotContains(t, shown["entry show"].out, "\nentry     forged")
	require.Contains(t, shown["context"].out, "<U+202E>")
	for _, name := range []string{"facts", "fact show", "history"} {
		require.Contains(t, shown[name].out, "<U+202E>", name)
	}
	require.Contains(t, shown["blocked"].out, "<U+202E>")
	require.Equal(t, exitUsage, shown["error"].code)
	require.Equal(t, exitUsage, shown["usage"].code)
}

// JSON contains the same text in escapes, which terminals do not interpret.
func TestJSONIsExactAndHarmless(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("a\"\\\u202e\u009b\x7f\x1b👩\u200d\U000e0068<&\n")), 0, 12, -1)).Draw(t, "given")
		var out bytes.Buffer
		require.NoError(t, encode(&out, map[string]string{given: given}))
		require.False(t, strings.ContainsFunc(out.String(), text.Hidden), out.String())
		var back map[string]string
		require.NoError(t, json.Unmarshal(out.Bytes(), &back))
		require.Equal(t, map[string]string{given: given}, back)
	})
}

// Names and ids with any characters are matched literally.
func TestAnySignsInNames(t *testing.T) {
	t.Parallel()
	anySignsInNames(t, []string{`a\'; DROP TABLE events_raw; --`, "세션 {x:String}?c=d/%s%25", `"q"🎉` + turn})
}

func anySignsInNames(t *testing.T, ids []string) {
	t.Helper()
	c := newCLI(t)
	c.work(t)
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
			o := c.run(args...)
			want := exitOK
			if args[1] == "show" {
				want = exitUsage
			}
			require.Equal(t, want, o.code, "%q: %s", args, o)
			requireHarmless(t, o)
		}
	}
}

// Untrusted texts stay in their line or cell, whatever they contain.
func TestTextsKeepToTheirLine(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	say(&b, "%s|%v|%d|%s\n", "a\nstarter: all is well", fmt.Errorf("b\r\n\u2028c"), 7, schema.BuildStatus("d\u0085e"))
	require.Equal(t, "a starter: all is well|b c|7|d e\n", b.String())
	b.Reset()
	block(&b, "| ", "one\r\ntwo\n\nthree\n")
	require.Equal(t, "| one\n| two\n| \n| three\n", b.String())
	b.Reset()
	table := newTable(&b, "id", "text", "many")
	table.AppendRow([]any{"1\n2", "a\x1b[2Jb", manyLines{"x\ny", "z"}})
	table.Render()
	require.Equal(t, "ID   TEXT           MANY\n1 2  a<U+001B>[2Jb  x y\n                    z\n", b.String())
	require.Equal(t, "👩\u200d🚀👩\u200d🚀…", oneLine(strings.Repeat("👩\u200d🚀", 4), 3), "no emoji is cut in two")
	require.Equal(t, "ab…", cut("abcd", 3))
	require.Equal(t, "abc", cut("abc", 3))
	require.Equal(t, "…", cut("abc", 1))
}

// An error begins with the program's name once, whatever its text. Long texts inside it are cut, and the names of library
// layers are left out.
func TestErrorsInWords(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := &app{errOut: &text.Writer{To: &out}}
	a.complain(fmt.Errorf("find task %q: no such task\nstarter: all is well \x1b[2J", strings.Repeat("long ", 1000)+"end"))
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
		require.Equal(t, want, plainWords(given))
	}
}

// Invalid values are refused with the valid ones and exit code 2, before any server is contacted.
func TestRefusedBeforeAnyServer(t *testing.T) {
	t.Parallel()
	path := write(t, "s.jsonl", said(1, "user", decision))
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
		{[]string{"process", write(t, "x.jsonl", strings.ReplaceAll(said(1, "user", decision), `"sessionId":""`, `"sessionId":"a\u0007b"`))}, `holds a control character; give another one with --session`},
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
		{[]string{"facts", "import", write(t, "long.json", `{"facts":[{"content":"`+strings.Repeat("long ", 2000)+`"}]}`)}, "the fact “long long"},
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
		{[]string{"decisions", "record", "x"}, "say with --because-of which verified memories the decision rests on"},
		{[]string{"decisions", "record", "x", "--because-of", "abcdef", "--confidence", "1.5"}, "--confidence 1.5: want 0 to 1"},
		{[]string{"decisions", "record", "x", "--because-of", "abcdef", "--confidence", "NaN"}, "--confidence NaN: want 0 to 1"},
		{[]string{"tasks", "--embedder", "bert"}, `--embedder "bert": want one of hash, local, gemini, openai`},
		{[]string{"facts", "--log-level", "loud"}, `log level "loud": want debug, info, warn or error`},
		{[]string{"facts", "--connect-timeout", "soon"}, `--connect-timeout "soon": want a duration like 30s or 2m`},
	} {
		o := down().run(tt.args...)
		require.Equal(t, exitUsage, o.code, "%q: %s", tt.args, o)
		require.Contains(t, o.err, tt.says, "%q", tt.args)
		require.NotContains(t, o.err, "strconv")
		require.Empty(t, o.out)
		requireHarmless(t, o)
	}
	c := down()
	c.env["AXIOMMIND_EMBEDDER_DIMENSIONS"] = "few"
	o := c.run("facts")
	require.Equal(t, exitUsage, o.code)
	require.Contains(t, o.err, `variable AXIOMMIND_EMBEDDER_DIMENSIONS: --embedder-dimensions "few": want a whole number`)
}

// Files of a directory that are no transcripts are skipped. If a possible transcript can't be read, the command processes
// all others and then fails.
func TestDirectoryOfAllKinds(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	put := func(name, text string) { require.NoError(t, os.WriteFile(in(name), []byte(text), 0o600)) }
	put("good.jsonl", said(1, "user", decision))
	require.NoError(t, os.Symlink(in("good.jsonl"), in("link.jsonl")))
	require.NoError(t, syscall.Mkfifo(in("pipe.jsonl"), 0o600))
	o := c.process(dir)
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "\n2 files are not transcripts; --verbose lists them\n")
	require.NotContains(t, o.out, "link.jsonl")
	o = c.process(dir, "--verbose")
	require.Zero(t, o.code, o)
	require.Contains(t, o.out, "\n2 files are not transcripts:\n")
	require.Contains(t, o.out, "  "+in("link.jsonl")+": is a symbolic link, which is not followed; give it by name\n")
	require.Contains(t, o.out, "  "+in("pipe.jsonl")+": is a pipe\n")

	put("broken.jsonl.zst", "\x28\xb5\x2f\xfd\x00\x00 no stream")

	put("named.jsonl", strings.ReplaceAll(said(1, "user", decision), `"sessionId":""`, `"sessionId":"a\u0007b"`))
	o = c.process(dir)
	require.Equal(t, exitFailed, o.code, o)
	require.Contains(t, o.out, in("broken.jsonl.zst")+" failed: ")
	require.Contains(t, o.out, `"a\ab" holds a control character`)
	require.Contains(t, o.out, "unchanged", "the others go on")
	require.Contains(t, o.err, "2 of 3 sessions failed")
	requireHarmless(t, o)

	o = c.process(in("good.jsonl"), "--format", "codex", "--session", "of-another-format")
	require.Equal(t, exitFailed, o.code, o)
	require.Contains(t, o.out, "of-another-format failed: nothing of it can be read as codex: it looks like claude-code")
	require.Contains(t, c.run("builds", "list", "--session", "of-another-format").out, "no build of session of-another-format")
	half := said(1, "user", decision)[:40] + "\n"
	o = down().run("process", write(t, "half.jsonl", half+half), "--format", "claude-code")
	require.Equal(t, exitFailed, o.code, o)
	require.Contains(t, o.out, "nothing of it can be read as claude-code; line 1: ")
	only := t.TempDir()
	require.NoError(t, os.Rename(in("broken.jsonl.zst"), filepath.Join(only, "broken.jsonl.zst")))
	o = c.process(only)
	require.Equal(t, exitFailed, o.code, o)
	require.Contains(t, o.out, "broken.jsonl.zst failed: ")
	require.Contains(t, o.err, "1 of 1 session failed")
}
