package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDedupeKeyBytes is the maximum size of a dedupe key. No legal names make a longer one: a key has at most four names
// of [MaxNameBytes], and escaping makes each byte at most three.
const MaxDedupeKeyBytes = 4 << 10

// The dedupe keys of all events. A key names the act, not the attempt: the same act always has the same key, and
// different acts have different keys. [EventType.Keys] shows these patterns, and the functions below fill them in.
const (
	keySessionIngested   = "session_ingested/{hash of the session and of the messages' keys}"
	keyOriginalSealed    = "original_sealed/{hash of the session and of the message's key}"
	keyModelResponded    = "model_responded/{hash of all that went into the call}"
	keyMemoryExtracted   = "memory_extracted/{hash of the session, the extractor and the window}"
	keyEvidenceAligned   = "evidence_aligned/{extracted event}/{rule}"
	keyEntryMaterialized = "entry_materialized/{entry}"
	keyEntryEvidenceSet  = "entry_evidence_set/{entry}/{aligned event}/{index}"
	// The changes of an entry's status are numbered from 1, for an entry can be superseded again.
	keyEntryStatusSet = "entry_status_set/{entry}/{number}"
	keyBuildStarted   = "build_started/{build}"
	keyBuildFinished  = "build_finished/{build}"

	keyIdrisChecked    = "idris_checked/{hash of the session}/{module}/{hash of the result}/{after}"
	keyEntriesPromoted = "entries_promoted/{hash of the session and the promotions}"

	keySessionGraduated = "session_graduated/{hash of the session}/{position}/{head}/{policy}/{rule}"
	// The key of an act of graduation names the position of the previous act on the same subject, because an entry can
	// be demoted twice.
	keyOfGraduation      = "graduate/{project}/{act}/{subject}/{after}"
	keyEntryAnswered     = "graduate/{project}/answer/{entry}/{answer}"
	keyPairsAsked        = "graduate/{project}/pairs_asked/{answer}"
	keyPairsJudged       = "graduate/{project}/pairs_judged/{answer}"
	keyDecisionRecorded  = "graduate/{project}/decision/{decision}"
	keyGraduateOfCommand = "graduate/{project}/command/{request}/{number}"
	// A proposal's id is derived from its project, too.
	keyChangeProposed  = "change_proposed/{proposal}"
	keyProposalDecided = "proposal_decided/{proposal}"

	keyEntriesRetrieved = "usage/{project}/{request}"

	keyVectorIndexed = "vector_indexed/{collection}/{hash of the items and their states}"
	keyVectorFailed  = "vector_failed/{collection}/{hash of the items and their states}"
	keyVectorDrifted = "vector_drifted/{collection}/{hash of the items and their states}"

	// A version can be chosen again, so the key names the position of the previous event.
	keyEmbedder = "embedder/{act}/{version}/{after}"

	// An entity is declared once, by whichever event comes first.
	keyTask      = "task/{project}/task/{task}"
	keyCondition = "task/{project}/condition/{condition}"
	keyArtifact  = "task/{project}/artifact/{artifact}"
	// One entry can change a task in several ways, each of them once.
	keyTaskOfEntry = "task/{project}/entry/{entry}"
	keyTaskChange  = "/{change}"
	// The events of a command are stored together or not at all. They are numbered from 0.
	keyTaskOfCommand = "task/{project}/command/{request}/{number}"

	// Each entry and each command has one event that records its outcome, and one event for each fact evicted to make
	// room.
	keyFactOfEntry   = "fact/{user}/{agent}/entry/{entry}"
	keyFactOfCommand = "fact/{user}/{agent}/command/{request}"
	keyFactOfImport  = "fact/{user}/{agent}/import/{request}/{item}"
	keyFactOfCleared = "fact/{user}/{agent}/cleared/{request}/{item}"
	keyFactOfReview  = "fact/{user}/{agent}/review/{answer}/{fact}"
	keyFactEvicted   = "/evicted/{fact}"

	keyFactsShown     = "facts_shown/{hash of the session}/{first message}/{last message}"
	keyContextFlushed = "context_flushed/{hash of the session}/{first message}/{last message}"
	// Edits of a file are numbered from 1, because an edit can restore an earlier text.
	keyRecordEdited  = "record_edited/{user}/{agent}/{kind}/{date}/{number}"
	keyCoreOfDream   = "core/{user}/{agent}/dream/{ordinal}"
	keyCoreOfEdit    = "core/{user}/{agent}/edit/{version}"
	keyCoreOfCommand = "core/{user}/{agent}/command/{request}"
	keyDreamFinished = "dream_finished/{user}/{agent}/{ordinal}"
	keyDreamGathered = "dream_gathered/{hash of the input}"

	keyContextEnqueued  = "context_enqueued/{user}/{agent}/{id}"
	keyContextProcessed = "context_processed/{user}/{agent}/{position}"
	keyContextHeld      = "context_held/{hash of the thread}/{hash of the messages}"

	keyBatchListed   = "batch_listed/{batch}/{page}"
	keyBatchReported = "batch_reported/{batch}/{hash of the outcomes}"

	keyRebuild     = "rebuild_finished/{rebuild}"
	keyErasure     = "erasure/{erasure}/{act}/{number}"
	keyEventErased = "event_erased/{erasure}/{hash of the stream}/{position}"
)

