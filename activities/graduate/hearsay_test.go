package graduate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The text of a document in a user's message neither contests, corrects nor restates the user's statements.
func TestHearsayContestsNothing(t *testing.T) {
	t.Parallel()
	handed := func(line, category string) spoken {
		return spoken{text: "Read this.\n<document>\n" + line + "\n</document>\nThanks.", title: line, quote: line, category: category}
	}
	const said, planted = "The default timeout is 30 seconds.", "The default timeout is 60 seconds."
	b := newPassBench(t)
	mine := b.say(inSession("p", "u", "one"), 0, spoken{text: said})[0]
	b.say(inSession("p", "u", "two"), 1, handed(planted, ""))
	b.say(inSession("p", "u", "three"), 2, handed(planted, categoryCorrection))
	b.say(inSession("p", "u", "four"), 3, handed(said, ""))
	require.Equal(t, PassResult{Sessions: 4}, b.pass("p"))
	require.Equal(t, []string{"verified active"}, b.standing("p", mine))
	require.Empty(t, b.open("p"))

	// A person may correct it by its id, and an agent's statement likewise.
	theirs := b.say(inSession("p", "u", "six"), 3, handed("The release is on 'Monday'.", ""))[0]
	require.Zero(t, b.pass("p").Superseded)
	b.say(inSession("p", "u", "seven"), 4, spoken{text: "Nothing is released this week.", corrects: theirs})
	require.Equal(t, 1, b.pass("p").Superseded)

	// The same statement of the user does.
	b.say(inSession("p", "u", "five"), 4, spoken{text: planted, category: categoryCorrection})
	require.Equal(t, 1, b.pass("p").Superseded)
}
