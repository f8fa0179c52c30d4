package schema

// EntityChange is the payload of an event of a project's stream.
type EntityChange interface {
	// Entities are those that the event changes: at least one, all of one type.
	Entities() []EntityRef
	// Cause is the entry or the command that the event follows from.
	Cause() Act
}

func taskRefs(ids ...string) []EntityRef {
	refs := make([]EntityRef, len(ids))
	for i, id := range ids {
		refs[i] = EntityRef{EntityTask, id}
	}
	return refs
}

// Entities is the new task.
func (p TaskCreatedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities is the task spoken of.
func (p TaskObservedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities is the task that has another status.
func (p TaskStatusChangedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities is the task that has another priority.
func (p TaskPriorityChangedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities is the task that has another title.
func (p TaskTitleChangedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities is the task that waits.
func (p TaskBlockersSetPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities is the task that stays as it was.
func (p TaskTransitionRejectedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities is the task that is reported done.
func (p TaskDoneReportedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities are the task that ends and the one that goes on.
func (p TaskMergedPayload) Entities() []EntityRef { return taskRefs(p.TaskID, p.Into) }

// Entities is the new condition.
func (p ConditionDeclaredPayload) Entities() []EntityRef {
	return []EntityRef{{EntityCondition, p.ConditionID}}
}

// Entities is the condition, not what it turned out to be.
func (p ConditionResolvedToPayload) Entities() []EntityRef {
	return []EntityRef{{EntityCondition, p.ConditionID}}
}

// Entities is the new artifact.
func (p ArtifactDeclaredPayload) Entities() []EntityRef {
	return []EntityRef{{EntityArtifact, p.ArtifactID}}
}

// Entities is the artifact that is done with.
func (p ArtifactClosedPayload) Entities() []EntityRef {
	return []EntityRef{{EntityArtifact, p.ArtifactID}}
}
