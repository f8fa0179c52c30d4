package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/build"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/retrieve"
	"axiommind/activities/table"
	"axiommind/schema"
	"axiommind/starter/client"
)

// searchOptions are the flags of search.
type searchOptions struct {
	query          client.Query
	kinds          []string
	types, stages  []string
	statuses       []string
	from, to, asOf string
	alpha          float64
	explain        bool
	page           page
	maxTokens      int
	alphaGivenFlag *pflag.Flag
	// given are the flags of the command line.
	given *pflag.FlagSet
}

func (a *app) searchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "search TEXT…", Short: "find memories, with their evidence",
		Example: "starter search which database holds the events --project demo\n" +
			"starter search retry --type decision --explain",
	}
	f := cmd.Flags()
	o := &searchOptions{}
	f.StringVar(&o.query.Project, "project", "default", "project to search")
	f.StringVar(&o.query.User, "user", "default", "user whose memories to search")
	f.StringVar(&o.query.Agent, "agent", "", "memories of one agent")
	f.StringVar(&o.query.Session, "session", "", "memories of one session")
	f.StringSliceVar(&o.kinds, "kind", nil, "entry, task, message, fact (default all)")
	f.StringSliceVar(&o.types, "type", nil, "fact, decision, insight, task_note, reference")
	f.StringSliceVar(&o.stages, "stage", nil, "raw, working, candidate, verified, certified")
	f.StringSliceVar(&o.statuses, "status", nil, "active, contested, superseded, deprecated")
	f.BoolVar(&o.query.Superseded, "superseded", false, "also memories that are no longer believed: superseded, or retired")
	f.StringVar(&o.from, "from", "", "memories from this day or time on, like 2006-01-02 or 2006-01-02T15:04:05Z")
	f.StringVar(&o.to, "to", "", "memories before this day or time")
	f.StringVar(&o.asOf, "as-of", "", "memories as believed then, like 2006-01-02 (the end of the day) or 2006-01-02T15:04:05Z")
	o.page.add(f, 5, client.MaxLimit, "the best first")
	f.Float64Var(&o.alpha, "alpha", retrieve.DefaultAlpha, "meaning against words, 0 to 1 (embedder hash: 0.15)")
	f.IntVar(&o.query.Expand, "expand", 0, "how many messages before and after each hit to show")
	f.BoolVar(&o.explain, "explain", false, "show where each score comes from")
	f.StringVar(&o.query.Cursor, "cursor", "", "continue after a page, whatever was added since: the field next of --output json")
	f.IntVar(&o.maxTokens, "max-tokens", 0, "most tokens of the printed hits (cl100k_base); 0: any number")
	o.given = f
	o.alphaGivenFlag = f.Lookup("alpha")
	a.complete(cmd, "kind", fixed(retrieve.Kinds()...))
	a.complete(cmd, "status", fixed(schema.Statuses()...))
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if err := cmp.Or(table.Required("project", o.query.Project), table.Required("user", o.query.User)); err != nil {
			return badUsage(err)
		}
		return a.search(ctx, o, strings.Join(args, " "))
	})
}

