package schema

// Change is what a proposal asks for.
type Change string

// Changes.
const (
	// ChangeCorrect puts a statement in the entry's place.
	ChangeCorrect Change = "correct"
	// ChangeRetire ends the time in which the entry is believed.
	ChangeRetire Change = "retire"
)

// Changes returns all changes that can be proposed.
func Changes() []Change { return []Change{ChangeCorrect, ChangeRetire} }

// ChangeProposedPayload asks to change an entry. It changes nothing until a [ProposalDecidedPayload] accepts it.
type ChangeProposedPayload struct {
	Scope
	ProposalID string `json:"proposal_id"`
	EntryID    string `json:"entry_id"`
	Change     Change `json:"change"`
	// Text is what is right, in one line. It is empty unless Change is ChangeCorrect.
	Text    string `json:"text,omitempty"`
	Because string `json:"because"`
	// By is who proposes, such as "mcp/claude-code".
	By string `json:"by"`
}

// ProposalDecidedPayload ends a proposal. What follows for the entry is other events.
type ProposalDecidedPayload struct {
	Scope
	ProposalID string `json:"proposal_id"`
	EntryID    string `json:"entry_id"`
	// Accepted is false if the proposal was rejected.
	Accepted bool   `json:"accepted"`
	Because  string `json:"because,omitempty"`
	// By is a person's name, or that of a policy.
	By string `json:"by"`
}

// ProposalID returns the id of the proposal. Whoever asks for the same change, and for whatever reason, makes the same
// proposal.
func ProposalID(scope Scope, entryID string, change Change, text string) string {
	return DerivedID("proposal", scope.Project, scope.User, scope.Agent, entryID, string(change), text)
}
