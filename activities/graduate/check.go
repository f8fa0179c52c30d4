package graduate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate/idris"
	"axiommind/activities/graduate/obligation"
	"axiommind/activities/session"
	"axiommind/schema"
)

// CheckInput identifies the session and the build.
type CheckInput struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
	// At is the time of the recorded events.
	At time.Time `json:"at"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// CheckResult counts the active entries in the session's stream after the build.
type CheckResult struct {
	// Candidates and Verified count the entries of at least that stage, and Promoted those that the build promoted.
	Candidates int `json:"candidates"`
	Verified   int `json:"verified"`
	Promoted   int `json:"promoted"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// Compiler checks modules.
type Compiler interface {
	// Available reports whether there is a compiler.
	Available() bool
	Check(ctx context.Context, m idris.Module) (idris.Result, error)
}

// CheckEntries checks the obligations of the session's entries that are new or have new evidence since their last
// check. It promotes the entries that meet them. It appends nothing if there is nothing to check.
func (a *Activities) CheckEntries(ctx context.Context, in CheckInput) (CheckResult, error) {
	stream := in.Stream()
	return boundary.Run(eventlog.WithHead(ctx, stream, in.Head), in, func(ctx context.Context, in CheckInput) (CheckResult, error) {
		result, err := CheckSession(ctx, a.log.Store, a.compiler, a.options.IdrisOnly, in)
		result.Head = a.log.Head(stream)
		return result, err
	})
}

// CheckSession does the work of [Activities.CheckEntries] with any compiler. With idrisOnly, only the compiler's answer
// verifies an entry. The result has no head.
func CheckSession(ctx context.Context, log *eventlog.Store, compiler Compiler, idrisOnly bool, in CheckInput) (CheckResult, error) {
	c := &checking{
		log: log, compiler: compiler, idrisOnly: idrisOnly, in: in, fold: entry.NewFold(), promoted: map[string]bool{},
	}
	return c.run(ctx)
}

// checking is one run of CheckEntries.
type checking struct {
	log       *eventlog.Store
	compiler  Compiler
	idrisOnly bool
	in        CheckInput

	fold *entry.Fold
	// last is the session's last check, and lastSeq its position, 0 if there is none. byBuild is true if this build
	// made it.
	last    schema.IdrisCheckedPayload
	lastSeq uint64
	byBuild bool
	// promoted has the ids of the entries that the build promoted.
	promoted map[string]bool
}

func (c *checking) run(ctx context.Context) (CheckResult, error) {
	if err := c.read(ctx); err != nil {
		return CheckResult{}, err
	}
	if open := c.open(); len(open) > 0 {
		if err := c.check(ctx, open); err != nil {
			return CheckResult{}, err
		}
	}
	result := CheckResult{Promoted: len(c.promoted)}
	for _, e := range c.fold.Active() {
		if e.Stage.Rank() >= schema.StageCandidate.Rank() {
			result.Candidates++
		}
		if e.Stage.Rank() >= schema.StageVerified.Rank() {
			result.Verified++
		}
	}
	return result, nil
}

func (c *checking) read(ctx context.Context) error {
	options := eventlog.StreamOptions{Types: append(entry.FoldedTypes(), schema.IdrisChecked)}
	for event, err := range c.log.Stream(ctx, c.in.Stream(), options) {
		if err == nil {
			err = c.add(event)
		}
		if err != nil {
			return fmt.Errorf("read entries of session %q: %w", c.in.SessionID, err)
		}
	}
	return nil
}

// add applies an event of the session's stream.
func (c *checking) add(event schema.Event) error {
	switch event.Type {
	case schema.IdrisChecked:
		p, err := schema.Decode[schema.IdrisCheckedPayload](event)
		if err != nil {
			return err
		}
		c.last, c.lastSeq, c.byBuild = p, event.Seq, event.BuildID == c.in.BuildID
		return nil
	case schema.EntriesPromoted:
		p, err := schema.Decode[schema.EntriesPromotedPayload](event)
		if err != nil {
			return err
		}
		for _, promotion := range p.Promotions {
			if event.BuildID == c.in.BuildID && promotion.To.Rank() > promotion.From.Rank() {
				c.promoted[promotion.EntryID] = true
			}
		}
	}
	return c.fold.Add(event)
}

// open returns the entries to check: those that changed since the last check, or all if a new check can give a stronger
// result. An agent's statement is never checked: it stays working until the user states it.
func (c *checking) open() []entry.Folded {
	all := c.last.Policy != PolicyVersion
	switch {
	case c.last.Verifier == schema.VerifierIdris:
	case c.compiler.Available():
		all = all || !c.byBuild // The last check got no answer: there was no compiler, or it was stopped, or it broke.
	case c.last.Verifier == "":
		all = all || !c.idrisOnly
	}
	var out []entry.Folded
	for _, e := range c.fold.Active() {
		if e.EvidenceAligned && schema.SaidByAgent(e.Evidence) == "" && (all || e.Changed > c.lastSeq) {
			out = append(out, e)
		}
	}
	return out
}

