package answer_test

import (
	"fmt"

	"axiommind/activities/llm/answer"
)

// An answer is read through prose, code fences and the mistakes that models make in JSON. An item that is no entry is
// rejected, with the reason.
func ExampleRead() {
	got, err := answer.Read("Here is what I found:\n```json\n" + `{"entries": [
		{"entryId": "1", "type": "decision", "title": "Ship on Tuesdays", "confidence": 0.9,
		 "evidence": [{"messageIndex": 0, "quote": "We ship on Tuesdays."}],},
		{"entryId": "2", "type": "poem", "title": "An ode", "evidence": [{"messageIndex": 1, "quote": "O Tuesday!"}]}
	]}` + "\n```")
	for _, e := range got.Entries {
		fmt.Println(e.Type, e.Title)
	}
	for _, r := range got.Rejected {
		fmt.Println("rejected:", r.Reason)
	}
	fmt.Println(err)
	_, err = answer.Read("I found nothing worth keeping.")
	fmt.Println(err)
	// Output:
	// decision Ship on Tuesdays
	// rejected: type: value must be one of 'fact', 'decision', 'insight', 'task_note', 'reference'
	// <nil>
	// unreadable answer: no JSON in it
}
