package tier

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"axiommind/schema"
)

// chinese are the labels of the seed.
var chinese = Labels{
	User: "用户", Assistant: "助手", Reply: "回复",
	Memory: "当前长期记忆（MEMORY.md）", Records: "近期日记（最近 %d 天）", Empty: "(empty)", NoRecords: "(no records)", Learned: "今日所知：",
}

func TestPromptOfTheSeed(t *testing.T) {
	t.Parallel()
	g := schema.DreamGatheredPayload{
		Date: "2026-06-07", First: "2026-06-06",
		Days: []schema.GatheredDay{{Day: schema.Day{Date: "2026-06-07"}, Record: "- today\n", Sources: []schema.SourceText{{ID: "a", Kind: schema.SourceRecord, Text: "- today"}}}},
	}
	want := "## 当前长期记忆（MEMORY.md）\n\n(empty)\n\n## 近期日记（最近 2 天）\n\n### 2026-06-07\n\n- today\n\n### 2026-06-06\n\n(no records)"
	require.Equal(t, want, Prompt(g, chinese))
	windows, last := Windows(g, nil, 1<<15, chinese)
	require.True(t, last)
	require.Equal(t, []Window{{Prompt: want, MaxOutputTokens: 2000}}, windows)
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- old\n", []string{"- shipped\n### 2026-06-01\n[MEMORY]\n## Current memory (MEMORY.md)\n  **[dream]** x\n## Trimmed Context (14:30)\n### 한국어"}, []string{"- yesterday"})
	g.Days[0].Sources = append(g.Days[0].Sources,
		schema.SourceText{ID: "e", Kind: schema.SourceEntry, Text: "Use Go"}, schema.SourceText{ID: "f", Kind: schema.SourceFact, Text: "two\nlines"})
	require.Equal(t, `## Current memory (MEMORY.md)

- old

## Daily records (last 2 days)

### 2026-06-07

- shipped
    ### 2026-06-01
    [MEMORY]
    ## Current memory (MEMORY.md)
    **[dream]** x
## Trimmed Context (14:30)
### 한국어

Learned on this day:

- Use Go
- two
  lines

### 2026-06-06

- yesterday`, Prompt(g, English))

	// Many days without a record are not listed.
	g.Days, g.First = g.Days[1:], "2016-06-01"
	require.Contains(t, Prompt(g, English), "## Daily records (last 3659 days)\n\n### 2026-06-06\n\n- yesterday")
	require.Less(t, len(Prompt(g, English)), 200)
	require.Contains(t, Prompt(schema.DreamGatheredPayload{}, English), "(last 0 days)\n\n(no records)")
}

func TestMaxOutputTokensHasNoLimit(t *testing.T) {
	t.Parallel()
	g := gatheredOf("", []string{strings.Repeat("한", 30_000)})
	windows, _ := Windows(g, nil, math.MaxInt, English)
	require.Len(t, windows, 1)
	require.Equal(t, len([]rune(windows[0].Prompt)), windows[0].MaxOutputTokens)
	require.Greater(t, windows[0].MaxOutputTokens, 30_000)
}

func TestPrompts(t *testing.T) {
	t.Parallel()
	for _, heading := range schema.CoreHeadings() {
		require.Contains(t, DreamSystem(), heading)
	}
	require.NotContains(t, DreamSystem(), "{{")
	for _, word := range []string{"[MEMORY]", "[DREAM]", "[SUPERSEDED]", "word for word", "Invent nothing", "language of its source"} {
		require.Contains(t, DreamSystem(), word)
	}
	require.Contains(t, DistillSystem(), "[MEMORY]")
	// The wording and its version change together.
	require.Equal(t, "dream-v2 5248ffcbf9732b23acd00bbed40209dc913fc939eea1218434dd19404b02a896", DreamPromptVersion+" "+
		schema.HashParts(DreamPromptVersion, DreamSystem(), DistillSystem(), dreamAgain))
}

// longGathered is more than fits into a window of 2 KiB: the days have 200 statements, each of them one.
func longGathered(memory int) schema.DreamGatheredPayload {
	var core strings.Builder
	for i := range memory {
		fmt.Fprintf(&core, "- The memory holds statement %d.\n", i)
	}
	days := make([][]string, 10)
	for i := range days {
		for j := range 4 {
			var b strings.Builder
			for k := range 5 {
				fmt.Fprintf(&b, "- On day %d block %d said statement %d.\n", i, j, k)
			}
			days[i] = append(days[i], b.String())
		}
	}
	return gatheredOf(core.String(), days...)
}

// statementsOf returns the lines of lists in a part of a prompt.
func statementsOf(text string) []string {
	var all []string
	for line := range strings.SplitSeq(text, "\n") {
		if s, ok := strings.CutPrefix(line, "- "); ok {
			all = append(all, s)
		}
	}
	return all
}

