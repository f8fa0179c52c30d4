package eval

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

const locomoText = `[{"sample_id":"c1","conversation":{"speaker_a":"Ada","speaker_b":"Bo","session_1_date_time":"2:05 pm on 3 April, 2021",
	"session_1":[{"speaker":"Ada","dia_id":"D1:1","text":"Hi"},{"speaker":"Bo","dia_id":"D1:2","text":""},
	{"speaker":"Bo","dia_id":"D1:3","text":"Look","blip_caption":"a red boat"}],"session_2_date_time":"12:10 am on 14 October, 2021",
	"session_2":[{"speaker":"Bo","dia_id":"D2:1","text":"Again"}],"session_3_date_time":"1:00 pm on 1 May, 2022"},
	"qa":[{"question":"a?","evidence":["D1:1; D2:1","D:1:03","D1:3"],"category":1},{"question":"b?","evidence":["D9:9"],"category":2},
	{"question":"c?","evidence":["D2:01 D1:2"],"category":4},{"question":"d?","evidence":["D2:1"],"category":5},
	{"question":"e?","evidence":[],"category":3},{"question":"f?","evidence":["D2:1"],"category":9}]}]`

func TestLoCoMo(t *testing.T) {
	t.Parallel()
	d, err := LoCoMo(strings.NewReader(locomoText), "l.json", ImportOptions{})
	require.NoError(t, err)
	at := time.Date(2021, 4, 3, 14, 5, 0, 0, time.UTC)
	require.Equal(t, []Session{
		{"locomo-c1", "c1-1", []Message{{schema.RoleUser, "Ada", at, "Ada: Hi"}, {schema.RoleAssistant, "Bo", at, "Bo: Look a red boat"}}},
		{"locomo-c1", "c1-2", []Message{{schema.RoleAssistant, "Bo", time.Date(2021, 10, 14, 0, 10, 0, 0, time.UTC), "Bo: Again"}}},
	}, d.Sessions)
	require.Equal(t, []Question{
		{ID: "c1-q1", Query: "a?", Project: "locomo-c1", Category: "multi-hop", Language: "en",
			Relevant: []Ref{MessageRef("c1-1", 0), MessageRef("c1-2", 0), MessageRef("c1-1", 1)}},
		{ID: "c1-q3", Query: "c?", Project: "locomo-c1", Category: "single-hop", Language: "en", Relevant: []Ref{MessageRef("c1-2", 0)}},
	}, d.Questions)
	require.Equal(t, []string{
		"question c1-q2: there is no turn D9:9", "question c1-q2: no turn is given that answers it", "question c1-q3: there is no turn D1:2",
		"question c1-q5: no turn is given that answers it", "question c1-q6: category 9 is not known",
	}, d.LeftOut)
	d, err = LoCoMo(strings.NewReader(locomoText), "l.json", ImportOptions{Unanswerable: true})
	require.NoError(t, err)
	require.Equal(t, "adversarial", d.Questions[2].Category)
	requireReadBack(t, d)
}

func TestLoCoMoRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string][2]string{
		"l.json: is empty":                       {locomoText, " "},
		"is not LoCoMo":                          {`[{"sample_id"`, `{"sample_id"`},
		"sample 0: want a sample_id":             {`"c1"`, `""`},
		"session_1_date_time is \"soon\"":        {"2:05 pm on 3 April, 2021", "soon"},
		`session_1, turn 0: dia_id is "one"`:     {`"dia_id":"D1:1"`, `"dia_id":"one"`},
		"session_2: want a list of turns":        {`"session_2":[`, `"session_2":{},"x":[`},
		"there is no question in it that can be": {`"qa":[`, `"qa":[],"x":[`},
	} {
		_, err := LoCoMo(strings.NewReader(strings.Replace(locomoText, change[0], change[1], 1)), "l.json", ImportOptions{})
		require.ErrorIs(t, err, ErrInput, says)
		require.ErrorContains(t, err, says)
	}
}

