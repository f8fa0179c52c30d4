package graduate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/schema"
)

// ProposalState is the state of a proposal.
type ProposalState string

// States.
const (
	// ProposalOpen waits for a person.
	ProposalOpen ProposalState = "open"
	// ProposalOvertaken is undecided, but its entry is no longer believed for another reason: it can only be rejected.
	ProposalOvertaken ProposalState = "overtaken"
	ProposalAccepted  ProposalState = "accepted"
	ProposalRejected  ProposalState = "rejected"
)

// Proposal asks to change an entry.
type Proposal struct {
	ID string `json:"proposal_id"`
	schema.Scope
	// Entry is the current state of the entry.
	Entry  Side          `json:"entry"`
	Change schema.Change `json:"change"`
	// Text is the corrected statement. It is empty unless Change is a correction.
	Text       string    `json:"text,omitempty"`
	Because    string    `json:"because"`
	ProposedBy string    `json:"proposed_by"`
	ProposedAt time.Time `json:"proposed_at"`

	State ProposalState `json:"state"`
	// DecidedAt is zero until a person decides on the proposal.
	DecidedAt      time.Time `json:"decided_at,omitzero"`
	DecidedBy      string    `json:"decided_by,omitempty"`
	DecidedBecause string    `json:"decided_because,omitempty"`
}

// CorrectionText returns the statement of a person who accepts the correction: the corrected text, its author and the reason.
func (p Proposal) CorrectionText() string { return correctionText(p.payload()) }

// payload is the payload of the event that made the proposal.
func (p Proposal) payload() schema.ChangeProposedPayload {
	return schema.ChangeProposedPayload{
		Scope: p.Scope, ProposalID: p.ID, EntryID: p.Entry.EntryID, Change: p.Change, Text: p.Text, Because: p.Because, By: p.ProposedBy,
	}
}

// ProposalQuery selects proposals of a project.
type ProposalQuery struct {
	Project string
	// User is nil for all users.
	User *string
	// Decided adds the proposals that were accepted or rejected.
	Decided bool
	// Limit is the maximum number of proposals; 0 means [DefaultLimit].
	Limit int
}

// Proposals returns the selected proposals: open ones first, then the latest first.
func (l *Ledgers) Proposals(ctx context.Context, log *eventlog.Store, q ProposalQuery) ([]Proposal, error) {
	found, err := l.proposals(ctx, log, q.Project, func(p Proposal) bool {
		return (q.User == nil || p.User == *q.User) && (q.Decided || p.State == ProposalOpen)
	})
	if err != nil {
		return nil, err
	}
	found = found[:min(len(found), cmp.Or(q.Limit, DefaultLimit))]
	return found, l.describeProposals(ctx, q.Project, found)
}

// Proposal returns the proposal of the project with the id, or [ErrNoProposal]. An id may be given by its first characters.
func (l *Ledgers) Proposal(ctx context.Context, log *eventlog.Store, project, id string) (Proposal, error) {
	named := clickhouse.Prefix{What: "proposal", Where: fmt.Sprintf("project %q", project), Given: id, NotFound: ErrNoProposal}
	if !named.Long() {
		return Proposal{}, named.Missing("as proposals prints it")
	}
	found, err := l.proposals(ctx, log, project, func(p Proposal) bool { return strings.HasPrefix(p.ID, named.Text()) })
	if err != nil {
		return Proposal{}, err
	}
	ids := make([]string, len(found))
	for i, p := range found {
		ids[i] = p.ID
	}
	slices.Sort(ids)
	if whole := slices.Index(ids, named.Text()); whole >= 0 {
		ids = ids[whole : whole+1]
	}
	picked, err := named.Pick(ids[:min(len(ids), clickhouse.MostPrefixed)])
	if err != nil {
		return Proposal{}, err
	}
	at := slices.IndexFunc(found, func(p Proposal) bool { return p.ID == picked })
	one := found[at : at+1]
	return one[0], l.describeProposals(ctx, project, one)
}

// ProjectOfProposal returns the project of the proposal with the whole id, or [ErrNoProposal].
func ProjectOfProposal(ctx context.Context, log *eventlog.Store, id string) (string, error) {
	eventID := schema.EventID(schema.ChangeProposedKey(id))
	found, err := log.GetMany(ctx, []string{eventID})
	if err != nil {
		return "", err
	}
	event, known := found[eventID]
	if !known {
		return "", fmt.Errorf("proposal %q: %w: give a whole id", id, ErrNoProposal)
	}
	return schema.ParseGraduateStream(event.Stream)
}

// proposals folds the wanted proposals of the project. Their entries have only an id.
func (l *Ledgers) proposals(ctx context.Context, log *eventlog.Store, project string, wanted func(Proposal) bool) ([]Proposal, error) {
	if err := clickhouse.Required("project", project); err != nil {
		return nil, fmt.Errorf("read proposals: %w", err)
	}
	at := map[string]int{}
	var all []Proposal
	types := []string{schema.ChangeProposed, schema.ProposalDecided}
	for event, err := range log.Stream(ctx, schema.GraduateStream(project), eventlog.StreamOptions{Types: types}) {
		if err != nil {
			return nil, fmt.Errorf("read proposals: %w", err)
		}
		payload, err := schema.DecodePayload(event)
		if err != nil {
			return nil, err
		}
		switch p := payload.(type) {
		case schema.ChangeProposedPayload:
			if _, known := at[p.ProposalID]; known {
				continue
			}
			at[p.ProposalID] = len(all)
			scope := p.Scope
			scope.Project = project
			all = append(all, Proposal{
				ID: p.ProposalID, Scope: scope, Entry: Side{EntryID: p.EntryID}, Change: p.Change, Text: p.Text, Because: p.Because,
				ProposedBy: p.By, ProposedAt: event.TS.UTC(), State: ProposalOpen,
			})
		case schema.ProposalDecidedPayload:
			i, known := at[p.ProposalID]
			if !known || all[i].State != ProposalOpen {
				continue
			}
			all[i].State = ProposalRejected
			if p.Accepted {
				all[i].State = ProposalAccepted
			}
			all[i].DecidedAt, all[i].DecidedBy, all[i].DecidedBecause = event.TS.UTC(), p.By, p.Because
		}
	}
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b Proposal) int { return cmp.Compare(decidedRank(a), decidedRank(b)) })
	return slices.DeleteFunc(all, func(p Proposal) bool { return !wanted(p) }), nil
}

func decidedRank(p Proposal) int {
	if p.State == ProposalOpen {
		return 0
	}
	return 1
}

// describeProposals adds the current state of the entries, and marks the proposals that are overtaken.
func (l *Ledgers) describeProposals(ctx context.Context, project string, list []Proposal) error {
	ids := make([]string, len(list))
	for i, p := range list {
		ids[i] = p.Entry.EntryID
	}
	slices.Sort(ids)
	rows, err := l.entries.ByID(ctx, entry.InProject(project).IDs(slices.Compact(ids)), entry.Lifecycle)
	if err != nil {
		return err
	}
	for i := range list {
		p := &list[i]
		row, known := rows[p.Entry.EntryID]
		if known {
			p.Entry = sideOf(row)
		}
		if p.State != ProposalOpen || known && row.Status != schema.StatusDeprecated && row.Status != schema.StatusSuperseded {
			continue
		}
		done := false
		if known && p.Change == schema.ChangeCorrect {
			if done, err = correctedBy(ctx, l.entries, row, p.payload()); err != nil {
				return err
			}
		}
		if !done {
			p.State = ProposalOvertaken
		}
	}
	return nil
}