func (o *searchOptions) finish(text string) error {
	q := &o.query
	q.Text = strings.TrimSpace(text)
	if q.Text == "" {
		return usagef("give a text to search for: starter search TEXT")
	}
	if err := o.page.check(); err != nil {
		return err
	}
	if o.page.offset+o.page.limit > o.page.most {
		return usagef("--offset %d --limit %d: a search lists the %d best at most", o.page.offset, o.page.limit, o.page.most)
	}
	if q.Expand < 0 || q.Expand > retrieve.MaxExpand {
		return usagef("--expand %d: want 0 to %d", q.Expand, retrieve.MaxExpand)
	}
	switch {
	case q.Cursor != "" && o.page.offset > 0:
		return usagef("--cursor and --offset: give one of them")
	case o.maxTokens < 0:
		return usagef("--max-tokens %d: want 0 or more", o.maxTokens)
	}
	if err := o.finishKinds(); err != nil {
		return err
	}
	q.Limit, q.Offset = o.page.limit, o.page.offset
	if o.alphaGivenFlag.Changed {
		if !(o.alpha >= 0 && o.alpha <= 1) {
			return usagef("--alpha %v: want 0 to 1", o.alpha)
		}
		q.Alpha = &o.alpha
	}
	for _, d := range []struct {
		flag, value string
		into        *time.Time
	}{{"from", o.from, &q.From}, {"to", o.to, &q.To}} {
		if d.value == "" {
			continue
		}
		t, err := parseTime(d.flag, d.value)
		if err != nil {
			return err
		}
		*d.into = t
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return usagef("--from %s: want a time before --to %s", o.from, o.to)
	}
	var err error
	if q.AsOf, err = parseAsOf(o.asOf); err != nil {
		return err
	}
	if !q.AsOf.IsZero() && q.From.After(q.AsOf) {
		return usagef("--from %s: want a time that is not after --as-of %s", o.from, o.asOf)
	}
	return nil
}

// finishKinds checks the flags that select kinds of hits. A combination that nothing can match is a usage error.
func (o *searchOptions) finishKinds() error {
	q := &o.query
	for _, k := range o.kinds {
		if err := oneOf("kind", retrieve.Kind(k), retrieve.Kinds()); err != nil {
			return err
		}
		q.Kinds = append(q.Kinds, retrieve.Kind(k))
	}
	for _, t := range o.types {
		if err := oneOf("type", schema.EntryType(t), schema.EntryTypes()); err != nil {
			return err
		}
		q.Types = append(q.Types, schema.EntryType(t))
	}
	for _, s := range o.stages {
		if err := oneOf("stage", schema.Stage(s), schema.Stages()); err != nil {
			return err
		}
		q.Stages = append(q.Stages, schema.Stage(s))
	}
	for _, s := range o.statuses {
		if err := oneOf("status", schema.Status(s), schema.Statuses()); err != nil {
			return err
		}
		q.Statuses = append(q.Statuses, schema.Status(s))
	}
	if q.Session != "" && !slices.ContainsFunc(q.Kinds, func(k retrieve.Kind) bool { return k != retrieve.KindFact }) && len(q.Kinds) > 0 {
		return usagef("--kind fact can't match --session %s: people enter facts outside of sessions, and facts of sessions are entries (--kind entry)", unbroken(q.Session))
	}
	if (retrieve.Query{Kinds: q.Kinds, Types: q.Types, Stages: q.Stages, Statuses: q.Statuses}).Impossible() {
		return usagef("--kind %s can't match --type, --stage or --status: these are of entries, and --type fact of facts too", strings.Join(o.kinds, ","))
	}
	return nil
}

