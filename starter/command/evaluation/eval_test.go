package evaluation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/projection"
	"axiommind/activities/retrieve/eval"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/commandtest"
	"axiommind/starter/command/evaluation"
	"axiommind/starter/command/recall"
)

// Invalid flags and files are refused with exit code 2 before any server is contacted.
func TestEvalRetrievalRefuses(t *testing.T) {
	t.Parallel()
	gold := commandtest.Write(t, "gold.jsonl", evaluation.GoldLines)
	run := evaluation.SavedRun(t)
	one := commandtest.Write(t, "one.jsonl", strings.SplitAfter(evaluation.GoldLines, "\n")[0])
	half := eval.HalfOdd
	if half.Has("a") {
		half = eval.HalfEven
	}
	for says, args := range map[string][]string{
		"say with --goldset":                              {},
		"no such file":                                    {"--goldset", "/no/such/file"},
		"is a directory":                                  {"--goldset", t.TempDir()},
		"x.jsonl: line 2: query is empty":                 {"--goldset", commandtest.Write(t, "x.jsonl", "\n"+`{"id":"q","abstain":true}`)},
		"--limit 10: want 20 to 200":                      {"--goldset", gold, "--limit", "10"},
		"--limit 201":                                     {"--goldset", gold, "--limit", "201"},
		"--concurrency 0: want 1 to 64":                   {"--goldset", gold, "--concurrency", "0"},
		"--alpha 2: want 0 to 1":                          {"--goldset", gold, "--alpha", "2"},
		"--alpha NaN: want 0 to 1":                        {"--goldset", gold, "--alpha", "NaN"},
		`--half "left": want one of all, odd, ev`:         {"--goldset", gold, "--half", "left"},
		"none of the questions":                           {"--goldset", one, "--half", string(half)},
		"--max-drop needs a run to compare with":          {"--goldset", gold, "--max-drop", "0.1"},
		"--max-drop 3: want 0 to 1":                       {"--goldset", gold, "--compare", run, "--max-drop", "3"},
		"gold.jsonl: is no result of a run: version is 0": {"--goldset", gold, "--compare", commandtest.Write(t, "gold.jsonl", "{}")},
		"of different gold sets":                          {"--goldset", one, "--compare", run},
		"one asked for 20 results, the other for 50":      {"--goldset", gold, "--compare", run, "--limit", "50"},
		"would overwrite the run to compare with":         {"--goldset", gold, "--compare", run, "--out", run},
		"--out: stat /no/such":                            {"--goldset", gold, "--out", "/no/such/run.json"},
		"is a directory: name a file":                     {"--goldset", gold, "--out", t.TempDir()},
		`--embedder "bert"`:                               {"--goldset", gold, "--embedder", "bert"},
		"takes no arguments":                              {"--goldset", gold, "more"},
	} {
		o := commandtest.Down().Run(append([]string{"eval", "retrieval"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", args, o)
		require.Contains(t, o.Err, says)
		require.Empty(t, o.Out)
		commandtest.RequireHarmless(t, o)
	}
	o := commandtest.Down().Run("eval", "retrieval", "--goldset", gold)
	require.Equal(t, command.ExitFailed, o.Code, "the servers are down")
}

func TestEvalImport(t *testing.T) {
	t.Parallel()
	messages := commandtest.Write(t, "messages.jsonl", `{"project":"it's","session":"s","time":"2026-03-01T09:00:00Z","text":"We moved to the harbour."}`)
	questions := commandtest.Write(t, "questions.csv", "question,answer,project\nWhere?,the harbour,it's\n")
	dir := filepath.Join(t.TempDir(), "new")
	o := commandtest.Offline("eval", "import", "own", questions, messages, "--to", dir)
	require.Equal(t, command.ExitOK, o.Code, o)
	transcript := filepath.Join(dir, "transcripts", "it's.jsonl")
	require.Contains(t, o.Out, "goldset.jsonl: 1 question\n1 transcript: 1 session, 1 message\nnext:\n")
	require.Contains(t, o.Out, `--project=it'\''s'`)
	require.FileExists(t, transcript)
	f, err := os.Open(filepath.Join(dir, "goldset.jsonl"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	gold, err := eval.ReadGoldSet(f, "goldset.jsonl")
	require.NoError(t, err)
	zero := 0
	require.Equal(t, []eval.Ref{{Session: "s", Message: &zero, Text: "the harbour"}}, gold[0].Relevant)

	again := commandtest.Offline("eval", "import", "own", questions, messages, "--to", dir)
	require.Equal(t, command.ExitUsage, again.Code)
	require.Contains(t, again.Err, "goldset.jsonl exists already: give another directory")
	written := commandtest.Decode[eval.Written](t, commandtest.Offline("eval", "import", "own", questions, messages, "--to", t.TempDir(), "-o", "json"))
	require.Equal(t, 1, written.Questions)
	for says, args := range map[string][]string{
		`data set "beam": want one of locomo, longmemeval, own`: {"beam", questions, "--to", "x"},
		"say with --to":                    {"own", questions},
		"takes 2 files":                    {"longmemeval", questions, "--to", "x"},
		"takes 1 file, not 2":              {"locomo", questions, questions, "--to", "x"},
		"takes 1 or 2 files":               {"own", "a", "b", "c", "--to", "x"},
		"no such file":                     {"own", "/no/such/file", "--to", "x"},
		"is not LoCoMo":                    {"locomo", questions, "--to", "x"},
		"takes at least 2 arguments":       {"own", "--to", "x"},
		`answer "the harbour" is in no me`: {"own", questions, commandtest.Write(t, "m.jsonl", `{"session":"s","text":"x"}`), "--to", "x"},
	} {
		o := commandtest.Offline(append([]string{"eval", "import"}, args...)...)
		require.Equal(t, command.ExitUsage, o.Code, "%q: %s", args, o)
		require.Contains(t, o.Err, says)
		require.NoDirExists(t, "x")
	}
	denied := commandtest.Offline("eval", "import", "own", questions, messages, "--to", filepath.Join(questions, "below"))
	require.Equal(t, command.ExitFailed, denied.Code, denied)
}

// The dates that an import writes are those that process reads.
func TestEvalImportKeepsDates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	messages := commandtest.Write(t, "m.jsonl", `{"session":"s","time":"2026-03-01T09:00:00Z","text":"We moved."}`)
	o := commandtest.Offline("eval", "import", "own", commandtest.Write(t, "q.csv", "question,answer\nWhere?,moved\n"), messages, "--to", filepath.Join(dir, "new"))
	require.Equal(t, command.ExitOK, o.Code, o)
	raw, err := os.ReadFile(filepath.Join(dir, "new", "transcripts", "default.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(raw), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Format(time.RFC3339))
}

// A run is refused while items are not indexed, for unknown projects, and if it would measure words alone. Otherwise its
// figures would be silently wrong.
func TestEvalWantsAWholeMemory(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	c.Timing = stacktest.Timing()
	c.Work(t)
	transcript := commandtest.Write(t, "t.jsonl", commandtest.Said(1, "user", "We decided to keep the event log in ClickHouse."))
	require.Zero(t, c.Process(transcript, "--session", "s").Code)
	question := `{"id":"q","query":"Where is the event log?","project":%q,"relevant":[{"session":"s","message":0}]}`
	gold := commandtest.Write(t, "gold.jsonl", fmt.Sprintf(question, c.Project))
	measure := func(more ...string) commandtest.Output {
		return c.Run(append([]string{"eval", "retrieval", "--goldset", gold}, more...)...)
	}
	commandtest.Eventually(t, func() bool { return measure().Code == command.ExitOK })
	require.Zero(t, commandtest.Decode[recall.Searched](t, c.Run("search", "event log", "--project", c.Project, "-o", "json")).NotIndexed)

	conn := stacktest.Connect(t, c.Servers[slices.Index(c.Servers, "--clickhouse-dsn")+1])
	require.NoError(t, conn.Exec(t.Context(), `INSERT INTO vector_outbox_raw (job_id, item_kind, item_id, embedding_version, project, status)
		VALUES ('1', 'message', 'x/1', ?, ?, 'pending')`, schema.MessageIndex(llm.Hash{}.Version()), c.Project))
	o := measure()
	require.Equal(t, command.ExitFailed, o.Code)
	require.Contains(t, o.Err, "1 item is not indexed yet and would be missed")
	run := filepath.Join(t.TempDir(), "run.json")
	require.Zero(t, measure("--now", "--out", run).Code)
	kept, err := os.ReadFile(run)
	require.NoError(t, err)
	require.Contains(t, string(kept), `"not_indexed": "1"`)
	require.Contains(t, c.Run("search", "event log", "--project", c.Project).Err, "1 item is not indexed yet, and may be found in some seconds\n")
	require.Equal(t, 1, commandtest.Decode[recall.Searched](t, c.Run("search", "event log", "--project", c.Project, "-o", "json")).NotIndexed)

	// A fact that a person entered about the user counts, and a fact about another user does not.
	for job, stream := range map[string]string{"2": schema.MemoryStream("default", ""), "3": schema.MemoryStream("defaul", "")} {
		require.NoError(t, conn.Exec(t.Context(), `INSERT INTO vector_outbox_raw (job_id, item_kind, item_id, embedding_version, project, status)
			SELECT ?, 'fact', if(event_id = '', 'other', event_id), ?, '', 'pending' FROM (SELECT any(event_id) AS event_id FROM events_raw WHERE stream = ?)`,
			job, llm.Hash{}.Version(), stream))
	}
	require.Equal(t, 2, commandtest.Decode[recall.Searched](t, c.Run("search", "event log", "--project", c.Project, "-o", "json")).NotIndexed)
	require.Contains(t, c.Run("context", "--query", "event log").Err, "1 fact is not indexed yet, and ordered by words alone\n")

	gold = commandtest.Write(t, "gold.jsonl", `{"id":"q 'x'","query":"Where is the event log?","project":"`+c.Project+`","user":"anne","relevant":[{"session":"s","message":0}]}`)
	o = measure("--now")
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, "question q 'x': no session of user anne was processed in project "+c.Project)

	gold = commandtest.Write(t, "gold.jsonl", fmt.Sprintf(question, "no 'such' 한"))
	o = measure()
	require.Equal(t, command.ExitUsage, o.Code, o)
	require.Contains(t, o.Err, `nothing was ever processed in project no 'such' 한: starter process FILE '--project=no '\''such'\'' 한'`)

	o = c.Run("search", "event log", "--project", c.Project, "--embedder", "openai")
	require.Zero(t, o.Code, "the one in use needs no key: %s", o)
	require.Contains(t, o.Out, commandtest.Decision[:10])
	require.Contains(t, c.Run("embedder", "status", "--embedder", "openai").Out, "none: ")
}

func TestEvalOfWordsAloneIsRefused(t *testing.T) {
	t.Parallel()
	c := commandtest.NewCLI(t)
	conn := stacktest.Connect(t, c.Servers[slices.Index(c.Servers, "--clickhouse-dsn")+1])
	log := projection.New(conn, eventlog.Options{})
	_, err := vector.NewIndexes(conn, log, nil, nil, llm.Hash{}, nil, vector.Options{}).Choose(t.Context(), "gemini-gemini-embedding-001-768")
	require.NoError(t, err)
	o := c.Run("eval", "retrieval", "--goldset", commandtest.Write(t, "gold.jsonl", evaluation.GoldLines))
	require.Equal(t, command.ExitUsage, o.Code)
	require.Contains(t, o.Err, "words alone would be measured")
}
