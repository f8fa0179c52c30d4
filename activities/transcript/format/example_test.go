package format_test

import (
	"context"
	"fmt"
	"strings"

	"axiommind/activities/transcript/format"
)

func ExampleParse() {
	source := strings.NewReader(`{"type":"user","sessionId":"s1","message":{"role":"user","content":"Is it red?"}}
{"type":"assistant","sessionId":"s1","message":{"role":"assistant","content":[{"type":"text","text":"A typo."}]}}
`)
	sessions, err := format.Parse(context.Background(), source, format.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range sessions {
		fmt.Println(s.Format, s.ID)
		for _, m := range s.Messages {
			fmt.Println(m.Role, m.Text)
		}
	}
	// Output:
	// claude-code s1
	// user Is it red?
	// assistant A typo.
}