// SessionIngestedKey is the key of the session_ingested event with the messages.
func SessionIngestedKey(session SessionKey, messages []Message) string {
	keys := make([]string, len(messages))
	for i, m := range messages {
		keys[i] = m.Key
	}
	return fillKey(keySessionIngested, HashParts(session.Stream(), HashParts(keys...)))
}

// OriginalSealedKey is the key of the event that keeps the redacted parts of the message.
func OriginalSealedKey(session SessionKey, message string) string {
	return fillKey(keyOriginalSealed, HashParts(session.Stream(), message))
}

// ModelRespondedKey is the key of the response to the model call with the hash.
func ModelRespondedKey(callHash string) string { return fillKey(keyModelResponded, callHash) }

// MemoryExtractedKey is the key of an extractor's result for a window. A window without a complete answer is asked
// about again, and each time is an act of its own.
func MemoryExtractedKey(session SessionKey, extractorID string, w Window) string {
	place := fmt.Sprint(w.First, w.ByteStart, w.Asked)
	return fillKey(keyMemoryExtracted, HashParts(session.Stream(), extractorID, w.Hash, place))
}

// EvidenceAlignedKey is the key of the judgement of an extraction's quotes under a version of the proof rule.
func EvidenceAlignedKey(extractedEventID string, rule int) string {
	return fillKey(keyEvidenceAligned, extractedEventID, strconv.Itoa(rule))
}

// EntryMaterializedKey is the key of the event that creates the entry. An entry is immutable, so there is one such
// event.
func EntryMaterializedKey(entryID string) string { return fillKey(keyEntryMaterialized, entryID) }

// EntryEvidenceSetKey is the key of the event that gives the entry the judgement at the index of the evidence_aligned
// event.
func EntryEvidenceSetKey(entryID, alignedEventID string, index int) string {
	return fillKey(keyEntryEvidenceSet, entryID, alignedEventID, strconv.Itoa(index))
}

// EntryStatusSetKey is the key of the nth change of the entry's status.
func EntryStatusSetKey(entryID string, number int) string {
	return fillKey(keyEntryStatusSet, entryID, strconv.Itoa(number))
}

// BuildStartedKey is the key of the event that starts the build.
func BuildStartedKey(buildID string) string { return fillKey(keyBuildStarted, buildID) }

// BuildFinishedKey is the key of the event that ends the build.
func BuildFinishedKey(buildID string) string { return fillKey(keyBuildFinished, buildID) }

