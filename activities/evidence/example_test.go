package evidence_test

import (
	"fmt"

	"axiommind/activities/evidence"
	"axiommind/schema"
)

// A quote is found in its messages. Whole sentences prove, and a piece of one does not.
func ExampleAligner_AlignEntry() {
	const source = "We ship on Tuesdays. Never ship on the day before a holiday."
	messages := []schema.Message{{Index: 0, Role: schema.RoleUser, Kind: schema.KindText, Text: source}}
	aligner := evidence.NewAligner(messages, nil)
	for _, quote := range []string{"Never ship on the day before a holiday.", "ship on the day before a holiday"} {
		found, aligned := aligner.AlignEntry([]schema.Quote{{Quote: quote}})
		span := found[0].Span
		fmt.Println(span.ByteStart, span.ByteEnd, found[0].Method, aligned, evidence.Proven(found))
	}
	// Output:
	// 21 60 exact true true
	// 27 59 exact true false
}

// Anyone can check evidence against its source later. False evidence is refused.
func ExampleVerify() {
	const source = "We ship on Tuesdays."
	aligner := evidence.NewAligner([]schema.Message{{Kind: schema.KindText, Text: source}}, nil)
	found, _ := aligner.AlignEntry([]schema.Quote{{Quote: source}})
	fmt.Println(evidence.Verify(source, found[0], evidence.Rule))
	fmt.Println(evidence.Verify("We ship on Fridays.", found[0], evidence.Rule) != nil)
	// Output:
	// <nil>
	// true
}
