package workflows

import (
	"axiommind/activities/fact"
	"axiommind/schema"
)

var facts *fact.Activities

// memoryWriter is the only writer of what is remembered of a user by an agent.
var memoryWriter = writer[schema.MemoryWriterInput]{
	updates: []updateHandler{
		batchUpdate[fact.SessionInput, fact.Result]{
			name:     schema.UpdateSession,
			title:    func(in fact.SessionInput) string { return "session " + in.SessionID },
			activity: facts.UpdateFacts,
			options:  storeWork,
		},
		update[fact.Command, fact.Result]{
			name:     schema.UpdateCommand,
			title:    func(c fact.Command) string { return "command of " + c.Actor },
			activity: facts.RunFactCommand,
			options:  storeWork,
		},
	},
}
