package tier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// memoryOf returns the items of a MEMORY.md, with the sources m0, m1, …
func memoryOf(text string) []schema.CoreItem {
	items := ParseCore(text)
	for i := range items {
		items[i].Sources = []string{fmt.Sprint("m", i)}
	}
	return items
}

// gatheredOf returns the input of a dream: a memory and days, the newest first, each with records whose ids are d0-0, …
func gatheredOf(memory string, days ...[]string) schema.DreamGatheredPayload {
	g := schema.DreamGatheredPayload{Ordinal: 1, Date: "2026-06-07", Memory: memoryOf(memory)}
	for i, texts := range days {
		day := schema.GatheredDay{Day: schema.Day{Date: fmt.Sprintf("2026-06-%02d", 7-i)}, Record: strings.Join(texts, "\n\n")}
		for j, text := range texts {
			day.Sources = append(day.Sources, schema.SourceText{ID: fmt.Sprintf("d%d-%d", i, j), Kind: schema.SourceRecord, Text: text})
		}
		g.Days = append(g.Days, day)
	}
	return g
}

func answerOf(memory string) Answer {
	return Answer{HasMemory: true, HasDiary: true, Memory: memory, Diary: "d"}
}

func compose(g schema.DreamGatheredPayload, answers ...string) Draft {
	parsed := make([]Answer, len(answers))
	for i, a := range answers {
		parsed[i] = ParseAnswer(a)
	}
	return Compose(g, parsed, Guard{})
}

// reasons returns the texts that were dropped, by where they are from and why.
func reasons(d Draft) map[string][]string {
	all := map[string][]string{}
	for _, dropped := range d.Dropped {
		key := dropped.From + " " + dropped.Reason
		all[key] = append(all[key], dropped.Text)
	}
	return all
}

func TestComposeKeepsWhatIsGrounded(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- Likes tea.\n\n## Habits\n\n- Runs on Mondays. Swims on Fridays.\n",
		[]string{"- shipped v1\n- Uses readPulse in v1.5.", "Has 10 dogs. Lives in 서울."}, []string{"- Has 10 dogs"})
	d := compose(g, `[MEMORY]
- likes tea
- Has 10 dogs. Shipped v1.
## Habits
- Runs on Mondays.
- Swims on Fridays
## preferences
- Uses readPulse in v1.5
## Inventions
- Lives in 서울
- Lives in 부산.
- Has 11 dogs.
- Doesn't like tea.
- Uses readpulse in v1.5.
- Has dogs
[DREAM]
A quiet night.`)
	require.Empty(t, d.Refused)
	require.Equal(t, "- Likes tea.\n- Has 10 dogs. Shipped v1.\n- Lives in 서울\n\n## Habits\n\n- Runs on Mondays.\n- Swims on Fridays\n\n## Preferences\n\n- Uses readPulse in v1.5\n", d.Text)
	require.Equal(t, "A quiet night.", d.Diary)
	require.Equal(t, map[string][]string{
		"answer ungrounded": {"Lives in 부산.", "Has 11 dogs.", "Doesn't like tea.", "Uses readpulse in v1.5.", "Has dogs"},
		"answer heading":    {"Inventions"},
		"memory merged":     {"Runs on Mondays. Swims on Fridays."},
	}, reasons(d))
	require.Equal(t, 5, d.Added)
	require.Zero(t, d.Carried)
	sources := map[string][]string{}
	for _, item := range d.Items {
		sources[item.Text] = item.Sources
	}
	require.Equal(t, map[string][]string{
		"Likes tea.": {"m0"}, "Has 10 dogs. Shipped v1.": {"d1-0", "d0-0"}, "Lives in 서울": {"d0-1"},
		"Runs on Mondays.": {"m1"}, "Swims on Fridays": {"m1"}, "Uses readPulse in v1.5": {"d0-0"},
	}, sources)
}

