package erase

import (
	"encoding/json"
	"slices"

	"axiommind/activities/session"
	"axiommind/activities/tier"
	"axiommind/schema"
)

// forgotten replaces an erased text.
var forgotten = schema.Redacted("forgotten")

// verdict is the outcome for an event.
type verdict struct {
	erased  bool
	changed bool
	// payload is the remainder of a changed event.
	payload json.RawMessage
	// answers are the keys of the model answers that the event depends on, if it is erased or changed.
	answers []string
}

// pass is one pass over the log. Its fields memory and items are reset for each stream.
type pass struct {
	*gone
	// parts are the lost messages of sessions that lose only some, by stream.
	parts map[string]*part
	// searched is true if the text to erase is looked for in the current event.
	searched bool
	// memory is the state of the memory being read.
	memory memoryPass
	// items are the indexes of the erased items of the batch.
	items map[int]bool
	// gathered are the ids of the dream_gathered events that contain erased content.
	gathered map[string]bool
	// regraduate are the projects that lost a result of graduation. Graduation then considers all their sessions again.
	regraduate map[string]bool
}

// part is the part of a session that is erased.
type part struct {
	key schema.SessionKey
	// indexes and keys are those of its erased messages.
	indexes map[int]bool
	keys    map[string]bool
}

func (p *part) between(first, last int) bool {
	for index := range p.indexes {
		if index >= first && index <= last {
			return true
		}
	}
	return false
}

// memoryPass is the state of a pass over one memory's stream.
type memoryPass struct {
	// touched are the dated files that contained erased content.
	touched map[string]bool
	// texts are the new texts of the versions of core memory, and reduced is true once one of them lost an item.
	texts   map[int]string
	reduced bool
	// lost are the texts of erased items.
	lost map[string]bool
}

// begin begins a stream.
func (p *pass) begin() {
	p.memory = memoryPass{touched: map[string]bool{}, texts: map[int]string{}, lost: map[string]bool{}}
	p.items = map[int]bool{}
}

// judge returns the verdict on an event of a stream that is not erased as a whole.
func (p *pass) judge(e schema.Event, payload any) (v verdict, err error) {
	if p.ofErased(e) {
		p.note(payload)
		return verdict{erased: true, answers: answersOf(payload)}, nil
	}
	p.searched = p.searches(e, payload)
	v, special, err := p.special(e, payload)
	if err == nil && !special {
		v.payload, v.erased, v.changed, err = p.reduce(e, p.searched)
	}
	if err != nil {
		return verdict{}, err
	}
	if v.erased {
		v.changed = false
		p.note(payload)
		if project, err := schema.ParseGraduateStream(e.Stream); err == nil && e.Type != schema.SessionGraduated {
			p.regraduate[project] = true
		}
	}
	if v.erased || v.changed {
		v.answers = append(v.answers, answersOf(payload)...)
	}
	return v, nil
}

// ofErased reports whether the columns of the event name the erased project or an erased session.
func (p *pass) ofErased(e schema.Event) bool {
	if p.scope.Kind() == schema.EraseProject && e.Project == p.scope.Project {
		return true
	}
	o := ownerOf(e)
	return o.memory && e.SessionID != "" && p.ofSession(schema.SessionKey{
		Scope: schema.Scope{Project: e.Project, User: o.user, Agent: o.agent}, SessionID: e.SessionID,
	})
}

// note records the facts about an erased event that later events of the stream depend on.
func (p *pass) note(payload any) {
	switch x := payload.(type) {
	case schema.ContextFlushedPayload:
		p.touch(schema.RecordDaily, x.Date)
	case schema.RecordEditedPayload:
		p.touch(x.Kind, x.Date)
	}
}

func (p *pass) touch(kind schema.RecordKind, date string) { p.memory.touched[string(kind)+date] = true }

func (p *pass) touched(kind schema.RecordKind, date string) bool {
	return p.memory.touched[string(kind)+date]
}

