package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/fact"
	"axiommind/activities/projection"
	"axiommind/activities/queue/door"
	"axiommind/activities/task"
	"axiommind/activities/text"
	"axiommind/activities/transcript/redact"
	"axiommind/schema"
	memory "axiommind/starter/client"
	"axiommind/starter/command"
	"axiommind/starter/command/tasks"
	"axiommind/starter/command/truth"
)

const (
	// commandPatience is how long a tool waits for a worker to execute a command.
	commandPatience = 20 * time.Second
	// sendPatience is how long a tool waits for Temporal before the context goes to the spool. An agent's client times out
	// after about a minute.
	sendPatience = 5 * time.Second
)

func (s *mcpServer) remember(ctx context.Context, c call, in rememberArguments) (string, error) {
	said, err := oneText("fact", in.Fact)
	if err != nil {
		return "", err
	}
	taken, by := "A worker makes it a memory in a few seconds; search finds it then. A memory that was retired stays so.", ""
	if s.o.remember != policyApply {
		by = c.By
		taken = "It is your word and in no prompt, until the user says the same or confirms it by " +
			truth.InProject(s.o.Project, "entry", "confirm", "HANDLE") + ", with the handle that search prints. Tell the user."
	}
	q := stated(s.o.Scope, by, said, time.Now())
	if err := q.Validate(); err != nil {
		return "", command.Usagef("%v. State one fact in a sentence", err)
	}
	if s.app.Cfg.NoQueue {
		return "", command.Usagef("memory is switched off (--no-queue): nothing is remembered. Tell the user so")
	}
	if !s.statements.Allow() {
		return "", command.Usagef("nothing is remembered: this server takes %d facts an hour. Go on without, or tell the user, who may state it", mostStatements)
	}
	err = s.enqueue(ctx, q)
	switch {
	case err == nil:
		return "Taken. " + taken, nil
	case errors.Is(err, door.ErrFull) || s.spool == nil:
		return "", fmt.Errorf("nothing is remembered: %w", err)
	}
	s.logger.Warn("the fact waits in the spool", "reason", err)
	if err := s.spool(q); err != nil {
		return "", fmt.Errorf("nothing is remembered: %w", err)
	}
	return "Kept on this machine, because the memory can't be reached now. It is handed in when that is back. " + taken, nil
}

func (s *mcpServer) enqueue(ctx context.Context, q schema.QueuedContext) error {
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	temporalClient, err := s.app.Temporal(ctx)
	if err != nil {
		return err
	}
	return door.Send(ctx, temporalClient, q)
}

// stated returns the context of a fact stated by the agent with the name by, or by the user if by is empty. Equal facts
// share a thread, so that they are one memory. But each context has its own id, because the fact may have been retired in
// between.
func stated(scope schema.Scope, by, said string, now time.Time) schema.QueuedContext {
	redact.Strings(&said)
	redact.Names(&by)
	statement := schema.Statement{Type: schema.EntryFact, By: by}
	in := schema.ProcessSessionInput{
		Project: scope.Project, User: scope.User, Agent: scope.Agent,
		Messages:  []schema.InlineMessage{{Role: string(statement.Role()), Content: said}},
		Statement: &statement,
	}
	thread := in.StatementSessionID()
	return schema.QueuedContext{
		ID: "remember-" + uuid.NewString(), Scope: scope, Thread: thread, At: now.UTC(), Messages: in.Messages, Statement: in.Statement, Now: true,
	}
}

