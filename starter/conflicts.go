package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/graduate"
	"axiommind/activities/table"
	"axiommind/schema"
)

// keepBoth is the value of --keep when neither side is wrong. It can't be mistaken for an entry id.
const keepBoth = "both"

// withLedgers runs fn with the ledgers and a reader of their entries. An unknown id is a usage error.
func (a *app) withLedgers(ctx context.Context, fn func(*graduate.Ledgers, *entry.Reader) error) error {
	return a.withLog(ctx, func(l *graduate.Ledgers, r *entry.Reader, _ *eventlog.Store) error { return fn(l, r) })
}

// withLog is like withLedgers, and also passes the log.
func (a *app) withLog(ctx context.Context, fn func(*graduate.Ledgers, *entry.Reader, *eventlog.Store) error) error {
	conn, err := a.clickHouse(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	err = fn(graduate.NewLedgers(conn), entry.NewReader(conn), eventlog.New(conn, eventlog.Options{}))
	for _, mistake := range []error{graduate.ErrNoConflict, graduate.ErrNoDecision, graduate.ErrNoProposal, table.ErrAmbiguous, entry.ErrNotFound} {
		if errors.Is(err, mistake) {
			return badUsage(err)
		}
	}
	return err
}

// rows returns how many rows to read for a page of a list that can only be read from its start.
func (p *page) rows() int { return p.offset + p.ask() }

// after drops the rows before the page's offset.
func after[T any](p *page, rows []T) []T { return rows[min(p.offset, len(rows)):] }

func (a *app) conflictsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "conflicts", Short: "list memories that contradict each other",
	}
	f := cmd.Flags()
	q, p := graduate.ConflictQuery{}, &page{}
	f.StringVar(&q.Project, "project", "default", "project of the memories")
	f.BoolVar(&q.Resolved, "all", false, "include resolved conflicts")
	p.add(f, defaultPage, maxPage, "open ones and the latest first")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		q.Limit = p.rows()
		return a.withLedgers(ctx, func(l *graduate.Ledgers, _ *entry.Reader) error {
			conflicts, err := l.Conflicts(ctx, q)
			if err != nil {
				return err
			}
			none := "nothing contradicts anything in project " + unbroken(q.Project)
			if !q.Resolved {
				none += "; --all includes resolved conflicts"
			}
			if len(conflicts) == 0 {
				known, err := a.knows(ctx, q.Project)
				if err != nil {
					return err
				}
				if !known {
					none = nothingKnown(q.Project)
				}
			}
			return list(a, p, after(p, conflicts), none, func(w io.Writer, shown []graduate.Conflict) error {
				return printConflicts(w, q.Project, shown)
			})
		})
	})
}

func printConflicts(w io.Writer, project string, conflicts []graduate.Conflict) error {
	var b strings.Builder
	t := newTable(&b, "conflict", "differs in", "entry", "said", "statement", "state")
	open := false
	for _, c := range conflicts {
		open = open || c.Open()
		t.AppendRow([]any{
			short(c.ID), c.Type, manyLines{short(c.Older.EntryID), short(c.Newer.EntryID)},
			manyLines{dayOf(c.Older.OccurredAt), dayOf(c.Newer.OccurredAt)},
			manyLines{oneLine(c.Older.Title, 70), oneLine(c.Newer.Title, 70)}, oneLine(conflictState(c), 60),
		})
	}
	t.Render()
	if open {
		say(&b, "to resolve one: %s\n", inProject(project, "conflicts", "resolve", "CONFLICT", "--keep=ENTRY"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// conflictState describes whether a conflict is open, or how it was resolved.
func conflictState(c graduate.Conflict) string {
	text := "open"
	switch {
	case c.Open():
		return text
	case c.ResolvedBy == graduate.ResolvedByGraduation:
		return shortIDs(c.Resolution)
	case c.Kept != "":
		text = short(c.Kept) + " is right"
	default:
		text = "neither is wrong"
	}
	if c.Resolution != "" {
		text += ": " + c.Resolution
	}
	return text
}

func (a *app) conflictsShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show CONFLICT", Short: "show both sides of a conflict, with their evidence",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the memories")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		return a.withLedgers(ctx, func(l *graduate.Ledgers, r *entry.Reader) error {
			c, err := l.Conflict(ctx, *project, args[0])
			if err != nil {
				return err
			}
			sides, err := r.ByID(ctx, entry.InProject(*project).IDs([]string{c.Older.EntryID, c.Newer.EntryID}), entry.Whole)
			if err != nil {
				return err
			}
			out := struct {
				graduate.Conflict
				OlderEvidence []schema.Evidence `json:"older_evidence"`
				NewerEvidence []schema.Evidence `json:"newer_evidence"`
			}{c, sides[c.Older.EntryID].Evidence, sides[c.Newer.EntryID].Evidence}
			return a.print(out, func(w io.Writer) error { return printConflict(w, *project, c, sides) })
		})
	})
}

