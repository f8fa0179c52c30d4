package facts

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"axiommind/activities/fact"
	"axiommind/starter/command"
)

func exportCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "print the facts and the profile as JSON that other tools read",
	}
	f := cmd.Flags()
	o := &command.Owner{}
	o.Add(f)
	file := f.String("file", "", "write to this file, which only you may read")
	return a.Online(cmd, func(ctx context.Context, _ []string) error {
		var document fact.Document
		left := 0
		err := withFacts(ctx, a, func(_ driver.Conn, t *fact.Tables) error {
			facts, err := t.List(ctx, o.User, o.Agent)
			if err == nil {
				err = t.Judge(ctx, o.User, o.Agent, facts)
			}
			if err != nil {
				return err
			}
			sections, err := t.Profile(ctx, o.User, o.Agent)
			believed := fact.Believed(facts)
			document, left = fact.NewDocument(believed, sections), len(facts)-len(believed)
			return err
		})
		if err != nil {
			return err
		}
		if left > 0 {
			_, _ = fmt.Fprintf(a.ErrOut, "left out %s not believed any longer; facts lists them\n", command.Plural(left, "fact that is", "facts that are"))
		}
		if *file == "" {
			if err := command.Encode(a.Exact, document); err != nil {
				return fmt.Errorf("write output: %w", err)
			}
			return nil
		}
		var b strings.Builder
		if err := command.Encode(&b, document); err != nil {
			return err
		}
		if err := os.WriteFile(*file, []byte(b.String()), 0o600); err != nil {
			return command.BadUsage(err)
		}
		_, err = fmt.Fprintf(a.ErrOut, "wrote %s of %s to %s\n", command.Plural(len(document.Facts), "fact", "facts"), command.Unbroken(o.String()), command.Unbroken(*file))
		return err
	})
}
