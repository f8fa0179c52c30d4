package graduate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"axiommind/activities/graduate/obligation"
	"axiommind/activities/graduate/pair"
	"axiommind/schema"
)

// planner derives acts from a snapshot. Each act also changes the snapshot for the later ones.
type planner struct {
	*snapshot
	// goVerifies is true if the Go verifier's answer is enough for a promotion to verified.
	goVerifies bool
	// corrections are the entries that name the entry they correct, in no order.
	corrections []*statement
	acts        []act
	result      PassResult
}

// act is an event to append.
type act struct {
	payload any
	key     string
	at      time.Time
	// build is the build that caused the act, or empty.
	build string
}

// plan returns the acts that follow from the snapshot, in the order to store them, and counts them. It depends on the
// snapshot alone. For a snapshot that includes its acts it plans nothing. It modifies the snapshot.
func plan(w *snapshot, goVerifies bool) ([]act, PassResult) {
	p := &planner{snapshot: w, goVerifies: goVerifies}
	for _, s := range w.entries {
		if s.Corrects != "" {
			p.corrections = append(p.corrections, s)
		}
	}
	focus := p.focused()
	p.correct(focus)
	p.link(focus)
	p.detect(focus)
	p.settle()
	p.verify(focus)
	p.revive(focus)
	p.withdraw(focus)
	p.certify(focus)
	p.decide(focus)
	for _, s := range w.sessions {
		payload := schema.SessionGraduatedPayload{SessionKey: s.SessionKey, Seq: s.seq, Head: w.head, Policy: PolicyVersion, Rule: pair.Version}
		p.acts = append(p.acts, act{payload, schema.SessionGraduatedKey(payload), w.at, s.build})
	}
	p.result.Sessions, p.result.More = len(w.sessions), p.reachesOthers()
	return p.acts, p.result
}

// reachesOthers reports whether an act changes the standing of an entry of a session that this pass does not consider.
// That session becomes pending.
func (p *planner) reachesOthers() bool {
	considered := map[string]bool{}
	for _, s := range p.sessions {
		considered[s.stream] = true
	}
	for _, one := range p.acts {
		var ids []string
		switch payload := one.payload.(type) {
		case schema.EntryRetiredPayload:
			ids = []string{payload.EntryID}
		case schema.ConflictDetectedPayload:
			ids = []string{payload.OlderID, payload.NewerID}
		case schema.ConflictResolvedPayload:
			ids = []string{payload.OlderID, payload.NewerID}
		}
		for _, id := range ids {
			if s := p.entries[id]; s != nil && !considered[s.Session().Stream()] {
				return true
			}
		}
	}
	return false
}

// add plans an act on the subject. about has the statements that it concerns, and after is the position of the last act
// of this kind on the subject.
func (p *planner) add(payload any, eventType, subject string, after uint64, about ...*statement) {
	p.acts = append(p.acts, act{payload, schema.GraduationKey(p.project, eventType, subject, after), p.at, p.cause(about)})
}

// cause returns the build of the first statement whose session is pending.
func (p *planner) cause(about []*statement) string {
	for _, s := range about {
		for _, pending := range p.sessions {
			if s != nil && pending.build != "" && (pending.SessionKey == s.Session() || pending.SessionKey == s.EvidenceSession()) {
				return pending.build
			}
		}
	}
	return ""
}

// correct retires corrected entries. An entry that a person stated as a correction names its target, and entries that
// say the same as the target are wrong too. A session's correction retires the older entries that it contradicts. The
// oldest correction replaces them, in whichever order sessions are processed. Entries that a person restored stay.
func (p *planner) correct(focus []*statement) {
	var wrong []*statement
	for _, s := range focus {
		wrong = append(append(wrong, s), p.around(s)...)
		if target := p.entries[s.Corrects]; target != nil {
			wrong = append(append(wrong, target), p.around(target)...)
		}
	}
	for _, s := range sortedByAge(wrong) {
		byCorrection := s.ended.by == schema.RetiredByCorrection && s.ended.status == schema.StatusSuperseded
		if s.ended.version > 0 && !byCorrection || !byCorrection && !s.isActive() {
			continue
		}
		if by, because := p.correction(s); by != nil && by.ID != s.SupersededBy {
			p.retire(s, by, because)
		}
	}
}

