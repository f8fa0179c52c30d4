package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
)

// maxFactsFile is the size of the largest file that facts import reads, in bytes.
const maxFactsFile = 64 << 20

func (a *app) factsExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "print the facts and the profile as JSON that other tools read",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	file := f.String("file", "", "write it into the file, which only you may read")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		var document fact.Document
		left := 0
		err := a.withFacts(ctx, func(conn driver.Conn, t *fact.Tables) error {
			facts, err := readFacts(ctx, conn, o, func(t *fact.Tables) ([]fact.Fact, error) { return t.List(ctx, o.user, o.agent) })
			if err != nil {
				return err
			}
			sections, err := t.Profile(ctx, o.user, o.agent)
			believed := fact.Believed(facts)
			document, left = fact.NewDocument(believed, sections), len(facts)-len(believed)
			return err
		})
		if err != nil {
			return err
		}
		if left > 0 {
			_, _ = fmt.Fprintf(a.errOut, "left out %s not believed any longer; facts lists them\n", plural(left, "fact that is", "facts that are"))
		}
		if *file == "" {
			if err := encode(a.exact, document); err != nil {
				return fmt.Errorf("write output: %w", err)
			}
			return nil
		}
		var b strings.Builder
		if err := encode(&b, document); err != nil {
			return err
		}
		if err := os.WriteFile(*file, []byte(b.String()), 0o600); err != nil {
			return badUsage(err)
		}
		_, err = fmt.Fprintf(a.errOut, "wrote %s of %s to %s\n", plural(len(document.Facts), "fact", "facts"), unbroken(o.String()), unbroken(*file))
		return err
	})
}

// imported is the result of importing a document.
type imported struct {
	fact.Result
	DryRun bool `json:"dry_run,omitempty"`
	// NotTaken are the parts of the document that could not be read.
	NotTaken []fact.NotTaken `json:"not_taken,omitempty"`
	// Would are the items that a dry run would import.
	Would []fact.Item `json:"would,omitempty"`
}

func (a *app) factsImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE|-", Short: "import the facts and the profile from such JSON",
		Example: "starter facts import memory.json --dry-run\n" +
			"starter facts export --user ann | starter facts import - --user bob",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpImport, "the memory")
	x.addProject()
	dry := f.Bool("dry-run", false, "show the changes that the import would make, and make none")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if err := x.take(); err != nil {
			return err
		}
		items, not, err := a.readFactsFile(args[0])
		if err != nil {
			return err
		}
		out := imported{NotTaken: not, DryRun: *dry}
		if *dry {
			if err := a.tryImport(ctx, &x.owner, x.command.ExpectVersion, items, &out); err != nil {
				return err
			}
		} else if err := a.importItems(ctx, x.command, items, &out); err != nil {
			return err
		}
		return a.print(out, func(w io.Writer) error { return printImported(w, out) })
	})
}

// readFactsFile reads the items to import from a file or standard input. An item that is too long for any command is refused
// before any item is sent.
func (a *app) readFactsFile(name string) ([]fact.Item, []fact.NotTaken, error) {
	in := a.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, badUsage(err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxFactsFile+1))
	switch {
	case err != nil:
		return nil, nil, badUsage(fmt.Errorf("read %q: %w", name, err))
	case len(raw) > maxFactsFile:
		return nil, nil, usagef("%q has more than %d bytes", name, maxFactsFile)
	}
	items, not, err := fact.ReadDocument(raw)
	if err != nil {
		return nil, nil, badUsage(fmt.Errorf("read %q: %w", name, err))
	}
	var long []string
	for _, item := range items {
		if why := item.TooLong(); why != "" {
			long = append(long, fmt.Sprintf("%s: %s", itemName(item), why))
		}
	}
	if len(long) > 0 {
		return nil, nil, usagef("nothing was imported: %s", strings.Join(long, "\n"))
	}
	return items, not, nil
}

// itemName returns the name of an item for people.
func itemName(item fact.Item) string {
	if item.Section != "" {
		return "the section " + item.Section
	}
	return "the fact “" + oneLine(item.Content, 60) + "”"
}

// importItems sends the items in as many commands as they need. The expected version is the version before the first
// command.
func (a *app) importItems(ctx context.Context, c fact.Command, items []fact.Item, out *imported) error {
	sent := 0
	for _, chunk := range fact.Chunks(items) {
		c.Items = chunk
		result, err := a.tell(ctx, c)
		if err != nil && sent > 0 {
			return fmt.Errorf("%w\n%d of %d items were imported before that; the same command without --expect-version imports the rest", err, sent, len(items))
		}
		if err != nil {
			return err
		}
		out.add(result)
		c.ExpectVersion, sent = 0, sent+len(chunk)
	}
	return nil
}

func (i *imported) add(r fact.Result) {
	i.Events, i.Created = i.Events+r.Events, i.Created+r.Created
	i.Evicted, i.Sections, i.LastSeq = i.Evicted+r.Evicted, i.Sections+r.Sections, max(i.LastSeq, r.LastSeq)
	for reason, n := range r.Skipped {
		i.skip(reason, n)
	}
}

