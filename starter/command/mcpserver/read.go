package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/clickhouse"
	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/retrieve"
	"axiommind/activities/session"
	"axiommind/schema"
	memory "axiommind/starter/client"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

const (
	titleTokens = 45
	// aroundMessages is how many messages a timeline shows before and after the evidence, and nearTime is the longest time
	// between memories that count as near.
	aroundMessages = 3
	nearTime       = 24 * time.Hour
)

func (s *mcpServer) search(ctx context.Context, _ call, in queryArguments) (string, error) {
	query, err := oneText("query", in.Query)
	if err != nil {
		return "", err
	}
	result, err := s.memory.Search(ctx, memory.Query{Text: query, Project: s.o.Project, User: s.o.User, Agent: s.o.Agent, Limit: s.o.limit})
	if err != nil {
		return "", command.ClientError(err)
	}
	if len(result.Hits) == 0 {
		return s.nothingFound(result), nil
	}
	p, err := s.sheet(searchTokens)
	if err != nil {
		return "", err
	}
	shown, weak := addHits(p, query, result.Hits)
	tail := missed(result.WordsOnly != "", result.NotIndexed)
	if weak {
		tail = strings.TrimSpace("All of these are weak: they may have nothing to do with the query. " + tail)
	}
	if left := len(result.Hits) - shown; left > 0 {
		tail = strings.TrimSpace(fmt.Sprintf("%s did not fit: ask more narrowly. %s", command.Plural(left, "hit", "hits"), tail))
	}
	return p.end(tail), nil
}

// addHits adds the hits that fit. It returns how many these are, and whether all of them are weak.
func addHits(p *sheet, query string, hits []memory.Hit) (shown int, weak bool) {
	weak = true
	for _, h := range hits {
		mark := ""
		if h.Conflicts > 0 {
			mark = " [contested]"
		}
		mark = cmp.Or(agentsMark(h.Evidence), mark)
		handle, role, title := command.ShortID(h.ID), "", p.short(h.Title, titleTokens)
		switch h.Kind {
		case retrieve.KindMessage:
			handle, role, title = h.Message.Handle(), string(h.Message.Role)+": ", p.excerpt(h.Content, query, titleTokens)
		case retrieve.KindTask:
			handle, mark = h.Tracked.ID, " ["+string(h.Tracked.Status)+"]"
		case retrieve.KindFact:
			handle, mark = h.Fact.ID, " [entered by hand]"
		}
		if h.Weak {
			mark += " [weak]"
		}
		if !p.add("%s %s %s%s%s", handle, show.DayOf(h.OccurredAt), role, title, mark) {
			break
		}
		shown, weak = shown+1, weak && h.Weak
	}
	return shown, weak && shown > 0
}

// agentsMark returns the mark after the title of an agent's statement, and "" for other entries.
func agentsMark(pieces []schema.Evidence) string {
	if said := show.AgentsWord(pieces); said != "" {
		return " [" + said + "]"
	}
	return ""
}

// missed explains why a search may have missed memories.
func missed(byWords bool, notIndexed int) string {
	var said []string
	if byWords {
		said = append(said, "Only words were searched for: the model that knows meaning is not available here.")
	}
	if notIndexed > 0 {
		said = append(said, command.Plural(notIndexed, "item is", "items are")+" not indexed yet.")
	}
	return strings.Join(said, " ")
}

func (s *mcpServer) nothingFound(r memory.SearchResult) string {
	said := "Nothing is remembered of that. Other words may find it."
	if why := missed(r.WordsOnly != "", r.NotIndexed); why != "" {
		said += " " + why
	}
	if r.Superseded > 0 {
		said += " " + command.Plural(r.Superseded, "memory that is", "memories that are") + " no longer believed would match."
	}
	return said
}

// find returns the entry with the handle if it belongs to the server's project and user.
func (s *mcpServer) find(ctx context.Context, conn driver.Conn, handle string) (row entry.Row, err error) {
	named := clickhouse.Prefix{What: "memory", Where: "this memory", Given: handle, NotFound: entry.ErrNotFound}
	if !named.Long() {
		return row, named.Missing("as search prints it")
	}
	rows, err := entry.NewReader(conn).Read(ctx, s.mine().Prefix(named.Text()).Limit(clickhouse.MostPrefixed), entry.Whole)
	if err != nil {
		return row, err
	}
	if len(rows) == 0 {
		return row, named.Missing("as search prints it")
	}
	return clickhouse.Choose(named, rows, func(r entry.Row) string { return r.ID })
}

