package tier

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestParseCore(t *testing.T) {
	t.Parallel()
	item := func(text, heading string) schema.CoreItem { return schema.CoreItem{Text: text, Heading: heading} }
	for name, c := range map[string]struct {
		text  string
		items []schema.CoreItem
	}{
		"nothing":              {"\n\n", nil},
		"marks":                {"- a\n* b\n+ c\n1. d\n12) e\n• f", []schema.CoreItem{item("a", ""), item("b", ""), item("c", ""), item("d", ""), item("e", ""), item("f", "")}},
		"no marks":             {"-a\n\n*b*\n\n2024. c\n\n1.5 d", []schema.CoreItem{item("-a", ""), item("*b*", ""), item("2024. c", ""), item("1.5 d", "")}},
		"headings":             {"- a\n# One\n- b\n### Two ###\n- c\n## C#\n- d\n##\n- e", []schema.CoreItem{item("a", ""), item("b", "One"), item("c", "One\nTwo"), item("d", "One\nC#"), item("e", "One")}},
		"heading of nothing":   {"# Title\n\n## One\n- a\n## Last", []schema.CoreItem{item("a", "Title\nOne"), item("Last", "Title")}},
		"two of a name":        {"# A\n## C\n- a\n# B\n## C\n- b\n## D\n# E", []schema.CoreItem{item("a", "A\nC"), item("b", "B\nC"), item("D", "B"), item("E", "")}},
		"six headings":         {"# A\n## B\n### C\n#### D\n##### E\n###### F\n- a", []schema.CoreItem{item("a", "A\nB\nC\nD\nE › F")}},
		"no heading":           {"#tag\n\n####### seven", []schema.CoreItem{item("#tag", ""), item("####### seven", "")}},
		"continued":            {"- a\n  b\nc\n\n  d\n- e", []schema.CoreItem{item("a\nb\nc\n\nd", ""), item("e", "")}},
		"nested":               {"- a\n  - b\n    1. c\n - d\n\n\t- e", []schema.CoreItem{item("a\n- b\n  1. c", ""), item("d\n\n- e", "")}},
		"paragraphs":           {"a\nb\n\nc\n- d\n\ne", []schema.CoreItem{item("a\nb", ""), item("c", ""), item("d", ""), item("e", "")}},
		"a list of a line":     {"a:\n- b\n- c\n\n- d\n\ne", []schema.CoreItem{item("a:\n- b\n- c\n\n- d", ""), item("e", "")}},
		"emphasized":           {"**a：**\n\n1. b\n   - c\n# One\n- d", []schema.CoreItem{item("**a：**\n\n1. b\n   - c", ""), item("d", "One")}},
		"a colon in a list":    {"- a:\n- b\n- c\n  d:\n- e", []schema.CoreItem{item("a:", ""), item("b", ""), item("c\nd:", ""), item("e", "")}},
		"no colon":             {"a: b\n- c", []schema.CoreItem{item("a: b", ""), item("c", "")}},
		"code":                 {"- a\n  ```go\n  - x\n\n  ## y\n  ```\n- b", []schema.CoreItem{item("a\n```go\n- x\n\n## y\n```", ""), item("b", "")}},
		"code that is not in":  {"- a\n\n```\n# x\n```\n- b", []schema.CoreItem{item("a\n\n```\n# x\n```", ""), item("b", "")}},
		"code by itself":       {"# One\n~~~\nx\n~~~", []schema.CoreItem{item("~~~\nx\n~~~", "One")}},
		"code without an end":  {"- a\n  ```\n  x\n# y\n- z", []schema.CoreItem{item("a\n```\nx\n# y\n- z\n```", "")}},
		"code in a line":       {"- run ```make test``` first\n- b", []schema.CoreItem{item("run ```make test``` first", ""), item("b", "")}},
		"rules":                {"a\n---\n- b\n***\n- ---\n- \n=====", []schema.CoreItem{item("a", ""), item("b", "")}},
		"carriage returns":     {"- a\r\n  b\r- c\r\n", []schema.CoreItem{item("a\nb", ""), item("c", "")}},
		"a bullet and nothing": {"-\n  a", []schema.CoreItem{item("a", "")}},
		"a mark in an item":    {"- - a\n- 1. b\n- [x] c", []schema.CoreItem{item("- a", ""), item("1. b", ""), item("[x] c", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.items, ParseCore(c.text))
		})
	}
}