func (s *mcpServer) correct(ctx context.Context, c call, in correctArguments) (string, error) {
	because, err := oneText("because", in.Because)
	if err != nil {
		return "", err
	}
	said := ""
	switch in.Action {
	case string(schema.ChangeCorrect):
		if said, err = oneText("text", in.Text); err != nil {
			return "", err
		}
	case string(schema.ChangeRetire):
		if in.Text != "" {
			return "", command.Usagef("text is for the action correct: leave it out, or propose a correction")
		}
	default:
		return "", command.Usagef("action %q: want correct or retire", in.Action)
	}
	conn, err := s.app.ClickHouse(ctx)
	if err != nil {
		return "", err
	}
	row, err := s.find(ctx, conn, in.Entry)
	if err != nil {
		return "", err
	}
	var id string
	err = withToolTimeout(ctx, func(ctx context.Context) (err error) {
		id, err = truth.Propose(ctx, s.app, truth.Proposal{
			Scope: schema.Scope{Project: row.Project, User: row.User, Agent: row.Agent}, EntryID: row.ID, Action: in.Action, Text: said, Because: because, Actor: c.By,
		})
		return err
	})
	if err != nil {
		return "", err
	}
	if s.o.corrections == policyApply {
		err := withToolTimeout(ctx, func(ctx context.Context) error { return truth.AcceptProposal(ctx, s.app, id, "policy/"+policyApply) })
		if err != nil {
			return "", fmt.Errorf("it is proposed as %s, and not done yet: %w", command.ShortID(id), err)
		}
		return "Done, as the policy of this server has it.", nil
	}
	return fmt.Sprintf("Proposed as %s. The memory is believed as before until a person confirms it with %s. Tell the user.",
		command.ShortID(id), truth.InProject(s.o.Project, "proposals", "accept", command.ShortID(id))), nil
}

func (s *mcpServer) task(ctx context.Context, c call, in taskArguments) (string, error) {
	handle, err := oneText("task", in.Task)
	if err != nil {
		return "", err
	}
	change := task.Command{
		Project: s.o.Project, RequestID: uuid.NewString(), Actor: c.By, At: time.Now().UTC(), Reason: strings.TrimSpace(in.Reason), TaskID: handle,
		Reported: s.o.tasks != policyApply,
	}
	switch {
	case in.Status == string(schema.TaskDone) && len(in.BlockedBy) == 0:
		change.Status = schema.TaskDone
	case in.Status == string(schema.TaskDone):
		return "", command.Usagef("blocked_by is for the status blocked: a task that is done waits for nothing")
	case in.Status == string(schema.TaskBlocked) && len(in.BlockedBy) == 0:
		return "", command.Usagef("blocked_by is missing: name the blockers of the task")
	case in.Status == string(schema.TaskBlocked):
		change.Block = in.BlockedBy
	default:
		return "", command.Usagef("status %q: want done or blocked", in.Status)
	}
	if err := change.Validate(); err != nil {
		return "", command.BadUsage(err)
	}
	var result task.Result
	if err := s.command(ctx, boundary.Update{Name: schema.UpdateCommand, ID: change.RequestID, Arg: change}, &result); err != nil {
		return "", err
	}
	p, err := s.sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	for _, change := range result.Changes {
		p.add("%s: %s", command.ShortID(change.ID), p.short(tasks.ChangeText(change), 2*titleTokens))
	}
	switch {
	case result.Rejected > 0:
		return p.end(fmt.Sprintf("%s refused, because it would make tasks wait for themselves: name another blocker.",
			command.Plural(result.Rejected, "change was", "changes were"))), nil
	case len(result.Changes) == 0:
		return "Nothing to change: the task is so already, or that is reported.", nil
	case change.Reported && change.Status == schema.TaskDone:
		return p.end("Reported. A person closes the task with " + truth.InProject(s.o.Project, "task", "confirm", "TASK") + ". Tell the user."), nil
	case change.Reported:
		return p.end("Suggested. A person blocks the task with " + truth.InProject(s.o.Project, "task", "set", "TASK", "--block", "BLOCKER") + ". Tell the user."), nil
	}
	return p.end(""), nil
}

