package graduate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate/pair"
	"axiommind/activities/ledger"
	"axiommind/activities/llm"
	"axiommind/schema"
)

// MaxPairs is the maximum number of pairs in a question.
const MaxPairs = 20

// FindInput asks the model once which entries contradict each other, among the pairs that the rule can't judge.
type FindInput struct {
	// RequestID identifies the request. A repeated request changes nothing and asks no model again.
	RequestID string `json:"request_id"`
	Project   string `json:"project"`
	// User is nil for all users. An empty one selects the entries without a user.
	User  *string   `json:"user,omitempty"`
	Actor string    `json:"actor"`
	At    time.Time `json:"at"`
	// Limit is the maximum number of pairs to ask about, up to [MaxPairs].
	Limit int `json:"limit"`
	// Head is the head of the stream of graduation.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Writer returns the input of the workflow that asks.
func (in FindInput) Writer() schema.WriterInput { return schema.GraduationInput{Project: in.Project} }

// Validate returns an error if the request is invalid.
func (in FindInput) Validate() error {
	if err := checkRequest(in.RequestID, in.Project, in.Actor, in.At); err != nil {
		return err
	}
	if in.Limit < 1 || in.Limit > MaxPairs {
		return fmt.Errorf("limit is %d, want 1 to %d: send several requests", in.Limit, MaxPairs)
	}
	return nil
}

// FindResult has the model's verdicts on pairs of entries. A repeated request has the same result except for the usage.
type FindResult struct {
	// Model names the model.
	Model string `json:"model"`
	// Found counts the recorded conflicts, and Compatible and Unclear the pairs with these verdicts. LeftOut counts
	// contradictions that were not recorded, because a side is no longer believed or the conflict was known before.
	Found      int `json:"found"`
	Compatible int `json:"compatible"`
	Unclear    int `json:"unclear"`
	LeftOut    int `json:"left_out"`
	// Dropped counts the answers that are about none of the pairs.
	Dropped int         `json:"dropped"`
	Pairs   []FoundPair `json:"pairs"`
	// More is true if other pairs are pending.
	More  bool         `json:"more,omitempty"`
	Usage schema.Usage `json:"usage"`
	// Head is the head of the stream of graduation.
	Head schema.StreamHead `json:"head,omitzero"`
}

// FoundPair is a pair that the model was asked about.
type FoundPair struct {
	schema.JudgedPair
	// ConflictID is set if the conflict was recorded.
	ConflictID string `json:"conflict_id,omitempty"`
	OlderTitle string `json:"older_title"`
	NewerTitle string `json:"newer_title"`
}

// FindConflicts asks the model, in one question, which entries contradict each other. The question has pairs that may
// be about the same subject and that the rule can't judge. The pairs are stored before the model is asked, and its raw
// answer before it is parsed, so that a retry costs nothing. A contradiction is recorded as a conflict if both sides
// are still believed. The model is asked about a pair once.
func (a *Activities) FindConflicts(ctx context.Context, in FindInput) (FindResult, error) {
	stream := schema.GraduateStream(in.Project)
	return boundary.Run(eventlog.WithHead(ctx, stream, in.Head), in, func(ctx context.Context, in FindInput) (FindResult, error) {
		result, err := a.findConflicts(ctx, in)
		result.Head = a.log.Head(stream)
		return result, err
	})
}

func (a *Activities) findConflicts(ctx context.Context, in FindInput) (FindResult, error) {
	if err := in.Validate(); err != nil {
		return FindResult{}, boundary.Invalid(schema.ErrorInvalidInput, err)
	}
	if err := a.needsModel("compare the memories yourself"); err != nil {
		return FindResult{}, err
	}
	f := newFinding(a, in)
	judged, done, err := f.readJudged(ctx)
	if err != nil {
		return FindResult{}, err
	}
	if !done {
		asked, err := f.pin(ctx)
		if err != nil || len(asked.Pairs) == 0 {
			return FindResult{Model: f.model, Pairs: []FoundPair{}, More: asked.More}, err
		}
		if judged, err = f.ask(ctx, asked); err != nil {
			return FindResult{}, err
		}
	}
	if done {
		if err := a.project(ctx, schema.GraduateStream(in.Project)); err != nil {
			return FindResult{}, err
		}
	}
	return f.result(ctx, judged)
}

// finding is one question about pairs of entries and its result.
type finding struct {
	a     *Activities
	in    FindInput
	model string
	// key is the key of the answer. It is derived from the request, so that a retry finds the answer.
	key   string
	usage schema.Usage
}

func newFinding(a *Activities, in FindInput) *finding {
	in.At = in.At.UTC().Truncate(time.Microsecond)
	model := a.model.Identity().String()
	return &finding{a: a, in: in, model: model, key: schema.HashParts("find", in.Project, in.RequestID, model, ContradictPrompt)}
}

// answerKeys returns the possible keys of the answer. The second one is used if the first answer can't be parsed.
func (f *finding) answerKeys() []string { return []string{f.key, schema.HashParts(f.key, "again")} }

// readJudged reads the verdicts that an earlier attempt stored.
func (f *finding) readJudged(ctx context.Context) (judged schema.PairsJudgedPayload, done bool, err error) {
	var ids []string
	for _, key := range f.answerKeys() {
		ids = append(ids, schema.EventID(schema.PairsJudgedKey(f.in.Project, key)))
	}
	found, err := f.a.log.GetMany(ctx, ids)
	for _, event := range found {
		judged, err = schema.Decode[schema.PairsJudgedPayload](event)
		return judged, err == nil, err
	}
	return judged, false, err
}

// pin returns the pairs of the question: those that an earlier attempt stored, or new ones, which it stores.
func (f *finding) pin(ctx context.Context) (asked schema.PairsAskedPayload, err error) {
	key := schema.PairsAskedKey(f.in.Project, f.key)
	event, err := f.a.log.Get(ctx, schema.EventID(key))
	if err == nil {
		return schema.Decode[schema.PairsAskedPayload](event)
	}
	if !errors.Is(err, eventlog.ErrNotFound) {
		return asked, err
	}
	return change(ctx, f.a, f.in, func(ctx context.Context) (d ledger.Decision[schema.PairsAskedPayload], err error) {
		if d.Result, err = f.choose(ctx); err != nil || len(d.Result.Pairs) == 0 {
			return d, err
		}
		event, err := f.event(d.Result, f.in.Actor, key)
		d.Events = []schema.Event{event}
		return d, err
	}, nil)
}

// ask asks the model, a second time if its answer can't be parsed, and stores the resulting events.
func (f *finding) ask(ctx context.Context, asked schema.PairsAskedPayload) (judged schema.PairsJudgedPayload, err error) {
	w, err := f.sides(ctx, asked.Pairs)
	if err != nil {
		return judged, err
	}
	var pairs []askedPair
	var labels []string
	for i, p := range asked.Pairs {
		older, newer := w.entries[p.OlderID], w.entries[p.NewerID]
		if older != nil && newer != nil { // Either may have been erased since an earlier attempt.
			pairs, labels = append(pairs, askedPair{pairLabel(i), older.Entry, newer.Entry}), append(labels, pairLabel(i))
		}
	}
	if len(pairs) == 0 {
		return judged, nil
	}
	request := contradictRequest(pairs)
	archive := llm.NewArchive(f.a.log.Store, f.a.model)
	var unreadable error
	for _, key := range f.answerKeys() {
		answer, err := archive.Ask(ctx, llm.Question{Key: key, Request: request, Project: f.in.Project})
		f.usage.Add(answer.Usage)
		if err != nil {
			return judged, fmt.Errorf("ask about %d pairs of entries of project %q: %w", len(pairs), f.in.Project, err)
		}
		answers, dropped, err := readPairAnswers(answer, labels)
		if err == nil {
			return f.record(ctx, asked, answers, dropped, key)
		}
		unreadable = err
	}
	return judged, boundary.Invalid(schema.ErrorModelUnreadable, fmt.Errorf(
		"ask about %d pairs of entries of project %q: neither of two answers of %s can be read: %w", len(pairs), f.in.Project, f.model, unreadable))
}

// sides loads the entries of the pairs.
func (f *finding) sides(ctx context.Context, pairs []schema.EntryPair) (*snapshot, error) {
	w := &snapshot{project: f.in.Project, entries: map[string]*statement{}, conflicts: map[string]conflictState{}}
	var ids []string
	for _, p := range pairs {
		ids = append(ids, p.OlderID, p.NewerID)
	}
	return w, f.a.loader().read(ctx, w, ids)
}

// record stores the verdicts and the resulting conflicts atomically. It reads the entries again, since they may have
// changed while the model answered.
func (f *finding) record(
	ctx context.Context, asked schema.PairsAskedPayload, answers map[string]pairAnswer, dropped int, answerKey string,
) (judged schema.PairsJudgedPayload, err error) {
	return change(ctx, f.a, f.in, func(ctx context.Context) (d ledger.Decision[schema.PairsJudgedPayload], err error) {
		judged, events, err := f.plan(ctx, asked, answers, answerKey)
		if err != nil {
			return d, err
		}
		judged.Dropped = dropped
		said, err := f.event(judged, f.model, schema.PairsJudgedKey(f.in.Project, answerKey))
		d.Result, d.Events = judged, append([]schema.Event{said}, events...)
		return d, err
	}, nil)
}

func (f *finding) plan(
	ctx context.Context, asked schema.PairsAskedPayload, answers map[string]pairAnswer, answerKey string,
) (judged schema.PairsJudgedPayload, events []schema.Event, err error) {
	w, err := f.sides(ctx, asked.Pairs)
	if err != nil {
		return judged, nil, err
	}
	if err := f.a.loader().readConflicts(ctx, w); err != nil {
		return judged, nil, err
	}
	judged = schema.PairsJudgedPayload{Scope: asked.Scope, Model: f.model, Prompt: asked.Prompt, AnswerKey: answerKey, More: asked.More}
	for i, p := range asked.Pairs {
		answer, answered := answers[pairLabel(i)]
		if !answered {
			continue
		}
		one := schema.JudgedPair{EntryPair: p, Verdict: answer.verdict, Reason: answer.reason}
		if answer.verdict == schema.PairContradicts {
			if one.LeftOut = w.uncontestable(p); one.LeftOut == "" {
				event, err := f.detected(w, p, answer, answerKey)
				if err != nil {
					return judged, nil, err
				}
				events = append(events, event)
			}
		}
		judged.Pairs = append(judged.Pairs, one)
	}
	return judged, events, nil
}

// uncontestable returns why there can be no conflict between the two entries, or "".
func (w *snapshot) uncontestable(p schema.EntryPair) string {
	for _, id := range []string{p.OlderID, p.NewerID} {
		if s := w.entries[id]; s == nil || !s.believed() {
			return fmt.Sprintf("entry %q is no longer believed", id)
		}
	}
	if _, known := w.conflicts[schema.ConflictID(w.project, p.OlderID, p.NewerID)]; known {
		return "the conflict was found before"
	}
	return ""
}

// detected returns the event of a conflict that the model found. It ends like a conflict that the rule found.
func (f *finding) detected(w *snapshot, p schema.EntryPair, answer pairAnswer, answerKey string) (schema.Event, error) {
	first, second := inOrder(w.entries[p.OlderID], w.entries[p.NewerID])
	id := schema.ConflictID(f.in.Project, first.ID, second.ID)
	return f.event(schema.ConflictDetectedPayload{
		Scope: first.Scope, ConflictID: id, OlderID: first.ID, NewerID: second.ID, ConflictType: schema.ConflictOfMeaning,
		Reason: answer.reason, Rule: pair.Version, Model: f.model, AnswerKey: answerKey,
	}, f.model, schema.GraduationKey(f.in.Project, schema.ConflictDetected, id, 0))
}

func (f *finding) event(payload any, actor, key string) (schema.Event, error) {
	return schema.NewEvent(payload, schema.Event{TS: f.in.At, Actor: actor, Project: f.in.Project, BuildID: f.in.RequestID, DedupeKey: key})
}

// result counts the verdicts and adds the titles of the entries.
func (f *finding) result(ctx context.Context, judged schema.PairsJudgedPayload) (FindResult, error) {
	out := FindResult{Model: f.model, Dropped: judged.Dropped, More: judged.More, Usage: f.usage, Pairs: []FoundPair{}}
	var ids []string
	for _, p := range judged.Pairs {
		ids = append(ids, p.OlderID, p.NewerID)
	}
	slices.Sort(ids)
	titles, err := f.a.entries.ByID(ctx, entry.InProject(f.in.Project).IDs(slices.Compact(ids)), entry.Statement)
	if err != nil {
		return out, err
	}
	for _, p := range judged.Pairs {
		found := FoundPair{JudgedPair: p, OlderTitle: clipped(titles[p.OlderID].Title), NewerTitle: clipped(titles[p.NewerID].Title)}
		switch {
		case p.Verdict == schema.PairCompatible:
			out.Compatible++
		case p.Verdict != schema.PairContradicts:
			out.Unclear++
		case p.LeftOut != "":
			out.LeftOut++
		default:
			out.Found++
			found.ConflictID = schema.ConflictID(f.in.Project, p.OlderID, p.NewerID)
		}
		out.Pairs = append(out.Pairs, found)
	}
	return out, nil
}
