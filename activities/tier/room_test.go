package tier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// I12: a full memory keeps what weighs most and all that a person wrote. Each item of the memory that leaves is reported, and
// the dreams after it change nothing.
func TestI12FullMemory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := randomGathered().Draw(t, "gathered")
		for i := range g.Memory {
			m := &g.Memory[i]
			m.Worth, m.Said = rapid.Float64Range(0, 1).Draw(t, "worth"), fmt.Sprintf("2026-0%d-01", rapid.IntRange(1, 6).Draw(t, "said"))
			m.Written = rapid.IntRange(0, 3).Draw(t, "written") == 0
		}
		for _, day := range g.Days {
			for i := range day.Sources {
				worth := rapid.Float64Range(0, 1).Draw(t, "worth")
				day.Sources[i].Worth = &worth
			}
		}
		answers := []Answer{DreamOffline(g)}
		if rapid.Bool().Draw(t, "model") {
			answers = []Answer{ParseAnswer(adversary(g).Draw(t, "answer"))}
		}
		most := rapid.IntRange(1, 300).Draw(t, "most")
		full, d := Compose(g, answers, Guard{MaxLost: 1, MaxBytes: 1 << 20}), Compose(g, answers, Guard{MaxLost: 1, MaxBytes: most})
		require.Equal(t, full.Refused, d.Refused)
		if d.Refused != "" {
			return
		}
		stays := map[coreStatement]bool{}
		for _, item := range d.Items {
			stays[statementOf(item)] = true
		}
		free := slices.DeleteFunc(slices.Clone(d.Items), func(i schema.CoreItem) bool { return i.Written })
		require.LessOrEqual(t, len(RenderCore(free)), most)
		reported := 0
		for _, dropped := range d.Dropped {
			if dropped.Reason == schema.DroppedRoom {
				reported++
			}
		}
		require.Len(t, d.Items, len(full.Items)-reported-d.LeftOut)
		for _, item := range full.Items {
			if stays[statementOf(item)] {
				continue
			}
			require.False(t, item.Written)
			heavier := slices.DeleteFunc(slices.Clone(free), func(i schema.CoreItem) bool { return weight(i) < weight(item) })
			require.Greater(t, len(RenderCore(append(heavier, item)))+headingSlack(append(free, item)), most, "there is room for %q", item.Text)
		}
		for _, item := range g.Memory {
			left := func(x schema.DroppedItem) bool {
				return x.Text == item.Text && x.From == schema.FromMemory && x.Reason == schema.DroppedMerged
			}
			require.False(t, writtenOnce(g.Memory, item.Text) && slices.ContainsFunc(d.Dropped, left), "%q is a person's", item.Text)
			named := slices.ContainsFunc(d.Dropped, func(x schema.DroppedItem) bool { return x.Text == item.Text && x.From == schema.FromMemory })
			require.True(t, named || slices.ContainsFunc(d.Items, func(i schema.CoreItem) bool { return i.Text == item.Text }), "%q is lost", item.Text)
		}

		// A part of an item that left may come in its place. Nothing takes turns: the nights come to an end.
		next, nights := g, 0
		for before := ""; before != RenderCore(next.Memory); nights++ {
			before = RenderCore(next.Memory)
			again := Compose(next, []Answer{DreamOffline(next)}, Guard{MaxLost: 1, MaxBytes: most})
			require.Empty(t, again.Refused)
			require.Less(t, nights, 12)
			next.Memory = again.Items
		}
		next.Days = nil
		alone := Compose(next, []Answer{DreamOffline(next)}, Guard{MaxLost: 1, MaxBytes: most})
		require.Equal(t, RenderCore(next.Memory), alone.Text)
	})
}

// writtenOnce reports whether a person wrote an item, and the memory has no other one with its words.
func writtenOnce(memory []schema.CoreItem, text string) bool {
	same := slices.DeleteFunc(slices.Clone(memory), func(i schema.CoreItem) bool { return i.Text != text })
	return len(same) == 1 && same[0].Written
}

// headingSlack is how many bytes too many the headings of items may count: each path counts as if it had no other heading
// in common.
func headingSlack(items []schema.CoreItem) (bytes int) {
	paths := map[string]bool{}
	for _, item := range items {
		paths[item.Heading] = true
	}
	for path := range maps.Keys(paths) {
		bytes += 1 + len(RenderCore([]schema.CoreItem{{Text: "x", Heading: path}}))
	}
	return bytes
}

// A statement weighs half as much 180 days after it was last said, and as much as before when it is said again.
func TestWeight(t *testing.T) {
	t.Parallel()
	item := func(worth float64, said string) schema.CoreItem { return schema.CoreItem{Worth: worth, Said: said} }
	require.InDelta(t, weight(item(0.5, "2026-06-30")), weight(item(2.0/3, "2026-01-01")), 1e-9)
	require.Greater(t, weight(item(0.5, "2026-07-01")), weight(item(2.0/3, "2026-01-01")))
	require.Greater(t, weight(item(0.95, "2026-01-01")), weight(item(0.75, "2027-01-01")))
	require.InDelta(t, weight(item(0.95, "2026-01-01")), weight(item(1, "2026-01-01")), 1e-9)
	require.Greater(t, weight(item(0, "2020-01-01")), weight(item(1, "")))

	g := gatheredOf("- Likes tea.\n- Likes coffee.", []string{"- Likes tea."})
	for i := range g.Memory {
		g.Memory[i].Worth, g.Memory[i].Said = 0.6, "2026-01-01"
	}
	d := Compose(g, []Answer{DreamOffline(g)}, Guard{MaxBytes: 20})
	require.Equal(t, "- Likes tea.\n", d.Text, "it was said again")
	require.Equal(t, []schema.CoreItem{{Text: "Likes tea.", Sources: []string{"m0", "d0-0"}, Worth: 0.6, Said: "2026-06-07"}}, d.Items)
	require.Equal(t, []schema.DroppedItem{{
		Text: "Likes coffee.", From: schema.FromMemory, Reason: schema.DroppedRoom, Detail: "worth 0.60, last said on 2026-01-01", Sources: []string{"m1"},
	}}, d.Dropped)

	g.Memory[1].Written = true
	d = Compose(g, []Answer{DreamOffline(g)}, Guard{MaxBytes: 13})
	require.Equal(t, "- Likes tea.\n- Likes coffee.\n", d.Text, "a person wrote one of them")
	d = Compose(g, []Answer{DreamOffline(g)}, Guard{MaxBytes: 12})
	require.Equal(t, "- Likes coffee.\n", d.Text)

	// A model's merged text is not the person's, who keeps the words. A statement larger than all room makes room for others.
	g.Memory[0].Written = true
	d = Compose(g, []Answer{answerOf("- Likes tea. Likes coffee.")}, Guard{MaxBytes: 12})
	require.Equal(t, "- Likes tea.\n- Likes coffee.\n", d.Text)
	require.Equal(t, 1, d.LeftOut)
	g = gatheredOf("", []string{"- " + strings.Repeat("Likes tea a lot. ", 20) + "\n- Likes coffee."})
	d = Compose(g, []Answer{DreamOffline(g)}, Guard{MaxBytes: 100})
	require.Equal(t, "- Likes coffee.\n", d.Text)
	require.Equal(t, 1, d.LeftOut)
}
