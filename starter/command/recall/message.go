package recall

import (
	"cmp"
	"context"
	"strings"

	"axiommind/activities/eventlog"
	"axiommind/activities/retrieve"
	"axiommind/activities/session"
	"axiommind/schema"
	"axiommind/starter/command"
)

// shownAround is how many messages are shown before and after a message.
const shownAround = 2

// shownMessage is a whole message with the messages around it.
type shownMessage struct {
	schema.SessionKey
	Message schema.Message  `json:"message"`
	Around  []retrieve.Turn `json:"around"`
}

// messageShow shows the message with the handle, as search prints it.
func messageShow(ctx context.Context, a *command.App, scope schema.Scope, handle string) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	key, at, err := retrieve.FindMessage(ctx, conn, scope, handle)
	if err != nil {
		return err
	}
	logged, err := session.Open(ctx, eventlog.New(conn, eventlog.Options{}), key)
	if err != nil {
		return err
	}
	turns, err := retrieve.Around(ctx, logged, at, shownAround)
	if err != nil {
		return err
	}
	found, err := logged.Range(ctx, at, at+1)
	if err != nil {
		return err
	}
	out := shownMessage{SessionKey: key, Message: found[0], Around: turns}
	return a.Print(out, func(b *strings.Builder) { printMessage(b, out) })
}

func printMessage(b *strings.Builder, m shownMessage) {
	command.Say(b, "message   %d of session %s\nby        %s\n", m.Message.Index, command.Unbroken(m.SessionID), cmp.Or(m.Message.Author, string(m.Message.Role)))
	if !m.Message.At.IsZero() {
		command.Say(b, "said      %s\n", command.When(m.Message.At))
	}
	b.WriteString("\n")
	for _, t := range m.Around {
		if t.Hit {
			command.Block(b, "  │ ", t.Text)
			continue
		}
		command.Say(b, "  %d %s: %s\n", t.Index, cmp.Or(t.Author, string(t.Role)), command.OneLine(t.Text, 160))
	}
}
