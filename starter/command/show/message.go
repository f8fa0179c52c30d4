package show

import (
	"fmt"

	"axiommind/activities/eventlog"
	"axiommind/starter/command"
)

// SizeOf is the size of a session in words.
func SizeOf(t eventlog.Total) string {
	return fmt.Sprintf("%s, about %s", command.Plural(t.Messages, "message", "messages"), command.Plural(t.Tokens, "token", "tokens"))
}