// special returns the verdict on an event whose type has a rule of its own.
func (p *pass) special(e schema.Event, payload any) (v verdict, special bool, err error) {
	var left any
	switch x := payload.(type) {
	case schema.SessionIngestedPayload:
		if p.parts[e.Stream] == nil {
			return v, true, nil
		}
		left, v.changed = p.messages(e, x)
	case schema.OriginalSealedPayload:
		part := p.parts[e.Stream]
		v.erased = part != nil && part.keys[x.Message]
		return v, true, nil
	case schema.MemoryExtractedPayload:
		left, v.changed = p.extracted(e, x, &v)
	case schema.ContextFlushedPayload:
		part := p.parts[x.Stream()]
		if part == nil || !part.between(x.First, x.Last) {
			return v, false, nil
		}
		v.erased = true
		return v, true, nil
	case schema.RecordEditedPayload:
		// The edited text contained erased content, and the person's own words can't be separated from it.
		v.erased = p.touched(x.Kind, x.Date) || p.containsText(x.Text)
		return v, true, nil
	case schema.CoreCommittedPayload:
		left, v.changed = p.core(e, x)
	case schema.DreamFinishedPayload:
		left, v.changed = p.dream(x, &v)
	case schema.EntryGraduatedPayload:
		// The step depends on all of its sources.
		v.erased = p.ids[x.EntryID] || slices.ContainsFunc(x.Sources, func(id string) bool { return p.ids[id] }) || p.isOwner(x.Scope)
		return v, true, nil
	case schema.SessionGraduatedPayload:
		v.erased = p.regraduate[x.Project] || p.ofSession(x.SessionKey) || p.isOwner(x.Scope)
		return v, true, nil
	case schema.DecisionRecordedPayload:
		left, v.changed = p.decision(x, &v)
		if !v.erased && (p.containsText(x.Action) || p.isOwner(x.Scope)) {
			v.erased = true
		}
	case schema.BatchListedPayload:
		left, v.changed = p.listed(x)
	case schema.BatchReportedPayload:
		n := len(x.Outcomes)
		x.Outcomes = slices.DeleteFunc(x.Outcomes, func(o schema.BatchOutcome) bool { return p.items[o.Index] })
		left, v.changed = x, len(x.Outcomes) < n
	case schema.TaskBlockersSetPayload:
		return p.blockers(e, x)
	default:
		return v, false, nil
	}
	if v.changed && !v.erased {
		v.payload, err = json.Marshal(left)
	}
	return v, true, err
}

// containsText reports whether the text of the current event contains the one to erase.
func (p *pass) containsText(text string) bool { return p.searched && p.contains(text) }

// isOwner reports whether the scope belongs to the erased user or project.
func (p *pass) isOwner(s schema.Scope) bool {
	switch p.scope.Kind() {
	case schema.EraseUser:
		return s.User == p.scope.User
	case schema.EraseProject:
		return s.Project == p.scope.Project
	default:
		return false
	}
}

// messages removes the texts of erased messages. The messages stay, with the keys by which the next import recognizes
// them.
func (p *pass) messages(e schema.Event, x schema.SessionIngestedPayload) (any, bool) {
	part, changed := p.parts[e.Stream], false
	for i, m := range x.Messages {
		if part.indexes[m.Index] && m.Text != forgotten {
			x.Messages[i].Text, x.Messages[i].Author, changed = forgotten, "", true
		}
	}
	if changed {
		x.Tokens = session.Tokens(x.Messages)
	}
	return x, changed
}

// extracted removes the entries that were extracted from erased messages. It keeps their places, because other events
// refer to entries by index.
func (p *pass) extracted(e schema.Event, x schema.MemoryExtractedPayload, v *verdict) (any, bool) {
	part, changed := p.parts[e.Stream], false
	of := func(entry schema.ExtractedEntry) bool {
		if part != nil && slices.ContainsFunc(entry.Evidence, func(q schema.Quote) bool { return part.indexes[q.MessageIndex] }) {
			return true
		}
		data, err := json.Marshal(entry)
		return err != nil || p.containsJSON(data)
	}
	for i, entry := range x.Entries {
		if entry.Title != forgotten && of(entry) {
			x.Entries[i] = schema.ExtractedEntry{Type: entry.Type, Title: forgotten, Evidence: []schema.Quote{}}
			changed = true
		}
	}
	if part != nil && part.between(x.Window.First, x.Window.Last) {
		// The answer was read from all of the window.
		changed = changed || len(x.Rejected) > 0
		x.Rejected, v.answers = nil, x.ResponseKeys
	}
	return x, changed
}

