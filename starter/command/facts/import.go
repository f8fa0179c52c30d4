package facts

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
	"axiommind/starter/command"
)

// maxFactsFile is the size of the largest file that facts import reads, in bytes.
const maxFactsFile = 64 << 20

// imported is the result of importing a document.
type imported struct {
	fact.Result
	DryRun bool `json:"dry_run,omitempty"`
	// NotTaken are the parts of the document that could not be read.
	NotTaken []fact.NotTaken `json:"not_taken,omitempty"`
	// Would are the items that a dry run would import.
	Would []fact.Item `json:"would,omitempty"`
}

func importCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE|-", Short: "import facts and the profile from the JSON of facts export",
		Example: "starter facts import memory.json --dry-run\n" +
			"starter facts export --user ann | starter facts import - --user bob",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpImport, "the memory")
	x.addProject()
	dry := f.Bool("dry-run", false, "show the changes that the import would make, and make none")
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if err := x.take(); err != nil {
			return err
		}
		items, not, err := readFactsFile(a, args[0])
		if err != nil {
			return err
		}
		out := imported{NotTaken: not, DryRun: *dry}
		if *dry {
			if err := tryImport(ctx, a, &x.Owner, x.command.ExpectVersion, items, &out); err != nil {
				return err
			}
		} else if err := importItems(ctx, a, x.command, items, &out); err != nil {
			return err
		}
		return a.Print(out, func(b *strings.Builder) { printImported(b, out) })
	})
}

// readFactsFile reads the items to import from a file or standard input. An item that is too long for any command is refused
// before any item is sent.
func readFactsFile(a *command.App, name string) ([]fact.Item, []fact.NotTaken, error) {
	in := a.In
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, nil, command.BadUsage(err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxFactsFile+1))
	switch {
	case err != nil:
		return nil, nil, command.BadUsage(fmt.Errorf("read %q: %w", name, err))
	case len(raw) > maxFactsFile:
		return nil, nil, command.Usagef("%q has more than %d bytes", name, maxFactsFile)
	}
	items, not, err := fact.ReadDocument(raw)
	if err != nil {
		return nil, nil, command.BadUsage(fmt.Errorf("read %q: %w", name, err))
	}
	var long []string
	for _, item := range items {
		if why := item.TooLong(); why != "" {
			long = append(long, fmt.Sprintf("%s: %s", itemName(item), why))
		}
	}
	if len(long) > 0 {
		return nil, nil, command.Usagef("nothing was imported: %s", strings.Join(long, "\n"))
	}
	return items, not, nil
}

// itemName returns the name of an item for people.
func itemName(item fact.Item) string {
	if item.Section != "" {
		return "the section " + item.Section
	}
	return "the fact “" + command.OneLine(item.Content, 60) + "”"
}

// Import sends items to the writer of the memory that the command names.
func Import(ctx context.Context, a *command.App, c fact.Command, items []fact.Item) (fact.Result, error) {
	var out imported
	c.Op = fact.OpImport
	err := importItems(ctx, a, c, items, &out)
	return out.Result, err
}

// importItems sends the items in as many commands as they need. The expected version is the version before the first
// command.
func importItems(ctx context.Context, a *command.App, c fact.Command, items []fact.Item, out *imported) error {
	sent := 0
	for _, chunk := range fact.Chunks(items) {
		c.Items = chunk
		result, err := tell(ctx, a, c)
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
func tryImport(ctx context.Context, a *command.App, o *command.Owner, expect uint64, items []fact.Item, out *imported) error {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	m, err := fact.NewTables(conn).Load(ctx, fact.Needs{User: o.User, Agent: o.Agent, All: true, Profile: true, Version: true})
	if err != nil {
		return err
	}
	if expect > 0 && m.Version != expect {
		return command.Usagef("the memory has version %d, not %d: look at it again before you change it", m.Version, expect)
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

func printImported(b *strings.Builder, i imported) {
	for _, n := range i.NotTaken {
		command.Say(b, "not taken: %s: %s\n", n.Where, n.Why)
	}
	for _, item := range i.Would {
		command.Say(b, "%s\n", command.Hanging(itemName(item), 2))
	}
	if i.DryRun {
		b.WriteString("nothing was changed; it would be: ")
	}
	b.WriteString(strings.Join(factCounts(i.Result), ", ") + "\n")
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
		out = append(out, command.Plural(r.Sections, "section set", "sections set"))
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
