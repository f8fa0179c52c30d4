package eval

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/text"
)

var update = flag.Bool("update", false, "write testdata/goldset.jsonl anew")

// readOwn reads the gold set of the repository: questions.jsonl about sessions.jsonl.
func readOwn(t *testing.T) Dataset {
	t.Helper()
	questions, err := os.Open(filepath.Join("testdata", "questions.jsonl"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = questions.Close() })
	sessions, err := os.Open(filepath.Join("testdata", "sessions.jsonl"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = sessions.Close() })
	d, err := Own(questions, "questions.jsonl", sessions, "sessions.jsonl")
	require.NoError(t, err)
	return d
}

// goldset.jsonl is the importer's output for the questions.
func TestGoldSetOfTheRepository(t *testing.T) {
	t.Parallel()
	d := readOwn(t)
	require.Empty(t, d.LeftOut)
	var b bytes.Buffer
	require.NoError(t, WriteGoldSet(&b, d.Questions))
	path := filepath.Join("testdata", "goldset.jsonl")
	if *update {
		require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "run the test with -update")

	messages := map[string]string{}
	for _, s := range d.Sessions {
		for i, m := range s.Messages {
			messages[MessageRef(s.ID, i).key()] = m.Text
		}
	}
	categories, languages := map[string]int{}, map[string]int{}
	for _, q := range d.Questions {
		categories[q.Category]++
		languages[q.Language]++
		for _, r := range q.Relevant {
			r.Text = ""
			shared := sharedTerms(q.Query, messages[r.key()])
			if q.Category == "words" {
				require.NotEmpty(t, shared, q.ID)
			} else {
				require.Empty(t, shared, "%s: the answer may share no word with the question", q.ID)
			}
		}
	}
	require.Len(t, languages, 3)
	for _, c := range []string{"words", "meaning", "languages", "none"} {
		require.GreaterOrEqual(t, categories[c], 3, c)
	}
}

func sharedTerms(a, b string) []string {
	var shared []string
	for term := range strings.FieldsSeq(text.Terms(a)) {
		for other := range strings.FieldsSeq(text.Terms(b)) {
			if term == other {
				shared = append(shared, term)
			}
		}
	}
	return shared
}

// Words alone keep the floors of floors.json. The floors are low: a model finds more.
func TestFloors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("testdata", "floors.json"))
	require.NoError(t, err)
	var floors map[string]map[string]float64
	require.NoError(t, json.Unmarshal(raw, &floors))
	d := readOwn(t)
	result, err := Run(t.Context(), d.Questions, NewBM25(d.Sessions), Options{})
	require.NoError(t, err)
	for group, metrics := range floors {
		summary, ok := result.Categories[group]
		if group == "overall" {
			summary, ok = result.Overall, true
		}
		require.True(t, ok, "no question is of the category %s", group)
		for name, floor := range metrics {
			value, ok := summary.Metric(name)
			require.True(t, ok, "%s: %s", group, name)
			t.Logf("%s %s %.3f, floor %.2f", group, name, value, floor)
			require.GreaterOrEqual(t, value, floor, "%s %s", group, name)
		}
	}
}
