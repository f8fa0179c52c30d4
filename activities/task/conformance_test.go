package task_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"axiommind/activities/boundary"
	"axiommind/activities/eventlog"
	"axiommind/activities/ledger/ledgertest"
	"axiommind/activities/projection"
	"axiommind/activities/task"
	"axiommind/schema"
)

func projectors(conn driver.Conn) []projection.Projector {
	return []projection.Projector{task.NewProjector(conn)}
}

// TestConformanceOfNotes: the room of task notes passes the ledger's suite (I1, I2, I3, I4).
func TestConformanceOfNotes(t *testing.T) {
	t.Parallel()
	b := &bundle{}
	const project = "p/ü '\"\x01"
	session := func(id string, entries ...schema.Entry) task.Notes {
		return task.Notes{Batch: task.Batch{Project: project, SessionID: id, BuildID: "b-" + id, Entries: entries}}
	}
	refused := session("refused", b.report(project, "Never", schema.TaskInProgress))
	refused.Unreadable = boundary.Invalid(schema.ErrorSourceUnreadable, errors.New("no such session"))
	requests := []task.Notes{
		session("one", b.report(project, "Ship it", schema.TaskBlocked, "the keys", "PROJ-7"), b.report(project, "Write", schema.TaskInProgress)),
		session("two", b.report(project, "ship it", schema.TaskInProgress), b.report(project, "Rest", schema.TaskPending)),
		session("three", b.report(project, "Read", schema.TaskInProgress, "the VPN")),
	}
	ledgertest.Run(t, ledgertest.Room[task.Notes, task.Result]{
		Projectors: projectors,
		Open: func(_ testing.TB, conn driver.Conn) ledgertest.Do[task.Notes, task.Result] {
			return task.NewWriter(projection.New(conn, eventlog.Options{}), conn, task.Rules{}).Batch
		},
		Requests: func(testing.TB, driver.Conn) ([]task.Notes, []ledgertest.Refused[task.Notes]) {
			return requests, []ledgertest.Refused[task.Notes]{{Request: refused, As: schema.ErrorSourceUnreadable}}
		},
	})
}

// TestConformanceOfCommands: the room of people's commands passes the ledger's suite (I1, I2, I3, I4).
func TestConformanceOfCommands(t *testing.T) {
	t.Parallel()
	command := func(c task.Command) task.Command {
		c.Project, c.Actor, c.At = "p", "user:ada", noon
		return c
	}
	good := []task.Command{
		command(task.Command{RequestID: "r1", TaskID: "Task number 0", Status: schema.TaskDone}),
		command(task.Command{RequestID: "r2", TaskID: "Task number 1", Block: []string{"the \u202e keys"}, Priority: schema.PriorityHigh}),
		command(task.Command{RequestID: "r3", TaskID: "Task number 2", Title: "Third"}),
	}
	refused := []ledgertest.Refused[task.Command]{
		{Request: command(task.Command{RequestID: "r4", TaskID: "None of these", Status: schema.TaskDone}), As: schema.ErrorTaskNotFound},
		{Request: command(task.Command{RequestID: "r5"}), As: schema.ErrorInvalidInput},
	}
	open := func(conn driver.Conn) *task.Writer {
		return task.NewWriter(projection.New(conn, eventlog.Options{}), conn, task.Rules{})
	}
	ledgertest.Run(t, ledgertest.Room[task.Command, task.Result]{
		Projectors: projectors,
		Open: func(_ testing.TB, conn driver.Conn) ledgertest.Do[task.Command, task.Result] {
			return ledgertest.Commands(open(conn).Do)
		},
		Requests: func(t testing.TB, conn driver.Conn) ([]task.Command, []ledgertest.Refused[task.Command]) {
			b := &bundle{writer: open(conn)}
			for i := range 3 {
				b.apply(t, "p", b.report("p", fmt.Sprint("Task number ", i), schema.TaskInProgress))
			}
			return good, refused
		},
	})
}
