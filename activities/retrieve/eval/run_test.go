package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// answering is a retriever that returns prepared results for each question.
type answering map[string][]Found

func (a answering) Retrieve(_ context.Context, q Question, limit int) ([]Found, error) {
	found, ok := a[q.ID]
	if !ok {
		return nil, errors.New("no answer is prepared")
	}
	return found[:min(limit, len(found))], nil
}

func TestRanks(t *testing.T) {
	t.Parallel()
	found := []Found{
		{Kind: KindTask, ID: "x", Text: "Move the log"},
		{Kind: KindEntry, ID: "x", Session: "s", Messages: []int{1, 2}, Text: "We release on\n Thursday EVENING."},
		{Kind: KindEntry, ID: "y", Session: "r", Also: []Found{{Kind: KindEntry, ID: "z", Session: "s", Messages: []int{3}, Text: "Release"}}},
		{Kind: KindMessage, Session: "s", Messages: []int{2}, Text: "한글"},
		{Kind: KindFact, ID: "x"},
	}
	text := func(r Ref, text string) Ref {
		r.Text = text
		return r
	}
	for _, tt := range []struct {
		ref  Ref
		rank int
	}{
		{Ref{Entry: "x"}, 2}, {Ref{Task: "x"}, 1}, {Ref{Fact: "x"}, 5}, {Ref{Entry: "z"}, 3}, {Ref{Entry: "absent"}, 0}, {Ref{Task: "y"}, 0},
		{MessageRef("s", 1), 2}, {MessageRef("s", 2), 2}, {MessageRef("s", 3), 3}, {MessageRef("s", 0), 0}, {MessageRef("r", 1), 0},
		{Ref{Session: "s"}, 2}, {Ref{Session: "r"}, 3},
		{Ref{Text: "on thursday  evening"}, 2}, {Ref{Text: "한글"}, 4}, {Ref{Text: "\u1112\u1161\u11ab\u1100\u1173\u11af"}, 4},
		{text(MessageRef("s", 2), "한글"), 4}, {text(Ref{Session: "s"}, "release"), 2}, {text(Ref{Entry: "x"}, "friday"), 0},
	} {
		require.Equal(t, []int{tt.rank}, ranksOf([]Ref{tt.ref}, found), tt.ref.key())
	}
	require.Equal(t, "Release", found[2].Also[0].Text, "it leaves its argument as it is")
}

func someQuestions() []Question {
	return []Question{
		{ID: "b", Query: "x", Category: "temporal", Language: "en", Relevant: []Ref{{Entry: "1"}, {Entry: "2"}}},
		{ID: "a", Query: "y", Language: "ko", Relevant: []Ref{{Entry: "3"}}},
		{ID: "c", Query: "z", Category: "none", Abstain: true},
	}
}

func entries(ids ...string) []Found {
	out := []Found{}
	for _, id := range ids {
		out = append(out, Found{Kind: KindEntry, ID: id})
	}
	return out
}

func TestRun(t *testing.T) {
	t.Parallel()
	r := answering{"b": entries("9", "2", "1"), "a": entries("8"), "c": nil}
	for _, concurrency := range []int{0, 8} {
		var told []int
		result, err := Run(t.Context(), someQuestions(), r, Options{
			Concurrency: concurrency, Settings: map[string]string{"alpha": "0.3"}, Embedder: "hash-v2-384",
			Progress: func(done, total int) { told = append(told, done*10+total) },
		})
		require.NoError(t, err)
		require.Equal(t, []int{13, 23, 33}, told)
		require.Equal(t, 20, result.Limit)
		require.Equal(t, HalfAll, result.Half)
		require.Equal(t, Hash(someQuestions()), result.GoldSet.Hash)
		require.Equal(t, []string{"a", "b", "c"}, []string{result.Questions[0].ID, result.Questions[1].ID, result.Questions[2].ID})
		require.Equal(t, []int{3, 2}, result.Questions[1].Ranks)
		require.InDelta(t, 0.5, result.Overall.Recall.At10, 0)
		require.InDelta(t, 0.25, result.Overall.MRR, 0)
		require.InDelta(t, 1, result.Overall.Abstained, 0)
		require.Len(t, result.Categories, 2)
		require.InDelta(t, 1, result.Categories["temporal"].Recall.At5, 0)
		require.Equal(t, 1, result.Categories["none"].Abstentions)
		require.Len(t, result.Languages, 2)
	}
}

// A question that fails ends the run and is named, also if it is not the first.
func TestRunFails(t *testing.T) {
	t.Parallel()
	_, err := Run(t.Context(), someQuestions(), answering{"b": nil}, Options{})
	require.EqualError(t, err, `question "a": no answer is prepared`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Run(ctx, someQuestions(), answering{"a": nil, "b": nil, "c": nil}, Options{})
	require.ErrorIs(t, err, context.Canceled)
	twice := append(someQuestions(), someQuestions()[0])
	for says, o := range map[string]Options{
		"limit 10: want 20 to 1000":            {Limit: 10},
		"concurrency 65: want 1 to 64":         {Concurrency: 65},
		`half "left": want one of`:             {Half: "left"},
		`two questions have the id "b"`:        {},
		`none of 0 questions is in the half "`: {Half: HalfOdd},
	} {
		questions := twice
		if o.Half == HalfOdd {
			questions = nil
		}
		_, err := Run(t.Context(), questions, answering{}, o)
		require.ErrorContains(t, err, says)
	}
}

// concurrent counts how many questions are asked at once.
type concurrent struct{ calls, now, most atomic.Int32 }

func (c *concurrent) Retrieve(context.Context, Question, int) ([]Found, error) {
	c.calls.Add(1)
	c.most.Store(max(c.most.Load(), c.now.Add(1)))
	c.now.Add(-1)
	return nil, nil
}

func TestRunAsksOneAtATime(t *testing.T) {
	t.Parallel()
	c := &concurrent{}
	_, err := Run(t.Context(), someQuestions(), c, Options{})
	require.NoError(t, err)
	require.EqualValues(t, 1, c.most.Load())
	require.EqualValues(t, 4, c.calls.Load(), "the first of three is asked once before, and not counted")
}

func TestResultRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := answering{}
		var questions []Question
		for i := range rapid.IntRange(1, 20).Draw(t, "questions") {
			id := fmt.Sprintf("q%d", i)
			q := Question{ID: id, Query: "x", Category: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "category"), Abstain: rapid.Bool().Draw(t, "abstain")}
			if !q.Abstain {
				q.Relevant = []Ref{{Entry: "1"}, {Entry: "5"}}
			}
			questions = append(questions, q)
			r[id] = entries(rapid.SliceOfN(rapid.StringMatching("[0-9]"), 0, 20).Draw(t, "found")...)
		}
		result, err := Run(context.Background(), questions, r, Options{})
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, result.Write(&b))
		written := b.String()
		again, err := ReadResult(&b, "run.json")
		require.NoError(t, err)
		require.Equal(t, result, again)
		b.Reset()
		require.NoError(t, again.Write(&b))
		require.Equal(t, written, b.String())
	})
}

