package llm

import (
	"slices"
	"strings"
	"unicode/utf8"

	"axiommind/activities/llm/prose"
	"axiommind/schema"
)

const (
	// actConfidence is the confidence in an act: no model has judged it.
	actConfidence = 0.9
	// actTitle bounds titles, and commitQuote the quotes of commits, in runes.
	actTitle, commitQuote = 200, 400
)

// withActs returns the entries with those that the agent's acts in the window state: tasks of its to-do list, commits,
// instructions, plans that the user approved, and questions with the user's answers. It leaves out other entries of
// these acts alone, and other decisions of the same questions and answers.
func withActs(entries []schema.ExtractedEntry, window []schema.Message) []schema.ExtractedEntry {
	acts, read, answers := actsOf(window)
	if len(acts) > 0 {
		entries = slices.DeleteFunc(entries, func(e schema.ExtractedEntry) bool {
			return len(e.Evidence) > 0 && !slices.ContainsFunc(e.Evidence, func(q schema.Quote) bool {
				return !read[q.MessageIndex] && !(e.Type == schema.EntryDecision && answers[q.MessageIndex])
			})
		})
	}
	return withStatements(append(entries, acts...), window)
}

// withStatements returns the entries with one for each statement that none of them quotes: another system or an agent has
// chosen to remember it.
func withStatements(entries []schema.ExtractedEntry, window []schema.Message) []schema.ExtractedEntry {
	quoted := map[int]bool{}
	for _, e := range entries {
		for _, q := range e.Evidence {
			quoted[q.MessageIndex] = true
		}
	}
	for _, m := range window {
		if m.Kind != schema.KindStatement || quoted[m.Index] || !strings.ContainsFunc(m.Text, schema.Worded) {
			continue
		}
		confidence := statedConfidence
		e := schema.ExtractedEntry{
			Type: schema.EntryFact, Category: schema.CategoryContext, Confidence: &confidence,
			Evidence: []schema.Quote{{MessageIndex: m.Index, Quote: strings.TrimSpace(m.Text)}},
		}
		e.Title, e.Content = statedTitle(m.Text)
		entries = append(entries, e)
	}
	return entries
}

// actsOf returns the entries, the indexes of the acts that they are made of, and those of the user's answers.
func actsOf(window []schema.Message) (out []schema.ExtractedEntry, read, answers map[int]bool) {
	read, answers = map[int]bool{}, map[int]bool{}
	add := func(e schema.ExtractedEntry, evidence ...schema.Quote) {
		if e.Title = prose.Title(e.Title); utf8.RuneCountInString(e.Title) < 4 {
			return
		}
		confidence := actConfidence
		e.Confidence, e.Evidence = &confidence, evidence
		out = append(out, e)
	}
	tasks := map[string]int{}
	for i := range window {
		m := &window[i]
		read[m.Index] = m.Acts()
		switch {
		case m.Kind == schema.KindTodo:
			for line := range strings.Lines(m.Text) {
				title, status, ok := todoOf(line)
				if !ok {
					continue
				}
				quote := schema.Quote{MessageIndex: m.Index, Quote: strings.TrimSpace(line)}
				if n, known := tasks[title]; known {
					out[n].Task.Status, out[n].Evidence = status, []schema.Quote{quote}
					continue
				}
				before := len(out)
				add(schema.ExtractedEntry{Type: schema.EntryTaskNote, Title: title, Task: &schema.ExtractedTask{Title: prose.Title(title), Status: status, Listed: true}}, quote)
				if len(out) > before {
					tasks[title] = before
				}
			}
		case m.Kind == schema.KindCommit:
			title, body, _ := strings.Cut(m.Text, "\n")
			body = withoutTrailers(body)
			add(schema.ExtractedEntry{Type: schema.EntryReference, Title: title, Content: body}, schema.Quote{MessageIndex: m.Index, Quote: quoteUpTo(m.Text, title, body)})
		case m.Kind == schema.KindRule:
			category := schema.CategoryContext // An agent does not say how the user wants it.
			if m.Role == schema.RoleUser {
				category = schema.CategoryPreference
			}
			for line := range strings.Lines(m.Text) {
				line = strings.TrimSpace(line)
				add(schema.ExtractedEntry{Type: schema.EntryFact, Category: category, Title: strings.TrimLeft(line, "-*+ ")},
					schema.Quote{MessageIndex: m.Index, Quote: line})
			}
		case m.Kind == schema.KindPlan:
			if line := firstLine(m.Text); line != "" {
				add(schema.ExtractedEntry{Type: schema.EntryDecision, Title: strings.TrimLeft(line, "# ")}, schema.Quote{MessageIndex: m.Index, Quote: line})
			}
		case m.Role == schema.RoleUser && m.CallID != "" && i > 0 && window[i-1].CallID == m.CallID && window[i-1].Role == schema.RoleAssistant:
			question, answer := strings.TrimSpace(window[i-1].Text), strings.TrimSpace(m.Text)
			e := schema.ExtractedEntry{Type: schema.EntryDecision}
			short := prose.Cut(answer, actTitle/2)
			if short != answer {
				e.Content = answer
			}
			e.Title = prose.Cut(question, actTitle-1-utf8.RuneCountInString(short)) + " " + short
			answers[m.Index], answers[window[i-1].Index] = true, true
			add(e, schema.Quote{MessageIndex: window[i-1].Index, Quote: question}, schema.Quote{MessageIndex: m.Index, Quote: answer})
		}
	}
	return out, read, answers
}

// todoStates are the states of the items of a list, by the character in their box.
var todoStates = map[byte]schema.TaskStatus{
	' ': schema.TaskPending, '/': schema.TaskInProgress, 'x': schema.TaskDone, '-': schema.TaskCancelled, '!': schema.TaskBlocked,
}

// todoOf reads a line of a message of kind [schema.KindTodo].
func todoOf(line string) (title string, status schema.TaskStatus, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "- [")
	if !ok || len(rest) < 3 || rest[1] != ']' {
		return "", "", false
	}
	status, ok = todoStates[rest[0]]
	return strings.TrimSpace(rest[2:]), status, ok
}

// withoutTrailers returns the text of a commit up to the lines in which tools sign it.
func withoutTrailers(body string) string {
	var kept []string
	for line := range strings.Lines(body) {
		name, _, trailer := strings.Cut(line, ": ")
		if strings.HasPrefix(line, "🤖") || trailer && (strings.HasSuffix(strings.ToLower(name), "-by") || strings.EqualFold(name, "change-id")) {
			break
		}
		kept = append(kept, line)
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// quoteUpTo returns the title with the body, if both are short, else the title alone.
func quoteUpTo(text, title, body string) string {
	title = strings.TrimSpace(title)
	if body != "" {
		if at := strings.Index(text, body); at >= 0 && utf8.RuneCountInString(text[:at+len(body)]) <= commitQuote {
			return strings.TrimSpace(text[:at+len(body)])
		}
	}
	return title
}

// firstLine returns the first line that says something: "# Plan" is no title.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		words := strings.Fields(strings.ToLower(strings.Trim(line, "#*-=: ")))
		if bare := strings.Join(words, " "); utf8.RuneCountInString(bare) > 4 && !(len(words) <= 2 && strings.HasSuffix(bare, "plan")) {
			return line
		}
	}
	return ""
}
