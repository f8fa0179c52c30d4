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

// proposal asks to correct or to retire an entry of the scope's user.
type proposal struct {
	schema.Scope
	// EntryID is a whole id.
	EntryID string
	// Action is one of [schema.Changes]. Text is what is right, for a correction.
	Action, Text string
	// Because says why, and Actor who asks.
	Because, Actor string
}

// propose hands in the proposal and returns its id. The same proposal has the same id and counts once. What can't be
// proposed is a [usageError].
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

// acceptProposal does what the proposal with the whole id asks for, in the name of the actor: a person or a policy. What
// was accepted before stays as it is.
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

// accept does what the proposal asks for and records that. If it is stopped in between, it goes on when it is called again.
func (a *app) accept(ctx context.Context, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
	if p.State == graduate.ProposalOpen && p.Change == schema.ChangeCorrect {
		if _, err := a.correctEntry(ctx, p.Project, p.Entry.EntryID, p.Said()); err != nil {
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
		return result, usageError{err}
	}
	update := boundary.Update{Name: schema.UpdateCommand, ID: c.RequestID, Arg: c}
	err = a.send(ctx, update, &result, schema.ErrorGraduationRefused, schema.ErrorEntryNotFound)
	return result, err
}

// withProposals runs fn with what reads proposals. An id that names nothing is a mistake of the command line.
func (a *app) withProposals(ctx context.Context, fn func(*graduate.Ledgers, *eventlog.Store) error) error {
	return a.withLog(ctx, func(l *graduate.Ledgers, _ *entry.Reader, log *eventlog.Store) error { return fn(l, log) })
}
