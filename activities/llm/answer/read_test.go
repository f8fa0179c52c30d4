package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

const goodItem = `{"entryId":"ent_1","type":"decision","title":"Use Go","evidence":[{"messageIndex":3,"quote":"we decided to use Go"}]}`

func goodEntry() schema.ExtractedEntry {
	return schema.ExtractedEntry{
		EntryID: "ent_1", Type: schema.EntryDecision, Title: "Use Go",
		Evidence: []schema.Quote{{MessageIndex: 3, Quote: "we decided to use Go"}},
	}
}

func TestReadFindsTheEntries(t *testing.T) {
	t.Parallel()
	good := `{"entries":[` + goodItem + `]}`
	tests := map[string]string{
		"as asked":                  good,
		"fence":                     "```json\n" + good + "\n```",
		"fence without a language":  "```\n" + good + "\n```\n",
		"prose around":              "Here is what I found {so far}:\n\n" + good + "\n\nLet me know [1] if you need more.",
		"thoughts before":           "<think>They say {\"entries\":[]} is fine. Let me see...</think>\n" + good,
		"thoughts in capitals":      "<THINKING>{\"entries\":[{\"type\":\"fact\"}]}</THINKING>" + good,
		"thoughts never opened":     `Maybe {"entries":[]}? No.` + "\n</think>\n" + good,
		"byte order mark":           "\ufeff" + good,
		"bare list":                 "[" + goodItem + "]",
		"bare entry":                goodItem,
		"trailing commas":           `{"entries":[` + strings.TrimSuffix(goodItem, "}") + `,},],}`,
		"single quotes":             `{'entries':[{'entryId':'ent_1','type':'decision','title':'Use Go','evidence':[{'messageIndex':3,'quote':'we decided to use Go'}]}]}`,
		"comments":                  `{"entries":[ // one` + "\n" + goodItem + `]}`,
		"bare keys":                 `{entries:[{entryId:"ent_1",type:"decision",title:"Use Go",evidence:[{messageIndex:3,quote:"we decided to use Go"}]}]}`,
		"no closing bracket":        `{"entries":[` + goodItem + `]`,
		"wrapped":                   `{"result":` + good + `}`,
		"another name of the list":  `{"memories":[` + goodItem + `]}`,
		"an object for the list":    `{"entries":` + goodItem + `}`,
		"more keys":                 `{"summary":"none","entries":[` + goodItem + `],"note":{"a":[1]}}`,
		"snake case":                `{"entries":[{"entry_id":"ent_1","type":"Decision","title":"Use Go","evidence":[{"message_index":"3","quote":"we decided to use Go"}]}]}`,
		"number with a fraction":    strings.Replace(good, `"messageIndex":3`, `"messageIndex":3.0`, 1),
		"one quote without a list":  `{"entries":[{"entryId":"ent_1","type":"decision","title":"Use Go","evidence":{"messageIndex":3,"quote":"we decided to use Go"}}]}`,
		"null and blank":            strings.Replace(good, `"type"`, `"content":"","category":null,"confidence":null,"task":null,"type"`, 1),
		"what the schema lacks":     strings.Replace(good, `"type"`, `"spanStart":4,"spanEnd":9,"type"`, 1),
		"category of no fact":       strings.Replace(good, `"type"`, `"category":"goal","type"`, 1),
		"an empty draft before":     `{"entries":[]} Wait, there is one: ` + good,
		"an empty example after":    good + ` (An empty answer would be {"entries":[]}.)`,
		"a rejected draft before":   `{"entries":[{"type":"decision"}]}` + good,
		"a draft with other entry":  `{"entries":[{"type":"fact","title":"x","evidence":[{"messageIndex":1,"quote":"y"}]}]} Better: ` + good,
		"tag in a quote is no tag":  `{"note":"<think>","entries":[` + goodItem + `]}`,
		"escaped bracket in a text": `{"note":"a \"}]{ b","entries":[` + goodItem + `]}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Read(text)
			require.NoError(t, err)
			require.Equal(t, []schema.ExtractedEntry{goodEntry()}, r.Entries)
			require.Empty(t, r.Rejected)
			require.False(t, r.Truncated)
		})
	}
}

func TestReadKeepsEverything(t *testing.T) {
	t.Parallel()
	r, err := Read(`{"entries":[{"id":"a","type":"task","title":"로그인 수정","content":"c","confidence":"0.8",
		"task":{"title":"로그인","status":"In Progress","priority":"HIGH","blocked_by":"보안 검토"},
		"evidence":[{"msg_index":1,"quote":"로그인 <think> \"수정\""},{"messageIndex":2,"quote":"q"}]},
		{"entryId":2,"type":"fact","category":"Preference","title":"t","evidence":[{"messageIndex":0,"quote":"q"}],"task":{"status":"done"}}]}`)
	require.NoError(t, err)
	confidence := 0.8
	require.Equal(t, []schema.ExtractedEntry{
		{
			EntryID: "a", Type: schema.EntryTaskNote, Title: "로그인 수정", Content: "c", Confidence: &confidence,
			Task: &schema.ExtractedTask{
				Title: "로그인", Status: schema.TaskInProgress, Priority: schema.PriorityHigh, BlockedBy: []string{"보안 검토"},
			},
			Evidence: []schema.Quote{{MessageIndex: 1, Quote: `로그인 <think> "수정"`}, {MessageIndex: 2, Quote: "q"}},
		},
		{
			EntryID: "2", Type: schema.EntryFact, Category: schema.CategoryPreference, Title: "t",
			Evidence: []schema.Quote{{MessageIndex: 0, Quote: "q"}},
		},
	}, r.Entries)
}

func TestReadOneEntryALine(t *testing.T) {
	t.Parallel()
	r, err := Read(goodItem + "\n" + strings.Replace(goodItem, "Use Go", "Use Zig", 1) + "\n")
	require.NoError(t, err)
	require.Len(t, r.Entries, 2)
	require.False(t, r.Truncated)
}

func TestReadEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"entries":[]}`, "```json\n[]\n```", `{"entries":null}`, `Nothing here: {"entries": []}`} {
		r, err := Read(text)
		require.NoError(t, err, text)
		require.Equal(t, Result{}, r, text)
	}
}

