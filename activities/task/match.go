package task

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"axiommind/schema"
)

// Methods by which a task is found.
const (
	MethodCreated = "created"
	MethodExact   = "exact"
	MethodText    = "text"
	MethodVector  = "vector"
)

// Bounds of the match that counts as certain, and of what is kept as a candidate below it.
const (
	StrictScore    = 0.92
	StrictMargin   = 0.03
	candidateScore = 0.5
	maxCandidates  = 5
	// searchLimit bounds what one title search brings back.
	searchLimit = 20
)

// Bases of the score. Words that are equal but for articles and the punctuation between them are
// as good as a title; words in common are not, and neither is closeness of meaning where a number
// or a symbol differs.
const (
	baseExact     = 1.0
	baseSameWords = 0.975
	baseWords     = 0.9
	baseVector    = 0.97
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

// recencyWeight falls from 1 to 0.98 between a month and a year of silence.
func recencyWeight(last, at time.Time) float64 {
	const month, year = 30 * 24 * time.Hour, 365 * 24 * time.Hour
	silence := min(max(at.Sub(last)-month, 0), year-month)
	return 1 - 0.02*float64(silence)/float64(year-month)
}

// Match is a task that a title may mean.
type Match struct {
	Entity Entity
	Method string
	Score  float64
}

func (m Match) candidate() schema.Candidate {
	return schema.Candidate{EntityID: m.Entity.ID, Title: m.Entity.Title, Score: m.Score, Method: m.Method}
}

func weigh(e Entity, method string, base float64, at time.Time) Match {
	score := base * stageWeight[e.Stage] * entityWeight[e.Status] * taskWeight[e.TaskStatus] * recencyWeight(e.UpdatedAt, at)
	return Match{Entity: e, Method: method, Score: score}
}

// TitleHit is a task whose title is close to another in meaning.
type TitleHit struct {
	TaskID string
	// Similarity is the cosine of the titles' vectors.
	Similarity float64
}

// TitleSearcher finds tasks by the meaning of their titles. It may lag behind the log.
type TitleSearcher interface {
	SimilarTitles(ctx context.Context, project, title string, limit int) ([]TitleHit, error)
}

// Strict returns the first match if it is certain. Matches are in order of score.
func Strict(matches []Match) (Match, bool) {
	if len(matches) == 0 {
		return Match{}, false
	}
	top := matches[0]
	certain := top.Score >= StrictScore && top.Entity.Status == schema.StatusActive &&
		top.Entity.TaskStatus != schema.TaskCancelled
	if len(matches) > 1 && top.Method != MethodExact && top.Score-matches[1].Score < StrictMargin {
		certain = false
	}
	return top, certain
}

// match returns the tasks that the title may mean, best first: the one under its canonical key
// alone when there is one, else those of like words and of like meaning.
func (w *world) match(ctx context.Context, title string, at time.Time) ([]Match, error) {
	key, err := KeyOfTask(w.project, title)
	if err != nil {
		return nil, err
	}
	if e, ok, err := w.byKey(ctx, key); err != nil || ok {
		return []Match{weigh(e, MethodExact, baseExact, at)}, err
	}
	best := map[string]Match{}
	keep := func(e Entity, method string, base float64) {
		m := weigh(e, method, base, at)
		if e.Type == schema.EntityTask && m.Score >= candidateScore && m.Score > best[e.ID].Score {
			best[e.ID] = m
		}
	}
	ids, err := w.searchTitles(ctx, title)
	if err != nil {
		return nil, err
	}
	hits, err := w.similarTitles(ctx, title)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		ids = append(ids, h.TaskID)
	}
	entities, err := w.load(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		keep(e, MethodText, wordScore(title, e.Title))
	}
	for _, h := range hits {
		if e, ok := entities[h.TaskID]; ok {
			keep(e, MethodVector, vectorScore(title, e.Title, h.Similarity))
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

func (w *world) similarTitles(ctx context.Context, title string) ([]TitleHit, error) {
	if w.vectors == nil {
		return nil, nil
	}
	hits, err := w.vectors.SimilarTitles(ctx, w.project, title, searchLimit)
	if err != nil {
		return nil, fmt.Errorf("search titles like %q: %w", clip(title), err)
	}
	return hits, nil
}

func wordScore(a, b string) float64 {
	if slices.Equal(looseWords(a), looseWords(b)) {
		return baseSameWords
	}
	return baseWords * dice(searchWords(a), searchWords(b))
}

func vectorScore(a, b string, similarity float64) float64 {
	score := baseVector * min(max(similarity, 0), 1)
	if !slices.Equal(telling(looseWords(a)), telling(looseWords(b))) {
		return min(score, baseWords)
	}
	return score
}

// looseWords splits a normalized title at punctuation too, unless it stands between digits or
// before a name, and drops articles.
func looseWords(title string) []string {
	runes := []rune(Normalize(title))
	var words []string
	start := 0
	flush := func(end int) {
		if word := string(runes[start:end]); end > start && !articles[word] {
			words = append(words, word)
		}
		start = end + 1
	}
	for i, r := range runes {
		if unicode.IsSpace(r) || unicode.IsPunct(r) && !partOfWord(runes, i) {
			flush(i)
		}
	}
	flush(len(runes))
	return words
}

var articles = map[string]bool{"the": true, "a": true, "an": true}

func partOfWord(runes []rune, i int) bool {
	switch runes[i] {
	case '#', '%', '&', '*', '@', '\\':
		return true
	case '.', ',', ':', '/', '-':
		if i+1 == len(runes) {
			return false
		}
		atStart := i == 0 || unicode.IsSpace(runes[i-1])
		return atStart && !unicode.IsSpace(runes[i+1]) || !atStart && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1])
	}
	return false
}

// telling returns the words with a digit or a symbol: two titles that differ there are two tasks,
// however close.
func telling(words []string) []string {
	var out []string
	for _, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool {
			return unicode.IsDigit(r) || unicode.IsSymbol(r) || unicode.IsPunct(r)
		}) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return out
}

func wordless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// dice is the share of words that two titles have in common.
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

// clip shortens a text for an error message.
func clip(s string) string {
	if runes := []rune(s); len(runes) > 80 {
		return string(runes[:80]) + "…"
	}
	return s
}
