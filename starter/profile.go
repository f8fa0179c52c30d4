package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/schema"
)

// shownProfile is the profile, with the version of the whole memory.
type shownProfile struct {
	Sections []fact.Section `json:"sections"`
	Version  uint64         `json:"version"`
}

func (a *app) profileShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show", Short: "show the profile of a user",
	}
	f := cmd.Flags()
	o := &owner{}
	o.add(f)
	return a.online(cmd, func(ctx context.Context, _ []string) error {
		return a.withFacts(ctx, func(_ driver.Conn, t *fact.Tables) error {
			// The version is read first: a stale version is refused later, a version newer than the rows would not be.
			version, err := t.Version(ctx, o.user, o.agent)
			if err != nil {
				return err
			}
			sections, err := t.Profile(ctx, o.user, o.agent)
			if err != nil {
				return err
			}
			if sections == nil {
				sections = []fact.Section{}
			}
			return a.print(shownProfile{sections, version}, func(w io.Writer) error { return printProfile(w, o, sections) })
		})
	})
}

func printProfile(w io.Writer, o *owner, sections []fact.Section) error {
	var b strings.Builder
	if len(sections) == 0 {
		say(&b, "the profile of %s is empty\n", o)
	}
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		from := "by " + s.Actor
		if s.EntryID != "" {
			from = fmt.Sprintf("from session %s, entry %s", s.SessionID, short(s.EntryID))
		}
		say(&b, "%s, %s, version %d, %s%s\n", s.Name, when(s.UpdatedAt), s.Version, from, factText(s.Entry))
		block(&b, "  │ ", s.Summary)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *app) profileSetCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "set SECTION TEXT…", Short: "set a section of the profile",
		Example: "starter profile set work Builds the payment service with a team of four",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpSection, "the section")
	x.addConfidence(1)
	x.addProject()
	return a.online(cmd, func(ctx context.Context, args []string) (err error) {
		if err = x.take(); err != nil {
			return err
		}
		if err := oneOfSections(args[0]); err != nil {
			return err
		}
		x.command.Section = args[0]
		if x.command.Content, err = textOf(args[1:]); err != nil {
			return err
		}
		result, err := a.tell(ctx, x.command)
		if err != nil {
			return err
		}
		return a.print(result, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "the section %s is set, version %d\n", args[0], result.LastSeq)
			return err
		})
	})
}

func (a *app) profileClearCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "clear SECTION…", Short: "remove sections of the profile",
	}
	f := cmd.Flags()
	x := &factFlags{}
	x.add(f, fact.OpSection, "the section")
	return a.online(cmd, func(ctx context.Context, args []string) error {
		if err := x.take(); err != nil {
			return err
		}
		for _, name := range args {
			if err := oneOfSections(name); err != nil {
				return err
			}
		}
		if x.command.ExpectVersion > 0 && len(args) > 1 {
			return usagef("--expect-version is the version of one section: name one")
		}
		var results []fact.Result
		for _, name := range slices.Compact(slices.Sorted(slices.Values(args))) {
			x.command.Section, x.command.Content = name, new(string)
			result, err := a.tell(ctx, x.command)
			if err != nil && len(results) > 0 {
				return fmt.Errorf("%w; %s before it were removed", err, plural(len(results), "section", "sections"))
			}
			if err != nil {
				return err
			}
			results = append(results, result)
		}
		return a.print(results, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "removed from the profile: %s\n", strings.Join(args, ", "))
			return err
		})
	})
}

func oneOfSections(name string) error {
	if slices.Contains(schema.ProfileSections(), name) {
		return nil
	}
	return usagef("section %q: want one of %s", name, strings.Join(schema.ProfileSections(), ", "))
}
