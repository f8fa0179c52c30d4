package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/build"
	"axiommind/activities/retrieve"
	"axiommind/activities/retrieve/eval"
	"axiommind/activities/vector"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/operation"
	"axiommind/starter/command/progress"
	"axiommind/worker/service"
)

// searchRetriever searches like starter search.
type searchRetriever struct {
	searcher *retrieve.Searcher
	alpha    *float64
}

// Retrieve implements eval.Retriever.
func (r searchRetriever) Retrieve(ctx context.Context, q eval.Question, limit int) ([]eval.Found, error) {
	result, err := r.searcher.Search(ctx, retrieve.Query{
		Text: q.Query, Project: cmp.Or(q.Project, "default"), User: cmp.Or(q.User, "default"), Agent: q.Agent, AsOf: q.AsOf,
		Limit: limit, Alpha: r.alpha,
	})
	if err != nil {
		return nil, err
	}
	found := make([]eval.Found, len(result.Hits))
	for i, h := range result.Hits {
		found[i] = foundOf(h)
		found[i].Weak = h.Weak
	}
	return found, nil
}

// foundOf converts a hit, together with all entries that say the same. An entry is found in the session that states it, and
// in the messages that it quotes.
func foundOf(h retrieve.Hit) eval.Found {
	switch h.Kind {
	case retrieve.KindMessage:
		return eval.Found{Kind: eval.KindMessage, Session: h.SessionID, Messages: []int{h.Message.Index}, Text: h.Content, Score: h.Score}
	case retrieve.KindTask:
		return eval.Found{Kind: eval.KindTask, ID: h.Tracked.ID, Text: h.Title, Score: h.Score}
	case retrieve.KindFact:
		return eval.Found{Kind: eval.KindFact, ID: h.Fact.ID, Text: h.Title, Score: h.Score}
	}
	f := foundEntry(h.ID, h.Text(), h.EvidenceSessionID, h.Evidence)
	f.Score = h.Score
	if h.SessionID != h.EvidenceSessionID {
		f.Also = append(f.Also, foundEntry(h.ID, h.Text(), h.SessionID, nil))
	}
	for _, s := range h.Sessions {
		if s.EntryID == h.ID {
			continue
		}
		f.Also = append(f.Also, foundEntry(s.EntryID, s.Title, s.EvidenceSessionID, s.Evidence))
		if s.SessionID != s.EvidenceSessionID {
			f.Also = append(f.Also, foundEntry(s.EntryID, s.Title, s.SessionID, nil))
		}
	}
	return f
}

// foundEntry converts an entry with its quotes. An entry that was not found in the source has no quotes.
func foundEntry(id, text, session string, evidence []schema.Evidence) eval.Found {
	f := eval.Found{Kind: eval.KindEntry, ID: id, Session: session}
	lines := []string{text}
	for _, e := range evidence {
		if e.Found {
			f.Messages = append(f.Messages, e.MessageIndex)
			lines = append(lines, cmp.Or(e.Text, e.Quote))
		}
	}
	f.Text = strings.Join(lines, "\n")
	return f
}

// variant is a setting of the search.
type variant struct {
	name string
	// alpha is nil for the embedder's default.
	alpha   *float64
	weights *retrieve.Weights
}

// variants returns the requested setting, followed by variants that change one part of it.
func (o *evalOptions) variants() []variant {
	var alpha *float64
	if o.flags.Changed("alpha") {
		alpha = &o.alpha
	}
	all := []variant{{"default", alpha, nil}}
	if o.ablations {
		words, meaning := 0.0, 1.0
		alone := retrieve.DefaultWeights()
		alone.Neighbours = retrieve.Neighbours{}
		// In the zero value all factors are 1 and there are no neighbours.
		plain := &retrieve.Weights{}
		all = append(all,
			variant{"words alone (bm25)", &words, plain}, variant{"meaning alone (vector)", &meaning, plain},
			variant{"no neighbours", alpha, &alone}, variant{"no reranking", alpha, plain})
	}
	return all
}

