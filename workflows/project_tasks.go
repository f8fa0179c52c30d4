package workflows

import (
	"axiommind/activities/task"
	"axiommind/schema"
)

var tasks *task.Activities

// projectTasks is the only writer of a project's tasks.
var projectTasks = writer[schema.ProjectTasksInput]{
	updates: []updateHandler{
		batchUpdate[task.ResolveRequest, task.Result]{
			name:     schema.UpdateSession,
			title:    func(in task.ResolveRequest) string { return "session " + in.SessionID },
			activity: tasks.ResolveTasks,
			options:  storeWork,
		},
		update[task.Command, task.Result]{
			name:     schema.UpdateCommand,
			title:    func(c task.Command) string { return "command of " + c.Actor },
			activity: tasks.RunTaskCommand,
			options:  storeWork,
		},
	},
}
