package truth

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"axiommind/activities/entry"
	"axiommind/activities/eventlog"
	"axiommind/activities/evidence"
	"axiommind/activities/evidence/audit"
	"axiommind/schema"
	"axiommind/starter/command"
	"axiommind/starter/command/progress"
)

type realignOptions struct {
	scope  schema.SessionKey
	dryRun bool
	jobs   int
}

func realignCommand(a *command.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "realign", Short: "judge stored evidence again, by the current rule of proof",
	}
	f := cmd.Flags()
	o := &realignOptions{}
	command.FilterFlags(f, "evidence", &o.scope.Project, &o.scope.User, &o.scope.Agent)
	f.StringVar(&o.scope.SessionID, "session", "", "evidence of one session")
	f.BoolVar(&o.dryRun, "dry-run", false, "show the evidence to judge again, and write nothing")
	f.IntVar(&o.jobs, "jobs", 8, "sessions at a time")
	return a.Online(cmd, func(ctx context.Context, _ []string) error { return realign(ctx, a, o) })
}

// realigned is the result for one session.
type realigned struct {
	schema.SessionKey
	// Pieces counts the quotes that were rejudged, or with --dry-run those that would be.
	Pieces   int `json:"pieces"`
	Proven   int `json:"newly_proven"`
	Unproven int `json:"no_longer_proven"`
	// Behind counts the entries that do not show an earlier judgement yet.
	Behind int `json:"behind,omitempty"`
	// Error is the reason why the session was not rejudged.
	Error string `json:"error,omitempty"`
}

// who returns the session's user, with the agent if it has a name. Session ids are unique only for one user and agent.
func (r *realigned) who() string {
	if r.Agent == "" {
		return r.User
	}
	return r.User + " / " + r.Agent
}

// realignment is the result of the command.
type realignment struct {
	Rule     int          `json:"rule"`
	DryRun   bool         `json:"dry_run,omitempty"`
	Sessions []*realigned `json:"sessions"`
	Pieces   int          `json:"pieces"`
	Proven   int          `json:"newly_proven"`
	Unproven int          `json:"no_longer_proven"`
	Failed   int          `json:"failed"`
}

func realign(ctx context.Context, a *command.App, o *realignOptions) error {
	if o.jobs < 1 {
		return command.Usagef("--jobs %d: want at least 1", o.jobs)
	}
	conn, err := a.ClickHouse(ctx)
	if err != nil {
		return err
	}
	if o.scope.SessionID, err = command.FindAnySession(ctx, conn, o.scope); err != nil {
		return err
	}
	sessions, err := outdated(ctx, a, conn, o.scope)
	if err != nil {
		return err
	}
	if !o.dryRun {
		if err := realignAll(ctx, a, o, sessions); err != nil {
			return err
		}
	}
	r := realignment{Rule: evidence.Rule, DryRun: o.dryRun, Sessions: sessions}
	for _, s := range sessions {
		r.Pieces, r.Proven, r.Unproven = r.Pieces+s.Pieces, r.Proven+s.Proven, r.Unproven+s.Unproven
		if s.Error != "" {
			r.Failed++
		}
	}
	if err := a.Print(r, func(b *strings.Builder) { printRealignment(b, r) }); err != nil {
		return err
	}
	if r.Failed > 0 {
		return fmt.Errorf("%d of %s not judged again", r.Failed, command.Plural(len(sessions), "session", "sessions"))
	}
	return nil
}

// outdated returns the sessions in the scope that have quotes to rejudge, and those that can't be read.
func outdated(ctx context.Context, a *command.App, conn driver.Conn, scope schema.SessionKey) ([]*realigned, error) {
	total, err := entry.NewReader(conn).CountAllEvidence(ctx, scope)
	if err != nil {
		return nil, err
	}
	p := progress.New(a, int(total), "entries looked at")
	defer p.Finish()
	p.Describe("entries looked at")
	sessions, looked, any := []*realigned{}, 0, false
	for s, err := range audit.Judged(ctx, eventlog.New(conn, eventlog.Options{}), scope) {
		if err != nil {
			return nil, err
		}
		any = true
		looked += s.Entries
		p.Reached(looked, false)
		if s.Outdated() || s.Problem != "" {
			sessions = append(sessions, &realigned{SessionKey: s.SessionKey, Pieces: s.Older, Behind: s.Behind, Error: s.Problem})
		}
	}
	if !any && scope != (schema.SessionKey{}) {
		return nil, command.Usagef("nothing to judge again: the log holds no evidence of a session%s", inScope(scope))
	}
	return sessions, nil
}