func (i *imported) skip(reason string, n int) {
	if i.Skipped == nil {
		i.Skipped = map[string]int{}
	}
	i.Skipped[reason] += n
}

// tryImport predicts the result for each item, except merges and evictions, which depend on the worker's options.
func (a *app) tryImport(ctx context.Context, o *owner, expect uint64, items []fact.Item, out *imported) error {
	var m fact.Memory
	err := a.withFacts(ctx, func(_ driver.Conn, t *fact.Tables) (err error) {
		m, err = t.Load(ctx, fact.Needs{User: o.user, Agent: o.agent, All: true, Profile: true, Version: true})
		return err
	})
	if err != nil {
		return err
	}
	if expect > 0 && m.Version != expect {
		return usagef("the memory has version %d, not %d: look at it again before you change it", m.Version, expect)
	}
	known := map[string]bool{}
	for _, f := range fact.Remembered(m.Facts) {
		known[fact.Key(f.Content)] = true
	}
	for _, item := range items {
		key := fact.Key(item.Content)
		_, category := fact.Category(item.Category)
		switch {
		case key == "":
			out.skip(schema.SkippedEmpty, 1)
		case item.Confidence != nil && !(*item.Confidence >= 0 && *item.Confidence <= 1):
			out.skip(schema.SkippedConfidence, 1)
		case item.Section != "" && fact.Key(m.Sections[item.Section].Summary) == key, item.Section == "" && known[key]:
			out.skip(schema.SkippedDuplicate, 1)
		case !category:
			out.skip(schema.SkippedCategory, 1)
		case item.Section != "":
			m.Sections[item.Section] = fact.Section{Summary: item.Content}
			out.Sections++
			out.Would = append(out.Would, item)
		default:
			known[key] = true
			out.Created++
			out.Would = append(out.Would, item)
		}
	}
	return nil
}

func printImported(w io.Writer, i imported) error {
	var b strings.Builder
	for _, n := range i.NotTaken {
		say(&b, "not taken: %s: %s\n", n.Where, n.Why)
	}
	for _, item := range i.Would {
		say(&b, "%s\n", hanging(itemName(item), 2))
	}
	if i.DryRun {
		b.WriteString("nothing was changed; it would be: ")
	}
	b.WriteString(strings.Join(factCounts(i.Result), ", ") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// factCounts lists how many facts were created, updated, merged, deleted and so on.
func factCounts(r fact.Result) []string {
	out := []string{fmt.Sprintf("%d created", r.Created)}
	for _, of := range []struct {
		n    int
		what string
	}{{r.Updated, "updated"}, {r.Merged, "merged"}, {r.Deleted, "deleted"}, {r.Evicted, "evicted"}} {
		if of.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	if r.Sections > 0 {
		out = append(out, plural(r.Sections, "section set", "sections set"))
	}
	if skipped, reasons := 0, []string{}; len(r.Skipped) > 0 {
		for _, reason := range slices.Sorted(maps.Keys(r.Skipped)) {
			skipped += r.Skipped[reason]
			reasons = append(reasons, fmt.Sprintf("%s %d", reasonWords(reason), r.Skipped[reason]))
		}
		out = append(out, fmt.Sprintf("%d skipped (%s)", skipped, strings.Join(reasons, ", ")))
	}
	return out
}

// reasonWords returns the reason for a skip as people read it.
func reasonWords(reason string) string { return strings.ReplaceAll(reason, "_", " ") }

func (a *app) factsClearCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "clear", Short: "delete all facts and the profile of a user",
		Example: "starter facts clear --user ann\n" +
			"starter facts clear --user ann --yes",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpClear, "the memory")
	yes := f.Bool("yes", false, "do not ask")
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		if err := x.take(); err != nil {
			return err
		}
		if !*yes {
			if err := a.confirmClear(ctx, &x.owner); err != nil {
				return err
			}
		}
		result, err := a.tell(ctx, x.command)
		if err != nil {
			return err
		}
		return a.print(result, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "forgotten of %s: %s and %s of the profile\n"+
				"content already read from sessions is not remembered again\n",
				unbroken(x.String()), plural(result.Deleted, "fact", "facts"), plural(result.Sections, "section", "sections"))
			return err
		})
	})
}

// confirmClear asks the person at the terminal to type the user's name.
func (a *app) confirmClear(ctx context.Context, o *owner) error {
	if !isTerminal(a.in) {
		return usagef("facts clear forgets all facts and the profile of %s for good: standard input is not a terminal, so say --yes",
			o)
	}
	var facts, sections int
	err := a.withFacts(ctx, func(_ driver.Conn, t *fact.Tables) error {
		m, err := t.Load(ctx, fact.Needs{User: o.user, Agent: o.agent, Profile: true})
		for _, s := range m.Sections {
			if s.Summary != "" {
				sections++
			}
		}
		facts = m.Active
		return err
	})
	if err != nil {
		return err
	}
	return ask(a.in, a.errOut, fmt.Sprintf("This forgets %s and %s of the profile of %s. Type the user's name, %s, to go on: ",
		plural(facts, "fact", "facts"), plural(sections, "section", "sections"), unbroken(o.String()), unbroken(o.user)), o.user)
}
