package truth

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/starter/command"
	"axiommind/starter/command/recall"
)

func proposalsCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "proposals", Short: "list corrections and retirements that agents propose",
		Example: "starter proposals --project demo\n" +
			"starter proposals --project demo --user ann --all",
	}
	f := cmd.Flags()
	q := graduate.ProposalQuery{}
	f.StringVar(&q.Project, "project", "default", "project of the memories")
	user := f.String("user", "", "user whose memories they are about; without it, all users")
	f.BoolVar(&q.Decided, "all", false, "include accepted and rejected proposals")
	return command.Listing[graduate.Proposal]{
		Order: "open ones and the latest first",
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, _ []string) ([]graduate.Proposal, string, error) {
			if f.Changed("user") {
				q.User = user
			}
			q.Limit = p.Rows()
			found, err := graduate.NewLedgers(conn).Proposals(ctx, eventlog.New(conn, eventlog.Options{}), q)
			none := "nothing is proposed in project " + command.Unbroken(q.Project)
			if !q.Decided {
				none += "; --all includes accepted and rejected proposals"
			}
			return command.After(p, found), none, err
		},
		Print: func(b *strings.Builder, shown []graduate.Proposal) { printProposals(b, q.Project, shown) },
	}.Command(a, cmd)
}

// printProposals shows everything that a person agrees to by accepting a proposal.
func printProposals(b *strings.Builder, project string, proposals []graduate.Proposal) {
	open := false
	for i, p := range proposals {
		open = open || p.State == graduate.ProposalOpen
		if i > 0 {
			b.WriteString("\n")
		}
		command.Say(b, "%s  %s %s  %s\n", command.ShortID(p.ID), p.Change, command.ShortID(p.Entry.EntryID), recall.Shown(p.Entry.Title))
		if p.Text != "" {
			command.Say(b, "  right is  %s\n", recall.Shown(p.Text))
		}
		command.Say(b, "  because   %s\n  by        %s on %s\n  state     %s\n", recall.Shown(p.Because), p.ProposedBy, command.When(p.ProposedAt), proposalState(p))
	}
	if open {
		command.Say(b, "\nto decide: %s\n       or: %s\n", InProject(project, "proposals", "accept", "PROPOSAL"), InProject(project, "proposals", "reject", "PROPOSAL"))
	}
}

// proposalState describes whether a proposal is pending, or how it ended.
func proposalState(p graduate.Proposal) string {
	switch {
	case p.State == graduate.ProposalOvertaken:
		return "overtaken: the memory is no longer believed, so it can only be rejected"
	case p.DecidedAt.IsZero():
		return string(p.State)
	}
	text := fmt.Sprintf("%s on %s by %s", p.State, command.When(p.DecidedAt), p.DecidedBy)
	if p.DecidedBecause != "" {
		text += ": " + p.DecidedBecause
	}
	return text
}

// decideCommand decides on the proposals with the given ids or beginnings of ids, one after the other.
func decideCommand(a *command.App, cmd *cobra.Command, decide func(ctx context.Context, a *command.App, p graduate.Proposal, actor, because string) (graduate.CommandResult, error)) *cobra.Command {
	f := cmd.Flags()
	project := f.String("project", "default", "project of the proposals")
	user := f.String("user", "", "user whose memories they are about; without it, any user")
	because := f.String("because", "", "why, for the history")
	a.Answers(cmd, graduate.CommandResult{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		named, err := namedProposals(ctx, a, *project, *user, args)
		if err != nil {
			return err
		}
		var all graduate.CommandResult
		for _, p := range named {
			one, err := decide(ctx, a, p, a.Actor(), *because)
			if err != nil {
				if len(all.Changes) > 0 { // Report the decisions made so far.
					_ = a.Print(all, func(b *strings.Builder) { recall.PrintRuled(b, all) })
				}
				return err
			}
			all.Events += one.Events
			all.Changes = append(all.Changes, one.Changes...)
		}
		return a.Print(all, func(b *strings.Builder) { recall.PrintRuled(b, all) })
	})
}

// namedProposals reads the proposals with the given ids or beginnings of ids, each once, in the given order. With a user they
// are all about the user's memories.
func namedProposals(ctx context.Context, a *command.App, project, user string, given []string) (named []graduate.Proposal, err error) {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range given {
		p, err := graduate.NewLedgers(conn).Proposal(ctx, eventlog.New(conn, eventlog.Options{}), project, id)
		if err == nil && user != "" && p.User != user {
			err = command.Missingf("proposal %q of user %q: %w", id, user, graduate.ErrNoProposal)
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(named, func(had graduate.Proposal) bool { return had.ID == p.ID }) {
			named = append(named, p)
		}
	}
	return named, nil
}