func TestReadUnreadable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, reason string }{
		"nothing":                  {"", "no JSON"},
		"prose":                    {"I could not find anything worth remembering.", "no JSON"},
		"thoughts only":            {`<think>{"entries":[]}`, "no JSON"},
		"brackets in prose":        {"The list [] is empty, see [1] and {x}.", "broken JSON"},
		"other JSON":               {`{"answer":42}`, "no list of entries"},
		"empty object":             {`{}`, "no list of entries"},
		"list of strings":          {`["Use Go"]`, "no list of entries"},
		"cut off in the first":     {`{"entries":[{"type":"fact","title":"Use`, "cut off"},
		"cut off before the first": {`{"entries":[`, "cut off"},
		"too deep":                 {strings.Repeat("[", 5000), "nested deeper"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Read(tc.text)
			require.ErrorIs(t, err, ErrUnreadable)
			require.ErrorContains(t, err, tc.reason)
			require.Empty(t, r.Entries)
		})
	}
}

func TestReadRejects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ item, reason string }{
		"no title":            {`{"entryId":"e","type":"fact","evidence":[{"messageIndex":0,"quote":"q"}]}`, "missing property 'title'"},
		"no evidence":         {`{"entryId":"e","type":"fact","title":"t","evidence":[]}`, "evidence: minItems"},
		"unknown type":        {`{"entryId":"e","type":"rumour","title":"t","evidence":[{"messageIndex":0,"quote":"q"}]}`, "type: value must be one of"},
		"unknown category":    {`{"entryId":"e","type":"fact","category":"gossip","title":"t","evidence":[{"messageIndex":0,"quote":"q"}]}`, "category: value must be one of"},
		"confidence over one": {`{"entryId":"e","type":"fact","confidence":1.5,"title":"t","evidence":[{"messageIndex":0,"quote":"q"}]}`, "confidence: maximum"},
		"negative index":      {`{"entryId":"e","type":"fact","title":"t","evidence":[{"messageIndex":-1,"quote":"q"}]}`, "evidence/0/messageIndex: minimum"},
		"index in words":      {`{"entryId":"e","type":"fact","title":"t","evidence":[{"messageIndex":"first","quote":"q"}]}`, "evidence/0/messageIndex: got string, want integer"},
		"quote without index": {`{"entryId":"e","type":"fact","title":"t","evidence":["q"]}`, "evidence/0: got string, want object"},
		"blank quote":         {`{"entryId":"e","type":"fact","title":"t","evidence":[{"messageIndex":0,"quote":"  "}]}`, "missing property 'quote'"},
		"unknown status":      {`{"entryId":"e","type":"task_note","title":"t","task":{"status":"paused"},"evidence":[{"messageIndex":0,"quote":"q"}]}`, "task/status: value must be one of"},
		"no label":            {`{"type":"fact","title":"t","evidence":[{"messageIndex":0,"quote":"q"}]}`, "missing property 'entryId'"},
		"blank label":         {`{"entryId":" ","type":"fact","title":"t","evidence":[{"messageIndex":0,"quote":"q"}]}`, "missing property 'entryId'"},
		"quote of a book": {`{"entryId":"e","type":"fact","title":"t","evidence":[{"messageIndex":0,"quote":"` + strings.Repeat("예", schema.MaxQuote+1) + `"}]}`,
			"evidence/0/quote: has 16385 characters, more than the 16384 of the longest quote"},
		"not an object": {`"t"`, "not an object"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Read(`{"entries":[` + tc.item + `,` + goodItem + `]}`)
			require.NoError(t, err)
			require.Equal(t, []schema.ExtractedEntry{goodEntry()}, r.Entries)
			require.Len(t, r.Rejected, 1)
			require.Zero(t, r.Rejected[0].Index)
			require.Contains(t, r.Rejected[0].Reason, tc.reason)
			require.JSONEq(t, tc.item, string(r.Rejected[0].Raw))
		})
	}
}