// An item that the memory grounds only under another heading moves there. Once the memory has its parts under the heading
// of the answer, it is kept under that one, too.
func TestComposeMovesWhatItsHeadingDoesNotGround(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- Likes tea.\n\n## Habits\n\n- Likes coffee.\n", []string{"- Likes coffee. Likes tea."})
	const answer = "[MEMORY]\n- Likes tea.\n## Habits\n- Likes coffee.\n## Preferences\n- Likes tea. Likes coffee.\n- Likes coffee.\n[DREAM]\nd\n"
	d := compose(g, answer)
	const moved = "- Likes tea.\n\n## Habits\n\n- Likes coffee.\n- Likes tea. Likes coffee.\n\n## Preferences\n\n"
	require.Equal(t, moved+"- Likes coffee.\n", d.Text)
	require.Equal(t, []string{"Preferences"}, reasons(d)["answer heading"])
	g.Memory = d.Items
	require.Equal(t, moved+"- Likes tea. Likes coffee.\n- Likes coffee.\n", compose(g, answer).Text)
}

func TestComposeItemsOfSeveralLines(t *testing.T) {
	t.Parallel()
	source := "The user hates:\n- coffee\n- mornings\n\nThe user loves:\n- tea\n\nA sentence that\nis wrapped.\n\n```go\nx := 1\n```\n\nIt rains.\n\nWe stay.\n\n" +
		"Never:\n\n1. run\n   - fast\n\n2. walk\n\n# More\n\n- Deploying\n  - not on Fridays"
	g := gatheredOf("- old\n", []string{source}, []string{"The user does not like\n\nGo at all."})
	for item, grounded := range map[string]bool{
		"- The user hates:\n  - coffee\n  - mornings":  true,
		"- The user hates:\n  - coffee":                false, // half of a list
		"- coffee":                                     false, // an entry without the line above its list
		"- The user hates:":                            false,
		"- tea\n\n  A sentence that\n  is wrapped.":    false,
		"- It rains.\n\n  We stay.":                    true,
		"- It rains.\n  - We stay.":                    false,
		"- We stay. It rains.":                         true,
		"- Never:\n\n  1. run\n     - fast\n  2. walk": true,
		"- walk":                             false,
		"- fast":                             false,
		"- Deploying\n  - not on Fridays":    true,
		"- Deploying":                        false,
		"- not on Fridays":                   false,
		"- x := 1":                           false, // code is copied as a whole
		"- The user hates:\n  coffee":        false,
		"- A sentence that":                  true, // a line of a record is a line
		"- A sentence that\n\n  is wrapped.": false,
		"- A sentence\n\n  that is wrapped.": false,
		"- The user hates:\n  - tea":         false, // two lists in one
		"- The user loves:\n  - tea":         true,
		"- A sentence that is wrapped":       true,
		"- A sentence that\n  is wrapped.":   true,
		"- The user does not like\n  tea":    false, // two lines of two sources
		"- coffee\n\n  mornings":             false,
		"- ```go\n  x := 1\n  ```":           true,
		"- ```go\n  x := 2\n  ```":           false,
	} {
		d := compose(g, "[MEMORY]\n- old\n"+item+"\n[DREAM]\nd")
		require.Empty(t, d.Refused)
		require.Equal(t, grounded, len(d.Items) == 2, "%q: %v", item, d.Dropped)
	}
}

func TestComposeDuplicates(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- Ships in 10⁶ parts.\n- Likes Tea.\n- likes tea\n- Rides bikes\n- rides bikes.\n", []string{"- Ships in 106 parts."})
	d := compose(g, "[MEMORY]\n- likes tea.\n- Likes tea\n- Ships in 106 parts\n[DREAM]\nd")
	require.Empty(t, d.Refused)
	// Items that are equal only in normal form differ: both numbers of parts stay.
	require.Equal(t, "- Ships in 10⁶ parts.\n- Likes Tea.\n- Rides bikes\n- rides bikes.\n- Ships in 106 parts\n", d.Text)
	require.Equal(t, []string{"m1", "m2"}, d.Items[1].Sources)
	require.Equal(t, map[string][]string{"memory duplicate": {"likes tea"}}, reasons(d))
	require.Equal(t, 3, d.Carried)
	require.Equal(t, 1, d.Added)
}

