package schema_test

import (
	"fmt"

	"axiommind/schema"
)

// A session's stream is named after the session's owner, and the name can be parsed.
func ExampleSessionKey_Stream() {
	key := schema.SessionKey{Scope: schema.Scope{Project: "shop", User: "minji"}, SessionID: "checkout/1"}
	fmt.Println(key.Stream())
	back, err := schema.ParseSessionStream(key.Stream())
	fmt.Println(back == key, err)
	// Output:
	// session/shop/minji//checkout%2F1
	// true <nil>
}

// An event carries the payload that its type is registered for, and is decoded as that alone.
func ExampleDecode() {
	event, err := schema.NewEvent(schema.FactDeletedPayload{FactID: "f1"}, schema.Event{Actor: "minji"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(event.Type)
	deleted, err := schema.Decode[schema.FactDeletedPayload](event)
	fmt.Println(deleted.FactID, err)
	_, err = schema.Decode[schema.TaskCreatedPayload](event)
	fmt.Println(err != nil)
	// Output:
	// fact_deleted
	// f1 <nil>
	// true
}
