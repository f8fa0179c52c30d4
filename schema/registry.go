package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// EventType describes a type of event. Every type is registered here only.
type EventType struct {
	// Name is the type as in the log, such as session_ingested.
	Name string
	// StreamPrefix is the prefix of the names of the streams with such events.
	StreamPrefix string
	// Keys are the patterns of its dedupe keys, one for each kind of act that it records.
	Keys []string
	// Meaning describes in one line the meaning of the event.
	Meaning string
	payload reflect.Type
}

// register returns the type of the events whose payload is a P.
func register[P any](name, streamPrefix, meaning string, keys ...string) EventType {
	return EventType{Name: name, StreamPrefix: streamPrefix, Keys: keys, Meaning: meaning, payload: reflect.TypeFor[P]()}
}

var eventTypes = []EventType{
	register[BuildStartedPayload](BuildStarted, SessionPrefix, "a build has something to do", keyBuildStarted),
	register[SessionIngestedPayload](SessionIngested, SessionPrefix, "new messages of a session", keySessionIngested),
	register[OriginalSealedPayload](OriginalSealed, SessionPrefix, "the original of a redacted message, encrypted: with --keep-raw", keyOriginalSealed),
	register[ModelRespondedPayload](ModelResponded, ModelPrefix, "a model's raw answer, kept before it is read", keyModelResponded),
	register[MemoryExtractedPayload](MemoryExtracted, SessionPrefix, "the extraction from the answer for one window", keyMemoryExtracted),
	register[EvidenceAlignedPayload](EvidenceAligned, SessionPrefix, "the spans of an extraction's quotes, and whether they prove", keyEvidenceAligned),
	register[EntryMaterializedPayload](EntryMaterialized, SessionPrefix, "a new entry", keyEntryMaterialized),
	register[EntryEvidenceSetPayload](EntryEvidenceSet, SessionPrefix, "another judgement of an entry's evidence", keyEntryEvidenceSet),
	register[EntryStatusSetPayload](EntryStatusSet, SessionPrefix, "a newer extractor no longer states an entry, or states it again", keyEntryStatusSet),
	register[IdrisCheckedPayload](IdrisChecked, SessionPrefix, "the verdict on each obligation of a session's entries", keyIdrisChecked),
	register[EntriesPromotedPayload](EntriesPromoted, SessionPrefix, "entries became candidate or verified, and why", keyEntriesPromoted),
	register[FactsShownPayload](FactsShown, SessionPrefix, "which facts a model is asked about with new messages", keyFactsShown),
	register[BuildFinishedPayload](BuildFinished, SessionPrefix, "the outcome of a build", keyBuildFinished),

	register[TaskCreatedPayload](TaskCreated, ProjectPrefix, "a new task", keyTask),
	register[TaskObservedPayload](TaskObserved, ProjectPrefix, "an entry speaks of a task", keyTaskOfEntry+keyTaskChange),
	register[TaskStatusChangedPayload](TaskStatusChanged, ProjectPrefix, "a task's status changed", keyTaskOfEntry+keyTaskChange, keyTaskOfCommand),
	register[TaskPriorityChangedPayload](TaskPriorityChanged, ProjectPrefix, "a task's priority changed", keyTaskOfEntry+keyTaskChange, keyTaskOfCommand),
	register[TaskTitleChangedPayload](TaskTitleChanged, ProjectPrefix, "a task has another title", keyTaskOfCommand),
	register[TaskBlockersSetPayload](TaskBlockersSet, ProjectPrefix, "a task's blockers are replaced, or some suggested", keyTaskOfEntry+keyTaskChange, keyTaskOfCommand),
	register[TaskTransitionRejectedPayload](TaskTransitionRejected, ProjectPrefix, "a change of a task was refused", keyTaskOfEntry+keyTaskChange, keyTaskOfCommand),
	register[TaskDoneReportedPayload](TaskDoneReported, ProjectPrefix, "a task is reported done, and stays open", keyTaskOfEntry+keyTaskChange, keyTaskOfCommand),
	register[TaskMergedPayload](TaskMerged, ProjectPrefix, "a task became part of another one", keyTaskOfCommand),
	register[ConditionDeclaredPayload](ConditionDeclared, ProjectPrefix, "a new condition that tasks wait for", keyCondition),
	register[ConditionResolvedToPayload](ConditionResolvedTo, ProjectPrefix, "a condition was resolved to a task or an artifact", keyTaskOfEntry+keyTaskChange, keyTaskOfCommand),
	register[ArtifactDeclaredPayload](ArtifactDeclared, ProjectPrefix, "a new artifact: an issue, a pull request or a page", keyArtifact),
	register[ArtifactClosedPayload](ArtifactClosed, ProjectPrefix, "an artifact was closed", keyTaskOfEntry+keyTaskChange, keyTaskOfCommand),

	register[FactCreatedPayload](FactCreated, MemoryPrefix, "a new fact", keyFactOfEntry, keyFactOfCommand, keyFactOfImport),
	register[FactUpdatedPayload](FactUpdated, MemoryPrefix, "a person changed a fact", keyFactOfCommand),
	register[FactDeletedPayload](FactDeleted, MemoryPrefix, "a fact was deleted: a person asked for it, or a session says that it no longer holds", keyFactOfCommand, keyFactOfCleared, keyFactOfReview),
	register[FactEvictedPayload](FactEvicted, MemoryPrefix, "a fact made room for another one", keyFactOfEntry+keyFactEvicted, keyFactOfCommand+keyFactEvicted, keyFactOfImport+keyFactEvicted),
	register[FactSkippedPayload](FactSkipped, MemoryPrefix, "a fact was proposed and not stored, or named for removal and kept, and why", keyFactOfEntry, keyFactOfCommand, keyFactOfImport, keyFactOfReview),
	register[FactMergedPayload](FactMerged, MemoryPrefix, "a fact was proposed that says nearly the same as an older one", keyFactOfEntry, keyFactOfCommand, keyFactOfImport),
	register[FactsClearedPayload](FactsCleared, MemoryPrefix, "a person had all facts and the profile forgotten", keyFactOfCommand),
	register[ProfileUpdatedPayload](ProfileUpdated, MemoryPrefix, "a section of the profile was set or removed", keyFactOfEntry, keyFactOfCommand, keyFactOfImport, keyFactOfCleared),

	register[ContextFlushedPayload](ContextFlushed, MemoryPrefix, "a summary of messages, added to the daily record", keyContextFlushed),
	register[RecordEditedPayload](RecordEdited, MemoryPrefix, "a person edited a daily record or a diary", keyRecordEdited),
	register[CoreCommittedPayload](CoreCommitted, MemoryPrefix, "a version of core memory, with its dropped items and the reasons", keyCoreOfDream, keyCoreOfEdit, keyCoreOfCommand),
	register[DreamFinishedPayload](DreamFinished, MemoryPrefix, "the outcome of a dream", keyDreamFinished),
	register[DreamGatheredPayload](DreamGathered, DreamPrefix, "the input of a dream", keyDreamGathered),

	register[VectorIndexedPayload](VectorIndexed, VectorPrefix, "items are in the vector store", keyVectorIndexed),
	register[VectorFailedPayload](VectorFailed, VectorPrefix, "items could not be written, and why", keyVectorFailed),
	register[VectorDriftedPayload](VectorDrifted, VectorPrefix, "an item in the vector store differs from the log", keyVectorDrifted),

	register[EmbedderChosenPayload](EmbedderChosen, VectorPrefix, "an embedding version will replace the current one", keyEmbedder),
	register[EmbedderUsedPayload](EmbedderUsed, VectorPrefix, "searches use the version chosen last", keyEmbedder),
	register[EmbedderDroppedPayload](EmbedderDropped, VectorPrefix, "the vectors of an older version are deleted", keyEmbedder),

	register[SessionGraduatedPayload](SessionGraduated, GraduatePrefix, "graduation has considered a session so far", keySessionGraduated),
	register[EntryGraduatedPayload](EntryGraduated, GraduatePrefix, "an entry has another stage, and why", keyOfGraduation, keyGraduateOfCommand),
	register[EntryConfirmedPayload](EntryConfirmed, GraduatePrefix, "a person or a model found an entry stated", keyEntryAnswered, keyGraduateOfCommand),
	register[EntryDoubtedPayload](EntryDoubted, GraduatePrefix, "a model did not find an entry stated", keyEntryAnswered),
	register[EntryLinkedPayload](EntryLinked, GraduatePrefix, "an entry says the same as an older one", keyOfGraduation),
	register[EntryRetiredPayload](EntryRetired, GraduatePrefix, "an entry is no longer believed, and why", keyOfGraduation, keyGraduateOfCommand),
	register[EntryRestoredPayload](EntryRestored, GraduatePrefix, "a retired entry is believed again", keyGraduateOfCommand),
	register[ConflictDetectedPayload](ConflictDetected, GraduatePrefix, "two entries contradict each other", keyOfGraduation, keyGraduateOfCommand),
	register[PairsAskedPayload](PairsAsked, GraduatePrefix, "which pairs of entries a model is asked about", keyPairsAsked),
	register[PairsJudgedPayload](PairsJudged, GraduatePrefix, "a model's answers about pairs of entries", keyPairsJudged),
	register[ConflictResolvedPayload](ConflictResolved, GraduatePrefix, "a conflict ended, and how", keyOfGraduation, keyGraduateOfCommand),
	register[DecisionRecordedPayload](DecisionRecorded, GraduatePrefix, "a decision, and the entries it rests on", keyDecisionRecorded, keyGraduateOfCommand),
	register[ChangeProposedPayload](ChangeProposed, GraduatePrefix, "a proposal to correct or to retire an entry", keyChangeProposed),
	register[ProposalDecidedPayload](ProposalDecided, GraduatePrefix, "a proposal was accepted or rejected", keyProposalDecided),

	register[EntriesRetrievedPayload](EntriesRetrieved, UsagePrefix, "entries were returned by a search or in a context", keyEntriesRetrieved),

	register[ContextEnqueuedPayload](ContextEnqueued, QueuePrefix, "a part of a session was queued", keyContextEnqueued),
	register[ContextProcessedPayload](ContextProcessed, QueuePrefix, "the outcome of queued parts of a session", keyContextProcessed),
	register[ContextHeldPayload](ContextHeld, ContextPrefix, "messages that are too long for a signal", keyContextHeld),

	register[BatchListedPayload](BatchListed, BatchPrefix, "sessions to process together", keyBatchListed),
	register[BatchReportedPayload](BatchReported, BatchPrefix, "the outcomes of some sessions of a batch", keyBatchReported),

	register[RebuildFinishedPayload](RebuildFinished, RebuildPrefix, "how long each phase of a rebuild took", keyRebuild),

	register[ErasureBegunPayload](ErasureBegun, ErasurePrefix, "an erasure began: its tombstone", keyErasure),
	register[ErasureLockedPayload](ErasureLocked, ErasurePrefix, "streams that take no events until an erasure has ended", keyErasure),
	register[ErasureAppliedPayload](ErasureApplied, ErasurePrefix, "the log is free of the erased data", keyErasure),
	register[ErasureFinishedPayload](ErasureFinished, ErasurePrefix, "an erasure has ended, and how", keyErasure),
	register[ErasureLiftedPayload](ErasureLifted, ErasurePrefix, "a tombstone was lifted: its data is admitted again", keyErasure),
	register[EventErasedPayload](EventErased, anyPrefix, "the place of an erased event", keyEventErased),
}

