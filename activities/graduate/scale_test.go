package graduate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// BenchmarkPass runs a pass over one new session of a project with 10,000 entries. The session restates some of them.
// The number of loaded entries does not grow with the project.
func BenchmarkPass(b *testing.B) {
	bench := newPassBench(b)
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, 7)
		for i := range letters {
			letters[i] = "bcdfghklmnprstvaeiou"[random.IntN(20)]
		}
		return string(letters)
	}
	sentence := func() spoken {
		return spoken{text: fmt.Sprintf("The %s of the %s keeps its %s in the %s.", word(), word(), word(), word())}
	}
	var known []spoken
	for s := range 20 {
		said := make([]spoken, 500)
		for i := range said {
			said[i] = sentence()
		}
		bench.say(inSession("p", "u", fmt.Sprint("old", s)), s, said...)
		known = append(known, said...)
	}
	bench.pass("p")
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		bench.say(inSession("p", "u", fmt.Sprint("new", n)), 30, known[n%len(known)], sentence(), sentence())
		b.StartTimer()
		l := bench.activities.loader()
		w, more, err := l.begin(b.Context(), "p", bench.now(), 1)
		require.NoError(b, err)
		_, err = bench.log.ProjectUnder(b.Context(), NewProjector(bench.conn), schema.SessionsOf("p"))
		require.NoError(b, err)
		require.NoError(b, l.surround(b.Context(), w))
		require.False(b, more)
		b.ReportMetric(float64(len(w.entries)), "entries/op")
		result, err := bench.activities.GraduateProject(b.Context(), PassInput{Project: "p", At: bench.now()})
		require.NoError(b, err)
		require.Equal(b, 1, result.Linked)
	}
}

// A sentence of many sessions, each with another number, causes no conflict. Thousands of restatements are linked to the
// first, and a correction still corrects all of them.
func TestCrowd(t *testing.T) {
	t.Parallel()
	crowds(t, 8)
}

// crowds states a sentence twice as often as the number of entries that one is compared with.
func crowds(t *testing.T, most int) {
	t.Helper()
	b := newPassBench(t)
	b.activities.nearestLimit = most
	many := 2 * most
	said := func(format string, from int) (ids []string) {
		for s := range 2 {
			lines := make([]spoken, many/2)
			for i := range lines {
				lines[i] = spoken{text: fmt.Sprintf(format, from+s*many/2+i)}
			}
			ids = append(ids, b.say(inSession("p", "u", fmt.Sprint(format, s)), s, lines...)...)
		}
		return ids
	}
	timeouts := said("The default timeout is %d seconds.", 1)
	require.Zero(t, b.pass("p").Conflicts)
	late := b.say(inSession("p", "u", "late"), 9, spoken{text: "The default timeout is 9000 seconds."})[0]
	require.Zero(t, b.pass("p").Conflicts)
	require.Equal(t, []string{"verified active"}, b.standing("p", late))

	b.say(inSession("p", "u", "correction"), 10, spoken{text: "The default timeout is 8000 seconds.", category: categoryCorrection})
	require.Equal(t, many+1, b.pass("p").Superseded)
	for _, standing := range b.standing("p", append(timeouts, late)...) {
		require.Equal(t, "verified superseded", standing)
	}

	again := make([]string, 0, most+6)
	for s := range cap(again) {
		again = append(again, b.say(inSession("q", "u", fmt.Sprint(s)), s%40, spoken{text: "The nightly export writes to the archive."})...)
	}
	b.pass("q")
	for _, id := range again[1:] {
		require.Equal(t, again[0], b.entry("q", id).OriginalID)
	}
}

// I3: values that differ in one place exclude each other while they are few. With one more they are a series, and their
// conflicts end. Without it they are in conflict again.
func TestSeries(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]string{
		"numbers": "The default timeout is %d0 seconds.", "dates": "The release is on 2026-03-%d1.", "values": "The default shell is %csh.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newPassBench(t)
			var ids []string
			say := func(n int) {
				var value any = n
				if strings.Contains(format, "%c") {
					value = 'a' + rune(n)
				}
				ids = append(ids, b.say(inSession("p", "u", fmt.Sprint(n)), n, spoken{text: fmt.Sprintf(format, value)})...)
			}
			pairs := 0
			for n := range maxValues {
				say(n)
				require.Equal(t, n, b.pass("p").Conflicts)
				pairs += n
			}
			require.Len(t, b.open("p"), pairs)
			say(maxValues)
			require.Zero(t, b.pass("p").Conflicts)
			require.Empty(t, b.open("p"))
			require.Equal(t, slices.Repeat([]string{"verified active"}, maxValues+1), b.standing("p", ids...))
			ended, err := b.ledgers.Conflicts(t.Context(), ConflictQuery{Project: "p", Resolved: true})
			require.NoError(t, err)
			require.Len(t, ended, pairs)
			require.Contains(t, ended[0].Resolution, "more than 4 statements differ only in this")

			b.do(b.command(Command{Project: "p", Op: OpRetire, EntryIDs: ids[:1], Because: "it never was"}))
			require.Equal(t, pairs, b.pass("p").Conflicts)
			require.Len(t, b.open("p"), pairs)
			before := b.digests(t.Context())
			b.rebuilt()
			require.Equal(t, before, b.digests(t.Context()))
		})
	}
}
