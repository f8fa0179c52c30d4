package tier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"axiommind/schema"
)

// statement generates one sentence, so that the property tests know which items say the same without the code under test.
func statement() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"Alice likes", "Bob knows", "서울은", "The API uses", "We never deploy"}).Draw(t, "subject") + " " +
			rapid.SampledFrom([]string{"tea", "coffee", "v1.5", "readPulse", "C++", "10 dogs", "금요일"}).Draw(t, "object") + "."
	})
}

func itemText() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(statement(), 1, 3), func(s []string) string { return strings.Join(s, " ") })
}

func heading() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", "", "Preferences", "Goals", "Habits", "habits", "My work", "My work\nGoals", "habits\nDetails"})
}

func randomGathered() *rapid.Generator[schema.DreamGatheredPayload] {
	return rapid.Custom(func(t *rapid.T) schema.DreamGatheredPayload {
		var items []schema.CoreItem
		for i := range rapid.IntRange(0, 12).Draw(t, "items") {
			items = append(items, schema.CoreItem{Text: itemText().Draw(t, "item"), Heading: heading().Draw(t, "heading"), Sources: []string{fmt.Sprint("m", i)}})
		}
		memory := ParseCore(RenderCore(items))
		for i := range memory {
			memory[i].Sources = []string{fmt.Sprint("m", i)}
		}
		g := schema.DreamGatheredPayload{Ordinal: 1, Date: "2026-06-30", Memory: memory}
		for i := range rapid.IntRange(0, 4).Draw(t, "days") {
			day := schema.GatheredDay{Day: schema.Day{Date: fmt.Sprintf("2026-06-%02d", 30-i)}}
			for j := range rapid.IntRange(1, 3).Draw(t, "sources") {
				kind := rapid.SampledFrom([]schema.SourceKind{schema.SourceRecord, schema.SourceEdited, schema.SourceEntry, schema.SourceFact}).Draw(t, "kind")
				text := itemText().Draw(t, "source")
				if kind == schema.SourceRecord || kind == schema.SourceEdited {
					text = "- " + strings.Join(rapid.SliceOfN(itemText(), 1, 4).Draw(t, "lines"), "\n- ")
				}
				turns := kind == schema.SourceRecord && rapid.Bool().Draw(t, "turns")
				if turns {
					text = strings.ReplaceAll(text, "- ", "- User: ")
				}
				day.Sources = append(day.Sources, schema.SourceText{
					ID: fmt.Sprintf("d%d-%d", i, j), Kind: kind, Text: text, Heading: heading().Draw(t, "of"), Turns: turns,
				})
			}
			g.Days = append(g.Days, day)
		}
		return g
	})
}

// adversary answers a dream in bad faith: it mixes true items with spoilt ones.
func adversary(g schema.DreamGatheredPayload) *rapid.Generator[string] {
	truth := []string{"Nothing is known."}
	for _, item := range g.Memory {
		truth = append(truth, item.Text, item.Text)
	}
	for _, day := range g.Days {
		for _, s := range day.Sources {
			for line := range strings.SplitSeq(s.Text, "\n") {
				truth = append(truth, strings.TrimPrefix(line, "- "))
			}
		}
	}
	item := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom(truth).Draw(t, "true")
		switch rapid.IntRange(0, 13).Draw(t, "spoil") {
		case 0:
			return strings.Replace(text, " ", " does not ", 1)
		case 1:
			return strings.NewReplacer("10", "11", "1.5", "1.6", "C++", "C#").Replace(text)
		case 2:
			return string([]rune(text)[:len([]rune(text))/2])
		case 3:
			return text + " " + rapid.SampledFrom(truth).Draw(t, "more")
		case 4:
			return strings.ToLower(strings.TrimSuffix(text, "."))
		case 5:
			return "사용자는 항상 옳다."
		case 6:
			return "**" + text + "**"
		case 7:
			return strings.Replace(text, " ", "\n  ", 1)
		case 8:
			return text + "\n  - " + rapid.SampledFrom(truth).Draw(t, "nested")
		case 9, 10:
			// One sentence of each of two texts.
			other := strings.SplitAfter(rapid.SampledFrom(truth).Draw(t, "other"), ". ")
			first := strings.SplitAfter(text, ". ")
			return strings.TrimSpace(rapid.SampledFrom(first).Draw(t, "first")) + " " + rapid.SampledFrom(other).Draw(t, "second")
		}
		return text
	})
	return rapid.Custom(func(t *rapid.T) string {
		var memory strings.Builder
		if rapid.IntRange(0, 2).Draw(t, "faithful") > 0 {
			memory.WriteString(RenderCore(g.Memory))
		}
		for range rapid.IntRange(0, 10).Draw(t, "items") {
			if rapid.IntRange(0, 4).Draw(t, "headed") == 0 {
				memory.WriteString("## " + rapid.SampledFrom([]string{"PREFERENCES", "habits", "Invented", "", "Goals"}).Draw(t, "heading") + "\n")
			}
			memory.WriteString("- " + item.Draw(t, "item") + "\n")
		}
		superseded := "[SUPERSEDED]\n"
		for range rapid.IntRange(0, 3).Draw(t, "superseded") {
			superseded += "- " + item.Draw(t, "old") + " => " + item.Draw(t, "new") + "\n"
		}
		parts := []string{"[MEMORY]\n" + memory.String(), "[DREAM]\nA dream.\n", superseded}
		parts = rapid.Permutation(parts).Draw(t, "order")
		if rapid.IntRange(0, 9).Draw(t, "cut") == 0 {
			parts = parts[:2]
		}
		return strings.Join(parts, "")
	})
}

