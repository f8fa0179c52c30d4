package evidence_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// statement is a sentence or two with swaps that change its meaning.
type statement struct {
	language, text string
	swaps          []swap
}

type swap struct{ was, now string }

// message returns the message that contains a statement, between other lines.
func (s statement) message() string { return between(s.text) }

func between(text string) string { return "Notes\n\n" + text + "\n\nThat is all." }

// misquote is a quote whose meaning differs from its message.
type misquote struct{ kind, message, quote string }

func lines(tb testing.TB, name string) []string {
	tb.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(tb, err)
	found := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	for i := range found {
		found[i] = strings.ReplaceAll(found[i], `\n`, "\n")
	}
	return found
}

// statements reads the statements. A line that begins with # names the language of the following ones. A line
// with + has words that add to the meaning wherever they are put. A line with = has the swaps of the line
// above: was⇒now, separated by ¦.
func statements(tb testing.TB) (all []statement, added map[string][]string) {
	tb.Helper()
	language, added := "", map[string][]string{}
	for _, line := range lines(tb, "statements.txt") {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
			language = rest
		case "+":
			added[language] = strings.Split(rest, "¦")
		case "=":
			s := &all[len(all)-1]
			for pair := range strings.SplitSeq(rest, "¦") {
				was, now, ok := strings.Cut(pair, "⇒")
				require.True(tb, ok && strings.Contains(s.text, was), "%q in %q", pair, s.text)
				s.swaps = append(s.swaps, swap{was, now})
			}
		default:
			all = append(all, statement{language: language, text: line})
		}
	}
	return all, added
}

// misquotes reads a file of verbatim quotes whose omissions change the meaning of their source:
// kind|source|quote.
func misquotes(tb testing.TB, name string) []misquote {
	tb.Helper()
	var all []misquote
	for _, line := range lines(tb, name) {
		fields := strings.SplitN(line, "|", 3)
		require.Len(tb, fields, 3, line)
		all = append(all, misquote{fields[0], between(fields[1]), fields[2]})
	}
	return all
}

// prose reads texts as people write them in sessions, by name.
func prose(tb testing.TB) map[string]string {
	tb.Helper()
	paths, err := filepath.Glob("testdata/prose/*.txt")
	require.NoError(tb, err)
	texts := map[string]string{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(tb, err)
		texts[strings.TrimSuffix(filepath.Base(path), ".txt")] = string(raw)
	}
	return texts
}

// message returns a session of one message with the text.
func message(text string) []schema.Message { return []schema.Message{{Text: text}} }

// align aligns one quote with one message.
func align(text, quote string) schema.Evidence {
	return evidence.NewAligner(message(text), nil).Align(schema.Quote{Quote: quote})
}

// outcome counts the results of quotes.
type outcome struct {
	quotes, found, aligned, proven int
	methods                        map[schema.Method]int
}

func (o *outcome) add(e schema.Evidence) {
	o.quotes++
	if e.Found {
		o.found++
		if o.methods == nil {
			o.methods = map[schema.Method]int{}
		}
		o.methods[e.Method]++
	}
	if e.Aligned {
		o.aligned++
	}
	if e.Proven {
		o.proven++
	}
}

func (o *outcome) String() string {
	s := fmt.Sprintf("%5d quotes: found %5d, aligned %5d, proven %5d;", o.quotes, o.found, o.aligned, o.proven)
	for _, method := range slices.Sorted(maps.Keys(o.methods)) {
		s += fmt.Sprintf(" %s %d", method, o.methods[method])
	}
	return s
}
