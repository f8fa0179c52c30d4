package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"axiommind/activities/build"
	"axiommind/activities/clickhouse"
	"axiommind/activities/fact"
	"axiommind/activities/llm"
	"axiommind/activities/retrieve"
	"axiommind/schema"
	"axiommind/starter/client"
	"axiommind/starter/command"
	"axiommind/starter/command/show"
)

// SearchOptions are the flags of search.
type SearchOptions struct {
	query          client.Query
	kinds          []string
	types, stages  []string
	statuses       []string
	from, to, asOf string
	alpha          float64
	explain        bool
	page           command.Page
	MaxTokens      int
	alphaGivenFlag *pflag.Flag
	// given are the flags of the command line.
	given *pflag.FlagSet
}

func searchCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "search TEXT…", Short: "find memories, with their evidence",
		Example: "starter search which database holds the events --project demo\n" +
			"starter search retry --type decision --explain",
	}
	f := cmd.Flags()
	o := &SearchOptions{}
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
	o.page.Add(f, 5, client.MaxLimit, "the best first")
	f.Float64Var(&o.alpha, "alpha", retrieve.DefaultAlpha, "meaning against words, 0 to 1 (embedder hash: 0.15)")
	f.IntVar(&o.query.Expand, "expand", 0, "how many messages before and after each hit to show")
	f.BoolVar(&o.explain, "explain", false, "show where each score comes from")
	f.StringVar(&o.query.Cursor, "cursor", "", "value of next in --output json: continue after that page, whatever was added since")
	f.IntVar(&o.MaxTokens, "max-tokens", 0, "most tokens of the printed hits (cl100k_base); 0: any number")
	o.given = f
	o.alphaGivenFlag = f.Lookup("alpha")
	a.Complete(cmd, "kind", command.Fixed(retrieve.Kinds()...))
	a.Complete(cmd, "status", command.Fixed(schema.Statuses()...))
	a.Answers(cmd, Searched{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := cmp.Or(clickhouse.Required("project", o.query.Project), clickhouse.Required("user", o.query.User)); err != nil {
			return command.BadUsage(err)
		}
		return search(ctx, a, cmd, o, strings.Join(args, " "))
	})
}

