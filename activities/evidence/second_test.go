package evidence

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// The second corpus was written after the rules had been mended by the first, by somebody who had not
// seen them. It then led to more of them; what is still accepted of it needs understanding, not rules,
// and the shares below are the limits of alignment by letters.
const (
	mostSecondSwaps = 0.01
	mostSecondCuts  = 0.15
	mostSecondJoins = 0.15
)

// secondLines reads the lines of a file of the corpus. A \n in a line is the end of a line.
func secondLines(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/second/" + name)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(raw)), "\n")
}

func unescaped(line string) string { return strings.ReplaceAll(line, `\n`, "\n") }

// secondPlaces reads the statements. A line that begins with # names the language of those that follow;
// the line behind a statement has its swaps after an equals sign: was⇒now, parted by ¦.
func secondPlaces(t *testing.T) (places []place, a *Aligner) {
	t.Helper()
	var messages []schema.Message
	var in *language
	var s statement
	for _, line := range secondLines(t, "statements.txt") {
		switch {
		case strings.HasPrefix(line, "# "):
			in = &language{name: line[2:]}
		case strings.HasPrefix(line, "= "):
			for swap := range strings.SplitSeq(line[2:], "¦") {
				was, now, ok := strings.Cut(unescaped(swap), "⇒")
				require.True(t, ok && strings.Contains(s.text, was), "%q in %q", swap, s.text)
				s.swaps = append(s.swaps, [2]string{was, now})
			}
			messages = append(messages, schema.Message{Index: len(places), Text: "Notes\n\n" + s.text + "\n\nThat is all."})
			places = append(places, place{in, s, len(places)})
		default:
			s = statement{text: unescaped(line)}
		}
	}
	return places, NewAligner(messages, nil)
}

// atMost prints the counts and fails when more than a share of the quotes was accepted.
func (s *score) atMost(t *testing.T, share float64) {
	t.Helper()
	t.Logf("%-22s %5d quotes: accepted %d (%.2f %%), found %d", s.kind, s.quotes, s.accepted,
		100*float64(s.accepted)/float64(s.quotes), s.found)
	for i, what := range s.listed {
		if i < shown {
			t.Log(what)
		}
	}
	require.LessOrEqual(t, float64(s.accepted), share*float64(s.quotes))
}

func TestSecondNearMisses(t *testing.T) {
	t.Parallel()
	places, a := secondPlaces(t)
	for typos := range 4 {
		t.Run(fmt.Sprint(typos), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(7, uint64(typos)))
			s := score{kind: fmt.Sprintf("second, %d typos", typos)}
			add := func(c change) {
				if noisy, ok := c.noisy(rng, typos); ok || typos == 0 {
					s.add(a, c.place.index, noisy.quote(), fmt.Sprintf("%q for %q", c.now, c.was))
				}
			}
			for _, p := range places {
				for _, swap := range p.statement.swaps {
					at := strings.Index(p.statement.text, swap[0])
					c := changeAt(p, at, at+len(swap[0]), swap[1])
					add(c)
					if cut := c.nearby(rng); cut.quote() != c.quote() && !strings.Contains(p.statement.text, cut.quote()) {
						add(cut)
					}
				}
			}
			s.atMost(t, mostSecondSwaps)
		})
	}
}

func TestSecondStatementsAreAccepted(t *testing.T) {
	t.Parallel()
	places, a := secondPlaces(t)
	for _, p := range places {
		evidence, accepted := a.AlignEntry([]schema.Quote{{MessageIndex: p.index, Quote: p.statement.text}})
		require.True(t, accepted, "%+v", evidence[0])
	}
}

// TestSecondCuts and TestSecondJoins judge verbatim quotes that say something else because of what they
// leave out, at their ends or behind an ellipsis. Each line has a kind, a source and a quote.
func TestSecondCuts(t *testing.T) {
	t.Parallel()
	judgeSecond(t, "cuts.txt", mostSecondCuts)
}

func TestSecondJoins(t *testing.T) {
	t.Parallel()
	judgeSecond(t, "joins.txt", mostSecondJoins)
}

func judgeSecond(t *testing.T, name string, share float64) {
	t.Helper()
	s := score{kind: "second, " + strings.TrimSuffix(name, ".txt")}
	for _, line := range secondLines(t, name) {
		fields := strings.SplitN(unescaped(line), "|", 3)
		require.Len(t, fields, 3, line)
		a := NewAligner([]schema.Message{{Text: "Notes\n\n" + fields[1] + "\n\nThat is all."}}, nil)
		s.add(a, 0, fields[2], fields[0])
	}
	s.atMost(t, share)
}
