package worth

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/deploy/local/sharedtest"
	"axiommind/schema"
)

// The tests here measure the extractor on real conversations. They run only when asked to:
//
//	go test -run TestMeasure -v -judge.part dev
//	go test -run TestSample -judge.part test-1 -judge.n 300 -judge.out sample.jsonl
//	go test -run TestVerdicts -v -judge.verdicts verdicts.jsonl -judge.out sample.jsonl
var (
	judgePart     = flag.String("judge.part", "", "conversations to measure or sample: dev, test-1, test-2 or test-3")
	judgeN        = flag.Int("judge.n", 100, "entries to sample")
	judgeSeed     = flag.String("judge.seed", "", "choose another sample of the same part")
	judgeOut      = flag.String("judge.out", "", "the file of sampled entries")
	judgeVerdicts = flag.String("judge.verdicts", "", "verdicts to count: {id, keep, why} a line")
)

// chat is a session of LongMemEval.
type chat struct {
	Key   string
	Turns []struct{ Role, Content string }
}

func (c *chat) window() []schema.Message {
	out := make([]schema.Message, len(c.Turns))
	for i, t := range c.Turns {
		out[i] = schema.Message{Index: i, Role: schema.Role(t.Role), Kind: schema.KindText, Text: t.Content}
	}
	return out
}

// partOf says which part a conversation belongs to, by its key alone. The grammar's labels come from dev. The test parts are held
// out, but for the sessions that readers labeled, which [conversations] leaves out.
func partOf(key string) string {
	switch h := digest(key) % 10; {
	case h < 4:
		return "dev"
	case h < 6:
		return "test-1"
	case h < 8:
		return "test-2"
	default:
		return "test-3"
	}
}

func digest(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	// FNV alone leaves the high bits of similar keys alike.
	v := h.Sum64()
	v ^= v >> 33
	v *= 0xff51afd7ed558ccd
	return v ^ v>>33
}

func conversations(t *testing.T, part string) []chat {
	t.Helper()
	f, err := os.Open(sharedtest.Data.Path(t, "longmemeval", "sessions-dev.jsonl.gz"))
	if err != nil {
		t.Skipf("no shared data: %v", err)
	}
	defer func() { require.NoError(t, f.Close()) }()
	zip, err := gzip.NewReader(f)
	require.NoError(t, err)
	raw, err := os.ReadFile("labels/chats.jsonl")
	require.NoError(t, err)
	labeled := map[string]bool{}
	for _, s := range lines[struct{ Session string }](t, raw) {
		labeled[s.Session] = true
	}
	var out []chat
	for d := json.NewDecoder(zip); d.More(); {
		var c chat
		require.NoError(t, d.Decode(&c))
		if partOf(c.Key) == part && !labeled[c.Key] {
			out = append(out, c)
		}
	}
	require.NotEmpty(t, out, "no part is named %q", part)
	return out
}

// item is an entry as a judge sees it.
type item struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Category string `json:"category,omitempty"`
	Title    string `json:"title"`
	Content  string `json:"content,omitempty"`
	Status   string `json:"task_status,omitempty"`
	Task     string `json:"task_title,omitempty"`
	Speaker  string `json:"speaker"`
	Quote    string `json:"quote"`
	// Around is the text around the quote, and Before the end of the message before.
	Around string `json:"around"`
	Before string `json:"message_before,omitempty"`
}

func itemOf(c *chat, n int, e *schema.ExtractedEntry) item {
	proof := e.Evidence[0]
	turn := c.Turns[proof.MessageIndex]
	at := strings.Index(turn.Content, proof.Quote)
	const reach = 350
	it := item{
		ID: fmt.Sprintf("%s-%d", c.Key, n), Type: string(e.Type), Category: e.Category, Title: e.Title, Content: e.Content,
		Speaker: turn.Role, Quote: proof.Quote,
		Around: strings.ToValidUTF8(turn.Content[max(0, at-reach):min(len(turn.Content), at+len(proof.Quote)+reach)], ""),
	}
	if e.Task != nil {
		it.Status, it.Task = string(e.Task.Status), e.Task.Title
	}
	if proof.MessageIndex > 0 {
		before := c.Turns[proof.MessageIndex-1]
		it.Before = before.Role + ": " + strings.ToValidUTF8(before.Content[max(0, len(before.Content)-reach):], "")
	}
	return it
}

