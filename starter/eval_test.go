package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"axiommind/activities/eventlog"
	"axiommind/activities/llm"
	"axiommind/activities/retrieve"
	"axiommind/activities/retrieve/eval"
	"axiommind/activities/vector"
	"axiommind/deploy/local/stacktest"
	"axiommind/schema"
)

const goldLines = `{"id":"a","query":"Where?","category":"place","relevant":[{"entry":"e1"},{"entry":"e2"}]}
{"id":"b","query":"Who?","category":"person","relevant":[{"entry":"e3"}]}
{"id":"c","query":"Why?","category":"person","abstain":true}
`

// ranked returns the prepared entries of each question.
type ranked map[string][]string

func (r ranked) Retrieve(_ context.Context, q eval.Question, _ int) ([]eval.Found, error) {
	var found []eval.Found
	for _, id := range r[q.ID] {
		found = append(found, eval.Found{Kind: eval.KindEntry, ID: id})
	}
	return found, nil
}

func runOf(t *testing.T, r ranked) eval.Result {
	t.Helper()
	questions, err := eval.ReadGoldSet(strings.NewReader(goldLines), "gold.jsonl")
	require.NoError(t, err)
	run, err := eval.Run(t.Context(), questions, r, eval.Options{
		Embedder: "hash-v2-384", Settings: map[string]string{"alpha": "0.3", "variant": "default"},
	})
	require.NoError(t, err)
	return run
}

func savedRun(t *testing.T, run eval.Result) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.json")
	require.NoError(t, writeRun(path, run))
	return path
}

// Invalid flags and files are refused with exit code 2 before any server is contacted.
func TestEvalRetrievalRefuses(t *testing.T) {
	t.Parallel()
	gold := write(t, "gold.jsonl", goldLines)
	run := savedRun(t, runOf(t, ranked{}))
	one := write(t, "one.jsonl", strings.SplitAfter(goldLines, "\n")[0])
	half := eval.HalfOdd
	if half.Has("a") {
		half = eval.HalfEven
	}
	for says, args := range map[string][]string{
		"say with --goldset":                              {},
		"no such file":                                    {"--goldset", "/no/such/file"},
		"is a directory":                                  {"--goldset", t.TempDir()},
		"x.jsonl: line 2: query is empty":                 {"--goldset", write(t, "x.jsonl", "\n"+`{"id":"q","abstain":true}`)},
		"--limit 10: want 20 to 200":                      {"--goldset", gold, "--limit", "10"},
		"--limit 201":                                     {"--goldset", gold, "--limit", "201"},
		"--concurrency 0: want 1 to 64":                   {"--goldset", gold, "--concurrency", "0"},
		"--alpha 2: want 0 to 1":                          {"--goldset", gold, "--alpha", "2"},
		"--alpha NaN: want 0 to 1":                        {"--goldset", gold, "--alpha", "NaN"},
		`--half "left": want one of all, odd, ev`:         {"--goldset", gold, "--half", "left"},
		"none of the questions":                           {"--goldset", one, "--half", string(half)},
		"--max-drop needs a run to compare with":          {"--goldset", gold, "--max-drop", "0.1"},
		"--max-drop 3: want 0 to 1":                       {"--goldset", gold, "--compare", run, "--max-drop", "3"},
		"gold.jsonl: is no result of a run: version is 0": {"--goldset", gold, "--compare", write(t, "gold.jsonl", "{}")},
		"of different gold sets":                          {"--goldset", one, "--compare", run},
		"one asked for 20 results, the other for 50":      {"--goldset", gold, "--compare", run, "--limit", "50"},
		"would overwrite the run to compare with":         {"--goldset", gold, "--compare", run, "--out", run},
		"--out: stat /no/such":                            {"--goldset", gold, "--out", "/no/such/run.json"},
		"is a directory: name a file":                     {"--goldset", gold, "--out", t.TempDir()},
		`--embedder "bert"`:                               {"--goldset", gold, "--embedder", "bert"},
		"takes no arguments":                              {"--goldset", gold, "more"},
	} {
		o := down().run(append([]string{"eval", "retrieval"}, args...)...)
		require.Equal(t, exitUsage, o.code, "%q: %s", args, o)
		require.Contains(t, o.err, says)
		require.Empty(t, o.out)
		requireHarmless(t, o)
	}
	o := down().run("eval", "retrieval", "--goldset", gold)
	require.Equal(t, exitFailed, o.code, "the servers are down")
}