// check checks the entries and records the check and its promotions atomically. Promotions missing from a recorded
// check would never be made.
func (c *checking) check(ctx context.Context, open []entry.Folded) error {
	facts, err := c.facts(ctx, open)
	if err != nil {
		return err
	}
	module := idris.NewModule(facts)
	answer, err := c.compiler.Check(ctx, module)
	if err != nil {
		return fmt.Errorf("check entries of session %q: %w", c.in.SessionID, err)
	}
	p := schema.IdrisCheckedPayload{
		SessionID: c.in.SessionID, Module: module.Hash, Entries: len(open), Status: schema.CheckStatus(answer.Status),
		Version: cmp.Or(answer.Version, NoCompiler), Verifier: c.verifier(answer), Policy: PolicyVersion, Reason: answer.Reason,
	}
	var promotions []schema.Promotion
	for i, e := range open {
		of := sessionCase{entry: e.Entry, module: module.Hash, verifier: p.Verifier, by: describeVerifier(p)}
		of.obligations = obligationsOf(facts[i])
		of.failed = failures(facts[i], answer.Failures)
		for _, f := range of.failed {
			p.Failures = append(p.Failures, schema.ObligationFailure(f))
		}
		if promotion, ok := promote(e, of); ok {
			promotions = append(promotions, promotion)
		}
	}
	return c.append(ctx, p, promotions)
}

// facts returns the values that the obligations of the entries compare.
func (c *checking) facts(ctx context.Context, open []entry.Folded) ([]obligation.Facts, error) {
	s, err := session.Open(ctx, c.log, c.in.SessionKey)
	if err != nil {
		return nil, err
	}
	var messages []int
	for _, e := range open {
		for _, piece := range e.Evidence {
			messages = append(messages, piece.MessageIndex)
		}
	}
	held, err := s.Messages(ctx, messages)
	if err != nil {
		return nil, err
	}
	of := obligation.NewSession(held)
	facts := make([]obligation.Facts, len(open))
	for i, e := range open {
		facts[i] = of.Facts(e.Entry)
	}
	return facts, nil
}

// verifier returns the verifier that promotions to verified rely on, or "" if there is none.
func (c *checking) verifier(answer idris.Result) string {
	switch {
	case answer.Status == idris.Passed || answer.Status == idris.Failed:
		return schema.VerifierIdris
	case c.idrisOnly:
		return ""
	default:
		return schema.VerifierGo
	}
}

// describeVerifier describes the verifier of promotions for people.
func describeVerifier(p schema.IdrisCheckedPayload) string {
	if p.Verifier == schema.VerifierIdris {
		return p.Version + " and the Go verifier"
	}
	return fmt.Sprintf("the Go verifier alone (the compiler is %s)", strings.ReplaceAll(string(p.Status), "_", " "))
}

// obligationsOf counts the obligations of an entry and of its evidence.
func obligationsOf(facts obligation.Facts) int {
	n := 0
	for _, o := range obligation.List() {
		if o.PerPiece {
			n += len(facts.Pieces)
		} else {
			n++
		}
	}
	return n
}

// failures returns the obligations of an entry that one of the verifiers refuses. Those of the Go verifier come first,
// since its reasons are more detailed.
func failures(facts obligation.Facts, compiler []obligation.Failure) []obligation.Failure {
	out := facts.Check()
	for _, f := range compiler {
		same := func(g obligation.Failure) bool { return g.Obligation == f.Obligation && g.Piece == f.Piece }
		if f.EntryID == facts.EntryID && !slices.ContainsFunc(out, same) {
			out = append(out, f)
		}
	}
	return out
}

// promote returns the step of the entry that follows from the rules. An entry is demoted if an obligation fails with
// its present evidence and the rules no longer give it its stage.
func promote(e entry.Folded, of sessionCase) (p schema.Promotion, ok bool) {
	to, reasons := reached(of)
	if to.Rank() < e.Stage.Rank() && len(of.failed) > 0 {
		to = cmp.Or(to, schema.StageWorking)
		reasons = nil
		for _, f := range of.failed {
			reasons = append(reasons, f.Reason)
		}
	} else if to.Rank() <= e.Stage.Rank() {
		return p, false
	}
	return schema.Promotion{EntryID: e.ID, From: e.Stage, To: to, Number: e.Promotions + 1, Reasons: reasons}, to != e.Stage
}

func (c *checking) append(ctx context.Context, p schema.IdrisCheckedPayload, promotions []schema.Promotion) error {
	at := schema.Event{
		TS: c.in.At, Actor: "pipeline", SessionID: c.in.SessionID, Project: c.in.Project, BuildID: c.in.BuildID,
		DedupeKey: schema.IdrisCheckedKey(c.in.SessionKey, p.Module, p.Version, p.Status, c.lastSeq),
	}
	checked, err := schema.NewEvent(p, at)
	if err != nil {
		return err
	}
	events := []schema.Event{checked}
	if len(promotions) > 0 {
		at.DedupeKey = schema.EntriesPromotedKey(c.in.SessionKey, promotions)
		promoted, err := schema.NewEvent(schema.EntriesPromotedPayload{
			SessionID: c.in.SessionID, CheckedEventID: schema.EventID(checked.DedupeKey), Policy: PolicyVersion,
			Verifier: p.Verifier, Promotions: promotions,
		}, at)
		if err != nil {
			return err
		}
		events = append(events, promoted)
	}
	appended, err := c.log.Append(ctx, c.in.Stream(), events)
	if err != nil {
		return err
	}
	for _, event := range appended.Events {
		if err := c.add(event); err != nil {
			return err
		}
	}
	return nil
}
