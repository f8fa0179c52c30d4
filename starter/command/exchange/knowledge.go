package exchange

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/entry"
	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/graduate"
	"axiommind/activities/session"
	"axiommind/activities/task"
	"axiommind/activities/tier"
	"axiommind/activities/transcript/format"
	"axiommind/schema"
	"axiommind/worker/service"
)

// Directories of a bundle.
const (
	dirEntries   = "entries"
	dirFacts     = "facts"
	dirProfile   = "profile"
	dirCore      = "core"
	dirTasks     = "tasks"
	dirDecisions = "decisions"
	dirSessions  = "references/sessions"
)

// knowledge writes the memory of a scope as concepts.
type knowledge struct {
	*bundle
	conn  driver.Conn
	log   *eventlog.Store
	scope Scope
	// checked are the checks of entries, by their ids.
	checked map[string][]actorAct
	// stale are the ends of the half-lives of entries, by project and id.
	stale map[string]map[string]time.Time
}

// exportKnowledge writes the bundle, and returns the number of concepts.
func exportKnowledge(ctx context.Context, conn driver.Conn, dir string, s Scope, own erase.Owned) (int, error) {
	k := &knowledge{bundle: newBundle(dir), conn: conn, log: eventlog.New(conn, eventlog.Options{}), scope: s, checked: map[string][]actorAct{}, stale: map[string]map[string]time.Time{}}
	streams := streamsOf(own)
	if err := k.checks(ctx, streams); err != nil {
		return 0, err
	}
	for _, stream := range streams {
		if err := k.stream(ctx, stream); err != nil {
			return 0, fmt.Errorf("export %q: %w", stream, err)
		}
	}
	return k.total, k.finish(s, time.Now())
}

// stream writes the concepts of a stream.
func (k *knowledge) stream(ctx context.Context, stream string) error {
	if key, err := schema.ParseSessionStream(stream); err == nil {
		return k.session(ctx, key)
	}
	if user, agent, err := schema.ParseMemoryStream(stream); err == nil {
		return k.memory(ctx, user, agent)
	}
	if project, err := schema.ParseProjectStream(stream); err == nil && k.scope.User == "" {
		return k.tasks(ctx, project)
	}
	if project, err := schema.ParseGraduateStream(stream); err == nil && k.scope.User == "" {
		return k.decisions(ctx, project)
	}
	return nil
}

// checks finds who or what has checked entries: a person, a model, or the verifier of a session.
func (k *knowledge) checks(ctx context.Context, streams []string) error {
	for _, stream := range streams {
		if !strings.HasPrefix(stream, schema.SessionPrefix) && !strings.HasPrefix(stream, schema.GraduatePrefix) {
			continue
		}
		for e, err := range k.log.Stream(ctx, stream, eventlog.StreamOptions{Types: []string{schema.EntriesPromoted, schema.EntryConfirmed}}) {
			if err != nil {
				return err
			}
			payload, err := schema.DecodePayload(e)
			if err != nil {
				return err
			}
			switch x := payload.(type) {
			case schema.EntryConfirmedPayload:
				by := "process:" + x.Model
				if x.Model == "" {
					by = humanActor + x.By
				}
				k.checked[x.EntryID] = append(k.checked[x.EntryID], actorAct{by, e.TS})
			case schema.EntriesPromotedPayload:
				for _, p := range x.Promotions {
					if p.To == schema.StageVerified {
						k.checked[p.EntryID] = append(k.checked[p.EntryID], actorAct{"process:" + x.Verifier, e.TS})
					}
				}
			}
		}
	}
	return nil
}

// session writes the messages of a session, and the entries that were made of it.
func (k *knowledge) session(ctx context.Context, key schema.SessionKey) error {
	s, err := session.Open(ctx, k.log, key)
	if err != nil || s.Len() == 0 {
		return err
	}
	c := concept{dir: dirSessions, id: key.Stream(), head: conceptHead{
		Type: "Session", Title: key.SessionID, Session: key.SessionID, Description: fmt.Sprintf("%d messages of user %s in project %s.", s.Len(), key.User, key.Project),
		Generated: &actorAct{By: humanActor + key.User, At: s.Date()}, AxiomMind: &ownFields{Project: key.Project, User: key.User, Agent: key.Agent},
	}}
	var body strings.Builder
	body.WriteString("# Messages\n")
	for m, err := range s.From(ctx, 0) {
		if err != nil {
			return err
		}
		c.head.Messages = append(c.head.Messages, messageOwn{
			Role: string(m.Role), Kind: string(m.Kind), Author: m.Author, Tool: m.Tool, CallID: m.CallID, ID: m.SourceID, At: m.At,
		})
		fence := format.Fence(m.Text)
		fmt.Fprintf(&body, "\n## %d %s\n\n%stext\n%s\n%s\n", m.Index, cmp.Or(m.Author, string(m.Role)), fence, m.Text, fence)
	}
	c.body = body.String()
	if err := k.add(c); err != nil {
		return err
	}
	rows, err := entry.NewReader(k.conn).Read(ctx, entry.OfSession(key).OldestFirst(), entry.Whole)
	if err != nil {
		return err
	}
	if k.stale[key.Project] == nil {
		if k.stale[key.Project], err = graduate.StaleAfter(ctx, k.conn, key.Project); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := k.add(k.entry(row)); err != nil {
			return err
		}
	}
	return nil
}

