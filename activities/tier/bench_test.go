package tier

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCompose is a memory of 500 items, 100 days of 20 sources of 300 bytes, and an answer that drops some items,
// adds some and invents some.
func BenchmarkCompose(b *testing.B) {
	var memory, answer strings.Builder
	for i := range 500 {
		fmt.Fprintf(&memory, "- The memory holds statement %d. It is about v1.%d.\n", i, i)
		if i%10 > 0 {
			fmt.Fprintf(&answer, "- The memory holds statement %d. It is about v1.%d.\n", i, i)
		}
	}
	days := make([][]string, 100)
	for i := range days {
		for j := range 20 {
			var text strings.Builder
			for k := 0; text.Len() < 300; k++ {
				fmt.Fprintf(&text, "- On day %d block %d said statement %d.\n", i, j, k)
			}
			days[i] = append(days[i], text.String())
		}
		fmt.Fprintf(&answer, "- On day %d block 0 said statement 0.\n- On day %d nobody said anything.\n", i, i)
	}
	g := gatheredOf(memory.String(), days...)
	answers := []Answer{answerOf(answer.String())}
	b.ReportAllocs()
	for b.Loop() {
		d := Compose(g, answers, Guard{})
		if d.Refused != "" || d.Carried != 50 || d.Added != 100 || len(d.Dropped) != 100 {
			b.Fatal(d.Refused, d.Carried, d.Added, len(d.Dropped))
		}
	}
}

// BenchmarkDreamOffline measures a month of sources, most of which repeat others.
func BenchmarkDreamOffline(b *testing.B) {
	days := make([][]string, 30)
	for i := range days {
		for j := range 20 {
			days[i] = append(days[i], strings.Repeat("- The build is green.\n- The user prefers tabs.\n", 5)+fmt.Sprintf("- On day %d block %d shipped.\n", i, j))
		}
	}
	g := gatheredOf("- The build is green.\n", days...)
	for b.Loop() {
		if d := Compose(g, []Answer{DreamOffline(g)}, Guard{}); len(d.Items) != 602 {
			b.Fatal(len(d.Items), d.Refused)
		}
	}
}
