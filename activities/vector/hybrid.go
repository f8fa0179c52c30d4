package vector

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"axiommind/activities/clickhouse"
	language "axiommind/activities/text"
	"axiommind/schema"
)

// HybridQuery searches one project for objects that match a text and its vector.
type HybridQuery struct {
	Collection string
	// Project is required unless the filter selects only facts, which belong to [FactsProject].
	Project string
	Filter  Filter
	// Text is the text to search for. Keyword search uses only the [Terms] that [NewQueryTerms] keeps, because objects
	// found by function words alone are unrelated to it.
	Text string
	// Vector may be empty if Alpha is 0.
	Vector []float32
	// Alpha is the weight of the vector search, from 0 (keywords only) to 1 (vectors only).
	Alpha float64
	Limit int
}

// Candidate is an object that a hybrid search found.
type Candidate struct {
	Kind, ItemID string
	// Agent, SessionID and Message locate a message.
	Agent, SessionID string
	Message          int
	// OccurredAt is the time of the message, and Length its number of terms.
	OccurredAt time.Time
	Length     int
	// Score is the combined score, in [0,1]: the sum of Vector, Keyword and Context. Vector and Keyword are the
	// relative score of one search times its weight. A caller may add Context.
	Score                    float64
	Vector, Keyword, Context float64
	// Similarity is the cosine similarity and BM25 the keyword score. Each is 0 if its search did not find the
	// object.
	Similarity, BM25 float64
	// Height and Words are set by a caller: the excess of the similarity over that of unrelated texts, and whether the
	// object shares a word with the query.
	Height float64
	Words  bool
}

// check returns an error unless the query names a project or selects only facts. An empty project that was left out by
// mistake does not select facts.
func (q HybridQuery) check() error {
	if q.Project == FactsProject && slices.Equal(q.Filter.Kinds, []string{schema.ItemFact}) {
		return nil
	}
	if err := clickhouse.Required("project", q.Project); err != nil {
		return fmt.Errorf("search %q: %w", q.Collection, err)
	}
	return nil
}

// Hybrid returns the best objects in order of their scores. If the project or collection does not exist, there are
// none.
func (c *Client) Hybrid(ctx context.Context, q HybridQuery) ([]Candidate, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	terms, alpha := strings.Join(language.Content(q.Text), " "), q.Alpha
	if terms == "" {
		// Without terms there is nothing to search for by keywords.
		alpha = 1
	}
	near := ""
	switch {
	case len(q.Vector) > 0:
		near = ",vector:" + floats(q.Vector)
	case terms == "":
		return nil, nil
	}
	arguments := fmt.Sprintf(
		`tenant:%s,limit:%d,hybrid:{query:%s,alpha:%s%s,fusionType:relativeScoreFusion,properties:["%s"]},where:%s`,
		quote(schema.VectorTenant(q.Project)), q.Limit, quote(terms), strconv.FormatFloat(alpha, 'f', -1, 64),
		near, schema.PropertyTerms, q.Filter.where())
	fields := schema.PropertyItemKind + " " + schema.PropertyItemID
	if schema.ContainsMessages(q.Collection) {
		fields += " " + schema.PropertyAgent + " " + schema.PropertySessionID + " " + schema.PropertyMessage + " " + schema.PropertyOccurredAt +
			" " + schema.PropertyLength
	}
	fields += " _additional{score explainScore}"
	rows, err := query[storedItem](ctx, c, c.recentClass, "search", "Get", q.Collection, arguments, fields)
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, 0, len(rows))
	for _, row := range rows {
		candidate := Candidate{
			Kind: row.Kind, ItemID: row.ItemID, Agent: row.Agent, SessionID: row.SessionID, Message: row.Message,
			OccurredAt: row.OccurredAt, Length: row.Length,
		}
		candidate.Score, _ = strconv.ParseFloat(fmt.Sprint(row.Additional.Score), 64)
		candidate.explain(row.Additional.ExplainScore)
		out = append(out, candidate)
	}
	return out, nil
}

// explain parses the parts of the score from Weaviate's explanation, which has lines such as "Hybrid (Result Set
// vector,hybridVector) Document ID: original score 0.3, normalized score: 0.5".
func (c *Candidate) explain(text string) {
	for part := range strings.SplitSeq(text, "Hybrid (Result Set ") {
		set, rest, ok := strings.Cut(part, ")")
		if !ok {
			continue
		}
		_, numbers, _ := strings.Cut(rest, "original score ")
		original, normalized, ok := strings.Cut(numbers, ", normalized score: ")
		if !ok {
			continue
		}
		raw, errRaw := strconv.ParseFloat(strings.TrimSpace(original), 64)
		share, errShare := strconv.ParseFloat(strings.Trim(normalized, " -\n"), 64)
		if errRaw != nil || errShare != nil {
			continue
		}
		if strings.HasPrefix(set, "vector") {
			c.Similarity, c.Vector = raw, share
		} else {
			c.BM25, c.Keyword = raw, share
		}
	}
}