// entryTypes are the types of concepts by those of entries.
var entryTypes = map[schema.EntryType]string{
	schema.EntryFact: "Fact", schema.EntryDecision: "Decision", schema.EntryInsight: "Insight", schema.EntryTaskNote: "Task Note", schema.EntryReference: "Reference",
}

// entry returns an entry as a concept. Each piece of its evidence is a source, with the exact words.
func (k *knowledge) entry(row entry.Row) concept {
	h := conceptHead{
		Type: cmp.Or(entryTypes[row.Type], string(row.Type)), Title: row.Title, Description: row.Title, Verified: k.checked[row.ID], Status: statusOf(row),
		Generated: &actorAct{"axiommind/" + service.Version(), row.OccurredAt},
		AxiomMind: &ownFields{
			ID: row.ID, Project: row.Project, User: row.User, Agent: row.Agent, Key: row.CanonicalKey, Stage: string(row.Stage), Status: string(row.Status),
			Ended: row.EndedBecause, SupersededBy: row.SupersededBy, Corrects: row.Corrects, Category: row.Category, Section: row.Section,
			Confidence: row.Confidence, SourceError: row.SourceError,
		},
	}
	if row.Stage != schema.StageVerified && row.Stage != schema.StageCertified { // The verifier's check no longer holds.
		h.Verified = slices.DeleteFunc(slices.Clone(h.Verified), func(v actorAct) bool { return !strings.HasPrefix(v.By, humanActor) })
	}
	if row.Category != "" {
		h.Tags = []string{row.Category}
	}
	h.StaleAfter = dayOf(row.EndedAt)
	if row.EndedAt.IsZero() {
		h.StaleAfter = dayOf(k.stale[row.Project][row.ID])
	}
	var body strings.Builder
	body.WriteString(row.Text())
	h.Sources = k.sources(row.EvidenceSession(), row.Evidence)
	for _, s := range h.Sources {
		fmt.Fprintf(&body, "[^%s]", s.ID)
	}
	body.WriteString("\n")
	for _, s := range h.Sources {
		fmt.Fprintf(&body, "\n[^%s]: %s\n", s.ID, linkText(cmp.Or(s.Text, s.Quote)))
	}
	return concept{dir: dirEntries, id: row.ID, head: h, body: body.String()}
}

// sources returns the evidence as sources of a concept.
func (k *knowledge) sources(key schema.SessionKey, evidence []schema.Evidence) (out []source) {
	for i, e := range evidence {
		s := source{
			ID: fmt.Sprintf("e%d", i+1), Resource: "/" + k.fileOf(dirSessions, key.SessionID, key.Stream()), Title: fmt.Sprintf("Message %d of session %s", e.MessageIndex, key.SessionID),
			Session: key.SessionID, Message: &e.MessageIndex, Quote: e.Quote, Trust: string(e.Trust), Proven: e.Proven,
		}
		switch e.Trust {
		case schema.TrustUser:
			s.Author = humanActor + key.User
		case schema.TrustAgent:
			s.Author = "process:" + e.By
		}
		if e.Found {
			s.Span, s.Text = []int{e.Span.ByteStart, e.Span.ByteEnd}, e.Text
		}
		out = append(out, s)
	}
	return out
}

// statusOf returns the place of an entry in the format's life cycle.
func statusOf(row entry.Row) string {
	switch {
	case row.Status == schema.StatusDeprecated || row.Status == schema.StatusSuperseded:
		return "deprecated"
	case row.Status == schema.StatusContested || !row.EvidenceProven:
		return "draft"
	}
	return "stable"
}

// memory writes facts, and the profile and core memory unless the scope is a project.
func (k *knowledge) memory(ctx context.Context, user, agent string) error {
	t := fact.NewTables(k.conn)
	var facts []fact.Fact
	var err error
	if k.scope.Project != "" {
		facts, err = t.ListIn(ctx, user, agent, k.scope.Project)
		facts = slices.DeleteFunc(facts, func(f fact.Fact) bool { return f.Project != k.scope.Project })
	} else {
		facts, err = t.List(ctx, user, agent)
	}
	if err != nil {
		return err
	}
	for _, f := range facts {
		c := concept{dir: dirFacts, id: user + "\n" + agent + "\n" + f.ID, body: f.Content + "\n", head: conceptHead{
			Type: "User Fact", Title: f.Content, Description: f.Content, Tags: []string{f.Category}, Generated: &actorAct{actorOf(f.Actor, f.EntryID), f.CreatedAt}, Memory: format.OKFFact,
			AxiomMind: &ownFields{ID: f.ID, Project: f.Project, User: user, Agent: agent, Category: f.Category, Confidence: &f.Confidence, SourceError: f.SourceError},
		}}
		if f.EntryID != "" {
			c.head.Sources = []source{{ID: "s1", Resource: "entry " + f.EntryID, Session: f.SessionID}}
		}
		if err := k.add(c); err != nil {
			return err
		}
	}
	if k.scope.Project != "" {
		return nil
	}
	return k.person(ctx, t, user, agent)
}

