package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
)

func (a *app) proposalsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "proposals", Short: "list corrections and retirements that agents propose",
		Example: "starter proposals --project demo\n" +
			"starter proposals --project demo --user ann --all",
	}
	f := cmd.Flags()
	q, p := graduate.ProposalQuery{}, &page{}
	f.StringVar(&q.Project, "project", "default", "project of the memories")
	user := f.String("user", "", "user whose memories they are about; without it, all users")
	f.BoolVar(&q.Decided, "all", false, "include accepted and rejected proposals")
	p.add(f, defaultPage, maxPage, "open ones and the latest first")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		if f.Changed("user") {
			q.User = user
		}
		q.Limit = p.rows()
		return a.withProposals(ctx, func(l *graduate.Ledgers, log *eventlog.Store) error {
			found, err := l.Proposals(ctx, log, q)
			if err != nil {
				return err
			}
			none := "nothing is proposed in project " + unbroken(q.Project)
			if !q.Decided {
				none += "; --all includes accepted and rejected proposals"
			}
			return list(a, p, after(p, found), none, func(w io.Writer, shown []graduate.Proposal) error {
				return printProposals(w, q.Project, shown)
			})
		})
	})
}

// printProposals shows everything that a person agrees to by accepting a proposal.
func printProposals(w io.Writer, project string, proposals []graduate.Proposal) error {
	var b strings.Builder
	open := false
	for i, p := range proposals {
		open = open || p.State == graduate.ProposalOpen
		if i > 0 {
			b.WriteString("\n")
		}
		say(&b, "%s  %s %s  %s\n", short(p.ID), p.Change, short(p.Entry.EntryID), shown(p.Entry.Title))
		if p.Text != "" {
			say(&b, "  right is  %s\n", shown(p.Text))
		}
		say(&b, "  because   %s\n  by        %s on %s\n  state     %s\n", shown(p.Because), p.ProposedBy, when(p.ProposedAt), proposalState(p))
	}
	if open {
		say(&b, "\nto decide: %s\n       or: %s\n", inProject(project, "proposals", "accept", "PROPOSAL"), inProject(project, "proposals", "reject", "PROPOSAL"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// proposalState describes whether a proposal is pending, or how it ended.
func proposalState(p graduate.Proposal) string {
	switch {
	case p.State == graduate.ProposalOvertaken:
		return "overtaken: the memory is no longer believed, so it can only be rejected"
	case p.DecidedAt.IsZero():
		return string(p.State)
	}
	text := fmt.Sprintf("%s on %s by %s", p.State, when(p.DecidedAt), p.DecidedBy)
	if p.DecidedBecause != "" {
		text += ": " + p.DecidedBecause
	}
	return text
}

func (a *app) proposalsAcceptCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "accept PROPOSAL…", Short: "correct or retire memories as proposed",
		Example: "starter proposals accept 0a1b2c3d --project demo --because 'the contract of May'",
	}
	return a.decideCommand(cmd, func(ctx context.Context, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
		return a.accept(ctx, p, actor, because)
	})
}

func (a *app) proposalsRejectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reject PROPOSAL…", Short: "leave memories as they are",
		Example: "starter proposals reject 0a1b2c3d 4e5f6071 --project demo --because 'the limit is right'",
	}
	return a.decideCommand(cmd, func(ctx context.Context, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
		return a.reject(ctx, p, actor, because)
	})
}

// decideCommand decides on the proposals with the given ids or beginnings of ids, one after the other.
func (a *app) decideCommand(cmd *cobra.Command, decide func(ctx context.Context, p graduate.Proposal, actor, because string) (graduate.CommandResult, error)) *cobra.Command {
	f := cmd.Flags()
	project := f.String("project", "default", "project of the proposals")
	because := f.String("because", "", "why, for the history")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		named, err := a.namedProposals(ctx, *project, args)
		if err != nil {
			return err
		}
		var all graduate.CommandResult
		for _, p := range named {
			one, err := decide(ctx, p, actor(), *because)
			if err != nil {
				if len(all.Changes) > 0 { // Report the decisions made so far.
					_ = a.print(all, func(w io.Writer) error { return printRuled(w, all) })
				}
				return err
			}
			all.Events += one.Events
			all.Changes = append(all.Changes, one.Changes...)
		}
		return a.print(all, func(w io.Writer) error { return printRuled(w, all) })
	})
}

// namedProposals reads the proposals with the given ids or beginnings of ids, each once, in the given order.
func (a *app) namedProposals(ctx context.Context, project string, given []string) (named []graduate.Proposal, err error) {
	err = a.withProposals(ctx, func(l *graduate.Ledgers, log *eventlog.Store) error {
		for _, id := range given {
			p, err := l.Proposal(ctx, log, project, id)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(named, func(had graduate.Proposal) bool { return had.ID == p.ID }) {
				named = append(named, p)
			}
		}
		return nil
	})
	return named, err
}
