package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// put writes a file of a directory.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// inSession returns a message of the session.
func inSession(id string, n int, text string) string {
	return strings.Replace(said(n, "user", text), `"sessionId":""`, fmt.Sprintf(`"sessionId":%q`, id), 1)
}

// jobsOf returns the sessions of a report that process printed.
func jobsOf(t *testing.T, o output) []*job {
	t.Helper()
	return decode[processReport](t, o).Sessions
}

// endsOf returns how the jobs ended, and why files were skipped, by file.
func endsOf(dir string, r processReport) map[string]string {
	out := map[string]string{}
	end := func(file, status, why string) {
		if status == "" || why != "" {
			status += ": " + why
		}
		out[strings.TrimPrefix(file, dir+string(filepath.Separator))] = status
	}
	for _, j := range r.Sessions {
		end(j.File, string(j.Result.Status), j.Error)
	}
	for _, p := range r.PassedOver {
		end(p.File, "", p.Reason)
	}
	return out
}

// requireNoIdleCounts checks that a report contains counts only of sessions that were processed.
func requireNoIdleCounts(t *testing.T, o output) {
	t.Helper()
	var report struct {
		Sessions []struct {
			Result map[string]any `json:"result"`
		} `json:"sessions"`
	}
	require.NoError(t, json.Unmarshal([]byte(o.out), &report), o.out)
	for _, s := range report.Sessions {
		for _, name := range []string{"counts", "usage"} {
			counts, ok := s.Result[name].(map[string]any)
			idle := true
			for _, n := range counts {
				idle = idle && n == float64(0)
			}
			require.Equal(t, ok, !idle, "%s of %v", name, s.Result)
		}
		if s.Result["status"] == "failed" {
			require.NotContains(t, s.Result, "counts")
			require.NotContains(t, s.Result, "build_id")
		}
	}
}

// A directory is imported as a whole: each session once and in order. An unreadable file fails alone, other files are
// skipped, and nothing outside is read.
func TestImportDirectory(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.work(t, "--source-root", t.TempDir())
	dir := t.TempDir()
	outside := put(t, t.TempDir(), "outside.jsonl", inSession("outside", 1, decision))
	put(t, dir, "a.jsonl", inSession("a", 1, decision))
	put(t, dir, "a again.jsonl", inSession("a", 1, decision)+inSession("a", 2, "We decided to use Temporal for the workflows."))
	put(t, dir, "내 '세션' \"둘\".jsonl", inSession("나", 1, decision))
	put(t, dir, "deep/er/b.jsonl", inSession("b", 1, decision))
	far := strings.Repeat(strings.Repeat("<깊은>", 20)+"/", 4) + "far.jsonl"
	put(t, dir, far, inSession(strings.Repeat("<", 200), 1, decision))
	put(t, dir, "broken.db", "SQLite format 3\x00 and then nothing")
	put(t, dir, "picture.png", "\x89PNG\x00\x00")
	put(t, dir, "empty.jsonl", "")
	put(t, dir, "long.jsonl", inSession(strings.Repeat("x", 201), 1, decision))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link.jsonl")))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "linked")))
	require.NoError(t, os.Link(filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "z.jsonl")))

	o := c.process(dir, "-o", "json", "--jobs", "3")
	require.Equal(t, exitFailed, o.code, o)
	var report processReport
	require.NoError(t, json.Unmarshal([]byte(o.out), &report), o.out)
	require.Regexp(t, "^import_sessions/"+c.project+"/", report.Workflow.ID)
	require.NotEmpty(t, report.Batch)
	got := endsOf(dir, report)
	for name, want := range map[string]string{
		"a again.jsonl":      "success",
		"a.jsonl":            "unchanged",
		"내 '세션' \"둘\".jsonl": "success",
		"deep/er/b.jsonl":    "success",
		"link.jsonl":         ": is a symbolic link, which is not followed; give it by name",
		"linked":             ": is a symbolic link, which is not followed; give it by name",
		"z.jsonl":            ": is the same file as " + filepath.Join(dir, "a.jsonl"),
	} {
		require.Equal(t, want, got[name], "%s of %v", name, got)
	}
	require.Regexp(t, "^: cannot tell the format", got["picture.png"])
	require.Regexp(t, "^failed: session_id .* more than 200", got["long.jsonl"])
	require.Regexp(t, "^failed: .*(database|SQLite)", got["broken.db"])
	require.Contains(t, got, "empty.jsonl")
	require.Equal(t, []int{8, 4}, []int{len(report.Sessions), len(report.PassedOver)})
	requireNoIdleCounts(t, o)
	require.NotContains(t, o.out, `"outside"`)

	again := decode[processReport](t, c.process(filepath.Join(dir, "deep"), "-o", "json"))
	require.NotNil(t, again.PassedOver)
	require.Equal(t, map[string]string{"deep/er/b.jsonl": "unchanged"}, endsOf(dir, again))
	people := c.process(dir, "--verbose")
	require.Equal(t, exitFailed, people.code)
	require.Contains(t, people.out, "files are not transcripts:\n")
	require.Contains(t, people.out, "picture.png: cannot tell the format; if it is a transcript, give it by name with --format\n")
	require.Contains(t, people.err, "2 of 8 sessions failed: none of these was started\n")
	require.Contains(t, people.out, strings.Repeat("x", sessionCell-1)+"… failed: session_id ")
}