func TestComposeCarriesToTheOldPlace(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- a1\n- b1\n- c1\n\n## Habits\n\n- d1\n- e1\n\n## Other\n\n- f1\n\n## Goals\n\n- g1\n", []string{"new1"})
	d := Compose(g, []Answer{answerOf("## Goals\n- new1\n- g1\n\n## habits\n- e1\n\n## Goals\n- b1")}, Guard{MaxLost: 1})
	require.Equal(t, "- a1\n- c1\n\n## Goals\n\n- new1\n- g1\n- b1\n\n## Habits\n\n- d1\n- e1\n\n## Other\n\n- f1\n", d.Text)
	require.Equal(t, 4, d.Carried)
	require.Equal(t, 1, d.Added)
}

func TestComposeHeadings(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- a1\n\n## My work\n\n- b1\n\n## MY WORK\n\n- c1\n\n## preferences\n\n- d1\n", []string{"- new1\n- new2"})
	// An item of the memory under no heading that is allowed keeps its own. Spellings of a heading are one.
	d := compose(g, "[MEMORY]\n# Title\n## Invented\n- d1\n- new1\n## my work\n- a1\n## Preferences\n- new2\n## INVENTED\n[DREAM]\nd")
	require.Equal(t, "- new1\n\n## preferences\n\n- d1\n- new2\n\n## My work\n\n- a1\n- b1\n- c1\n", d.Text)
	require.Equal(t, map[string][]string{"answer heading": {"Title\nInvented", "Title"}}, reasons(d))
	require.Equal(t, "MY WORK", g.Memory[2].Heading, "what was gathered is changed")
}

func TestComposeUnitesSourcesInOrder(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- a1\n- b1 b2\n", []string{"- A1\n- c1"}, []string{"- a1.", "- c1. d1"})
	g.Memory[0].Sources = []string{"x", "d1-0"}
	d := compose(g, "[MEMORY]\n- a1\n- b1 b2\n- c1. d1.\n[DREAM]\nd")
	// "A1" is another name than "a1". Where one source says all of an item, those that say a part of it don't count.
	require.Equal(t, [][]string{{"x", "d1-0"}, {"m1"}, {"d1-1"}}, [][]string{d.Items[0].Sources, d.Items[1].Sources, d.Items[2].Sources})
}

