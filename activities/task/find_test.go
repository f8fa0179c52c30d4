package task

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// TestPrefixes: each field of a command that takes an entity accepts the printed prefix of its id.
func TestPrefixes(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Ship", schema.TaskBlocked, "PROJ-7", "the legal review"), p.report("Fly", schema.TaskPending), p.report("Walk", schema.TaskPending))
	short := func(e Entity) string { return e.ID[:8] }
	review, jira := p.condition("the legal review"), p.memory.entities[p.task("Ship").Blockers[0].ID]
	require.NoError(t, p.do(Command{TaskID: short(p.task("Fly")), Block: []string{short(p.task("Walk")), short(jira)}}))
	require.Equal(t, "Walk", p.task("Fly").Blockers[0].Text, "the history names what an id stands for")
	require.True(t, p.task("Fly").blockedBy(jira.ID))
	require.NoError(t, p.do(Command{TaskID: " " + p.task("Fly").ID[:4], Unblock: []string{short(p.task("Walk"))}}))
	require.Len(t, p.task("Fly").Blockers, 1)
	require.NoError(t, p.do(Command{ConditionID: short(review), ResolveTo: short(p.task("Walk"))}))
	require.Equal(t, p.task("Walk").ID, p.condition("the legal review").ResolvesTo.ID)
	require.NoError(t, p.do(Command{CloseArtifact: short(jira)}))
	require.False(t, p.memory.entities[jira.ID].Open())
	require.NoError(t, p.do(Command{TaskID: short(p.task("Walk")), MergeInto: short(p.task("Fly"))}))
	require.Equal(t, p.task("Fly").ID, p.task("Walk").ID)

	require.ErrorIs(t, p.do(Command{TaskID: short(review), Status: schema.TaskDone}), ErrNotFound, "a condition is no task")
	require.ErrorIs(t, p.do(Command{TaskID: p.task("Fly").ID[:3], Status: schema.TaskDone}), ErrNotFound)
	require.ErrorIs(t, p.do(Command{ConditionID: short(review), ResolveTo: "00000000-0000-4000-8000-000000000000"}), ErrNotFound, "an id names no artifact")
	require.ErrorIs(t, p.do(Command{TaskID: "%", Status: schema.TaskDone}), ErrNotFound)
	require.ErrorIs(t, p.do(Command{TaskID: "", Status: schema.TaskDone}), ErrCommand)
	// A session's text does not name a prefix of an id: it could be any number.
	p.say(p.report("Other", schema.TaskBlocked, short(p.task("Fly"))))
	require.Equal(t, schema.EntityCondition, p.task("Other").Blockers[0].Type)
}

func TestAmbiguousPrefix(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	twins := []Entity{
		{EntityRef: schema.EntityRef{Type: schema.EntityTask, ID: "abcdef01-0000-4000-8000-000000000001"}, Project: p.name, TaskStatus: schema.TaskPending, Title: "one"},
		{EntityRef: schema.EntityRef{Type: schema.EntityCondition, ID: "abcdef02-0000-4000-8000-000000000002"}, Project: p.name, Title: "two"},
	}
	for _, e := range twins {
		p.memory.entities[e.ID] = e
	}
	p.say(p.report("Fly", schema.TaskPending))
	err := p.do(Command{TaskID: "Fly", Block: []string{"ABCDEF"}})
	require.ErrorIs(t, err, ErrAmbiguous)
	require.ErrorContains(t, err, twins[0].ID)
	require.ErrorContains(t, err, twins[1].ID)
	require.NoError(t, p.do(Command{TaskID: "abcdef", Priority: schema.PriorityHigh}), "one of them is a task")
	for _, source := range []finder{&snapshot{project: p.name, entities: p.memory.entities}, newOverlay(p.name, p.memory, nil)} {
		id, err := find(context.Background(), source, p.name, "abcdef02", everyType...)
		require.NoError(t, err)
		require.Equal(t, twins[1].ID, id)
		_, err = find(context.Background(), source, p.name, "abcdef0", everyType...)
		require.ErrorIs(t, err, ErrAmbiguous)
	}
}

func TestChangesSayWhatACommandDid(t *testing.T) {
	t.Parallel()
	p := newTestProject(t)
	p.say(p.report("Keys", schema.TaskPending), p.report("Ship", schema.TaskBlocked, "Keys"))
	from := len(p.log)
	require.NoError(t, p.do(Command{TaskID: "Keys", Status: schema.TaskDone, Priority: schema.PriorityHigh, Title: "All keys"}))
	changes, err := changesOf(p.log[from:])
	require.NoError(t, err)
	keys, ship := p.task("Keys").EntityRef, p.task("Ship").EntityRef
	require.Equal(t, []Change{
		{EntityRef: keys, Kind: ChangedTitle, From: "Keys", To: "All keys"},
		{EntityRef: keys, Kind: ChangedPriority, From: "medium", To: "high"},
		{EntityRef: keys, Kind: ChangedStatus, From: "pending", To: "done", Lifted: []string{}},
		{EntityRef: ship, Kind: ChangedStatus, From: "blocked", To: "pending", Lifted: []string{"Keys"}},
	}, changes)
	from = len(p.log)
	require.NoError(t, p.do(Command{TaskID: "Ship", Block: []string{"x", "y"}}))
	changes, err = changesOf(p.log[from:])
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y"}, changes[0].Blockers)
	require.Equal(t, "blocked", changes[1].To)
}