// mine selects the entries of the server's project and user.
func (s *mcpServer) mine() entry.Selection {
	if s.o.Agent == "" {
		return entry.OfUser(s.o.Project, s.o.User)
	}
	return entry.OfAgent(s.o.Scope)
}

func (s *mcpServer) entry(ctx context.Context, _ call, in entryArguments) (string, error) {
	conn, err := s.app.ClickHouse(ctx)
	if err != nil {
		return "", err
	}
	if retrieve.IsMessage(in.Entry) {
		return s.message(ctx, conn, in.Entry)
	}
	if fact.IsID(in.Entry) {
		return s.fact(ctx, conn, in.Entry)
	}
	row, err := s.find(ctx, conn, in.Entry)
	if err != nil {
		return "", err
	}
	proofs, err := show.ProofsOf(ctx, eventlog.New(conn, eventlog.Options{}), row)
	if err != nil {
		return "", err
	}
	p, err := s.sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	p.add("%s %s %s", command.ShortID(row.ID), show.DayOf(row.OccurredAt), p.short(row.Title, s.o.tokens/6))
	p.add("%s, %s, evidence %s", row.Type, show.StageText(row.Stage, row.Status), show.EntryStanding(row.Entry, proofs))
	if row.SupersededBy != "" {
		p.add("superseded by %s", command.ShortID(row.SupersededBy))
	}
	if row.EndedBecause != "" {
		p.add("because %s", p.short(row.EndedBecause, titleTokens))
	}
	if row.Conflicts > 0 {
		p.add("contested by %s", command.Plural(row.Conflicts, "other memory", "other memories"))
	}
	if row.Content != "" && row.Content != row.Title {
		p.add("%s", p.short(row.Content, s.o.tokens/4))
	}
	p.add("session %s", p.short(row.EvidenceSessionID, titleTokens))
	for i, proof := range proofs {
		place, text := proofLine(proof)
		if !p.add("%s: %s", p.short(place, s.o.tokens/10), p.excerpt(text, row.Title, s.o.tokens/10)) {
			return p.end(fmt.Sprintf("%s left out: starter entry show %s prints all.",
				command.Plural(len(proofs)-i, "piece of evidence is", "pieces of evidence are"), command.ShortID(row.ID))), nil
		}
	}
	return p.end(""), nil
}

// findFact returns the user's fact with the handle. Like search it looks at all agents, unless the server has one.
func (s *mcpServer) findFact(ctx context.Context, facts *fact.Tables, handle string) (fact.Fact, error) {
	if s.o.Agent == "" {
		return facts.ResolveOfUser(ctx, s.o.User, handle)
	}
	return facts.Resolve(ctx, s.o.User, s.o.Agent, handle)
}

func (s *mcpServer) fact(ctx context.Context, conn driver.Conn, handle string) (string, error) {
	f, err := s.findFact(ctx, fact.NewTables(conn), handle)
	if err != nil {
		return "", err
	}
	p, err := s.sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	p.add("%s %s fact, %s, confidence %.2f, %s", f.ID, show.DayOf(f.UpdatedAt), f.Category, f.Confidence, f.Status)
	p.add("%s", p.short(f.Content, s.o.tokens*3/4))
	return p.end(""), nil
}

// message returns a message of a session, truncated to the limit.
func (s *mcpServer) message(ctx context.Context, conn driver.Conn, handle string) (string, error) {
	key, at, err := retrieve.FindMessage(ctx, conn, s.o.Scope, handle)
	if err != nil {
		return "", err
	}
	logged, err := session.Open(ctx, eventlog.New(conn, eventlog.Options{}), key)
	if err != nil {
		return "", err
	}
	messages, err := logged.Range(ctx, at, at+1)
	if err != nil {
		return "", err
	}
	p, err := s.sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	for _, m := range messages {
		p.add("session %s, message %d, %s:", p.short(key.SessionID, titleTokens), m.Index, cmp.Or(m.Author, string(m.Role)))
		p.add("%s", p.short(m.Text, s.o.tokens*3/4))
	}
	return p.end(""), nil
}

// proofLine formats the place and the text of a piece of evidence.
func proofLine(p show.Proof) (place, text string) {
	worth := show.EvidenceState(p.Evidence, show.LineDifferences)
	if !p.Holds {
		return fmt.Sprintf("not true of the source (%s)", p.Problem), "“" + p.Quote + "”"
	}
	return fmt.Sprintf("message %d, %s, %s", p.MessageIndex, p.Role, worth), show.Passage{Before: p.Before, Quoted: p.Text, After: p.After}.String()
}