// containsJSON reports whether a string of the JSON contains the text to erase.
func (p *pass) containsJSON(data []byte) bool {
	found := false
	eachString(data, func(s string) { found = found || p.containsText(s) })
	return found
}

// core removes the items of a version of core memory that depend on erased content, also those in its list of dropped
// items.
func (p *pass) core(e schema.Event, x schema.CoreCommittedPayload) (any, bool) {
	memory := ownerOf(e)
	ofGone := func(texts []string, sources []string) bool {
		return slices.ContainsFunc(texts, p.containsText) ||
			slices.ContainsFunc(sources, func(id string) bool { return p.named(memory, id) })
	}
	items, dropped := len(x.Items), len(x.Dropped)
	x.Items = slices.DeleteFunc(x.Items, func(i schema.CoreItem) bool {
		gone := ofGone([]string{i.Text, i.Heading}, i.Sources)
		if gone {
			p.memory.lost[i.Text] = true
		}
		return gone
	})
	for _, d := range x.Dropped { // It may have left in the same version as the items that it stated.
		if ofGone([]string{d.Text}, d.Sources) {
			p.memory.lost[d.Text] = true
		}
	}
	lost := len(x.Items) < items
	p.memory.reduced = p.memory.reduced || lost
	x.Dropped = slices.DeleteFunc(x.Dropped, func(d schema.DroppedItem) bool {
		// An item without a source is text by a model that had read erased content.
		return ofGone([]string{d.Text, d.By, d.Detail}, d.Sources) || p.memory.reduced && len(d.Sources) == 0
	})
	changed := false
	for i, d := range x.Dropped {
		if p.memory.lost[d.By] { // The replacing item is erased.
			x.Dropped[i].By, changed = "", true
		}
	}
	if lost || p.containsText(x.Text) {
		x.Text, lost = tier.RenderCore(x.Items), true
	}
	before, known := p.memory.texts[x.Parent]
	p.memory.texts[x.Version] = x.Text
	changed = changed || lost || len(x.Dropped) < dropped || p.containsText(x.Reason)
	if p.containsText(x.Reason) {
		x.Reason = ""
	}
	if diff := tier.Diff(before, x.Text, tier.VersionName(x.Parent), tier.VersionName(x.Version)); (known || x.Parent == 0) && p.memory.reduced && diff != x.Diff {
		x.Diff, changed = diff, true
	}
	return x, changed
}

// dream removes the text of a dream that read erased content. Its days count as unread, so that the next dream reads
// their remainder.
func (p *pass) dream(x schema.DreamFinishedPayload, v *verdict) (any, bool) {
	if x.Gathered == "" || !p.gathered[x.Gathered] && !p.containsText(x.Diary) && !p.containsText(x.Reason) {
		return x, false
	}
	if x.Diary != "" {
		p.touch(schema.RecordDiary, x.Date)
	}
	v.answers = x.Responses
	x.Diary, x.Reason, x.Gathered, x.Responses, x.Dropped, x.Days = "", "", "", nil, nil, []schema.Day{}
	if x.Status == schema.DreamIsRefused {
		x.Reason = forgotten
	}
	return x, true
}

// decision removes erased evidence from a decision. A decision that loses its statement or all of its evidence is
// erased.
func (p *pass) decision(x schema.DecisionRecordedPayload, v *verdict) (any, bool) {
	n, renamed := len(x.Evidence), p.scope.Kind() == schema.EraseUser && x.By == p.scope.User
	if renamed {
		x.By = forgottenUser
	}
	v.erased = p.ids[x.DecisionID] || slices.ContainsFunc(x.Evidence, func(d schema.DecisionEvidence) bool {
		return d.Role == schema.RoleStatement && p.ids[d.ID]
	})
	x.Evidence = slices.DeleteFunc(x.Evidence, func(d schema.DecisionEvidence) bool { return p.ids[d.ID] })
	v.erased = v.erased || n > 0 && len(x.Evidence) == 0
	return x, renamed || len(x.Evidence) < n
}

