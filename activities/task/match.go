package task

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// Methods by which a task was found.
const (
	MethodCreated = "created"
	MethodExact   = "exact"
	MethodText    = "text"
	MethodVector  = "vector"
)

// Limits: the score of a certain match and its lead over the next one, and the score and number of candidates below
// that.
const (
	StrictScore    = 0.92
	StrictMargin   = 0.03
	candidateScore = 0.5
	maxCandidates  = 5
	// searchLimit bounds the number of results of one title search.
	searchLimit = 20
)

// Base scores. The same title in another spelling scores like the same key. Common words and similar meaning stay below
// certainty, because "move a to b" and "move b to a" agree in both.
const (
	baseExact  = 1.0
	baseWords  = 0.9
	baseVector = 0.9
)

var stageWeight = map[schema.Stage]float64{
	schema.StageRaw: 0.98, schema.StageWorking: 0.99, schema.StageCandidate: 0.99,
	schema.StageVerified: 1, schema.StageCertified: 1,
}

var entityWeight = map[schema.Status]float64{
	schema.StatusActive: 1, schema.StatusContested: 0.9, schema.StatusDeprecated: 0.6,
}

var taskWeight = map[schema.TaskStatus]float64{
	schema.TaskInProgress: 1, schema.TaskBlocked: 1, schema.TaskPending: 1, schema.TaskDone: 0.96,
	schema.TaskCancelled: 0.8,
}

// recencyWeight decreases from 1 to 0.98 as the time since the task's last mention grows from a month to a year.
func recencyWeight(last, at time.Time) float64 {
	const month, year = 30 * 24 * time.Hour, 365 * 24 * time.Hour
	silence := min(max(at.Sub(last)-month, 0), year-month)
	return 1 - 0.02*float64(silence)/float64(year-month)
}

// Match is a task that a title may refer to.
type Match struct {
	Entity Entity
	Method string
	Score  float64
	// Same is true if the title is one of the task's titles in some spelling.
	Same bool
}

func (m Match) candidate() schema.Candidate {
	return schema.Candidate{EntityID: m.Entity.ID, Title: m.Entity.Title, Score: m.Score, Method: m.Method}
}

func weigh(e Entity, method string, base float64, at time.Time) Match {
	score := base * stageWeight[e.Stage] * entityWeight[e.Status] * taskWeight[e.TaskStatus] * recencyWeight(e.UpdatedAt, at)
	return Match{Entity: e, Method: method, Score: score, Same: method == MethodExact}
}

// TitleHit is a task whose title is similar in meaning to another title.
type TitleHit struct {
	TaskID string
	// Similarity is the cosine similarity of the titles' vectors.
	Similarity float64
}

// TitleSearcher finds tasks by the meaning of their titles. Its results may lag behind the log.
type TitleSearcher interface {
	SimilarTitles(ctx context.Context, project, title string, limit int) ([]TitleHit, error)
}

// Strict returns the first match and whether it is certain. The matches must be in order of score. A match is certain
// if its title is the same by [language.SameTitle] and it has the required score and lead. Similarity alone is never
// certain.
func Strict(matches []Match) (Match, bool) {
	if len(matches) == 0 {
		return Match{}, false
	}
	top := matches[0]
	certain := top.Same && top.Score >= StrictScore && top.Entity.Status == schema.StatusActive &&
		top.Entity.TaskStatus != schema.TaskCancelled
	if len(matches) > 1 && top.Method != MethodExact && top.Score-matches[1].Score < StrictMargin {
		certain = false
	}
	return top, certain
}

// match returns the tasks that the title may refer to, best first. If a task has the title's canonical key, it is the
// only match. Otherwise the matches are tasks with similar words or similar meaning.
func (v *overlay) match(ctx context.Context, title string, at time.Time) ([]Match, error) {
	key, err := KeyOfTask(v.project, title)
	if err != nil {
		return nil, err
	}
	if e, ok, err := v.byKey(ctx, key); err != nil || ok {
		return []Match{weigh(e, MethodExact, baseExact, at)}, err
	}
	best := map[string]Match{}
	keep := func(m Match) {
		if m.Entity.Type == schema.EntityTask && m.Score >= candidateScore && m.Score > best[m.Entity.ID].Score {
			best[m.Entity.ID] = m
		}
	}
	ids, err := v.searchTitles(ctx, title)
	if err != nil {
		return nil, err
	}
	hits, err := v.similarTitles(ctx, title)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		ids = append(ids, h.TaskID)
	}
	entities, err := v.load(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		keep(wordMatch(title, e, at))
	}
	for _, h := range hits {
		if e, ok := entities[h.TaskID]; ok {
			keep(weigh(e, MethodVector, baseVector*min(max(h.Similarity, 0), 1), at))
		}
	}
	out := make([]Match, 0, len(best))
	for _, m := range best {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Entity.ID, b.Entity.ID))
	})
	return out[:min(len(out), maxCandidates)], nil
}

func (v *overlay) similarTitles(ctx context.Context, title string) ([]TitleHit, error) {
	if v.vectors == nil {
		return nil, nil
	}
	hits, err := v.vectors.SimilarTitles(ctx, v.project, title, searchLimit)
	if err != nil {
		return nil, fmt.Errorf("search titles like %q: %w", clip(title), err)
	}
	return hits, nil
}

// wordMatch compares the words: it scores the same title, or the share of common words.
func wordMatch(title string, e Entity, at time.Time) Match {
	if language.SameTitle(title, e.Title) {
		m := weigh(e, MethodText, baseExact, at)
		m.Same = true
		return m
	}
	return weigh(e, MethodText, baseWords*dice(language.TitleTerms(title), language.TitleTerms(e.Title)), at)
}

// dice returns the Sørensen–Dice coefficient of the words of two titles.
func dice(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	left := map[string]int{}
	for _, w := range a {
		left[w]++
	}
	shared := 0
	for _, w := range b {
		if left[w] > 0 {
			left[w]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}