var (
	eventTypeOf = map[string]EventType{}
	nameOf      = map[reflect.Type]string{}
)

func init() {
	for _, t := range eventTypes {
		if eventTypeOf[t.Name].Name != "" || nameOf[t.payload] != "" {
			panic(fmt.Sprintf("event type %s, or its payload %s, is registered twice", t.Name, t.payload))
		}
		eventTypeOf[t.Name], nameOf[t.payload] = t, t.Name
	}
}

// EventTypes returns all registered event types: those of sessions in the order of their steps, then those of tasks,
// facts, tiers of memory, vectors and batches.
func EventTypes() []EventType { return append([]EventType(nil), eventTypes...) }

// EventTypesOf returns the names of the event types whose payloads implement the interface I.
func EventTypesOf[I any]() []string {
	var names []string
	for _, t := range eventTypes {
		if t.payload.Implements(reflect.TypeFor[I]()) {
			names = append(names, t.Name)
		}
	}
	return names
}

// Stream returns the pattern of the names of the streams with such events.
func (t EventType) Stream() string { return t.StreamPrefix + streamNames[t.StreamPrefix] }

// Payload returns the name of the payload's Go type.
func (t EventType) Payload() string { return t.payload.Name() }

// NewPayload returns a pointer to a zero payload.
func (t EventType) NewPayload() any { return reflect.New(t.payload).Interface() }

