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
	return a.Reads(cmd, func(ctx context.Context, conn driver.Conn, _ []string) error {
		t := fact.NewTables(conn)
		facts, err := t.List(ctx, o.User, o.Agent)
		if err == nil {
			err = t.Judge(ctx, o.User, o.Agent, facts)
		}
		if err != nil {
			return err
		}
		sections, err := t.Profile(ctx, o.User, o.Agent)
		if err != nil {
			return err
		}
		believed := fact.Believed(facts)
		document := fact.NewDocument(believed, sections)
		if left := len(facts) - len(believed); left > 0 {
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
