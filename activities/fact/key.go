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

// Key is what two contents have in common that are the same fact: the form [text.Fact].
func Key(content string) string { return text.Fact(content) }

// Category returns the category in its stored form, and whether it is one. None is context.
func Category(category string) (string, bool) {
	category = strings.ToLower(strings.TrimSpace(category))
	if category == "" {
		return schema.CategoryContext, true
	}
	return category, slices.Contains(schema.FactCategories(), category)
}

// maxCollisions is how many ids an act may have. With 100,000 facts in a memory the chance that all
// are taken is under 1 in 10^18.
const maxCollisions = 4

var errNoID = boundary.Invalid(schema.ErrorFactRefused, errors.New("every id it may have is taken"))

// factID returns the id that the act gives its fact when the n ids before are taken.
func factID(actKey string, n int) string {
	return "fact_" + schema.HashParts("fact", actKey, strconv.Itoa(n))[:8]
}

// factIDs are the ids of the act, in the order in which they are tried.
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
