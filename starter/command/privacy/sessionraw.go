package privacy

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"axiommind/activities/eventlog"
	"axiommind/activities/session"
	"axiommind/activities/session/keyring"
	"axiommind/schema"
	"axiommind/starter/command"
)

// sessionRawOptions are the flags of session raw.
type sessionRawOptions struct {
	key     schema.SessionKey
	message int
}

func sessionRawCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "raw SESSION", Short: "print the original messages of a session, from before redaction, if a worker kept them",
		Example: "starter session raw today --raw-key-file raw.keys\n" +
			"starter session raw today --user ann --message 7 --raw-key-file raw.keys",
	}
	f := cmd.Flags()
	var o sessionRawOptions
	command.ScopeFlags(f, "of the session", &o.key.Project, &o.key.User, &o.key.Agent)
	f.IntVar(&o.message, "message", -1, "one message, by its position (default: all that redaction changed)")
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		o.key.SessionID = args[0]
		if f.Changed("message") && o.message < 0 {
			return command.Usagef("--message %d: want a position, from 0", o.message)
		}
		return sessionRaw(ctx, a, o)
	})
}

func sessionRaw(ctx context.Context, a *command.App, o sessionRawOptions) error {
	if a.Cfg.RawKeyFile == "" {
		return command.Usagef("--raw-key-file: name the file of the keys that the worker has kept raw messages with")
	}
	ring, err := keyring.Load("raw", a.Cfg.RawKeyFile)
	if err != nil {
		return command.BadUsage(err)
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	if o.key.SessionID, err = command.FindSession(ctx, conn, o.key); err != nil {
		return err
	}
	logged, err := session.Open(ctx, eventlog.New(conn, eventlog.Options{}), o.key)
	if err != nil {
		return err
	}
	if logged.Len() == 0 {
		return command.Missingf("there is no session %q of project %q, user %q and agent %q", o.key.SessionID, o.key.Project, o.key.User, o.key.Agent)
	}
	originals, err := logged.Originals(ctx, ring)
	if err != nil {
		return err
	}
	closed := 0
	shown := make([]session.Original, 0, len(originals))
	for _, m := range originals {
		if o.message >= 0 && m.Index != o.message {
			continue
		}
		shown = append(shown, m)
		if m.Problem != "" {
			closed++
		}
	}
	if err := a.Print(shown, func(b *strings.Builder) { printOriginals(b, shown) }); err != nil {
		return err
	}
	if closed > 0 {
		return fmt.Errorf("%d of %s could not be read: message %d: %s", closed, command.Plural(len(shown), "message", "messages"), firstClosed(shown).Index, firstClosed(shown).Problem)
	}
	return nil
}

func firstClosed(all []session.Original) session.Original {
	for _, m := range all {
		if m.Problem != "" {
			return m
		}
	}
	return session.Original{}
}

func printOriginals(b *strings.Builder, all []session.Original) {
	if len(all) == 0 {
		b.WriteString("nothing is kept: redaction changed no such message, or the worker ran without --keep-raw\n")
	}
	for _, m := range all {
		command.Say(b, "message %d (%s)\n", m.Index, m.Role)
		if m.Problem == "" {
			command.Block(b, "  │ ", m.Original)
		} else {
			command.Say(b, "  %s\n", m.Problem)
		}
	}
}
