package tier

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

func TestDreamOffline(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- Likes tea.\n\n## Habits\n\n- Runs.\n",
		[]string{"- Shipped v2.\n- likes tea\n- Runs. Likes tea."}, []string{"- Shipped v1.\n- User: ship it → Reply: done"})
	g.Days[0].Sources = append(g.Days[0].Sources,
		schema.SourceText{ID: "e", Kind: schema.SourceEntry, Heading: "Decisions", Text: "Use Go"},
		schema.SourceText{ID: "turns", Kind: schema.SourceRecord, Turns: true, Text: "- Said in passing."},
		schema.SourceText{ID: "edited", Kind: schema.SourceEdited, Text: "# Daily\n\n## Trimmed Context (14:30)\n\nA person's line.\n- User: hi → Reply: hello"})
	g.Days[1].Sources = append(g.Days[1].Sources, schema.SourceText{ID: "f", Kind: schema.SourceFact, Heading: "preferences", Text: "Prefers tabs"})
	a := DreamOffline(g)
	require.Equal(t, "2 days read; 5 new statements found, 2 duplicates.", a.Diary)
	d := Compose(g, []Answer{a}, Guard{})
	require.Empty(t, d.Refused)
	require.Empty(t, d.Dropped)
	require.Equal(t, "- Likes tea.\n- Shipped v1.\n- Shipped v2.\n- A person's line.\n\n## Habits\n\n- Runs.\n\n## Preferences\n\n- Prefers tabs\n\n## Decisions\n\n- Use Go\n", d.Text)
	require.Equal(t, 5, d.Added)
	require.Equal(t, []string{"m0", "d0-0"}, d.Items[0].Sources)

	require.Equal(t, Answer{HasMemory: true, HasDiary: true, Diary: "0 days read; 0 new statements found, 0 duplicates."}, DreamOffline(schema.DreamGatheredPayload{}))
	only := gatheredOf("")
	only.Days = []schema.GatheredDay{{Sources: []schema.SourceText{{ID: "t", Kind: schema.SourceRecord, Turns: true, Text: "- User: a → Reply: b"}}}}
	require.Empty(t, Compose(only, []Answer{DreamOffline(only)}, Guard{}).Refused)
}

// TestDreamOfflineIsKept offers any text, not only statements: all that is promoted is grounded.
func TestDreamOfflineIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := randomGathered().Draw(t, "gathered")
		g.Memory = ParseCore(RenderCore(g.Memory) + markdown().Draw(t, "more"))
		for i := range g.Memory {
			g.Memory[i].Sources = []string{fmt.Sprint("m", i)}
		}
		if rapid.Bool().Draw(t, "odd") {
			var odd []schema.SourceText
			for i, kind := range []schema.SourceKind{schema.SourceFact, schema.SourceEntry, schema.SourceEdited, schema.SourceRecord} {
				odd = append(odd, schema.SourceText{ID: fmt.Sprint("o", i), Kind: kind, Text: rapid.OneOf(markdown(), rapid.String()).Draw(t, "odd text")})
			}
			g.Days = append(g.Days, schema.GatheredDay{Day: schema.Day{Date: "2026-06-01"}, Sources: odd})
		}
		a := DreamOffline(g)
		d := Compose(g, []Answer{a}, Guard{})
		if d.Refused != "" {
			t.Fatalf("refused: %s", d.Refused)
		}
		for _, dropped := range d.Dropped {
			if dropped.From == schema.FromAnswer {
				t.Fatalf("%q is dropped: %s", dropped.Text, dropped.Reason)
			}
		}
		if d.Carried > 0 {
			t.Fatalf("%d items of %+v are left out of %q", d.Carried, g.Memory, a.Memory)
		}
		next := g
		next.Memory = d.Items
		if again := DreamOffline(next); Compose(next, []Answer{again}, Guard{}).Text != d.Text {
			t.Fatalf("the next night changes %q to %q", d.Text, Compose(next, []Answer{again}, Guard{}).Text)
		}
	})
}

