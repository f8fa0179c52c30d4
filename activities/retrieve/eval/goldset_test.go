package eval

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReadGoldSet(t *testing.T) {
	t.Parallel()
	questions, err := ReadGoldSet(strings.NewReader("\ufeff"+`{"id":"q1","query":"무엇?","project":"p","user":"u","agent":"a","category":"c","lang":"ko","as_of":"2026-03-01","relevant":[{"entry":"e"},{"session":"s","message":0,"text":"목요일"}]}`+"\r\n\n"+
		`{"id":"q2","query":"x","as_of":"2026-03-01T09:00:00+09:00","abstain":true}`), "gold.jsonl")
	require.NoError(t, err)
	zero := 0
	require.Equal(t, []Question{
		{
			ID: "q1", Query: "무엇?", Project: "p", User: "u", Agent: "a", Category: "c", Language: "ko",
			AsOf:     time.Date(2026, 3, 1, 23, 59, 59, 999999000, time.UTC),
			Relevant: []Ref{{Entry: "e"}, {Session: "s", Message: &zero, Text: "목요일"}},
		},
		{ID: "q2", Query: "x", AsOf: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Abstain: true},
	}, questions)
}

func TestReadGoldSetRefuses(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		``:             "there is no question in it",
		`[]`:           "is a JSON array: want an object",
		`{"id":"q"`:    "is not a JSON object",
		"{\"id\":\xff": "is not UTF-8",
		`{"id":"q","query":"x","abstain":true} {}`: "there is more after the JSON object",
		`{"id":7}`:             "id is a JSON number: want a text",
		`{"id":"q","qery":""}`: "qery is no known field",
		`{"query":"x"}`:        "id is empty",
		`{"id":"q","query":" ","relevant":[{"entry":"e"}]}`:                                      "query is empty",
		`{"id":"q","query":"x"}`:                                                                 "relevant is empty: give the answers",
		`{"id":"q","query":"x","relevant":[]}`:                                                   "relevant is empty",
		`{"id":"q","query":"x","abstain":true,"relevant":[{"entry":"e"}]}`:                       "leave out relevant or abstain",
		`{"id":"q","query":"x","relevant":[{"entry":"e","task":"t"}]}`:                           "relevant[0] names entry and task",
		`{"id":"q","query":"x","relevant":[{"entry":"e"},{}]}`:                                   "relevant[1] names nothing",
		`{"id":"q","query":"x","relevant":[{"entry":"e"},{"entry":"e"}]}`:                        "relevant[1] repeats relevant[0]",
		`{"id":"q","query":"x","relevant":[{"message":1}]}`:                                      "message without a session",
		`{"id":"q","query":"x","relevant":[{"session":"s","message":-1}]}`:                       "count from 0",
		`{"id":"q","query":"x","relevant":[{"session":"s","message":"1"}]}`:                      "message is a JSON string: want a whole number",
		`{"id":"q","query":"x","relevant":[{"session":"s","turn":1}]}`:                           "turn is no known field",
		`{"id":"q","query":"x","relevant":[{"entry":"e","text":" "}]}`:                           "text of spaces",
		`{"id":"q","query":"x","relevant":{"entry":"e"}}`:                                        "relevant is a JSON object: want a list",
		`{"id":"q","query":"x","as_of":"soon","abstain":true}`:                                   "as_of is \"soon\": want a day",
		`{"id":"q","query":"` + strings.Repeat("x", MaxLine) + `","abstain":true}`:               "is longer than 1024 KiB",
		`{"id":"q","query":"x","abstain":true}` + "\n" + `{"id":"q","query":"y","abstain":true}`: `line 2: id "q" is that of line 1 too`,
	} {
		_, err := ReadGoldSet(strings.NewReader(line), "gold.jsonl")
		require.ErrorIs(t, err, ErrInput, line)
		require.ErrorContains(t, err, "gold.jsonl: ")
		require.ErrorContains(t, err, says)
		if line != "" {
			require.Regexp(t, `line [12]: `, err.Error())
		}
	}
}

func TestReadGoldSetLineOfTheLimit(t *testing.T) {
	t.Parallel()
	line := `{"id":"q","query":"","abstain":true}`
	line = strings.Replace(line, `:""`, `:"`+strings.Repeat("x", MaxLine-len(line))+`"`, 1)
	require.Len(t, line, MaxLine)
	questions, err := ReadGoldSet(strings.NewReader(line+"\r\n"), "gold.jsonl")
	require.NoError(t, err)
	require.Len(t, questions, 1)
}

func TestHash(t *testing.T) {
	t.Parallel()
	a := Question{ID: "a", Query: "x", Relevant: []Ref{{Entry: "1"}, {Entry: "2"}}}
	b := Question{ID: "b", Query: "y", Abstain: true}
	swapped := a
	swapped.Relevant = []Ref{{Entry: "2"}, {Entry: "1"}}
	require.Equal(t, Hash([]Question{a, b}), Hash([]Question{b, swapped}))
	other := a
	other.Query = "z"
	require.NotEqual(t, Hash([]Question{a, b}), Hash([]Question{other, b}))
	require.Equal(t, "1", a.Relevant[0].Entry, "it leaves its argument as it is")
}

func TestHalves(t *testing.T) {
	t.Parallel()
	var questions []Question
	for i := range 1000 {
		questions = append(questions, Question{ID: strings.Repeat("q", i+1)})
	}
	odd, even := HalfOdd.Of(questions), HalfEven.Of(questions)
	require.Len(t, HalfAll.Of(questions), 1000)
	require.Equal(t, 1000, len(odd)+len(even))
	require.InDelta(t, 500, len(odd), 60)
	for _, q := range odd {
		require.False(t, HalfEven.Has(q.ID))
	}
}

// A gold set that can be read can be written, and then reads as the same.
func FuzzReadGoldSet(f *testing.F) {
	for _, seed := range []string{
		`{"id":"q","query":"x","relevant":[{"session":"s","message":2,"text":"y"}]}`, `{"id":"q","query":"x","abstain":true,"as_of":"2026-01-02"}`,
		`{"id":"q","query":"\ud800","relevant":[{"text":"\u2028"}]}`, `{"id":"q","id":"r"}`, "{}\n{}", `{"id":"q","query":"x","abstain":true,"as_of":"0001-01-01T00:00:00Z"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		questions, err := ReadGoldSet(bytes.NewReader(data), "fuzz")
		if err != nil {
			require.ErrorIs(t, err, ErrInput)
			return
		}
		var b bytes.Buffer
		require.NoError(t, WriteGoldSet(&b, questions))
		again, err := ReadGoldSet(&b, "again")
		require.NoError(t, err)
		require.Equal(t, Hash(questions), Hash(again))
	})
}
