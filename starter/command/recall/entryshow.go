package recall

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/projection"
	"axiommind/activities/retrieve"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// shownEntry is an entry with its evidence, checked against the source, and its history.
type shownEntry struct {
	entry.Row
	Proofs []show.Proof  `json:"proofs"`
	Life   graduate.Life `json:"life"`
}

func entryShowCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ENTRY", Short: "show a memory and its evidence in context",
		Example: "starter entry show 04a5ad1b --project demo",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project the entry belongs to")
	user := f.String("user", "default", "user of the message, if ENTRY is the handle of a message")
	a.Answers(cmd, shownEntry{}, shownMessage{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if retrieve.IsMessage(args[0]) {
			return messageShow(ctx, a, schema.Scope{Project: *project, User: *user}, args[0])
		}
		return entryShow(ctx, a, *project, args[0])
	})
}

func entryShow(ctx context.Context, a *command.App, project, id string) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	row, err := entry.NewReader(conn).Get(ctx, project, id)
	if err != nil {
		return err
	}
	log := projection.New(conn, eventlog.Options{})
	out := shownEntry{Row: row}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) { out.Proofs, err = show.ProofsOf(ctx, log.Store, row); return err })
	both.Go(func() (err error) { out.Life, err = graduate.NewLedgers(conn).Life(ctx, log.Store, row); return err })
	if err := both.Wait(); err != nil {
		return err
	}
	return a.Print(out, func(b *strings.Builder) { printEntry(b, row, out.Proofs, out.Life) })
}

func printEntry(b *strings.Builder, r entry.Row, proofs []show.Proof, life graduate.Life) {
	command.Say(b, "%s\n\n", r.Title)
	if r.Content != "" && r.Content != r.Title {
		command.Block(b, "  │ ", r.Content)
		b.WriteString("\n")
	}
	kind := string(r.Type)
	if r.Category != "" {
		kind += " (" + r.Category + ")"
	}
	if r.Section != "" {
		kind += ", section " + r.Section + " of the profile"
	}
	command.Say(b, "entry     %s\ntype      %s\nstage     %s, %s", r.ID, kind, r.Stage, r.Status)
	sayEnd(b, r)
	for _, why := range life.NotVerified {
		command.Say(b, "          not verified: %s\n", why)
	}
	if r.SourceError != "" {
		command.Block(b, "mistake   ", r.SourceError)
	}
	if t := r.Task; t != nil {
		command.Say(b, "task      %s", t.Status)
		if t.Priority != "" {
			command.Say(b, ", %s", t.Priority)
		}
		if len(t.BlockedBy) > 0 {
			command.Say(b, ", blocked by %s", strings.Join(t.BlockedBy, "; "))
		}
		b.WriteString("\n")
	}
	command.Say(b, "from      session %s, %s\nbuild     %s\n", r.SessionID, command.When(r.OccurredAt), r.BuildID)
	command.Say(b, "evidence  %s", show.EntryStanding(r.Entry, proofs))
	if r.EvidenceSessionID != r.SessionID {
		command.Say(b, ", of session %s, which states the same", r.EvidenceSessionID)
	}
	b.WriteString("\n")
	for i, p := range proofs {
		command.Say(b, "\nevidence %d of %d: ", i+1, len(proofs))
		p.Print(b)
	}
	sayLife(b, life)
}

// sayEnd writes why the entry is no longer believed, and ends the line.
func sayEnd(b *strings.Builder, r entry.Row) {
	switch {
	case r.EndedBy != "":
		if r.SupersededBy != "" {
			command.Say(b, " by entry %s", r.SupersededBy)
		}
		command.Say(b, " on %s by %s", command.When(r.EndedAt), r.EndedBy)
		if r.EndedBecause != "" {
			command.Say(b, ": %s", r.EndedBecause)
		}
	case r.SupersededBy != "":
		command.Say(b, " by entry %s, which a newer extractor made of the same sentences", r.SupersededBy)
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
		what := command.ShortIDs(line.Text)
		if line.By != "" {
			what += ", by " + line.By
		}
		at := command.When(line.At)
		command.Say(b, "  %s  ", at)
		b.WriteString(command.Hanging(what, len(at)+4) + "\n")
	}
	for _, moment := range graduate.Moments() {
		if left := life.Counts[moment] - shown[moment]; left > 0 && moment != graduate.MomentRetrieved {
			command.Say(b, "  and %d earlier, %s\n", left, moment)
		}
	}
}
