package privacy

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/erase"
	"axiommind/activities/eventlog"
	"axiommind/schema"
	"axiommind/starter/command"
)

// planForget returns the plan of an erasure, or nil if every store is only searched. It resumes an erasure of the same
// scope. An unknown session name may be the beginning of a longer one. Then a person at a terminal is asked for the whole
// name, and a program gets an error that suggests it.
func planForget(ctx context.Context, a *command.App, conn driver.Conn, log *eventlog.Store, o *forgetOptions) (*erase.Plan, error) {
	known, err := findErasure(ctx, a, log, o)
	if err != nil || o.Verify {
		return nil, err
	}
	plan, err := erase.Make(ctx, log, conn, "preview", o.ErasureScope, nil)
	if err != nil || known || !plan.Empty() || o.Kind() != schema.EraseSession {
		return plan, err
	}
	whole, err := command.FindSession(ctx, conn, o.Session())
	if err != nil || whole == o.SessionID {
		return plan, err
	}
	if o.yes || !command.IsTerminal(a.In) {
		return nil, command.Usagef("--session %s: user %s has no such session in project %s, and nothing was erased: did you mean --session %s?",
			command.ShellWord(o.SessionID), command.ShellWord(o.User), command.ShellWord(o.Project), command.ShellWord(whole))
	}
	question := fmt.Sprintf("There is no session %s. Type %s to preview its erasure, or %[1]s again to keep %[1]s out from now on: ",
		command.Unbroken(o.SessionID), command.Unbroken(whole))
	name, err := command.AskFor(a.In, a.ErrOut, question, o.SessionID, whole)
	if err != nil || name == o.SessionID {
		return plan, err
	}
	o.SessionID, o.ID, o.fresh = whole, "", false
	if _, err := findErasure(ctx, a, log, o); err != nil || o.Verify {
		return nil, err
	}
	return erase.Make(ctx, log, conn, "preview", o.ErasureScope, nil)
}

// findErasure finds an erasure of the same scope to resume, and reports whether there is one.
func findErasure(ctx context.Context, a *command.App, log *eventlog.Store, o *forgetOptions) (bool, error) {
	o.Verify = o.verify
	if o.ID != "" {
		found, err := erase.Find(ctx, log, o.ID)
		if err != nil {
			return false, command.BadUsage(err)
		}
		o.ID = found.ID
		return true, nil
	}
	found, err := erase.Of(ctx, log, o.ErasureScope)
	if err != nil {
		return false, err
	}
	e, how := resumed(found, o.verify)
	switch how {
	case resumeVerify:
		if !o.verify {
			_, err = fmt.Fprintf(a.ErrOut, "this %s was forgotten at %s (erasure %s): erasing nothing, and searching every store again\n",
				o.Kind(), command.When(e.FinishedAt), command.ShortID(e.ID))
		}
		o.Verify = true
	case resumeErase:
		_, err = fmt.Fprintf(a.ErrOut, "continuing erasure %s of this %s, begun at %s\n", command.ShortID(e.ID), o.Kind(), command.When(e.BegunAt))
	default:
		if o.verify && o.Kind() == schema.EraseQuery {
			return false, command.Usagef("--verify: name the erasure of the text by --id: no text is kept to find it by; see starter forget list")
		}
		if o.verify {
			return false, command.Usagef("--verify: no erasure of this %s is known: see starter forget list", o.Kind())
		}
		o.ID, o.fresh = a.NewID(), true
		return false, nil
	}
	o.ID = e.ID
	return true, err
}

// resume is how an earlier erasure of the same scope continues.
type resume int

const (
	// resumeNone starts another erasure.
	resumeNone resume = iota
	// resumeErase erases under the same id: the erasure has not ended, or has leftovers.
	resumeErase
	// resumeVerify searches every store again: the tombstone keeps the session, user or project out of the log.
	resumeVerify
)

// resumed returns which of the erasures of one scope, the latest first, is resumed, and how. After content was lifted, it
// may have been stored again. Such an erasure is only verified, and only on demand.
func resumed(all []schema.Erasure, verify bool) (schema.Erasure, resume) {
	for _, e := range all {
		ended := !e.FinishedAt.IsZero() && e.Finished.Failed == ""
		switch {
		case verify:
			return e, resumeVerify
		case !e.LiftedAt.IsZero():
		case ended && e.Finished.Left == 0:
			return e, resumeVerify
		default:
			return e, resumeErase
		}
	}
	return schema.Erasure{}, resumeNone
}

// again returns the command that resumes the erasure with the flag. It omits the text of a query, which logs must not
// contain, and a fresh id, which the erasure may not have got. Without an id the erasure is found by its scope.
func (o *forgetOptions) again(flag string) string {
	words := []string{"starter", "forget"}
	if o.Query != "" {
		words = append(words, "--query TEXT")
	}
	for _, f := range []struct{ flag, value string }{
		{"--session", o.SessionID}, {"--project", o.Project}, {"--user", o.User}, {"--agent", o.Agent}, {"--id", o.ID},
	} {
		if f.value != "" && !(f.flag == "--id" && o.fresh) {
			words = append(words, f.flag, command.ShellWord(f.value))
		}
	}
	return strings.Join(append(words, flag), " ")
}
