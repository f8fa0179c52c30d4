package graduate

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"axiommind/activities/boundary"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
)

// Op is the operation of a command.
type Op string

// Operations of commands.
const (
	// OpConfirm confirms that the entries are right. Entries whose quotes are not proven gain the whole sentences
	// around them as evidence.
	OpConfirm Op = "confirm"
	// OpRetire retires the entries, which are then no longer believed. OpRestore makes them active again.
	OpRetire  Op = "retire"
	OpRestore Op = "restore"
	// OpResolve ends conflicts.
	OpResolve Op = "resolve"
	// OpDecide records a decision that rests on the entries.
	OpDecide Op = "decide"
	// OpPropose proposes to change an entry. OpAccept and OpReject end a proposal. Accepting a retirement retires the
	// entry. A correction is accepted once the session of [CorrectionInput] has corrected the entry.
	OpPropose Op = "propose"
	OpAccept  Op = "accept"
	OpReject  Op = "reject"
)

// Command is a person's command to the graduation of a project.
type Command struct {
	// RequestID identifies the command. A repeated command changes nothing.
	RequestID string    `json:"request_id"`
	Project   string    `json:"project"`
	Actor     string    `json:"actor"`
	At        time.Time `json:"at"`
	Op        Op        `json:"op"`
	// EntryIDs are whole ids: those of the entries, or the grounds of a decision.
	EntryIDs []string `json:"entry_ids,omitempty"`
	// TaskIDs are the whole ids of tasks that a decision also rests on.
	TaskIDs []string `json:"task_ids,omitempty"`
	// ConflictIDs are the conflicts to resolve. Keep is the entry that is right, or empty if both sides are.
	ConflictIDs []string `json:"conflict_ids,omitempty"`
	Keep        string   `json:"keep,omitempty"`
	// Because is the person's reason. Action is the decision in words, and User and Agent are its scope.
	Because    string   `json:"because,omitempty"`
	Action     string   `json:"action,omitempty"`
	User       string   `json:"user,omitempty"`
	Agent      string   `json:"agent,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
	// Change is the proposed change of the only entry of EntryIDs, which must belong to User. Text is the corrected
	// statement if Change is a correction.
	Change schema.Change `json:"change,omitempty"`
	Text   string        `json:"text,omitempty"`
	// ProposalID is the whole id of the proposal to accept or to reject.
	ProposalID string `json:"proposal_id,omitempty"`
}

// Writer returns the input of the workflow that runs the command.
func (c Command) Writer() schema.WriterInput { return schema.GraduationInput{Project: c.Project} }

// Redacted returns the command without secrets.
func (c Command) Redacted() boundary.Request {
	redact.Strings(&c.Because, &c.Action, &c.Text)
	return c
}

// maxCommandEntries bounds the ids of a command, so that its input stays well below the size of a payload.
const maxCommandEntries = 500

// Validate returns an error if the command cannot be run.
func (c Command) Validate() error {
	if err := checkRequest(c.RequestID, c.Project, c.Actor, c.At); err != nil {
		return err
	}
	if n := len(c.EntryIDs) + len(c.TaskIDs) + len(c.ConflictIDs); n > maxCommandEntries {
		return fmt.Errorf("a command names at most %d entries, tasks and conflicts, not %d: send several", maxCommandEntries, n)
	}
	if err := c.checkTexts(); err != nil {
		return err
	}
	switch c.Op {
	case OpConfirm, OpRestore:
		return c.needs(len(c.EntryIDs) > 0, "entry_ids")
	case OpRetire:
		return errors.Join(c.needs(len(c.EntryIDs) > 0, "entry_ids"), c.needs(strings.TrimSpace(c.Because) != "", "because"))
	case OpResolve:
		return c.needs(len(c.ConflictIDs) > 0, "conflict_ids")
	case OpDecide:
		return errors.Join(c.needs(len(c.EntryIDs) > 0, "entry_ids"), c.needs(strings.TrimSpace(c.Action) != "", "action"))
	case OpPropose:
		return c.checkProposal()
	case OpAccept, OpReject:
		return c.needs(c.ProposalID != "", "proposal_id")
	default:
		return fmt.Errorf("op is %q, want one of confirm, retire, restore, resolve, decide, propose, accept, reject", c.Op)
	}
}

// maxNameBytes bounds names and ids in a command, and maxTextBytes its sentences.
const (
	maxNameBytes = 1024
	maxTextBytes = 8 << 10
)

// checkTexts returns an error if a text of the command is too long, or is not valid text.
func (c Command) checkTexts() error {
	names := []struct{ field, value string }{
		{"keep", c.Keep}, {"user", c.User}, {"agent", c.Agent}, {"proposal_id", c.ProposalID},
	}
	for _, id := range c.EntryIDs {
		names = append(names, struct{ field, value string }{"entry_ids", id})
	}
	for _, id := range c.TaskIDs {
		names = append(names, struct{ field, value string }{"task_ids", id})
	}
	for _, id := range c.ConflictIDs {
		names = append(names, struct{ field, value string }{"conflict_ids", id})
	}
	for _, n := range names {
		if err := checkText(n.field, n.value, maxNameBytes); err != nil {
			return err
		}
	}
	if strings.ContainsAny(c.Action, "\n\r") {
		return errors.New("action has a line break: give the decision in one line; because takes the reasons")
	}
	return cmp.Or(checkText("because", c.Because, maxTextBytes), checkText("action", c.Action, maxTextBytes),
		checkText("text", c.Text, maxTextBytes))
}

// checkRequest returns an error if one of the fields that every request has is missing or invalid.
func checkRequest(requestID, project, actor string, at time.Time) error {
	switch {
	case requestID == "":
		return errors.New("request_id is empty: give the request one, so that it is done once")
	case project == "":
		return errors.New("project is empty")
	case strings.TrimSpace(actor) == "":
		return errors.New("actor is empty: say who asks for this")
	case actor == actorGraduation || actor == schema.RetiredByCorrection:
		return fmt.Errorf("actor is %q, the name that the program itself goes by: use another one", actor)
	case at.IsZero():
		return errors.New("at is empty: say when this is asked for")
	}
	return cmp.Or(checkText("request_id", requestID, maxNameBytes), checkText("project", project, maxNameBytes), checkText("actor", actor, maxNameBytes))
}

func checkText(field, value string, most int) error {
	switch {
	case len(value) > most:
		return fmt.Errorf("%s has %d bytes, more than %d: shorten it", field, len(value), most)
	case !utf8.ValidString(value):
		return fmt.Errorf("%s is no valid UTF-8: %q", field, clipped(value))
	case strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return fmt.Errorf("%s holds a control character: %q", field, clipped(value))
	}
	return nil
}

func (c Command) needs(has bool, field string) error {
	if has {
		return nil
	}
	return fmt.Errorf("%s is empty, which %s needs", field, c.Op)
}

// CommandResult is the result of a command. A repeated command has the same changes.
type CommandResult struct {
	// Events counts the new events: none if the command was run before.
	Events int `json:"events"`
	// Changes describes each changed entry, conflict and decision in a line, in the order of the command.
	Changes []CommandChange `json:"changes,omitempty"`
	// MoreChanges counts the changes that Changes leaves out.
	MoreChanges int `json:"more_changes,omitempty"`
}

// CommandChange is the change of an entry, a conflict, a decision or a proposal.
type CommandChange struct {
	ID string `json:"id"`
	// Text describes the change in plain words, such as "certified: confirmed by ann".
	Text string `json:"what"`
}

// PassInput asks graduation to consider the changes of the sessions of its project.
type PassInput struct {
	Project string    `json:"project"`
	At      time.Time `json:"at"`
	// Demote also looks for entries that are older than their half-life. It only counts and lists them unless Apply is
	// set.
	Demote bool   `json:"demote,omitempty"`
	Apply  bool   `json:"apply,omitempty"`
	Actor  string `json:"actor,omitempty"`
	// Head is the head of the stream of graduation.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Writer returns the input of the workflow that runs the pass.
func (in PassInput) Writer() schema.WriterInput { return schema.GraduationInput{Project: in.Project} }

// Validate returns an error if the input is invalid.
func (in PassInput) Validate() error {
	if in.Project == "" {
		return errors.New("project is empty")
	}
	if in.Apply && !in.Demote {
		return errors.New("apply is set without demote: there is nothing to apply")
	}
	return nil
}

// PassResult is the result of a pass.
type PassResult struct {
	// Sessions counts the considered sessions. More is true if others are pending, and then nothing is demoted.
	Sessions int  `json:"sessions"`
	More     bool `json:"more,omitempty"`
	// Verified and Certified count the promoted entries, Linked those that say the same as an older one, and Superseded
	// those that a correction replaced. Conflicts and Decisions count the recorded ones.
	Verified   int `json:"verified,omitempty"`
	Certified  int `json:"certified,omitempty"`
	Linked     int `json:"linked,omitempty"`
	Superseded int `json:"superseded,omitempty"`
	Conflicts  int `json:"conflicts,omitempty"`
	Decisions  int `json:"decisions,omitempty"`
	// Demoted counts the entries that were demoted, or would be if Apply were set. Falls lists the first of them.
	Demoted int    `json:"demoted,omitempty"`
	Falls   []Fall `json:"falls,omitempty"`
	// Head is the head of the stream of graduation.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Fall is the demotion of an entry that is older than its half-life.
type Fall struct {
	EntryID string       `json:"entry_id"`
	Title   string       `json:"title"`
	From    schema.Stage `json:"from"`
	To      schema.Stage `json:"to"`
	Reason  string       `json:"reason"`
}
