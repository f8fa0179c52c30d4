package help

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/require"
)

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Every page is a topic, begins with its title and its purpose, and can be drawn at any width.
func TestTopics(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(pages, "*.md")
	require.NoError(t, err)
	topics := Topics()
	require.Len(t, topics, len(files), "a page of starter/help is missing in the list of topics")
	for _, topic := range topics {
		require.True(t, strings.HasPrefix(topic.Text, "# "+topic.Title+"\n\n"+purpose), topic.Name)
		require.True(t, strings.HasSuffix(topic.Purpose, "."), "%s: the purpose is one sentence: %s", topic.Name, topic.Purpose)
		found, ok := Find(topic.Name)
		require.True(t, ok)
		require.Equal(t, topic, found)
		for _, width := range []int{0, 80, 400} {
			drawn := topic.Draw(width, false)
			require.NotRegexp(t, `<!--|\.md#|\*\*\w|\|---`, drawn)
			require.Equal(t, drawn, escape.ReplaceAllString(topic.Draw(width, true), ""))
			for line := range strings.Lines(drawn) {
				// Code is not wrapped, and no word of a table is broken.
				if width >= 80 && !strings.HasPrefix(line, "    ") && !strings.ContainsAny(line, "│┼") {
					require.LessOrEqual(t, uniseg.StringWidth(line), widest, "%s: %s", topic.Name, line)
				}
			}
		}
	}
	_, ok := Find("../help/search")
	require.False(t, ok)
}

// A link leads to a page that is there, and to a heading of it.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\]\(([a-z-]+)\.md(?:#([^)]*))?\)`)
	for _, topic := range Topics() {
		for _, found := range links.FindAllStringSubmatch(topic.Text, -1) {
			to, ok := Find(found[1])
			require.True(t, ok, "%s: no topic %s", topic.Name, found[1])
			if found[2] != "" {
				require.Contains(t, anchors(to.Text), found[2], "%s links to %s", topic.Name, found[0])
			}
		}
	}
}

// anchors are the headings of a page as a link names them.
func anchors(page string) []string {
	var all []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^\p{L}\p{N} -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	return all
}

func TestDraw(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"See [Facts](facts.md#add) and\n[x](https://a.b/c), [here](#x).\n": "See Facts (starter help facts) and x (https://a.b/c), here.\n",
		"- one\n  two\n- three\n":                                    "• one two\n• three\n",
		"1. one\n   - a\n2. two\n":                                   "1. one\n   • a\n2. two\n",
		"# T\ntext **b** `c`\n\n```sh\na\n\n  b\n```\nmore\ntext\n":  "# T\n\ntext b c\n\n    a\n\n      b\n\nmore text\n",
		"| a | b |\n|---|---|\n| `c\\|d` | e |\n":                    " a   │ b \n─────┼───\n c|d │ e \n",
		"<!-- note -->\na\n":                                         "a\n",
		"a\n\n<!-- events -->\n| a |\n<!-- end of events -->\n\nb\n": "a\n\nb\n",
		"```mermaid\ngraph\n```\n":                                   "A terminal does not show this drawing: read the page on the web.\n",
	} {
		require.Equal(t, want, Topic{Text: page}.Draw(80, false))
	}
	require.Equal(t, "\x1b[1m#\x1b[0m \x1b[1mT\x1b[0m\n\n\x1b[36mc\x1b[0m\n", Topic{Text: "# T\n`c`\n"}.Draw(80, true))
}
