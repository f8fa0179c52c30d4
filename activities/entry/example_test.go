package entry_test

import (
	"fmt"

	"axiommind/activities/entry"
	"axiommind/schema"
)

// Two entries say the same when their types and titles are the same but for case, spaces and the last stop.
func ExampleCanonicalKey() {
	for _, title := range []string{"Charges carry an idempotency key.", "charges  carry an Idempotency key", "C++, not C#"} {
		fmt.Println(entry.CanonicalKey(schema.Entry{Type: schema.EntryDecision, Title: title}))
	}
	// Output:
	// decision:charges carry an idempotency key
	// decision:charges carry an idempotency key
	// decision:c++ not c#
}
