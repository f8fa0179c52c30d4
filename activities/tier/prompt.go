package tier

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"axiommind/activities/text"
	"axiommind/schema"
)

// DreamPromptVersion names the version of the prompts of a dream. It changes whenever their wording does.
const DreamPromptVersion = "dream-v2"

//go:embed prompts/dream.txt
var dreamPrompt string

//go:embed prompts/distill.txt
var distillPrompt string

// DreamSystem is the system prompt of a dream.
func DreamSystem() string {
	return strings.Replace(dreamPrompt, "{{headings}}", strings.Join(schema.CoreHeadings(), ", "), 1)
}

// DistillSystem is the system prompt of a level that is not the last.
func DistillSystem() string { return distillPrompt }

// Labels are the words of a prompt in one language.
type Labels struct {
	// User, Assistant and Reply name speakers in a conversation.
	User, Assistant, Reply string
	// Memory and Records head the two parts of a dream's prompt. Records is given the number of days (%d).
	Memory, Records string
	// Empty replaces an empty memory, and NoRecords the record of a day without one.
	Empty, NoRecords string
	// Learned comes before the entries and facts of a day.
	Learned string
}

// English are the labels of the prompts.
var English = Labels{
	User: "User", Assistant: "Assistant", Reply: "Reply",
	Memory: "Current memory (MEMORY.md)", Records: "Daily records (last %d days)", Empty: "(empty)", NoRecords: "(no records)",
	Learned: "Learned on this day:",
}

// maxListedDays is how many days are looked back upon at most for a prompt to list those without a record.
const maxListedDays = 31

// Prompt returns the prompt with all of the gathered input: the memory and the days looked back upon, the newest first.
// A day without a record is listed too, unless the days are many.
//
// Gathered text is quoted as it is, so that a model can copy it. Only a line that looks like one of the prompt's
// headings, a date or a marker is indented. An open block of code is closed, because the headings behind it would be a
// part of it.
func Prompt(g schema.DreamGatheredPayload, l Labels) string {
	p := prompt{memory: RenderCore(g.Memory), hasMemory: true, count: len(g.Days)}
	texts := map[string]string{}
	for _, day := range g.Days {
		texts[day.Date] = dayText(day, l)
	}
	dates := datesOf(g)
	if len(dates) > 0 {
		p.count = len(dates)
	}
	if len(dates) == 0 || len(dates) > maxListedDays {
		dates = nil
		for _, day := range g.Days {
			dates = append(dates, day.Date)
		}
	}
	for _, date := range dates {
		p.days = append(p.days, promptDay{date, texts[date]})
	}
	return p.render(l)
}

// datesOf returns the days looked back upon, the newest first, or nothing if that is not known.
func datesOf(g schema.DreamGatheredPayload) []string {
	first, err := time.Parse(schema.DateLayout, g.First)
	if err != nil {
		return nil
	}
	date, err := time.Parse(schema.DateLayout, g.Date)
	if err != nil {
		return nil
	}
	var dates []string
	for ; !date.Before(first) && len(dates) < schema.MaxLookbackDays; date = date.AddDate(0, 0, -1) {
		dates = append(dates, date.Format(schema.DateLayout))
	}
	return dates
}

// dayText returns the text of a day in a prompt: its record, then its entries and facts.
func dayText(day schema.GatheredDay, l Labels) string {
	var records, learned []string
	for _, s := range day.Sources {
		if recorded(s.Kind) {
			records = append(records, strings.TrimSpace(s.Text))
		} else {
			learned = append(learned, listed(s.Text))
		}
	}
	record := strings.TrimSpace(day.Record)
	if record == "" {
		record = unite(records, "\n\n")
	}
	record = quoted(record, l)
	if len(learned) == 0 {
		return record
	}
	return unite([]string{record, l.Learned + "\n\n" + quoted(strings.Join(learned, "\n"), l)}, "\n\n")
}

// recorded reports whether a source is a part of a daily record.
func recorded(kind schema.SourceKind) bool {
	return kind == schema.SourceRecord || kind == schema.SourceEdited
}

// listed returns a text as an item of a list.
func listed(text string) string {
	var b strings.Builder
	renderItem(&b, strings.TrimSpace(plainLines(text)))
	return strings.TrimSuffix(b.String(), "\n")
}

// quoted returns a text in which no line can be taken for a part of the prompt.
func quoted(text string, l Labels) string {
	lines := strings.Split(plainLines(text), "\n")
	for i, line := range lines {
		if forges(strings.TrimSpace(line), l) {
			lines[i] = "    " + strings.TrimSpace(line)
		}
	}
	return closed(strings.Join(lines, "\n"))
}

// closed returns a text with the block of code closed that it leaves open.
func closed(text string) string {
	return text + strings.TrimSuffix(strings.TrimPrefix(endFence(text), text), "\n")
}

// forges reports whether a line looks like a heading of a prompt, or like a marker of the answer. It need not have the
// marks of a heading, since the line below it makes it one too. Case and invisible characters do not count.
func forges(line string, l Labels) bool {
	line = seen(line, func(rune, rune) bool { return false })
	if name, _ := marker(line); name != "" {
		return true
	}
	heading := bareLine(line)
	records, _, _ := strings.Cut(l.Records, "%d")
	for _, label := range []string{l.Memory, records, l.Learned} {
		if label = bareLine(label); label != "" && strings.HasPrefix(heading, label) {
			return true
		}
	}
	_, err := time.Parse(schema.DateLayout, heading)
	return err == nil
}

// bareLine returns a line in the form in which headings are compared, without the marks around it.
func bareLine(line string) string {
	return strings.Trim(strings.Join(strings.Fields(text.Caseless(line)), " "), " #*_>:`~")
}

// promptDay is a day with its text in a prompt.
type promptDay struct{ date, text string }

// prompt is the content of a prompt.
type prompt struct {
	memory    string
	hasMemory bool
	days      []promptDay
	// count is the number of days that the prompt speaks of.
	count int
}

func (p prompt) render(l Labels) string {
	var b strings.Builder
	if p.hasMemory {
		memory := strings.TrimSpace(quoted(p.memory, l))
		if memory == "" {
			memory = l.Empty
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\n", l.Memory, memory)
	}
	fmt.Fprintf(&b, "## %s", strings.ReplaceAll(l.Records, "%d", fmt.Sprint(p.count)))
	if len(p.days) == 0 {
		b.WriteString("\n\n" + l.NoRecords)
	}
	for _, day := range p.days {
		text := strings.Trim(day.text, "\n")
		if strings.TrimSpace(text) == "" {
			text = l.NoRecords
		}
		fmt.Fprintf(&b, "\n\n### %s\n\n%s", day.date, text)
	}
	return b.String()
}

// minOutputTokens is the least limit of an answer.
const minOutputTokens = 2000

// windowOf returns the call with a prompt. Its answer may have as many tokens as the prompt has characters: it copies.
func windowOf(prompt string) Window {
	return Window{Prompt: prompt, MaxOutputTokens: max(minOutputTokens, utf8.RuneCountInString(prompt))}
}