func TestEditItems(t *testing.T) {
	t.Parallel()
	parent := memoryOf("- Likes tea.\n- Runs.\n\n## Habits\n\n- Swims.\n")
	items, dropped := EditItems(parent, "- likes tea\n- Likes coffee.\n## Sports\n- Swims.\n", "e")
	require.Equal(t, []schema.CoreItem{
		{Text: "likes tea", Sources: []string{"m0"}}, {Text: "Likes coffee.", Sources: []string{"e"}, Written: true}, {Text: "Swims.", Heading: "Sports", Sources: []string{"m2"}},
	}, items)
	require.Equal(t, []schema.DroppedItem{{Text: "Runs.", From: schema.FromMemory, Reason: schema.DroppedEdited, Sources: []string{"m1"}}}, dropped)
	items, dropped = EditItems(parent, "", "e")
	require.Empty(t, items)
	require.Len(t, dropped, 3)
	_, dropped = EditItems(parent, RenderCore(parent), "e")
	require.Empty(t, dropped)
}

// A heading is part of an item's meaning.
func TestEditItemsUnderHeadings(t *testing.T) {
	t.Parallel()
	parent := memoryOf("## Alice\n- Likes tea.\n## Bob\n- Likes tea.\n## Carol\n- Runs.\n- Swims.\n")
	items, dropped := EditItems(parent, "## Bob\n- Likes tea.\n## Dan\n- Runs.\n## Carol\n- Swims\n- swims.", "e")
	require.Equal(t, []string{"m1", "m2", "m3", "m3"}, []string{items[0].Sources[0], items[1].Sources[0], items[2].Sources[0], items[3].Sources[0]})
	require.Equal(t, []schema.DroppedItem{{Text: "Likes tea.", From: schema.FromMemory, Reason: schema.DroppedEdited, Sources: []string{"m0"}}}, dropped)
	items, dropped = EditItems(memoryOf("## Alice\n- Likes tea."), "## Alice\n- Likes tea.\n## Bob\n- Likes tea.", "e")
	require.Empty(t, dropped)
	require.Equal(t, []string{"e"}, items[1].Sources)
}

func TestEditItemsKeepsParents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parent := ParseCore(markdown().Draw(t, "parent"))
		items, dropped := EditItems(parent, RenderCore(parent), "e")
		if len(dropped) > 0 || slices.ContainsFunc(items, func(i schema.CoreItem) bool { return len(i.Sources) > 0 }) {
			t.Fatalf("an edit of nothing: %+v, %q", items, dropped)
		}
	})
}

func TestDiff(t *testing.T) {
	t.Parallel()
	require.Empty(t, Diff("- a\n", "- a\n", "1", "2"))
	require.Equal(t, "--- version 1\n+++ version 2\n@@ -1,2 +1,2 @@\n - a\n-- b\n+- 차\n", Diff("- a\n- b\n", "- a\n- 차\n", "version 1", "version 2"))
	require.Equal(t, "--- a\n+++ b\n@@ -0,0 +1 @@\n+- x\n", Diff("", "- x\n", "a", "b"))
}

// The first line of each hunk is the line of its text that the header names, also after a hunk that joins several edits.
func TestDiffCountsLines(t *testing.T) {
	t.Parallel()
	hunk := regexp.MustCompile(`(?m)^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@\n(.)(.*)\n`)
	rapid.Check(t, func(t *rapid.T) {
		var from, to []string
		for i, edit := range rapid.SliceOfN(rapid.IntRange(0, 15), 0, 80).Draw(t, "edits") {
			line := fmt.Sprint("@@ ", i)
			from = append(from, line)
			switch edit {
			case 0: // The line is deleted.
			case 1:
				to = append(to, "changed "+line)
			case 2:
				to = append(to, "added "+line, line)
			default:
				to = append(to, line)
			}
		}
		text := func(lines []string) string { return strings.Join(append(lines, ""), "\n") }
		for _, m := range hunk.FindAllStringSubmatch(Diff(text(from), text(to), "from", "to"), -1) {
			was, err := strconv.Atoi(m[1])
			require.NoError(t, err)
			is, err := strconv.Atoi(m[2])
			require.NoError(t, err)
			if m[3] != "+" {
				require.Equal(t, from[was-1], m[4])
			}
			if m[3] != "-" {
				require.Equal(t, to[is-1], m[4])
			}
		}
	})
}
