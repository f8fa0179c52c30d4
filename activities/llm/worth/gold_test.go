package worth

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"axiommind/schema"
)

// tally counts the items that were found, of those that readers marked.
type tally struct {
	all, must, foundAll, foundMust, entries, worth, sessions, typed int
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

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

func (c *tally) String() string {
	return fmt.Sprintf("musts %.1f %%, all %.1f %%, precision %.1f %%, %.1f entries a session, type right %.0f %%",
		percent(c.foundMust, c.must), percent(c.foundAll, c.all), percent(c.worth, c.entries), float64(c.entries)/float64(c.sessions),
		percent(c.typed, c.worth))
}

// labelOf returns how a reader calls the type of an entry.
func labelOf(e schema.ExtractedEntry) string {
	at := slices.IndexFunc(kinds[:], func(k kind) bool { return k.entry == e.Type && (k.category == e.Category || k.category == "") })
	if at < 0 {
		return "fact"
	}
	return kinds[at].label
}

// inWindows extracts from parts of a session of the size that a worker reads at once.
func inWindows(session []schema.Message, extract func([]schema.Message, bool) schema.Extraction) (all schema.Extraction) {
	const windowBytes = 32 << 10
	for from := 0; from < len(session); {
		to, size := from, 0
		for to < len(session) && (to == from || size+len(session[to].Text) <= windowBytes) {
			size += len(session[to].Text)
			to++
		}
		all.Entries = append(all.Entries, extract(session[from:to], false).Entries...)
		from = to
	}
	return all
}

// TestGold holds the weights to sessions that no weight was learned from.
func TestGold(t *testing.T) {
	var all tally
	for _, s := range gold(t) {
		all.add(s, inWindows(s.window, Extract))
	}
	t.Log(Version+":", all.String())
	require.GreaterOrEqual(t, percent(all.foundMust, all.must), 55.0, "musts")
	require.GreaterOrEqual(t, percent(all.foundAll, all.all), 45.0, "all")
	require.GreaterOrEqual(t, percent(all.worth, all.entries), 45.0, "precision")
	require.LessOrEqual(t, all.entries, 20*all.sessions)
}

// TestTrainedOnOthers reports, with the flag -train, the findings in sessions by weights that were learned without
// them: a quarter of all at a time, and each language of its own.
func TestTrainedOnOthers(t *testing.T) {
	if !*train {
		t.Skip("weights are learned with the flag -train only")
	}
	sessions := training(t)
	counts := map[string]*tally{}
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	without := func(held func(n int, s labeled) bool, name func(s labeled) string) {
		group.Go(func() error {
			var others, those []labeled
			for n, s := range sessions {
				if s.Source != grammar && held(n, s) {
					those = append(those, s)
				} else {
					others = append(others, s)
				}
			}
			w, err := decode(learn(others))
			mu.Lock()
			defer mu.Unlock()
			for _, s := range those {
				all := split(s.window, false)
				for _, at := range []float64{0.75, 1, 1.25} { // The bar, and others for comparison.
					key := fmt.Sprintf("%s, at %.2f of the bar", name(s), at)
					if counts[key] == nil {
						counts[key] = &tally{}
					}
					counts[key].add(s, schema.Extraction{Entries: entriesOf(w, all, at*passes(all))})
				}
			}
			return err
		})
	}
	for fold := range 4 {
		without(func(n int, _ labeled) bool { return n%4 == fold }, func(s labeled) string {
			if s.Source == "own" && s.chat() {
				return "own, chats"
			}
			return s.Source
		})
	}
	for _, language := range []string{"de", "es", "fr", "ja", "ko", "pt", "ru", "zh"} {
		of := func(_ int, s labeled) bool { return s.Source == "own" && s.Session[:2] == language }
		without(of, func(labeled) string { return "language never seen: " + language })
	}
	require.NoError(t, group.Wait())
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Log(name+":", counts[name].String())
	}
}
