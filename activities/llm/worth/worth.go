// Package worth extracts memories from conversation by learned weights: no network, no language model, the same result every time.
//
// Each line gets a score from its words, its form and its place by logistic regression, in talk that of its best sentence. Where
// an agent works, a net with one hidden layer compares it with the scores of the lines around it, and with lines that repeat
// its words. A line that passes becomes an entry with that line as its evidence; its type comes from the same words. The
// weights are learned from sessions that readers have labeled: see the directory labels and TestTrain.
package worth

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
	"axiommind/activities/llm/rules"
	"axiommind/activities/text"
	"axiommind/schema"
)

// Version names the weights. It changes with every change in the results.
const Version = "worth-v4"

const (
	// passesWork and passesChat are the worth from which on a line becomes an entry, as a probability, where an agent works
	// on files and where people talk: there, nearly all that becomes one should be worth it. passesAlone is the bar for the
	// only line of a working window.
	passesWork, passesChat, passesAlone = 0.5, 0.53, 0.16
	// most bounds the entries of a window.
	most = 20
	// lineMax is the length in runes up to which a line is one entry, since its sentences need each other: readers quote no more.
	lineMax = 400
	// leastWidth is the width that an entry needs where an agent works: of ten shorter ones judges kept none.
	leastWidth = 40
	// titleMax is the length in runes above which a title is the best sentence alone.
	titleMax = 200
	// alike is the share of words from which on two lines say the same.
	alike = 0.7
	// needsContext is the length in runes below which an answer takes in the sentence that it answers.
	needsContext = 60
)

// kind is the kind of a memory that a line may be.
type kind struct {
	label, state string
	entry        schema.EntryType
	category     string
	status       schema.TaskStatus
}

// kinds are in the order of the weights.
var kinds = [heads - headTypes]kind{
	{label: "decision", entry: schema.EntryDecision},
	{label: "preference", entry: schema.EntryFact, category: schema.CategoryPreference},
	{label: "correction", entry: schema.EntryFact, category: schema.CategoryCorrection},
	{label: "fact", entry: schema.EntryFact, category: schema.CategoryContext},
	{label: "insight", entry: schema.EntryInsight},
	{label: "task", state: "open", entry: schema.EntryTaskNote, status: schema.TaskPending},
	// A report in passing names its task in other words, and would become a task that never ends: it is kept as a
	// result of the work.
	{label: "task", state: "done", entry: schema.EntryInsight},
	{label: "reference", entry: schema.EntryReference},
}

// Extract returns the memories in the messages: the entries of the rules, which know explicit statements, such as a task's state and
// its blockers, and then the lines of most worth, in their order. Evidence refers to each message's
// Index, and every quote is whole sentences or lines of its Text. Works is true where an agent works: see package rules.
func Extract(window []schema.Message, works bool) schema.Extraction {
	out := rules.Extract(window, works)
	all := split(window, works)
	ranked := entriesOf(model(), all, passes(all))
	out.Entries = append(out.Entries, slices.DeleteFunc(ranked, func(e schema.ExtractedEntry) bool { return quoted(out.Entries, e.Evidence) })...)
	return out
}

// entriesOf returns the entries of the lines of most worth, and at least of that.
func entriesOf(w *weights, all []line, least float64) []schema.ExtractedEntry {
	var out []schema.ExtractedEntry
	boundaries := map[*schema.Message]prose.Boundaries{}
	for _, f := range pick(w, all, least, most) {
		if e, ok := entryOf(w, all, f, boundaries); ok {
			out = append(out, e)
		}
	}
	return out
}

// passes returns the worth from which on a line of a window becomes an entry.
func passes(all []line) float64 {
	if len(all) == 0 {
		return 1
	}
	work := passesWork
	if len(all) == 1 {
		work = passesAlone
	}
	return passesChat + (work-passesChat)*all[0].work
}

// quoted reports whether an entry rests on one of the quotes, or on a part of it.
func quoted(entries []schema.ExtractedEntry, quotes []schema.Quote) bool {
	same := func(a, b schema.Quote) bool {
		return a.MessageIndex == b.MessageIndex && (strings.Contains(a.Quote, b.Quote) || strings.Contains(b.Quote, a.Quote))
	}
	return slices.ContainsFunc(entries, func(e schema.ExtractedEntry) bool {
		return slices.ContainsFunc(e.Evidence, func(a schema.Quote) bool {
			return slices.ContainsFunc(quotes, func(b schema.Quote) bool { return same(a, b) })
		})
	})
}

// found is a line that becomes an entry.
type found struct {
	*line
	// at is the line's place among all lines.
	at   int
	kind kind
	// confidence is 0.5 for a line that just passes.
	confidence float64
}