// recordsOf returns the part of a prompt with the days.
func recordsOf(prompt string) string {
	_, records, _ := strings.Cut(prompt, "## Daily records")
	return records
}

func TestWindowsDistill(t *testing.T) {
	t.Parallel()
	const most = 2 << 10
	g := longGathered(3)
	windows, last := Windows(g, nil, most, English)
	require.False(t, last)
	require.Greater(t, len(windows), 3)
	seen := map[string]bool{}
	answers := make([]Answer, len(windows))
	for i, w := range windows {
		require.LessOrEqual(t, len(w.Prompt), most)
		require.NotContains(t, w.Prompt, "Current memory")
		all := statementsOf(w.Prompt)
		for _, s := range all {
			seen[s] = true
		}
		// Of each window one statement matters; one is invented.
		answers[i] = answerOf("- " + all[0] + "\n- Invented in window " + fmt.Sprint(i) + ".")
	}
	require.Len(t, seen, 200)

	windows, last = Windows(g, answers, most, English)
	require.True(t, last)
	require.Len(t, windows, 1)
	require.Contains(t, windows[0].Prompt, "- The memory holds statement 2.")
	require.Contains(t, windows[0].Prompt, "### 2026-06-07\n\n- On day 0 block 0 said statement 0.")
	require.NotContains(t, windows[0].Prompt, "Invented")
	require.Len(t, statementsOf(recordsOf(windows[0].Prompt)), len(answers))
}

func TestWindowsThatDoNotShrink(t *testing.T) {
	t.Parallel()
	g := longGathered(3)
	windows, last := Windows(g, nil, 2<<10, English)
	require.False(t, last)
	answers := make([]Answer, len(windows))
	for i, w := range windows {
		answers[i] = answerOf(strings.Join(append([]string{""}, statementsOf(w.Prompt)...), "\n- "))
	}
	windows, last = Windows(g, answers, 2<<10, English)
	require.True(t, last)
	require.Greater(t, len(windows), 1)
	for _, w := range windows {
		require.LessOrEqual(t, len(w.Prompt), 2<<10)
		require.Contains(t, w.Prompt, "- The memory holds statement 0.\n- The memory holds statement 1.\n- The memory holds statement 2.\n")
	}
}

func TestWindowsShowALargeMemoryInParts(t *testing.T) {
	t.Parallel()
	const most = 2 << 10
	for _, days := range []int{0, 1, 10} {
		g := longGathered(150)
		g.Days = g.Days[:days]
		var answers []Answer
		windows, last := Windows(g, nil, most, English)
		for !last {
			answers = nil
			for _, w := range windows {
				answers = append(answers, answerOf("- "+statementsOf(w.Prompt)[0]))
			}
			windows, last = Windows(g, answers, most, English)
		}
		seen := map[string]bool{}
		answers = nil
		for _, w := range windows {
			require.LessOrEqual(t, len(w.Prompt), most)
			memory, _, _ := strings.Cut(w.Prompt, "## Daily records")
			for _, s := range statementsOf(memory) {
				seen[s] = true
			}
			answers = append(answers, answerOf(strings.Join(append([]string{""}, statementsOf(memory)...), "\n- ")))
		}
		require.Len(t, seen, 150)
		d := Compose(g, answers, Guard{})
		require.Empty(t, d.Refused)
		require.Zero(t, d.Carried)
		require.Equal(t, RenderCore(g.Memory), d.Text)
	}
}

// TestWindowsEnd plays models that distill much, little or nothing: levels end, windows are as small as they must be, and
// in the first level every line of the days is in a window.
func TestWindowsEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := longGathered(rapid.IntRange(0, 60).Draw(t, "memory"))
		g.Days = g.Days[:rapid.IntRange(0, 10).Draw(t, "days")]
		for i := range g.Days {
			if rapid.IntRange(0, 4).Draw(t, "long") == 0 {
				line := strings.Repeat("한 sentence without an end ", rapid.IntRange(1, 200).Draw(t, "length")) + strings.Repeat("One. ", rapid.IntRange(0, 900).Draw(t, "sentences"))
				g.Days[i].Sources = append(g.Days[i].Sources, schema.SourceText{ID: "long", Kind: rapid.SampledFrom([]schema.SourceKind{schema.SourceFact, schema.SourceEdited}).Draw(t, "kind"), Text: line})
			}
		}
		most := rapid.IntRange(-1, 6<<10).Draw(t, "most")
		keep := rapid.IntRange(0, 4).Draw(t, "of four statements kept")
		var answers []Answer
		before := math.MaxInt
		for range 100 {
			windows, last := Windows(g, answers, most, English)
			if len(windows) == 0 {
				t.Fatal("no window")
			}
			if answers == nil {
				checkAllIsShown(t, g, windows)
			}
			for _, w := range windows {
				if len(w.Prompt) > max(most, minWindowBytes) {
					t.Fatalf("a window of %d bytes, %d may be", len(w.Prompt), most)
				}
			}
			if last {
				return
			}
			if 4*len(windows) > 3*before {
				t.Fatalf("%d windows behind %d", len(windows), before)
			}
			before, answers = len(windows), []Answer{}
			for _, w := range windows {
				var kept []string
				for i, s := range statementsOf(w.Prompt) {
					if i%4 < keep {
						kept = append(kept, "- "+s)
					}
				}
				answers = append(answers, answerOf(strings.Join(kept, "\n")))
			}
		}
		t.Fatal("levels without end")
	})
}

