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

// CheckInput names the session and the build.
type CheckInput struct {
	schema.SessionKey
	BuildID string `json:"build_id"`
	// At is the time of what is recorded.
	At time.Time `json:"at"`
	// Head is the head of the session's stream.
	Head schema.StreamHead `json:"head,omitzero"`
}

// CheckResult counts the session's active entries, as its stream has them after the build.
type CheckResult struct {
	// Candidates and Verified are at least of the stage. Promoted are those that the build has lifted.
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

// CheckEntries checks the obligations of the session's entries that are new, or whose evidence is another since they
// were checked last, and lifts those of which they hold. It appends nothing if there are none.
func (a *Activities) CheckEntries(ctx context.Context, in CheckInput) (CheckResult, error) {
	stream := in.Stream()
	return boundary.Run(eventlog.WithHead(ctx, stream, in.Head), in, func(ctx context.Context, in CheckInput) (CheckResult, error) {
		result, err := CheckSession(ctx, a.log, a.compiler, a.options.IdrisOnly, in)
		result.Head = a.log.Head(stream)
		return result, err
	})
}

// CheckSession is the work of [Activities.CheckEntries], with any compiler. With idrisOnly the compiler's answer alone verifies an
// entry. The result has no head.
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
	// last is the session's last check, and lastSeq its position: 0 if there is none. byBuild is true if this build made it.
	last    schema.IdrisCheckedPayload
	lastSeq uint64
	byBuild bool
	// promoted holds the ids of the entries that the build has lifted.
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

// add takes in an event of the session's stream.
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

// open returns the entries to check: those that no check has seen as they are now, or all if another check would be more.
// An agent's statement is never among them: it stays working until its evidence is the word of the user.
func (c *checking) open() []entry.Folded {
	all := c.last.Policy != PolicyVersion
	switch {
	case c.last.Verifier == schema.VerifierIdris:
	case c.compiler.Available():
		all = all || !c.byBuild // The last answer was none: there was no compiler, or it was stopped, or it broke.
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

// check checks the entries and records what follows, all at once: a check without its promotions would never get them.
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

// facts returns what the obligations of the entries compare.
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

// verifier returns what stands behind promotions to verified, or nothing if nothing may.
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

// describeVerifier says for people what stands behind promotions.
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

// failures returns the obligations of an entry that one of the verifiers refuses: the compiler's answer comes after Go's,
// which says more.
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

// promote returns the step of the entry that follows from the rules. An entry falls if it was lifted by evidence that it
// no longer has, and an obligation does not hold of what it has now.
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
