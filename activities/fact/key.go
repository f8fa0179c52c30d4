package fact

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"axiommind/activities/boundary"
	"axiommind/schema"
)

// Key is the form in which two contents are the same fact: trimmed, canonically composed, and with
// full Unicode case folding. White space, width and punctuation inside it stay.
func Key(content string) string {
	// Canonical caseless matching folds the decomposed form: folding first would see some accents
	// in another order than their composed letter has them.
	folded := cases.Fold().String(norm.NFD.String(strings.TrimSpace(content)))
	return norm.NFC.String(strings.Map(foldCherokee, folded))
}

// foldCherokee mends cases.Fold, which turns small Cherokee letters into capitals, as Unicode has
// it, and capitals into small ones.
func foldCherokee(r rune) rune {
	switch {
	case r >= 0xAB70 && r <= 0xABBF:
		return r - 0xAB70 + 0x13A0
	case r >= 0x13F8 && r <= 0x13FD:
		return r - 0x13F8 + 0x13F0
	}
	return r
}

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
