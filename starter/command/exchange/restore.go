package exchange

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
	"axiommind/activities/evidence/audit"
	"axiommind/activities/projection"
	"axiommind/activities/session/keyring"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/truth"
)

// restored is the result of a restore.
type restored struct {
	Place string    `json:"place"`
	Parts int       `json:"parts"`
	At    time.Time `json:"at"`
	imported
	// Missing are the ids of keys that the originals in the log need, and that --raw-key-file does not have.
	Missing []string `json:"missing_keys,omitempty"`
	// Verified counts the evidence that was compared with the log at the end.
	Verified *audit.Tally    `json:"verified,omitempty"`
	Findings []audit.Finding `json:"findings,omitempty"`
}

func restoreCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FROM", Short: "bring a backup back, and derive everything from it",
		Example: "starter restore /mnt/backup --dry-run\nstarter restore /mnt/backup",
	}
	dry := cmd.Flags().Bool("dry-run", false, "check the backup, and restore nothing")
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		from, err := openPlace(ctx, args[0], false)
		if err != nil {
			return err
		}
		names, err := from.Names(ctx)
		if err != nil {
			return fmt.Errorf("list %s: %w", from, err)
		}
		parts, err := partsOf(ctx, from, names)
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			return command.Missingf("no backup in %s", from)
		}
		conn, err := a.ClickHouse(ctx)
		if err != nil {
			return err
		}
		last := parts[len(parts)-1]
		out := restored{Place: from.String(), Parts: len(parts), At: last.At}
		if out.Missing, err = missingKeys(a, last.Keys); err != nil {
			return err
		}
		x := &importer{log: projection.New(conn, eventlog.Options{}), volumes: volumes(ctx, from, parts)}
		if out.imported, err = x.run(ctx, *dry); err != nil {
			return err
		}
		if out.DryRun = *dry; *dry {
			return a.Print(out, func(b *strings.Builder) { printRestored(b, out) })
		}
		if err := x.derive(ctx, a, conn, &out.imported); err != nil {
			return fmt.Errorf("all events are in the log, but not all is derived from them; the same command does it: %w", err)
		}
		tally, findings, err := truth.Audit(ctx, a, conn, schema.SessionKey{})
		if err != nil {
			return err
		}
		out.Verified, out.Findings = &tally, findings
		if err := a.Print(out, func(b *strings.Builder) { printRestored(b, out) }); err != nil {
			return err
		}
		if tally.False > 0 {
			return fmt.Errorf("%s of evidence that is not true of the log: see starter verify", command.Plural(tally.False, "finding", "findings"))
		}
		return nil
	})
}

// missingKeys returns the ids that the key file of the settings does not have.
func missingKeys(a *command.App, ids []string) ([]string, error) {
	if len(ids) == 0 || a.Cfg.RawKeyFile == "" {
		return ids, nil
	}
	ring, err := keyring.Load("raw", a.Cfg.RawKeyFile)
	if err != nil {
		return nil, command.BadUsage(err)
	}
	return slices.DeleteFunc(slices.Clone(ids), ring.Has), nil
}

func printRestored(b *strings.Builder, x restored) {
	verb := "restored"
	if x.DryRun {
		verb = "nothing was restored; it would be"
	}
	command.Say(b, "%s as of %s, %s: %s %d of %s, in %s; the log has the others\n", x.Place, x.At.Format("2006-01-02 15:04:05 UTC"),
		command.Plural(x.Parts, "part", "parts"), verb, x.New, command.Plural(x.Events, "event", "events"), command.Plural(x.Streams, "stream", "streams"))
	sayForgotten(b, x.imported)
	if v := x.Verified; v != nil {
		command.Say(b, "%s\n", truth.TallyLine(*v))
		command.Say(b, "%s to index; to see how far: starter embedder status\n", command.Plural(x.Vectors, "item", "items"))
	}
	if len(x.Missing) > 0 {
		command.Say(b, "originals are encrypted with %s: bring the keys back and name their file by --raw-key-file\n", strings.Join(x.Missing, ", "))
	}
}