const (
	lmeQuestions = `{"question_id":"q1","question_type":"multi-session","question":"a?","haystack":[{"session_id":"s","key":"k","date":"2021/04/03 (Sat) 07:08","has_answer_turns":[0,2]},{"session_id":"s","key":"k","date":"2021/04/04 (Sun) 07:08"}]}
{"question_id":"q2_abs","question_type":"multi-session","question":"b?","haystack":[{"session_id":"s","key":"k","date":"2021/04/03 (Sat) 07:08"}]}`
	lmeSessions = `{"key":"other","session_id":"o","turns":[{"role":"user","content":"x"}]}
{"key":"k","session_id":"s","turns":[{"role":"user","content":"one"},{"role":"assistant","content":" "},{"role":"user","content":"three"}]}`
)

func TestLongMemEval(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(lmeSessions))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	cut := bytes.NewReader(zipped.Bytes()[:zipped.Len()-12])
	d, err := LongMemEval(strings.NewReader(lmeQuestions), "q", &zipped, "s.gz", ImportOptions{})
	require.NoError(t, err)
	at := time.Date(2021, 4, 3, 7, 8, 0, 0, time.UTC)
	one, three := Message{Role: schema.RoleUser, Time: at, Text: "one"}, Message{Role: schema.RoleUser, Time: at, Text: "three"}
	require.Equal(t, Session{"longmemeval-q1", "s", []Message{one, three}}, d.Sessions[0])
	require.Equal(t, "s-2", d.Sessions[1].ID, "a session that a haystack holds twice is two")
	require.Equal(t, []Question{{
		ID: "q1", Query: "a?", Project: "longmemeval-q1", Category: "multi-session", Language: "en",
		Relevant: []Ref{MessageRef("s", 0), MessageRef("s", 1)},
	}}, d.Questions)
	requireReadBack(t, d)

	d, err = LongMemEval(strings.NewReader(lmeQuestions), "q", strings.NewReader(lmeSessions), "s", ImportOptions{Unanswerable: true})
	require.NoError(t, err)
	require.True(t, d.Questions[1].Abstain)
	_, err = LongMemEval(strings.NewReader(lmeQuestions), "q", cut, "s.gz", ImportOptions{})
	require.ErrorIs(t, err, ErrInput)
	require.ErrorContains(t, err, "s.gz: breaks off")
}

func TestLongMemEvalRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string][2]string{
		"q: line 1: question_id is empty":                                {`"q1"`, `""`},
		`q: line 2: question_id "q1" is that of line 1`:                  {"q2_abs", "q1"},
		"q: line 1: question is empty":                                   {"a?", " "},
		"q: line 1: question is a JSON number":                           {`"a?"`, `7`},
		`q: line 1: haystack[0].key "n" is of no session`:                {`"key":"k"`, `"key":"n"`},
		"q: line 1: haystack[0].date is \"May\"":                         {"2021/04/03 (Sat) 07:08", "May"},
		"q: line 1: haystack[0].has_answer_turns has 3, and the session": {"[0,2]", "[0,3]"},
		"q: line 1: haystack is empty":                                   {`"haystack"`, `"straw"`},
	} {
		_, err := LongMemEval(strings.NewReader(strings.Replace(lmeQuestions, change[0], change[1], 1)), "q", strings.NewReader(lmeSessions), "s", ImportOptions{})
		require.ErrorIs(t, err, ErrInput, says)
		require.ErrorContains(t, err, says)
	}
	_, err := LongMemEval(strings.NewReader(lmeQuestions), "q", strings.NewReader(strings.Replace(lmeSessions, "user", "robot", 2)), "s", ImportOptions{})
	require.ErrorContains(t, err, `names a session with the role "robot"`)
	_, err = LongMemEval(strings.NewReader(lmeQuestions), "q", strings.NewReader("\x1f\x8bnothing"), "s.gz", ImportOptions{})
	require.ErrorIs(t, err, ErrInput)
}

