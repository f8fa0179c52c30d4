package graduate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate/obligation"
	"axiommind/activities/llm"
	"axiommind/activities/session"
	"axiommind/schema"
)

// MaxAsked is the maximum number of entries in a question.
const MaxAsked = 20

// AskInput asks the model, once, whether the whole sentences around the quotes of entries state them.
type AskInput struct {
	// RequestID identifies the request. A repeated request changes nothing and asks no model again.
	RequestID string    `json:"request_id"`
	Project   string    `json:"project"`
	Actor     string    `json:"actor"`
	At        time.Time `json:"at"`
	// EntryIDs are whole ids.
	EntryIDs []string `json:"entry_ids"`
	// Head is the head of the stream of graduation.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Writer returns the input of the workflow that asks.
func (in AskInput) Writer() schema.WriterInput { return schema.GraduationInput{Project: in.Project} }

// Validate returns an error if the request is invalid.
func (in AskInput) Validate() error {
	if err := checkRequest(in.RequestID, in.Project, in.Actor, in.At); err != nil {
		return err
	}
	if len(in.EntryIDs) == 0 || len(in.EntryIDs) > MaxAsked {
		return fmt.Errorf("entry_ids has %d ids, want 1 to %d: send several requests", len(in.EntryIDs), MaxAsked)
	}
	return nil
}

// AskResult has the model's verdicts on the entries.
type AskResult struct {
	// Model names the model.
	Model string `json:"model"`
	// Confirmed counts the entries that the model finds stated, and Doubted those that it does not.
	Confirmed int `json:"confirmed"`
	Doubted   int `json:"doubted"`
	// Entries are in the order of the request.
	Entries []AskedEntry `json:"entries"`
	Usage   schema.Usage `json:"usage"`
	// Head is the head of the stream of graduation.
	Head schema.StreamHead `json:"head,omitzero"`
}

// AskedEntry is the result for one entry of the request.
type AskedEntry struct {
	ID string `json:"id"`
	// Outcome is one of the constants below, and Reason explains it.
	Outcome AskOutcome `json:"outcome"`
	Reason  string     `json:"reason"`
}

// AskOutcome is the outcome of asking about an entry.
type AskOutcome string

// Outcomes.
const (
	AskConfirmed AskOutcome = "confirmed"
	AskDoubted   AskOutcome = "doubted"
	// AskLeftOut: the model was not asked, because the entry is already proven or can't be proven this way.
	AskLeftOut AskOutcome = "left_out"
)

// AskEntries asks the model, in one question, whether the whole sentences around the quotes of the entries state them.
// A stated entry gains these sentences as evidence and is verified. The raw answer is stored before it is parsed.
func (a *Activities) AskEntries(ctx context.Context, in AskInput) (AskResult, error) {
	stream := schema.GraduateStream(in.Project)
	return boundary.Run(eventlog.WithHead(ctx, stream, in.Head), in, func(ctx context.Context, in AskInput) (AskResult, error) {
		result, err := a.askEntries(ctx, in)
		result.Head = a.log.Head(stream)
		return result, err
	})
}

func (a *Activities) askEntries(ctx context.Context, in AskInput) (AskResult, error) {
	if err := a.needsModel("confirm the entries yourself"); err != nil {
		return AskResult{}, err
	}
	q := newQuestion(a, in)
	if err := q.readAnswered(ctx); err != nil {
		return AskResult{}, err
	}
	if q.done {
		// An earlier attempt has stored the result.
		return q.result, a.project(ctx, schema.GraduateStream(in.Project))
	}
	if err := q.prepare(ctx); err != nil {
		return AskResult{}, err
	}
	if len(q.asked) == 0 {
		return q.result, nil
	}
	if err := q.ask(ctx); err != nil {
		return AskResult{}, err
	}
	if _, err := a.log.Append(ctx, schema.GraduateStream(in.Project), q.events); err != nil {
		return AskResult{}, err
	}
	return q.result, a.project(ctx, schema.GraduateStream(in.Project))
}

// needsModel returns an error if no language model is configured. The hint is the alternative for a person.
func (a *Activities) needsModel(hint string) error {
	if _, local := a.model.(llm.Local); !local {
		return nil
	}
	return boundary.Invalid(schema.ErrorGraduationRefused, fmt.Errorf(
		"no model is configured that can read: this worker has %s. Start it with --model-provider, or %s", a.model.Identity(), hint))
}

// question is one question about entries and its result.
type question struct {
	a   *Activities
	in  AskInput
	key string

	asked []asked
	// rows are the entries of the question, and widened their evidence, in the order of asked.
	rows    []entry.Row
	widened [][]schema.Evidence
	// place has the index of each of them in the result.
	place  []int
	result AskResult
	events []schema.Event
	done   bool
}

// newQuestion returns the question of a request. The key of the answer is derived from the request. So a retry finds
// the answer even if the entries have changed meanwhile.
func newQuestion(a *Activities, in AskInput) *question {
	model := a.model.Identity().String()
	return &question{
		a: a, in: in, key: schema.HashParts("ask", in.Project, in.RequestID, model, StatedPrompt),
		result: AskResult{Model: model, Entries: make([]AskedEntry, len(in.EntryIDs))},
	}
}

// answerKeys returns the possible keys of the answer. The second one is used if the first answer can't be parsed.
func (q *question) answerKeys() []string { return []string{q.key, schema.HashParts(q.key, "again")} }

// readAnswered reads the result that an earlier attempt stored.
func (q *question) readAnswered(ctx context.Context) error {
	var ids []string
	for _, key := range q.answerKeys() {
		for _, id := range q.in.EntryIDs {
			ids = append(ids, schema.EventID(schema.EntryAnsweredKey(q.in.Project, id, key)))
		}
	}
	found, err := q.a.log.GetMany(ctx, ids)
	if err != nil || len(found) == 0 {
		return err
	}
	q.done = true
	for i, id := range q.in.EntryIDs {
		q.result.Entries[i] = AskedEntry{id, AskLeftOut, "the model was not asked about it"}
		for n := i; n < len(ids); n += len(q.in.EntryIDs) {
			event, ok := found[ids[n]]
			switch {
			case !ok:
			case event.Type == schema.EntryConfirmed:
				q.count(i, AskConfirmed, "the sentences state it")
			default:
				p, err := schema.Decode[schema.EntryDoubtedPayload](event)
				if err != nil {
					return err
				}
				q.count(i, AskDoubted, p.Reason)
			}
		}
	}
	return nil
}

func (q *question) count(place int, outcome AskOutcome, reason string) {
	switch outcome {
	case AskConfirmed:
		q.result.Confirmed++
	case AskDoubted:
		q.result.Doubted++
	}
	q.result.Entries[place] = AskedEntry{q.in.EntryIDs[place], outcome, reason}
}

// prepare reads the entries and the sentences around their quotes.
func (q *question) prepare(ctx context.Context) error {
	rows, err := q.a.entries.ByID(ctx, entry.InProject(q.in.Project).IDs(q.in.EntryIDs), entry.Whole)
	if err != nil {
		return err
	}
	for i, id := range q.in.EntryIDs {
		row, ok := rows[id]
		if !ok {
			return boundary.Invalid(schema.ErrorEntryNotFound, fmt.Errorf("project %q has no entry %q: give whole ids, as search prints them", q.in.Project, id))
		}
		delete(rows, id) // An entry that is named twice is asked about once.
		reason, err := q.add(ctx, row, i)
		if err != nil {
			return err
		}
		if reason != "" {
			q.count(i, AskLeftOut, reason)
		}
	}
	return nil
}

// messages returns the messages that the entry quotes, by index.
func (q *question) messages(ctx context.Context, row entry.Row) (map[int]schema.Message, error) {
	s, err := session.Open(ctx, q.a.log.Store, row.EvidenceSession())
	if err != nil {
		return nil, err
	}
	out := map[int]schema.Message{}
	for _, e := range row.Evidence {
		if _, known := out[e.MessageIndex]; known || !e.Found {
			continue
		}
		messages, err := s.Range(ctx, e.MessageIndex, e.MessageIndex+1)
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			out[e.MessageIndex] = m
		}
	}
	return out, nil
}

