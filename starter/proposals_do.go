package main

import (
	"context"
	"time"

	"github.com/google/uuid"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/schema"
)

// proposal is a request to correct or retire an entry of the scope's user.
type proposal struct {
	schema.Scope
	// EntryID is a whole id.
	EntryID string
	// Action is one of [schema.Changes]. Text is the correction's new text.
	Action, Text string
	// Because is the reason, and Actor the author.
	Because, Actor string
}

// propose submits the proposal and returns its id. Equal proposals have the same id and count once. An invalid proposal is a
// [usageError].
func (a *app) propose(ctx context.Context, p proposal) (id string, err error) {
	result, err := a.sendProposal(ctx, graduate.Command{
		Op: graduate.OpPropose, Project: p.Project, User: p.User, EntryIDs: []string{p.EntryID}, Change: schema.Change(p.Action),
		Text: p.Text, Because: p.Because, Actor: p.Actor,
	})
	if err != nil {
		return "", err
	}
	return result.Changes[0].ID, nil
}

// acceptProposal applies the proposal with the whole id in the name of the actor: a person or a policy. A proposal that was
// accepted before is not applied again.
func (a *app) acceptProposal(ctx context.Context, id, actor string) error {
	var p graduate.Proposal
	err := a.withProposals(ctx, func(l *graduate.Ledgers, log *eventlog.Store) error {
		project, err := graduate.ProjectOfProposal(ctx, log, id)
		if err == nil {
			p, err = l.Proposal(ctx, log, project, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = a.accept(ctx, p, actor, "")
	return err
}

// accept applies the proposal and records that. If it is interrupted, another call resumes it.
func (a *app) accept(ctx context.Context, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
	if p.State == graduate.ProposalOpen && p.Change == schema.ChangeCorrect {
		if _, err := a.correctEntry(ctx, p.Project, p.Entry.EntryID, p.CorrectionText()); err != nil {
			return graduate.CommandResult{}, err
		}
	}
	return a.sendProposal(ctx, graduate.Command{Op: graduate.OpAccept, Project: p.Project, ProposalID: p.ID, Actor: actor, Because: because})
}

// reject records that the proposal was rejected.
func (a *app) reject(ctx context.Context, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
	return a.sendProposal(ctx, graduate.Command{Op: graduate.OpReject, Project: p.Project, ProposalID: p.ID, Actor: actor, Because: because})
}

// sendProposal sends a command about a proposal and waits until it is done.
func (a *app) sendProposal(ctx context.Context, c graduate.Command) (result graduate.CommandResult, err error) {
	c.RequestID, c.At = uuid.NewString(), time.Now().UTC()
	if err := c.Validate(); err != nil {
		return result, badUsage(err)
	}
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	err = a.send(ctx, update, &result, schema.ErrorGraduationRefused, schema.ErrorEntryNotFound)
	return result, err
}

// withProposals runs fn with the ledgers and the log. An unknown id is a usage error.
func (a *app) withProposals(ctx context.Context, fn func(*graduate.Ledgers, *eventlog.Store) error) error {
	return a.withLog(ctx, func(l *graduate.Ledgers, _ *entry.Reader, log *eventlog.Store) error { return fn(l, log) })
}