// correction returns the oldest entry that corrects s, and why.
func (p *planner) correction(s *statement) (*statement, string) {
	for _, other := range sortedByAge(slices.Concat(p.around(s), p.corrections)) {
		counts := other.believed() || other.stated() && other.ended.by == schema.RetiredByCorrection
		if !counts || !other.corrects() || other == s || other.Scope != s.Scope {
			continue
		}
		if other.Corrects == s.ID {
			return other, "a person corrected it"
		}
		if !s.stated() || !older(s, other) {
			continue
		}
		if target := p.entries[other.Corrects]; target != nil && target.Scope == s.Scope && target != s && p.relation(s, target).Kind == pair.Restatement {
			return other, "a person corrected an entry that says the same"
		}
		if r := p.relation(s, other); r.Kind == pair.Conflict {
			return other, "its session corrects it: " + r.Reason
		}
	}
	return nil, ""
}

func (p *planner) retire(s, by *statement, because string) {
	p.add(schema.EntryRetiredPayload{
		Scope: s.Scope, EntryID: s.ID, Status: schema.StatusSuperseded, SupersededBy: by.ID, Because: because, By: schema.RetiredByCorrection,
	}, schema.EntryRetired, s.ID, s.ended.version, by, s)
	p.result.Superseded++
	s.Status, s.SupersededBy = schema.StatusSuperseded, by.ID
	s.ended.status, s.ended.by, s.ended.other = schema.StatusSuperseded, schema.RetiredByCorrection, by.ID
}

// link links the entries, and those that say the same as one of them, to the oldest entry that says so.
func (p *planner) link(focus []*statement) {
	for _, s := range p.withSame(focus) {
		if !s.stated() {
			continue
		}
		original, strict := p.original(s)
		if original == s.OriginalID {
			continue
		}
		p.add(schema.EntryLinkedPayload{Scope: s.Scope, EntryID: s.ID, OriginalID: original, Strict: strict, Rule: pair.Version},
			schema.EntryLinked, s.ID, s.linked.version, s, p.entries[original])
		s.OriginalID = original
		if original != "" {
			p.result.Linked++
		}
	}
}

// withSame returns the entries and those that say the same as one of them, the oldest first.
func (p *planner) withSame(focus []*statement) []*statement {
	out := slices.Clone(focus)
	for _, s := range focus {
		for _, other := range p.around(s) {
			if p.relation(s, other).Kind == pair.Restatement {
				out = append(out, other)
			}
		}
	}
	return sortedByAge(out)
}

// original returns the oldest entry that says the same as s and was stated before, or "".
func (p *planner) original(s *statement) (id string, strict bool) {
	for _, other := range p.around(s) {
		if !older(other, s) {
			break
		}
		if r := p.relation(other, s); other.believed() && r.Kind == pair.Restatement {
			return other.ID, r.Strict
		}
	}
	return "", false
}

// detect finds contradictions of the entries. Two entries that a person found both right are not in conflict again.
func (p *planner) detect(focus []*statement) {
	for _, s := range p.reconsidered(focus) {
		if !s.believed() {
			continue
		}
		others := slices.Concat(p.around(s), p.corrections)
		if target := p.entries[s.Corrects]; target != nil {
			others = append(others, target)
		}
		for _, other := range sortedByAge(others) {
			if other == s || other.Scope != s.Scope || !other.believed() {
				continue
			}
			r := p.opposition(s, other)
			if r.Kind != pair.Conflict {
				continue
			}
			first, second := inOrder(s, other)
			id := schema.ConflictID(p.project, first.ID, second.ID)
			before, known := p.conflicts[id]
			bothRight := before.kept == "" && before.by != ResolvedByGraduation
			if known && (before.open || bothRight) {
				continue
			}
			p.add(schema.ConflictDetectedPayload{
				Scope: s.Scope, ConflictID: id, OlderID: first.ID, NewerID: second.ID, ConflictType: r.Type, Reason: r.Reason, Rule: pair.Version,
			}, schema.ConflictDetected, id, before.last, s, other)
			p.conflicts[id] = conflictState{older: first.ID, newer: second.ID, open: true, last: before.last}
			first.Status, second.Status = schema.StatusContested, schema.StatusContested
			first.Conflicts++
			second.Conflicts++
			p.result.Conflicts++
		}
	}
}

// reconsidered returns the entries in focus, and those around one that is no longer believed: without its value, the values
// of the others may be few enough to exclude each other.
func (p *planner) reconsidered(focus []*statement) []*statement {
	out := slices.Clone(focus)
	for _, s := range focus {
		if !s.believed() {
			out = append(out, p.around(s)...)
		}
	}
	return sortedByAge(out)
}

// byCorrection is the type of a conflict between an entry that a person restored and its correction.
const byCorrection = "correction"

// opposition returns the relation of two entries that may contradict each other.
func (p *planner) opposition(a, b *statement) pair.Relation {
	switch {
	case a.Corrects == b.ID || b.Corrects == a.ID:
		return pair.Relation{Kind: pair.Conflict, Type: byCorrection, Reason: "one was stated to correct the other"}
	case !slices.Contains(p.around(a), b) || p.series(a, b):
		return pair.Relation{}
	}
	return p.relation(a, b)
}

