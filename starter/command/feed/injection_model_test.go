package feed_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"axiommind/schema"
)

// animal matches the markers: a zebra is planted, a quokka is the user's preference, an otter the user's task, and a marten
// the user's decision.
var animal = regexp.MustCompile(`(?:zebra|quokka|otter|marten)-\d+`)

// obedient is a model that obeys any text of its prompt. It quotes each line that names an animal as a preference, a
// decision, a section of the profile, or the end of a task. Its session summary consists of all such lines. It reports every
// fact as ended by them, and dreams of every line that it was ever told to plant. It records the animals that it was shown.
type obedient struct {
	sync.Mutex
	shown map[string]bool
	// told contains the lines to plant.
	told []string
}

type shownLine struct {
	ID    string `json:"id"`
	Index int    `json:"index"`
	Text  string `json:"text"`
}

func (o *obedient) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	var system, prompt string
	for _, m := range body.Messages {
		if m.Role == "user" {
			prompt = m.Content
		} else {
			system += m.Content
		}
	}
	answer := ""
	switch {
	case strings.Contains(system, "You keep the daily record"):
		answer = o.sum(prompt)
	case strings.Contains(system, "the long-term memory"):
		answer = o.dream(prompt)
	default:
		answer = o.list(prompt, strings.Contains(system, "user's own words make untrue"))
	}
	_ = json.NewEncoder(w).Encode(jsonObject{"choices": []any{jsonObject{"message": jsonObject{"content": answer}, "finish_reason": "stop"}}})
}

// list answers with the memories that the messages of the prompt plant, or with the facts that they end.
func (o *obedient) list(prompt string, review bool) string {
	entries, facts := []any{}, []string{}
	for line := range strings.Lines(prompt) {
		var said shownLine
		if json.Unmarshal([]byte(line), &said) != nil {
			continue
		}
		if said.ID != "" {
			facts = append(facts, said.ID)
			continue
		}
		for text := range strings.Lines(said.Text) {
			text = strings.TrimSpace(text)
			if !review {
				entries = append(entries, o.obey(said.Index, text)...)
			} else if strings.Contains(text, "zebra") {
				for _, id := range facts[:min(len(facts), 5)] {
					entries = append(entries, jsonObject{"id": id, "reason": text, "messageIndex": said.Index, "quote": text})
				}
			}
		}
	}
	answer, _ := json.Marshal(jsonObject{"entries": entries})
	return string(answer)
}

func (o *obedient) obey(index int, text string) (entries []any) {
	o.Lock()
	defer o.Unlock()
	name := animal.FindString(text)
	if name != "" {
		o.shown[name] = true
	}
	add := func(e jsonObject) {
		e["entryId"], e["title"], e["confidence"] = "e", text, 1
		e["evidence"] = []any{jsonObject{"messageIndex": index, "quote": text}}
		entries = append(entries, e)
	}
	box, title, isTask := boxed(text)
	switch {
	case isTask:
		title, blocker, blocked := strings.Cut(title, " is blocked by ")
		note := func(status schema.TaskStatus, blockers ...string) {
			add(jsonObject{"type": "task_note", "task": jsonObject{"title": title, "status": status, "blockedBy": blockers}})
		}
		switch {
		case blocked:
			note(schema.TaskBlocked, blocker)
		case box == " ":
			note(schema.TaskPending)
		default:
			note(schema.TaskInProgress)
			note(schema.TaskCancelled)
			note(schema.TaskDone)
		}
	case strings.HasPrefix(name, "marten"):
		add(jsonObject{"type": "decision"})
	case name != "":
		add(jsonObject{"type": "fact", "category": "preference"})
		add(jsonObject{"type": "fact", "category": "knowledge"})
		add(jsonObject{"type": "fact", "section": "personal"})
		if strings.HasPrefix(name, "zebra") {
			add(jsonObject{"type": "decision"})
			o.told = append(o.told, text)
		}
	}
	return entries
}

// boxed returns the mark and the text of a task list item.
func boxed(line string) (mark, text string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(line, "> "), "- [")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "] ")
}

func (o *obedient) sum(prompt string) string {
	entries := []any{}
	for line := range strings.Lines(prompt) {
		if _, text, _ := strings.Cut(line, ": "); animal.MatchString(text) {
			entries = append(entries, jsonObject{"text": strings.TrimSpace(text)})
		}
	}
	answer, _ := json.Marshal(jsonObject{"entries": entries})
	return string(answer)
}

func (o *obedient) dream(prompt string) string {
	o.Lock()
	defer o.Unlock()
	var items strings.Builder
	for line := range strings.Lines(prompt) {
		if text, ok := strings.CutPrefix(line, "- "); ok {
			items.WriteString("- " + strings.TrimSpace(text) + "\n")
		}
	}
	for _, text := range o.told {
		items.WriteString("- " + text + "\n- The user said: " + text + "\n")
	}
	return "[MEMORY]\n" + items.String() + "\n[DREAM]\nIt was a quiet night.\n"
}
