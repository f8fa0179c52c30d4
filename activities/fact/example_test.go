package fact_test

import (
	"fmt"

	"axiommind/activities/fact"
)

// The memory becomes text for a prompt: the surest facts come first, and facts beyond the budget are left out, the least
// sure first.
func ExampleFormatter_Format() {
	facts := fact.Context{Facts: []fact.Statement{
		{Content: "Uses Vim", Category: "preference", Confidence: 0.7},
		{Content: "Prefers small pull requests", Category: "preference", Confidence: 0.95},
	}}
	for _, budget := range []int{100, 16} {
		f := fact.Formatter{MaxTokens: budget, Counter: fact.CJK2}
		fmt.Printf("%s\n\n", f.Format(facts))
	}
	// Output:
	// Facts:
	// - [preference | 0.95] Prefers small pull requests
	// - [preference | 0.70] Uses Vim
	//
	// Facts:
	// - [preference | 0.95] Prefers small pull requests
}