func printConflict(w io.Writer, project string, c graduate.Conflict, sides map[string]entry.Row) error {
	var b strings.Builder
	say(&b, "conflict  %s\ndiffers   in %s: %s\nfound     %s, by %s\n", c.ID, c.Type, c.Reason, when(c.DetectedAt), foundBy(c))
	if c.Open() {
		b.WriteString("state     open: both sides are contested\n")
	} else {
		say(&b, "state     resolved on %s by %s: %s\n", when(c.ResolvedAt), c.ResolvedBy, conflictState(c))
	}
	for _, side := range []struct {
		name string
		graduate.Side
	}{{"older", c.Older}, {"newer", c.Newer}} {
		say(&b, "\n%s     %s\n", side.name, side.Title)
		saySide(&b, side.Side, sides[side.EntryID])
	}
	if c.Open() {
		say(&b, "\nto resolve it: %s\n", inProject(project, "conflicts", "resolve", short(c.ID), "--keep="+short(c.Newer.EntryID)))
		say(&b, "or keep %s, or keep %s if they do not contradict each other\n", short(c.Older.EntryID), keepBoth)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// foundBy names the model or rule that found a conflict.
func foundBy(c graduate.Conflict) string {
	if c.Model != "" {
		return "the model " + c.Model
	}
	return "rule"
}

// saySide writes the current state of an entry and its evidence.
func saySide(b *strings.Builder, s graduate.Side, row entry.Row) {
	say(b, "          entry %s · %s · %s · %s, session %s\n", short(s.EntryID), s.Type, stageText(s.Stage, s.Status), when(s.OccurredAt), s.SessionID)
	for _, e := range row.Evidence {
		say(b, "          %s\n", evidenceLine(row.EvidenceSessionID, e))
	}
}

func (a *app) conflictsResolveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolve [CONFLICT…]", Short: "say which side of conflicts is right, or that both are",
		Example: "starter conflicts resolve 0a1b2c3d --keep 04a5ad1b --because 'measured again in May'\n" +
			"starter conflicts resolve --keep 04a5ad1b\n" +
			"starter conflicts resolve 0a1b2c3d --keep both",
	}
	f := cmd.Flags()
	c := graduate.Command{Op: graduate.OpResolve}
	f.StringVar(&c.Project, "project", "default", "project of the memories")
	f.StringVar(&c.Because, "because", "", "why, for the history")
	keep := f.String("keep", "", "the entry that is right, or both if they do not contradict each other (needed)")
	a.complete(cmd, "keep", entryIDs)
	return a.online(cmd, func(ctx context.Context, args []string) error {
		switch {
		case *keep == "":
			return usagef("give the entry that is right with --keep, or --keep %s", keepBoth)
		case *keep == keepBoth && len(args) == 0:
			return usagef("name the conflicts in which both sides are right; starter conflicts lists them")
		}
		err := a.withLedgers(ctx, func(l *graduate.Ledgers, r *entry.Reader) error {
			if *keep != keepBoth {
				row, err := r.Get(ctx, c.Project, *keep)
				if err != nil {
					return err
				}
				c.Keep = row.ID
			}
			conflicts, err := conflictsToResolve(ctx, l, c, args)
			for _, each := range conflicts {
				c.ConflictIDs = append(c.ConflictIDs, each.ID)
			}
			return err
		})
		if err != nil {
			return err
		}
		return a.rule(ctx, c)
	})
}

// conflictsToResolve reads the conflicts with the given ids or beginnings of ids. Without ids it reads all open conflicts of
// the entry to keep. The entry must be a side of each.
func conflictsToResolve(ctx context.Context, l *graduate.Ledgers, c graduate.Command, given []string) ([]graduate.Conflict, error) {
	if len(given) == 0 {
		found, err := l.Conflicts(ctx, graduate.ConflictQuery{Project: c.Project, EntryID: c.Keep})
		if err == nil && len(found) == 0 {
			err = usagef("no open conflict has entry %q of project %q as a side", c.Keep, c.Project)
		}
		return found, err
	}
	var out []graduate.Conflict
	for _, id := range given {
		one, err := l.Conflict(ctx, c.Project, id)
		if err != nil {
			return nil, err
		}
		if c.Keep != "" && c.Keep != one.Older.EntryID && c.Keep != one.Newer.EntryID {
			return nil, usagef("entry %q is no side of conflict %q, which is between %q and %q", c.Keep, one.ID, one.Older.EntryID, one.Newer.EntryID)
		}
		if !slices.ContainsFunc(out, func(had graduate.Conflict) bool { return had.ID == one.ID }) {
			out = append(out, one)
		}
	}
	return out, nil
}

// needsText returns an error if the required text of a flag is empty.
func needsText(flag, text string) error {
	if strings.TrimSpace(text) == "" {
		return usagef("--%s is empty: give a reason, which the history keeps", flag)
	}
	return nil
}