// VectorIndexedKey is the key of the event that records that items were written. Each state names an item and the
// previous state of its outbox row, so a retry for the same rows has the same key.
func VectorIndexedKey(collection string, states []string) string {
	return fillKey(keyVectorIndexed, collection, HashParts(states...))
}

// VectorFailedKey is like [VectorIndexedKey], for items that could not be written.
func VectorFailedKey(collection string, states []string) string {
	return fillKey(keyVectorFailed, collection, HashParts(states...))
}

// VectorDriftedKey is like [VectorIndexedKey], for items that must be rewritten.
func VectorDriftedKey(collection string, states []string) string {
	return fillKey(keyVectorDrifted, collection, HashParts(states...))
}

// EmbedderKey is the key of an event of [EmbedderStream], of the type act. After is the position of the event before it.
func EmbedderKey(act, version string, after uint64) string {
	return fillKey(keyEmbedder, act, version, strconv.FormatUint(after, 10))
}

// EntityKey is the key of the event that declares the entity.
func EntityKey(project string, entity EntityRef) string {
	pattern := map[EntityType]string{EntityTask: keyTask, EntityCondition: keyCondition, EntityArtifact: keyArtifact}[entity.Type]
	return fillKey(pattern, project, entity.ID)
}

// TaskOfEntryKey is the key of one change that the entry makes to a task. The change parts distinguish it from the
// entry's other changes.
func TaskOfEntryKey(project, entryID string, change ...string) string {
	key := fillKey(keyTaskOfEntry, project, entryID)
	for _, part := range change {
		key += fillKey(keyTaskChange, part)
	}
	return key
}

// TaskOfCommandKey is the key of the command's nth event, counted from 0. If the first is stored, all are.
func TaskOfCommandKey(project, requestID string, n int) string {
	return fillKey(keyTaskOfCommand, project, requestID, strconv.Itoa(n))
}

// FactOfEntryKey is the key of the one event that records the outcome of an entry.
func FactOfEntryKey(user, agent, entryID string) string {
	return fillKey(keyFactOfEntry, user, agent, entryID)
}

// FactOfCommandKey is the key of the one event that records the outcome of a command.
func FactOfCommandKey(user, agent, requestID string) string {
	return fillKey(keyFactOfCommand, user, agent, requestID)
}

// FactOfImportKey is the key of the one event that records the outcome of an item that a command imports.
func FactOfImportKey(user, agent, requestID, item string) string {
	return fillKey(keyFactOfImport, user, agent, requestID, item)
}

// FactOfClearedKey is the key of the event that forgets one fact, or one section of the profile, when a command forgets
// all.
func FactOfClearedKey(user, agent, requestID, item string) string {
	return fillKey(keyFactOfCleared, user, agent, requestID, item)
}

// FactsShownKey is the key of the facts that a model is shown with the session's messages from first to last.
func FactsShownKey(session SessionKey, first, last int) string {
	return fillKey(keyFactsShown, HashParts(session.Stream()), strconv.Itoa(first), strconv.Itoa(last))
}

// FactOfReviewKey is the key of the event that records the outcome for a fact that a model's answer names. An empty
// fact stands for the part of the answer that names no fact that was shown.
func FactOfReviewKey(user, agent, answerKey, factID string) string {
	return fillKey(keyFactOfReview, user, agent, answerKey, factID)
}

// FactEvictedKey is the key of the event that evicts the fact to make room for another. actKey is the
// [FactOfEntryKey] or [FactOfCommandKey] of the act that brings the new fact.
func FactEvictedKey(actKey, factID string) string { return actKey + fillKey(keyFactEvicted, factID) }

// ContextFlushedKey is the key of the flush of the session's messages from first to last.
func ContextFlushedKey(session SessionKey, first, last int) string {
	return fillKey(keyContextFlushed, HashParts(session.Stream()), strconv.Itoa(first), strconv.Itoa(last))
}

