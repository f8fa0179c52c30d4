package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
)

func (a *app) factsHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "history [FACT]", Short: "list the changes of facts and the profile, and rejected facts with their reasons",
	}
	f := cmd.Flags()
	o, p := &owner{}, &page{}
	o.add(f)
	p.add(f, defaultPage, maxPage, "the latest first")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if err := p.check(); err != nil {
			return err
		}
		return a.withFacts(ctx, func(_ driver.Conn, t *fact.Tables) error {
			q := fact.HistoryQuery{User: o.user, Agent: o.agent, Limit: p.ask(), Offset: p.offset}
			if len(args) > 0 {
				found, err := resolveFact(ctx, t, o, args[0])
				if err != nil {
					return err
				}
				q.FactID = found.ID
			}
			changes, err := t.History(ctx, q)
			if err != nil {
				return err
			}
			return list(a, p, changes, "nothing was ever remembered of "+unbroken(o.String()), printChangesOfFacts)
		})
	})
}

func printChangesOfFacts(w io.Writer, changes []fact.Change) error {
	var b strings.Builder
	for _, c := range changes {
		lines, err := changeLines(c)
		if err != nil {
			return err
		}
		at := when(c.RecordedAt)
		say(&b, "%s  ", at)
		for i, line := range lines {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", len(at)+2))
			}
			b.WriteString(hanging(line, len(at)+2) + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxContentShown bounds a content in a history, in characters.
const maxContentShown = 200

func quote(s string) string { return "“" + oneLine(s, maxContentShown) + "”" }

// changeLines describe the event's change and its cause.
func changeLines(c fact.Change) ([]string, error) {
	what, act, err := changeOfFact(c)
	if err != nil {
		return nil, err
	}
	from := "by " + oneLine(c.Actor, maxContentShown)
	switch {
	case c.SessionID != "" && act.EntryID != "":
		from = fmt.Sprintf("from session %s, entry %s", oneLine(c.SessionID, maxContentShown), short(act.EntryID))
	case c.SessionID != "":
		from = "from session " + oneLine(c.SessionID, maxContentShown)
	}
	if act.Reason != "" {
		from += ": " + oneLine(act.Reason, maxContentShown)
	}
	return []string{what, from}, nil
}

// changeOfFact describes the event's change.
func changeOfFact(c fact.Change) (what string, act schema.Act, err error) {
	payload, err := schema.DecodePayload(c.Event)
	if err != nil {
		return "", act, err
	}
	before := fact.Fact{}
	if c.Before != nil {
		before = *c.Before
	}
	switch p := payload.(type) {
	case schema.FactCreatedPayload:
		what = fmt.Sprintf("created %s (%s, %.2f): %s", p.FactID, oneLine(p.Category, 60), p.Confidence, quote(p.Content))
		if !p.Since.IsZero() {
			what += ", known since " + when(p.Since)
		}
	case schema.FactUpdatedPayload:
		what = fmt.Sprintf("updated %s: %s", p.FactID, strings.Join(updatedFields(before, p), ", "))
	case schema.FactDeletedPayload:
		what = fmt.Sprintf("deleted %s: %s", p.FactID, quote(before.Content))
		for _, e := range p.Evidence {
			what += ", because it was said: " + quote(e.Quote)
		}
	case schema.FactEvictedPayload:
		score := "confidence" // Events from before the introduction of policies name none.
		if p.Policy != "" {
			score = fmt.Sprintf("score, %.2f by policy %s", p.Score, oneLine(p.Policy, 60))
		}
		what = fmt.Sprintf("evicted %s for %s: %s had the lowest %s, and %s the most that is kept",
			p.FactID, p.For, quote(before.Content), score, plural(p.MaxFacts, "fact is", "facts are"))
		if p.Reserve > 0 {
			what += fmt.Sprintf(", %s of them whatever their score", plural(p.Reserve, "correction", "corrections"))
		}
	case schema.FactSkippedPayload:
		kind := "skipped"
		if p.Section != "" {
			kind += " for the section " + oneLine(p.Section, 60)
		}
		what = fmt.Sprintf("%s (%s): %s, because %s", kind, oneLine(reasonWords(p.Skipped), 60), quote(p.Content), oneLine(p.Detail, maxContentShown))
	case schema.FactMergedPayload:
		what = fmt.Sprintf("merged into %s: %s, which says nearly the same as %s: overlap %.2f (at least %.2f), similarity %.2f (at least %.2f); confidence %.2f",
			p.FactID, quote(p.Content), quote(before.Content), p.Overlap, p.MinOverlap, p.Similarity, p.MinSimilarity, p.Confidence)
	case schema.FactsClearedPayload:
		what = fmt.Sprintf("cleared: %s and %s of the profile", plural(p.Facts, "fact", "facts"), plural(p.Sections, "section", "sections"))
	case schema.ProfileUpdatedPayload:
		what = fmt.Sprintf("profile %s: %s", oneLine(p.Section, 60), quote(p.Summary))
		if p.Summary == "" {
			what = fmt.Sprintf("profile %s was removed", oneLine(p.Section, 60))
		}
	}
	if of, ok := payload.(interface{ Cause() schema.Act }); ok {
		act = of.Cause()
	}
	return what, act, nil
}

// updatedFields list the changed fields of the fact.
func updatedFields(before fact.Fact, p schema.FactUpdatedPayload) (out []string) {
	add := func(name, from, to string) {
		if from != to {
			out = append(out, fmt.Sprintf("%s %s -> %s", name, from, to))
		}
	}
	if p.Content != nil {
		add("content", quote(before.Content), quote(*p.Content))
	}
	if p.Category != nil {
		add("category", oneLine(before.Category, 60), oneLine(*p.Category, 60))
	}
	if p.Confidence != nil {
		add("confidence", fmt.Sprintf("%.2f", before.Confidence), fmt.Sprintf("%.2f", *p.Confidence))
	}
	if p.SourceError != nil {
		add("mistake to avoid", quote(before.SourceError), quote(*p.SourceError))
	}
	if len(out) == 0 {
		out = []string{"no change"}
	}
	return out
}

// factsOfBuild is the result of the facts that a build proposed.
type factsOfBuild struct {
	fact.Result
	// Lost are the merges, evictions and deletions, in the order of their events. Skipped facts are problems of the build.
	Lost []fact.Change `json:"lost,omitempty"`
}

// maxLost bounds the text output of Lost.
const maxLost = 100

// readFactsOfBuild reads the build's changes to its memory. It returns nil if there are none.
func readFactsOfBuild(ctx context.Context, conn driver.Conn, key schema.SessionKey, buildID string) (*factsOfBuild, error) {
	changes, err := fact.NewTables(conn).BuildChanges(ctx, key.User, key.Agent, buildID)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	out := &factsOfBuild{}
	if out.Result, err = fact.Sum(changes); err != nil {
		return nil, err
	}
	for _, c := range changes {
		switch c.Type {
		case schema.FactMerged, schema.FactEvicted, schema.FactDeleted:
			out.Lost = append(out.Lost, c)
		}
	}
	return out, nil
}

// sayFactsOfBuild writes how many facts the build created, and each one that was evicted, deleted or merged, with the
// reason.
func sayFactsOfBuild(b *strings.Builder, f *factsOfBuild) error {
	if f == nil {
		return nil
	}
	const margin = 11
	b.WriteString("facts      " + hanging(strings.Join(factCounts(f.Result), ", "), margin) + "\n")
	for i, c := range f.Lost {
		if i == maxLost {
			say(b, "           and %d more; facts history lists them\n", len(f.Lost)-i)
			break
		}
		what, _, err := changeOfFact(c)
		if err != nil {
			return err
		}
		b.WriteString(strings.Repeat(" ", margin) + hanging(what, margin+2) + "\n")
	}
	return nil
}