// person writes the profile and the core memory of a user.
func (k *knowledge) person(ctx context.Context, t *fact.Tables, user, agent string) error {
	sections, err := t.Profile(ctx, user, agent)
	if err != nil {
		return err
	}
	for _, s := range sections {
		if s.Summary == "" {
			continue
		}
		err := k.add(concept{dir: dirProfile, id: user + "\n" + agent + "\n" + s.Name, body: s.Summary + "\n", head: conceptHead{
			Type: "Profile Section", Title: s.Name + " of " + user, Description: s.Summary, Generated: &actorAct{actorOf(s.Actor, s.EntryID), s.UpdatedAt}, Memory: format.OKFProfile,
			AxiomMind: &ownFields{Project: s.Project, User: user, Agent: agent, Section: s.Name, Confidence: &s.Confidence},
		}})
		if err != nil {
			return err
		}
	}
	core, err := tier.NewTables(k.conn).Current(ctx, user, agent)
	if err != nil || core.Text == "" {
		return err
	}
	c := concept{dir: dirCore, id: user + "\n" + agent, body: core.Text, head: conceptHead{
		Type: "Core Memory", Title: "Core memory of " + user, Generated: &actorAct{actorOf(core.Actor, ""), core.At}, Memory: format.OKFCore,
		AxiomMind: &ownFields{ID: core.EventID, User: user, Agent: agent},
	}}
	for _, id := range sourcesOf(core.Items) {
		c.head.Sources = append(c.head.Sources, source{ID: id, Resource: "event, entry or fact " + id})
	}
	return k.add(c)
}

// sourcesOf returns the ids that the items rest on, each once.
func sourcesOf(items []schema.CoreItem) (ids []string) {
	for _, i := range items {
		ids = append(ids, i.Sources...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// actorOf returns the actor of an item: a person at a command, or the software.
func actorOf(actor, entryID string) string {
	if name, ok := strings.CutPrefix(actor, "cli:"); ok && entryID == "" {
		return humanActor + name
	}
	return "axiommind/" + service.Version()
}

// tasks writes the tasks of a project.
func (k *knowledge) tasks(ctx context.Context, project string) error {
	q := task.NewQueries(k.log, k.conn)
	for s := (task.Selection{Project: project, Limit: task.DefaultLimit}); ; s.Offset += s.Limit {
		views, err := q.ListTasks(ctx, s, "")
		if err != nil {
			return err
		}
		for _, v := range views {
			status := strings.ReplaceAll(string(v.Task.TaskStatus), "_", " ")
			own := &ownFields{ID: v.Task.ID, Project: project, Key: v.Task.CanonicalKey, Stage: string(v.Task.Stage), Status: string(v.Task.TaskStatus), Priority: string(v.Task.Priority)}
			for _, b := range v.Blockers {
				own.Blockers = append(own.Blockers, cmp.Or(b.Title, string(b.Type)+" "+b.ID))
			}
			err := k.add(concept{dir: dirTasks, id: project + "\n" + v.Task.ID, body: v.Task.Title + "\n", head: conceptHead{
				Type: "Task", Title: v.Task.Title, Description: v.Task.Title + ": " + status, Tags: []string{status, string(v.Task.Priority)},
				Generated: &actorAct{By: "axiommind/" + service.Version(), At: v.Task.UpdatedAt}, AxiomMind: own,
			}})
			if err != nil {
				return err
			}
		}
		if len(views) < s.Limit {
			return nil
		}
	}
}

// maxDecisions bounds the decisions of a project in a bundle.
const maxDecisions = 1_000_000

// decisions writes the recorded decisions of a project.
func (k *knowledge) decisions(ctx context.Context, project string) error {
	all, err := graduate.NewLedgers(k.conn).Decisions(ctx, graduate.DecisionQuery{Project: project, Limit: maxDecisions})
	if err != nil {
		return err
	}
	for _, d := range all {
		c := concept{dir: dirDecisions, id: project + "\n" + d.ID, body: d.Action + "\n", head: conceptHead{
			Type: "Decision Record", Title: d.Action, Description: d.Action, Generated: &actorAct{actorOf(d.By, ""), d.At}, Status: "stable",
			AxiomMind: &ownFields{ID: d.ID, Project: d.Project, User: d.User, Agent: d.Agent, Confidence: d.Confidence},
		}}
		if len(d.Flagged) > 0 {
			c.head.Status, c.head.AxiomMind.Ended = "draft", strings.Join(d.Flagged, "; ")
		}
		for i, g := range d.Evidence {
			c.head.Sources = append(c.head.Sources, source{ID: fmt.Sprintf("g%d", i+1), Resource: g.Kind + " " + g.EntryID, Title: g.Role})
		}
		if err := k.add(c); err != nil {
			return err
		}
	}
	return nil
}
