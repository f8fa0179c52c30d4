package fact

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"axiommind/activities/boundary"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Key returns the normalized form [text.Fact] of the content. Contents with the same key are the same fact.
func Key(content string) string { return text.Fact(content) }

// Category returns the category in its stored form and whether it is valid. An empty category is context: a person may
// leave it out, a session may not.
func Category(category string) (string, bool) {
	category = strings.ToLower(strings.TrimSpace(category))
	if category == "" {
		return schema.CategoryContext, true
	}
	return category, slices.Contains(schema.FactCategories(), category)
}

// maxCollisions is the number of ids that an act may try. In a memory of 100,000 facts the probability that all are
// taken is below 1 in 10^18.
const maxCollisions = 4

var errNoID = boundary.Invalid(schema.ErrorFactRefused, errors.New("every id it may have is taken"))

// factID returns the id of the act's fact if the n previous ids are taken: the first 8 hex digits of a name-based UUID, so
// that a retry of the act makes the same id.
func factID(actKey string, n int) string {
	return "fact_" + schema.DerivedID("fact", actKey, strconv.Itoa(n))[:8]
}

// factIDs returns the possible ids of the act's fact, in the order in which they are tried.
func factIDs(actKey string) []string {
	ids := make([]string, maxCollisions)
	for n := range ids {
		ids[n] = factID(actKey, n)
	}
	return ids
}

func freeID(actKey string, taken func(id string) bool) (string, error) {
	for _, id := range factIDs(actKey) {
		if !taken(id) {
			return id, nil
		}
	}
	return "", fmt.Errorf("name the fact of %q: %w", actKey, errNoID)
}