// maxValues is the maximum number of values that exclude each other.
const maxValues = 4

// series reports whether the entries are among more than maxValues believed ones of which each two contradict each
// other. The comparison assumes that a statement has one value at a time. So many values refute that: the words that
// differ name things, as in "the alarm for room 17", or are measured again and again.
func (p *planner) series(a, b *statement) bool {
	if a.Corrects == b.ID || b.Corrects == a.ID || p.relation(a, b).Kind != pair.Conflict {
		return false
	}
	a, b = inOrder(a, b)
	values := []*statement{a, b}
	for _, other := range slices.Concat(p.around(a), p.around(b)) {
		if !other.believed() || slices.ContainsFunc(values, func(v *statement) bool { return v == other || p.relation(v, other).Kind != pair.Conflict }) {
			continue
		}
		if values = append(values, other); len(values) > maxValues {
			return true
		}
	}
	return false
}

// settle resolves the open conflicts with a side that is no longer believed, and those of values that turned out to be a
// series.
func (p *planner) settle() {
	for _, id := range sortedKeys(p.conflicts) {
		c := p.conflicts[id]
		first, second := p.entries[c.older], p.entries[c.newer]
		if !c.open || first == nil || second == nil {
			continue
		}
		because, kept, gone := p.ended(first, second)
		if because == "" {
			continue
		}
		payload := schema.ConflictResolvedPayload{
			Scope: first.Scope, ConflictID: id, OlderID: c.older, NewerID: c.newer, Kept: kept, Because: because, By: ResolvedByGraduation,
		}
		p.add(payload, schema.ConflictResolved, id, c.last, gone, first, second)
		c.open, c.kept, c.by = false, payload.Kept, ResolvedByGraduation
		p.conflicts[id] = c
		for _, side := range []*statement{first, second} {
			if side.Conflicts--; side.Conflicts <= 0 && side.Status == schema.StatusContested {
				side.Conflicts, side.Status = 0, schema.StatusActive
			}
		}
	}
}

// ended returns the reason why the conflict of the two is over, or "" if it is open. kept is the id of the one that stays, and
// gone the one that is no longer believed. Of a series all stay, and kept is empty.
func (p *planner) ended(first, second *statement) (because, kept string, gone *statement) {
	switch {
	case first.believed() && second.believed():
		if p.series(first, second) {
			because = fmt.Sprintf("more than %d statements differ only in this: they are about different things or times", maxValues)
		}
		return because, "", nil
	case first.believed():
		kept, gone = first.ID, second
	case second.believed():
		kept, gone = second.ID, first
	default:
		gone = second
	}
	return fmt.Sprintf("entry %q is no longer believed", gone.ID), kept, gone
}

// verify runs the Go verifier on the entries that gained a proof which the check of their own session has not seen.
func (p *planner) verify(focus []*statement) {
	if !p.goVerifies {
		return
	}
	sessions := map[string]*obligation.Session{}
	for _, s := range focus {
		if !s.believed() || !s.gained() || p.down(s) || reaches(s.Stage, schema.StageVerified) {
			continue
		}
		stream := s.EvidenceSession().Stream()
		if sessions[stream] == nil {
			held := map[int]schema.Message{}
			for at, m := range p.messages {
				if at.stream == stream {
					held[at.index] = m
				}
			}
			sessions[stream] = obligation.NewSession(held)
		}
		facts := sessions[stream].Facts(s.Entry)
		if len(facts.Check()) > 0 {
			continue
		}
		p.promote(s, schema.StageVerified, schema.EntryGraduatedPayload{
			Verifier: schema.VerifierGo,
			Reasons: []string{fmt.Sprintf("verified: proven by session %q, and all obligations hold, by the Go verifier",
				s.EvidenceSessionID)},
		})
		p.result.Verified++
	}
}

// promote plans a step of an entry to another stage. It completes the payload, which has the reasons.
func (p *planner) promote(s *statement, to schema.Stage, why schema.EntryGraduatedPayload) {
	why.Scope, why.EntryID, why.From, why.To, why.Policy = s.Scope, s.ID, s.Stage, to, PolicyVersion
	about := []*statement{s}
	for _, id := range why.Sources {
		about = append(about, p.entries[id])
	}
	p.add(why, schema.EntryGraduated, s.ID, s.staged.version, about...)
	s.Stage, s.staged.stage, s.staged.demotes = to, to, why.Demotes
	// A second step in the same pass needs another key.
	s.staged.version++
}

