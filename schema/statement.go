package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxStatementBytes is the maximum size of the text of a statement: less than the maximum of a quote.
const MaxStatementBytes = 8 << 10

// Statement marks a session whose only message is a statement by a person or an agent, and no conversation. The whole
// message becomes one entry, and no model is asked about it.
type Statement struct {
	// Type is the type of the entry, which is no task note. Category is set for facts only.
	Type     EntryType `json:"type"`
	Category string    `json:"category,omitempty"`
	// Corrects is the id of the entry that the statement replaces.
	Corrects string `json:"corrects,omitempty"`
	// By is the name of the agent that makes the statement, empty if a person does. The message then has the role assistant,
	// and its text the class [TrustAgent].
	By string `json:"by,omitempty"`
}

// Providers of the extractors of statements.
const (
	ProviderPerson = "person"
	ProviderAgent  = "agent"
)

// PersonExtractor returns the extractor of a person's statements.
func PersonExtractor() Extractor {
	return Extractor{Provider: ProviderPerson, Model: "statement", PromptVersion: "v1", SchemaVersion: SchemaVersion}
}

// Extractor returns the extractor of the statement, whose provider is a person or an agent instead of a model.
func (s Statement) Extractor() Extractor {
	x := PersonExtractor()
	if s.By != "" {
		x.Provider = ProviderAgent
	}
	return x
}

// Role returns the role of the statement's message.
func (s Statement) Role() Role {
	if s.By != "" {
		return RoleAssistant
	}
	return RoleUser
}

// CheckStatement returns an error if the input has a statement that can't be processed.
func (in ProcessSessionInput) CheckStatement() error {
	s := in.Statement
	switch {
	case s == nil:
		return nil
	case len(in.Queued) > 0 && in.URI == "" && !in.FromLog && in.Retry == "" && in.Messages == nil:
		return s.check() // The queue contains the message.
	case in.URI != "" || in.FromLog || in.Retry != "" || in.Grant != "" || in.Format != "" || in.IncludeTools:
		return errors.New("statement is for one inline message: leave out uri, from_log, retry, grant, format and include_tools")
	case len(in.Messages) != 1 || !strings.EqualFold(in.Messages[0].Role, string(s.Role())):
		return fmt.Errorf("statement wants one message of the role %s, which holds its text", s.Role())
	case !strings.ContainsFunc(in.Messages[0].Content, Worded):
		return errors.New("the statement has no letter and no digit: give it a text")
	case strings.HasPrefix(strings.TrimSpace(in.Messages[0].Content), ScheduledMark):
		return fmt.Errorf("the statement begins with %s, the mark of a message that no person wrote: reword it", ScheduledMark)
	case len(in.Messages[0].Content) > MaxStatementBytes:
		return fmt.Errorf("the statement has %d bytes, more than %d: state its main point, or process the text as a session",
			len(in.Messages[0].Content), MaxStatementBytes)
	}
	return s.check()
}

// check returns an error if the statement is invalid, regardless of its text.
func (s Statement) check() error {
	switch {
	case s.Type == EntryTaskNote:
		return errors.New("a task note can't be stated: tasks have commands of their own")
	case !slices.Contains(EntryTypes(), s.Type):
		return fmt.Errorf("statement has the type %q: want fact, decision, insight or reference", s.Type)
	case s.Category != "" && s.Type != EntryFact:
		return fmt.Errorf("statement has the category %q, which is for facts: it is of the type %q", s.Category, s.Type)
	case s.Category != "" && !slices.Contains(Categories(), s.Category):
		return fmt.Errorf("statement has the category %q: want one of %q", s.Category, Categories())
	case s.By != "" && s.Corrects != "":
		return errors.New("statement by an agent corrects nothing: leave out corrects, and propose the correction to a person")
	case len(s.By) > MaxNameBytes:
		return fmt.Errorf("by has %d bytes, more than %d: shorten the agent's name", len(s.By), MaxNameBytes)
	case !utf8.ValidString(s.By) || strings.ContainsFunc(s.By, unicode.IsControl):
		return fmt.Errorf("by is %q, which is no name: leave out control characters and invalid UTF-8", s.By)
	}
	return nil
}

// Worded reports whether the character can be part of a word: a letter or a number.
func Worded(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// StatementSessionID returns the id of the session of a statement, so that the same statement is one session however often
// it is made.
func (in ProcessSessionInput) StatementSessionID() string {
	s, kind := in.Statement, "statement-"
	if s.Corrects != "" {
		kind = "correction-"
	}
	parts := []string{in.Project, in.User, in.Agent, string(s.Type), s.Category, s.Corrects, s.By}
	for _, m := range in.Messages {
		parts = append(parts, m.Content)
	}
	return kind + HashParts(parts...)[:20]
}
