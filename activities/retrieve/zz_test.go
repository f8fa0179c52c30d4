package retrieve

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/retrieve/eval"
)

func TestZZ(t *testing.T) {
	dir := filepath.Join("eval", "testdata")
	questions, _ := os.Open(filepath.Join(dir, "questions.jsonl"))
	sessions, _ := os.Open(filepath.Join(dir, "sessions.jsonl"))
	d, err := eval.Own(questions, "questions.jsonl", sessions, "sessions.jsonl")
	require.NoError(t, err)
	b := newBench(t, localEmbedder(t))
	b.ingest(t, payloadsOf(d.Sessions)...)
	none := -1.0
	s := NewSearcher(b.conn, b.client, b.embedder, Options{Floor: &none})
	for _, q := range d.Questions {
		project := q.Project
		if project == "" {
			project = "default"
		}
		r, err := s.Search(t.Context(), Query{Text: q.Query, Project: project, Kinds: []Kind{KindMessage}, Limit: 20})
		require.NoError(t, err)
		line := fmt.Sprintf("%-9s %-50.50s", q.Category, q.Query)
		for i, h := range r.Hits {
			gold := false
			for _, ref := range q.Relevant {
				if ref.Session == h.SessionID && *ref.Message == h.Message.Index {
					gold = true
				}
			}
			if gold {
				line += fmt.Sprintf(" GOLD@%d %.2f(bm %.1f)", i+1, h.Explain.Similarity, h.Explain.BM25)
			} else if i < 3 {
				line += fmt.Sprintf(" %.2f(%.1f)", h.Explain.Similarity, h.Explain.BM25)
			}
		}
		fmt.Println(line)
	}
}