// realignAll rejudges the sessions, several at a time.
func realignAll(ctx context.Context, a *command.App, o *realignOptions, sessions []*realigned) error {
	var open []*realigned
	for _, s := range sessions {
		if s.Error == "" {
			open = append(open, s)
		}
	}
	if len(open) == 0 {
		return nil
	}
	temporalClient, err := a.Temporal(ctx)
	if err != nil {
		return err
	}
	bar := progress.New(a, len(open), "sessions done")
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(o.jobs)
	for _, s := range open {
		group.Go(func() error {
			err := realignOne(groupCtx, temporalClient, s, bar)
			bar.Done()
			return err
		})
	}
	err = group.Wait()
	bar.Finish()
	return err
}

// realignOne runs the session's workflow. A failure is stored in the session. The returned error stops all sessions.
func realignOne(ctx context.Context, c client.Client, s *realigned, bar *progress.Progress) error {
	s.Pieces, s.Behind = 0, 0
	w := progress.SessionWork{
		SessionKey: s.SessionKey, Workflow: schema.WorkflowRealignSession, Summary: "realign session " + s.SessionID, Input: s.SessionKey,
	}
	run, err := w.Start(ctx, c, w.WorkflowID())
	var running *serviceerror.WorkflowExecutionAlreadyStarted
	if errors.As(err, &running) {
		bar.PrintOnce(fmt.Sprintf("session%s is being processed; it is judged again after that", inScope(s.SessionKey)))
		run, err = w.StartAfter(ctx, c)
	}
	switch {
	case err != nil && (ctx.Err() != nil || command.Away(err)):
		return fmt.Errorf("start session %q: %w", s.SessionID, err)
	case err != nil:
		s.Error = fmt.Sprintf("it can't be started: %v", err)
		return nil
	}
	stop := bar.Watch(ctx, c, w.WorkflowID(), &progress.Job{Input: schema.ProcessSessionInput{
		Project: s.Project, User: s.User, Agent: s.Agent, SessionID: s.SessionID,
	}})
	var result schema.RealignSessionResult
	err = run.Get(ctx, &result)
	stop()
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("stopped waiting: %w; the session goes on as workflow %s", ctx.Err(), run.GetID())
	}
	if err != nil {
		s.Error = command.FailureText(err)
	}
	s.Pieces, s.Proven, s.Unproven = result.Pieces, result.Proven, result.Unproven
	return nil
}

func printRealignment(b *strings.Builder, r realignment) {
	if len(r.Sessions) == 0 {
		fmt.Fprintf(b, "nothing to judge again: all evidence is judged by rule %d\n", r.Rule)
		return
	}
	titles, behind := "session, project, user, >judged again, >newly proven, >no longer", 0
	if r.DryRun {
		titles = "session, project, user, >to judge again"
	}
	command.Table(b, titles, r.Sessions, func(s *realigned) []any {
		cells := []any{command.ShownSession(s.SessionID), command.OneLine(s.Project, 40), command.OneLine(s.who(), 40), s.Pieces}
		if r.DryRun {
			return cells
		}
		return append(cells, s.Proven, s.Unproven)
	})
	for _, s := range r.Sessions {
		behind += s.Behind
		if s.Error != "" {
			command.Say(b, "session%s failed: %s\n", inScope(s.SessionKey), s.Error)
		}
	}
	command.Say(b, "%s: %s ", command.Plural(len(r.Sessions), "session", "sessions"), command.Plural(r.Pieces, "piece", "pieces"))
	if r.DryRun {
		fmt.Fprintf(b, "to judge again by rule %d", r.Rule)
	} else {
		fmt.Fprintf(b, "judged again by rule %d, %d newly proven, %d no longer", r.Rule, r.Proven, r.Unproven)
	}
	if behind > 0 {
		fmt.Fprintf(b, "; %s an earlier judgement", command.Plural(behind, "entry lacks", "entries lack"))
	}
	b.WriteString("\n")
}