func (a *app) search(ctx context.Context, o *searchOptions, text string) error {
	if err := o.finish(text); err != nil {
		return err
	}
	if o.maxTokens > 0 && a.output == outputJSON {
		return usagef("--max-tokens limits the text output: leave it out with --output json")
	}
	if err := a.findSearched(ctx, &o.query); err != nil {
		return err
	}
	c, err := a.client(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	found, err := c.Search(ctx, o.query)
	if err != nil {
		return clientError(err)
	}
	result := searched{Result: found.Found, NotIndexed: found.NotIndexed}
	// Facts that a person entered are found in all projects.
	if !slices.ContainsFunc(result.Hits, func(h retrieve.Hit) bool { return h.Kind != retrieve.KindFact }) {
		if err := a.knownScope(ctx, o, len(result.Hits) == 0); err != nil {
			return err
		}
	}
	none := o.nothing() + leftOut(result.Result) + unrelated(result)
	if len(result.Hits) == 0 {
		none = cmp.Or(a.emptyProject(), none)
	}
	left := 0
	err = a.print(result, func(w io.Writer) error {
		err := o.page.print(w, len(result.Hits), none, func() (err error) {
			left, err = printHits(w, o, result.Result)
			return err
		})
		if err == nil && left > 0 {
			_, err = fmt.Fprintf(w, "%s left out for --max-tokens %d\n", plural(left, "hit is", "hits are"), o.maxTokens)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, notice := range notices(result) {
		_, _ = fmt.Fprintln(a.errOut, notice)
	}
	shown := len(result.Hits) - left
	switch {
	case left > 0 && shown == 0:
		_, err = fmt.Fprintln(a.errOut, "the first hit alone needs more: give more tokens")
		return err
	case left > 0 && o.query.Cursor != "":
		// The next cursor skips the hits that did not fit.
		_, err = fmt.Fprintf(a.errOut, "there are more: ask again with --limit %d, or with more tokens\n", shown)
		return err
	case o.query.Cursor != "" && found.More:
		_, err = fmt.Fprintf(a.errOut, "there are more: --cursor %s\n", result.Next)
		return err
	}
	return a.closing(&o.page, shown, found.More || left > 0)
}

// searched is the result of a search, with the number of items that are not indexed yet.
type searched struct {
	retrieve.Result
	NotIndexed int `json:"not_indexed"`
}

// maxScopes bounds the known projects, users and agents that are compared with the given ones, and maxNamed the names in an
// error.
const (
	maxScopes = 10_000
	maxNamed  = 20
)

// knownScope refuses a given project, user, agent or session in which nothing was processed. The error lists the known
// names, except of sessions. If nothing was processed at all, it refuses none. Without users it checks only the project,
// because a hit proves that the user is known.
func (a *app) knownScope(ctx context.Context, o *searchOptions, users bool) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	known, err := build.Scopes(ctx, conn, maxScopes)
	if err != nil || len(known) == 0 || len(known) == maxScopes {
		return err
	}
	for _, asked := range []struct {
		flag, value, within string
		of                  func(schema.Scope) (name string, within bool)
	}{
		{"project", o.query.Project, "", func(s schema.Scope) (string, bool) { return s.Project, true }},
		{"user", o.query.User, " in project " + o.query.Project, func(s schema.Scope) (string, bool) { return s.User, s.Project == o.query.Project }},
		{"agent", o.query.Agent, " of user " + o.query.User, func(s schema.Scope) (string, bool) {
			return s.Agent, s.Project == o.query.Project && s.User == o.query.User
		}},
	} {
		var names []string
		for _, s := range known {
			if name, within := asked.of(s); within && name != "" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if asked.value == "" || !o.given.Changed(asked.flag) || !users && asked.flag != "project" || slices.Contains(names, asked.value) {
			continue
		}
		return usagef("--%s %s: there is none%s%s", asked.flag, asked.value, asked.within, thereAre(names))
	}
	if users {
		return knownSession(ctx, conn, o.query)
	}
	return nil
}

// notices explain why the search may have missed memories.
func notices(r searched) (lines []string) {
	if r.NotIndexed > 0 {
		lines = append(lines, plural(r.NotIndexed, "item is", "items are")+" not indexed yet, and may be found in some seconds")
	}
	switch {
	case r.WordsOnly != "":
		lines = append(lines, "searched by words alone: the embedder in use is "+r.Embedder+", and here "+oneLine(r.WordsOnly, 200))
	case strings.HasPrefix(r.Embedder, llm.ProviderHash+"-"):
		lines = append(lines, "searched by words: the embedder "+r.Embedder+" knows no meaning")
	}
	return lines
}

// findSearched expands the beginning of a session id in the query.
func (a *app) findSearched(ctx context.Context, q *client.Query) error {
	if q.Session == "" {
		return nil
	}
	if _, err := llm.NewEmbedder(ctx, a.cfg.Embedder); err != nil {
		return badUsage(err) // Report a mistake before any server is contacted.
	}
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	q.Session, err = findSession(ctx, conn, schema.SessionKey{
		Scope: schema.Scope{Project: q.Project, User: q.User, Agent: q.Agent}, SessionID: q.Session,
	})
	return err
}

// nothing returns the text for an empty result. It repeats the filters.
func (o *searchOptions) nothing() string {
	var b strings.Builder
	say(&b, "nothing found in project %s for user %s", o.query.Project, o.query.User)
	for _, filter := range []struct{ name, value string }{
		{"agent", o.query.Agent}, {"session", o.query.Session}, {"kind", strings.Join(o.kinds, " or ")}, {"type", strings.Join(o.types, " or ")},
		{"stage", strings.Join(o.stages, " or ")}, {"status", strings.Join(o.statuses, " or ")}, {"from", o.from}, {"to", o.to}, {"as of", o.asOf},
	} {
		if filter.value != "" {
			say(&b, ", %s %s", filter.name, filter.value)
		}
	}
	return b.String()
}

// stageText returns the stage, with the status unless the entry is active.
func stageText(stage schema.Stage, status schema.Status) string {
	if status == schema.StatusActive || status == "" {
		return string(stage)
	}
	return string(stage) + ", " + string(status)
}

// scoreText formats the score, with a mark if the hit is weak.
func scoreText(h retrieve.Hit) string {
	if h.Weak {
		return fmt.Sprintf("score %.3f, weak", h.Score)
	}
	return fmt.Sprintf("score %.3f", h.Score)
}

// printHits prints the hits that fit and returns how many did not.
func printHits(w io.Writer, o *searchOptions, r retrieve.Result) (left int, err error) {
	var counter fact.Counter
	if o.maxTokens > 0 {
		if counter, err = fact.CL100K(); err != nil {
			return 0, err
		}
	}
	tokens := 0
	for i, h := range r.Hits {
		text := hitText(o, o.page.offset+i+1, h)
		if counter != nil {
			if tokens += counter.Count(text); tokens > o.maxTokens {
				return len(r.Hits) - i, nil
			}
		}
		if _, err := io.WriteString(w, text); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// hitText formats a hit for people.
func hitText(o *searchOptions, number int, h retrieve.Hit) string {
	var b strings.Builder
	switch h.Kind {
	case retrieve.KindMessage:
		sayMessage(&b, number, h)
	case retrieve.KindTask:
		say(&b, "%d. %s\n   task · %s · %s · task %s\n", number, oneLine(h.Title, 160), h.Tracked.Status, scoreText(h), h.Tracked.ID)
	case retrieve.KindFact:
		say(&b, "%d. %s\n   fact that a person entered · %s · %s · %s · %s\n", number, oneLine(h.Title, 160), h.Fact.Category, scoreText(h), when(h.OccurredAt), h.Fact.ID)
	default:
		sayEntry(&b, number, h)
	}
	for _, t := range h.Around {
		mark := " "
		if t.Hit {
			mark = ">"
		}
		say(&b, "   %s %d %s: %s\n", mark, t.Index, cmp.Or(t.Author, string(t.Role)), oneLine(t.Text, 160))
	}
	if o.explain {
		sayScore(&b, h)
	}
	return b.String()
}

func sayMessage(b *strings.Builder, number int, h retrieve.Hit) {
	say(b, "%d. “%s”\n   %s, message %d of session %s · %s · %s · entry show %s", number, oneLine(h.Content, 300),
		cmp.Or(h.Message.Author, string(h.Message.Role)), h.Message.Index, unbroken(h.SessionID), scoreText(h), when(h.OccurredAt), h.Message.Handle())
	if h.MoreSessions > 0 {
		say(b, " · and %s", plural(h.MoreSessions, "message that says the same", "messages that say the same"))
	}
	b.WriteString("\n")
}

func sayEntry(b *strings.Builder, number int, h retrieve.Hit) {
	say(b, "%d. %s\n   %s · %s · %s · %s · %s · entry %s", number, oneLine(h.Title, 160),
		h.Type, stageText(h.Stage, h.Status), standingOfPieces(h.Evidence), scoreText(h), when(h.OccurredAt), short(h.ID))
	if sessions := len(h.Sessions) + h.MoreSessions; sessions > 1 {
		say(b, " · said in %d sessions", sessions)
	}
	if h.Tracked != nil {
		say(b, " · task %s, %s", h.Tracked.ID, h.Tracked.Status)
	}
	b.WriteString("\n")
	sayBelief(b, h)
	sayEvidence(b, h.EvidenceSessionID, h.Evidence)
	for _, s := range h.Sessions[min(1, len(h.Sessions)):] {
		say(b, "   also in session %s: %s · %s · %s · %s · entry %s\n",
			unbroken(s.SessionID), s.Type, stageText(s.Stage, s.Status), standingOfPieces(s.Evidence), when(s.OccurredAt), short(s.EntryID))
		sayEvidence(b, s.EvidenceSessionID, s.Evidence)
	}
	if h.MoreSessions > 0 {
		say(b, "   and %s\n", plural(h.MoreSessions, "more session", "more sessions"))
	}
}

// sayBelief writes until when the hit was believed, its successor, and the entries that contest it.
func sayBelief(b *strings.Builder, h retrieve.Hit) {
	named := func(id, title string) string {
		if title == "" {
			return "entry " + short(id)
		}
		return "entry " + short(id) + " “" + oneLine(title, 80) + "”"
	}
	if !h.EndedAt.IsZero() {
		say(b, "   believed until %s", dayOf(h.EndedAt))
		switch {
		case h.SupersededBy != "":
			say(b, ", superseded by %s", named(h.SupersededBy, h.SupersededByTitle))
		case h.Status == schema.StatusSuperseded && h.EndedBy == "":
			b.WriteString(", a newer extractor does not state it")
		default:
			b.WriteString(", retired")
		}
		if h.EndedBecause != "" {
			say(b, ": %s", oneLine(h.EndedBecause, 120))
		}
		b.WriteString("\n")
	}
	for _, other := range h.ContestedBy {
		say(b, "   contested by %s\n", named(other.EntryID, other.Title))
	}
}

func sayScore(b *strings.Builder, h retrieve.Hit) {
	x := h.Explain
	weight := "stage"
	if h.Kind != retrieve.KindEntry {
		weight = string(h.Kind)
	}
	around := ""
	if x.Context > 0 {
		around = fmt.Sprintf(" + around it %.3f", x.Context)
	}
	say(b, "   %.3f = (vector %.3f + words %.3f%s) × %s %.2f × status %.2f × recency %.2f × sessions %.2f; similarity %.3f, %.1f deviations above chance",
		h.Score, x.Vector, x.Keyword, around, weight, x.StageWeight, x.StatusPenalty, x.Recency, x.Corroboration, x.Similarity, x.Height)
	if x.Limit != nil {
		b.WriteString("; at most the score of its successor")
	}
	b.WriteString("\n")
}

// leftOut returns a note about matching memories that are no longer believed.
func leftOut(r retrieve.Result) string {
	if r.Superseded == 0 {
		return ""
	}
	return "\n" + plural(r.Superseded, "memory that is no longer believed matches", "memories that are no longer believed match") +
		": --superseded shows superseded and retired ones"
}

// unrelated explains why the nearest memories are not listed.
func unrelated(r searched) string {
	if r.Unrelated == 0 {
		return ""
	}
	of := "No"
	if r.NotIndexed > 0 {
		of = "No indexed"
	}
	return fmt.Sprintf("\n"+of+" memory has a word of the query, and none is near: of %d, the most similar is %.1f deviations above chance,\n"+
		"and %.2f are needed.", r.Unrelated, r.Nearest, retrieve.Near)
}