// pick returns the lines of most worth, in their order.
func pick(w *weights, all []line, least float64, limit int) []found {
	worth := w.worth(all)
	ranked := []int{}
	for i := range all {
		// In talk, words of others that a user hands over are material: a letter to improve, a text to translate.
		if worth[i] >= least && (!all[i].handedOver || all[i].work >= 0.5) {
			ranked = append(ranked, i)
		}
	}
	slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	said := [][]uint32{}
	out := []found{}
	for _, i := range ranked {
		if len(out) == limit {
			break
		}
		words := hashed(all[i].text())
		if slices.ContainsFunc(said, func(other []uint32) bool {
			both := inCommon(words, other)
			return float64(both) >= alike*float64(max(1, len(words)+len(other)-both))
		}) {
			continue
		}
		said = append(said, words)
		f := found{line: &all[i], at: i, kind: kindOf(w, features(all, i), &all[i]), confidence: 0.5 + 0.5*(worth[i]-least)/(1-least)}
		if _, answers := answered(all, f); !answers && width(f.text()) < leastWidth*f.work {
			continue
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b found) int { return cmp.Compare(a.at, b.at) })
	return out
}

// width is the length of a text in letters of scripts with spaces, of which others need about two for one.
func width(t string) float64 {
	n := 0
	for _, r := range t {
		if n++; text.InPieces(r) {
			n++
		}
	}
	return float64(n)
}

func probability(logit float64) float64 { return 1 / (1 + math.Exp(-logit)) }

// kindOf returns the likeliest kind. A task needs to be likelier than all others together, since people work through
// them. Words that a user quotes state no fact, and an assistant's words no preference and no correction: only the user
// can state these.
func kindOf(w *weights, v []feature, s *line) kind {
	var weighed [len(kinds)]float64
	best, sum := 0, 0.0
	for n := range kinds {
		weighed[n] = math.Exp(w.weigh(headTypes+n, v))
		sum += weighed[n]
	}
	for n, k := range kinds {
		users := k.category == schema.CategoryPreference || k.category == schema.CategoryCorrection
		others := k.entry == schema.EntryFact && s.handedOver || users && s.m.Role == schema.RoleAssistant
		if others || k.status != "" && 2*weighed[n] < sum {
			continue
		}
		if weighed[n] > weighed[best] {
			best = n
		}
	}
	return kinds[best]
}

// entryOf makes an entry of a found line.
func entryOf(w *weights, all []line, f found, boundaries map[*schema.Message]prose.Boundaries) (schema.ExtractedEntry, bool) {
	quote := quoteOf(f.m, f.Sentence, boundaries)
	if letters(quote) < schema.MinLetters {
		return schema.ExtractedEntry{}, false
	}
	title := f.text()
	if utf8.RuneCountInString(title) > titleMax {
		title, _ = w.best(all, f.at)
	}
	evidence := []schema.Quote{{MessageIndex: f.m.Index, Quote: quote}}
	if asked, ok := answered(all, f); ok {
		question := asked.last()
		if before := quoteOf(asked.m, question, boundaries); letters(before) >= schema.MinLetters {
			evidence = append([]schema.Quote{{MessageIndex: asked.m.Index, Quote: before}}, evidence...)
			title = prose.Cut(asked.m.Text[question.Start:question.End], titleMax-utf8.RuneCountInString(title)-1) + " " + title
		}
	}
	title = prose.Title(title)
	if utf8.RuneCountInString(title) < 4 {
		return schema.ExtractedEntry{}, false
	}
	confidence := math.Round(100*f.confidence) / 100
	e := schema.ExtractedEntry{Type: f.kind.entry, Title: title, Category: f.kind.category, Confidence: &confidence, Evidence: evidence}
	if f.kind.status != "" {
		e.Task = &schema.ExtractedTask{Title: strings.TrimRight(title, ".!。！"), Status: f.kind.status}
	}
	return e, true
}

// letters counts the letters and digits of a text.
func letters(t string) (n int) {
	for _, r := range t {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			n++
		}
	}
	return n
}

// quoteOf returns the whole sentences of a message that hold a passage, or "".
func quoteOf(m *schema.Message, of prose.Sentence, boundaries map[*schema.Message]prose.Boundaries) string {
	b := boundaries[m]
	if b == nil {
		b = text.NewBoundaries(m.Text)
		boundaries[m] = b
	}
	return prose.Quote(m.Text, b, of)
}

// answered returns the question of the assistant that a user's short message answers. A fact needs none: it would no longer be
// the user's alone.
func answered(all []line, f found) (*line, bool) {
	if f.m.Role != schema.RoleUser || f.n > 0 || f.kind.entry == schema.EntryFact || utf8.RuneCountInString(f.m.Text) >= needsContext {
		return nil, false
	}
	if before := f.at - 1; before >= 0 && all[before].message == f.message-1 && all[before].m.Role == schema.RoleAssistant && all[before].asks() {
		return &all[before], true
	}
	return nil, false
}
