package feed_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/feed"
	"axiommind/starter/command/progress"
)

// endsOf returns how the jobs ended, and why files were skipped, by file.
func endsOf(dir string, r feed.ProcessReport) map[string]string {
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
func requireNoIdleCounts(t *testing.T, o commandtest.Output) {
	t.Helper()
	var report struct {
		Sessions []struct {
			Result map[string]any `json:"result"`
		} `json:"sessions"`
	}
	require.NoError(t, json.Unmarshal([]byte(o.Out), &report), o.Out)
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
	c := commandtest.NewCLI(t)
	c.Work(t, "--source-root", t.TempDir())
	dir := t.TempDir()
	outside := commandtest.Put(t, t.TempDir(), "outside.jsonl", commandtest.InSession("outside", 1, commandtest.Decision))
	commandtest.Put(t, dir, "a.jsonl", commandtest.InSession("a", 1, commandtest.Decision))
	commandtest.Put(t, dir, "a again.jsonl", commandtest.InSession("a", 1, commandtest.Decision)+commandtest.InSession("a", 2, "We decided to use Temporal for the workflows."))
	commandtest.Put(t, dir, "내 '세션' \"둘\".jsonl", commandtest.InSession("나", 1, commandtest.Decision))
	commandtest.Put(t, dir, "deep/er/b.jsonl", commandtest.InSession("b", 1, commandtest.Decision))
	far := strings.Repeat(strings.Repeat("<깊은>", 20)+"/", 4) + "far.jsonl"
	commandtest.Put(t, dir, far, commandtest.InSession(strings.Repeat("<", 200), 1, commandtest.Decision))
	commandtest.Put(t, dir, "broken.db", "SQLite format 3\x00 and then nothing")
	commandtest.Put(t, dir, "picture.png", "\x89PNG\x00\x00")
	commandtest.Put(t, dir, "empty.jsonl", "")
	commandtest.Put(t, dir, "long.jsonl", commandtest.InSession(strings.Repeat("x", 201), 1, commandtest.Decision))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link.jsonl")))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "linked")))
	require.NoError(t, os.Link(filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "z.jsonl")))

	o := c.Process(dir, "-o", "json", "--jobs", "3")
	require.Equal(t, command.ExitFailed, o.Code, o)
	var report feed.ProcessReport
	require.NoError(t, json.Unmarshal([]byte(o.Out), &report), o.Out)
	require.Regexp(t, "^import_sessions/"+c.Project+"/", report.Workflow.ID)
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
	require.NotContains(t, o.Out, `"outside"`)

	again := commandtest.Decode[feed.ProcessReport](t, c.Process(filepath.Join(dir, "deep"), "-o", "json"))
	require.NotNil(t, again.PassedOver)
	require.Equal(t, map[string]string{"deep/er/b.jsonl": "unchanged"}, endsOf(dir, again))
	people := c.Process(dir, "--verbose")
	require.Equal(t, command.ExitFailed, people.Code)
	require.Contains(t, people.Out, "files are not transcripts:\n")
	require.Contains(t, people.Out, "picture.png: cannot tell the format; if it is a transcript, give it by name with --format\n")
	require.Contains(t, people.Err, "2 of 8 sessions failed: none of these was started\n")
	require.Contains(t, people.Out, strings.Repeat("x", command.SessionCell-1)+"… failed: session_id ")
}

// A directory without transcripts is a usage error that lists the directory's files.
func TestImportNothing(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	dir := t.TempDir()
	require.Contains(t, c.Process(dir).Err, "holds no transcript (0 files checked)")
	commandtest.Put(t, dir, "notes.bin", "\x00\x01\x02\x03")
	o := c.Process(dir)
	require.Equal(t, command.ExitUsage, o.Code, o)
	for _, says := range []string{dir, "holds no transcript", "1 file checked", "notes.bin: cannot tell the format"} {
		require.Contains(t, o.Err, says)
	}
}

