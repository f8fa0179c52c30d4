package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/graduate"
	"axiommind/activities/retrieve"
	"axiommind/activities/session"
	"axiommind/activities/table"
	"axiommind/schema"
)

// proof is a piece of evidence in its context, checked against the source.
type proof struct {
	schema.Evidence
	Role schema.Role `json:"role,omitempty"`
	// Before and After are the source's text around the span.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Holds is true if the source confirms the evidence. Otherwise Problem is the reason.
	Holds   bool   `json:"holds"`
	Problem string `json:"problem,omitempty"`
	// Differences are the words in which the quote differs from the source at the span.
	Differences []evidence.Difference `json:"differences,omitempty"`
}

func (a *app) entryShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ENTRY", Short: "show a memory and its evidence in context",
		Example: "starter entry show 04a5ad1b --project demo",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project the entry belongs to")
	user := f.String("user", "default", "user whose message it is, if ID is the handle of a message")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if retrieve.IsMessage(args[0]) {
			return a.messageShow(ctx, schema.Scope{Project: *project, User: *user}, args[0])
		}
		return a.entryShow(ctx, *project, args[0])
	})
}

func (a *app) entryShow(ctx context.Context, project, id string) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	row, err := entry.NewReader(conn).Get(ctx, project, id)
	if errors.Is(err, entry.ErrNotFound) || errors.Is(err, table.ErrAmbiguous) {
		return badUsage(err)
	}
	if err != nil {
		return err
	}
	log := eventlog.New(conn, eventlog.Options{})
	proofs, err := proofsOf(ctx, log, row)
	if err != nil {
		return err
	}
	life, err := graduate.NewLedgers(conn).Life(ctx, log, row)
	if err != nil {
		return err
	}
	out := struct {
		entry.Row
		Proofs []proof       `json:"proofs"`
		Life   graduate.Life `json:"life"`
	}{row, proofs, life}
	return a.print(out, func(w io.Writer) error { return printEntry(w, row, proofs, life) })
}

// proofsOf checks the entry's evidence against the log.
func proofsOf(ctx context.Context, log *eventlog.Store, row entry.Row) ([]proof, error) {
	logged, err := session.Open(ctx, log, row.EvidenceSession())
	if err != nil {
		return nil, err
	}
	proofs := make([]proof, len(row.Evidence))
	for i, e := range row.Evidence {
		messages, err := logged.Range(ctx, e.MessageIndex, e.MessageIndex+1)
		if err != nil {
			return nil, err
		}
		proofs[i] = prove(messages, e, row.EvidenceRule)
	}
	return proofs, nil
}

// prove checks a piece of evidence against its message and adds the text around it. It applies the version of the rule of
// proof that judged the piece. The source is empty if the log does not contain the message.
func prove(source []schema.Message, e schema.Evidence, rule int) proof {
	p := proof{Evidence: e}
	if !e.Found {
		p.Problem = e.Reason
		return p
	}
	p.Differences = differencesOf(e)
	if len(source) == 0 {
		p.Problem = "the log holds no such message"
		return p
	}
	m := source[0]
	p.Role = m.Role
	if err := evidence.VerifyMessage(m, e, rule); err != nil {
		p.Problem = err.Error()
		return p
	}
	p.Holds = true
	p.Before, p.After = lastGraphemes(m.Text[:e.Span.ByteStart], proofGraphemes), firstGraphemes(m.Text[e.Span.ByteEnd:], proofGraphemes)
	return p
}

func printEntry(w io.Writer, r entry.Row, proofs []proof, life graduate.Life) error {
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
	if r.Section != "" {
		kind += ", section " + r.Section + " of the profile"
	}
	say(&b, "entry     %s\ntype      %s\nstage     %s, %s", r.ID, kind, r.Stage, r.Status)
	sayEnd(&b, r)
	for _, why := range life.NotVerified {
		say(&b, "          not verified: %s\n", why)
	}
	if r.SourceError != "" {
		block(&b, "mistake   ", r.SourceError)
	}
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
	say(&b, "evidence  %s", entryStanding(r.Entry, proofs))
	if r.EvidenceSessionID != r.SessionID {
		say(&b, ", of session %s, which states the same", r.EvidenceSessionID)
	}
	b.WriteString("\n")
	for i, p := range proofs {
		say(&b, "\nevidence %d of %d: ", i+1, len(proofs))
		p.print(&b)
	}
	sayLife(&b, life)
	_, err := io.WriteString(w, b.String())
	return err
}