func TestSample(t *testing.T) {
	if *judgePart == "" || *judgeOut == "" {
		t.Skip("set -judge.part and -judge.out")
	}
	var items []item
	for _, c := range conversations(t, *judgePart) {
		for n, e := range Extract(c.window(), false).Entries {
			items = append(items, itemOf(&c, n, &e))
		}
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Compare(digest(*judgeSeed+a.ID), digest(*judgeSeed+b.ID))
	})
	f, err := os.Create(*judgeOut)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	for _, it := range items[:min(*judgeN, len(items))] {
		require.NoError(t, enc.Encode(it))
	}
}

func TestVerdicts(t *testing.T) {
	if *judgeVerdicts == "" || *judgeOut == "" {
		t.Skip("set -judge.verdicts and -judge.out")
	}
	type verdict struct {
		ID   string
		Keep bool
		Why  string
	}
	verdicts := map[string]verdict{}
	for _, v := range readLines[verdict](t, *judgeVerdicts) {
		verdicts[v.ID] = v
	}
	kept, of := map[string]int{}, map[string]int{}
	for _, it := range readLines[item](t, *judgeOut) {
		v, ok := verdicts[it.ID]
		require.True(t, ok, "no verdict on %s", it.ID)
		for _, name := range []string{"all", it.Type} {
			of[name]++
			if v.Keep {
				kept[name]++
			}
		}
		if !v.Keep {
			t.Logf("junk: %s: %s (%s)", it.Type, it.Title, v.Why)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		t.Logf("%-10s %d of %d worth keeping, %.1f %%", name, kept[name], of[name], 100*float64(kept[name])/float64(of[name]))
	}
}

func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var out []T
	for d := json.NewDecoder(bufio.NewReader(f)); d.More(); {
		var v T
		require.NoError(t, d.Decode(&v))
		out = append(out, v)
	}
	return out
}

// TestMeasure prints how much the extractor yields, and from how many of the turns that answer a question
// of LongMemEval they keep anything.
func TestMeasure(t *testing.T) {
	if *judgePart == "" {
		t.Skip("set -judge.part")
	}
	evidence := evidenceTurns(t)
	kinds := map[string]int{}
	all, silent, entries, turns, heard := 0, 0, 0, 0, 0
	for _, c := range conversations(t, *judgePart) {
		all++
		from := map[int]bool{}
		got := Extract(c.window(), false).Entries
		for _, e := range got {
			entries++
			kinds[string(e.Type)+" "+e.Category]++
			for _, q := range e.Evidence {
				from[q.MessageIndex] = true
			}
		}
		if len(got) == 0 {
			silent++
		}
		for n := range evidence[c.Key] {
			if c.Turns[n].Role != string(schema.RoleUser) {
				continue
			}
			turns++
			if from[n] {
				heard++
			} else if *judgePart == "dev" {
				t.Logf("missed: %s", c.Turns[n].Content)
			}
		}
	}
	t.Logf("%s: %d conversations, %d without an entry", *judgePart, all, silent)
	t.Logf("%d entries, %.2f a conversation", entries, float64(entries)/float64(all))
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("  %-20s %d", k, kinds[k])
	}
	t.Logf("evidence turns of users with an entry: %d of %d", heard, turns)
}

// evidenceTurns returns, by conversation, the turns that answer a question.
func evidenceTurns(t *testing.T) map[string]map[int]bool {
	t.Helper()
	type question struct {
		Haystack []struct {
			Key    string
			Answer []int `json:"has_answer_turns"`
		}
	}
	out := map[string]map[int]bool{}
	for _, q := range readLines[question](t, sharedtest.Data.Path(t, "longmemeval", "questions-dev.jsonl")) {
		for _, h := range q.Haystack {
			for _, n := range h.Answer {
				if out[h.Key] == nil {
					out[h.Key] = map[int]bool{}
				}
				out[h.Key][n] = true
			}
		}
	}
	return out
}
