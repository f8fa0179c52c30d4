package tier

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func underHeading(heading, text string) schema.CoreItem {
	return schema.CoreItem{Heading: heading, Text: text, Sources: []string{"s"}}
}

// Items that a person has not seen are added where they keep their meaning, and change no meaning of the person's text.
func TestWithItems(t *testing.T) {
	t.Parallel()
	free, headed := underHeading("", "Later."), underHeading("Knowledge", "Uses Go.")
	for name, tt := range map[string]struct {
		text    string
		current []schema.CoreItem
		want    string
	}{
		"nothing":                  {"## A\n- x", nil, "## A\n- x"},
		"nothing new":              {"- Later.\n## Knowledge\n- Uses Go.", []schema.CoreItem{free, headed}, "- Later.\n## Knowledge\n- Uses Go."},
		"to nothing":               {"", []schema.CoreItem{free, headed}, "- Later.\n\n## Knowledge\n\n- Uses Go.\n"},
		"below":                    {"mine", []schema.CoreItem{headed}, "mine\n\n## Knowledge\n\n- Uses Go.\n"},
		"before a heading":         {"## Alice\n- x\n", []schema.CoreItem{free}, "- Later.\n\n## Alice\n- x\n"},
		"between text and heading": {"mine\n# Alice\n- x", []schema.CoreItem{free}, "mine\n\n- Later.\n\n# Alice\n- x"},
		"both":                     {"- mine\n\n## Alice\n- x\n", []schema.CoreItem{headed, free}, "- mine\n\n- Later.\n\n## Alice\n- x\n\n## Knowledge\n\n- Uses Go.\n"},
		"code left open":           {"```sh\n# no heading\nrm x", []schema.CoreItem{free, headed}, "```sh\n# no heading\nrm x\n```\n\n- Later.\n\n## Knowledge\n\n- Uses Go.\n"},
		"code left open below":     {"## A\n- x\n  ~~~~\n  code\n", []schema.CoreItem{headed}, "## A\n- x\n  ~~~~\n  code\n  ~~~~\n\n## Knowledge\n\n- Uses Go.\n"},
		"code left open, CRLF":     {"```\r\ncode\r\n", []schema.CoreItem{headed}, "```\r\ncode\r\n```\n\n## Knowledge\n\n- Uses Go.\n"},
		"a list that goes on":      {"```\n- a\n```\npara:\n- a\n", []schema.CoreItem{free}, "```\n- a\n```\npara:\n- a\n\nLater.\n"},
		"other words":              {"## Bob\n- Likes tea.\n", []schema.CoreItem{underHeading("Alice", "Likes tea.")}, "## Bob\n- Likes tea.\n\n## Alice\n\n- Likes tea.\n"},
		"no heading by indent":     {"- a\n  # b\n", []schema.CoreItem{free}, "- Later.\n\n- a\n  # b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := withItems(tt.text, nil, tt.current)
			require.Equal(t, tt.want, got)
			require.Equal(t, got, withItems(got, nil, tt.current), "once is enough")
		})
	}
	// Items that the person has seen and removed stay away.
	require.Equal(t, "- x\n", withItems("- x\n", []schema.CoreItem{free, headed}, []schema.CoreItem{free, headed}))
}

// Whatever a person wrote, their text and the additions are both stated.
func TestWithItemsProperty(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{
		"- a", "- a:", "para", "para:", "# Title", "## Knowledge", "### Deep", "```", "~~~", "- ```go", "* * *", "", "",
		"1. one", "- Uses Go.",
	})
	items := []schema.CoreItem{
		underHeading("", "Later."), underHeading("", "```\ncode"), underHeading("Knowledge", "Uses Go."), underHeading("Goals", "Ship."),
	}
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, l := range rapid.SliceOfN(line, 0, 8).Draw(t, "lines") {
			text += l + rapid.SampledFrom([]string{"\n", "\n", "\r\n"}).Draw(t, "end")
		}
		items := items
		if strings.Contains(text, ":") {
			items = slices.Delete(slices.Clone(items), 1, 2) // Code after code, or after a paragraph that ends with a colon, forms one statement with it.
		}
		later := ParseCore(RenderCore(rapid.SliceOfDistinct(rapid.SampledFrom(items), func(i schema.CoreItem) string { return i.Text }).Draw(t, "items")))
		with := withItems(text, nil, later)
		require.True(t, statesAll(endFence(with), append(later, ParseCore(endFence(text))...)), "%q", with)
	})
}
