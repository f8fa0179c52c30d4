package facts

import (
	"context"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// shownFact is a fact with the evidence of its entry, if it comes from one.
type shownFact struct {
	fact.Fact
	Said   *entry.Row   `json:"said,omitempty"`
	Proofs []show.Proof `json:"proofs,omitempty"`
}

func showCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show FACT", Short: "show a fact and its evidence",
	}
	o := &command.Owner{}
	o.Add(cmd.Flags())
	a.Answers(cmd, shownFact{})
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, args []string) error {
		t := fact.NewTables(conn)
		found, err := t.Resolve(ctx, o.User, o.Agent, args[0])
		if err != nil {
			return err
		}
		shown := shownFact{Fact: found}
		if err := shown.read(ctx, conn, t, o); err != nil {
			return err
		}
		return a.Print(shown, func(b *strings.Builder) { printFact(b, shown) })
	})
}

// read adds the state of the fact and its entry's evidence.
func (s *shownFact) read(ctx context.Context, conn driver.Conn, t *fact.Tables, o *command.Owner) error {
	judged := []fact.Fact{s.Fact}
	if err := t.Judge(ctx, o.User, o.Agent, judged); err != nil {
		return err
	}
	s.Fact = judged[0]
	if s.EntryID == "" {
		return nil
	}
	rows, err := entry.NewReader(conn).Read(ctx, entry.OfMemory(o.User, o.Agent).IDs([]string{s.EntryID}), entry.Whole)
	if err != nil || len(rows) == 0 {
		return err
	}
	s.Said = &rows[0]
	s.Proofs, err = show.ProofsOf(ctx, eventlog.New(conn, eventlog.Options{}), rows[0])
	return err
}

func printFact(b *strings.Builder, s shownFact) {
	command.Block(b, "", s.Content)
	command.Say(b, "\nfact      %s\ncategory  %s, confidence %.2f\n", s.ID, s.Category, s.Confidence)
	if s.SourceError != "" {
		command.Say(b, "avoid     %s\n", s.SourceError)
	}
	command.Say(b, "status    %s%s", s.Status, factText(s.Entry))
	if s.Status != fact.Active {
		command.Say(b, " on %s", command.When(s.GoneAt))
		if s.GoneReason != "" {
			command.Say(b, ": %s", s.GoneReason)
		}
	}
	command.Say(b, "\nsince     %s, changed %s\nversion   %d\n", command.When(s.CreatedAt), command.When(s.UpdatedAt), s.Version)
	if s.Project != "" {
		command.Say(b, "project   %s\n", s.Project)
	}
	switch {
	case s.EntryID == "":
		command.Say(b, "from      %s\n", s.Actor)
	case s.Said == nil:
		command.Say(b, "from      session %s, entry %s, which the log does not hold any longer\n", s.SessionID, s.EntryID)
	default:
		command.Say(b, "from      session %s\nentry     %s\n", s.SessionID, s.EntryID)
		if fact.Key(s.Said.Title) != fact.Key(s.Content) {
			command.Say(b, "said      %s\n", s.Said.Title)
		}
		command.Say(b, "evidence  %s\n", show.EntryStanding(s.Said.Entry, s.Proofs))
	}
	for i, p := range s.Proofs {
		command.Say(b, "\nevidence %d of %d: ", i+1, len(s.Proofs))
		p.Print(b)
	}
}