func TestComposeSupersedes(t *testing.T) {
	t.Parallel()
	memory := "- Lives in Rome.\n- Likes tea.\n- Rome is old.\n"
	g := gatheredOf(memory, []string{"- Lives in Paris.\n- Likes tea.\n- Likes tea in Paris.\n- Owns a car."})
	for name, c := range map[string]struct {
		answers []string
		text    string
		dropped map[string][]string
	}{
		"a newer statement": {
			[]string{"[MEMORY]\n- Lives in Paris\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- lives in Rome => Lives in Paris."},
			"- Lives in Paris\n- Likes tea.\n- Rome is old.\n", map[string][]string{"memory superseded": {"Lives in Rome."}},
		},
		"by what is not kept": {
			[]string{"[MEMORY]\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Lives in Paris."},
			"- Lives in Rome.\n- Likes tea.\n- Rome is old.\n", map[string][]string{},
		},
		"by an invention": {
			[]string{"[MEMORY]\n- Lives in Oslo\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Lives in Oslo"},
			"- Lives in Rome.\n- Likes tea.\n- Rome is old.\n", map[string][]string{"answer ungrounded": {"Lives in Oslo"}},
		},
		"by the memory": {
			[]string{"[MEMORY]\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Rome is old."},
			"- Lives in Rome.\n- Likes tea.\n- Rome is old.\n", map[string][]string{},
		},
		"what is kept": {
			[]string{"[MEMORY]\n- Lives in Rome.\n- Lives in Paris.\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Lives in Paris."},
			"- Lives in Rome.\n- Lives in Paris.\n- Likes tea.\n- Rome is old.\n", map[string][]string{},
		},
		"by itself": {
			[]string{"[MEMORY]\n- Lives in Rome.\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Likes tea => Likes tea."},
			"- Lives in Rome.\n- Likes tea.\n- Rome is old.\n", map[string][]string{},
		},
		"what another answer keeps": {
			[]string{
				"[MEMORY]\n- Lives in Rome.\n- Likes tea.\n- Rome is old.\n[DREAM]\nd",
				"[MEMORY]\n- Lives in Paris.\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Lives in Paris.",
			},
			"- Likes tea.\n- Rome is old.\n- Lives in Paris.\n", map[string][]string{"memory superseded": {"Lives in Rome."}},
		},
		"by what is about something else": {
			[]string{"[MEMORY]\n- Owns a car.\n- Likes tea.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Owns a car."},
			"- Lives in Rome.\n- Owns a car.\n- Likes tea.\n- Rome is old.\n", map[string][]string{},
		},
		"two by one": {
			[]string{"[MEMORY]\n- Likes tea in Paris.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Likes tea. => Likes tea in Paris.\n- Lives in Rome. => Likes tea in Paris."},
			"- Lives in Rome.\n- Likes tea in Paris.\n- Rome is old.\n", map[string][]string{"memory superseded": {"Likes tea."}},
		},
		"in a circle": {
			[]string{
				"[MEMORY]\n- Likes tea in Paris.\n- Likes tea.\n- Lives in Rome.\n- Rome is old.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Paris. => Likes tea in Paris.",
				"[MEMORY]\n- Lives in Paris.\n[DREAM]\nd\n[SUPERSEDED]\n- Likes tea in Paris. => Lives in Paris.",
			},
			"- Likes tea in Paris.\n- Likes tea.\n- Lives in Rome.\n- Rome is old.\n", map[string][]string{"answer superseded": {"Lives in Paris."}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := compose(g, c.answers...)
			require.Empty(t, d.Refused)
			require.Equal(t, c.text, d.Text)
			require.Equal(t, c.dropped, reasons(d))
		})
	}
}

func TestComposeRefuses(t *testing.T) {
	t.Parallel()
	var memory strings.Builder
	for i := range 40 {
		fmt.Fprintf(&memory, "- fact %d\n", i)
	}
	g := gatheredOf(memory.String(), []string{"- x"})
	first := func(n int) string {
		return strings.Join(strings.SplitAfter(memory.String(), "\n")[:n], "")
	}
	for name, c := range map[string]struct{ answer, refused string }{
		"no section":   {"- fact 0", "[MEMORY]"},
		"no memory":    {"[DREAM]\nd", "[MEMORY]"},
		"no dream":     {"[MEMORY]\n" + memory.String(), "[DREAM]"},
		"empty memory": {"[MEMORY]\n## Goals\n[DREAM]\nd", "empty"},
		"a wipe":       {"[MEMORY]\n- ok\n[DREAM]\nd", "leaves out 40 of the memory's 40 items"},
		"a third":      {"[MEMORY]\n" + first(27) + "[DREAM]\nd", "leaves out 13"},
	} {
		d := compose(g, c.answer)
		require.Contains(t, d.Refused, c.refused, name)
		require.Empty(t, d.Text, name)
		require.Empty(t, d.Items, name)
	}
	require.NotEmpty(t, compose(g).Refused)
	require.NotEmpty(t, compose(g, "[MEMORY]\n"+memory.String()+"[DREAM]\nd", "[MEMORY]\n- fact 1").Refused)
	truncated := answerOf(memory.String())
	truncated.Truncated = true
	require.Contains(t, Compose(g, []Answer{truncated}, Guard{}).Refused, "cut off")

	d := compose(g, "[MEMORY]\n"+first(28)+"[DREAM]\nd")
	require.Empty(t, d.Refused)
	require.Equal(t, 12, d.Carried)
	require.Equal(t, memory.String(), d.Text)
	require.NotEmpty(t, Compose(g, []Answer{answerOf(first(38))}, Guard{MaxLost: 0.01}).Text)
	require.NotEmpty(t, Compose(g, []Answer{answerOf(first(36))}, Guard{MaxLost: 0.01}).Refused)

	// Few items are carried over, not guarded.
	small := gatheredOf("- a1\n- b1\n- c1\n", []string{"- x1"})
	require.Equal(t, "- a1\n- b1\n- c1\n", compose(small, "[MEMORY]\n- invented\n[DREAM]\nd").Text)
	// There is nothing to remember in nothing.
	nothing := compose(gatheredOf(""), "[MEMORY]\n[DREAM]\nd")
	require.Empty(t, nothing.Refused)
	require.Empty(t, nothing.Text)
}