func (s *mcpServer) timeline(ctx context.Context, _ call, in entryArguments) (string, error) {
	conn, err := s.app.ClickHouse(ctx)
	if err != nil {
		return "", err
	}
	var row entry.Row
	var key schema.SessionKey
	at := -1
	if retrieve.IsMessage(in.Entry) {
		if key, at, err = retrieve.FindMessage(ctx, conn, s.o.Scope, in.Entry); err != nil {
			return "", err
		}
	} else {
		if row, err = s.find(ctx, conn, in.Entry); err != nil {
			return "", err
		}
		key = row.EvidenceSession()
		for _, e := range row.Evidence {
			if e.Found {
				at = e.MessageIndex
				break
			}
		}
	}
	logged, err := session.Open(ctx, eventlog.New(conn, eventlog.Options{}), key)
	if err != nil {
		return "", err
	}
	var messages []schema.Message
	if at >= 0 {
		messages, err = logged.Range(ctx, max(0, at-aroundMessages), min(logged.Len(), at+aroundMessages+1))
		if err != nil {
			return "", err
		}
	}
	p, err := s.sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	p.add("session %s: %s", p.short(key.SessionID, titleTokens), show.SizeOf(logged.Total()))
	each := max(20, s.o.tokens/(4*aroundMessages+2))
	for _, m := range messages {
		mark := " "
		if m.Index == at {
			mark = ">"
		}
		p.add("%s message %d, %s: %s", mark, m.Index, m.Role, p.short(m.Text, each))
	}
	var near []entry.Row
	if row.ID != "" {
		if near, err = s.near(ctx, conn, row); err != nil {
			return "", err
		}
	}
	for _, r := range near {
		mark := " "
		if r.ID == row.ID {
			mark = ">"
		}
		p.add("%s memory %s %s %s%s", mark, command.ShortID(r.ID), minute(r.OccurredAt), p.short(r.Title, titleTokens), agentsMark(r.Evidence))
	}
	tail := "Long texts are cut (…)."
	if p.full {
		tail += " More did not fit."
	}
	return p.end(tail), nil
}

// near returns the memories around the entry in order of time, including the entry.
func (s *mcpServer) near(ctx context.Context, conn driver.Conn, row entry.Row) ([]entry.Row, error) {
	reader, around := entry.NewReader(conn), s.mine().Believed()
	before, err := reader.Read(ctx, around.Between(row.OccurredAt.Add(-nearTime), row.OccurredAt).NewestFirst().Limit(s.o.limit), entry.Whole)
	if err != nil {
		return nil, err
	}
	after, err := reader.Read(ctx, around.Between(row.OccurredAt, row.OccurredAt.Add(nearTime)).OldestFirst().Limit(s.o.limit), entry.Whole)
	if err != nil {
		return nil, err
	}
	rows := append(append(before, row), after...)
	slices.SortStableFunc(rows, func(a, b entry.Row) int {
		return cmp.Or(a.OccurredAt.Compare(b.OccurredAt), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(rows, func(a, b entry.Row) bool { return a.ID == b.ID }), nil
}

// minute formats a time for a model in UTC, because the model does not know this machine's zone.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02T15:04Z") }

func (s *mcpServer) context(ctx context.Context, _ call, in contextArguments) (string, error) {
	r := memory.ContextRequest{User: s.o.User, Agent: s.o.Agent, Project: s.o.Project, MaxTokens: s.o.tokens - frameTokens}
	if in.Query != "" {
		query, err := oneText("query", in.Query)
		if err != nil {
			return "", err
		}
		r.Query = query
	}
	known, err := s.memory.Context(ctx, r)
	if err != nil {
		return "", command.ClientError(err)
	}
	if known.ByWords != nil {
		s.logger.Warn("the facts are ordered by words alone", "reason", known.ByWords)
	}
	if known.Text == "" {
		return "Nothing is known of the user in this project yet.", nil
	}
	counter, err := s.counter()
	if err != nil {
		return "", err
	}
	p := &sheet{counter: counter}
	p.b.WriteString(known.Text + "\n") // The formatter escapes angle brackets.
	return p.end(missed(known.ByWords != nil, known.NotIndexed)), nil
}