const ownMessages = `{"session":"s","time":"2026-03-01","text":"We moved to the harbour."}
{"session":"s","role":"assistant","text":"Noted: the harbour."}
{"session":"r","speaker":"Kim","text":"바다체를 씁니다."}`

func TestOwn(t *testing.T) {
	t.Parallel()
	table := "question,answer,entry,session,message,category,abstain\n" +
		"Where?,moved to the harbour,,,,place,\n\"Where, and why?\",the harbour,,,,,\nWhich?,,e1; e2,,,,\nWhat?,바다체,,r,0,,\nAll?,,,s,0;1,,\nCat?,,,,,,TRUE\n"
	d, err := Own(strings.NewReader(table), "own.csv", strings.NewReader(ownMessages), "m.jsonl")
	require.NoError(t, err)
	require.Len(t, d.Sessions, 2)
	require.Equal(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), d.Sessions[0].Messages[0].Time)
	moved, font := MessageRef("s", 0), MessageRef("r", 0)
	moved.Text, font.Text = "moved to the harbour", "바다체"
	var refs [][]Ref
	for _, q := range d.Questions {
		refs = append(refs, q.Relevant)
		require.Equal(t, "default", q.Project)
	}
	require.Equal(t, [][]Ref{
		{moved}, {{Text: "the harbour"}}, {{Entry: "e1"}, {Entry: "e2"}}, {font}, {MessageRef("s", 0), MessageRef("s", 1)}, nil,
	}, refs)
	require.True(t, d.Questions[5].Abstain)
	require.Equal(t, "place", d.Questions[0].Category)
	requireReadBack(t, d)

	same, err := Own(strings.NewReader(`{"question":"Where?","answer":["moved to the harbour"],"message":null}`+"\n"+`{"id":"x","question":"All?","session":"s","message":[0,1]}`),
		"own.jsonl", strings.NewReader(ownMessages), "m.jsonl")
	require.NoError(t, err)
	require.Equal(t, d.Questions[0].ID, same.Questions[0].ID, "the id depends on the question alone")
	require.Equal(t, refs[0], same.Questions[0].Relevant)
	require.Equal(t, refs[4], same.Questions[1].Relevant)

	alone, err := Own(strings.NewReader("question,answer\nWhere?,elsewhere\n"), "own.csv", nil, "")
	require.NoError(t, err)
	require.Equal(t, []Ref{{Text: "elsewhere"}}, alone.Questions[0].Relevant)
	require.Empty(t, alone.Questions[0].Project)
	dir := t.TempDir()
	written, err := alone.Write(dir)
	require.NoError(t, err)
	require.Empty(t, written.Transcripts)
	require.FileExists(t, filepath.Join(dir, "goldset.jsonl"))
}