func TestReadResultRefuses(t *testing.T) {
	t.Parallel()
	result, err := Run(t.Context(), someQuestions(), answering{"b": entries("1"), "a": nil, "c": nil}, Options{})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, result.Write(&b))
	for says, change := range map[string][2]string{
		"speed is no known field":        {`"limit"`, `"speed"`},
		"version is 2, and this program": {`"version": 1`, `"version": 2`},
		"version is 0: want 1":           {`"version": 1`, `"version": 0`},
		"goldset.hash is empty":          {result.GoldSet.Hash, ""},
		"limit is 5":                     {`"limit": 20`, `"limit": 5`},
		`half is "some"`:                 {`"half": "all"`, `"half": "some"`},
		"questions are 3":                {`"questions": 3`, `"questions": 4`},
		`questions[1].id "Z" is not`:     {`"id": "b"`, `"id": "Z"`},
		"questions[2].ranks do not fit":  {"\"abstain\": true,\n", ""},
		"questions[1].returned is 21":    {`"returned": 1`, `"returned": 21`},
		"questions[1].ranks are":         {`"returned": 1`, `"returned": 0`},
		"questions[1].sure is 2":         {`"sure": 1`, `"sure": 2`},
		"overall.mrr is 7":               {`"mrr": 0.5`, `"mrr": 7`},
		"there is more after":            {"\n}\n", "\n}\n{}"},
		"is empty":                       {b.String(), " "},
	} {
		_, err := ReadResult(strings.NewReader(strings.Replace(b.String(), change[0], change[1], 1)), "run.json")
		require.ErrorIs(t, err, ErrInput, says)
		require.ErrorContains(t, err, "run.json: ")
		require.ErrorContains(t, err, says)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	run := func(b, a, c []Found, o Options) Result {
		result, err := Run(t.Context(), someQuestions(), answering{"b": b, "a": a, "c": c}, o)
		require.NoError(t, err)
		return result
	}
	before := run(entries("1", "2"), entries("0"), nil, Options{})
	same, err := Compare(before, before, MaxDrop(0))
	require.NoError(t, err)
	require.Empty(t, same.Failed())
	require.Empty(t, same.Worse)
	require.Len(t, same.Changes, len(MetricNames()))

	after := run(entries("1", "0"), entries("0", "3"), entries("0"), Options{})
	c, err := Compare(before, after, Thresholds{"mrr": 0.02, "abstained": 0.5, "all@10": 0})
	require.NoError(t, err)
	require.Equal(t, []QuestionChange{
		{ID: "b", Category: "temporal", Before: []int{1, 2}, After: []int{1, 0}}, {ID: "c", Category: "none", Before: []int{}, After: []int{}},
	}, c.Worse)
	require.Equal(t, 1, c.Better)
	require.Len(t, c.Failed(), 1, "MRR rose, and all@10 is one of two questions as before")
	require.Equal(t, "abstained", c.Failed()[0].Metric)

	lost := run(entries("1", "0"), entries("0"), nil, Options{})
	c, err = Compare(before, lost, MaxDrop(0.25))
	require.NoError(t, err)
	require.Empty(t, c.Failed(), "recall@10 falls from 0.5 to 0.25, as is allowed")
	c, err = Compare(before, lost, MaxDrop(0.24))
	require.NoError(t, err)
	require.Equal(t, "recall@10", c.Failed()[0].Metric)

	other := before
	other.GoldSet.Hash = "sha256:0123456789abcdef"
	for says, with := range map[string]Result{
		"different gold sets":        other,
		"one asked for 20 results":   run(nil, nil, nil, Options{Limit: 50}),
		`one asked the half "all", `: func() Result { h := before; h.Half = HalfOdd; return h }(),
	} {
		_, err := Compare(before, with, nil)
		require.ErrorIs(t, err, ErrIncomparable)
		require.ErrorContains(t, err, says)
	}
	require.NoError(t, Comparable(before, someQuestions(), Options{}))
	require.ErrorIs(t, Comparable(before, someQuestions()[:2], Options{}), ErrIncomparable)
	require.ErrorIs(t, Comparable(before, someQuestions(), Options{Limit: 50}), ErrIncomparable)
	_, err = Compare(before, before, Thresholds{"f1": 0.1})
	require.ErrorContains(t, err, `there is no metric "f1"`)
	_, err = Compare(before, before, MaxDrop(2))
	require.ErrorContains(t, err, "may drop by 2: want 0 to 1")
}