// A file that contains several sessions is imported. With --session only one of them is processed.
func TestImportFileOfSeveral(t *testing.T) {
	t.Parallel()
	c := commandtest.SharedCLI(t)
	path := commandtest.Put(t, t.TempDir(), "여러.json", `[{"title":"one","mapping":{"r":{"id":"r","children":["m"]},"m":{"id":"m","parent":"r","message":{"id":"m","author":{"role":"user"},
		"create_time":1767225600,"content":{"content_type":"text","parts":["`+commandtest.Decision+`"]}}}},"id":"c1","conversation_id":"c1","create_time":1767225600},
		{"title":"two","mapping":{"r":{"id":"r","children":["m"]},"m":{"id":"m","parent":"r","message":{"id":"m","author":{"role":"user"},
		"create_time":1767225600,"content":{"content_type":"text","parts":["TODO: write it down."]}}}},"id":"c2","conversation_id":"c2","create_time":1767225600}]`)
	one := commandtest.Decode[feed.ProcessReport](t, c.Process(path, "--session", "c2", "-o", "json"))
	require.Len(t, one.Sessions, 1)
	require.Equal(t, one.Sessions[0].Input.Key(), schema.SessionKey{}, "the input is not printed")
	require.Equal(t, schema.SessionKey{Scope: schema.Scope{Project: c.Project, User: "default"}, SessionID: "c2"}.WorkflowID(), one.Workflow.ID)
	require.Empty(t, one.Batch)
	require.NotNil(t, one.PassedOver)
	both := commandtest.JobsOf(t, c.Process(path, "-o", "json"))
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
	c := commandtest.NewCLI(t)
	dir := t.TempDir()
	for i := range sessions {
		commandtest.Put(t, dir, fmt.Sprintf("%02d.jsonl", i), commandtest.InSession(fmt.Sprint("s", i), 1, fmt.Sprintf("We decided to use module %d.", i)))
	}
	detached := c.Process(dir, "--detach", "--agent", "the agent")
	require.Zero(t, detached.Code, detached)
	require.Contains(t, detached.Out, "started as workflow import_sessions/"+c.Project+"/default/the%20agent/")
	require.Contains(t, detached.Out, "starter process '--agent=the agent' --project="+c.Project+" "+dir)
	detached = c.Process(dir, "--detach", "--agent", "the agent", "-o", "json")
	require.Zero(t, detached.Code, detached)
	require.Regexp(t, "^import_sessions/"+c.Project+"/default/the%20agent/", commandtest.Decode[feed.ProcessReport](t, detached).Workflow.ID)
	require.Contains(t, detached.Out, `"sessions": [],`)
	busy := c.Process(dir, "--no-wait", "--agent", "the agent")
	require.Equal(t, command.ExitBusy, busy.Code, busy)
	require.Contains(t, busy.Err, "is being imported already, as workflow import_sessions/")

	interrupted, stop, ended := c.Begin(t, 0, "process", "--project", c.Project, "--agent", "the agent", dir)
	commandtest.Eventually(t, func() bool { return strings.Contains(interrupted.String(), "already running as workflow ") }, interrupted)
	stop()
	require.Equal(t, command.ExitFailed, <-ended, interrupted)
	require.Contains(t, interrupted.String(), "the work goes on as workflow import_sessions/")
	require.Contains(t, interrupted.String(), "to see its progress: starter process ")

	c.Work(t)
	ends := make(chan commandtest.Output, 2)
	for range 2 {
		go func() { ends <- c.Process(dir, "--agent", "the agent", "-o", "json") }()
	}
	for range 2 {
		o := <-ends
		jobs := commandtest.JobsOf(t, o)
		require.Len(t, jobs, sessions)
		require.Contains(t, o.Err, "already running as workflow ")
		for _, j := range jobs {
			require.Equal(t, schema.BuildSuccess, j.Result.Status, j)
		}
	}
	builds := commandtest.Decode[[]map[string]any](t, c.Run("builds", "list", "--project", c.Project, "--limit", "100", "-o", "json"))
	require.Len(t, builds, sessions, "each session was processed once")
}

// The advice about failed sessions is correct: a session that was never started has no build, and long ids are cut.
func TestProcessAdvice(t *testing.T) {
	t.Parallel()
	refused, failed, fine := &progress.Job{File: "a"}, &progress.Job{File: "b", Error: "the model refuses"}, &progress.Job{File: "c"}
	refused.Input.SessionID = strings.Repeat("긴", 900)
	feed.Refuse(refused, "it is\ntoo long "+strings.Repeat("x", 5000))
	require.NoError(t, feed.Outcome([]*progress.Job{fine}))
	require.EqualError(t, feed.Outcome([]*progress.Job{refused, fine}), "1 of 2 sessions failed: none of these was started")
	require.EqualError(t, feed.Outcome([]*progress.Job{refused, failed}), "2 of 2 sessions failed; see starter builds list --status failed")
	noted := func(j *progress.Job) string {
		var b strings.Builder
		feed.Note(&b, j, false)
		return b.String()
	}
	require.Regexp(t, "^(긴){1,39}… failed: it is too long x{900,1000}…\n$", noted(refused))
}

// The report of many sessions contains counts, and the failed ones with their reasons.
func TestManyJobs(t *testing.T) {
	t.Parallel()
	var r feed.ProcessReport
	for i := range 300 {
		j := &progress.Job{File: fmt.Sprintf("/대화/%d.jsonl", i)}
		j.Result.Status = schema.BuildSuccess
		j.Result.Counts = schema.BuildCounts{Messages: 2, NewMessages: 1, Entries: 3, NewEntries: 2, Quarantined: 1}
		if i >= 180 {
			j.Result.Status, j.Error = schema.BuildFailed, "the model\nrefuses"
		}
		r.Sessions = append(r.Sessions, j)
		r.PassedOver = append(r.PassedOver, feed.PassedOver{File: fmt.Sprintf("/대화/%d.png", i), Reason: "not a transcript"})
	}
	var b strings.Builder
	r.Print(&b)
	require.Contains(t, b.String(), "\n300 files are not transcripts; --verbose lists them\n")
	b.Reset()
	r.Verbose = true
	r.Print(&b)
	require.Contains(t, b.String(), "300 sessions: 120 failed, 180 success\n600 messages (300 new), 900 entries (600 new)\n")
	require.Contains(t, b.String(), "gave no whole answer to 300 windows")
	require.Contains(t, b.String(), "failed:\n  /대화/180.jsonl: the model refuses\n")
	require.Contains(t, b.String(), "  and 20 more: --output json lists all\n")
	require.Contains(t, b.String(), "\n300 files are not transcripts:\n  /대화/0.png: not a transcript\n")
	require.Contains(t, b.String(), "  and 200 more")
}