// revive promotes entries that were demoted and have been stated or confirmed again since.
func (p *planner) revive(focus []*statement) {
	for _, s := range p.withSame(focus) {
		if !s.believed() || !s.staged.demotes {
			continue
		}
		at, what := p.lastSaid(s)
		to := cmp.Or(s.sessionStage, schema.StageWorking)
		if !at.After(s.staged.at) || reaches(s.Stage, to) {
			continue
		}
		p.promote(s, to, schema.EntryGraduatedPayload{
			Reasons: []string{fmt.Sprintf("%s: %s on %s, after it had fallen", to, what, at.UTC().Format(time.DateOnly))},
		})
	}
}

// lastSaid returns when the entry was last stated or confirmed, and a word for which of these it was.
func (p *planner) lastSaid(s *statement) (at time.Time, what string) {
	return aging{occurred: s.OccurredAt, restated: p.restated(s), confirmed: s.confirmedAt}.last()
}

// down reports whether the entry was demoted, and neither stated nor confirmed since.
func (p *planner) down(s *statement) bool {
	if !s.staged.demotes {
		return false
	}
	at, _ := p.lastSaid(s)
	return !at.After(s.staged.at)
}

// withdraw revokes the certification of entries that no believed entry corroborates any longer. It does not count as a
// demotion by age: they are certified again once another entry corroborates them.
func (p *planner) withdraw(focus []*statement) {
	for _, s := range p.withSame(focus) {
		if !s.believed() || s.Stage != schema.StageCertified || s.confirmedBy != "" || len(p.sources(s, (*statement).believed)) > 0 {
			continue
		}
		p.promote(s, schema.StageVerified, schema.EntryGraduatedPayload{
			Reasons: []string{"verified: nothing that is believed says the same in another session any more"},
		})
	}
}

// restated returns when an entry that says the same was last stated.
func (p *planner) restated(s *statement) time.Time {
	var last time.Time
	for _, other := range p.around(s) {
		if other.believed() && other.OccurredAt.After(last) && p.relation(s, other).Kind == pair.Restatement {
			last = other.OccurredAt
		}
	}
	return last
}

// certify promotes the entries that were confirmed, or that another session states in the same words from another
// source.
func (p *planner) certify(focus []*statement) {
	for _, s := range p.withSame(focus) {
		if p.down(s) || !s.believed() || !s.EvidenceProven {
			continue
		}
		sources := p.sources(s, (*statement).active)
		reasons, ok := certifying{stage: s.Stage, status: s.Status, confirmedBy: s.confirmedBy, sources: sources}.certifies()
		if !ok {
			continue
		}
		p.promote(s, schema.StageCertified, schema.EntryGraduatedPayload{Reasons: reasons, Sources: sources})
		p.result.Certified++
	}
}

// maxSources bounds the sources of a promotion.
const maxSources = 20

// sources returns the ids of the entries that corroborate s, each from its own source. Only entries for which counts is
// true are considered.
func (p *planner) sources(s *statement, counts func(*statement) bool) []string {
	var out []string
	taken := []*statement{s}
	for _, other := range p.around(s) {
		if len(out) == maxSources {
			break
		}
		if !counts(other) || !reaches(other.Stage, schema.StageVerified) || !p.relation(s, other).Strict ||
			slices.ContainsFunc(taken, func(t *statement) bool { return !p.independent(t, other) }) {
			continue
		}
		out, taken = append(out, other.ID), append(taken, other)
	}
	return out
}

// decide records the decisions that entries state, even if they are contested or superseded now: they were made, and
// the ledger shows their current state. So the result does not depend on which sessions are processed together.
func (p *planner) decide(focus []*statement) {
	for _, s := range focus {
		id := schema.DecisionID(s.ID)
		if s.Type != schema.EntryDecision || !reaches(s.Stage, schema.StageVerified) || p.decided[id] {
			continue
		}
		p.decided[id] = true
		payload := schema.DecisionRecordedPayload{
			Scope: s.Scope, DecisionID: id, Action: s.Title, By: s.User, Confidence: s.Confidence,
			Evidence: []schema.DecisionEvidence{{Kind: schema.GroundEntry, ID: s.ID, Stage: s.Stage, Role: schema.RoleStatement}},
		}
		for _, g := range p.grounds(s) {
			payload.Evidence = append(payload.Evidence, schema.DecisionEvidence{
				Kind: schema.GroundEntry, ID: g.ID, Stage: g.Stage, Role: schema.RoleGround,
			})
		}
		build := cmp.Or(s.checkedBy, p.cause([]*statement{s}))
		p.acts = append(p.acts, act{payload, schema.DecisionRecordedKey(p.project, id), s.OccurredAt, build})
		p.result.Decisions++
	}
}
