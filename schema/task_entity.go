package schema

// EntityChange is the payload of an event in a project's stream.
type EntityChange interface {
	// Entities are the entities that the event changes: at least one, all of the same type.
	Entities() []EntityRef
	// Cause is the entry or the command that caused the event.
	Cause() Act
}

func taskRefs(ids ...string) []EntityRef {
	refs := make([]EntityRef, len(ids))
	for i, id := range ids {
		refs[i] = EntityRef{EntityTask, id}
	}
	return refs
}

// Entities returns the new task.
func (p TaskCreatedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the task that the entry is about.
func (p TaskObservedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the task whose status changed.
func (p TaskStatusChangedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the task whose priority changed.
func (p TaskPriorityChangedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the task whose title changed.
func (p TaskTitleChangedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the task whose blockers changed.
func (p TaskBlockersSetPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the task that the refused change was for.
func (p TaskTransitionRejectedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the task that was reported done.
func (p TaskDoneReportedPayload) Entities() []EntityRef { return taskRefs(p.TaskID) }

// Entities returns the merged task and the task that it was merged into.
func (p TaskMergedPayload) Entities() []EntityRef { return taskRefs(p.TaskID, p.Into) }

// Entities returns the new condition.
func (p ConditionDeclaredPayload) Entities() []EntityRef {
	return []EntityRef{{EntityCondition, p.ConditionID}}
}

// Entities returns the condition, not the entity that it was resolved to.
func (p ConditionResolvedToPayload) Entities() []EntityRef {
	return []EntityRef{{EntityCondition, p.ConditionID}}
}

// Entities returns the new artifact.
func (p ArtifactDeclaredPayload) Entities() []EntityRef {
	return []EntityRef{{EntityArtifact, p.ArtifactID}}
}

// Entities returns the closed artifact.
func (p ArtifactClosedPayload) Entities() []EntityRef {
	return []EntityRef{{EntityArtifact, p.ArtifactID}}
}