// evalRuns asks all questions with each variant.
func evalRuns(ctx context.Context, a *command.App, o *evalOptions, report *evalReport) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	weaviate, err := service.ConnectWeaviate(ctx, a.Cfg)
	if err != nil {
		return command.NotUp(err)
	}
	indexes := operation.Indexes(a, conn, weaviate, operation.OwnEmbedder(ctx, a))
	embedder, err := indexes.InUse(ctx)
	if err != nil {
		return err
	}
	if none, words := embedder.(vector.WordsOnly); words {
		return command.BadUsage(fmt.Errorf("the embedder in use is %s, and here %s: words alone would be measured", embedder.Version(), command.OneLine(none.Reason.Error(), 200)))
	}
	waiting, err := o.ready(ctx, conn, embedder.Version())
	if err != nil {
		return err
	}
	variants := o.variants()
	asked := len(eval.Half(o.half).Of(o.questions))
	bar := progress.New(a, asked*len(variants), "questions asked")
	defer bar.Finish()
	for i, v := range variants {
		options := o.options()
		searcher := retrieve.NewSearcher(conn, weaviate, embedder, retrieve.Options{Weights: v.weights, Alpha: v.alpha})
		options.Embedder, options.Settings = embedder.Version(), v.settings(searcher.Alpha())
		if waiting > 0 {
			options.Settings["not_indexed"] = strconv.Itoa(waiting)
		}
		options.Progress = func(done, total int) { bar.At(v.name, i*total+done, len(variants)*total, "questions asked") }
		run, err := eval.Run(ctx, o.questions, searchRetriever{searcher, v.alpha}, options)
		switch {
		case errors.Is(err, retrieve.ErrQuery):
			return command.BadUsage(err)
		case err != nil:
			return err
		case i == 0:
			report.Run = run
		default:
			report.Ablations = append(report.Ablations, ablation{v.name, run})
		}
	}
	return nil
}

// ready returns an error if a project or user of the questions has no memory, or if items are not indexed yet and would be
// missed. With --now it returns the number of such items instead.
func (o *evalOptions) ready(ctx context.Context, conn driver.Conn, version string) (int, error) {
	var projects []string
	for _, q := range eval.Half(o.half).Of(o.questions) {
		projects = append(projects, cmp.Or(q.Project, "default"))
	}
	slices.Sort(projects)
	projects = slices.Compact(projects)
	known, err := build.Scopes(ctx, conn, command.MaxScopes)
	if err != nil {
		return 0, err
	}
	for _, p := range projects {
		if len(known) < command.MaxScopes && !slices.ContainsFunc(known, func(s schema.Scope) bool { return s.Project == p }) {
			return 0, command.Usagef("%s: nothing was ever processed in project %s: %s", o.goldSet, command.OneLine(p, 200), build.Command("process", "FILE", "--project="+p))
		}
	}
	for _, q := range eval.Half(o.half).Of(o.questions) {
		project, user := cmp.Or(q.Project, "default"), cmp.Or(q.User, "default")
		if len(known) < command.MaxScopes && !slices.ContainsFunc(known, func(s schema.Scope) bool {
			return s.Project == project && s.User == user && (q.Agent == "" || s.Agent == q.Agent)
		}) {
			return 0, command.Usagef("%s: question %s: no session of %s was processed in project %s: correct the question, or process one",
				o.goldSet, command.OneLine(q.ID, 200), command.Unbroken((&command.Owner{User: user, Agent: q.Agent}).String()), command.Unbroken(project))
		}
	}
	waiting, err := vector.Waiting(ctx, conn, version, "", projects...)
	if err == nil && waiting > 0 && !o.now {
		return 0, fmt.Errorf("%s not indexed yet and would be missed: wait until starter embedder status says that all are, or give --now",
			command.Plural(waiting, "item is", "items are"))
	}
	return waiting, err
}

// settings returns the settings that are written to the result, to record which variant was measured.
func (v variant) settings(alpha float64) map[string]string {
	s := map[string]string{"variant": v.name, "alpha": strconv.FormatFloat(alpha, 'g', -1, 64), "rerank": "default", "neighbours": "default"}
	if v.weights != nil {
		s["neighbours"] = "none"
		if v.weights.Stage == nil {
			s["rerank"] = "none"
		}
	}
	return s
}
