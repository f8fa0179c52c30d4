package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"axiommind/activities/fact"
	"axiommind/activities/tier"
	"axiommind/schema"
)

var (
	facts    *fact.Activities
	memories *tier.Activities
)

// memoryWriter is the only writer of an agent's memory of a user and of its files.
var memoryWriter = writer[schema.MemoryWriterInput]{
	updates: []updateHandler{
		batchUpdate[tier.FlushRequest, tier.SessionResult]{
			name:     schema.UpdateSession,
			title:    func(in tier.FlushRequest) string { return "session " + in.SessionID },
			activity: memories.UpdateMemory,
			options:  storeWork,
			due:      func(r tier.SessionResult) time.Time { return r.FilesDue },
		},
		update[fact.Command, fact.Result]{
			name:     schema.UpdateCommand,
			title:    func(c fact.Command) string { return "command of " + c.Actor },
			activity: facts.RunFactCommand,
			options:  storeWork,
		},
		update[tier.CommitInput, tier.CommitResult]{
			name:     schema.UpdateDream,
			title:    func(tier.CommitInput) string { return "dream" },
			activity: memories.CommitDream,
			options:  storeWork,
			due:      filesOfDream,
		},
		update[tier.RestoreCommand, tier.RestoreResult]{
			name: schema.UpdateRestore,
			title: func(c tier.RestoreCommand) string {
				return fmt.Sprintf("restore version %d for %s", c.Version, c.Actor)
			},
			activity: memories.RestoreCore,
			options:  storeWork,
			due:      filesOfRestore,
		},
		update[tier.FilesInput, tier.FilesResult]{
			name:     schema.UpdateFiles,
			title:    func(tier.FilesInput) string { return "files" },
			activity: memories.SyncFiles,
			options:  filesWork,
		},
	},
	background: &background[schema.MemoryWriterInput]{
		title: "files",
		step:  syncFiles,
		again: backoff,
	},
}

// filesOfDream returns when the files are due after a dream: at once if it wrote an event.
func filesOfDream(r tier.CommitResult) time.Time {
	switch r.Status {
	case schema.DreamCommitted, schema.DreamUnchanged, schema.DreamIsRefused:
		if !r.Stale {
			return atOnce
		}
	}
	return time.Time{}
}

func filesOfRestore(r tier.RestoreResult) time.Time {
	if r.Version == 0 {
		return time.Time{}
	}
	return atOnce
}

// syncFiles writes the files that lag behind the log.
func syncFiles(ctx workflow.Context, in schema.MemoryWriterInput, head schema.StreamHead, _ bool) (after schema.StreamHead, due time.Time, err error) {
	work := tier.FilesInput{User: in.User, Agent: in.Agent, At: workflow.Now(ctx).UTC(), Head: head}
	result, err := call(filesWork(ctx, "files"), memories.SyncFiles, work)
	return result.Head, time.Time{}, err
}
