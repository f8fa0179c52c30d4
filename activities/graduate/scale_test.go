package graduate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkPass is a pass over one new session of a project with 10,000 entries, some of which it says again. What is
// loaded does not grow with the project.
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
		l := loader{bench.log, bench.conn, bench.activities.entries}
		w, more, err := l.load(b.Context(), "p", bench.now(), 1)
		require.NoError(b, err)
		require.False(b, more)
		b.ReportMetric(float64(len(w.entries)), "entries/op")
		result, err := bench.activities.GraduateProject(b.Context(), PassInput{Project: "p", At: bench.now()})
		require.NoError(b, err)
		require.Equal(b, 1, result.Linked)
	}
}
