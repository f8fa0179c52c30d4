package schema

// Change is the kind of change that a proposal asks for.
type Change string

// Changes.
const (
	// ChangeCorrect replaces the entry by a statement.
	ChangeCorrect Change = "correct"
	// ChangeRetire ends the time for which the entry is believed.
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
	// Text is the corrected statement, in one line. It is empty unless Change is ChangeCorrect.
	Text    string `json:"text,omitempty"`
	Because string `json:"because"`
	// By is the name of the proposer, such as "mcp/claude-code".
	By string `json:"by"`
}

// Declares returns the proposal's id.
func (p ChangeProposedPayload) Declares() (id string, inMemory bool) { return p.ProposalID, false }

// Words calls f with the corrected statement.
func (p ChangeProposedPayload) Words(f func(string)) { f(p.Text) }

// ProposalDecidedPayload ends a proposal. Other events record its consequences for the entry.
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

// ProposalID returns the id of the proposal. The same change is the same proposal, whoever asks for it and why.
func ProposalID(scope Scope, entryID string, change Change, text string) string {
	return DerivedID("proposal", scope.Project, scope.User, scope.Agent, entryID, string(change), text)
}