// add adds the entry to the question, or returns why it is left out.
func (q *question) add(ctx context.Context, row entry.Row, place int) (reason string, err error) {
	switch {
	case row.EvidenceProven:
		return "it is proven already", nil
	case row.Status != schema.StatusActive && row.Status != schema.StatusContested:
		return "it is no longer believed", nil
	case row.Type == schema.EntryTaskNote:
		return "it is a note of a task, which says more than its title", nil
	}
	widened, err := WholeSentences(ctx, q.a.log.Store, row.EvidenceSession(), row.Entry)
	if known, ok := errors.AsType[boundary.Failure](err); ok && known.FailureType() == schema.ErrorGraduationRefused {
		return err.Error(), nil
	}
	if err != nil {
		return "", err
	}
	messages, err := q.messages(ctx, row)
	if err != nil {
		return "", err
	}
	next := asked{label: askLabel(len(q.asked)), statement: row.Title}
	for _, e := range widened {
		if len(e.Text) > schema.MaxPassage {
			return fmt.Sprintf("the sentences around a quote of message %d are too long to ask about", e.MessageIndex), nil
		}
		next.passages = append(next.passages, passage{messages[e.MessageIndex].Role, e.Text})
	}
	if failed := obligations(row.Entry, widened, messages); failed != "" {
		return failed, nil
	}
	q.asked, q.rows, q.widened, q.place = append(q.asked, next), append(q.rows, row), append(q.widened, widened), append(q.place, place)
	return "", nil
}

// obligations returns the first obligation that the entry fails with the evidence, or "".
func obligations(e schema.Entry, widened []schema.Evidence, messages map[int]schema.Message) string {
	e.Evidence, e.EvidenceRule, e.EvidenceAligned, e.EvidenceProven = widened, evidenceRule, true, true
	for _, failure := range obligation.NewSession(messages).Facts(e).Check() {
		return failure.Reason
	}
	return ""
}