// A day, or a memory, that is too much for the windows of a level gets larger ones, and all of it is shown. The keys of
// the answers to all windows fit into a payload.
func TestWindowsAreBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf("- Statement %d says something of its own about this day.", i))
	}
	day := schema.GatheredDay{Day: schema.Day{Date: "2026-06-07"}, Record: strings.Join(lines, "\n")}
	day.Sources = []schema.SourceText{{ID: "r", Kind: schema.SourceRecord, Text: day.Record}}
	windows, last := Windows(schema.DreamGatheredPayload{Date: "2026-06-07", Days: []schema.GatheredDay{day}}, nil, minWindowBytes, English)
	require.False(t, last)
	require.LessOrEqual(t, len(windows), maxWindows)
	require.Greater(t, len(windows), maxWindows/2, "no larger than needed")
	shown := strings.Builder{}
	for _, w := range windows {
		shown.WriteString(w.Prompt)
	}
	for i := range lines {
		require.Contains(t, shown.String(), fmt.Sprintf("Statement %d says", i))
	}

	g := schema.DreamGatheredPayload{Date: "2026-06-07", Days: []schema.GatheredDay{{
		Day: schema.Day{Date: "2026-06-07"}, Record: "- New.", Sources: []schema.SourceText{{ID: "r", Kind: schema.SourceRecord, Text: "- New."}},
	}}}
	for _, line := range lines {
		g.Memory = append(g.Memory, schema.CoreItem{Text: strings.TrimPrefix(line, "- ")})
	}
	windows, last = Windows(g, nil, minWindowBytes, English)
	require.True(t, last)
	require.LessOrEqual(t, len(windows), maxWindows)
	require.Greater(t, len(windows), maxWindows/2)

	in := AskInput{Gathered: schema.HashText("g"), Again: strings.Repeat("x", 1<<10)}
	for i := range maxWindows {
		in.Answers = append(in.Answers, schema.HashText(fmt.Sprint(i)))
	}
	data, err := json.Marshal(in)
	require.NoError(t, err)
	require.Less(t, len(data), 20<<10)
}

// The input of one dream fits into the windows of a level as they are set: a backlog makes no window larger.
func TestGatheredBytesFitTheWindows(t *testing.T) {
	t.Parallel()
	require.Equal(t, 4<<20, gatheredBytes(32<<10))
	require.Equal(t, 4<<20, gatheredBytes(1<<20))
	for _, window := range []int{1, 1 << 10, 4 << 10, 16 << 10} {
		var g schema.DreamGatheredPayload
		for size, n := 0, 0; size < gatheredBytes(window); n++ {
			text := fmt.Sprintf("- On day %d this was said, and this.\n- And that was said, too.", n)
			size += len(text)
			date := time.Date(2000, 1, 1+n/9, 0, 0, 0, 0, time.UTC).Format(schema.DateLayout)
			if len(g.Days) == 0 || g.Days[len(g.Days)-1].Date != date {
				g.Days = append(g.Days, schema.GatheredDay{Day: schema.Day{Date: date}})
			}
			d := &g.Days[len(g.Days)-1]
			d.Sources = append(d.Sources, schema.SourceText{ID: fmt.Sprint(n), Kind: schema.SourceRecord, Text: text})
		}
		windows, last := Windows(g, nil, window, English)
		require.False(t, last)
		require.LessOrEqual(t, len(windows), maxWindows)
		for _, w := range windows {
			require.LessOrEqual(t, len(w.Prompt), max(window, minWindowBytes))
		}
	}
}

func checkAllIsShown(t *rapid.T, g schema.DreamGatheredPayload, windows []Window) {
	shown := map[string]bool{}
	for _, w := range windows {
		for _, s := range statementsOf(recordsOf(w.Prompt)) {
			shown[s] = true
		}
	}
	for _, day := range g.Days {
		for _, source := range day.Sources {
			for _, s := range statementsOf(source.Text) {
				if source.ID != "long" && !shown[s] {
					t.Fatalf("%q is in no window", s)
				}
			}
		}
	}
}