// A directory without transcripts is a usage error that lists the directory's files.
func TestImportNothing(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	dir := t.TempDir()
	require.Contains(t, c.process(dir).err, "holds no transcript (0 files checked)")
	put(t, dir, "notes.bin", "\x00\x01\x02\x03")
	o := c.process(dir)
	require.Equal(t, exitUsage, o.code, o)
	for _, says := range []string{dir, "holds no transcript", "1 file checked", "notes.bin: cannot tell the format"} {
		require.Contains(t, o.err, says)
	}
}

// A file that contains several sessions is imported. With --session only one of them is processed.
func TestImportFileOfSeveral(t *testing.T) {
	t.Parallel()
	c := sharedCLI(t)
	path := put(t, t.TempDir(), "여러.json", `[{"title":"one","mapping":{"r":{"id":"r","children":["m"]},"m":{"id":"m","parent":"r","message":{"id":"m","author":{"role":"user"},
		"create_time":1767225600,"content":{"content_type":"text","parts":["`+decision+`"]}}}},"id":"c1","conversation_id":"c1","create_time":1767225600},
		{"title":"two","mapping":{"r":{"id":"r","children":["m"]},"m":{"id":"m","parent":"r","message":{"id":"m","author":{"role":"user"},
		"create_time":1767225600,"content":{"content_type":"text","parts":["TODO: write it down."]}}}},"id":"c2","conversation_id":"c2","create_time":1767225600}]`)
	one := decode[processReport](t, c.process(path, "--session", "c2", "-o", "json"))
	require.Len(t, one.Sessions, 1)
	require.Equal(t, one.Sessions[0].Input.Key(), schema.SessionKey{}, "the input is not printed")
	require.Equal(t, schema.SessionKey{Scope: schema.Scope{Project: c.project, User: "default"}, SessionID: "c2"}.WorkflowID(), one.Workflow.ID)
	require.Empty(t, one.Batch)
	require.NotNil(t, one.PassedOver)
	both := jobsOf(t, c.process(path, "-o", "json"))
	require.Len(t, both, 2)
	require.Equal(t, []string{"c1", "c2"}, []string{both[0].Result.SessionID, both[1].Result.SessionID})
	require.Equal(t, schema.BuildUnchanged, both[1].Result.Status)
	require.Equal(t, "chatgpt", both[0].Format)
}

// The import continues when the starter is stopped. The same command shows it again, or its result. Two concurrent commands
// share one import.
func TestImportSurvivesItsStarter(t *testing.T) {
	t.Parallel()
	importSurvivesItsStarter(t, 4)
}