// RecordEditedKey is the key of the nth edit of a dated file, counted from 1.
func RecordEditedKey(user, agent string, kind RecordKind, date string, n int) string {
	return fillKey(keyRecordEdited, user, agent, string(kind), date, strconv.Itoa(n))
}

// CoreOfDreamKey is the key of the version that the dream with the ordinal makes.
func CoreOfDreamKey(user, agent string, ordinal int) string {
	return fillKey(keyCoreOfDream, user, agent, strconv.Itoa(ordinal))
}

// CoreOfEditKey is the key of the version that a person made by editing the file.
func CoreOfEditKey(user, agent string, version int) string {
	return fillKey(keyCoreOfEdit, user, agent, strconv.Itoa(version))
}

// CoreOfCommandKey is the key of the version that a person's command makes.
func CoreOfCommandKey(user, agent, requestID string) string {
	return fillKey(keyCoreOfCommand, user, agent, requestID)
}

// DreamFinishedKey is the key of the end of the dream with the ordinal.
func DreamFinishedKey(user, agent string, ordinal int) string {
	return fillKey(keyDreamFinished, user, agent, strconv.Itoa(ordinal))
}

// DreamGatheredKey is the key of the input of a dream. The hash is of the event's payload.
func DreamGatheredKey(hash string) string { return fillKey(keyDreamGathered, hash) }

// ContextEnqueuedKey is the key of the context with the id.
func ContextEnqueuedKey(user, agent, id string) string {
	return fillKey(keyContextEnqueued, user, agent, id)
}

// ContextProcessedKey is the key of the end of the contexts of a thread. The position is that of the last of them in
// the queue's stream.
func ContextProcessedKey(user, agent string, to uint64) string {
	return fillKey(keyContextProcessed, user, agent, strconv.FormatUint(to, 10))
}

// ContextHeldKey is the key of the thread's messages with the hash.
func ContextHeldKey(thread SessionKey, hash string) string {
	return fillKey(keyContextHeld, HashParts(thread.Stream()), hash)
}

// BatchListedKey is the key of a page of the items of a batch.
func BatchListedKey(batch string, page int) string {
	return fillKey(keyBatchListed, batch, strconv.Itoa(page))
}

// BatchReportedKey is the key of outcomes of items of a batch. A run that was reset may report another outcome for an
// item. The last one counts.
func BatchReportedKey(batch string, outcomes []BatchOutcome) string {
	parts := make([]string, 0, 4*len(outcomes))
	for _, o := range outcomes {
		parts = append(parts, strconv.Itoa(o.Index), o.BuildID, string(o.Status), o.Error)
	}
	return fillKey(keyBatchReported, batch, HashParts(parts...))
}

// RebuildFinishedKey is the key of the end of the rebuild.
func RebuildFinishedKey(rebuildID string) string { return fillKey(keyRebuild, rebuildID) }

// ErasureKey is the key of an act of an erasure: the type of its event, and how often it was done before.
func ErasureKey(erasureID, act string, n int) string {
	return fillKey(keyErasure, erasureID, act, strconv.Itoa(n))
}

// EventErasedKey is the key of the event that replaces the erased event at the position of the stream.
func EventErasedKey(erasureID, stream string, seq uint64) string {
	return fillKey(keyEventErased, erasureID, HashParts(stream), strconv.FormatUint(seq, 10))
}

// IdrisCheckedKey is the key of the result of checking a module of the session, after the check at the position. A
// compiler that is installed later gives another key, and so do entries that return to their state before the last
// check.
func IdrisCheckedKey(session SessionKey, module, version string, status CheckStatus, after uint64) string {
	return fillKey(keyIdrisChecked, HashParts(session.Stream()), module, HashParts(version, string(status)), strconv.FormatUint(after, 10))
}