// listed clears the erased items of a batch, but keeps their places, because its workflow counts by them.
func (p *pass) listed(x schema.BatchListedPayload) (any, bool) {
	changed := false
	for i, item := range x.Items {
		if item.RefusedType != schema.ErrorErased && p.ofItem(item) {
			x.Items[i] = schema.BatchItem{Index: item.Index, Name: forgottenUser, Refused: "it was forgotten", RefusedType: schema.ErrorErased}
			changed = true
		}
		if x.Items[i].RefusedType == schema.ErrorErased {
			p.items[item.Index] = true
		}
	}
	n := len(x.PassedOver)
	x.PassedOver = slices.DeleteFunc(x.PassedOver, func(o schema.PassedOver) bool { return p.containsText(o.Name) || p.containsText(o.Reason) })
	return x, changed || len(x.PassedOver) < n
}

func (p *pass) ofItem(item schema.BatchItem) bool {
	in := item.Input
	return p.isOwner(schema.Scope{Project: in.Project, User: in.User}) || p.ofSession(in.Key())
}

// blockers turns blocking tasks that are erased into conditions, named by the words of the blocked task's own event.
func (p *pass) blockers(e schema.Event, x schema.TaskBlockersSetPayload) (v verdict, special bool, err error) {
	turned := false
	for _, list := range [][]schema.Blocker{x.Blockers, x.Lifted} {
		for i, b := range list {
			if condition := p.conditions[b.ID]; condition != "" && b.Type == schema.EntityTask {
				list[i].EntityRef, list[i].Confidence, turned = schema.EntityRef{Type: schema.EntityCondition, ID: condition}, 0.5, true
			}
		}
	}
	if !turned {
		return v, false, nil
	}
	if e.Payload, err = json.Marshal(x); err != nil {
		return v, true, err
	}
	if v.payload, v.erased, v.changed, err = p.reduce(e, p.searched); err == nil && !v.erased && !v.changed {
		v.payload, v.changed = e.Payload, true
	}
	return v, true, err
}

// answersOf returns the keys of the model answers from which the payload was made.
func answersOf(payload any) []string {
	switch x := payload.(type) {
	case schema.MemoryExtractedPayload:
		return x.ResponseKeys
	case schema.ContextFlushedPayload:
		return x.Responses
	case schema.DreamFinishedPayload:
		return x.Responses
	case schema.FactDeletedPayload:
		return []string{x.Answer}
	case schema.FactSkippedPayload:
		return []string{x.Answer}
	case schema.EntryConfirmedPayload:
		return []string{x.AnswerKey}
	case schema.EntryDoubtedPayload:
		return []string{x.AnswerKey}
	case schema.ConflictDetectedPayload:
		return []string{x.AnswerKey}
	case schema.PairsAskedPayload:
		return []string{x.AnswerKey}
	case schema.PairsJudgedPayload:
		return []string{x.AnswerKey}
	default:
		return nil
	}
}

// textsOf calls f with the texts of people and tools in an erased event. Texts derived by a model or a rule are left
// out, because the same text may also have been derived from another person's words.
func textsOf(payload any, f func(string)) {
	byHand := func(act schema.Act, text string) {
		if act.RequestID != "" {
			f(text)
		}
	}
	switch x := payload.(type) {
	case schema.SessionIngestedPayload:
		for _, m := range x.Messages {
			f(m.Text)
		}
	case schema.ContextEnqueuedPayload:
		for _, m := range x.Messages {
			f(m.Content)
		}
	case schema.ContextHeldPayload:
		for _, m := range x.Messages {
			f(m.Content)
		}
	case schema.FactCreatedPayload:
		byHand(x.Act, x.Content)
	case schema.FactUpdatedPayload:
		if x.Content != nil {
			f(*x.Content)
		}
	case schema.ProfileUpdatedPayload:
		byHand(x.Act, x.Summary)
	case schema.TaskTitleChangedPayload:
		byHand(x.Act, x.To)
	case schema.ChangeProposedPayload:
		f(x.Text)
	}
}

// eachString calls f with each string value of the JSON.
func eachString(data []byte, f func(string)) {
	var v any
	if json.Unmarshal(data, &v) == nil {
		stringsOf(v, f)
	}
}

func stringsOf(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, item := range v {
			stringsOf(item, f)
		}
	case map[string]any:
		for _, item := range v {
			stringsOf(item, f)
		}
	}
}
