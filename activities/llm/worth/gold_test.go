package worth

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// tally counts the items that were found, of those that readers marked.
type tally struct {
	all, must, foundAll, foundMust, entries, worth, sessions, typed int
	// grades are those that readers gave to the entries: kept, or a restatement, of all.
	grades, kept, restated int
}

func (c *tally) add(s labeled, e schema.Extraction) {
	c.sessions++
	var spans [][3]int
	for _, entry := range e.Entries {
		c.entries++
		var own [][3]int
		for _, q := range entry.Evidence {
			if at := strings.Index(s.window[q.MessageIndex].Text, q.Quote); at >= 0 {
				own = append(own, [3]int{q.MessageIndex, at, at + len(q.Quote)})
			}
		}
		spans = append(spans, own...)
		c.grade(s.Lines, own)
		if at := slices.IndexFunc(s.Items, func(l label) bool { return overlaps(own, l.Spans) }); at >= 0 {
			c.worth++
			if labelOf(entry) == s.Items[at].Type {
				c.typed++
			}
		}
	}
	for _, l := range s.Items {
		found := overlaps(spans, l.Spans)
		c.all++
		if found {
			c.foundAll++
		}
		if l.Importance == 3 {
			c.must++
			if found {
				c.foundMust++
			}
		}
	}
}

// grade counts the grades of the first graded line that an entry rests on.
func (c *tally) grade(lines []graded, own [][3]int) {
	at := slices.IndexFunc(lines, func(g graded) bool { return overlaps(own, [][3]int{g.At}) })
	if at < 0 {
		return
	}
	for _, grade := range lines[at].Grades {
		c.grades++
		switch grade {
		case '1', '2', '3':
			c.kept++
		case 'r':
			c.restated++
		}
	}
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

func (c *tally) String() string {
	return fmt.Sprintf("musts %.1f %%, all %.1f %%, precision %.1f %%, %.1f entries a session, type right %.0f %%, judged worth keeping %.1f %%, restating %.1f %%",
		percent(c.foundMust, c.must), percent(c.foundAll, c.all), percent(c.worth, c.entries), float64(c.entries)/float64(c.sessions),
		percent(c.typed, c.worth), percent(c.kept, c.grades), percent(c.restated, c.grades))
}

// labelOf returns how a reader calls the type of an entry.
func labelOf(e schema.ExtractedEntry) string {
	at := slices.IndexFunc(kinds[:], func(k kind) bool { return k.entry == e.Type && (k.category == e.Category || k.category == "") })
	if at < 0 {
		return "fact"
	}
	return kinds[at].label
}

// inWindows extracts from the windows of a session.
func inWindows(session []schema.Message, extract func([]schema.Message) []schema.ExtractedEntry) (all schema.Extraction) {
	for _, w := range windows(session, windowBytes) {
		all.Entries = append(all.Entries, extract(w)...)
	}
	return all
}

// TestGold holds the weights to sessions that no weight was learned from.
func TestGold(t *testing.T) {
	var all tally
	for _, s := range gold(t) {
		all.add(s, inWindows(s.window, func(w []schema.Message) []schema.ExtractedEntry { return Extract(w, false).Entries }))
	}
	t.Log(Version+":", all.String())
	require.GreaterOrEqual(t, percent(all.foundMust, all.must), 55.0, "musts")
	require.GreaterOrEqual(t, percent(all.foundAll, all.all), 45.0, "all")
	require.GreaterOrEqual(t, percent(all.worth, all.entries), 45.0, "precision")
	require.LessOrEqual(t, all.entries, 20*all.sessions)
	require.Greater(t, all.grades, all.entries, "graded entries")
	require.GreaterOrEqual(t, percent(all.kept, all.grades), 55.0, "judged worth keeping")
}

// TestTrainedOnOthers reports, with the flag -train, the findings in sessions by weights that were learned without
// them: a quarter of all at a time. Our own sessions are left out by language, two or three languages at a time.
func TestTrainedOnOthers(t *testing.T) {
	if !*train {
		t.Skip("weights are learned with the flag -train only")
	}
	sessions := training(t)
	counts := map[string]*tally{}
	languages := []string{"de", "es", "fr", "ja", "ko", "pt", "ru", "zh", "en"}
	for fold := range 4 {
		var others, those []labeled
		for n, s := range sessions {
			if s.Source == "own" {
				n = slices.Index(languages, s.Session[:2])
				require.GreaterOrEqual(t, n, 0, s.Session)
				n /= 2
			}
			if s.Source != grammar && n%4 == fold {
				those = append(those, s)
			} else {
				others = append(others, s)
			}
		}
		raw, err := learn(others)
		require.NoError(t, err)
		w, err := decode(raw)
		require.NoError(t, err)
		for _, s := range those {
			name := s.Source
			if name == "own" && s.chat() {
				name = "own, chats"
			}
			for _, at := range []float64{0.9, 1, 1.1, 1.2} { // The bar, and others for comparison.
				key := fmt.Sprintf("%s, at %.2f of the bar", name, at)
				if counts[key] == nil {
					counts[key] = &tally{}
				}
				counts[key].add(s, inWindows(s.window, func(window []schema.Message) []schema.ExtractedEntry {
					all := split(window, false)
					return entriesOf(w, all, at*passes(all))
				}))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Log(name+":", counts[name].String())
	}
}
