package task

import (
	"context"
	"fmt"
	"slices"
	"strings"

	language "axiommind/activities/text"
	"axiommind/schema"
)

// Index reads the projections of a project, which must be up to date with its stream.
type Index interface {
	// Read reads all wanted rows at once.
	Read(ctx context.Context, project string, w Wants) (Found, error)
	// Prefixed returns the ids of entities of the types that begin with the prefix, which is lower case.
	Prefixed(ctx context.Context, project string, types []schema.EntityType, prefix string, limit int) ([]string, error)
	// ReportedDone returns the ids of open tasks that are reported done, the least recently updated first.
	ReportedDone(ctx context.Context, project string, limit int) ([]string, error)
}

// Wants selects rows of a project to read.
type Wants struct {
	// Entries are ids of entries, to read which of them were observed.
	Entries []string
	// Keys are canonical keys, and IDs ids of entities.
	Keys, IDs []string
	// Titles are titles of tasks to search for.
	Titles []string
	// Targets are ids of entities, to read which others point at them.
	Targets []string
}

func (w Wants) empty() bool {
	return len(w.Entries)+len(w.Keys)+len(w.IDs)+len(w.Titles)+len(w.Targets) == 0
}

// Found has the rows that were read of a project. Missing keys and entities are missing from the maps.
type Found struct {
	// Observed has the entries with a task_observed event.
	Observed map[string]bool
	// Keys has the ids of entities by key.
	Keys     map[string]string
	Entities map[string]Entity
	// Titles has, by title, the ids of the tasks that a [titleSearch] finds.
	Titles map[string][]string
	// Pointing has, by target, the ids of the entities that mention it, wait for it or resolve to it, or once did.
	Pointing map[string][]string
}

func newFound() Found {
	return Found{
		Observed: map[string]bool{}, Keys: map[string]string{}, Entities: map[string]Entity{},
		Titles: map[string][]string{}, Pointing: map[string][]string{},
	}
}

// maxTokens bounds the number of words of a search.
const maxTokens = 24

// titleSearch finds the tasks whose titles have the same words as a title, or contain all words of one of its parts:
// the two longest words, and each third of the words. So a title that differs in one place is found even if all its
// words are common.
type titleSearch struct {
	text  string
	words []string
	parts [][]string
}

func searchOf(title string) titleSearch {
	terms := language.TitleTerms(title)
	if len(terms) == 0 {
		return titleSearch{}
	}
	s := titleSearch{text: strings.Join(terms, " "), words: rarest(terms, maxTokens)}
	s.add(rarest(terms, 2))
	for third := range slices.Chunk(terms, (len(terms)+2)/3) {
		s.add(rarest(third, maxTokens))
	}
	return s
}

func (s *titleSearch) add(part []string) {
	if !slices.ContainsFunc(s.parts, func(p []string) bool { return slices.Equal(p, part) }) {
		s.parts = append(s.parts, part)
	}
}

// searchText returns the title in the form of the search column.
func searchText(title string) string { return strings.Join(language.TitleTerms(title), " ") }

// rarest returns up to n different words: the longest, which usually are the rarest.
func rarest(words []string, n int) []string {
	words = slices.Compact(slices.Sorted(slices.Values(words)))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words[:min(len(words), n)]
}

// titleIndex finds planned tasks by their titles. The tables do not contain them yet.
type titleIndex struct {
	texts map[string][]string
	words map[string][]string
	of    map[string][]string
}

func newTitleIndex() titleIndex {
	return titleIndex{texts: map[string][]string{}, words: map[string][]string{}, of: map[string][]string{}}
}

func (x titleIndex) add(id, title string) {
	terms := language.TitleTerms(title)
	text := strings.Join(terms, " ")
	x.texts[text] = append(x.texts[text], id)
	x.of[id] = terms
	for _, word := range rarest(terms, len(terms)) {
		x.words[word] = append(x.words[word], id)
	}
}

// find returns the ids of the tasks that match the search. The limit applies to the whole title and to each part
// separately.
func (x titleIndex) find(s titleSearch, limit int) []string {
	if s.text == "" {
		return nil
	}
	same := x.texts[s.text]
	out := slices.Clone(same[:min(len(same), limit)])
	for _, part := range s.parts {
		fewest := x.words[part[0]]
		for _, word := range part[1:] {
			if ids := x.words[word]; len(ids) < len(fewest) {
				fewest = ids
			}
		}
		n := 0
		for _, id := range fewest {
			if n == limit {
				break
			}
			if containsAll(x.of[id], part) {
				out = append(out, id)
				n++
			}
		}
	}
	return out
}

func containsAll(words, part []string) bool {
	for _, word := range part {
		if !slices.Contains(words, word) {
			return false
		}
	}
	return true
}

// ask reads the wanted rows that are not known yet, in one request.
func (v *overlay) ask(ctx context.Context, w Wants) error {
	w = v.unknown(w)
	if w.empty() {
		return nil
	}
	found, err := v.index.Read(ctx, v.project, w)
	if err != nil {
		return fmt.Errorf("read tasks of project %q: %w", v.project, err)
	}
	for _, id := range w.Entries {
		v.observed[id] = found.Observed[id]
	}
	for _, key := range w.Keys {
		v.keys[key] = found.Keys[key]
	}
	for _, title := range w.Titles {
		v.titles[title] = found.Titles[title]
	}
	for _, id := range w.Targets {
		v.pointed[id] = true
		v.pointing[id] = append(v.pointing[id], found.Pointing[id]...)
	}
	for _, id := range w.IDs {
		v.entities[id], v.before[id] = found.Entities[id], found.Entities[id]
	}
	return nil
}

// unknown returns the wants without the known ones, each once.
func (v *overlay) unknown(w Wants) Wants {
	return Wants{
		Entries: missing(w.Entries, func(id string) bool { _, ok := v.observed[id]; return ok }),
		Keys:    missing(w.Keys, func(key string) bool { _, ok := v.keys[key]; return ok }),
		IDs:     missing(w.IDs, func(id string) bool { _, ok := v.entities[id]; return ok }),
		Titles:  missing(w.Titles, func(title string) bool { _, ok := v.titles[title]; return ok }),
		Targets: missing(w.Targets, func(id string) bool { return v.pointed[id] }),
	}
}

func missing(values []string, known func(string) bool) []string {
	var out []string
	seen := map[string]bool{}
	for _, value := range values {
		if !seen[value] && !known(value) {
			out = append(out, value)
		}
		seen[value] = true
	}
	return out
}
