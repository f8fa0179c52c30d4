package feed

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// ReadMessage is a message of a session, with the memories that it proves.
type ReadMessage struct {
	schema.Message
	Memories []ProvenBy `json:"memories"`
}

// ProvenBy is a memory, and the spans of the message that it quotes.
type ProvenBy struct {
	EntryID string           `json:"entry_id"`
	Type    schema.EntryType `json:"entry_type"`
	Title   string           `json:"title"`
	Stage   schema.Stage     `json:"stage"`
	Status  schema.Status    `json:"status"`
	// Proven is true if a whole sentence of the message states the memory.
	Proven bool          `json:"proven"`
	Spans  []schema.Span `json:"spans"`
}

func sessionReadCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "read SESSION", Short: "read a session, with the sentences that prove memories marked",
		Example: "starter session read today --project demo\n" +
			"starter session read today --project demo --proven",
	}
	f := cmd.Flags()
	var key schema.SessionKey
	command.ScopeFlags(f, "of the session", &key.Project, &key.User, &key.Agent)
	tools := f.Bool("tools", false, "also calls of tools, their results, thoughts and text of the harness")
	proven := f.Bool("proven", false, "only messages that prove a memory")
	from := f.Int("from", 0, "messages from this position on, from 0")
	p := &command.Page{}
	p.Add(f, command.DefaultPage, command.MaxPage, "the first messages first")
	a.Answers(cmd, []ReadMessage{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		key.SessionID = args[0]
		if err := key.Validate(); err != nil {
			return command.BadUsage(err)
		}
		if err := p.Check(); err != nil {
			return err
		}
		if *from < 0 {
			return command.Usagef("--from %d: want a position, from 0", *from)
		}
		shown := func(m ReadMessage) bool {
			return len(m.Memories) > 0 || !*proven && (*tools || m.Extractable())
		}
		messages, err := readSession(ctx, a, key, *from, shown, p)
		if err != nil {
			return err
		}
		return command.List(a, cmd, p, messages, "no message of the session is shown: add --tools", printMessages)
	})
}

// readSession reads a page of the messages to show, from the position on.
func readSession(ctx context.Context, a *command.App, key schema.SessionKey, from int, shown func(ReadMessage) bool, p *command.Page) ([]ReadMessage, error) {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	if key.SessionID, err = command.FindSession(ctx, conn, key); err != nil {
		return nil, err
	}
	var logged *session.Session
	var marks map[int][]ProvenBy
	both, inner := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		logged, err = session.Open(inner, eventlog.New(conn, eventlog.Options{}), key)
		return err
	})
	both.Go(func() (err error) { marks, err = readMarks(inner, entry.NewReader(conn), key); return err })
	if err := both.Wait(); err != nil {
		return nil, err
	}
	if logged.Len() == 0 {
		return nil, command.Missingf("there is no session %q of project %q, user %q and agent %q", key.SessionID, key.Project, key.User, key.Agent)
	}
	var out []ReadMessage
	skip := p.Offset
	for message, err := range logged.From(ctx, from) {
		if err != nil {
			return nil, err
		}
		m := ReadMessage{message, append([]ProvenBy{}, marks[message.Index]...)}
		if !shown(m) {
			continue
		}
		if skip--; skip >= 0 {
			continue
		}
		if out = append(out, m); len(out) == p.Ask() {
			break
		}
	}
	return out, nil
}

// readMarks returns the memories by the messages of the session that they quote.
func readMarks(ctx context.Context, reader *entry.Reader, key schema.SessionKey) (map[int][]ProvenBy, error) {
	rows, err := reader.Read(ctx, entry.OfSession(key).OldestFirst(), entry.Whole)
	marks := map[int][]ProvenBy{}
	for _, row := range rows {
		for _, e := range row.Evidence {
			if !e.Found || row.EvidenceSessionID != key.SessionID {
				continue
			}
			of := marks[e.MessageIndex]
			at := slices.IndexFunc(of, func(m ProvenBy) bool { return m.EntryID == row.ID })
			if at < 0 {
				at, of = len(of), append(of, ProvenBy{EntryID: row.ID, Type: row.Type, Title: row.Title, Stage: row.Stage, Status: row.Status})
			}
			of[at].Proven = of[at].Proven || e.Proven
			of[at].Spans = append(of[at].Spans, e.Span)
			marks[e.MessageIndex] = of
		}
	}
	return marks, err
}

func printMessages(b *strings.Builder, messages []ReadMessage) {
	for _, m := range messages {
		command.Say(b, "%d %s", m.Index, m.Role)
		if m.Author != "" {
			command.Say(b, " %s", m.Author)
		}
		if m.Tool != "" {
			command.Say(b, ", %s", m.Tool)
		}
		if !m.At.IsZero() {
			command.Say(b, ", %s", command.When(m.At))
		}
		b.WriteString("\n")
		command.Block(b, "  │ ", marked(m))
		for _, of := range m.Memories {
			state := "not proven"
			if of.Proven {
				state = "proven"
			}
			command.Say(b, "  → %s %s, %s: %s\n", command.ShortID(of.EntryID), of.Stage, state, of.Title)
		}
	}
}

// marked returns the text of the message with its quoted spans in brackets.
func marked(m ReadMessage) string {
	spans := make([][]schema.Span, len(m.Memories))
	for i, of := range m.Memories {
		spans[i] = of.Spans
	}
	var b strings.Builder
	open := false
	for _, piece := range show.Segments(m.Text, spans) {
		if now := len(piece.In) > 0; now != open {
			b.WriteString(map[bool]string{true: "⟦", false: "⟧"}[now])
			open = now
		}
		b.WriteString(piece.Text)
	}
	if open {
		b.WriteString("⟧")
	}
	return b.String()
}
