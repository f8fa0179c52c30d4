package service

import (
	"strings"

	"github.com/spf13/cobra"
)

// Nearest returns the names that begin with the word, or are a typing error away from it.
func Nearest(word string, names []string) []string {
	if word == "" {
		return nil
	}
	c := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		c.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	return c.SuggestionsFor(word)
}

// DidYouMean returns the question that follows an unknown name, or an empty string if no name is near.
func DidYouMean(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (did you mean " + strings.Join(names, " or ") + "?)"
}