func TestReadLongQuote(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("예", schema.MaxQuote)
	r, err := Read(`{"entries":[` + strings.Replace(goodItem, "we decided to use Go", long, 1) + `]}`)
	require.NoError(t, err)
	require.Empty(t, r.Rejected)
	require.Equal(t, long, r.Entries[0].Evidence[0].Quote)
}

func TestReadTruncated(t *testing.T) {
	t.Parallel()
	full := `{"entries":[` + goodItem + `,` + strings.Replace(goodItem, "Use Go", "Use Zig", 1) + `]}`
	second := strings.Index(full, `},{"entryId"`) + 1
	end := len(full) - len("]}")
	for cut := second; cut < len(full)-1; cut++ {
		r, err := Read(full[:cut])
		require.NoError(t, err, full[:cut])
		require.True(t, r.Truncated, full[:cut])
		want := 1
		if cut >= end {
			want = 2
		}
		require.Len(t, r.Entries, want, full[:cut])
		require.Equal(t, goodEntry(), r.Entries[0])
	}
	r, err := Read("```json\n" + full[:second+30])
	require.NoError(t, err)
	require.True(t, r.Truncated)
	require.Len(t, r.Entries, 1)
}

func TestReadOfBrokenJSONInATruncatedAnswer(t *testing.T) {
	t.Parallel()
	const first = `{'entries':[{'entryId':'ent_1','type':'decision','title':'Use Go','evidence':[{'messageIndex':3,'quote':'we decided to use Go'}]},`
	for _, second := range []string{
		`{'type':'fact','title':'half a ti`,
		`{'type':'fact','title':'t','evidence':[{'messageIndex':3,'quote':'we'}]`,
	} {
		r, err := Read(first + second)
		require.NoError(t, err)
		require.True(t, r.Truncated)
		require.Equal(t, []schema.ExtractedEntry{goodEntry()}, r.Entries, "the item that broke off is not made up")
	}
}

// wholeSchema validates as a stranger would: the whole document, freshly compiled.
func wholeSchema(tb testing.TB) *jsonschema.Schema {
	tb.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.ExtractionSchema))
	require.NoError(tb, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(tb, c.AddResource("whole.json", doc))
	s, err := c.Compile("whole.json")
	require.NoError(tb, err)
	items := s.Properties["entries"].Items2020
	items.If, items.Then = nil, nil // See [TestSchemaWantsCategoryAndConfidence].
	return s
}

// The schema that a model is given wants a category and a confidence of each fact. An answer without them is read all the same,
// and package fact skips the fact.
func TestSchemaWantsCategoryAndConfidence(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.ExtractionSchema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("asked.json", doc))
	asked, err := c.Compile("asked.json")
	require.NoError(t, err)
	for given, valid := range map[string]bool{
		`"type":"fact","category":"goal","confidence":0.5`: true,
		`"type":"fact","section":"work","confidence":0.5`:  true,
		`"type":"fact","category":"goal"`:                  false,
		`"type":"fact","confidence":0.5`:                   false,
		`"type":"decision"`:                                true,
	} {
		text := `{"entries":[{"entryId":"e","title":"t","evidence":[{"messageIndex":0,"quote":"q"}],` + given + `}]}`
		answer, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, valid, asked.Validate(answer) == nil, given)
		read, err := Read(text)
		require.NoError(t, err)
		require.Len(t, read.Entries, 1, given)
	}
}