func TestEvalTable(t *testing.T) {
	t.Parallel()
	before := runOf(t, ranked{"a": {"e1", "e2"}, "b": {"x", "e3"}})
	after := runOf(t, ranked{"a": {"e1"}, "b": {"e3"}, "c": {"x"}})
	comparison, err := eval.Compare(before, after, eval.MaxDrop(0.02))
	require.NoError(t, err)
	report := evalReport{Run: after, Ablations: []ablation{{"no reranking", before}}, Comparison: &comparison}
	var b strings.Builder
	require.NoError(t, printEval(&b, &evalOptions{goldSet: "gold.jsonl", out: "run.json", compare: "old.json"}, report))
	out := b.String()
	require.Contains(t, out, "gold.jsonl: 3 questions, 3 references; embedder hash-v2-384, alpha 0.3, 20 results asked for, 1 question at a time\n")
	require.Regexp(t, `(?m)^SETTING +N +R@1 +R@5 +R@10 +95 % +R@20 +MRR +NDCG@10 +P50 +P95 +P99$`, out)
	require.Regexp(t, `(?m)^default +3 +0\.750 +0\.750 +0\.750 +0\.500–1\.000 +0\.750 +1\.000 +0\.807 .* ms$`, out)
	require.Regexp(t, `(?m)^no reranking +3 +0\.250 +1\.000 `, out)
	require.Regexp(t, `(?m)^category person +2 +1\.000 `, out)
	require.Regexp(t, `(?m)^QUESTIONS OF +HIT@1 .* ALL@20$`, out)
	require.Contains(t, out, "1 question that nothing answers: nothing is returned for 0.000 of them\n")
	require.Contains(t, out, "written to run.json\n")
	require.Contains(t, out, "recall@10  1.000 → 0.750  -0.250  fell by more than 0.020\n")
	require.Contains(t, out, "mrr        0.750 → 1.000  +0.250\n")
	require.Contains(t, out, "2 questions got worse, 1 got better\n  a: found at 1, -, and at 1, 2 before\n  c: something is returned\n")
	require.NotContains(t, out, "language", "there is none")
	require.EqualError(t, report.verdict(), "recall@10 fell by 0.250, from 1.000 to 0.750; 0.020 is allowed")
	report.Comparison = nil
	require.NoError(t, report.verdict())

	b.Reset()
	require.NoError(t, printEval(&b, &evalOptions{goldSet: "gold.jsonl"}, evalReport{Run: runOf(t, ranked{})}))
	require.Contains(t, b.String(), "Nothing was returned for any question: are the sessions processed")
}