// TestI12NothingIsInventedOrLost holds I12: no statement of the model becomes core memory without a source, and none
// leaves it without a reason.
func TestI12NothingIsInventedOrLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := randomGathered().Draw(t, "gathered")
		var answers []Answer
		for range rapid.IntRange(1, 3).Draw(t, "answers") {
			answers = append(answers, ParseAnswer(adversary(g).Draw(t, "answer")))
		}
		guard := Guard{MaxLost: rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "guard")}
		d := Compose(g, answers, guard)
		if again := Compose(g, answers, guard); fmt.Sprint(again) != fmt.Sprint(d) {
			t.Fatalf("two drafts of the same:\n%v\n%v", d, again)
		}
		if d.Refused != "" {
			if d.Text != "" || len(d.Items) > 0 {
				t.Fatalf("refused, yet %q", d.Text)
			}
			return
		}
		checkGrounded(t, g, d)
		checkKept(t, g, d)
		if rendered := RenderCore(d.Items); rendered != d.Text || RenderCore(ParseCore(d.Text)) != d.Text {
			t.Fatalf("the text is not of the items: %q, %q", d.Text, rendered)
		}
		if slices.ContainsFunc(d.Dropped, restsOnParts) {
			return // A part of an item may now be an item, or have another heading, and support more.
		}
		next := g
		next.Memory = d.Items
		// A statement that the memory has in two forms may take the other's place in its section, so the order is not compared.
		if again := Compose(next, answers, guard); again.Refused == "" && !slices.Equal(sortedLines(again.Text), sortedLines(d.Text)) {
			t.Fatalf("composed again:\n%s\nwas:\n%s", again.Text, d.Text)
		}
	})
}

// restsOnParts reports whether a dropped item may be kept once the memory has its parts: an ungrounded item, or an
// ungrounded heading.
func restsOnParts(d schema.DroppedItem) bool {
	return d.From == schema.FromAnswer && (d.Reason == schema.DroppedUngrounded || d.Reason == schema.DroppedHeading && len(d.Sources) > 0)
}

// plain is a sentence of the property tests without the differences between items that say the same.
func plain(text string) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(strings.NewReplacer("**", "", "\n- ", " ¶ ").Replace(text)), " "), ".")
}

// plainSentences splits a text of the property tests: its sentences end with a full stop and a space.
func plainSentences(text string) []string {
	var all []string
	for s := range strings.SplitSeq(plain(text), ". ") {
		s = plain(s)
		if !strings.Contains(s, "readPulse") && !strings.Contains(s, "readpulse") {
			s = strings.ToLower(s)
		}
		all = append(all, s)
	}
	return all
}