func requireValid(tb require.TestingT, s *jsonschema.Schema, entries []schema.ExtractedEntry) {
	if entries == nil {
		entries = []schema.ExtractedEntry{}
	}
	data, err := json.Marshal(schema.Extraction{Entries: entries})
	require.NoError(tb, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(tb, err)
	require.NoError(tb, s.Validate(doc), "%s", data)
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "{", "[]", "{}", `{"entries":[` + goodItem + `]}`, "<think>{</think>[" + goodItem + ",", "```json\n{'entries':[]}",
		`{"entries":[{"type":"task","title":"\u0000x","task":{"blocked_by":[null,"",1]},"evidence":{"index":1e3,"text":"q"}}]}`,
		`{"entries":[{"type":"fact","confidence":"1e400"}]}`, "[[[[{\"entries\":", `{"a":"\`, `{"entries":{"entries":[]}}`,
		"</think>{\"memories\":null}", `{"entryId":"e","type":1,"title":[],"evidence":"x"}`, "[1,{]}", "{\"\xff\":\xfe}",
	} {
		f.Add(seed)
	}
	s := wholeSchema(f)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Read(text)
		if err != nil {
			require.ErrorIs(t, err, ErrUnreadable)
			require.Empty(t, r.Entries)
			return
		}
		requireValid(t, s, r.Entries)
		for _, item := range r.Rejected {
			require.NotEmpty(t, item.Reason)
			require.True(t, json.Valid(item.Raw))
		}
		again, err := Read(text)
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}

// TestReadOfMutilatedAnswers checks the same as the fuzz target, without the fuzzing engine.
func TestReadOfMutilatedAnswers(t *testing.T) {
	t.Parallel()
	s := wholeSchema(t)
	whole := "<think>[{\"a\": 1}]</think>Sure:\n```json\n{\"entries\":[" + goodItem + "," +
		strings.Replace(goodItem, "Use Go", "사용 Go \\\"x\\\" {", 1) + "]}\n```\nDone [1]."
	tokens := []string{"{", "}", "[", "]", "\"", "'", ",", ":", "\\", "</think>", "<think>", "null", "entries", "\n", "//", "/*",
		"\x00", "\xff", "```", "1e999", "-", "\"entries\":", "\\u", "“"}
	rapid.Check(t, func(t *rapid.T) {
		text := whole
		for range rapid.IntRange(0, 12).Draw(t, "edits") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := min(len(text), from+rapid.SampledFrom([]int{0, 0, 1, 1, 2, 8, 60}).Draw(t, "cut"))
			text = text[:from] + rapid.SampledFrom(append(tokens, "")).Draw(t, "token") + text[to:]
		}
		r, err := Read(text)
		if err != nil {
			require.ErrorIs(t, err, ErrUnreadable)
			require.Empty(t, r.Entries)
			return
		}
		requireValid(t, s, r.Entries)
		for _, item := range r.Rejected {
			require.NotEmpty(t, item.Reason)
		}
	})
}

// TestReadOfHugeAnswers would not end within the test's time if reading took the square of the
// answer's length.
func TestReadOfHugeAnswers(t *testing.T) {
	t.Parallel()
	const n = 5000
	items := strings.Repeat(goodItem+",\n", n)
	tests := map[string]struct {
		text string
		want int
	}{
		"trailing comma":    {`{"entries":[` + items + `]}`, n},
		"one entry a line":  {strings.Repeat(goodItem+"\n", 500), 500},
		"brackets in prose": {strings.Repeat("{x} it's [1] \"quoted\" ", n), 0},
		"never closed":      {strings.Repeat("{'a':[", 30) + strings.Repeat("word \"w\" it's ", n), 0},
		"thoughts":          {strings.Repeat("<think>x</THINK>", n), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Read(tc.text)
			require.Equal(t, tc.want == 0, errors.Is(err, ErrUnreadable))
			require.Len(t, r.Entries, tc.want)
			require.False(t, r.Truncated)
		})
	}
}

// Only a person says which entry another one corrects: a model's word on it is dropped, in any spelling.
func TestReadDropsCorrections(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"corrects", "Corrects", "CORRECTS", "corrects_"} {
		item := strings.TrimSuffix(goodItem, "}") + `,"` + key + `":"6b1f5c0e"}`
		result, err := Read(`{"entries":[` + item + `]}`)
		require.NoError(t, err)
		require.Empty(t, result.Rejected)
		require.Equal(t, []schema.ExtractedEntry{goodEntry()}, result.Entries)
	}
}

// That a task is an item of the agent's list is for its harness to say.
func TestReadDropsListed(t *testing.T) {
	t.Parallel()
	result, err := Read(`{"entries":[{"entryId":"1","type":"task_note","title":"Write it","task":{"status":"done","listed":true},"evidence":[{"messageIndex":0,"quote":"Write it"}]}]}`)
	require.NoError(t, err)
	require.Len(t, result.Entries, 1)
	require.Equal(t, &schema.ExtractedTask{Status: schema.TaskDone}, result.Entries[0].Task)
}

// A task note that a model gives no task is one all the same: its title names the task.
func TestReadTaskNoteWithoutTask(t *testing.T) {
	t.Parallel()
	for _, task := range []string{"", `"task":null,`, `"task":{},`} {
		result, err := Read(`{"entries":[{"entryId":"1","type":"task_note","title":"Write it",` + task + `"evidence":[{"messageIndex":0,"quote":"Write it"}]}]}`)
		require.NoError(t, err)
		require.Empty(t, result.Rejected)
		require.NotNil(t, result.Entries[0].Task, task)
	}
}