func TestComposeRefusesToSupersedeMuch(t *testing.T) {
	t.Parallel()
	var memory, record, superseded strings.Builder
	for i := range 10 {
		fmt.Fprintf(&memory, "- old fact %d\n", i)
		fmt.Fprintf(&record, "- new fact %d\n", i)
		fmt.Fprintf(&superseded, "- old fact %d => new fact %d\n", i, i)
	}
	g := gatheredOf(memory.String(), []string{record.String()})
	d := compose(g, "[MEMORY]\n"+record.String()+"[DREAM]\nd\n[SUPERSEDED]\n"+superseded.String())
	require.Contains(t, d.Refused, "supersedes 10 of the memory's 10 items")
	require.Len(t, d.Dropped, 10)
	// A tenth may be, of few one.
	lines := strings.SplitAfter(superseded.String(), "\n")
	for n, refused := range map[int]bool{1: false, 2: true} {
		d = compose(g, "[MEMORY]\n"+record.String()+strings.Join(strings.SplitAfter(memory.String(), "\n")[n:], "")+"[DREAM]\nd\n[SUPERSEDED]\n"+strings.Join(lines[:n], ""))
		require.Equal(t, refused, d.Refused != "", d.Refused)
	}
}

func TestComposeBoundsSources(t *testing.T) {
	t.Parallel()
	days := make([][]string, 30)
	for i := range days {
		days[i] = []string{"- said often"}
	}
	d := compose(gatheredOf("", days...), "[MEMORY]\n- said often\n[DREAM]\nd")
	require.Len(t, d.Items[0].Sources, maxSources)
	require.Equal(t, "d29-0", d.Items[0].Sources[0])
	require.Equal(t, "d0-0", d.Items[0].Sources[maxSources-1])
}

// A sentence that is cut out of a text is never put together with one of another.
func TestComposeDoesNotRecombine(t *testing.T) {
	t.Parallel()
	memory := "- Alice moved to Rome. She left Bob.\n- Carol is a doctor. She has a dog.\n- Tea is good.\n"
	g := gatheredOf(memory, []string{"Dan left. He is back.\n\nEve came. She stays.\n\nIt rained.\nWe stayed in.", "Red is a colour"})
	for item, grounded := range map[string]bool{
		"Alice moved to Rome. She has a dog.":                   false,
		"Carol is a doctor. She left Bob.":                      false,
		"Dan left. She stays.":                                  false,
		"He is back. Eve came.":                                 false,
		"She left Bob. Alice moved to Rome.":                    false,
		"Alice moved to Rome. Tea is good.":                     false,
		"Alice moved to Rome. She left Bob.":                    true,
		"She left Bob.":                                         true,
		"Dan left. He is back.":                                 true,
		"Tea is good. Red is a colour.":                         true,
		"We stayed in. Tea is good.":                            true,
		"We stayed in. It rained.":                              true,
		"Tea is good. Dan left.":                                false,
		"Alice moved to Rome.\n\n  She has a dog.":              false,
		"Tea is good.\n\n  Red is a colour":                     false,
		"Dan left. He is back. Eve came. She stays. It rained.": false,
	} {
		d := compose(g, "[MEMORY]\n"+memory+"- "+item+"\n[DREAM]\nd")
		require.Empty(t, d.Refused)
		require.Equal(t, grounded, !slices.ContainsFunc(d.Dropped, func(d schema.DroppedItem) bool { return d.Reason == schema.DroppedUngrounded }), "%q: %v", item, d.Dropped)
	}
	// An item that is left out is carried, not merged into halves of two items.
	d := compose(gatheredOf(memory), "[MEMORY]\n- Alice moved to Rome. She has a dog.\n- Carol is a doctor. She left Bob.\n[DREAM]\nd")
	require.Equal(t, memory, d.Text)
	require.Len(t, d.Dropped, 2)
	require.Equal(t, 3, d.Carried)
}