func TestOwnRefuses(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"":                                     "own: is empty",
		"question,reply\n":                     "own: line 1: reply is no known column: want some of id, question",
		"question,question\n":                  "own: line 1: question is there twice",
		"question,answer\n":                    "own: there is no question in it",
		"question,answer\na?\n":                "own: is not CSV: record on line 2",
		"question,answer\na?,\n":               "own: line 2: answer is empty",
		"question,answer\n,b\n":                "own: line 2: question is empty",
		"question,answer\na?,nowhere\n":        `own: line 2: answer "nowhere" is in no message of project "default"`,
		"question,session\na?,t\n":             `own: line 2: session "t" is none of project "default"`,
		"question,session,message\na?,s,2\n":   `own: line 2: message is 2, and session "s" has 2`,
		"question,session,message\na?,s,x\n":   `own: line 2: message is "x"`,
		"question,message\na?,1\n":             "own: line 2: message has 1 values and session has 0",
		"question,entry,answer\na?,e;f,b\n":    "own: line 2: answer does not say which of 2 ids",
		"question,abstain\na?,perhaps\n":       `own: line 2: abstain is "perhaps"`,
		"question,entry,abstain\na?,e,true\n":  "own: line 2: relevant is given for a question to abstain from",
		"question,entry,as_of\na?,e,may\n":     `own: line 2: as_of is "may"`,
		"question,entry\na?,e\na?,f\n":         "own: line 3: id \"q-",
		`{"question":"a?","answer":{"b":1}}`:   "own: line 1: answer holds an object",
		`{"question":["a?","b?"],"entry":"e"}`: "own: line 1: question has 2 values: want one",
		`{"question":"a?","entri":"e"}`:        "own: line 1: entri is no known column",
		`{"question":"a?","entry":"e"} {}`:     "own: line 1: there is more after the JSON object",
	} {
		_, err := Own(strings.NewReader(text), "own", strings.NewReader(ownMessages), "m")
		require.ErrorIs(t, err, ErrInput, text)
		require.ErrorContains(t, err, says, text)
	}
	for text, says := range map[string]string{
		"":                                       "m: there is no message in it",
		`{"text":"x"}`:                           "m: line 1: session is empty",
		`{"session":"s"}`:                        "m: line 1: text is empty",
		`{"session":"s","text":"x","role":"me"}`: `m: line 1: role is "me"`,
		`{"session":"s","text":"x","time":"1"}`:  `m: line 1: time is "1"`,
		`{"session":"s","said":"x"}`:             "m: line 1: said is no known field",
	} {
		_, err := Own(strings.NewReader("question,answer\na?,x\n"), "own", strings.NewReader(text), "m")
		require.ErrorIs(t, err, ErrInput, text)
		require.ErrorContains(t, err, says, text)
	}
}

// A message that is taken apart, because a part of it looks injected, keeps its references.
func TestWriteFollowsWhatIsTakenApart(t *testing.T) {
	t.Parallel()
	said := []Message{
		{Role: schema.RoleUser, Text: "<system-reminder>\nnothing\n</system-reminder>\nWhere is the boat?"},
		{Role: schema.RoleAssistant, Text: "At the pier."},
		{Role: schema.RoleUser, Text: "<system-reminder>only this</system-reminder>"},
	}
	d := Dataset{Sessions: []Session{{"p", "s", said}}, Questions: []Question{
		{ID: "a", Query: "x", Project: "p", Relevant: []Ref{MessageRef("s", 0), MessageRef("s", 1), {Session: "s"}}},
		{ID: "b", Query: "x", Project: "p", Relevant: []Ref{MessageRef("s", 2)}},
	}}
	dir := t.TempDir()
	written, err := d.Write(dir)
	require.NoError(t, err)
	questions, err := ReadGoldSet(open(t, written.GoldSet), "goldset.jsonl")
	require.NoError(t, err)
	require.Len(t, questions, 1)
	require.Equal(t, []Ref{MessageRef("s", 1), MessageRef("s", 2), {Session: "s"}}, questions[0].Relevant)
	require.Equal(t, []string{"question b: message 2 of session s is not conversation", "question b: nothing is left that answers it"}, written.LeftOut)
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	said := []Message{{Role: schema.RoleUser, Text: "x"}}
	for says, sessions := range map[string][]Session{
		`project "../x" can't name a file`:        {{"../x", "s", said}},
		`project ".x" can't name a file`:          {{".x", "s", said}},
		`project "" can't name a file`:            {{"", "s", said}},
		"are ids used twice?":                     {{"p", "s", said}, {"p", "s", said}},
		"differ in case alone":                    {{"p", "s", said}, {"P", "s", said}},
		`session "a\x00b" of "p" is read as "ab"`: {{"p", "a\x00b", said}},
	} {
		dir := filepath.Join(t.TempDir(), "new")
		_, err := Dataset{Sessions: sessions}.Write(dir)
		require.ErrorContains(t, err, says)
		_, err = os.Stat(dir)
		require.ErrorIs(t, err, os.ErrNotExist, "nothing is written")
	}
}