func TestRenderCore(t *testing.T) {
	t.Parallel()
	require.Empty(t, RenderCore(nil))
	require.Equal(t, "- old\n", RenderCore(ParseCore("- old\n")))
	require.Equal(t, "- c\n\n## B\n\n- a\n- d\n  e\n\n  f\n\n## A\n\n- b\n", RenderCore([]schema.CoreItem{
		{Text: "a", Heading: "B"}, {Text: "b", Heading: "A"}, {Text: "c"}, {Text: "d\ne\n\nf", Heading: "B"},
	}))
	nested := "- y\n\n## A\n\n- z\n\n### C\n\n- a\n\n## B\n\n### C\n\n- b\n\n#### E › F\n\n- c\n"
	require.Equal(t, nested, RenderCore(ParseCore("- y\n# A\n### C\n- a\n# B\n## C\n- b\n### E › F\n- c\n# A\n- z")))
	require.Equal(t, nested, RenderCore(ParseCore(nested)))
	// Items after an unclosed code block stay unchanged.
	text := RenderCore([]schema.CoreItem{{Text: "```\nx"}, {Text: "b", Heading: "A"}})
	require.Equal(t, []schema.CoreItem{{Text: "```\nx\n```"}, {Text: "b", Heading: "A"}}, ParseCore(text))
}

// markdownLine is a line as it may be in a MEMORY.md, or nearly.
func markdownLine() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", "", " ", "  ", "   ", "    ", "\t", "      "}).Draw(t, "indent") +
			rapid.SampledFrom([]string{
				"", "", "- ", "- ", "* ", "+ ", "-", "• ", "- - ", "1. ", "12) ", "# ", "## ", "###### ", "#", "```", "```go ", "~~~", "> ", "| ", "---", "===", "***", "- ---", "[ ] ", "we: ",
			}).Draw(t, "mark") + rapid.SampledFrom([]string{"", "", "one", "two words", "3. three", "C#", "four ##", "차", "`x`", "```", "_e_", "v1.5!", "so:", "**x**："}).Draw(t, "text") +
			rapid.SampledFrom([]string{"", "", " ", "\t", "  "}).Draw(t, "end")
	})
}

func markdown() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(markdownLine(), 0, 14).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\n\n"}).Draw(t, "break"))
	})
}

func TestRenderCoreIsAFixedPoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(markdown(), rapid.String()).Draw(t, "text")
		once := RenderCore(ParseCore(text))
		if twice := RenderCore(ParseCore(once)); twice != once {
			t.Fatalf("%q becomes %q, then %q", text, once, twice)
		}
	})
}

var (
	word       = regexp.MustCompile(`[\p{L}\p{N}]+`)
	listNumber = regexp.MustCompile(`(?m)^[ \t]*[0-9]{1,3}[.)]([ \t]|$)`)
)

func TestParseCoreLosesNoWord(t *testing.T) {
	t.Parallel()
	require.Equal(t, []schema.CoreItem{{Text: "two words"}}, ParseCore("# two words  \n\n  ###### ``` "))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(markdown(), rapid.String()).Draw(t, "text")
		var b strings.Builder
		headings := map[string]bool{}
		for _, item := range ParseCore(text) {
			b.WriteString(item.Text + "\n")
			if !headings[item.Heading] {
				headings[item.Heading] = true
				b.WriteString(item.Heading + "\n")
			}
		}
		left := map[string]int{}
		for _, w := range word.FindAllString(b.String(), -1) {
			left[w]++
		}
		distinct := map[string]bool{}
		for _, w := range word.FindAllString(listNumber.ReplaceAllString(plainLines(text), ""), -1) {
			distinct[w] = true
		}
		for w := range distinct {
			if left[w] == 0 {
				t.Fatalf("%q of %q is lost", w, text)
			}
		}
	})
}