// A line of a conversation is a statement only as a whole.
func TestComposeTurns(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- old.\n", []string{"- User: please look. Is it up? → Reply: Done. I deleted it.\n- User: bye. See you.", "- We met. We ate.\n- User: Is it so? The moon is cheese. → Reply: Yes."})
	g.Days[0].Sources[0].Turns = true
	for item, grounded := range map[string]bool{
		"I deleted it.": false, "Is it up? → Reply: Done.": false, "See you.": false, "The moon is cheese. → Reply: Yes.": false, "User: bye.": false,
		"The moon is cheese.": false, "old. I deleted it.": false,
		"User: bye. See you.": true, "User: please look. Is it up? → Reply: Done. I deleted it.": true, "We ate.": true,
		"User: Is it so? The moon is cheese. → Reply: Yes.": true,
	} {
		d := compose(g, "[MEMORY]\n- old.\n- "+item+"\n[DREAM]\nd")
		require.Equal(t, grounded, len(d.Items) == 2, "%q: %v", item, d.Dropped)
	}
}

// A heading is part of an item's meaning.
func TestComposeHeadingsTellItemsApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		memory, record, answer, text string
		dropped                      map[string][]string
	}{
		"two people": {
			"## Alice\n\n- Likes tea.\n\n## Bob\n\n- Likes tea.\n", "x", "", "", map[string][]string{},
		},
		"two people, one left out": {
			"## Alice\n\n- Likes tea.\n\n## Bob\n\n- Likes tea.\n", "x", "- Likes tea.\n", "", map[string][]string{},
		},
		"one without": {
			"- Likes tea.\n\n## Alice\n\n- Likes tea.\n\n## Bob\n\n- Likes tea.\n", "x", "",
			"## Alice\n\n- Likes tea.\n\n## Bob\n\n- Likes tea.\n", map[string][]string{"memory duplicate": {"Likes tea."}},
		},
		"of a kind": {
			"## Goals\n\n- Ship it.\n\n## Decisions\n\n- Ship it.\n", "x", "", "## Goals\n\n- Ship it.\n", map[string][]string{"memory duplicate": {"Ship it."}},
		},
		"moved": {
			"## Rejected\n\n- Use MongoDB.\n\n## Decisions\n\n- Use Go.\n", "x", "## Decisions\n- Use MongoDB.\n- Use Go.\n",
			"", map[string][]string{"answer heading": {"Decisions"}},
		},
		"a part moved": {
			"## Rejected\n\n- Use MongoDB. Use PHP.\n\n## Decisions\n\n- Use Go.\n", "x", "## Decisions\n- Use MongoDB.\n- Use Go.\n## Rejected\n- Use PHP.",
			"## Rejected\n\n- Use MongoDB.\n- Use PHP.\n\n## Decisions\n\n- Use Go.\n",
			map[string][]string{"answer heading": {"Decisions"}, "memory merged": {"Use MongoDB. Use PHP."}},
		},
		"put together": {
			"## Rejected\n\n- Use PHP.\n\n## Decisions\n\n- Use Go.\n", "x", "## Decisions\n- Use Go. Use PHP.\n- Use Go.\n",
			"", map[string][]string{"answer ungrounded": {"Use Go. Use PHP."}},
		},
		"moved among kinds": {
			"## Goals\n\n- Ship it.\n", "x", "## Decisions\n- Ship it.\n", "## Decisions\n\n- Ship it.\n", map[string][]string{},
		},
		"said again": {
			"## Rejected\n\n- Use PHP.\n", "Use PHP.", "## Decisions\n- Use PHP.\n", "## Rejected\n\n- Use PHP.\n\n## Decisions\n\n- Use PHP.\n", map[string][]string{},
		},
		"superseded, of two": {
			"## Alice\n\n- Lives in Rome.\n\n## Bob\n\n- Lives in Rome.\n", "Lives in Oslo.", "## Alice\n- Lives in Oslo.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Lives in Oslo.",
			"## Alice\n\n- Lives in Rome.\n- Lives in Oslo.\n\n## Bob\n\n- Lives in Rome.\n", map[string][]string{},
		},
		"superseded, the other kept": {
			"## Alice\n\n- Lives in Rome.\n\n## Bob\n\n- Lives in Rome.\n", "Lives in Oslo.", "## Alice\n- Lives in Oslo.\n## Bob\n- Lives in Rome.\n[DREAM]\nd\n[SUPERSEDED]\n- Lives in Rome. => Lives in Oslo.",
			"## Alice\n\n- Lives in Oslo.\n\n## Bob\n\n- Lives in Rome.\n", map[string][]string{"memory superseded": {"Lives in Rome."}},
		},
		"nested": {
			"## A\n\n### Decisions\n\n- Use Go.\n\n## B\n\n### Decisions\n\n- Use Rust.\n\n### Notes\n\n- n1\n", "n2\n\nn3", "# Memory\n## A\n### Decisions\n- Use Go.\n- Use Rust.\n## Notes\n- n2\n## decisions\n- n3",
			"## A\n\n### Decisions\n\n- Use Go.\n\n## B\n\n### Decisions\n\n- Use Rust.\n\n### Notes\n\n- n1\n- n2\n\n## Decisions\n\n- n3\n",
			map[string][]string{"answer heading": {"Memory", "A\nDecisions"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gatheredOf(c.memory, []string{c.record})
			answer := c.answer
			if answer == "" {
				answer = c.memory
			}
			if c.text == "" {
				c.text = c.memory
			}
			if !strings.Contains(answer, "[DREAM]") {
				answer += "\n[DREAM]\nd"
			}
			d := compose(g, "[MEMORY]\n"+answer)
			require.Empty(t, d.Refused)
			require.Equal(t, c.text, d.Text)
			require.Equal(t, c.dropped, reasons(d))
			require.Equal(t, ParseCore(d.Text), withoutSources(d.Items))
		})
	}
}

