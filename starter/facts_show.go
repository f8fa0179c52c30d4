package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/table"
)

// shownFact is a fact with the evidence of its entry, if it comes from one.
type shownFact struct {
	fact.Fact
	Said   *entry.Row `json:"said,omitempty"`
	Proofs []proof    `json:"proofs,omitempty"`
}

// resolveFact returns the fact whose id begins with given.
func resolveFact(ctx context.Context, t *fact.Tables, o *owner, given string) (fact.Fact, error) {
	f, err := t.Resolve(ctx, o.user, o.agent, given)
	if errors.Is(err, fact.ErrFactNotFound) || errors.Is(err, table.ErrAmbiguous) {
		err = badUsage(err)
	}
	return f, err
}

func (a *app) factsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show FACT", Short: "show a fact and its evidence",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withFacts(ctx, func(conn driver.Conn, t *fact.Tables) error {
			found, err := resolveFact(ctx, t, o, args[0])
			if err != nil {
				return err
			}
			shown := shownFact{Fact: found}
			if err := shown.read(ctx, conn, t, o); err != nil {
				return err
			}
			return a.print(shown, func(w io.Writer) error { return printFact(w, shown) })
		})
	})
}

// read adds the state of the fact and its entry's evidence.
func (s *shownFact) read(ctx context.Context, conn driver.Conn, t *fact.Tables, o *owner) error {
	judged := []fact.Fact{s.Fact}
	if err := t.Judge(ctx, o.user, o.agent, judged); err != nil {
		return err
	}
	s.Fact = judged[0]
	if s.EntryID == "" {
		return nil
	}
	rows, err := entry.NewReader(conn).Read(ctx, entry.OfMemory(o.user, o.agent).IDs([]string{s.EntryID}), entry.Whole)
	if err != nil || len(rows) == 0 {
		return err
	}
	s.Said = &rows[0]
	s.Proofs, err = proofsOf(ctx, eventlog.New(conn, eventlog.Options{}), rows[0])
	return err
}

func printFact(w io.Writer, s shownFact) error {
	var b strings.Builder
	block(&b, "", s.Content)
	say(&b, "\nfact      %s\ncategory  %s, confidence %.2f\n", s.ID, s.Category, s.Confidence)
	if s.SourceError != "" {
		say(&b, "avoid     %s\n", s.SourceError)
	}
	say(&b, "status    %s%s", s.Status, factText(s.Entry))
	if s.Status != fact.Active {
		say(&b, " on %s", when(s.GoneAt))
		if s.GoneReason != "" {
			say(&b, ": %s", s.GoneReason)
		}
	}
	say(&b, "\nsince     %s, changed %s\nversion   %d\n", when(s.CreatedAt), when(s.UpdatedAt), s.Version)
	if s.Project != "" {
		say(&b, "project   %s\n", s.Project)
	}
	switch {
	case s.EntryID == "":
		say(&b, "from      %s\n", s.Actor)
	case s.Said == nil:
		say(&b, "from      session %s, entry %s, which the log does not hold any longer\n", s.SessionID, s.EntryID)
	default:
		say(&b, "from      session %s\nentry     %s\n", s.SessionID, s.EntryID)
		if fact.Key(s.Said.Title) != fact.Key(s.Content) {
			say(&b, "said      %s\n", s.Said.Title)
		}
		say(&b, "evidence  %s\n", entryStanding(s.Said.Entry, s.Proofs))
	}
	for i, p := range s.Proofs {
		say(&b, "\nevidence %d of %d: ", i+1, len(s.Proofs))
		p.print(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
