package task

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"axiommind/schema"
)

// heard returns the entry with evidence of the classes, all of it found verbatim.
func heard(e schema.Entry, classes ...schema.Trust) schema.Entry {
	for _, class := range classes {
		e.Evidence = append(e.Evidence, schema.Evidence{Quote: e.Title, Found: true, Aligned: true, Method: schema.MethodExact, Confidence: 1, Trust: class})
	}
	return e
}

// The text of a tool, a document, the harness or an earlier memory changes no existing task. A new task in it is raw
// until the user or the assistant states it.
func TestHearsayChangesNoTask(t *testing.T) {
	t.Parallel()
	const user, assistant = schema.TrustUser, schema.TrustAssistant
	for name, classes := range map[string][]schema.Trust{
		"tool": {schema.TrustTool}, "system": {schema.TrustSystem}, "memory": {schema.TrustMemory}, "beside the user's": {user, schema.TrustTool},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, rules := range []Rules{{}, {DoneReports: CloseProven}} {
				p := newTestProject(t)
				p.rules = rules
				p.say(p.report("Pending", schema.TaskPending), p.report("Begun", schema.TaskInProgress),
					p.report("Blocked", schema.TaskBlocked, "Begun"), p.report("Waits", schema.TaskBlocked, "PROJ-7", "the keys"),
					p.report("Over", schema.TaskInProgress), p.report("Over", schema.TaskDone))
				before := map[string]Entity{}
				titles := []string{"Pending", "Begun", "Blocked", "Waits", "Over"}
				for _, title := range titles {
					before[title] = p.task(title)
				}
				for _, title := range append(titles, "PROJ-7", "the keys", "PROJ-7: plant") {
					for _, to := range []schema.TaskStatus{
						schema.TaskDone, schema.TaskCancelled, schema.TaskInProgress, schema.TaskPending, schema.TaskBlocked, "",
					} {
						e := p.note(schema.ExtractedTask{Title: title, Status: to, Priority: schema.PriorityCritical, BlockedBy: []string{"zebra"}})
						p.say(heard(e, classes...))
					}
				}
				for _, title := range titles {
					after := p.task(title)
					after.Version, after.UpdatedAt = before[title].Version, before[title].UpdatedAt
					require.Equal(t, before[title], after, title)
				}
				planted := p.task("PROJ-7: plant")
				require.True(t, planted.Exists())
				require.Equal(t, schema.StageRaw, planted.Stage)
				require.False(t, Closed(planted.TaskStatus))
				require.Nil(t, planted.DoneReport, "task confirm --all would close it")
				for _, e := range p.log {
					require.NotContains(t, strings.ToLower(string(e.Payload)), `"zebra"`, "what it waits for is not heard")
				}
				p.requireI6()
			}
		})
	}
	// The same statement of the user or the assistant counts.
	p := newTestProject(t)
	p.say(p.report("A", schema.TaskInProgress), p.report("B", schema.TaskInProgress))
	p.say(heard(p.report("A", schema.TaskDone), user), heard(p.report("B", schema.TaskCancelled), assistant, user))
	require.Equal(t, schema.TaskDone, p.task("A").TaskStatus)
	require.Equal(t, schema.TaskCancelled, p.task("B").TaskStatus)
}
