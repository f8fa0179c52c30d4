package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"axiommind/activities/eventlog"
	"axiommind/activities/retrieve"
	"axiommind/activities/session"
	"axiommind/activities/table"
	"axiommind/schema"
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
func (a *app) messageShow(ctx context.Context, scope schema.Scope, handle string) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	key, at, err := retrieve.FindMessage(ctx, conn, scope, handle)
	if errors.Is(err, retrieve.ErrNoMessage) || errors.Is(err, table.ErrAmbiguous) {
		return badUsage(err)
	}
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
	return a.print(out, func(w io.Writer) error { return printMessage(w, out) })
}

func printMessage(w io.Writer, m shownMessage) error {
	var b strings.Builder
	say(&b, "message   %d of session %s\nby        %s\n", m.Message.Index, unbroken(m.SessionID), cmp.Or(m.Message.Author, string(m.Message.Role)))
	if !m.Message.At.IsZero() {
		say(&b, "said      %s\n", when(m.Message.At))
	}
	b.WriteString("\n")
	for _, t := range m.Around {
		if t.Hit {
			block(&b, "  │ ", t.Text)
			continue
		}
		say(&b, "  %d %s: %s\n", t.Index, cmp.Or(t.Author, string(t.Role)), oneLine(t.Text, 160))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