func importSurvivesItsStarter(t *testing.T, sessions int) {
	t.Helper()
	c := newCLI(t)
	dir := t.TempDir()
	for i := range sessions {
		put(t, dir, fmt.Sprintf("%02d.jsonl", i), inSession(fmt.Sprint("s", i), 1, fmt.Sprintf("We decided to use module %d.", i)))
	}
	detached := c.process(dir, "--detach", "--agent", "the agent")
	require.Zero(t, detached.code, detached)
	require.Contains(t, detached.out, "started as workflow import_sessions/"+c.project+"/default/the%20agent/")
	require.Contains(t, detached.out, "starter process '--agent=the agent' --project="+c.project+" "+dir)
	detached = c.process(dir, "--detach", "--agent", "the agent", "-o", "json")
	require.Zero(t, detached.code, detached)
	require.Regexp(t, "^import_sessions/"+c.project+"/default/the%20agent/", decode[processReport](t, detached).Workflow.ID)
	require.Contains(t, detached.out, `"sessions": [],`)
	busy := c.process(dir, "--no-wait", "--agent", "the agent")
	require.Equal(t, exitBusy, busy.code, busy)
	require.Contains(t, busy.err, "is being imported already, as workflow import_sessions/")

	interrupted, stop, ended := c.begin(t, 0, "process", "--project", c.project, "--agent", "the agent", dir)
	eventually(t, func() bool { return strings.Contains(interrupted.String(), "already running as workflow ") }, interrupted)
	stop()
	require.Equal(t, exitFailed, <-ended, interrupted)
	require.Contains(t, interrupted.String(), "the work goes on as workflow import_sessions/")
	require.Contains(t, interrupted.String(), "to see its progress: starter process ")

	c.work(t)
	ends := make(chan output, 2)
	for range 2 {
		go func() { ends <- c.process(dir, "--agent", "the agent", "-o", "json") }()
	}
	for range 2 {
		o := <-ends
		jobs := jobsOf(t, o)
		require.Len(t, jobs, sessions)
		require.Contains(t, o.err, "already running as workflow ")
		for _, j := range jobs {
			require.Equal(t, schema.BuildSuccess, j.Result.Status, j)
		}
	}
	builds := decode[[]map[string]any](t, c.run("builds", "list", "--project", c.project, "--limit", "100", "-o", "json"))
	require.Len(t, builds, sessions, "each session was processed once")
}

// The advice about failed sessions is correct: a session that was never started has no build, and long ids are cut.
func TestProcessAdvice(t *testing.T) {
	t.Parallel()
	refused, failed, fine := &job{File: "a"}, &job{File: "b", Error: "the model refuses"}, &job{File: "c"}
	refused.Input.SessionID = strings.Repeat("긴", 900)
	refused.refuse("it is\ntoo long " + strings.Repeat("x", 5000))
	require.NoError(t, outcome([]*job{fine}))
	require.EqualError(t, outcome([]*job{refused, fine}), "1 of 2 sessions failed: none of these was started")
	require.EqualError(t, outcome([]*job{refused, failed}), "2 of 2 sessions failed; see starter builds list --status failed")
	noted := func(j *job) string {
		var b strings.Builder
		note(&b, j, false)
		return b.String()
	}
	require.Regexp(t, "^(긴){1,39}… failed: it is too long x{900,1000}…\n$", noted(refused))
}

// The report of many sessions contains counts, and the failed ones with their reasons.
func TestManyJobs(t *testing.T) {
	t.Parallel()
	var r processReport
	for i := range 300 {
		j := &job{File: fmt.Sprintf("/대화/%d.jsonl", i)}
		j.Result.Status = schema.BuildSuccess
		j.Result.Counts = schema.BuildCounts{Messages: 2, NewMessages: 1, Entries: 3, NewEntries: 2, Quarantined: 1}
		if i >= 180 {
			j.Result.Status, j.Error = schema.BuildFailed, "the model\nrefuses"
		}
		r.Sessions = append(r.Sessions, j)
		r.PassedOver = append(r.PassedOver, passedOver{fmt.Sprintf("/대화/%d.png", i), "not a transcript"})
	}
	var b strings.Builder
	require.NoError(t, r.print(&b))
	require.Contains(t, b.String(), "\n300 files are not transcripts; --verbose lists them\n")
	b.Reset()
	r.verbose = true
	require.NoError(t, r.print(&b))
	require.Contains(t, b.String(), "300 sessions: 120 failed, 180 success\n600 messages (300 new), 900 entries (600 new)\n")
	require.Contains(t, b.String(), "gave no whole answer to 300 windows")
	require.Contains(t, b.String(), "failed:\n  /대화/180.jsonl: the model refuses\n")
	require.Contains(t, b.String(), "  and 20 more: --output json lists all\n")
	require.Contains(t, b.String(), "\n300 files are not transcripts:\n  /대화/0.png: not a transcript\n")
	require.Contains(t, b.String(), "  and 200 more")
}