// NewEvent returns e with the encoded payload and the type that the payload is registered for.
func NewEvent(payload any, e Event) (Event, error) {
	name, ok := nameOf[reflect.TypeOf(payload)]
	if !ok {
		return Event{}, fmt.Errorf("make event %q: %T is the payload of no registered type", e.DedupeKey, payload)
	}
	data, err := json.Marshal(payload)
	if err != nil {
		return Event{}, fmt.Errorf("encode %s event %q: %w", name, e.DedupeKey, err)
	}
	e.Type, e.Payload = name, data
	return e, nil
}

// Decode returns the payload of an event. P must be registered for the event's type.
func Decode[P any](e Event) (P, error) {
	var p P
	if registered := nameOf[reflect.TypeFor[P]()]; registered != e.Type {
		return p, fmt.Errorf("decode event %q: its type is %q, and a %T is the payload of %q", e.ID, e.Type, p, registered)
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return p, fmt.Errorf("decode %s event %q: %w", e.Type, e.ID, err)
	}
	return p, nil
}

// DecodePayload returns the payload of an event of any registered type. It is a value of the Go type that
// [EventType.Payload] names.
func DecodePayload(e Event) (any, error) {
	t, ok := eventTypeOf[e.Type]
	if !ok {
		return nil, fmt.Errorf("decode event %q: type %q is not registered", e.ID, e.Type)
	}
	p := reflect.New(t.payload)
	if err := json.Unmarshal(e.Payload, p.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s event %q: %w", e.Type, e.ID, err)
	}
	return p.Elem().Interface(), nil
}
