package recall

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"axiommind/activities/boundary"
	"axiommind/activities/entry"
	"axiommind/activities/graduate"
	"axiommind/activities/graduate/pair"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

// correction is the result of correcting an entry.
type correction struct {
	// Corrected is the entry that is no longer believed, and Correction the entry that replaces it.
	Corrected  corrected `json:"corrected"`
	Correction corrected `json:"correction"`
	SessionID  string    `json:"session_id"`
	BuildID    string    `json:"build_id,omitempty"`
}

type corrected struct {
	ID     string        `json:"id"`
	Title  string        `json:"title"`
	Stage  schema.Stage  `json:"stage"`
	Status schema.Status `json:"status"`
}

func correctedOf(r entry.Row) corrected { return corrected{r.ID, r.Title, r.Stage, r.Status} }

func entryCorrectCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "correct ENTRY", Short: "replace a wrong memory by a right statement",
		Example: "starter entry correct 04a5ad1b --with 'The limit is 8.' --because 'the contract of May'",
	}
	f := cmd.Flags()
	project := f.String("project", "default", "project of the entry")
	with := f.String("with", "", "right statement, in one sentence")
	because := f.String("because", "", "why, for later readers of the memory")
	a.Answers(cmd, correction{})
	return a.Online(cmd, func(ctx context.Context, args []string) error {
		if strings.TrimSpace(*with) == "" {
			return command.Usagef("--with is empty: give the right statement; entry retire ends a memory without a replacement")
		}
		said := strings.TrimSpace(*with)
		if strings.ContainsAny(said, "\n\r") {
			return command.Usagef("--with has a line break: give the statement in one line, and the reasons by --because")
		}
		if why := strings.TrimSpace(*because); why != "" {
			said += "\n" + why
		}
		return entryCorrect(ctx, a, *project, args[0], said)
	})
}

func entryCorrect(ctx context.Context, a *command.App, project, id, said string) error {
	out, err := CorrectEntry(ctx, a, project, id, said)
	if err != nil {
		return err
	}
	return a.Print(out, func(b *strings.Builder) {
		fmt.Fprintf(b, "%s  %s\n  was believed until now: %s  %s\n",
			command.ShortID(out.Correction.ID), Shown(out.Correction.Title), command.ShortID(out.Corrected.ID), Shown(out.Corrected.Title))
	})
}

// CorrectEntry states the correction in a session of its own, and then lets graduation retire the wrong entry. If it is
// interrupted in between, the next pass of graduation retires it.
func CorrectEntry(ctx context.Context, a *command.App, project, id, said string) (out correction, err error) {
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return out, err
	}
	reader := entry.NewReader(conn)
	old, err := reader.Get(ctx, project, id)
	if err != nil {
		return out, err
	}
	in := graduate.CorrectionInput(old, said, time.Now())
	if err := in.CheckStatement(); err != nil {
		return out, command.BadUsage(err)
	}
	if err := correctable(ctx, reader, old, in); err != nil {
		return out, err
	}
	out.SessionID = in.SessionID
	if err := correct(ctx, a, conn, in, &out); err != nil {
		return out, err
	}
	if old, err = reader.Get(ctx, project, old.ID); err != nil {
		return out, err
	}
	if out.Corrected = correctedOf(old); old.SupersededBy != out.Correction.ID {
		return out, fmt.Errorf("entry %q holds the correction, but %q is not superseded yet: run starter graduate --project %q",
			out.Correction.ID, old.ID, project)
	}
	return out, nil
}

// Shown returns a title in one line.
func Shown(title string) string { return command.OneLine(title, command.MaxErrorLine) }

// correctable refuses a correction without effect. A correction may be repeated.
func correctable(ctx context.Context, reader *entry.Reader, old entry.Row, in schema.ProcessSessionInput) error {
	said := in.Messages[0].Content
	if pair.Compare(old.Title, said).Strict || old.Content != "" && pair.Compare(old.Content, said).Strict {
		return command.Usagef("entry %q says the same: %s", old.ID, Shown(old.Title))
	}
	if old.SupersededBy == "" && old.Status != schema.StatusDeprecated {
		return nil
	}
	if old.SupersededBy == "" {
		return command.Usagef("entry %q is no longer believed, so there is nothing to correct: %s", old.ID, Shown(old.Title))
	}
	by, err := reader.Get(ctx, old.Project, old.SupersededBy)
	if err == nil && by.SessionID != in.SessionID {
		return command.Usagef("entry %q is no longer believed: correct %q, its successor: %s", old.ID, by.ID, Shown(by.Title))
	}
	return err
}

// correct processes the session and runs a pass of graduation.
func correct(ctx context.Context, a *command.App, conn driver.Conn, in schema.ProcessSessionInput, out *correction) error {
	temporalClient, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	result, err := stateEntry(ctx, temporalClient, in)
	if err != nil {
		return err
	}
	out.BuildID = result.BuildID
	rows, err := entry.NewReader(conn).Read(ctx, entry.OfSession(in.Key()), entry.Lifecycle)
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return fmt.Errorf("session %q holds %d entries instead of the stated one: see starter builds show %s",
			in.SessionID, len(rows), result.BuildID)
	}
	out.Correction = correctedOf(rows[0])
	if err := graduateAll(ctx, a, temporalClient, in.Project); err != nil {
		return fmt.Errorf("entry %q holds the correction, but the next pass of graduation has to retire the old entry: %w",
			out.Correction.ID, err)
	}
	return nil
}

// stateEntry processes the session of a statement. If a run of the same session is active, it waits for that run first.
func stateEntry(ctx context.Context, c client.Client, in schema.ProcessSessionInput) (result schema.ProcessSessionResult, err error) {
	w := progress.SessionWork{
		SessionKey: in.Key(), Workflow: schema.WorkflowProcessSession, Summary: "process statement " + in.SessionID, Input: in,
	}
	run, err := w.Start(ctx, c, w.WorkflowID())
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		run, err = w.StartAfter(ctx, c)
	}
	if err != nil {
		return result, fmt.Errorf("start session %q: %w", in.SessionID, err)
	}
	if err := run.Get(ctx, &result); err != nil {
		return result, fmt.Errorf("process session %q: %s; see starter builds list --status failed", in.SessionID, command.FailureText(err))
	}
	return result, nil
}

// graduateAll runs passes of graduation until nothing new is left in the project.
func graduateAll(ctx context.Context, a *command.App, c client.Client, project string) error {
	for {
		var result graduate.PassResult
		pass := graduate.PassInput{Project: project, At: time.Now().UTC(), Actor: a.Actor()}
		err := boundary.Update{Name: schema.UpdateGraduate, ID: uuid.NewString(), Arg: pass}.Send(ctx, c, &result)
		if err != nil {
			return errors.New(command.FailureText(err))
		}
		if !result.More {
			return nil
		}
	}
}
