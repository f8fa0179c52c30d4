package facts

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/starter/command"
)

func historyCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history [FACT]", Short: "list the changes of facts and the profile, and rejected facts with their reasons",
	}
	o := &command.Owner{}
	o.Add(cmd.Flags())
	return command.Listing[fact.Change]{
		Order: "the latest first", Print: printChangesOfFacts,
		Read: func(ctx context.Context, conn driver.Conn, p *command.Page, args []string) (changes []fact.Change, none string, err error) {
			t, q := fact.NewTables(conn), fact.HistoryQuery{User: o.User, Agent: o.Agent, Limit: p.Ask(), Offset: p.Offset}
			if len(args) > 0 {
				found, err := t.Resolve(ctx, o.User, o.Agent, args[0])
				if err != nil {
					return nil, "", err
				}
				q.FactID = found.ID
			}
			changes, err = t.History(ctx, q)
			return changes, "nothing was ever remembered of " + command.Unbroken(o.String()), err
		},
	}.Command(a, cmd)
}

func printChangesOfFacts(b *strings.Builder, changes []fact.Change) {
	for _, c := range changes {
		at := command.When(c.RecordedAt)
		command.Say(b, "%s  ", at)
		for i, line := range changeLines(c) {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", len(at)+2))
			}
			b.WriteString(command.Hanging(line, len(at)+2) + "\n")
		}
	}
}

// maxContentShown bounds a content in a history, in characters.
const maxContentShown = 200

func quote(s string) string { return "“" + command.OneLine(s, maxContentShown) + "”" }

// changeLines describe the event's change and its cause.
func changeLines(c fact.Change) []string {
	what, act := changeOfFact(c)
	from := "by " + command.OneLine(c.Actor, maxContentShown)
	switch {
	case c.SessionID != "" && act.EntryID != "":
		from = fmt.Sprintf("from session %s, entry %s", command.OneLine(c.SessionID, maxContentShown), command.ShortID(act.EntryID))
	case c.SessionID != "":
		from = "from session " + command.OneLine(c.SessionID, maxContentShown)
	}
	if act.Reason != "" {
		from += ": " + command.OneLine(act.Reason, maxContentShown)
	}
	return []string{what, from}
}

// changeOfFact describes the event's change.
func changeOfFact(c fact.Change) (what string, act schema.Act) {
	payload, err := schema.DecodePayload(c.Event)
	if err != nil { // Tables refuse to return such a change.
		return fmt.Sprintf("%s (unreadable: %v)", c.Type, err), act
	}
	before := fact.Fact{}
	if c.Before != nil {
		before = *c.Before
	}
	switch p := payload.(type) {
	case schema.FactCreatedPayload:
		what = fmt.Sprintf("created %s (%s, %.2f): %s", p.FactID, command.OneLine(p.Category, 60), p.Confidence, quote(p.Content))
		if !p.Since.IsZero() {
			what += ", known since " + command.When(p.Since)
		}
	case schema.FactUpdatedPayload:
		what = fmt.Sprintf("updated %s: %s", p.FactID, strings.Join(updatedFields(before, p), ", "))
	case schema.FactDeletedPayload:
		what = fmt.Sprintf("deleted %s: %s", p.FactID, quote(before.Content))
		for _, e := range p.Evidence {
			what += ", because it was said: " + "“" + command.Excerpt(e.Quote, before.Content, maxContentShown) + "”"
		}
	case schema.FactEvictedPayload:
		score := "confidence" // Events from before the introduction of policies name none.
		if p.Policy != "" {
			score = fmt.Sprintf("score, %.2f by policy %s", p.Score, command.OneLine(p.Policy, 60))
		}
		what = fmt.Sprintf("evicted %s for %s: %s had the lowest %s, and %s the most that is kept",
			p.FactID, p.For, quote(before.Content), score, command.Plural(p.MaxFacts, "fact is", "facts are"))
		if p.Reserve > 0 {
			what += fmt.Sprintf(", %s of them whatever their score", command.Plural(p.Reserve, "correction", "corrections"))
		}
	case schema.FactSkippedPayload:
		kind := "skipped"
		if p.Section != "" {
			kind += " for the section " + command.OneLine(p.Section, 60)
		}
		what = fmt.Sprintf("%s (%s): %s, because %s", kind, command.OneLine(reasonWords(p.Skipped), 60), quote(p.Content), command.OneLine(p.Detail, maxContentShown))
	case schema.FactMergedPayload:
		what = fmt.Sprintf("merged into %s: %s, which says nearly the same as %s: overlap %.2f (at least %.2f), similarity %.2f (at least %.2f); confidence %.2f",
			p.FactID, quote(p.Content), quote(before.Content), p.Overlap, p.MinOverlap, p.Similarity, p.MinSimilarity, p.Confidence)
	case schema.FactsClearedPayload:
		what = fmt.Sprintf("cleared: %s and %s of the profile", command.Plural(p.Facts, "fact", "facts"), command.Plural(p.Sections, "section", "sections"))
	case schema.ProfileUpdatedPayload:
		what = fmt.Sprintf("profile %s: %s", command.OneLine(p.Section, 60), quote(p.Summary))
		if p.Summary == "" {
			what = fmt.Sprintf("profile %s was removed", command.OneLine(p.Section, 60))
		}
	}
	if of, ok := payload.(interface{ Cause() schema.Act }); ok {
		act = of.Cause()
	}
	return what, act
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
		add("category", command.OneLine(before.Category, 60), command.OneLine(*p.Category, 60))
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

// OfBuild is the result of the facts that a build proposed.
type OfBuild struct {
	fact.Result
	// Lost are the merges, evictions and deletions, in the order of their events. Skipped facts are problems of the build.
	Lost []fact.Change `json:"lost,omitempty"`
}

// maxLost bounds the text output of Lost.
const maxLost = 100

// ReadOfBuild reads the build's changes to its memory. It returns nil if there are none.
func ReadOfBuild(ctx context.Context, conn driver.Conn, key schema.SessionKey, buildID string) (*OfBuild, error) {
	changes, err := fact.NewTables(conn).BuildChanges(ctx, key.User, key.Agent, buildID)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	out := &OfBuild{}
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

// SayOfBuild writes how many facts the build created, and each one that was evicted, deleted or merged, with the
// reason.
func SayOfBuild(b *strings.Builder, f *OfBuild) {
	if f == nil {
		return
	}
	const margin = 11
	b.WriteString("facts      " + command.Hanging(strings.Join(factCounts(f.Result), ", "), margin) + "\n")
	for i, c := range f.Lost {
		if i == maxLost {
			command.Say(b, "           and %d more; facts history lists them\n", len(f.Lost)-i)
			break
		}
		what, _ := changeOfFact(c)
		b.WriteString(strings.Repeat(" ", margin) + command.Hanging(what, margin+2) + "\n")
	}
}