// command sends the command to its writer and waits for the result. It reports refusals as usage errors.
func (s *mcpServer) command(ctx context.Context, u boundary.Update, result any) error {
	temporalClient, err := s.app.Temporal(ctx)
	if err != nil {
		return err
	}
	err = withToolTimeout(ctx, func(ctx context.Context) error { return u.Send(ctx, temporalClient, result) })
	var application *temporal.ApplicationError
	switch {
	case errors.As(err, &application) && application.Type() == schema.ErrorTaskNotFound:
		return command.Usagef("%s. Call tasks, and give a handle that it prints", application.Message())
	case errors.As(err, &application) && (application.Type() == schema.ErrorTaskRefused || application.Type() == schema.ErrorInvalidInput):
		return command.Usagef("%s. Nothing was changed: resolve that first, or tell the user", application.Message())
	}
	return err
}

// withToolTimeout runs do with a timeout shorter than that of the agent's client.
func withToolTimeout(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	err := do(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return command.Usagef("no worker answers. It may still be done as soon as one runs: look whether it is before you try again")
	}
	return err
}

// forget previews an erasure. Only a person can erase, not an agent.
func (s *mcpServer) forget(ctx context.Context, _ call, in queryArguments) (string, error) {
	query, err := oneText("query", in.Query)
	if err != nil {
		return "", err
	}
	result, err := s.memory.Search(ctx, memory.Query{
		Text: query, Project: s.o.Project, User: s.o.User, Agent: s.o.Agent, Superseded: true, Limit: memory.MaxLimit,
	})
	if err != nil {
		return "", command.ClientError(err)
	}
	if len(result.Hits) == 0 {
		return "Nothing is remembered of that, so there is nothing to forget.", nil
	}
	conn, err := s.app.ClickHouse(ctx)
	if err != nil {
		return "", err
	}
	facts, err := fact.NewTables(conn).ListIn(ctx, s.o.User, s.o.Agent, s.o.Project)
	if err != nil {
		return "", err
	}
	tasks, err := task.NewQueries(projection.New(conn, eventlog.Options{}), conn).ListTasks(ctx, task.Selection{Project: s.o.Project, Limit: command.MaxPage}, "")
	if err != nil {
		return "", err
	}
	p, err := s.sheet(s.o.tokens)
	if err != nil {
		return "", err
	}
	preview(p, s.o.limit, result.Hits, facts, tasks)
	return p.end("Preview only: nothing was erased. A person erases, with: starter forget --query or --session. To have a memory believed no longer, call correct with retire."), nil
}

// preview lists the hits with their sessions, facts and tasks. A weak hit is marked before its title, because the title may
// be cut.
func preview(p *sheet, limit int, hits []memory.Hit, facts []fact.Fact, tasks []task.View) {
	entries, sessions, notes := map[string]string{}, map[string]bool{}, []string(nil)
	var titles, sessionTitles, factTitles, taskTitles []string
	seen := func(id, title, session string, weak bool) {
		if entries[id] == "" {
			entries[id] = title
			if weak {
				title = "[weak] " + title
			}
			titles = append(titles, command.ShortID(id)+" "+title)
		}
		if !sessions[session] {
			sessions[session] = true
			sessionTitles = append(sessionTitles, session)
		}
	}
	for _, h := range hits {
		seen(h.ID, h.Title, h.SessionID, h.Weak)
		for _, other := range h.Sessions {
			seen(other.EntryID, h.Title, other.SessionID, h.Weak)
		}
		if h.Type == schema.EntryTaskNote {
			notes = append(notes, h.Title)
		}
	}
	for _, f := range facts {
		if entries[f.EntryID] != "" {
			factTitles = append(factTitles, f.Content)
		}
	}
	for _, v := range tasks {
		for _, note := range notes {
			if text.SameTitle(note, v.Task.Title) {
				taskTitles = append(taskTitles, command.ShortID(v.Task.ID)+" "+v.Task.Title)
				break
			}
		}
	}
	for _, group := range []struct {
		one, many string
		titles    []string
	}{
		{"memory", "memories", titles}, {"session", "sessions", sessionTitles}, {"fact", "facts", factTitles}, {"task", "tasks", taskTitles},
	} {
		p.add("%s", command.Plural(len(group.titles), group.one, group.many))
		for _, title := range group.titles[:min(limit, len(group.titles), 5)] {
			p.add("  %s", p.short(title, titleTokens))
		}
	}
}