func (o *SearchOptions) finish(text string) error {
	q := &o.query
	q.Text = strings.TrimSpace(text)
	if q.Text == "" {
		return command.Usagef("give a text to search for: starter search TEXT")
	}
	if err := o.page.Check(); err != nil {
		return err
	}
	if o.page.Offset+o.page.Limit > o.page.Most {
		return command.Usagef("--offset %d --limit %d: a search lists the %d best at most", o.page.Offset, o.page.Limit, o.page.Most)
	}
	if q.Expand < 0 || q.Expand > retrieve.MaxExpand {
		return command.Usagef("--expand %d: want 0 to %d", q.Expand, retrieve.MaxExpand)
	}
	switch {
	case q.Cursor != "" && o.page.Offset > 0:
		return command.Usagef("--cursor and --offset: give one of them")
	case o.MaxTokens < 0:
		return command.Usagef("--max-tokens %d: want 0 or more", o.MaxTokens)
	}
	if err := o.finishKinds(); err != nil {
		return err
	}
	q.Limit, q.Offset = o.page.Limit, o.page.Offset
	if o.alphaGivenFlag.Changed {
		if !(o.alpha >= 0 && o.alpha <= 1) {
			return command.Usagef("--alpha %v: want 0 to 1", o.alpha)
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
		t, err := command.ParseTime(d.flag, d.value)
		if err != nil {
			return err
		}
		*d.into = t
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return command.Usagef("--from %s: want a time before --to %s", o.from, o.to)
	}
	var err error
	if q.AsOf, err = command.ParseAsOf(o.asOf); err != nil {
		return err
	}
	if !q.AsOf.IsZero() && q.From.After(q.AsOf) {
		return command.Usagef("--from %s: want a time that is not after --as-of %s", o.from, o.asOf)
	}
	return nil
}

// finishKinds checks the flags that select kinds of hits. A combination that nothing can match is a usage error.
func (o *SearchOptions) finishKinds() error {
	q := &o.query
	for _, k := range o.kinds {
		if err := command.OneOf("kind", retrieve.Kind(k), retrieve.Kinds()); err != nil {
			return err
		}
		q.Kinds = append(q.Kinds, retrieve.Kind(k))
	}
	for _, t := range o.types {
		if err := command.OneOf("type", schema.EntryType(t), schema.EntryTypes()); err != nil {
			return err
		}
		q.Types = append(q.Types, schema.EntryType(t))
	}
	for _, s := range o.stages {
		if err := command.OneOf("stage", schema.Stage(s), schema.Stages()); err != nil {
			return err
		}
		q.Stages = append(q.Stages, schema.Stage(s))
	}
	for _, s := range o.statuses {
		if err := command.OneOf("status", schema.Status(s), schema.Statuses()); err != nil {
			return err
		}
		q.Statuses = append(q.Statuses, schema.Status(s))
	}
	if q.Session != "" && !slices.ContainsFunc(q.Kinds, func(k retrieve.Kind) bool { return k != retrieve.KindFact }) && len(q.Kinds) > 0 {
		return command.Usagef("--kind fact can't match --session %s: people enter facts outside of sessions, and facts of sessions are entries (--kind entry)", command.Unbroken(q.Session))
	}
	if (retrieve.Query{Kinds: q.Kinds, Types: q.Types, Stages: q.Stages, Statuses: q.Statuses}).Impossible() {
		return command.Usagef("--kind %s can't match --type, --stage or --status: these are of entries, and --type fact of facts too", strings.Join(o.kinds, ","))
	}
	return nil
}

func search(ctx context.Context, a *command.App, cmd *cobra.Command, o *SearchOptions, text string) error {
	if err := o.finish(text); err != nil {
		return err
	}
	if o.MaxTokens > 0 && a.Output == command.OutputJSON {
		return command.Usagef("--max-tokens limits the text output: leave it out with --output json")
	}
	if err := findSearched(ctx, a, &o.query); err != nil {
		return err
	}
	c, err := a.Client(ctx)
	if err != nil {
		return err
	}
	found, err := c.Search(ctx, o.query)
	if err != nil {
		return command.ClientError(err)
	}
	result := Searched{Result: found.Found, NotIndexed: found.NotIndexed}
	// Facts that a person entered are found in all projects.
	if !slices.ContainsFunc(result.Hits, func(h retrieve.Hit) bool { return h.Kind != retrieve.KindFact }) {
		if err := knownScope(ctx, a, o, len(result.Hits) == 0); err != nil {
			return err
		}
	}
	none := o.nothing() + leftOut(result.Result) + unrelated(result)
	if len(result.Hits) == 0 {
		none = cmp.Or(a.EmptyProject(cmd), none)
	}
	left := 0
	var uncounted error
	err = a.Print(result, func(b *strings.Builder) {
		if len(result.Hits) == 0 {
			o.page.SayNone(b, none)
			return
		}
		if left, uncounted = PrintHits(b, o, result.Result); left > 0 {
			fmt.Fprintf(b, "%s left out for --max-tokens %d\n", command.Plural(left, "hit is", "hits are"), o.MaxTokens)
		}
	})
	if err = cmp.Or(err, uncounted); err != nil {
		return err
	}
	for _, notice := range notices(result) {
		_, _ = fmt.Fprintln(a.ErrOut, notice)
	}
	shown := len(result.Hits) - left
	switch {
	case left > 0 && shown == 0:
		_, err = fmt.Fprintln(a.ErrOut, "the first hit alone needs more: give more tokens")
		return err
	case left > 0 && o.query.Cursor != "":
		// The next cursor skips the hits that did not fit.
		_, err = fmt.Fprintf(a.ErrOut, "there are more: ask again with --limit %d, or with more tokens\n", shown)
		return err
	case o.query.Cursor != "" && found.More:
		_, err = fmt.Fprintf(a.ErrOut, "there are more: --cursor %s\n", result.Next)
		return err
	}
	return a.Closing(&o.page, shown, found.More || left > 0)
}

// Searched is the result of a search, with the number of items that are not indexed yet.
type Searched struct {
	retrieve.Result
	NotIndexed int `json:"not_indexed"`
}

// knownScope refuses a given project, user, agent or session in which nothing was processed. The error lists the known
// names, except of sessions. If nothing was processed at all, it refuses none. Without users it checks only the project,
// because a hit proves that the user is known.
func knownScope(ctx context.Context, a *command.App, o *SearchOptions, users bool) error {
	if a.Called() {
		return nil // Programs ask about scopes that are empty yet, and may not learn of others.
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	known, err := build.Scopes(ctx, conn, command.MaxScopes)
	if err != nil || len(known) == 0 || len(known) == command.MaxScopes {
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
		return command.Missingf("--%s %s: there is none%s%s", asked.flag, asked.value, asked.within, command.ThereAre(names))
	}
	if users {
		return command.KnownSession(ctx, conn, o.query)
	}
	return nil
}

// notices explain why the search may have missed memories.
func notices(r Searched) (lines []string) {
	if r.NotIndexed > 0 {
		lines = append(lines, command.Plural(r.NotIndexed, "item is", "items are")+" not indexed yet, and may be found in some seconds")
	}
	switch {
	case r.WordsOnly != "":
		lines = append(lines, "searched by words alone: the embedder in use is "+r.Embedder+", and here "+command.OneLine(r.WordsOnly, 200))
	case strings.HasPrefix(r.Embedder, llm.ProviderHash+"-"):
		lines = append(lines, "searched by words: the embedder "+r.Embedder+" knows no meaning")
	}
	return lines
}

// findSearched expands the beginning of a session id in the query.
func findSearched(ctx context.Context, a *command.App, q *client.Query) error {
	if q.Session == "" {
		return nil
	}
	if _, err := llm.NewEmbedder(ctx, a.Cfg.Embedder); err != nil {
		return command.BadUsage(err) // Report a mistake before any server is contacted.
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	q.Session, err = command.FindSession(ctx, conn, schema.SessionKey{
		Scope: schema.Scope{Project: q.Project, User: q.User, Agent: q.Agent}, SessionID: q.Session,
	})
	return err
}

// nothing returns the text for an empty result. It repeats the filters.
func (o *SearchOptions) nothing() string {
	var b strings.Builder
	command.Say(&b, "nothing found in project %s for user %s", o.query.Project, o.query.User)
	for _, filter := range []struct{ name, value string }{
		{"agent", o.query.Agent}, {"session", o.query.Session}, {"kind", strings.Join(o.kinds, " or ")}, {"type", strings.Join(o.types, " or ")},
		{"stage", strings.Join(o.stages, " or ")}, {"status", strings.Join(o.statuses, " or ")}, {"from", o.from}, {"to", o.to}, {"as of", o.asOf},
	} {
		if filter.value != "" {
			command.Say(&b, ", %s %s", filter.name, filter.value)
		}
	}
	return b.String()
}

// scoreText formats the score, with a mark if the hit is weak.
func scoreText(h retrieve.Hit) string {
	if h.Weak {
		return fmt.Sprintf("score %.3f, weak", h.Score)
	}
	return fmt.Sprintf("score %.3f", h.Score)
}

// PrintHits prints the hits that fit and returns how many did not.
func PrintHits(b *strings.Builder, o *SearchOptions, r retrieve.Result) (left int, err error) {
	var counter fact.Counter
	if o.MaxTokens > 0 {
		if counter, err = fact.CL100K(); err != nil {
			return 0, err
		}
	}
	tokens := 0
	for i, h := range r.Hits {
		text := hitText(o, o.page.Offset+i+1, h)
		if counter != nil {
			if tokens += counter.Count(text); tokens > o.MaxTokens {
				return len(r.Hits) - i, nil
			}
		}
		b.WriteString(text)
	}
	return 0, nil
}

// hitText formats a hit for people.
func hitText(o *SearchOptions, number int, h retrieve.Hit) string {
	var b strings.Builder
	switch h.Kind {
	case retrieve.KindMessage:
		sayMessage(&b, number, o.query.Text, h)
	case retrieve.KindTask:
		command.Say(&b, "%d. %s\n   task · %s · %s · task %s\n", number, command.OneLine(h.Title, 160), h.Tracked.Status, scoreText(h), h.Tracked.ID)
	case retrieve.KindFact:
		command.Say(&b, "%d. %s\n   fact that a person entered · %s · %s · %s · %s\n", number, command.OneLine(h.Title, 160), h.Fact.Category, scoreText(h), command.When(h.OccurredAt), h.Fact.ID)
	default:
		sayEntry(&b, number, h)
	}
	for _, t := range h.Around {
		mark, statement := " ", ""
		if t.Hit {
			mark, statement = ">", cmp.Or(h.Title, o.query.Text)
		}
		command.Say(&b, "   %s %d %s: %s\n", mark, t.Index, cmp.Or(t.Author, string(t.Role)), command.Excerpt(t.Text, statement, 160))
	}
	if o.explain {
		sayScore(&b, h)
	}
	return b.String()
}

func sayMessage(b *strings.Builder, number int, query string, h retrieve.Hit) {
	command.Say(b, "%d. “%s”\n   %s, message %d of session %s · %s · %s · entry show %s", number, command.Excerpt(h.Content, query, 300),
		cmp.Or(h.Message.Author, string(h.Message.Role)), h.Message.Index, command.Unbroken(h.SessionID), scoreText(h), command.When(h.OccurredAt), h.Message.Handle())
	if h.MoreSessions > 0 {
		command.Say(b, " · and %s", command.Plural(h.MoreSessions, "message that says the same", "messages that say the same"))
	}
	b.WriteString("\n")
}

func sayEntry(b *strings.Builder, number int, h retrieve.Hit) {
	command.Say(b, "%d. %s\n   %s · %s · %s · %s · %s · entry %s", number, command.OneLine(h.Title, 160),
		h.Type, show.StageText(h.Stage, h.Status), show.StandingOfPieces(h.Evidence), scoreText(h), command.When(h.OccurredAt), command.ShortID(h.ID))
	if sessions := len(h.Sessions) + h.MoreSessions; sessions > 1 {
		command.Say(b, " · said in %d sessions", sessions)
	}
	if h.Tracked != nil {
		command.Say(b, " · task %s, %s", h.Tracked.ID, h.Tracked.Status)
	}
	b.WriteString("\n")
	sayBelief(b, h)
	show.SayEvidence(b, h.EvidenceSessionID, h.Title, h.Evidence)
	for _, s := range h.Sessions[min(1, len(h.Sessions)):] {
		command.Say(b, "   also in session %s: %s · %s · %s · %s · entry %s\n",
			command.Unbroken(s.SessionID), s.Type, show.StageText(s.Stage, s.Status), show.StandingOfPieces(s.Evidence), command.When(s.OccurredAt), command.ShortID(s.EntryID))
		show.SayEvidence(b, s.EvidenceSessionID, h.Title, s.Evidence)
	}
	if h.MoreSessions > 0 {
		command.Say(b, "   and %s\n", command.Plural(h.MoreSessions, "more session", "more sessions"))
	}
}

// sayBelief writes until when the hit was believed, its successor, and the entries that contest it.
func sayBelief(b *strings.Builder, h retrieve.Hit) {
	named := func(id, title string) string {
		if title == "" {
			return "entry " + command.ShortID(id)
		}
		return "entry " + command.ShortID(id) + " “" + command.OneLine(title, 80) + "”"
	}
	if !h.EndedAt.IsZero() {
		command.Say(b, "   believed until %s", show.DayOf(h.EndedAt))
		switch {
		case h.SupersededBy != "":
			command.Say(b, ", superseded by %s", named(h.SupersededBy, h.SupersededByTitle))
		case h.Status == schema.StatusSuperseded && h.EndedBy == "":
			b.WriteString(", a newer extractor does not state it")
		default:
			b.WriteString(", retired")
		}
		if h.EndedBecause != "" {
			command.Say(b, ": %s", command.OneLine(h.EndedBecause, 120))
		}
		b.WriteString("\n")
	}
	for _, other := range h.ContestedBy {
		command.Say(b, "   contested by %s\n", named(other.EntryID, other.Title))
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
	command.Say(b, "   %.3f = (vector %.3f + words %.3f%s) × %s %.2f × status %.2f × recency %.2f × sessions %.2f; similarity %.3f, %.1f deviations above chance",
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
	return "\n" + command.Plural(r.Superseded, "memory that is no longer believed matches", "memories that are no longer believed match") +
		": --superseded shows superseded and retired ones"
}

// unrelated explains why the nearest memories are not listed.
func unrelated(r Searched) string {
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