// EntriesPromotedKey is the key of the promotions of a session's entries.
func EntriesPromotedKey(session SessionKey, promotions []Promotion) string {
	parts := make([]string, 0, 1+3*len(promotions))
	parts = append(parts, session.Stream())
	for _, p := range promotions {
		parts = append(parts, p.EntryID, string(p.To), strconv.Itoa(p.Number))
	}
	return fillKey(keyEntriesPromoted, HashParts(parts...))
}

// SessionGraduatedKey is the key of the event that records graduation's checkpoint in the session.
func SessionGraduatedKey(p SessionGraduatedPayload) string {
	return fillKey(keySessionGraduated, HashParts(p.Stream()), strconv.FormatUint(p.Seq, 10),
		strconv.FormatUint(p.Head, 10), strconv.Itoa(p.Policy), strconv.Itoa(p.Rule))
}

// GraduationKey is the key of an act of graduation on the subject. The act is the type of its event. After is the
// position of the previous act of this kind in the stream of graduation, or 0.
func GraduationKey(project, act, subject string, after uint64) string {
	return fillKey(keyOfGraduation, project, act, subject, strconv.FormatUint(after, 10))
}

// EntryAnsweredKey is the key of a model's answer about the entry.
func EntryAnsweredKey(project, entryID, answerKey string) string {
	return fillKey(keyEntryAnswered, project, entryID, answerKey)
}

// PairsAskedKey is the key of the event that lists the pairs of a question. The question is identified by the key of
// its answer.
func PairsAskedKey(project, answerKey string) string {
	return fillKey(keyPairsAsked, project, answerKey)
}

// PairsJudgedKey is the key of the verdicts on pairs in a model's answer.
func PairsJudgedKey(project, answerKey string) string {
	return fillKey(keyPairsJudged, project, answerKey)
}

// DecisionRecordedKey is the key of the event that records the decision.
func DecisionRecordedKey(project, decisionID string) string {
	return fillKey(keyDecisionRecorded, project, decisionID)
}

// GraduateOfCommandKey is the key of the command's nth event, counted from 0. If the first is stored, all are.
func GraduateOfCommandKey(project, requestID string, n int) string {
	return fillKey(keyGraduateOfCommand, project, requestID, strconv.Itoa(n))
}

// ChangeProposedKey is the key of the event that makes the proposal.
func ChangeProposedKey(proposalID string) string { return fillKey(keyChangeProposed, proposalID) }

// ProposalDecidedKey is the key of the event that ends the proposal.
func ProposalDecidedKey(proposalID string) string { return fillKey(keyProposalDecided, proposalID) }

// EntriesRetrievedKey is the key of the entries that the request retrieved from the project.
func EntriesRetrievedKey(project, requestID string) string {
	return fillKey(keyEntriesRetrieved, project, requestID)
}

// fillKey replaces the names in braces by the values. Values are escaped, so that different values give different
// keys.
func fillKey(pattern string, values ...string) string {
	var b strings.Builder
	for _, value := range values {
		before, rest, _ := strings.Cut(pattern, "{")
		_, after, found := strings.Cut(rest, "}")
		if !found {
			panic(fmt.Sprintf("fill dedupe key: the pattern has fewer names than the %d values", len(values)))
		}
		b.WriteString(before)
		b.WriteString(escapePart(value))
		pattern = after
	}
	if strings.Contains(pattern, "{") {
		panic(fmt.Sprintf("fill dedupe key: the pattern has more names than the %d values", len(values)))
	}
	b.WriteString(pattern)
	return b.String()
}

// escapePart percent-encodes slashes, percent signs and the bytes that are not allowed in a key.
func escapePart(value string) string {
	if !strings.ContainsFunc(value, unsafeInKey) && utf8.ValidString(value) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRuneInString(value[i:])
		if unsafeInKey(r) || r == utf8.RuneError && size == 1 {
			for _, c := range []byte(value[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(value[i : i+size])
		}
		i += size
	}
	return b.String()
}

func unsafeInKey(r rune) bool { return r == '/' || r == '%' || unicode.IsControl(r) }
