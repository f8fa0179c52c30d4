package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/pflag"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/transcript"
	"axiommind/schema"
)

// contextGraphemes is how much text is shown before and after a span.
const contextGraphemes = 160

// proof is a piece of evidence in its context, checked against the source.
type proof struct {
	schema.Evidence
	Role schema.Role `json:"role,omitempty"`
	// Before and After are the source's text around the span.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Holds is true when the source says what the evidence claims; Problem says why it does not.
	Holds   bool   `json:"holds"`
	Problem string `json:"problem,omitempty"`
}

func (a *app) entryShowCommand(f *pflag.FlagSet) func(context.Context, []string) error {
	project := f.String("project", "default", "project the entry belongs to")
	return func(ctx context.Context, args []string) error { return a.entryShow(ctx, *project, args[0]) }
}

func (a *app) entryShow(ctx context.Context, project, id string) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	row, err := entry.Get(ctx, conn, project, id)
	if errors.Is(err, entry.ErrNotFound) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	logged, err := transcript.ReadLogged(ctx, eventlog.New(conn, eventlog.Options{}), row.Session())
	if err != nil {
		return err
	}
	proofs := make([]proof, len(row.Evidence))
	for i, e := range row.Evidence {
		proofs[i] = prove(logged, e)
	}
	out := struct {
		entry.Row
		Proofs []proof `json:"proofs"`
	}{row, proofs}
	return a.print(out, func(w io.Writer) error { return printEntry(w, row, proofs) })
}

// prove checks a piece of evidence against the logged source and cuts its context out.
func prove(logged *transcript.Logged, e schema.Evidence) proof {
	p := proof{Evidence: e}
	if !e.Aligned {
		p.Problem = e.Reason
		return p
	}
	if e.MessageIndex < 0 || e.MessageIndex >= len(logged.Messages) {
		p.Problem = "the log holds no such message"
		return p
	}
	m := logged.Messages[e.MessageIndex]
	p.Role = m.Role
	if err := evidence.Verify(m.Text, e); err != nil {
		p.Problem = err.Error()
		return p
	}
	p.Holds = true
	p.Before, p.After = lastGraphemes(m.Text[:e.Span.ByteStart]), firstGraphemes(m.Text[e.Span.ByteEnd:])
	return p
}

func firstGraphemes(s string) string {
	rest, state := s, -1
	for range contextGraphemes {
		if rest == "" {
			return s
		}
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	return s[:len(s)-len(rest)] + "…"
}

func lastGraphemes(s string) string {
	var starts []int
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		from, _ := g.Positions()
		starts = append(starts, from)
	}
	if len(starts) <= contextGraphemes {
		return s
	}
	return "…" + s[starts[len(starts)-contextGraphemes]:]
}

func printEntry(w io.Writer, r entry.Row, proofs []proof) error {
	var b strings.Builder
	say(&b, "%s\n\n", r.Title)
	if r.Content != "" && r.Content != r.Title {
		block(&b, "  │ ", r.Content)
		b.WriteString("\n")
	}
	kind := string(r.Type)
	if r.Category != "" {
		kind += " (" + r.Category + ")"
	}
	say(&b, "entry     %s\ntype      %s\nstage     %s, %s\n", r.ID, kind, r.Stage, r.Status)
	if t := r.Task; t != nil {
		say(&b, "task      %s", t.Status)
		if t.Priority != "" {
			say(&b, ", %s", t.Priority)
		}
		if len(t.BlockedBy) > 0 {
			say(&b, ", blocked by %s", strings.Join(t.BlockedBy, "; "))
		}
		b.WriteString("\n")
	}
	say(&b, "from      session %s, %s\nbuild     %s\n", r.SessionID, when(r.OccurredAt), r.BuildID)
	for i, p := range proofs {
		say(&b, "\nevidence %d of %d: ", i+1, len(proofs))
		if !p.Holds {
			say(&b, "not proven: %s\n", p.Problem)
			block(&b, "  │ ", "“"+p.Quote+"”")
			continue
		}
		say(&b, "message %d (%s), bytes %d–%d, runes %d–%d, %s, confidence %.2f, checked against the source\n",
			p.MessageIndex, p.Role, p.Span.ByteStart, p.Span.ByteEnd, p.Span.RuneStart, p.Span.RuneEnd, p.Method, p.Confidence)
		if !p.Proves() {
			say(&b, "  in doubt, proves nothing: the quote says %s\n", doubts(p.Evidence))
		}
		marked := p.Before + "⟦" + p.Text + "⟧" + p.After
		block(&b, "  │ ", marked)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
