package truth

import (
	"context"

	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/recall"
)

// Proposal is a request to correct or retire an entry of the scope's user.
type Proposal struct {
	schema.Scope
	// EntryID is a whole id.
	EntryID string
	// Action is one of [schema.Changes]. Text is the correction's new text.
	Action, Text string
	// Because is the reason, and Actor the author.
	Because, Actor string
}

// Propose submits the proposal and returns its id. Equal proposals have the same id and count once. An invalid proposal is a
// usage error, see [command.BadUsage].
func Propose(ctx context.Context, a *command.App, p Proposal) (id string, err error) {
	result, err := recall.SendRule(ctx, a, graduate.Command{
		Op: graduate.OpPropose, Project: p.Project, User: p.User, EntryIDs: []string{p.EntryID}, Change: schema.Change(p.Action),
		Text: p.Text, Because: p.Because, Actor: p.Actor,
	})
	if err != nil {
		return "", err
	}
	return result.Changes[0].ID, nil
}

// AcceptProposal applies the proposal with the whole id in the name of the actor: a person or a policy. A proposal that was
// accepted before is not applied again.
func AcceptProposal(ctx context.Context, a *command.App, id, actor string) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	log := eventlog.New(conn, eventlog.Options{})
	project, err := graduate.ProjectOfProposal(ctx, log, id)
	if err != nil {
		return err
	}
	p, err := graduate.NewLedgers(conn).Proposal(ctx, log, project, id)
	if err != nil {
		return err
	}
	_, err = accept(ctx, a, p, actor, "")
	return err
}

// accept applies the proposal and records that. If it is interrupted, another call resumes it.
func accept(ctx context.Context, a *command.App, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
	if p.State == graduate.ProposalOpen && p.Change == schema.ChangeCorrect {
		if _, err := recall.CorrectEntry(ctx, a, p.Project, p.Entry.EntryID, p.CorrectionText()); err != nil {
			return graduate.CommandResult{}, err
		}
	}
	return recall.SendRule(ctx, a, graduate.Command{Op: graduate.OpAccept, Project: p.Project, ProposalID: p.ID, Actor: actor, Because: because})
}

// reject records that the proposal was rejected.
func reject(ctx context.Context, a *command.App, p graduate.Proposal, actor, because string) (graduate.CommandResult, error) {
	return recall.SendRule(ctx, a, graduate.Command{Op: graduate.OpReject, Project: p.Project, ProposalID: p.ID, Actor: actor, Because: because})
}