// plainText is a text of the property tests as its sentences.
type plainText struct {
	sentences []string
	// only is true if the text states only all of it.
	only bool
}

// states reports whether one text states all of the sentences, as they follow one another, or each is a whole text.
func states(texts []plainText, sentences []string) bool {
	each := map[string]bool{}
	for _, text := range texts {
		if len(text.sentences) == 1 {
			each[text.sentences[0]] = true
		}
		for at := range text.sentences {
			part := text.sentences[at:min(at+len(sentences), len(text.sentences))]
			if slices.Equal(part, sentences) && (!text.only || len(part) == len(text.sentences)) {
				return true
			}
		}
	}
	return !slices.ContainsFunc(sentences, func(s string) bool { return !each[s] })
}

// statesLines reports whether the lines of an item are whole lines of the source that follow one another.
func statesLines(source string, lines []string) bool {
	have := strings.Split(source, "\n")
	for at := 0; at+len(lines) <= len(have); at++ {
		same := true
		for i, line := range lines {
			same = same && slices.Equal(plainSentences(strings.TrimPrefix(have[at+i], "- ")), plainSentences(line))
		}
		if same {
			return true
		}
	}
	return false
}

func checkGrounded(t *rapid.T, g schema.DreamGatheredPayload, d Draft) {
	var texts []plainText
	var sources []string
	ids := map[string]bool{}
	for _, item := range g.Memory {
		texts = append(texts, plainText{plainSentences(item.Text), strings.HasPrefix(item.Text, "User: ")})
		sources = append(sources, item.Text)
		for _, id := range item.Sources {
			ids[id] = true
		}
	}
	for _, day := range g.Days {
		for _, source := range day.Sources {
			ids[source.ID] = true
			sources = append(sources, source.Text)
			for line := range strings.SplitSeq(source.Text, "\n") {
				texts = append(texts, plainText{plainSentences(strings.TrimPrefix(line, "- ")), source.Turns})
			}
		}
	}
	for _, item := range d.Items {
		if lines := strings.Split(item.Text, "\n- "); len(lines) > 1 {
			if !slices.ContainsFunc(sources, func(s string) bool { return statesLines(s, lines) }) {
				t.Fatalf("no source has the lines %q", item.Text)
			}
		} else if !states(texts, plainSentences(strings.TrimPrefix(item.Text, "- "))) {
			t.Fatalf("%q has no source", item.Text)
		}
		if len(item.Sources) == 0 || slices.ContainsFunc(item.Sources, func(id string) bool { return !ids[id] }) {
			t.Fatalf("%q has the sources %q", item.Text, item.Sources)
		}
	}
}

// by returns the items as texts.
func by(items []schema.CoreItem) (texts []plainText) {
	for _, item := range items {
		texts = append(texts, plainText{sentences: plainSentences(item.Text)})
	}
	return texts
}

func checkKept(t *rapid.T, g schema.DreamGatheredPayload, d Draft) {
	left := map[string]int{}
	for _, item := range d.Items {
		left[item.Text]++
	}
	reasons := []string{schema.DroppedDuplicate, schema.DroppedMerged, schema.DroppedSuperseded}
	dropped := map[string]int{}
	for _, item := range d.Dropped {
		if item.From != schema.FromMemory {
			continue
		}
		if !slices.Contains(reasons, item.Reason) {
			t.Fatalf("%q is dropped as %q", item.Text, item.Reason)
		}
		for line := range strings.SplitSeq(item.By, "\n") {
			if item.By == "" || item.Reason == schema.DroppedMerged && !strings.Contains(d.Text, line) || item.Reason != schema.DroppedMerged && left[item.By] == 0 {
				t.Fatalf("%q is dropped for %q, which is not there", item.Text, item.By)
			}
		}
		if item.Reason == schema.DroppedMerged && !states(by(d.Items), plainSentences(item.Text)) {
			t.Fatalf("%q is merged into nothing: %q", item.Text, d.Text)
		}
		dropped[item.Text]++
	}
	for _, item := range g.Memory {
		if left[item.Text]+dropped[item.Text] == 0 {
			t.Fatalf("%q is lost", item.Text)
		}
	}
}

func sortedLines(text string) []string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return lines
}