// sayEnd writes why the entry is no longer believed, and ends the line.
func sayEnd(b *strings.Builder, r entry.Row) {
	switch {
	case r.EndedBy != "":
		if r.SupersededBy != "" {
			say(b, " by entry %s", r.SupersededBy)
		}
		say(b, " on %s by %s", when(r.EndedAt), r.EndedBy)
		if r.EndedBecause != "" {
			say(b, ": %s", r.EndedBecause)
		}
	case r.SupersededBy != "":
		say(b, " by entry %s, which a newer extractor made of the same sentences", r.SupersededBy)
	case r.Status == schema.StatusSuperseded:
		b.WriteString(": a newer extractor does not state it")
	}
	b.WriteString("\n")
}

// sayLife writes the history of the entry, one line for each event.
func sayLife(b *strings.Builder, life graduate.Life) {
	if len(life.Lines) == 0 {
		return
	}
	b.WriteString("\nlife\n")
	shown := map[graduate.Moment]int{}
	for _, line := range life.Lines {
		shown[line.Moment]++
		what := shortIDs(line.Text)
		if line.By != "" {
			what += ", by " + line.By
		}
		at := when(line.At)
		say(b, "  %s  ", at)
		b.WriteString(hanging(what, len(at)+4) + "\n")
	}
	for _, moment := range graduate.Moments() {
		if left := life.Counts[moment] - shown[moment]; left > 0 && moment != graduate.MomentRetrieved {
			say(b, "  and %d earlier, %s\n", left, moment)
		}
	}
}

// entryStanding describes how the entry's evidence is recorded, and whether the source confirms it.
func entryStanding(e schema.Entry, proofs []proof) string {
	text, broken := cmp.Or(agentsWord(e.Evidence), evidenceStateOfAll(e.EvidenceAligned, e.EvidenceProven, len(proofs) > 0)), 0
	for _, p := range proofs {
		if p.Found && !p.Holds {
			broken++
		}
	}
	if broken > 0 {
		return fmt.Sprintf("recorded as %s, but %s not true of the source", text, plural(broken, "piece is", "pieces are"))
	}
	return text
}

// speaker returns the role of the message, and the text's class of trust if that differs from the role.
func (p proof) speaker() string {
	if p.Trust == "" || string(p.Trust) == string(p.Role) {
		return string(p.Role)
	}
	return fmt.Sprintf("%s, trusted as %s", p.Role, p.Trust)
}

// print describes the piece and its place, and shows the sentences that contain it. A proven piece has no stored sentences
// and is shown with the text around it.
func (p proof) print(b *strings.Builder) {
	worth := evidenceState(p.Evidence, proofDifferences)
	if !p.Holds {
		if p.Found {
			say(b, "not true of the source: %s\n  recorded as ", p.Problem)
		}
		say(b, "%s\n", worth)
		block(b, "  │ ", "“"+p.Quote+"”")
		return
	}
	say(b, "%s\n  message %d (%s), bytes %d–%d, runes %d–%d, %s, confidence %.2f, checked against the source\n",
		worth, p.MessageIndex, p.speaker(), p.Span.ByteStart, p.Span.ByteEnd, p.Span.RuneStart, p.Span.RuneEnd, p.Method, p.Confidence)
	if !p.Aligned {
		say(b, "  quoted as “%s”\n", oneLine(p.Quote, 400))
	}
	held, known := passageOf(p.Evidence)
	if !known {
		held = passage{p.Before, p.Text, p.After}
	}
	block(b, "  │ ", held.String())
}