func TestWriteRun(t *testing.T) {
	t.Parallel()
	run := runOf(t, ranked{"a": {"e1"}})
	path := savedRun(t, run)
	require.NoError(t, writeRun(path, run), "an earlier run is overwritten")
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	again, err := eval.ReadResult(f, path)
	require.NoError(t, err)
	require.Equal(t, run, again)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// A hit is found in its session and in the messages that it quotes, and so are the entries that say the same.
func TestFoundOf(t *testing.T) {
	t.Parallel()
	quote := func(message int, text string) []schema.Evidence {
		return []schema.Evidence{{MessageIndex: message, Text: text, Found: true}, {MessageIndex: 99, Quote: "nowhere"}}
	}
	h := retrieve.Hit{
		Entry:             schema.Entry{ID: "e", SessionID: "own", Title: "Release on Thursday", Evidence: quote(4, "every Thursday")},
		EvidenceSessionID: "other", Score: 0.5,
		Sessions: []retrieve.Statement{
			{EntryID: "e", SessionID: "own"},
			{EntryID: "f", SessionID: "third", EvidenceSessionID: "third", Title: "Thursday", Evidence: quote(1, "on Thursdays")},
		},
	}
	require.Equal(t, eval.Found{
		Kind: eval.KindEntry, ID: "e", Session: "other", Messages: []int{4}, Text: "Release on Thursday\nevery Thursday", Score: 0.5,
		Also: []eval.Found{
			{Kind: eval.KindEntry, ID: "e", Session: "own", Text: "Release on Thursday"},
			{Kind: eval.KindEntry, ID: "f", Session: "third", Messages: []int{1}, Text: "Thursday\non Thursdays"},
		},
	}, foundOf(h))
}

func TestEvalVariants(t *testing.T) {
	t.Parallel()
	o := &evalOptions{alpha: 0.4, flags: pflag.NewFlagSet("", pflag.ContinueOnError)}
	o.flags.Float64Var(&o.alpha, "alpha", 0.5, "")
	require.Len(t, o.variants(), 1)
	require.Nil(t, o.variants()[0].alpha, "it is the embedder's")
	require.NoError(t, o.flags.Set("alpha", "0.4"))
	o.ablations = true
	all := o.variants()
	require.Equal(t, []float64{0.4, 0, 1, 0.4, 0.4}, []float64{*all[0].alpha, *all[1].alpha, *all[2].alpha, *all[3].alpha, *all[4].alpha})
	require.Zero(t, *all[1].weights, "words alone are BM25: no factor, no neighbours")
	require.Zero(t, *all[2].weights)
	require.Zero(t, all[3].weights.Neighbours)
	require.NotEmpty(t, all[3].weights.Stage)
	require.Zero(t, *all[4].weights)
	require.Equal(t, []string{"default", "default"}, []string{all[0].settings(1)["rerank"], all[0].settings(1)["neighbours"]})
	require.Equal(t, []string{"default", "none"}, []string{all[3].settings(1)["rerank"], all[3].settings(1)["neighbours"]})
	require.Equal(t, []string{"none", "none"}, []string{all[4].settings(1)["rerank"], all[4].settings(1)["neighbours"]})
}

func TestEvalImport(t *testing.T) {
	t.Parallel()
	messages := write(t, "messages.jsonl", `{"project":"it's","session":"s","time":"2026-03-01T09:00:00Z","text":"We moved to the harbour."}`)
	questions := write(t, "questions.csv", "question,answer,project\nWhere?,the harbour,it's\n")
	dir := filepath.Join(t.TempDir(), "new")
	o := offline("eval", "import", "own", questions, messages, "--to", dir)
	require.Equal(t, exitOK, o.code, o)
	transcript := filepath.Join(dir, "transcripts", "it's.jsonl")
	require.Contains(t, o.out, "goldset.jsonl: 1 question\n1 transcript: 1 session, 1 message\nnext:\n")
	require.Contains(t, o.out, `--project=it'\''s'`)
	require.FileExists(t, transcript)
	f, err := os.Open(filepath.Join(dir, "goldset.jsonl"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	gold, err := eval.ReadGoldSet(f, "goldset.jsonl")
	require.NoError(t, err)
	zero := 0
	require.Equal(t, []eval.Ref{{Session: "s", Message: &zero, Text: "the harbour"}}, gold[0].Relevant)

	again := offline("eval", "import", "own", questions, messages, "--to", dir)
	require.Equal(t, exitUsage, again.code)
	require.Contains(t, again.err, "goldset.jsonl exists already: give another directory")
	written := decode[eval.Written](t, offline("eval", "import", "own", questions, messages, "--to", t.TempDir(), "-o", "json"))
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
		`answer "the harbour" is in no me`: {"own", questions, write(t, "m.jsonl", `{"session":"s","text":"x"}`), "--to", "x"},
	} {
		o := offline(append([]string{"eval", "import"}, args...)...)
		require.Equal(t, exitUsage, o.code, "%q: %s", args, o)
		require.Contains(t, o.err, says)
		require.NoDirExists(t, "x")
	}
	denied := offline("eval", "import", "own", questions, messages, "--to", filepath.Join(questions, "below"))
	require.Equal(t, exitFailed, denied.code, denied)
}

// The dates that an import writes are those that process reads.
func TestEvalImportKeepsDates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	messages := write(t, "m.jsonl", `{"session":"s","time":"2026-03-01T09:00:00Z","text":"We moved."}`)
	o := offline("eval", "import", "own", write(t, "q.csv", "question,answer\nWhere?,moved\n"), messages, "--to", filepath.Join(dir, "new"))
	require.Equal(t, exitOK, o.code, o)
	raw, err := os.ReadFile(filepath.Join(dir, "new", "transcripts", "default.jsonl"))
	require.NoError(t, err)
	require.Contains(t, string(raw), time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Format(time.RFC3339))
}

// A run is refused while items are not indexed, for unknown projects, and if it would measure words alone. Otherwise its
// figures would be silently wrong.
func TestEvalWantsAWholeMemory(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	c.timing = stacktest.Timing()
	c.work(t)
	transcript := write(t, "t.jsonl", said(1, "user", "We decided to keep the event log in ClickHouse."))
	require.Zero(t, c.process(transcript, "--session", "s").code)
	question := `{"id":"q","query":"Where is the event log?","project":%q,"relevant":[{"session":"s","message":0}]}`
	gold := write(t, "gold.jsonl", fmt.Sprintf(question, c.project))
	measure := func(more ...string) output {
		return c.run(append([]string{"eval", "retrieval", "--goldset", gold}, more...)...)
	}
	eventually(t, func() bool { return measure().code == exitOK })
	require.Zero(t, decode[searched](t, c.run("search", "event log", "--project", c.project, "-o", "json")).NotIndexed)

	conn := stacktest.Migrated(t, c.servers[slices.Index(c.servers, "--clickhouse-dsn")+1])
	require.NoError(t, conn.Exec(t.Context(), `INSERT INTO vector_outbox_raw (job_id, item_kind, item_id, embedding_version, project, status)
		VALUES ('1', 'message', 'x/1', ?, ?, 'pending')`, schema.MessageIndex(llm.Hash{}.Version()), c.project))
	o := measure()
	require.Equal(t, exitFailed, o.code)
	require.Contains(t, o.err, "1 item is not indexed yet and would be missed")
	run := filepath.Join(t.TempDir(), "run.json")
	require.Zero(t, measure("--now", "--out", run).code)
	kept, err := os.ReadFile(run)
	require.NoError(t, err)
	require.Contains(t, string(kept), `"not_indexed": "1"`)
	require.Contains(t, c.run("search", "event log", "--project", c.project).err, "1 item is not indexed yet, and may be found in some seconds\n")
	require.Equal(t, 1, decode[searched](t, c.run("search", "event log", "--project", c.project, "-o", "json")).NotIndexed)

	// A fact that a person entered about the user counts, and a fact about another user does not.
	for job, stream := range map[string]string{"2": schema.MemoryStream("default", ""), "3": schema.MemoryStream("defaul", "")} {
		require.NoError(t, conn.Exec(t.Context(), `INSERT INTO vector_outbox_raw (job_id, item_kind, item_id, embedding_version, project, status)
			SELECT ?, 'fact', if(event_id = '', 'other', event_id), ?, '', 'pending' FROM (SELECT any(event_id) AS event_id FROM events_raw WHERE stream = ?)`,
			job, llm.Hash{}.Version(), stream))
	}
	require.Equal(t, 2, decode[searched](t, c.run("search", "event log", "--project", c.project, "-o", "json")).NotIndexed)
	require.Contains(t, c.run("context", "--query", "event log").err, "1 fact is not indexed yet, and ordered by words alone\n")

	gold = write(t, "gold.jsonl", `{"id":"q 'x'","query":"Where is the event log?","project":"`+c.project+`","user":"anne","relevant":[{"session":"s","message":0}]}`)
	o = measure("--now")
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, "question q 'x': no session of user anne was processed in project "+c.project)

	gold = write(t, "gold.jsonl", fmt.Sprintf(question, "no 'such' 한"))
	o = measure()
	require.Equal(t, exitUsage, o.code, o)
	require.Contains(t, o.err, `nothing was ever processed in project no 'such' 한: starter process FILE '--project=no '\''such'\'' 한'`)

	o = c.run("search", "event log", "--project", c.project, "--embedder", "openai")
	require.Zero(t, o.code, "the one in use needs no key: %s", o)
	require.Contains(t, o.out, decision[:10])
	require.Contains(t, c.run("embedder", "status", "--embedder", "openai").out, "none: ")
}

func TestEvalOfWordsAloneIsRefused(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	conn := stacktest.Migrated(t, c.servers[slices.Index(c.servers, "--clickhouse-dsn")+1])
	log := eventlog.New(conn, eventlog.Options{})
	_, err := vector.NewIndexes(conn, log, nil, nil, llm.Hash{}, nil, vector.Options{}).Choose(t.Context(), "gemini-gemini-embedding-001-768")
	require.NoError(t, err)
	o := c.run("eval", "retrieval", "--goldset", write(t, "gold.jsonl", goldLines))
	require.Equal(t, exitUsage, o.code)
	require.Contains(t, o.err, "words alone would be measured")
}