func withoutSources(items []schema.CoreItem) []schema.CoreItem {
	items = slices.Clone(items)
	for i := range items {
		items[i] = schema.CoreItem{Text: items[i].Text, Heading: items[i].Heading}
	}
	return items
}

// Invisible characters are kept only if a source has them.
func TestComposeKeepsNothingUnseen(t *testing.T) {
	t.Parallel()
	g := gatheredOf("- old.\n", []string{"- We use Redis.\n- We use Kafka.\n- He is a 👩\u200d💻.\n- می\u200cخواهم چای.", "- We\u200b stay."})
	d := compose(g, "[MEMORY]\n- o\u200bld.\n- We use \u202eRedis.\u2066\n- We use\u200b Kafka.\u00ad\n- He is a 👩\u200d💻.\n- می\u200cخواهم چای.\n- We\u200b stay.\n- We use \u001b[31mRedis.\n"+
		"[DREAM]\nA \u202equiet\u200b night\u001b[2J\x07, 👩\u200d💻 ❤\ufe0f می\u200cخواهم.\n\tx\U000e0041")
	require.Equal(t, "- old.\n- We use Redis.\n- We use Kafka.\n- He is a 👩\u200d💻.\n- می\u200cخواهم چای.\n- We\u200b stay.\n", d.Text)
	require.Equal(t, "A quiet night[2J, 👩\u200d💻 ❤\ufe0f می\u200cخواهم.\n\tx", d.Diary)
}
